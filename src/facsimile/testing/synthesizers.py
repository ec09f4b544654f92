"""The contract of a synthesizer: what it spends, what it returns, and that it knows noisy answers only."""

from __future__ import annotations

import contextlib
import copy
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log, sqrt
from typing import Any, TypeVar, get_args

import numpy as np

from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import Mechanism, NoisyMarginals
from facsimile.privacy.reader import rehearse
from facsimile.shaping.sampling import Sampling
from facsimile.synthesizers.base import Answers, Foreseen, Known, RowModel, Synthesizer
from facsimile.synthesizers.dense import Dense
from facsimile.synthesizers.network import ruled_out
from facsimile.table.domain import Domain
from facsimile.table.measurement import Measurement, told_apart
from facsimile.table.scores import ONE, Factor, RowScores
from facsimile.table.table import Table
from facsimile.testing.contract import Broken, require
from facsimile.testing.neighbours import small_domain

T = TypeVar("T")
Tape = list[tuple[Mechanism[Any], Any]]
RECORDS = 300
SHAPES = ((5,), (3, 4), (2, 1), (1, 1), (5, 2, 3), (2, 3, 1, 4, 2), (2,) * 12)
SHARES = (*map(Fraction, ("1/100", "1/7", "3", "100")), *map(Rho, ("1/50000", "1/100", "2")))
DELTA = Fraction(1, 10**9)
USED = Fraction(999, 1000)
"""The least part of its share that a synthesizer uses: what is not spent is accuracy lost."""


def check_synthesizer(
    synthesizer: Synthesizer, shapes: Iterable[Sequence[int]] = SHAPES, shares: Iterable[Fraction] = SHARES
) -> None:
    """The whole contract, on tables of these shapes and with these shares, ε and ρ."""
    one = Rho(1, 50) if synthesizer.law == "rho" else Fraction(1)
    check_only_answers(synthesizer, table_of((4, 3, 2, 3)), one)
    for shape in shapes:
        check_spending(synthesizer, table_of(shape), one)
    for share in shares:
        if synthesizer.law in ("either", "rho" if isinstance(share, Rho) else "delta"):
            check_spending(synthesizer, table_of((4, 3, 2)), share)


def check_spending(synthesizer: Synthesizer, table: Table, share: Fraction) -> Fitting:
    """It spends what it is given, no more, and draws as many records as are asked for, all of them allowed."""
    known = known_of(table)
    synthesizer.check(table.domain, table.n, share, known.delta)
    found = fitted(synthesizer, table, known, share)
    require(isinstance(found.spent, Rho) is isinstance(share, Rho), "it asks with another currency")
    require(found.spent >= USED * share, f"it leaves a part of its share unused: {found.spent} of {share}")
    check_foreseen(synthesizer.foreseen(table.domain, table.n, share), found.tape)
    for sampling in get_args(Sampling):
        for n in (1, table.n):
            drawn = found.model.sample(n, np.random.default_rng(2), sampling)
            require(drawn.domain == table.domain, "its records are of another domain")
            require(drawn.n == n, "it does not draw as many records as are asked for")
            forbidden = ruled_out(known.zeros, drawn.domain, drawn.codes)
            require(not forbidden.any(), "it draws a record that may not occur")
    return found


def check_foreseen(foreseen: Foreseen, tape: Tape) -> None:
    """What it says of its tables before any noise is drawn comes true: intervals for data users rest on it."""
    tables = [found for asked, answer in tape if isinstance(asked, NoisyMarginals) for found in answer]
    fine = Counter(found.columns for found in tables if all(codes is None for _, codes in found.versions))
    every, fixed = Counter(found.columns for found in tables), Counter(foreseen.fixed)
    known = fixed + Counter(foreseen.planned)
    require(fixed <= fine, "a table that it says is fixed is not measured as fine as it is")
    require(known <= every, "a table that it plans is not measured")
    require(foreseen.more or every == known, "it measures tables that it does not foresee")
    require(not fixed.keys() & set(foreseen.planned), "the same columns are fixed and planned")


def check_columns(synthesizer: Synthesizer, table: Table, share: Fraction, seed: int = 1) -> None:
    """No column leaves a fit without counts of its own: in L1, its table is no farther off than noise explains.

    Codes that no noisy table tells apart count as one. What is explained:
    (1) the noise of one-way sums in the table that has least of it, at 10⁻⁶ (`noise_of`). More tables only
        lessen it, and counts z with the right total, moved by λ ≤ 0 and cut at 0 to P, are not farther from
        the truth x ≥ 0: ‖P − x‖₁ = 2Σ(P − x)₊ ≤ 2Σ(z − x)₊ = ‖z − x‖₁;
    (2) that of n records drawn from a model: with k codes √(kn) on average at most, and one record moves it by
        2, so at 10⁻⁶ √(2n·ln 10⁶) more (McDiarmid);
    (3) a hundredth of n, for a fit that ends before it has converged.
    Codes that count as one share their records equally, up to (2) and (3); where a dense model has an ordered
    column, its neighbours may say otherwise.
    """
    found = fitted(synthesizer, table, Known(table.n, delta=DELTA), share, seed)
    drawn = found.model.sample(table.n, np.random.default_rng(seed))
    every = [one for asked, answer in found.tape if isinstance(asked, NoisyMarginals) for one in answer]
    for axis in table.domain.axes:
        mine = [one for one in every if axis.name in one.columns]
        shadows = [one.onto((axis.name,)) for one in mine]
        codes = told_apart(axis.size, [shadow.groups[0] for shadow in shadows])
        k = int(codes.max()) + 1
        require(axis.size == 1 or k > 1, "a column is in no table with noise: nothing is known of it")
        noise = [noise_of(one, shadow.counts.size) for one, shadow in zip(mine, shadows, strict=True)]
        whole = [size for size, shadow in zip(noise, shadows, strict=True) if shadow.counts.size == k]
        explained = min(whole) if whole else 2 * sum(noise)
        drawing = sqrt(axis.size * table.n) + sqrt(2 * table.n * log(10**6)) + table.n / 100
        own, true = (np.bincount(codes, one.marginal((axis.name,))) for one in (drawn, table))
        far = float(np.abs(own - true).sum())
        require(far <= explained + drawing, "a column is farther off than noise explains")
        flat = (own / np.bincount(codes))[codes]
        uneven = float(np.abs(drawn.marginal((axis.name,)) - flat).sum())
        smoothed = axis.numbers is not None and isinstance(found.model, Dense)
        require(uneven <= drawing or smoothed, "codes that nothing tells apart do not share their records")


def noise_of(measured: Measurement, sums: int) -> float:
    """Σ|noise| of so many sums of a measurement's cells is larger with a probability below 1.3·10⁻⁷.

    The largest r of 4,000 draws lies above the 99.5 % quantile but for 2·10⁻⁹. Noise is log-concave, so that by
    Borell's lemma P[norm > 5r] ≤ 0.995·(0.005/0.995)³. A sum of s Laplace draws is a difference of two Gamma
    draws of shape s; its tails are the longer ones, so it stands for Gaussian noise of this variance, too.
    """
    random, cells = np.random.default_rng(0), measured.counts.size // sums
    drawn = random.gamma(cells, size=(4_000, sums)) - random.gamma(cells, size=(4_000, sums))
    return 5 * measured.scale * float(np.abs(drawn).sum(axis=1).max())


def check_only_answers(synthesizer: Synthesizer, table: Table, share: Fraction) -> None:
    """Its model is a function of noisy answers and public input; one fit or draw leaves nothing behind for the
    next, and nothing is printed: a search would tell how many candidates it tried."""
    known, fresh, printed = known_of(table), copy.deepcopy(synthesizer), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        fitted(synthesizer, table, known, share, seed=2)
        check_replay(fresh, fitted(synthesizer, table, known, share), table, share)
    require(not printed.getvalue(), "it prints: a search would tell how many candidates it tried")


def check_replay(fresh: Synthesizer, found: Fitting, table: Table, share: Fraction) -> None:
    """Who has seen no table, and hears the answers from somebody who holds none, comes to the same model."""
    tape = iter(found.tape)
    try:
        random = np.random.default_rng(1)
        model = fresh.fit(Replayer(table.domain, tape), known_of(table), share, random)
    except Broken:
        raise
    except Exception as error:
        raise Broken("it needs more than noisy answers") from error
    require(next(tape, None) is None, "with the same answers it asks less: it knows more than answers")
    one, other = (drawn.sample(table.n, np.random.default_rng(5)) for drawn in (found.model, model))
    require(one == other, "the same answers give another model: it knows more than answers")
    again = found.model.sample(table.n, np.random.default_rng(5))
    require(one == again, "a draw leaves something behind for the next")


@dataclass(frozen=True)
class Fitting:
    """A model, what was spent on it, and every question with its answer."""

    model: RowModel
    spent: Fraction
    tape: Tape


def fitted(synthesizer: Synthesizer, table: Table, known: Known, share: Fraction, seed: int = 1) -> Fitting:
    """A fit on a public table with seeded noise, everything that is asked kept."""
    recorder = Recorder(table.domain, Curator.rehearsal(rehearse(table), seed), share, [])
    model = synthesizer.fit(recorder, known, share, np.random.default_rng(seed))
    return Fitting(model, spent(recorder.tape), recorder.tape)


def spent(tape: Tape) -> Fraction:
    """What the questions cost together: ε or ρ."""
    every = sum((mechanism.cost() for mechanism, _ in tape), Cost())
    require(not (every.epsilon and every.rho), "it asks with an epsilon and with a rho")
    require(every.delta <= DELTA, "it asks for more than its delta")
    return Rho(every.rho) if every.rho else every.epsilon


@dataclass
class Recorder:
    """Passes questions on up to a share, and keeps them with their answers."""

    domain: Domain
    answers: Answers
    share: Fraction
    tape: Tape

    def run(self, mechanism: Mechanism[T]) -> T:
        """The answer, unless it costs more than is left."""
        answer = self.answers.run(mechanism)
        self.tape.append((mechanism, answer))
        require(spent(self.tape) <= self.share, "it asks for more than its share")
        return answer

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Recorder:
        """The same tape for the same records under other axes."""
        return Recorder(domain, self.answers.recoded(domain, maps), self.share, self.tape)


@dataclass
class Replayer:
    """Answers from a tape; it holds no table."""

    domain: Domain
    tape: Iterator[tuple[Mechanism[Any], Any]]

    def run(self, mechanism: Mechanism[T]) -> T:
        """The recorded answer to the same question."""
        asked, answer = next(self.tape, (None, None))
        same = asked is not None and type(mechanism) is type(asked) and mechanism.cost() == asked.cost()
        require(same, "with the same answers it asks another question: it knows more than answers")
        return answer  # type: ignore[return-value]

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Replayer:
        """The same tape under other axes."""
        return Replayer(domain, self.tape)


def table_of(shape: Sequence[int], n: int = RECORDS) -> Table:
    """A table whose columns each follow the one before, with some noise."""
    random = np.random.default_rng(len(shape))
    rows = np.zeros((n, len(shape)), np.int64)
    for place, size in enumerate(shape):
        before = rows[:, place - 1] if place else random.integers(0, size, n)
        rows[:, place] = np.where(random.random(n) < 0.7, before, random.integers(0, size, n)) % size
    return Table.from_rows(small_domain(*shape), rows)


def known_of(table: Table) -> Known:
    """A forbidden cell of the first two columns, coarser versions of large columns, and scores of one sort."""
    domain = table.domain
    coarser = {a.name: (tuple(int(i > 0) for i in range(a.size)),) for a in domain.axes if a.size > 2}
    known = Known(table.n, (), coarser, delta=DELTA, scores=lambda name, public: _waves(public.domain))
    if len(domain.names) < 2:
        return known
    mask = np.zeros(domain.shape[:2], np.bool_)
    mask[-1, 0] = mask.size > 1
    return replace(known, zeros=((domain.names[:2], mask),))


def _waves(domain: Domain) -> RowScores:
    """The first and the last code of each column against each other, times the same of the next column."""
    ends = [Factor(0, (((a.name,), ONE * np.sign(2 * np.arange(a.size) - a.size + 1)),)) for a in domain.axes]
    return RowScores(domain, tuple(zip(ends, [*ends[1:], ends[0]], strict=True)))

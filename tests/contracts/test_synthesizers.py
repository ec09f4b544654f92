"""The contract of every family: what it spends, what it returns, and that it knows noisy answers only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_lowercase
from typing import Any, TypeVar

import numpy as np
import pytest

from facsimile.errors import MechanismFailed
from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import Mechanism
from facsimile.privacy.reader import rehearse
from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.families import DENSE_CELLS, FAMILIES
from facsimile.synthesizers.base import Answers, Known, RowModel, Synthesizer
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.network import ruled_out
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from plans import plan

T = TypeVar("T")
QUICK = {"num_query": "40", "num_iterations": "6", "num_inner_updates": "5"}
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "privbayes theta": ("privbayes", {"flavour": "theta", "theta": "2", "epsilon_split": "0.25"}),
    "privbayes degree": ("privbayes", {"flavour": "degree", "degree": "2", "epsilon_split": "0.5"}),
    "mwem": ("mwem", QUICK),
    "pep": ("pep", {**QUICK, "marginal": "2"}),
    "mwem tables": ("mwem-tables", QUICK),
    "pep tables": ("pep-tables", {**QUICK, "marginal": "2"}),
    "mst": ("mst", {}),
    "aim": ("aim", {}),
    "workload": ("workload", {}),
}
EVERY = pytest.mark.parametrize("case", CASES)
SHAPES = [(3, 4), (2, 1), (1, 1), (5, 2, 3), (2, 3, 1, 4, 2), (2,) * 12]
N = 300


def made(case: str) -> Synthesizer:
    family, hyperparameters = CASES[case]
    return SYNTHESIZERS[family].of(hyperparameters)


def domain_of(shape: Sequence[int]) -> Domain:
    bins = {size: parse_bins([f"0..{size - 1}"] if size > 1 else ["0"], Fraction(1)) for size in set(shape)}
    return Domain(tuple(Axis(name, bins[size]) for name, size in zip(ascii_lowercase, shape, strict=False)))


def table_of(shape: Sequence[int], n: int = N) -> Table:
    """Each column follows the one before, with some noise."""
    random = np.random.default_rng(len(shape))
    rows = np.zeros((n, len(shape)), np.int64)
    for place, size in enumerate(shape):
        before = rows[:, place - 1] if place else random.integers(0, size, n)
        rows[:, place] = np.where(random.random(n) < 0.7, before, random.integers(0, size, n)) % size
    return Table.from_rows(domain_of(shape), rows)


def known_of(table: Table) -> Known:
    """A forbidden cell of the first two columns, and coarser versions of large columns."""
    domain = table.domain
    mask = np.zeros(domain.shape[:2], np.bool_)
    if mask.size > 1:
        mask[-1, 0] = True
    coarser = {a.name: (tuple(int(i > 0) for i in range(a.size)),) for a in domain.axes if a.size > 2}
    return Known(table.n, ((domain.names[:2], mask),), coarser)


@dataclass
class Recorder:
    """Passes questions on and keeps them with their answers."""

    domain: Domain
    answers: Answers
    tape: list[tuple[Mechanism[Any], Any]]

    def run(self, mechanism: Mechanism[T]) -> T:
        answer = self.answers.run(mechanism)
        self.tape.append((mechanism, answer))
        return answer

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Recorder:
        return Recorder(domain, self.answers.recoded(domain, maps), self.tape)


@dataclass
class Replayer:
    """Answers from a tape; it holds no table."""

    domain: Domain
    tape: Iterator[tuple[Mechanism[Any], Any]]

    def run(self, mechanism: Mechanism[T]) -> T:
        asked, answer = next(self.tape)
        assert type(mechanism) is type(asked)
        assert mechanism.cost() == asked.cost()
        return answer  # type: ignore[no-any-return]

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Replayer:
        return Replayer(domain, self.tape)


@dataclass(frozen=True)
class Run:
    model: RowModel
    spent: Fraction
    tape: list[tuple[Mechanism[Any], Any]]


def fitted(synthesizer: Synthesizer, table: Table, known: Known, epsilon: Fraction, seed: int = 1) -> Run:
    curator = Curator.rehearsal(rehearse(table), seed)
    with curator.search(plan(Fraction(0), once=epsilon), "contract") as search:
        allowance = search.once()
        recorder = Recorder(table.domain, allowance, [])
        model = synthesizer.fit(recorder, known, epsilon, np.random.default_rng(seed))
        return Run(model, allowance.purse.spent.epsilon, recorder.tape)


def test_every_pure_family_of_the_specification_is_here() -> None:
    pure = {name for name, family in FAMILIES.items() if family.pure}
    assert set(SYNTHESIZERS) == pure == {family for family, _ in CASES.values()}


@EVERY
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_spends_what_it_is_given_and_returns_n_allowed_records(case: str, shape: tuple[int, ...]) -> None:
    table = table_of(shape)
    known = known_of(table)
    run = fitted(made(case), table, known, Fraction(1))
    assert Fraction(999, 1000) <= run.spent <= 1
    for sampling in ("iid", "systematic"):
        for n in (1, N):
            drawn = run.model.sample(n, np.random.default_rng(2), sampling)
            assert drawn.domain == table.domain
            assert drawn.n == n
            assert not ruled_out(known.zeros, drawn.domain, drawn.codes).any()


WIDE = [case for case, (family, _) in CASES.items() if FAMILIES[family].wider is None]


@pytest.mark.parametrize("case", WIDE)
def test_a_domain_that_cannot_be_held_works_too(case: str) -> None:
    table = table_of((12, 2, 9) + (15,) * 5, 2_000)
    assert table.domain.cells > DENSE_CELLS
    made(case).check(table.domain, table.n, Fraction(2))
    known = known_of(table)
    run = fitted(made(case), table, known, Fraction(2))
    assert Fraction(999, 1000) <= run.spent / 2 <= 1
    drawn = run.model.sample(table.n, np.random.default_rng(2))
    assert drawn.n == table.n
    assert not ruled_out(known.zeros, drawn.domain, drawn.codes).any()
    replayed = made(case).fit(
        Replayer(table.domain, iter(run.tape)), known, Fraction(2), np.random.default_rng(1)
    )
    assert replayed.sample(table.n, np.random.default_rng(2)) == drawn


@pytest.mark.parametrize("case", [case for case in CASES if case not in WIDE])
def test_or_is_refused_before_anything_is_asked_and_has_a_variant_that_works(case: str) -> None:
    with pytest.raises(ValueError, match="more than 10,000,000 rows"):
        made(case).check(domain_of((10,) * 7 + (2,)), 2_000, Fraction(2))
    made(case).check(domain_of((10,) * 7), 2_000, Fraction(2))
    assert FAMILIES[CASES[case][0]].wider in {CASES[wide][0] for wide in WIDE}


@EVERY
@pytest.mark.parametrize("epsilon", ["1/100", "1/7", "3", "100"])
def test_any_epsilon_will_do(case: str, epsilon: str) -> None:
    table = table_of((4, 3, 2))
    run = fitted(made(case), table, known_of(table), Fraction(epsilon))
    assert Fraction(999, 1000) <= run.spent / Fraction(epsilon) <= 1
    assert run.model.sample(N, np.random.default_rng(1)).n == N


@EVERY
@pytest.mark.parametrize("shape", [(1,), (5,)], ids=str)
def test_one_column_is_enough(case: str, shape: tuple[int, ...]) -> None:
    table = table_of(shape)
    run = fitted(made(case), table, Known(N), Fraction(2))
    assert Fraction(999, 1000) <= run.spent / 2 <= 1
    assert run.model.sample(N, np.random.default_rng(1)).n == N


@EVERY
def test_it_is_a_function_of_noisy_answers_and_public_input(case: str) -> None:
    table = table_of((4, 3, 2, 3))
    known = known_of(table)
    run = fitted(made(case), table, known, Fraction(1))
    tape = iter(run.tape)
    replayed = made(case).fit(Replayer(table.domain, tape), known, Fraction(1), np.random.default_rng(1))
    assert next(tape, None) is None
    one, other = (model.sample(N, np.random.default_rng(5)) for model in (run.model, replayed))
    assert one == other


@EVERY
def test_with_a_great_epsilon_it_comes_close_to_the_table(case: str) -> None:
    """Two columns that follow each other: half the L1 distance of their tables, of 3,000 records."""
    table = table_of((4, 4), 3_000)
    family, hyperparameters = CASES[case]
    more = {"num_iterations": "20", "num_inner_updates": "30"} if "num_query" in hyperparameters else {}
    if family == "mwem":  # its steps are small
        more = {"num_query": "100", "num_iterations": "300", "num_inner_updates": "1000"}
    synthesizer = SYNTHESIZERS[family].of({**hyperparameters, **more})
    model = fitted(synthesizer, table, Known(table.n), Fraction(100)).model
    drawn = model.sample(table.n, np.random.default_rng(1))
    assert np.abs(drawn.marginal(("a", "b")) - table.marginal(("a", "b"))).sum() / 2 <= 0.02 * table.n


@EVERY
def test_hyperparameters_are_those_of_the_specification(case: str) -> None:
    family, hyperparameters = CASES[case]
    assert set(hyperparameters) <= set(FAMILIES[family].hyperparameters)
    with pytest.raises((KeyError, TypeError, ValueError)):
        SYNTHESIZERS[family].of({"colour": "blue"})


class Overspender(MST):
    """A mutant: it asks all that it may, and once more."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        super().fit(answers, known, epsilon, random)
        return super().fit(answers, known, epsilon / 1000, random)


def test_a_family_that_overspends_is_stopped_by_its_allowance() -> None:
    table = table_of((3, 4))
    with pytest.raises(MechanismFailed, match="E304"):
        fitted(Overspender(), table, Known(N), Fraction(1))

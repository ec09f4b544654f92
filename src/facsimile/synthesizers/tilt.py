"""Tilt: a model asks the criteria's own scores, and moves to the noisy answers.

A score says what the model gets wrong about one criterion: x·(y − prediction by the model's own regression),
(x − the model's mean) inside a group. So its sum is small, and so is its range: a few of them, each row clipped
where the model has few rows (public, and no bias, since model and records are held against the same clipped
scores), have less noise than all the tables that would tell as much.

With p the model's mass on rows, s their scores, t the noisy sums and V the variances of their noise, the tilted
model minimises KL(q ‖ p) + (Σqs − t)' V⁻¹ (Σqs − t)/2κ among the masses with p's one-way tables. It is
q = p·exp(θ·s)·(a factor for each code), and the dual in θ is concave with Hessian −(Cov_q(s) + κV): it has one
maximum, whatever the noise did to t. Steps in θ climb it, in turn with raking (Csiszár 1975). The first is
Newton's; Broyden's update then learns what raking takes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from facsimile.privacy.mechanisms import NoisyScores
from facsimile.shaping.sampling import Sampling, rounded
from facsimile.synthesizers.base import Answers, Known, RowModel, by_law
from facsimile.synthesizers.dense import Dense
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats
from facsimile.table.fit import Target, ratio, relaxed
from facsimile.table.scores import MOST_ENTRIES, RowScores
from facsimile.table.table import Codes, Table, add

CLIPPED = 0.1
"""The share of the model's records that are clipped: the answer has less noise, and says less about them."""
KAPPA = 0.01
ROUNDS = 12
TOLERANCE = 0.03
"""In deviations of the noise."""
STEEPEST = 2.0
"""How far a step moves the logarithm of a row's mass, at most."""
HEAVIEST = 20.0


@dataclass(frozen=True, eq=False)
class Heard:
    """Scores with their clip, the noisy sums over the records, and the variance of the noise on each."""

    scores: RowScores
    most: int
    sums: Floats
    variance: float

    @classmethod
    def of(cls, scores: RowScores, public: Table, share: Fraction, answers: Answers) -> Heard:
        """Asked with a clip that few records of a public table reach."""
        asked = normed(scores, share)
        question = NoisyScores(asked, clip(asked, public), share)
        sums = answers.run(question).astype(np.float64)
        return cls(asked, question.most, sums, question.variance)

    def values(self, codes: Codes) -> Floats:
        """A line for each score, a column for each row."""
        return np.ascontiguousarray(self.scores.clipped(codes, self.most).T, np.float64)


def normed(scores: RowScores, share: Fraction) -> RowScores:
    """Clipped in the norm that the noise of a share is calibrated to: L1 for an ε, L2 for a ρ."""
    return replace(scores, norm=by_law(share, 1, 2))


def clip(scores: RowScores, public: Table) -> int:
    """The norm that few records of a public table exceed."""
    norms = scores.norms(scores.of(public.codes))
    order = np.argsort(norms)
    place = np.searchsorted(np.cumsum(public.counts[order]), (1 - CLIPPED) * public.n)
    return max(1, int(norms[order][min(int(place), len(order) - 1)]))


def corrected(
    model: RowModel, answers: Answers, known: Known, shares: Mapping[str, Fraction], random: np.random.Generator
) -> RowModel:
    """The model after the scores of some criteria were asked, each with an ε of its own."""
    if not shares:
        return model
    public = model.sample(known.n, random)
    rows = model.domain.cells if isinstance(model, Dense) else known.n
    asked = {name: known.scores(name, public) for name in shares}
    held = {name: s for name, s in asked.items() if s is not None and len(s.functions) * rows <= MOST_ENTRIES}
    heard = [Heard.of(s, public, shares[name], answers) for name, s in held.items()]
    if not heard:
        return model
    return _on_cells(model, heard) if isinstance(model, Dense) else _on_rows(model, public, heard)


def _on_cells(model: Dense, heard: Sequence[Heard]) -> Dense:
    domain, n = model.domain, float(model.mass.sum())
    codes = np.indices(domain.shape).reshape(len(domain.shape), -1).T
    single = [Target((name,), model.marginal((name,))) for name in domain.names]

    def raked(mass: Floats) -> Floats:
        return relaxed(domain, single, mass.reshape(domain.shape), n, sweeps=1).ravel()

    mass, _ = _climbed(model.mass.ravel(), codes, heard, raked)
    return replace(model, mass=mass.reshape(domain.shape))


def _on_rows(model: RowModel, public: Table, heard: Sequence[Heard]) -> Tilted:
    columns = public.codes.T
    singles = [public.marginal((name,)).astype(np.float64) for name in public.domain.names]
    factors = [np.ones(len(counts)) for counts in singles]

    def raked(mass: Floats) -> Floats:
        for column, counts, factor in zip(columns, singles, factors, strict=True):
            now = np.asarray(np.bincount(column, mass, len(counts)), np.float64)
            step = np.where(counts > 0, ratio(counts, now), 1.0)
            factor *= step
            mass = mass * step[column]
        return mass

    mass, theta = _climbed(public.counts.astype(np.float64), public.codes, heard, raked)
    heaviest = min(HEAVIEST, float((mass / public.counts).max()))
    return Tilted(model.domain, model, tuple(_parts(heard, theta)), tuple(factors), heaviest)


def _parts(heard: Sequence[Heard], theta: Floats) -> Iterator[tuple[RowScores, int, Floats]]:
    ends = np.cumsum([len(one.sums) for one in heard])
    for one, mine in zip(heard, np.split(theta, ends[:-1]), strict=True):
        yield one.scores, one.most, mine


def _climbed(
    mass: Floats, codes: Codes, heard: Sequence[Heard], raked: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """The tilted mass of rows, and θ."""
    values, n = np.concatenate([one.values(codes) for one in heard]), float(mass.sum())
    wanted = np.concatenate([one.sums for one in heard])
    variances = np.concatenate([np.full(len(one.sums), one.variance) for one in heard])
    theta, widest = np.zeros(len(wanted)), np.abs(values).max(axis=1)
    sums = values @ mass
    slope = (values * mass) @ values.T - np.outer(sums, sums) / n + KAPPA * np.diag(variances)
    gap = wanted - sums
    for _ in range(ROUNDS):
        if (np.abs(gap) < TOLERANCE * np.sqrt(variances)).all():
            break
        step = np.linalg.lstsq(slope, gap, rcond=None)[0]
        step *= STEEPEST / max(STEEPEST, float(np.abs(step) @ widest))
        theta += step
        mass = raked(mass * np.exp(step @ values))
        before, gap = gap, wanted - values @ mass - KAPPA * variances * theta
        slope += np.outer(before - gap - slope @ step, step) / (step @ step)
    return mass, theta


@dataclass(frozen=True, eq=False)
class Tilted(RowModel):
    """A model whose rows count exp(θ·s)·(a factor for each code) times, and at most `heaviest` times."""

    domain: Domain
    model: RowModel
    parts: tuple[tuple[RowScores, int, Floats], ...]
    factors: tuple[Floats, ...]
    heaviest: float

    def weights(self, codes: Codes) -> Floats:
        """How many times each row counts."""
        found = np.ones(len(codes))
        for scores, most, theta in self.parts:
            found *= np.exp(scores.clipped(codes, most) @ theta)
        for place, factor in enumerate(self.factors):
            found *= factor[codes[:, place]]
        return np.minimum(found, self.heaviest)

    def sample(self, n: int, random: np.random.Generator, sampling: Sampling = "systematic") -> Table:
        """Rows drawn from the model and rounded to what they count; or records kept by chance, until there are
        enough."""
        if sampling != "iid":
            drawn = self.model.sample(n, random, sampling)
            counts = rounded(drawn.counts * self.weights(drawn.codes), n, random)
            return Table.from_rows(self.domain, drawn.codes, counts)
        kept: list[Table] = []
        while (missing := n - sum(table.n for table in kept)) > 0:
            drawn = self.model.sample(missing, random, sampling)
            stay = random.binomial(drawn.counts, self.weights(drawn.codes) / self.heaviest)
            kept.append(Table.from_rows(self.domain, drawn.codes, stay))
        return add(kept)

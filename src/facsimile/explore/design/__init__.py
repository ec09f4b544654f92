"""Design: the measurements of a workload, computed from public data of the same form and from the criteria.

Prediction, not trial. Near the public table the criteria are linear (`linear`), what tables say about a record
is a sum of effects (`effects`), so the chance that the noise of given tables leaves every criterion met follows
in milliseconds (`prediction`), with derivatives by the shares of ε (`weights`). A greedy search over tables
uses it (`structures`). The noise-free fit of each draft that is taken shows its bias. Where no criterion is
linear and the domain is wide, tables are found that keep all tables of a few columns close (`wide`).

Room for the test. A criterion is tested with noise afterwards, so the design aims below its threshold: `margin`
scales of the noise that it is planned with, at most half of the threshold (`roomy`).

Both laws. Where δ is declared, all of this is for Gaussian noise and a ρ (`law`); and whether δ pays is told by
a second design, without it (`laws`).

Honesty. The prediction is of first order, and the search has seen it often. So the designs, `auto` and what the
specification has meet on real candidates, all on the same seeds, and the best is taken. The chances that are
reported come from fresh seeds that chose nothing. They speak of the public table all the same; how a design
does on another population, only that population can tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from facsimile.acceptance.kind import kind_of, kinds_of
from facsimile.acceptance.planned import declared
from facsimile.errors import refusal
from facsimile.explore.chances import interval
from facsimile.explore.design import wide
from facsimile.explore.design.draft import Draft, Own
from facsimile.explore.design.effects import Moments
from facsimile.explore.design.law import LAPLACE
from facsimile.explore.design.laws import Laws, undeclared
from facsimile.explore.design.linear import FARTHEST, POWER, LinearCriteria
from facsimile.explore.design.prediction import DRAWS
from facsimile.explore.design.rehearsals import FAMILY, Rehearsals
from facsimile.explore.design.structures import QUICK, Found, Structures
from facsimile.explore.design.weights import weighted
from facsimile.privacy.modes import mode_of
from facsimile.release.recipe import Recipe
from facsimile.spec.columns import Axis
from facsimile.spec.criteria import Criterion, TotalVariationDistance
from facsimile.spec.families import DENSE_CELLS
from facsimile.spec.release import Specification
from facsimile.synthesizers.measurements import AUTO, BestGroups
from facsimile.synthesizers.tilt import clip, normed
from facsimile.table.encoding import recode
from facsimile.table.exact import Floats
from facsimile.table.scores import RowScores
from facsimile.table.table import Codes, Table

MARGIN = 2.0
TRIALS = 400
CHOOSING, FRESH = 8, 24
"""Seeds on which designs meet, and seeds of the chance that is reported; that of `auto` is on the former."""
LEAST_SEEDS = 3
"""A workload that cannot win any more has met so many seeds at least."""
FINAL_STEPS = 25
FEW_ROWS = 10_000
"""Of the table that a fit starts from, for covariances."""
LISTED = 3
"""So many workloads of the specification's own meet the design."""
SEEDS = 10_000
"""Designs of different seeds share no seed below."""
UNDESIGNED: Own = {"measurements": AUTO, "weights": AUTO}
LEVEL = 0.95


@dataclass(frozen=True)
class Chance:
    """How many of so many candidates met every criterion."""

    met: int
    of: int

    @property
    def share(self) -> float:
        """Of all candidates."""
        return self.met / self.of

    @property
    def bounds(self) -> tuple[float, float]:
        """Where the chance lies, with 95 % confidence."""
        return interval(self.share, self.of, LEVEL)


@dataclass(frozen=True)
class Designed:
    """Measurements for a specification, and what they are worth on seeds that chose nothing.

    `taken` says what was taken: the `design`, `auto`, or what the `specification` had. `predicted` is the
    chance that the linear criteria are met and `predictions` that of each; None for what was not designed.
    `laws`: what either law is worth, where δ is declared.
    """

    own: dict[str, str]
    epsilon: Fraction
    taken: str
    predicted: float | None
    predictions: dict[str, float]
    confirmed: Chance
    before: Chance
    failing: dict[str, float]
    tried: int
    candidates: int
    seconds: float
    laws: Laws | None = None

    def families(self) -> list[dict[str, Any]]:
        """The block of a specification, as plain data."""
        return [{"family": FAMILY, "grid": {name: [text] for name, text in self.own.items()}}]


def design(
    specification: Specification,
    table: Table,
    epsilon: Fraction,
    *,
    alternatives: Mapping[str, str] | None = None,
    margin: float = MARGIN,
    scores: bool = True,
    seed: int = 1,
    trials: int = TRIALS,
    progress: Callable[[str], None] = lambda _: None,
) -> Designed:
    """Tables, weights and scores of a workload for a public table, at the finest refinement of a specification.

    `alternatives` are each column's first unless given. The search tries at most so many drafts; the result
    follows from the seed.
    """
    begun = time.monotonic()
    spec = roomy(specification.sized(table.n), margin)
    choice = dict(alternatives or spec.alternatives_named(""))
    rehearsals = Rehearsals(spec, recode(spec, table, choice), choice, epsilon)
    budget, structures = rehearsals.budget, searched(rehearsals, scores, trials, progress)
    known = [Draft.read(own, rehearsals.real.domain, spec.n, budget) for own in listed(specification)]
    found = (
        None if structures is None else best(structures, [one for one in known if one is not None], progress)
    )
    finalists: dict[str, Own] = {} if found is None else {"design": found.draft.own}
    close: wide.Draft | None = None
    if structures is None and rehearsals.real.domain.cells > DENSE_CELLS:
        progress("no criterion is linear: looking for tables that keep all tables of a few columns close")
        close = by_distance(rehearsals)
        finalists["design"] = close.own
    finalists |= {f"specification {i}": own for i, own in enumerate(listed(specification), 1)}
    finalists["auto"] = UNDESIGNED
    pool = range(seed * SEEDS, seed * SEEDS + CHOOSING)
    met: dict[str, Floats] = {}
    for name, own in finalists.items():
        progress(f"making candidates: {name}")
        met[name] = _raced(rehearsals, own, pool, met.values())
    taken = chosen(met)
    if np.isinf(met[taken]).all():
        raise refusal("E160", family=FAMILY)
    progress(f"making candidates on fresh seeds: {taken}")
    fresh = range(pool.stop, pool.stop + FRESH)
    ratios = np.array([rehearsals.ratios(finalists[taken], one) for one in fresh])
    failing = 1 - (ratios < 1).mean(axis=0)
    names = [criterion.name for criterion in spec.criteria]
    predicted = found if taken == "design" else None
    laws = None
    if spec.budget.delta:
        progress("the same without delta")
        other = replace(rehearsals, specification=undeclared(spec))
        if structures is not None and found is not None:
            laws = _by_chance(structures, found, searched(other, scores, trials, progress), progress)
        elif close is not None:
            laws = _by_distance(rehearsals, other, close)
        laws = laws or _by_candidates(met[taken], _raced(other, finalists[taken], pool, ()))
    return Designed(
        dict(finalists[taken]),
        epsilon,
        taken.split()[0],
        None if predicted is None else predicted.chance(budget),
        {} if predicted is None else predicted.chances(budget),
        _chance(ratios),
        _chance(ratios if taken == "auto" else met["auto"]),
        {name: float(share) for name, share in zip(names, failing, strict=True) if share},
        0 if structures is None else structures.tried,
        sum(map(len, met.values())) + FRESH,
        time.monotonic() - begun,
        laws,
    )


def _by_chance(
    structures: Structures, found: Found, without: Structures | None, progress: Callable[[str], None]
) -> Laws | None:
    """By the predicted chances of a design for each law."""
    other = None if without is None else best(without, [found.draft.under(without.law)], progress)
    if without is None or other is None:
        return None
    chances = found.chance(structures.budget), other.chance(without.budget)
    return Laws.of("chance", *chances, (found.value, other.value))


def _by_distance(rehearsals: Rehearsals, other: Rehearsals, draft: wide.Draft) -> Laws:
    """By the distances of a design for each law."""
    without = by_distance(other, draft.under(LAPLACE))
    return Laws.of("distance", _trial(rehearsals).value(draft), _trial(other).value(without))


def _by_candidates(gaussian: Floats, laplace: Floats) -> Laws:
    """By real candidates of the same text on the same seeds."""
    promises = float(worth(gaussian).mean()), float(worth(laplace).mean())
    return Laws.of("candidates", _chance(gaussian).share, _chance(laplace).share, promises)


def roomy(specification: Specification, margin: float) -> Specification:
    """The specification with thresholds that leave room for the noise of their test.

    A criterion that is met when its value lies below T and that is tested with noise of scale b = Δ/ε gets
    T − margin·b, at least T/2; where only a release can tell Δ, it keeps T. Two scales are exceeded by noise in
    one test of fifteen. A test that bounds luck asks for ln(1/(2·luck)) scales more (`decision.margin`).
    """
    if not margin:
        return specification
    assumed, luck = declared(specification), float(mode_of(specification.selection).luck)
    scales = margin + (0.0 if specification.scheme == "paper" else max(0.0, -log(2 * luck)))

    def less(criterion: Criterion) -> Criterion:
        kind = kind_of(criterion, "sharp")
        test = specification.budget.test if specification.tested_together(criterion) else None
        delta, epsilon = kind.planned(specification, assumed)[0], test or criterion.epsilon
        if delta is None or not epsilon:
            return criterion
        lower = kind.error(max(kind.limit / 2, kind.limit - Fraction(scales) * delta / epsilon))
        return criterion if lower is None else criterion.model_copy(update={"threshold": lower})

    return specification.model_copy(update={"criteria": tuple(map(less, specification.criteria))})


def by_distance(rehearsals: Rehearsals, begin: wide.Draft | None = None) -> wide.Draft:
    """A design for the distance of tables of so many columns as a criterion speaks of, or of three; a short one
    from a draft."""
    trial = _trial(rehearsals)
    rounds = wide.ROUNDS if begin is None else 1
    return wide.designed(trial.table, trial.known, trial.budget, ways=trial.ways, rounds=rounds, begin=begin)


def _trial(rehearsals: Rehearsals) -> wide.Trial:
    """Of drafts for a distance, on a seed that no search has."""
    ways = [c.ways for c in rehearsals.specification.criteria_of(TotalVariationDistance) if c.ways]
    known = Recipe.alone(rehearsals.specification, rehearsals.alternatives, FAMILY, {}).known()
    return wide.Trial(rehearsals.real, known, rehearsals.budget, max(ways, default=3), seed=SEEDS)


def searched(
    rehearsals: Rehearsals, scores: bool, trials: int, progress: Callable[[str], None]
) -> Structures | None:
    """A search for a public table; None where no criterion has a linear view, or no column two bins."""
    spec, real = rehearsals.specification, rehearsals.real
    criteria = LinearCriteria.of(spec, real)
    start = rehearsals.candidate({"measurements": "each", "weights": AUTO}, None)
    cuts = {axis.name: _cut(real, axis) for axis in real.domain.axes if axis.size > 1}
    if not criteria.parts or start is None or not cuts:
        return None
    asked = {kind.criterion.name: kind.scores(spec, real) for kind in kinds_of(spec)} if scores else {}
    budget = rehearsals.budget
    normal = {name: normed(one, budget) for name, one in asked.items() if one is not None}
    heard = {name: (one, clip(one, real)) for name, one in normal.items()}
    functions = {name: _clipped(*one) for name, one in heard.items()}
    moments = Moments(real, cuts, criteria.functions, functions)
    independent = Moments(start, cuts, criteria.functions, functions, FEW_ROWS)

    def fitted(draft: Draft) -> Floats | None:
        made = rehearsals.candidate(draft.own, None)
        return (
            None if made is None else made.counts @ criteria.functions(made.codes) / made.n - moments.mean(None)
        )

    diameters = {name: 2.0 * most for name, (_, most) in heard.items()}
    return Structures(
        moments, independent, criteria, spec.criteria, budget, diameters, fitted, trials, progress
    )


def best(structures: Structures, known: list[Draft], progress: Callable[[str], None]) -> Found | None:
    """Climb from the most promising start, and weigh what was found on more draws; None where nothing holds."""
    starts = [structures.weighed(draft, 0.0, QUICK) for draft in [*known, *structures.starts()]]
    starts.sort(key=lambda one: -one.value)
    found = next((one for one in (structures.climb(start.draft) for start in starts) if one is not None), None)
    if found is None:
        return None
    progress("sharing the budget")
    prediction = structures.predicted(found.draft, DRAWS)
    draft, value = weighted(found.draft, prediction, float(structures.budget), found.bias, FINAL_STEPS)
    return Found(draft, value, prediction, found.bias)


def listed(specification: Specification) -> Sequence[Own]:
    """The first workloads that a specification has itself, `auto` left out."""
    grids = [grid for grid in specification.families if grid.family == FAMILY]
    every = [grid.combination(place) for grid in grids for place in range(min(LISTED, grid.size))]
    return [own for own in every if own.get("measurements", AUTO) != AUTO][:LISTED]


def _cut(table: Table, axis: Axis) -> BestGroups:
    numbers = [float(number) for number in axis.numbers or range(axis.size)]
    return BestGroups.of(table.marginal((axis.name,)).astype(np.float64), numbers)


def _clipped(scores: RowScores, most: int) -> Callable[[Codes], Floats]:
    return lambda codes: scores.clipped(codes, most).astype(np.float64)


def worth(ratios: Floats) -> Floats:
    """Of each candidate: about 1 where every criterion is met with room, about 0 where one is far from it."""
    found: Floats = 1 / (1 + (np.minimum(ratios, FARTHEST) ** POWER).sum(axis=1))
    return found


def chosen(met: Mapping[str, Floats]) -> str:
    """The best of all by the criteria that some candidate meets: one that none meets cannot choose."""
    possible = (np.concatenate(list(met.values())) < 1).any(axis=0)
    columns = possible if possible.any() else ~possible
    return max(met, key=lambda name: float(worth(met[name][:, columns]).sum()))


def _raced(rehearsals: Rehearsals, own: Own, seeds: Sequence[int], others: Iterable[Floats]) -> Floats:
    """Ratios of candidates on these seeds; no more are made once another is sure to have met more of them."""
    most = max(((other.max(axis=1) < 1).sum() for other in others), default=0)
    found: list[tuple[float, ...]] = []
    for place, seed in enumerate(seeds):
        met = sum(max(one) < 1 for one in found)
        if place >= LEAST_SEEDS and met + len(seeds) - place < most:
            break
        found.append(rehearsals.ratios(own, seed))
    return np.array(found)


def _chance(ratios: Floats) -> Chance:
    return Chance(int((ratios.max(axis=1) < 1).sum()), len(ratios))

"""Public numbers beyond 64 bits: values are exact, and one record moves them by their sensitivity and no more.

Tables of millions of records in two cells; among them those whose sums pass an edge at which 64 bits wrap.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from facsimile.acceptance.kinds.sums import correlations, named, quantiles, ranges
from facsimile.acceptance.model import Model
from facsimile.acceptance.regression import Centring, refitting
from facsimile.privacy.mechanisms import (
    Mechanism,
    NoisyAnswer,
    NoisyMarginals,
    NoisyMoments,
    NoisyScores,
    NoisySelection,
)
from facsimile.privacy.noise import LARGEST, RehearsalNoise
from facsimile.privacy.queries import (
    BoxDistances,
    Dependences,
    FloorMeans,
    MarginalDistances,
    OneStep,
    PredictionGap,
    Query,
    WorstExcess,
    WorstSum,
)
from facsimile.privacy.queries.regression import Cells
from facsimile.table.domain import Domain
from facsimile.table.exact import integers
from facsimile.table.linear import Linear, Terms
from facsimile.table.regression import Scaling
from facsimile.table.scores import Factor, RowScores
from facsimile.table.table import Table
from facsimile.table.view import View
from facsimile.testing import moves
from facsimile.testing.neighbours import heavy_pairs, numbered_domain
from table.test_boxes import every_box

N = 4_000_000
LARGE = [10**9, 10**13, 10**30]
HALF = Fraction(1, 2)


def domain_of(number: int) -> Domain:
    return numbered_domain([0, 1, number], [-number, number])


def candidate_of(number: int) -> Table:
    rows = list(product(range(3), range(2)))
    return Table.from_rows(domain_of(number), rows, [N // 2, N // 4, N // 8, N // 16, N // 32, N // 32])


def models(number: int) -> tuple[Linear, Linear]:
    scaling = Scaling("a", ("b",), (Fraction(1),), (Fraction(2),))
    one = Linear.scaled(domain_of(number), scaling, (Fraction(number), Fraction(3)))
    return one, Linear.scaled(domain_of(number), scaling, (Fraction(0), Fraction(1, 7)))


def cells(number: int) -> Cells:
    return Cells(np.ones(domain_of(number).shape, np.bool_))


def bounds(number: int) -> tuple[Fraction, Fraction]:
    return Fraction(0), Fraction(number)


QUERIES: dict[str, Callable[[int], Query]] = {
    "floor means": lambda x: FloorMeans(candidate_of(x), "a", (("b", (0, 1)),), bounds(x), Fraction(1, 9)),
    "a named mean": lambda x: WorstSum(
        named(candidate_of(x), ("b",), np.array([True, False]), "a", Fraction(1, 9))
    ),
    "ranges": lambda x: WorstSum(ranges(candidate_of(x), ("a",), (("b", (0, 1)),))),
    "correlations": lambda x: WorstSum(correlations(candidate_of(x), ("a", "b"))),
    "a quantile of many digits": lambda x: WorstSum(
        quantiles(candidate_of(x), "a", (), Fraction(x // 3 * 10**9 + 1, x * 10**9))
    ),
    "one step": lambda x: OneStep(Terms(models(x)[1], models(x)), cells(x), N),
    "one step, cells not listed": lambda x: OneStep(Terms(models(x)[1], models(x)), None, N),
    "prediction gap": lambda x: PredictionGap(*models(x), bounds(x), cells(x), N),
    "prediction gap, bounds": lambda x: PredictionGap(*models(x), bounds(x), None, N),
    "worst excess": lambda x: WorstExcess(
        ((QUERIES["floor means"](x), HALF), (QUERIES["prediction gap"](x), HALF))
    ),
}
SIZES = (1, 2, 1024, 2**20, 2**21)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("number", LARGE)
def test_one_record_moves_a_query_by_at_most_its_sensitivity(name: str, number: int) -> None:
    query = QUERIES[name](number)
    query.check(domain_of(number), N)
    delta = query.sensitivity()
    for one, other in heavy_pairs(domain_of(number), N, [size * number for size in SIZES]):
        values = [Fraction(query.value(table, RehearsalNoise(1))) for table in (one, other)]
        assert abs(values[0] - values[1]) <= delta
    NoisyAnswer(WorstExcess(((query, Fraction(number)),)), HALF, 1024).check(domain_of(number), N)


def listed(table: Table) -> list[tuple[tuple[Fraction, ...], int]]:
    """The numbers of each row with its count, without any array."""
    numbers = [axis.numbers or () for axis in table.domain.axes]
    return [
        (tuple(values[code] for values, code in zip(numbers, row, strict=True)), count)
        for row, count in zip(table.codes.tolist(), table.counts.tolist(), strict=True)
    ]


def predicted(model: Linear, b: Fraction) -> Fraction:
    slope = {-1: 0, 1: 1}[int(b / abs(b))]
    return Fraction(model.constant + int(model.contributions[0][1].tolist()[slope]), model.unit)


@pytest.mark.parametrize("number", LARGE)
def test_values_are_those_of_pythons_integers(number: int) -> None:
    means = FloorMeans(candidate_of(number), "a", (), bounds(number), Fraction(0))
    gap = PredictionGap(*models(number), bounds(number), None, N)
    centre = means.groups[0].centre
    for table, _ in heavy_pairs(domain_of(number), N, [number, number * 2**20]):
        rows = listed(table)
        wanted = sum((count * (a - centre) for (a, _), count in rows), Fraction(0))
        assert means.value(table, RehearsalNoise(1)) == abs(wanted) / N
        total = Fraction(0)
        for (a, b), count in rows:
            one, other = (min(max(predicted(m, b), Fraction(0)), Fraction(number)) for m in models(number))
            total += count * (abs(a - one) - abs(a - other))
        assert gap.value(table, RehearsalNoise(1)) == abs(total) / N


def moments(size: int, unit: int = 1) -> NoisyMoments:
    return NoisyMoments(((("a",), integers([0, 1, size])),), (("b",), integers([-size, size])), unit, HALF)


def scores(one: int, other: int, most: int) -> NoisyScores:
    """A column's table times another's."""
    factors = (
        Factor(0, ((("a",), integers([-one, 1, one])),)),
        Factor(0, ((("b",), integers([-other, other])),)),
    )
    return NoisyScores(RowScores(domain_of(1), (factors, factors[:1])), most, HALF)


MECHANISMS: dict[str, tuple[Mechanism[Any], int]] = {
    "moments": (moments(2**29), 2**58),
    "moments, almost too large": (moments(2**30 - 1), 2**60),
    "moments of a great unit": (moments(2**20, 2**38), 2**58),
    "scores": (scores(2**30, 2**31, 2**53), 2**51),
    "scores that are clipped far": (scores(2**30, 2**31, 3), 2**51),
    "distances of great models": (
        NoisySelection(
            MarginalDistances(
                ((("a",), np.array([2**53, -(2**53), 0])), (("a", "b"), np.full((3, 2), 2**53)))
            ), HALF
        ),
        2**53,
    ),
    "distances of boxes": (
        NoisySelection(BoxDistances(every_box((3, 2)), np.resize([2**53, -(2**53), 0], 18)), HALF), 2**53
    ),
    "dependences": (NoisySelection(Dependences(domain_of(1), (("a", (("b", None),)),), N), HALF), N),
    "marginals": (NoisyMarginals(((("a", "b"), HALF),)), 1),
    "a mean on a fine grid": (NoisyAnswer(QUERIES["floor means"](10**9), HALF, 10**12), 10**9),
}  # fmt: skip


@pytest.mark.parametrize("name", MECHANISMS)
def test_one_record_moves_what_reaches_the_sampler_by_at_most_the_sensitivity(name: str) -> None:
    mechanism, size = MECHANISMS[name]
    domain = domain_of(10**9) if "mean" in name else domain_of(1)
    mechanism.check(domain, N)
    assert moves(mechanism, heavy_pairs(domain, N, [size]))[0] <= 1


@pytest.mark.parametrize(
    "broken",
    [
        lambda: moments(2**31),
        lambda: moments(2**32),
        lambda: moments(2**62),
        lambda: moments(2**70),
        lambda: moments(2**20, 2**62),
        lambda: NoisyAnswer(QUERIES["floor means"](10**30), HALF),
        lambda: NoisyAnswer(QUERIES["ranges"](1), HALF, LARGEST * N * 2),
        lambda: NoisySelection(Dependences(domain_of(1), (("a", (("b", None),)),), N), HALF, 2**40),
    ],
)
def test_a_sensitivity_that_integer_noise_cannot_have_is_refused_when_built(broken: Callable[[], Any]) -> None:
    with pytest.raises(ValueError):
        broken()


@pytest.mark.parametrize("number", [10**5, *LARGE])
def test_moments_of_a_narrow_candidate_in_a_wide_domain_are_refused_not_wrapped(number: int) -> None:
    """Review: a domain to 10⁹ and a candidate in 0 and 1 gave 2.57 times the declared sensitivity."""
    domain = numbered_domain([0, 1, number], [0, 1, number])
    narrow = Table.from_rows(domain, [[0, 0], [0, 1], [1, 1]], [N // 2, N // 4, N // 4])
    found = refitting(narrow, Model("a", View.of_columns(domain), View.of_columns(domain)), HALF)
    assert (found is None) is (number > 10**5)
    if found is not None:
        assert moves(found[1], heavy_pairs(domain, N, [2**20 * number**2]))[0] <= 1
    wide = Centring.in_public(domain, "a", {}).moments(View.of_columns(domain), HALF)
    assert moves(wide, heavy_pairs(domain, N, [2**20]))[0] <= 1

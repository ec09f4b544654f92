"""The contract of every query: one record moves it by its declared sensitivity and no more.

On every pair of neighbours of a tiny domain, with several candidates; sharp forms come within a tenth of what
they declare on some pair. Known mistakes of earlier systems, put back as mutants, are each caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

from contracts.neighbours import Pair, every_pair, random_pairs, small_domain
from facsimile.acceptance.kinds.sums import correlations, named, quantiles, ranges
from facsimile.privacy.noise import Noise, RehearsalNoise
from facsimile.privacy.queries import (
    QUERIES,
    ClippedRatio,
    FloorMeans,
    LargestDifference,
    OneStep,
    PredictionGap,
    Query,
    ResizedMeans,
    TailDifference,
    TotalVariation,
    Unlikeness,
    Unmatched,
    WorstExcess,
    WorstSum,
)
from facsimile.privacy.queries.means import Group, _drawn
from facsimile.privacy.queries.regression import Cells
from facsimile.privacy.queries.sums import Sums
from facsimile.table.exact import Ints
from facsimile.table.linear import Linear, newton_terms
from facsimile.table.matching import Likeness
from facsimile.table.regression import Scaling
from facsimile.table.table import Table

DOMAIN = small_domain(3, 2)
RECORDS = 4
CANDIDATES = [
    Table.from_rows(DOMAIN, rows)
    for rows in (
        [[0, 0], [1, 1], [2, 0], [2, 1]],
        [[0, 0], [0, 0], [2, 1], [2, 1]],
        [[1, 0], [1, 0], [1, 0], [2, 0]],
        [[0, 1], [1, 0], [1, 1], [2, 0]],
    )
]
CELLS = Cells(np.ones(DOMAIN.shape, bool))
BOUNDS = (Fraction(0), Fraction(2))
LIKE = Likeness(("b",), (("a", (0, 1, 2)),), 1)
GROUPS = (("b", (0, 1)),)


def one_step(s: Table, cells: Cells | None = CELLS) -> Query | None:
    terms = newton_terms(s, "a")
    return None if terms is None else OneStep(terms, cells, s.n)


def gap(s: Table, sharp: bool, cells: Cells = CELLS) -> Query:
    scaling = Scaling("a", ("b",), (Fraction(1, 2),), (Fraction(1, 2),))
    models = [
        Linear.scaled(DOMAIN, scaling, c) for c in ((Fraction(2), Fraction(1)), (Fraction(0), Fraction(0)))
    ]
    return PredictionGap(models[0], models[1], BOUNDS, cells if sharp else None, s.n)


def worst_sum(s: Table) -> Query:
    """Two sums with units of their own."""
    one = Sums(("a",), np.array([[0, 1, 3], [2, 0, 0]]), (4, 1), (Fraction(2), Fraction(5)))
    return WorstSum((one, Sums(("b", "a"), np.array([[[0, 0, 1], [1, 0, 0]]]), (1,), (Fraction(1),))))


Build = Callable[[Table], Query | None]
SHARP: dict[str, Build] = {
    "difference": LargestDifference,
    "difference, one way": lambda s: LargestDifference(s, 1),
    "unlikeness": Unlikeness,
    "total variation": lambda s: TotalVariation(s, (("a",), ("a", "b"))),
    "average variation": lambda s: TotalVariation(s, (("a",), ("a", "b")), average=True),
    "tail difference": lambda s: TailDifference(s, (("a",), ("b",)), Fraction(1, 4)),
    "worst sum": worst_sum,
    "ranges": lambda s: WorstSum(ranges(s, ("a",), GROUPS)),
    "quantiles": lambda s: WorstSum(quantiles(s, "a", GROUPS, Fraction(1, 3))),
    "correlations": lambda s: WorstSum(correlations(s, ("a", "b"))),
    "a named share": lambda s: WorstSum(named(s, ("a",), np.array([1, 0, 1]) > 0, None, Fraction(0))),
    "a named mean": lambda s: WorstSum(named(s, ("b",), np.array([1, 0]) > 0, "a", Fraction(1, 8))),
    "floor means": lambda s: FloorMeans(s, "a", GROUPS, BOUNDS, Fraction(0)),
    "one step": one_step,
    "prediction gap": lambda s: gap(s, sharp=True),
    "unmatched": lambda s: Unmatched(s, LIKE),
    "worst excess": lambda s: WorstExcess(
        ((LargestDifference(s), Fraction(1, 5)), (Unlikeness(s), Fraction(1, 2)))
    ),
}
PAPER: dict[str, Build] = {
    "floor means of smaller groups": lambda s: FloorMeans(s, "a", GROUPS, BOUNDS, Fraction(1, 4)),
    "clipped ratio": lambda s: ClippedRatio(s, Fraction(2)),
    "prediction gap, bounds": lambda s: gap(s, sharp=False),
    "one step, cells not listed": lambda s: one_step(s, None),
}


EVERY = list(every_pair(DOMAIN, RECORDS))


def pairs() -> Iterator[Pair]:
    return iter(EVERY)


def largest_move(query: Query, found: Iterator[Pair]) -> Fraction:
    """How far a neighbour moves the query, as a share of what it declares."""
    value = remembered(lambda table: query.value(table, RehearsalNoise(1)))
    return max(abs(value(a) - value(b)) for a, b in found) / query.sensitivity()


def remembered(function: Callable[[Table], int | Fraction]) -> Callable[[Table], Fraction]:
    """The function, computed once for each table."""
    known: dict[bytes, Fraction] = {}

    def look(table: Table) -> Fraction:
        key = table.codes.tobytes() + table.counts.tobytes()
        if key not in known:
            known[key] = Fraction(function(table))
        return known[key]

    return look


@pytest.mark.parametrize("name", [*SHARP, *PAPER])
def test_one_record_moves_a_query_by_at_most_its_sensitivity(name: str) -> None:
    shares = []
    for candidate in CANDIDATES:
        query = (SHARP | PAPER)[name](candidate)
        if query is not None:
            shares.append(largest_move(query, pairs()))
    assert max(shares) <= 1
    assert max(shares) >= (Fraction(9, 10) if name in SHARP else Fraction(1, 4))


MASKS = [np.array(mask).reshape(DOMAIN.shape) > 0 for mask in product((0, 1), repeat=DOMAIN.cells) if any(mask)]


@pytest.mark.parametrize("build", [one_step, partial(gap, sharp=True)], ids=["one step", "prediction gap"])
def test_a_record_in_a_forbidden_cell_moves_a_query_no_more_than_one_in_an_allowed_cell(
    build: Callable[..., Query | None],
) -> None:
    """For every set of allowed cells and every pair of tables, those with forbidden records included."""
    few = list(every_pair(DOMAIN, 2))
    largest = Fraction(0)
    for mask in MASKS:
        query = build(CANDIDATES[3], cells=Cells(mask))
        assert query is not None
        largest = max(largest, largest_move(query, iter(few)) * query.sensitivity() / (whole := _over(build)))
        assert largest_move(query, iter(few)) <= 1
        assert query.sensitivity() <= whole
    assert largest >= Fraction(9, 10)


def _over(build: Callable[..., Query | None]) -> Fraction:
    query = build(CANDIDATES[3], cells=CELLS)
    assert query is not None
    return query.sensitivity()


def test_a_forbidden_record_counts_as_one_in_the_first_allowed_cell() -> None:
    cells = Cells(np.array([[0, 0], [1, 0], [1, 1]]) > 0)
    table = Table.from_rows(DOMAIN, [[0, 0], [0, 1], [1, 1], [2, 1]])
    assert cells.held(table.codes).tolist() == [[1, 0], [1, 0], [1, 0], [2, 1]]
    assert cells.codes.tolist() == [[1, 0], [2, 0], [2, 1]]
    with pytest.raises(ValueError):
        Cells(np.zeros(DOMAIN.shape, np.bool_))


@pytest.mark.parametrize("name", ["floor means", "resized means", "a sum", "prediction gap"])
def test_what_no_record_can_move_counts_as_where_the_candidate_is(name: str) -> None:
    """A column of one bin has one mean; it passes, and it does not stand in the way of other criteria."""
    domain = small_domain(1, 2)
    s, other = (Table.from_rows(domain, rows) for rows in ([[0, 0], [0, 1]], [[0, 0], [0, 0]]))
    point = (Fraction(0), Fraction(0))
    model = Linear.scaled(
        domain, Scaling("a", ("b",), (Fraction(0),), (Fraction(1),)), (Fraction(0), Fraction(1))
    )
    still: dict[str, Query] = {
        "floor means": FloorMeans(s, "a", (("b", (0, 1)),), point, Fraction(0)),
        "resized means": ResizedMeans(s, "a", (), point, Fraction(0)),
        "a sum": WorstSum((Sums(("a",), np.array([[4]]), (8,), (Fraction(1),)),)),
        "prediction gap": PredictionGap(model, model, point, None, 2),
    }
    query, threshold = still[name], Fraction(1, 100)
    query.check(domain, 2)
    for table in (s, other):
        alone = WorstExcess(((query, threshold),)).value(table, RehearsalNoise(1))
        assert alone == query.excess(table, threshold, RehearsalNoise(1)) < -1000
        both = WorstExcess(((query, threshold), (LargestDifference(s), Fraction(3, 4))))
        assert both.value(table, RehearsalNoise(1)) == LargestDifference(s).excess(
            table, Fraction(3, 4), RehearsalNoise(1)
        )


@pytest.mark.parametrize("name", SHARP)
def test_and_no_more_on_larger_tables(name: str) -> None:
    random = np.random.default_rng(5)
    candidate = Table.from_rows(DOMAIN, random.integers(0, DOMAIN.shape, (40, 2)))
    query = SHARP[name](candidate)
    assert query is not None
    assert largest_move(query, random_pairs(DOMAIN, 40, 200)) <= 1


@pytest.mark.parametrize(
    "name", ["difference", "unlikeness", "floor means", "unmatched", "worst sum", "ranges", "quantiles"]
)
def test_the_excess_moves_by_at_most_one(name: str) -> None:
    for candidate in CANDIDATES:
        query = SHARP[name](candidate)
        assert query is not None
        excess = remembered(partial(query.excess, threshold=Fraction(1, 3), noise=RehearsalNoise(1)))
        assert max(abs(excess(a) - excess(b)) for a, b in pairs()) <= 1


def test_a_table_is_not_far_from_itself() -> None:
    for candidate in CANDIDATES:
        for name in ("difference", "unlikeness", "floor means", "unmatched", "one step"):
            query = SHARP[name](candidate)
            if query is not None:
                assert query.value(candidate, RehearsalNoise(1)) <= Fraction(1, 100)


def test_resized_means_are_a_uniform_draw_without_replacement() -> None:
    """The law of the drawn sum equals the hypergeometric law, by enumeration."""
    from itertools import combinations

    from laws import fits

    counts = np.array([2, 1, 3])
    positions = np.repeat(np.arange(3), counts)
    for size in (2, 4):
        law: dict[tuple[int, ...], int] = {}
        for chosen in combinations(range(6), size):
            key = tuple(np.bincount(positions[list(chosen)], minlength=3).tolist())
            law[key] = law.get(key, 0) + 1
        noise: Noise = RehearsalNoise(3)
        drawn = [tuple(_drawn(counts, size, noise).tolist()) for _ in range(20_000)]
        keys = sorted(law)
        assert set(drawn) <= set(keys)
        assert fits([drawn.count(k) for k in keys], [law[k] / sum(law.values()) for k in keys])


def test_resized_means_are_close_to_the_mean_and_fill_up_small_groups() -> None:
    candidate = Table.from_rows(DOMAIN, [[0, 0], [2, 1], [2, 1], [1, 0]] * 25)
    query = ResizedMeans(candidate, "a", GROUPS, BOUNDS, Fraction(1, 10))
    assert query.sensitivity() == Fraction(2, 40)
    assert query.value(candidate, RehearsalNoise(2)) < Fraction(1, 4)
    lopsided = Table.from_rows(DOMAIN, [[0, 0]] * 99 + [[2, 1]])
    assert query.value(lopsided, RehearsalNoise(2)) <= 2


def test_a_resize_with_fresh_keys_keeps_its_sensitivity_though_a_record_changes_groups() -> None:
    """The laws of neighbours can be drawn together at distance Δ; under one seed they cannot: SeededResize."""
    rows = [[0, 0]] * 6 + [[2, 0]] * 6 + [[1, 1]] * 4
    one, other = (Table.from_rows(DOMAIN, changed) for changed in (rows, [[1, 1], *rows[1:]]))
    query = ResizedMeans(one, "a", GROUPS, BOUNDS, Fraction(1, 4))
    laws = []
    for table in (one, other):
        drawn = [query.value(table, RehearsalNoise(seed)) for seed in range(2_000)]
        laws.append({value: drawn.count(value) / len(drawn) for value in set(drawn)})
    assert coupled(laws[0], laws[1], query.sensitivity())


def coupled(one: dict[Fraction, float], other: dict[Fraction, float], delta: Fraction) -> bool:
    """Whether two laws can be drawn together at distance at most Δ, up to sampling error (Strassen)."""
    slack = 0.08  # 2,000 draws each: Kolmogorov distance above it has probability below 1e-6 for each law
    below = [(x, sum(p for y, p in one.items() if y <= x)) for x in one]
    reach = [sum(p for y, p in other.items() if y <= x + delta) for x, _ in below]
    back = [sum(p for y, p in other.items() if y <= x - delta) for x, _ in below]
    return all(b - slack <= p <= r + slack for (_, p), r, b in zip(below, reach, back, strict=True))


def test_every_listed_query_is_here() -> None:
    built = {type(build(CANDIDATES[0])) for build in (SHARP | PAPER).values()} | {ResizedMeans}
    assert built == set(QUERIES)


class ObservedOnly(Unlikeness):
    """Mutant: the smallest count over observed values only."""

    def sensitivity(self) -> Fraction:
        counts = [self.candidate.marginal((name,)) for name in self.candidate.domain.names]
        return Fraction(1, 1 + min(int(c[c > 0].min()) for c in counts))


class HalfGap(PredictionGap):
    """Mutant: half the sensitivity, as the births paper's code had it."""

    def sensitivity(self) -> Fraction:
        return super().sensitivity() / 2


class NaNToZero(LargestDifference):
    """Mutant: values present in one table only count as no difference."""

    def value(self, table: Table, noise: Noise) -> Fraction:
        worst = 0
        for name in table.domain.names:
            r, s = table.marginal((name,)), self.candidate.marginal((name,))
            both = (r > 0) & (s > 0)
            worst = max(worst, int(np.abs(r - s)[both].max(initial=0)))
        return Fraction(worst, self.candidate.n)


class SeededResize(ResizedMeans):
    """Mutant: the records that are kept are drawn by a generator with a seed."""

    def error(self, counts: Ints, group: Group, noise: Noise) -> Fraction:
        return super().error(counts, group, RehearsalNoise(7))


class GroupSizeFromReal(FloorMeans):
    """Mutant: the group's size is taken from the confidential table, its sensitivity from the candidate."""

    def error(self, counts: Ints, group: Group, noise: Noise) -> Fraction:
        values = np.arange(3)
        size = int(counts.sum())
        return abs(Fraction(int(values @ counts), size) - group.centre) if size else Fraction(0)


@pytest.mark.parametrize(
    "mutant",
    [
        lambda s: ObservedOnly(s),
        lambda s: HalfGap(gap(s, True).real, gap(s, True).candidate, BOUNDS, CELLS, s.n),  # type: ignore[attr-defined]
        lambda s: NaNToZero(s),
        lambda s: GroupSizeFromReal(s, "a", GROUPS, BOUNDS, Fraction(0)),
        lambda s: SeededResize(s, "a", GROUPS, BOUNDS, Fraction(0)),
    ],
    ids=["observed only", "half sensitivity", "NaN to zero", "group size from R", "seeded resize"],
)
def test_known_mistakes_are_caught(mutant: Callable[[Table], Query]) -> None:
    assert max(largest_move(mutant(candidate), pairs()) for candidate in CANDIDATES) > 1

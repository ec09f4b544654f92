"""The contract of every query: one record moves it by its declared sensitivity and no more.

The contract is `facsimile.testing.check_query`, with several candidates; sharp forms come within a tenth of
what they declare on some pair. Known mistakes of earlier systems, put back as mutants, are each caught.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

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
    Viewed,
    WorstExcess,
    WorstSum,
)
from facsimile.privacy.queries.means import Group, GroupMeans, _drawn
from facsimile.privacy.queries.regression import Cells
from facsimile.privacy.queries.sums import Sums
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.table.differences import one_way_pairs
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints
from facsimile.table.linear import Linear, newton_terms
from facsimile.table.matching import Likeness
from facsimile.table.regression import Scaling
from facsimile.table.table import Table
from facsimile.table.view import Shown, View
from facsimile.testing import Broken, check_query, every_pair, random_pairs, small_domain
from facsimile.testing.neighbours import numbered_domain

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
ONE = View.of_columns(DOMAIN, ["a"])


def one_step(s: Table, cells: Cells | None = CELLS) -> Query | None:
    terms = newton_terms(s, "a")
    return None if terms is None else OneStep(terms, cells, s.n)


def indicators(s: Table, cells: Cells | None = CELLS) -> Query | None:
    """b on indicators of a's bins but the first."""
    shown = [Shown.numbers(f"a={k}", ("a",), (Fraction(k == c) for c in range(3)), (3,)) for k in (1, 2)]
    terms = newton_terms(s, "b", View(DOMAIN, (*shown, Shown.plain(DOMAIN.axis("b")))))
    return None if terms is None else OneStep(terms, cells, s.n)


def squares(s: Table, cells: Cells | None = CELLS) -> Query | None:
    """b on a and the square of a."""
    square = Shown.numbers("a*a", ("a",), map(Fraction, (1, 0, 1)), (3,))
    terms = newton_terms(
        s, "b", View(DOMAIN, (Shown.plain(DOMAIN.axis("a")), square, Shown.plain(DOMAIN.axes[1])))
    )
    return None if terms is None else OneStep(terms, cells, s.n)


def logistic_step(s: Table, cells: Cells | None = CELLS) -> Query | None:
    """The chance of b on a."""
    terms = newton_terms(s, "b", odds=True)
    return None if terms is None else OneStep(terms, cells, s.n)


def event_step(s: Table) -> Query | None:
    """The chance that a is 2 on b, behind a view that shows neither a nor its other values."""
    event = Shown.numbers("2", ("a",), map(Fraction, (0, 0, 1)), (3,))
    view = View(DOMAIN, (Shown.plain(DOMAIN.axis("b")), event))
    terms = newton_terms(view.of(s), "2", odds=True)
    return None if terms is None else Viewed(view, OneStep(terms, Cells(np.ones((2, 2), bool)), s.n))


def crossed_means(s: Table, query: type[GroupMeans] = FloorMeans) -> Query:
    """The share of a = 2 within the groups of b crossed with a in two groups, filled up to two records."""
    event = Shown.numbers("2", ("a",), map(Fraction, (0, 0, 1)), (3,))
    both = Axis("b*a", tuple(CategoryBin(str(k), frozenset(str(k))) for k in range(4)))
    view = View(DOMAIN, (Shown(both, ("b", "a"), np.array([[0, 1, 1], [2, 3, 3]])), event))
    groups = (("b*a", (0, 1, 2, 3)),)
    return Viewed(view, query(view.of(s), "2", groups, (Fraction(0), Fraction(1)), Fraction(0), 2))


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
    "floor means, filled up": lambda s: FloorMeans(s, "a", GROUPS, BOUNDS, Fraction(1, 4), 2),
    "one step": one_step,
    "one step, indicators": indicators,
    "one step, a square": squares,
    "one step, logistic": logistic_step,
    "one step, an event": event_step,
    "a view, fewer columns": lambda s: Viewed(ONE, LargestDifference(ONE.of(s))),
    "a view, crossed groups": crossed_means,
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
    "one step, indicators, cells not listed": lambda s: indicators(s, None),
    "one step, a square, cells not listed": lambda s: squares(s, None),
    "one step, logistic, cells not listed": lambda s: logistic_step(s, None),
}


EVERY = list(every_pair(DOMAIN, RECORDS))


def shares(build: Build) -> list[Fraction]:
    """How much of its sensitivity each candidate's query uses."""
    queries = [query for candidate in CANDIDATES if (query := build(candidate)) is not None]
    return [check_query(query, DOMAIN, RECORDS, reach=Fraction(0), pairs=EVERY) for query in queries]


@pytest.mark.parametrize("name", [*SHARP, *PAPER])
def test_one_record_moves_a_query_by_at_most_its_sensitivity(name: str) -> None:
    assert max(shares((SHARP | PAPER)[name])) >= (Fraction(9, 10) if name in SHARP else Fraction(1, 4))


STEPS = {"one step": one_step, "indicators": indicators, "a square": squares, "logistic": logistic_step}


@pytest.mark.parametrize("name", STEPS)
def test_a_diameter_that_has_too_many_signs_is_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is kept by all pairs, and some pair comes near to it."""
    monkeypatch.setattr("facsimile.privacy.queries.regression.MOST_SIGNED", 0)
    assert max(shares(STEPS[name])) > Fraction(1, 2)


MASKS = [np.array(mask).reshape(DOMAIN.shape) > 0 for mask in product((0, 1), repeat=DOMAIN.cells) if any(mask)]


@pytest.mark.parametrize("build", [one_step, partial(gap, sharp=True)], ids=["one step", "prediction gap"])
def test_a_record_in_a_forbidden_cell_moves_a_query_no_more_than_one_in_an_allowed_cell(
    build: Callable[..., Query | None],
) -> None:
    """For every set of allowed cells and every pair of tables, those with forbidden records included."""
    few = list(every_pair(DOMAIN, 2))
    largest, whole = Fraction(0), _over(build)
    for mask in MASKS:
        query = build(CANDIDATES[3], cells=Cells(mask))
        assert query is not None
        moved = check_query(query, DOMAIN, RECORDS, reach=Fraction(0), pairs=few)
        largest = max(largest, moved * query.sensitivity() / whole)
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


@pytest.mark.parametrize("numbers", [(0, Fraction(2, 3)), (Fraction(-2, 3), 0)])
@pytest.mark.parametrize("form", [FloorMeans, ResizedMeans])
def test_a_centre_off_the_grid_is_not_rounded_beyond_the_bounds(
    form: type[GroupMeans], numbers: tuple[Fraction, Fraction]
) -> None:
    """All records lie on the bound of 2/3, whose nearest multiple of 2^-20 is beyond it: as the filler of a
    group that a record of value 0 leaves, it would move the group's mean by more than (U - L)/m."""
    domain = numbered_domain(numbers, (0, 1))
    bound = int(numbers[0] == 0)
    candidate = Table.from_rows(domain, [[bound, 0], [bound, 0], [bound, 1]])
    query = form(candidate, "a", GROUPS, (Fraction(numbers[0]), Fraction(numbers[1])), Fraction(0))
    check_query(query, domain, 3)


@pytest.mark.parametrize("name", SHARP)
def test_and_no_more_on_larger_tables(name: str) -> None:
    random = np.random.default_rng(5)
    candidate = Table.from_rows(DOMAIN, random.integers(0, DOMAIN.shape, (40, 2)))
    query = SHARP[name](candidate)
    assert query is not None
    check_query(query, DOMAIN, 40, reach=Fraction(0), pairs=random_pairs(DOMAIN, 40, 200))


def test_a_table_is_not_far_from_itself() -> None:
    for candidate in CANDIDATES:
        for name in ("difference", "unlikeness", "floor means", "unmatched", "one step"):
            query = SHARP[name](candidate)
            if query is not None:
                assert query.value(candidate, RehearsalNoise(1)) <= Fraction(1, 100)


def test_resized_means_are_a_uniform_draw_without_replacement() -> None:
    """The law of the drawn sum equals the hypergeometric law, by enumeration."""
    from itertools import combinations

    from facsimile.testing.laws import fits

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


def test_a_group_that_is_filled_up_is_divided_by_its_public_size() -> None:
    """Groups of four where there are four records in all: nothing is drawn, and every pair is measured."""
    candidate = Table.from_rows(DOMAIN, [[0, 0], [2, 1], [2, 1], [1, 0]])
    query = ResizedMeans(candidate, "a", GROUPS, BOUNDS, Fraction(0), fill_to=4)
    assert query.sensitivity() == Fraction(2, 4)
    assert check_query(query, DOMAIN, 4) == 1


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


class OneMore(Unlikeness):
    """Mutant: one is added to the smallest count twice."""

    def sensitivity(self) -> Fraction:
        smallest = min(int(self.candidate.marginal((name,)).min()) for name in self.candidate.domain.names)
        return Fraction(1, smallest + 2)


class CellsAsShares(Unlikeness):
    """Mutant: an excess in shares of the candidate's count, with the step of the largest."""

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        return (self.value(table, noise) - threshold) / min(step for step in self.steps(Fraction(1)) if step)


class LowSideOnly(Unlikeness):
    """Mutant: too many records of a value are no excess."""

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        pairs = one_way_pairs(table, self.candidate)
        return max((1 - threshold) * (s + 1) - (r + 1) for r, s in pairs)


class ShortSteps(FloorMeans):
    """Mutant: a joint test takes every group in units of the smallest step."""

    @property
    def _moves(self) -> list[Fraction]:
        found = [2 / Fraction(group.size) for group in self.groups]
        return [min(found)] * len(found)


class PastTheBorder(LargestDifference):
    """Mutant: off by one at the border of a column; it fails where a record is there, and tells so."""

    def value(self, table: Table, noise: Noise) -> Fraction:
        counts = [0] * 2
        for (code, _), count in zip(table.codes.tolist(), table.counts.tolist(), strict=True):
            counts[code] += count
        return Fraction(counts[0], table.n)


class Rounded(LargestDifference):
    """Mutant: a float."""

    def value(self, table: Table, noise: Noise) -> Fraction:
        return float(super().value(table, noise))  # type: ignore[return-value]


class AnyDomain(LargestDifference):
    """Mutant: it does not look at the public domain."""

    def check(self, domain: Domain, n: int) -> None:
        pass


class Coarse(LargestDifference):
    """Mutant: ten times the noise that is needed."""

    def sensitivity(self) -> Fraction:
        return 10 * super().sensitivity()


MORE = "by more than"


@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        (lambda s: ObservedOnly(s), MORE),
        (lambda s: HalfGap(gap(s, True).real, gap(s, True).candidate, BOUNDS, CELLS, s.n), MORE),  # type: ignore[attr-defined]
        (lambda s: NaNToZero(s), MORE),
        (lambda s: GroupSizeFromReal(s, "a", GROUPS, BOUNDS, Fraction(0)), MORE),
        (lambda s: SeededResize(s, "a", GROUPS, BOUNDS, Fraction(0)), MORE),
        (lambda s: OneMore(s), MORE),
        (lambda s: CellsAsShares(s), MORE),
        (lambda s: LowSideOnly(s), "its excess"),
        (lambda s: ShortSteps(s, "a", GROUPS, BOUNDS, Fraction(0)), MORE),
        (lambda s: PastTheBorder(s), "fails on a table"),
        (lambda s: Rounded(s), "neither an integer nor a Fraction"),
        (lambda s: AnyDomain(s), "does not fit"),
        (lambda s: Coarse(s), "no record moves it"),
    ],
    ids=["observed only", "half sensitivity", "NaN to zero", "group size from R", "seeded resize", "one more",
         "cells as shares", "low side only", "short steps",
         "past the border", "a float", "any domain", "too much noise"],
)  # fmt: skip
def test_known_mistakes_are_caught(mutant: Build, words: str) -> None:
    """By one of the candidates at least; by the others for want of a theorem."""
    found = []
    for candidate in CANDIDATES:
        query = mutant(candidate)
        assert query is not None
        with pytest.raises(Broken) as broken:
            check_query(query, DOMAIN, RECORDS, reach=Fraction(0 if words == MORE else 1), pairs=EVERY)
        found.append(str(broken.value))
    assert any(words in text for text in found)


class WithoutTheLast(LargestDifference):
    """Mutant: the last value of a column is forgotten; no sensitivity shows it."""

    def value(self, table: Table, noise: Noise) -> Fraction:
        gaps = (np.abs(table.marginal((n,)) - self.candidate.marginal((n,))) for n in table.domain.names)
        return Fraction(int(max(gap[:-1].max() for gap in gaps)), table.n)


class SteepExcess(LargestDifference):
    """Its value moves as it says; above the threshold its excess moves twice as far."""

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        found = super().excess(table, threshold, noise)
        return max(found, 2 * found)


def test_an_excess_that_moves_further_than_the_value_is_caught() -> None:
    with pytest.raises(Broken, match="moves its excess by more than 1"):
        check_query(SteepExcess(CANDIDATES[0], 1), DOMAIN, RECORDS, pairs=EVERY)


def test_a_value_that_is_not_what_it_is_defined_to_be_is_caught() -> None:
    candidate = CANDIDATES[0]

    def by_hand(table: Table) -> Fraction:
        gaps = [
            abs(sum(m for row, m in zip(t.codes, t.counts, strict=True) if row[place] == code) - count)
            for place, name in enumerate(DOMAIN.names)
            for t in [table]
            for code, count in enumerate(candidate.marginal((name,)).tolist())
        ]
        return Fraction(int(max(gaps)), table.n)

    check_query(LargestDifference(candidate, 1), DOMAIN, RECORDS, defined=by_hand, pairs=EVERY)
    with pytest.raises(Broken, match="defined to be"):
        check_query(WithoutTheLast(candidate, 1), DOMAIN, RECORDS, defined=by_hand, pairs=EVERY)

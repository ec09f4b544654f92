"""What a criterion says of counts and means: never wrong where its error is what was measured."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bases import basis, domain_of, specification, tables
from facsimile.acceptance.groups import likeness
from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.original import Original
from facsimile.analysis.answers import Analyst
from facsimile.analysis.criteria import Criteria, fewest, of_mean, reachable, records
from facsimile.analysis.events import EVERYTHING, Event, both, event_of
from facsimile.analysis.questions import Count
from facsimile.privacy.queries.means import Group
from facsimile.spec.criteria import Faithfulness
from facsimile.spec.load import validated
from facsimile.table.matching import matched
from facsimile.table.numbers import mean
from facsimile.table.table import Table

SPEC = specification()
DOMAIN = domain_of(SPEC)
ALL_EVENTS = [("age",), ("sex",), ("age", "sex"), ("sex", "colour"), ("age", "sex", "colour")]


def event(columns: tuple[str, ...], cells: int) -> Event:
    shape = DOMAIN.project(columns).shape
    return Event(columns, np.array([bool(cells >> i & 1) for i in range(int(np.prod(shape)))]).reshape(shape))


EVENTS = st.builds(event, st.sampled_from(ALL_EVENTS), st.integers(0, 2**18 - 1)) | st.sampled_from(
    [
        event_of(text, DOMAIN)
        for text in (
            "age < 18",
            "age >= 18",
            "age = '18-64'",
            "age < 18 and sex = F",
            "age >= 18 and sex in [M, F]",
            "sex = F",
            "sex != F",
            "age >= 18 and sex = F",
        )
    ]
)


@settings(max_examples=50)
@given(tables(SPEC), tables(SPEC), EVENTS)
def test_every_rule_holds_where_the_error_is_exactly_what_was_measured(
    real: Table, released: Table, asked: Event
) -> None:
    found = Criteria(basis(SPEC, real, released))
    original, candidate = Original(real), found.basis.candidate
    spoken = 0
    for reach in found.reaches(asked):
        kind = kind_of(reach.measured.criterion, reach.measured.form)
        exact = kind.exact(candidate, original)
        if exact is None:
            continue
        ratio = reach.rule == "ratio"
        interval = reach.interval(exact if ratio else exact + 1 / real.n)
        assert interval.low - 1e-6 <= asked.count(real) <= interval.high + 1e-6, reach.rule
        spoken += 1
    assert spoken >= 1


def test_each_question_is_met_by_the_rules_that_can_speak() -> None:
    real = Table.from_rows(DOMAIN, [[0, 1, 0]] * 6 + [[1, 0, 1]] * 6)
    criteria = Criteria(basis(SPEC, real, real))

    def rules(text: str) -> dict[str, float]:
        return {r.rule: r.spread / real.n for r in criteria.reaches(event_of(text, DOMAIN))}

    one = rules("age < 18")
    assert set(one) == {"cell", "ratio", "prefix", "distance", "faithfulness"}
    assert one["cell"] == 0.5 and one["prefix"] == 0.6
    assert set(rules("age < 18 and sex = F")) == {"cell", "prefix", "distance", "faithfulness", "share"}
    assert rules("age = '18-64'")["prefix"] == 1.2, "a range between is the difference of two"
    assert "prefix" not in rules("age in ['<18', '64<']")
    assert set(rules("sex = F")) >= {"share", "prefix"}, "a proportion overall, and a group"
    assert set(rules("age < 18 and sex = F and colour = warm")) == {"faithfulness"}


@given(st.integers(0, 2**12 - 1), st.lists(st.integers(-1, 1), min_size=12, max_size=12))
def test_the_count_of_a_set_is_off_by_no_more_than_its_fewest_cells(cells: int, moved: list[int]) -> None:
    """Differences of two tables with the same n, largest over all cells of all marginals."""
    mask = np.array([bool(cells >> i & 1) for i in range(12)]).reshape(3, 2, 2)
    gaps = np.array(moved).reshape(3, 2, 2)
    gaps[0, 0, 0] -= gaps.sum()
    every = [gaps.sum(axis=axes) for axes in [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]]
    largest = max(int(np.abs(one).max()) for one in every)
    assert abs(int(gaps[mask].sum())) <= fewest(mask, np.ones_like(mask)) * largest


def test_products_are_written_with_as_few_cells_as_can_be() -> None:
    whole = np.ones((10, 5), bool)
    for ages, parities, cells in [(1, 1, 1), (9, 1, 2), (9, 4, 3), (5, 1, 5), (10, 1, 1), (9, 5, 1)]:
        mask = np.zeros((10, 5), bool)
        mask[:ages, :parities] = True
        assert fewest(mask, whole) == cells, (ages, parities)
    corner = np.zeros((2, 2), bool)
    corner[0, 0] = True
    allowed = np.array([[True, True], [False, False]])
    assert fewest(corner, allowed) == 1 and fewest(allowed, allowed) == 0


def test_a_share_of_records_is_a_whole_number_of_them() -> None:
    assert [records(12, share) for share in (1 / 12, 1.5 / 12, 5 / 12, 0.0)] == [0, 1, 4, 0]


@pytest.mark.parametrize("within", ["0", "1"])
def test_partners_of_a_set_are_those_that_a_matching_allows(within: str) -> None:
    """Each pair of rows: reachable exactly where two tables of one record match."""
    criterion = {"criterion": "faithfulness", "match": ["sex"], "reference": "coarse", "threshold": "0.9"}
    spec = specification(2, [{**criterion, "within": within}])
    faithfulness = spec.criteria[0]
    assert isinstance(faithfulness, Faithfulness)
    like = likeness(spec, faithfulness, DOMAIN)
    rows = list(np.ndindex(*DOMAIN.shape))
    for target in rows[::3]:
        mask = np.zeros(DOMAIN.shape, bool)
        mask[target] = True
        found = reachable(mask, DOMAIN.names, like)
        one = Table.from_rows(DOMAIN, [target])
        for row in rows:
            assert bool(found[row]) == bool(matched(Table.from_rows(DOMAIN, [row]), one, like))


@settings(max_examples=25)
@given(tables(SPEC), tables(SPEC))
def test_a_floored_mean_holds_in_every_group_that_was_measured(real: Table, released: Table) -> None:
    found = Criteria(basis(SPEC, real, released))
    groups = [EVERYTHING, event_of("sex = F", DOMAIN), event_of("colour = cold", DOMAIN)]
    for where in groups:
        matching = list(found.means("age", EVERYTHING, where))
        assert len(matching) == 1
        (measured, group) = matching[0]
        kind = kind_of(measured.criterion, measured.form)
        query = found.basis.candidate.query(kind)
        assert query is not None
        error = float(Original(real).value(query)) + 1e-9
        size = where.count(real)
        inside = real if where is EVERYTHING else real.filter(where.mask[real.column(where.columns[0])])
        if size:
            interval = of_mean(group, error, size)
            assert interval is not None and interval.low <= float(mean(inside, "age")) <= interval.high
        assert of_mean(group, error, 0) is None


def test_a_mean_that_was_not_measured_is_not_claimed() -> None:
    real = Table.from_rows(DOMAIN, [[0, 1, 0]] * 6 + [[1, 0, 1]] * 6)
    found = Criteria(basis(SPEC, real, real))
    for where in ("age < 18", "sex = F and colour = warm", "sex is missing or sex = F"):
        assert not list(found.means("age", EVERYTHING, event_of(where, DOMAIN)))
    assert not list(found.means("colour", EVERYTHING, EVERYTHING))
    both_ = both(event_of("sex = F", DOMAIN), EVERYTHING, DOMAIN)
    assert len(list(found.means(None, both_, event_of("age < 18", DOMAIN)))) == 1


def test_partners_may_all_lie_a_step_outside() -> None:
    real, released = (Table.from_rows(DOMAIN, [[age, 1, 0]] * SPEC.n) for age in (0, 1))
    criteria = Criteria(basis(SPEC, real, released))
    (reach,) = [r for r in criteria.reaches(event_of("age = '18-64'", DOMAIN)) if r.rule == "faithfulness"]
    ends = reach.interval(1 / SPEC.n)
    assert (ends.low, ends.high) == (0, SPEC.n), "every record has a partner, and none of them lies inside"


def test_a_group_with_fewer_records_than_it_counts_with_may_be_further_off() -> None:
    ends = of_mean(Group(Fraction(10), 8), 2.0, 4)
    assert ends is not None and (ends.low, ends.high) == (6, 14)


@pytest.mark.parametrize("epsilon", ["1", "3", "5"])
@pytest.mark.parametrize("moved", [1, 2, 5])
def test_a_distance_averaged_over_tables_is_no_integer_of_records(epsilon: str, moved: int) -> None:
    """All noise enumerated: some records differ in one column of three, so the average is a third of them."""
    criterion = {"criterion": "total-variation", "ways": "1", "over": "average", "threshold": "0.9"}
    plain = specification(criteria=[criterion]).model_dump(mode="json", exclude_none=True)
    plain["criteria"][0]["epsilon"] = epsilon
    spec = validated(plain)
    released = Table.from_rows(DOMAIN, [(0, 0, 0)] * spec.n)
    real = Table.from_rows(DOMAIN, [(1, 0, 0)] * moved + [(0, 0, 0)] * (spec.n - moved))
    a, missed = exp(-float(epsilon)), 0.0
    for z in range(-60, 60):
        found = Analyst(basis(spec, real, released, noise=z)).count(Count("age < 18")).interval
        if found is not None and not found.low <= spec.n - moved <= found.high:
            missed += (1 - a) / (1 + a) * a ** abs(z)
    assert missed <= 0.05

"""The granular evaluation, against plain counting of single records."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.acceptance.candidate import exact_error
from facsimile.explore.report.granular import (
    Pair,
    correlations,
    numeric,
    one_way,
    regressions,
    small,
    two_way,
)
from facsimile.explore.report.subgroups import centres, groups, unmatched, worst
from facsimile.spec.criteria import ConditionalMean, Faithfulness
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from studies import EVERY_CRITERION, specification

SPEC = specification(criteria=[*EVERY_CRITERION[:6]])
DOMAIN = Domain(SPEC.finest())
SHAPE = DOMAIN.shape
LABELS = [axis.labels for axis in DOMAIN.axes]
NUMBERS = [[float(x) for x in axis.numbers or ()] for axis in DOMAIN.axes]
GROUPS = {"age": (0, 0, 1, 1, 1, 1), "sex": (0, 1)}
GROUP_LABELS = {"age": ("less than 30", "more than 29"), "sex": ("M", "F")}
Records = Sequence[tuple[int, ...]]
ROWS = st.tuples(*(st.integers(0, size - 1) for size in SHAPE))
BOTH = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*(st.lists(ROWS, min_size=n, max_size=n) for _ in range(2)))
)


def table(records: Records, spec: Specification = SPEC) -> Table:
    return Table.from_rows(Domain(spec.finest()), list(records))


def among(records: Records, column: str | None, group: int) -> Records:
    if column is None:
        return records
    place = SPEC.names.index(column)
    return [row for row in records if GROUPS[column][row[place]] == group]


def everybody() -> list[tuple[str | None, int, str]]:
    found: list[tuple[str | None, int, str]] = [(None, 0, "all records")]
    return found + [(c, g, label) for c in GROUPS for g, label in enumerate(GROUP_LABELS[c])]


@settings(max_examples=40)
@given(BOTH)
def test_one_and_two_way_counts_are_those_of_the_records(both: tuple[Records, Records]) -> None:
    real, synthetic = both
    for place, found in enumerate(one_way(table(real), table(synthetic))):
        assert found.labels == LABELS[place]
        for code in range(SHAPE[place]):
            assert found.real[code] == sum(row[place] == code for row in real)
            assert found.synthetic[code] == sum(row[place] == code for row in synthetic)
    pairs = two_way(table(real), table(synthetic))
    assert [pair.largest for pair in pairs] == sorted((pair.largest for pair in pairs), reverse=True)
    assert {(pair.one, pair.other) for pair in pairs} == set(combinations(SPEC.names, 2))
    for pair in pairs:
        i, j = SPEC.names.index(pair.one), SPEC.names.index(pair.other)
        gaps = [
            abs(sum((r[i], r[j]) == cell for r in synthetic) - sum((r[i], r[j]) == cell for r in real))
            for cell in product(range(SHAPE[i]), range(SHAPE[j]))
        ]
        assert pair.cells == len(gaps)
        assert pair.largest == pytest.approx(max(gaps) / len(real))
        assert pair.moved == pytest.approx(sum(gaps) / 2 / len(real))


@settings(max_examples=40)
@given(BOTH)
def test_means_and_medians_are_those_of_the_records(both: tuple[Records, Records]) -> None:
    real, synthetic = both
    found = {(c.of, c.column, c.group): c for c in centres(SPEC, table(real), table(synthetic))}
    wanted = [
        (of, column, label)
        for of in SPEC.names
        for column, _, label in everybody()
        if column != of or (of == "height" and column in ("age", "sex"))
    ]
    assert set(found) == set(wanted)
    for of, column, label in wanted:
        group = 0 if column is None else GROUP_LABELS[column].index(label)
        place, centre = SPEC.names.index(of), found[of, column, label]
        for side, records in enumerate((real, synthetic)):
            values = [NUMBERS[place][row[place]] for row in among(records, column, group)]
            assert centre.records[side] == len(values)
            if not values:
                assert centre.means[side] is None and centre.medians[side] is None
            else:
                assert centre.means[side] == pytest.approx(statistics.mean(values))
                assert centre.medians[side] == statistics.median_low(values)
        assert (centre.threshold is not None) == (of == "height")


@settings(max_examples=40)
@given(BOTH)
def test_the_worst_mean_of_a_criterion_is_its_error(both: tuple[Records, Records]) -> None:
    real, synthetic = (table(records) for records in both)
    criterion = next(c for c in SPEC.criteria if isinstance(c, ConditionalMean))
    asked = [c for c in centres(SPEC, real, synthetic) if c.threshold is not None]
    gaps = [abs(c.means[1] - c.means[0]) for c in asked if c.means[0] is not None and c.means[1] is not None]
    lacking = any((c.means[0] is None) != (c.means[1] is None) for c in asked)
    error = exact_error(SPEC, criterion, real, synthetic)
    assert (error is None) == lacking
    if error is not None:
        assert max(gaps) == pytest.approx(error, abs=1e-9)


@settings(max_examples=40)
@given(BOTH)
def test_the_worst_count_of_a_group_is_the_worst_of_all_its_counts(both: tuple[Records, Records]) -> None:
    real, synthetic = both
    found = {(w.column, w.group): w for w in worst(SPEC, table(real), table(synthetic))}
    assert set(found) == {(c, label) for c, _, label in everybody() if c is not None}
    for (column, label), line in found.items():
        group = GROUP_LABELS[column].index(label)
        mine, theirs = among(real, column, group), among(synthetic, column, group)
        assert line.records == (len(mine), len(theirs))
        counts = [
            (sum(r[i] == code for r in mine), sum(r[i] == code for r in theirs))
            for i, name in enumerate(SPEC.names)
            if name != column
            for code in range(SHAPE[i])
        ]
        most = max(abs(a - b) for a, b in counts)
        assert abs(line.at.real - line.at.synthetic) == most
        assert line.absolute == (most / len(mine) if mine else None)
        assert line.ratio == pytest.approx(max((max(a, b) + 1) / (min(a, b) + 1) for a, b in counts))
        assert (line.ratio_at.real, line.ratio_at.synthetic) in counts


@settings(max_examples=40)
@given(BOTH)
def test_partners_overall_are_the_criterion_and_never_too_many_within_groups(
    both: tuple[Records, Records],
) -> None:
    real, synthetic = (table(records) for records in both)
    criterion = next(c for c in SPEC.criteria if isinstance(c, Faithfulness))
    first, *rest = unmatched(SPEC, criterion, real, synthetic)
    assert first.share == pytest.approx(exact_error(SPEC, criterion, real, synthetic))
    for line in rest:
        mine, theirs = line.records
        if not theirs:
            assert line.share is None
        else:
            assert line.share is not None and 1 - min(1, mine / theirs) <= line.share + 1e-12 <= 1 + 2e-12
    sexes = [line for line in rest if line.column == "sex"]
    alone = sum((line.share or 0) * line.records[1] for line in sexes) / real.n
    assert alone == pytest.approx(first.share), "partners never differ in a column that must be equal"


@settings(max_examples=40)
@given(BOTH)
def test_a_table_beside_itself_differs_nowhere(both: tuple[Records, Records]) -> None:
    same = table(both[0])
    assert all(found.real == found.synthetic for found in one_way(same, same))
    assert all(pair.largest == pair.moved == 0 for pair in two_way(same, same))
    assert all(c.means[0] == c.means[1] and c.medians[0] == c.medians[1] for c in centres(SPEC, same, same))
    assert all(line.ratio == 1 and not line.absolute for line in worst(SPEC, same, same))
    criterion = next(c for c in SPEC.criteria if isinstance(c, Faithfulness))
    assert all(not line.share for line in unmatched(SPEC, criterion, same, same))


def drawn(n: int, seed: int) -> Records:
    random = np.random.default_rng(seed)
    return [tuple(int(random.integers(size)) for size in SHAPE) for _ in range(n)]


def numbered(records: Records) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[NUMBERS[i][code] for i, code in enumerate(row)] for row in records])


def test_correlations_and_regressions_are_those_of_the_records() -> None:
    real, synthetic = drawn(400, 1), drawn(400, 2)
    x, y = numbered(real), numbered(synthetic)
    found = correlations(table(real), table(synthetic))
    assert len(found) == 3
    for pair in found:
        i, j = SPEC.names.index(pair.one), SPEC.names.index(pair.other)
        assert pair.real == pytest.approx(np.corrcoef(x.T)[i, j])
        assert pair.synthetic == pytest.approx(np.corrcoef(y.T)[i, j])
        assert pair.difference == pytest.approx(np.corrcoef(y.T)[i, j] - np.corrcoef(x.T)[i, j])
    (fit,) = regressions(SPEC, table(real), table(synthetic))
    assert (fit.target, fit.names) == ("height", ("constant", "age", "sex"))
    for records, told in ((x, fit.real), (y, fit.synthetic)):
        scaled = (records[:, :2] - y[:, :2].mean(axis=0)) / y[:, :2].std(axis=0)
        design = np.column_stack([np.ones(len(records)), scaled])
        assert told is not None
        assert told == pytest.approx(np.linalg.lstsq(design, records[:, 2])[0], rel=1e-4)


def test_what_is_not_defined_is_none() -> None:
    flat = [(0, 0, code % 5) for code in range(20)]
    (fit,) = regressions(SPEC, table(flat), table(flat))
    assert fit.real is None and fit.synthetic is None
    by_pair = {(c.one, c.other): c for c in correlations(table(flat), table(flat))}
    assert by_pair["age", "sex"].real is None and by_pair["age", "sex"].difference is None
    old = [row for row in drawn(50, 3) if row[0] > 1]
    lines = {(c.of, c.group): c for c in centres(SPEC, table(old), table(old))}
    assert lines["height", "less than 30"].means == lines["height", "less than 30"].medians == (None, None)


def test_columns_without_numbers_or_groups_are_left_out() -> None:
    columns = [
        {"name": "age", "description": "Age", "bounds": ["0", "9"], "alternatives": {"a": ["0..9 by 5"]}},
        {"name": "town", "description": "Town", "values": ["x", "y"], "alternatives": {"a": ["x", "y"]}},
    ]
    spec = specification(columns=columns, criteria=[EVERY_CRITERION[0]])
    rows = [(i % 2, i % 2) for i in range(10)]
    here = table(rows, spec)
    assert numeric(here.domain) == ("age",)
    assert groups(spec, here.domain) == () and worst(spec, here, here) == ()
    assert correlations(here, here) == () and regressions(spec, here, here) == ()
    assert [(c.of, c.group) for c in centres(spec, here, here)] == [("age", "all records")]


def test_a_missing_code_is_a_group_of_its_own() -> None:
    sex = {
        "name": "sex",
        "description": "Sex",
        "values": ["M", "F"],
        "alternatives": {"a": ["M", "F"]},
        "groups": ["M", "F"],
        "missing": {"code": "unknown"},
    }
    spec = specification(columns=[sex], criteria=[EVERY_CRITERION[0]])
    found = groups(spec, Domain(spec.finest()))
    assert [group.label for group in found] == ["M", "F", "unknown"]
    assert [group.of(table([(0,), (1,), (2,), (2,)], spec)).n for group in found] == [1, 1, 2]


def test_pairs_are_taken_as_long_as_they_fit() -> None:
    pairs = [Pair("a", str(cells), cells, 0.1, 0.1) for cells in (50, 3000, 60, 40, 10)]
    assert [pair.cells for pair in small(pairs, 2000, 120)] == [50, 60, 10]
    assert small(pairs, 5, 100) == ()

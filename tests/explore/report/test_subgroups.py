"""Subgroups, and the closer look at a candidate, against plain counting of single records."""

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
from facsimile.explore.report.closeup import closeup, small, two_way
from facsimile.explore.report.exhibits import Exhibits, Row
from facsimile.explore.report.figures import Figure, coefficients, correlations, regressed
from facsimile.explore.report.subgroups import centres, groups, numeric, unmatched, worst
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


def said(column: str | None, label: str) -> str:
    return label if column is None else f"{column}: {label}"


def everybody() -> list[tuple[str | None, int, str]]:
    found: list[tuple[str | None, int, str]] = [(None, 0, "all records")]
    return found + [(c, g, label) for c in GROUPS for g, label in enumerate(GROUP_LABELS[c])]


@settings(max_examples=40)
@given(BOTH)
def test_one_and_two_way_counts_are_those_of_the_records(both: tuple[Records, Records]) -> None:
    real, synthetic = both
    values = iter(Exhibits(closeup(SPEC, table(real), table(synthetic))).sheets["columns"].rows)
    for place, labels in enumerate(LABELS):
        for code, label in enumerate(labels):
            row = next(values)
            one, other = (sum(record[place] == code for record in side) for side in both)
            assert (row["label"], row["real"], row["synthetic"]) == (label, one, other)
            assert row["points"] == pytest.approx(100 * (other - one) / len(real), abs=6e-4)
            assert row["ratio"] == pytest.approx((other + 1) / (one + 1), abs=6e-4)
    pairs = two_way(table(real), table(synthetic))
    assert [pair["largest"] for pair in pairs] == sorted((pair["largest"] for pair in pairs), reverse=True)
    assert {(pair["of"], pair["among"]) for pair in pairs} == set(combinations(SPEC.names, 2))
    for pair in pairs:
        i, j = SPEC.names.index(pair["of"]), SPEC.names.index(pair["among"])
        gaps = [
            abs(sum((r[i], r[j]) == cell for r in synthetic) - sum((r[i], r[j]) == cell for r in real))
            for cell in product(range(SHAPE[i]), range(SHAPE[j]))
        ]
        assert pair["cells"] == len(gaps)
        assert pair["largest"] == pytest.approx(100 * max(gaps) / len(real))
        assert pair["moved"] == pytest.approx(sum(gaps) / 2 / len(real))


@settings(max_examples=40)
@given(BOTH)
def test_means_and_medians_are_those_of_the_records(both: tuple[Records, Records]) -> None:
    real, synthetic = both
    found = {(c["of"], c["label"]): c for c in centres(SPEC, table(real), table(synthetic))}
    wanted = [
        (of, column, label)
        for of in SPEC.names
        for column, _, label in everybody()
        if column != of or (of == "height" and column in ("age", "sex"))
    ]
    assert set(found) == {(of, said(column, label)) for of, column, label in wanted}
    for of, column, label in wanted:
        group = 0 if column is None else GROUP_LABELS[column].index(label)
        place, centre = SPEC.names.index(of), found[of, said(column, label)]
        for size, side, records in (("real", "original", real), ("synthetic", "released", synthetic)):
            values = [NUMBERS[place][row[place]] for row in among(records, column, group)]
            assert centre[f"{size}_records"] == len(values)
            if not values:
                assert centre[side] is None and centre[f"{side}_median"] is None
            else:
                assert centre[side] == pytest.approx(statistics.mean(values))
                assert centre[f"{side}_median"] == statistics.median_low(values)
        assert (centre["threshold"] is not None) == (of == "height")


@settings(max_examples=40)
@given(BOTH)
def test_the_worst_mean_of_a_criterion_is_its_error(both: tuple[Records, Records]) -> None:
    real, synthetic = (table(records) for records in both)
    criterion = next(c for c in SPEC.criteria if isinstance(c, ConditionalMean))
    asked = [c for c in centres(SPEC, real, synthetic) if c["threshold"] is not None]
    gaps = [abs(c["difference"]) for c in asked if c["difference"] is not None]
    lacking = any((c["original"] is None) != (c["released"] is None) for c in asked)
    error = exact_error(SPEC, criterion, real, synthetic)
    assert (error is None) == lacking
    if error is not None:
        assert max(gaps) == pytest.approx(error, abs=1e-9)


@settings(max_examples=40)
@given(BOTH)
def test_the_worst_count_of_a_group_is_the_worst_of_all_its_counts(both: tuple[Records, Records]) -> None:
    real, synthetic = both
    found = {w["label"]: w for w in worst(SPEC, table(real), table(synthetic))}
    grouped = [(column, group, label) for column, group, label in everybody() if column is not None]
    assert set(found) == {said(column, label) for column, _, label in grouped}
    for column, group, label in grouped:
        line = found[said(column, label)]
        mine, theirs = among(real, column, group), among(synthetic, column, group)
        assert (line["real"], line["synthetic"]) == (len(mine), len(theirs))
        counts = {
            f"{name} {LABELS[i][code]}: {one:,} → {other:,}": (one, other)
            for i, name in enumerate(SPEC.names)
            if name != column
            for code in range(SHAPE[i])
            for one, other in [(sum(r[i] == code for r in mine), sum(r[i] == code for r in theirs))]
        }
        ratios = {place: (max(both) + 1) / (min(both) + 1) for place, both in counts.items()}
        most = max(abs(one - other) for one, other in counts.values())
        one, other = counts[line["at"]]
        assert abs(one - other) == most
        assert line["absolute"] == (most / len(mine) if mine else None)
        assert line["ratio"] == pytest.approx(max(ratios.values())) == pytest.approx(ratios[line["ratio_at"]])


@settings(max_examples=40)
@given(BOTH)
def test_partners_overall_are_the_criterion_and_never_too_many_within_groups(
    both: tuple[Records, Records],
) -> None:
    real, synthetic = (table(records) for records in both)
    criterion = next(c for c in SPEC.criteria if isinstance(c, Faithfulness))
    first, *rest = unmatched(SPEC, criterion, real, synthetic)
    assert first["share"] == pytest.approx(exact_error(SPEC, criterion, real, synthetic))
    for line in rest:
        mine, theirs, share = line["real"], line["synthetic"], line["share"]
        if not theirs:
            assert share is None
        else:
            assert share is not None and 1 - min(1, mine / theirs) <= share + 1e-12 <= 1 + 2e-12
    sexes = [line for line in rest if line["label"].startswith("sex: ")]
    alone = sum((line["share"] or 0) * line["synthetic"] for line in sexes) / real.n
    assert alone == pytest.approx(first["share"]), "partners never differ in a column that must be equal"


@settings(max_examples=40)
@given(BOTH)
def test_a_table_beside_itself_differs_nowhere(both: tuple[Records, Records]) -> None:
    same = table(both[0])
    found: dict[str, list[Row]] = {
        k: sheet.rows for k, sheet in Exhibits(closeup(SPEC, same, same)).sheets.items()
    }
    assert all(row["real"] == row["synthetic"] and row["ratio"] == 1 for row in found["columns"])
    assert all(pair["largest"] == pair["moved"] == 0 for pair in found["pairs"])
    assert all(not row["points"] for row in found["cells"])
    for name in ("means", "correlations", *(name for name in found if name.startswith("regression"))):
        assert all(row["original"] == row["released"] and not row["difference"] for row in found[name])
    assert all(row["original_median"] == row["released_median"] for row in found["means"])
    assert all(line["ratio"] == 1 and not line["absolute"] for line in found["worst"])
    assert all(not line["share"] for line in found["unmatched"])


def drawn(n: int, seed: int) -> Records:
    random = np.random.default_rng(seed)
    return [tuple(int(random.integers(size)) for size in SHAPE) for _ in range(n)]


def numbered(records: Records) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[NUMBERS[i][code] for i, code in enumerate(row)] for row in records])


def test_correlations_and_regressions_are_those_of_the_records() -> None:
    real, synthetic = drawn(400, 1), drawn(400, 2)
    x, y = numbered(real), numbered(synthetic)
    found = list(correlations(table(real), table(synthetic)))
    assert len(found) == 3
    for pair in found:
        i, j = SPEC.names.index(pair.of), SPEC.names.index(pair.among)
        assert pair.original == pytest.approx(np.corrcoef(x.T)[i, j])
        assert pair.released == pytest.approx(np.corrcoef(y.T)[i, j])
        assert pair.difference == pytest.approx(np.corrcoef(y.T)[i, j] - np.corrcoef(x.T)[i, j])
    assert list(regressed(SPEC)) == ["height"]
    fit = list(coefficients(SPEC, "height", table(real), table(synthetic)))
    assert [figure.of for figure in fit] == ["constant", "age", "sex"]
    sides = ([figure.original for figure in fit], [figure.released for figure in fit])
    for records, told in zip((x, y), sides, strict=True):
        scaled = (records[:, :2] - y[:, :2].mean(axis=0)) / y[:, :2].std(axis=0)
        design = np.column_stack([np.ones(len(records)), scaled])
        assert told == pytest.approx(np.linalg.lstsq(design, records[:, 2])[0], rel=1e-4)


def test_what_is_not_defined_is_none() -> None:
    flat = [(0, 0, code % 5) for code in range(20)]
    fit = list(coefficients(SPEC, "height", table(flat), table(flat)))
    assert all(figure.original is None and figure.released is None for figure in fit)
    by_pair: dict[tuple[str, str], Figure] = {
        (c.of, c.among): c for c in correlations(table(flat), table(flat))
    }
    assert by_pair["age", "sex"].original is None and by_pair["age", "sex"].difference is None
    old = [row for row in drawn(50, 3) if row[0] > 1]
    lines = {(c["of"], c["label"]): c for c in centres(SPEC, table(old), table(old))}
    young = lines["height", "age: less than 30"]
    assert all(young[f"{side}{kind}"] is None for side in ("original", "released") for kind in ("", "_median"))
    assert not any("regression" in name for name in Exhibits(closeup(SPEC, table(flat), table(flat))).charts)


def test_columns_without_numbers_or_groups_are_left_out() -> None:
    columns = [
        {"name": "age", "description": "Age", "bounds": ["0", "9"], "alternatives": {"a": ["0..9 by 5"]}},
        {"name": "town", "description": "Town", "values": ["x", "y"], "alternatives": {"a": ["x", "y"]}},
    ]
    spec = specification(columns=columns, criteria=[EVERY_CRITERION[0]])
    rows = [(i % 2, i % 2) for i in range(10)]
    here = table(rows, spec)
    assert numeric(here.domain) == ("age",)
    assert groups(spec, here.domain) == () and not list(worst(spec, here, here))
    assert not list(correlations(here, here)) and not regressed(spec)
    assert [(c["of"], c["label"]) for c in centres(spec, here, here)] == [("age", "all records")]
    assert not {"correlations", "worst", "unmatched"} & set(Exhibits(closeup(spec, here, here)).sheets)


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
    pairs: list[Row] = [{"cells": cells} for cells in (50, 3000, 60, 40, 10)]
    assert [pair["cells"] for pair in small(pairs, 2000, 120)] == [50, 60, 10]
    assert small(pairs, 5, 100) == []

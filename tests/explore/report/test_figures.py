"""The figures that experts compare, against pandas on single records."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import combinations
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.explore.report import figures as module
from facsimile.explore.report.figures import RARE, Figure, figures, ways
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from studies import EVERY_CRITERION, specification

pd: Any = import_module("pandas")
SPEC = specification(criteria=[*EVERY_CRITERION[:6]])
DOMAIN = Domain(SPEC.finest())
NUMBERS = [np.array([float(x) for x in axis.numbers or ()]) for axis in DOMAIN.axes]
GROUPS = {
    "age: less than 30": ("age", (0, 1)),
    "age: more than 29": ("age", (2, 3, 4, 5)),
    "sex: M": ("sex", (0,)),
    "sex: F": ("sex", (1,)),
}
Records = Sequence[tuple[int, ...]]
ROWS = st.tuples(*(st.integers(0, size - 1) for size in DOMAIN.shape))
BOTH = st.integers(2, 30).flatmap(
    lambda n: st.tuples(*(st.lists(ROWS, min_size=n, max_size=n) for _ in range(2)))
)


def found(both: tuple[Records, Records]) -> dict[tuple[str, str, str], Figure]:
    real, released = (Table.from_rows(DOMAIN, list(records)) for records in both)
    every = list(figures(SPEC, real, released))
    assert len({figure.key for figure in every}) == len(every)
    return {figure.key: figure for figure in every}


def frames(both: tuple[Records, Records]) -> list[Any]:
    return [pd.DataFrame(list(records), columns=list(SPEC.names)) for records in both]


def numbered(codes: Any) -> Any:
    return pd.DataFrame({name: NUMBERS[i][codes[name]] for i, name in enumerate(SPEC.names)})


def close(one: float | None, other: float) -> bool:
    return bool(np.isnan(other)) if one is None else one == pytest.approx(other, abs=1e-9)


@settings(max_examples=40)
@given(BOTH)
def test_means_and_medians_are_those_of_pandas(both: tuple[Records, Records]) -> None:
    told, codes = found(both), frames(both)
    for of in SPEC.names:
        for group in ("all records", *GROUPS):
            if ("means", of, group) not in told:
                assert GROUPS[group][0] == of, "a column is left out within its own groups only"
                continue
            for side, frame in enumerate(codes):
                column, members = GROUPS.get(group, ("age", range(6)))
                values = numbered(frame)[of][frame[column].isin(members)]
                mean, median = told["means", of, group], told["medians", of, group]
                assert close((mean.original, mean.released)[side], float(values.mean()))
                lower = float(values.quantile(0.5, interpolation="lower"))
                assert close((median.original, median.released)[side], lower)
            spread = float(numbered(codes[0])[of].std(ddof=0))
            assert told["means", of, group].unit == pytest.approx(spread or 1.0)


@settings(max_examples=40)
@given(BOTH)
def test_both_correlations_are_those_of_pandas(both: tuple[Records, Records]) -> None:
    told = found(both)
    for topic, method in (("pearson", "pearson"), ("spearman", "spearman")):
        for pair in combinations(SPEC.names, 2):
            figure = told[topic, pair[0], pair[1]]
            for one, frame in zip((figure.original, figure.released), frames(both), strict=True):
                numbers = numbered(frame)
                if numbers[list(pair)].nunique().min() == 1:
                    assert one is None
                else:
                    assert one == pytest.approx(numbers[list(pair)].corr(method=method).iloc[0, 1], abs=1e-9)


@settings(max_examples=40)
@given(BOTH)
def test_errors_of_counts_are_those_of_all_cells(both: tuple[Records, Records]) -> None:
    told, (real, released) = found(both), frames(both)
    for k, words in ((1, "single columns"), (2, "pairs of columns"), (3, "3 columns together")):
        gaps = []
        for names in map(list, combinations(SPEC.names, k)):
            counts = [frame.groupby(names).size() for frame in (real, released)]
            gaps.append(counts[0].sub(counts[1], fill_value=0).abs())
        largest = max(gap.max() for gap in gaps)
        moved = sum(gap.sum() for gap in gaps) / len(gaps) / 2
        assert told["counts", words, ""].released == pytest.approx(largest / len(real))
        assert told["moved", words, ""].released == pytest.approx(moved / len(real))
        assert told["counts", words, ""].original == told["moved", words, ""].original == 0


@pytest.mark.parametrize("packed", [True, False])
@settings(max_examples=20)
@given(both=BOTH)
def test_rows_are_counted_as_wholes(packed: bool, both: tuple[Records, Records]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not packed:
            patch.setattr(module, "LARGEST_INDEX", 1)
        told = found(both)
    for side, frame in enumerate(frames(both)):
        counts = frame.groupby(list(SPEC.names)).size()
        rare = told["rare", f"records whose row fewer than {RARE} records have", ""]
        wanted = {
            told["rows", "different rows", ""]: len(counts),
            told["rows", "rows that only one record has", ""]: int((counts == 1).sum()),
            rare: counts[counts < 5].sum() / len(frame),
        }
        for figure, value in wanted.items():
            assert (figure.original, figure.released)[side] == pytest.approx(value)
    one, other = (set(map(tuple, records)) for records in both)
    strange = sum(row not in one for row in both[1]) / len(both[1])
    lost = sum(row not in other for row in both[0]) / len(both[0])
    assert told["strange", "released records whose row no original record has", ""].released == strange
    assert told["strange", "original records whose row no released record has", ""].released == lost


def test_a_row_that_five_records_have_is_not_rare() -> None:
    four, five = [(0, 0, 0)] * 4, [(1, 1, 1)] * 5
    told = found((four + five, five + four[:3] + [(2, 0, 0)]))
    rare = told["rare", "records whose row fewer than 5 records have", ""]
    assert rare.original == rare.released == pytest.approx(4 / 9)


def test_a_difference_has_a_sign_and_what_only_one_table_has_is_infinitely_off() -> None:
    assert Figure("means", "age", "", 3.0, 2.5).difference == -0.5
    assert Figure("means", "age", "", 3.0, None).difference == inf
    assert Figure("means", "age", "", None, None).difference is None


def test_tables_of_many_columns_are_looked_at_as_long_as_they_are_few() -> None:
    assert [len(ways(d)) for d in (1, 6, 11, 14, 40)] == [1, 6, 11, 3, 1]

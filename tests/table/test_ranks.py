"""The rank correlation, against SciPy's on single records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from facsimile.table.domain import Domain
from facsimile.table.ranks import rank_correlation
from facsimile.table.table import Table
from studies import EVERY_CRITERION, specification

COLUMNS = [
    {"name": "age", "description": "Age", "bounds": ["0", "9"], "alternatives": {"a": ["0..9 by 2"]}},
    {
        "name": "grade",
        "description": "Grade",
        "values": ["u", "v", "w"],
        "numbers": {"u": "2", "v": "0.5", "w": "2"},
        "alternatives": {"a": ["u", "v", "w"]},
    },
]
DOMAIN = Domain(specification(columns=COLUMNS, criteria=[EVERY_CRITERION[0]]).finest())
NUMBERS = [[float(number) for number in axis.numbers or ()] for axis in DOMAIN.axes]
ROWS = st.tuples(st.integers(0, 4), st.integers(0, 2))


@given(st.lists(ROWS, min_size=2, max_size=40))
def test_ties_share_the_mean_of_their_ranks(records: list[tuple[int, int]]) -> None:
    """Two values of `grade` have the same number: they are tied, and out of the order of their codes."""
    x, y = ([NUMBERS[i][row[i]] for row in records] for i in range(2))
    found = rank_correlation(Table.from_rows(DOMAIN, records), "age", "grade")
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(spearmanr(x, y).statistic), abs=1e-12)


def test_a_rising_curve_has_full_rank_correlation() -> None:
    """Whatever its shape; with as many ties on both sides."""
    spec = specification(
        columns=[COLUMNS[0], COLUMNS[0] | {"name": "height", "numbers": {"8-9": "9"}}],
        criteria=[EVERY_CRITERION[0]],
    )
    table = Table.from_rows(Domain(spec.finest()), [(code, code) for code in range(5)], [1, 7, 2, 5, 3])
    assert rank_correlation(table, "age", "height") == pytest.approx(1)

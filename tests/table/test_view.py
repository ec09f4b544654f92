"""Views read each record by itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from facsimile.table.table import Table
from facsimile.table.view import Shown, View
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(3, 2, 2)
PRODUCT = Shown.numbers("a*c", ("a", "c"), map(Fraction, (0, 0, 0, 1, 0, 2)), (3, 2))
VIEW = View(DOMAIN, (Shown.plain(DOMAIN.axis("b")), PRODUCT))
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=12)


@given(ROWS)
def test_a_view_of_a_table_is_the_table_of_the_views_of_its_records(rows: list[tuple[int, int, int]]) -> None:
    found = VIEW.of(Table.from_rows(DOMAIN, rows))
    assert found == Table.from_rows(VIEW.domain, [(b, (0, 1, 2)[a * c]) for a, b, c in rows])
    assert found.n == len(rows)


def test_what_shows_everything_as_it_is_is_trivial() -> None:
    assert View.of_columns(DOMAIN).trivial and not View.of_columns(DOMAIN, ["b", "a", "c"]).trivial
    table = Table.from_rows(DOMAIN, [[0, 1, 1]])
    assert View.of_columns(DOMAIN).of(table) is table
    turned = Shown(DOMAIN.axis("b"), ("b",), np.array([1, 0]))
    assert not View(DOMAIN, (Shown.plain(DOMAIN.axes[0]), turned, Shown.plain(DOMAIN.axes[2]))).trivial
    assert VIEW.plain == ("b",)

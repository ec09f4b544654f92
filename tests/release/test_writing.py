"""Writing: labels of every record, in an order that only the records decide."""

from __future__ import annotations

from collections import Counter

import pytest

from facsimile.release import writing
from facsimile.release.writing import as_csv, as_parquet, labelled
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(3, 2)
ROWS = [[0, 1]] * 40 + [[2, 0]] * 30 + [[1, 1]] * 30


def test_every_record_is_there_once_with_its_labels() -> None:
    found = labelled(Table.from_rows(DOMAIN, ROWS)).to_pylist()
    wanted = Counter((str(a), str(b)) for a, b in ROWS)
    assert Counter((row["a"], row["b"]) for row in found) == wanted


def test_the_order_is_a_function_of_the_records_and_looks_like_none() -> None:
    table, shuffled = Table.from_rows(DOMAIN, ROWS), Table.from_rows(DOMAIN, ROWS[::-1])
    assert labelled(table) == labelled(shuffled)
    first = labelled(table).column("a").to_pylist()
    assert first != sorted(first)
    assert len(set(first[:20])) > 1
    other = labelled(Table.from_rows(DOMAIN, [*ROWS[1:], [2, 1]])).column("a").to_pylist()
    assert other != first


def test_a_column_of_more_text_than_one_array_holds_is_written_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Arrow counts the bytes of an array of texts in 31 bits; here 7 bytes stand for 2 GiB."""
    assert writing.MOST_TEXT < 1 << 31
    whole = labelled(Table.from_rows(DOMAIN, ROWS))
    monkeypatch.setattr(writing, "MOST_TEXT", 7)
    found = labelled(Table.from_rows(DOMAIN, ROWS))
    assert {len(piece) for piece in found.column("a").chunks} == {7, len(ROWS) % 7}
    assert found == whole and as_csv(found) == as_csv(whole)
    assert as_parquet(found) == as_parquet(whole)

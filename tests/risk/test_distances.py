from __future__ import annotations

from fractions import Fraction

import numpy as np

from facsimile.risk.distances import FAR, Distances, apart, ranks
from facsimile.spec.bins import MissingBin, parse_bins
from facsimile.spec.columns import Axis
from facsimile.table.table import Table
from risk.towns import domain, drawn


def test_numbers_are_as_far_as_their_places_and_missing_values_are_far_from_all() -> None:
    bins = parse_bins(["1", "2", "3", "4", "5"], Fraction(1))
    found = apart(Axis("n", (*bins, MissingBin("unknown", None))))
    assert found[0].tolist() == [0, 25, 50, 75, 100, FAR]
    assert found[5].tolist() == [FAR] * 5 + [0]
    assert (found == found.T).all()


def test_categories_are_equal_or_far() -> None:
    assert apart(domain(3).axes[0]).tolist() == [[0, FAR, FAR], [FAR, 0, FAR], [FAR, FAR, 0]]


def test_distances_add_up_over_columns_and_pieces_hold_everyone() -> None:
    table = Table.from_rows(domain(4, 3, 2), drawn(domain(4, 3, 2), 50, 1))
    records, distances = drawn(table.domain, 20, 2), Distances.to(table)
    found = distances.over(records, (0, 2))
    for i, record in enumerate(records):
        expected = FAR * (table.codes[:, [0, 2]] != record[[0, 2]]).sum(axis=1)
        assert np.array_equal(found[i], expected)
    assert np.array_equal(np.concatenate([piece for _, piece in distances.pieces(records)]), records)


def test_equal_rows_have_equal_ranks() -> None:
    published, records = drawn(domain(3, 3), 30, 1), drawn(domain(3, 3), 30, 2)
    rows, asked = ranks(published, records)
    for i, row in enumerate(rows):
        assert np.array_equal(asked == row, (records == published[i]).all(axis=1))

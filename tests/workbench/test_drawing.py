from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from facsimile.spec.bins import parse_bins
from facsimile.workbench.drawing import BARS, HEIGHT, WIDTH, anchor, edges, histogram, slices

BINS = parse_bins(["<18", "18-64", "64<"], Fraction(1))


@given(st.dictionaries(st.integers(-500, 5000), st.integers(1, 1000), max_size=60))
def test_every_record_stands_in_a_bar_and_every_edge_on_the_picture(counted: dict[int, int]) -> None:
    values = np.array(sorted(counted), np.int64)
    counts = np.array([counted[v] for v in sorted(counted)], np.int64)
    drawn = histogram(values, counts, Fraction(1), BINS)
    told = [int(bar.words.rpartition(": ")[2].replace(",", "")) for bar in drawn.bars]
    assert sum(told) == counts.sum() and 1 <= len(drawn.bars) <= BARS
    assert all(0 <= bar.height <= HEIGHT for bar in drawn.bars)
    assert abs(sum(bar.width for bar in drawn.bars) - WIDTH) < 1
    found = edges(drawn, BINS, Fraction(1))
    assert [edge.value for edge in found] == ["18", "65"] and all(0 <= edge.x <= WIDTH for edge in found)
    assert found[0].most == "64" and found[1].least == "19"


def test_a_grid_of_decimals_keeps_its_values() -> None:
    bins = parse_bins(["0.0-0.4", "0.5-0.9"], Fraction(1, 10))
    drawn = histogram(np.array([1, 5]), np.array([2, 3]), Fraction(1, 10), bins)
    assert [edge.value for edge in edges(drawn, bins, Fraction(1, 10))] == ["0.5"]
    assert drawn.bars[5].words == "0.5: 3"


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=8))
def test_slices_fill_the_bar_in_their_order(sizes: list[float]) -> None:
    found = slices([(str(i), "", size, "") for i, size in enumerate(sizes)])
    assert abs(sum(one.width for one in found) - WIDTH) < 0.1
    assert [one.name for one in found] == [str(i) for i in range(len(sizes))]
    assert all(abs(a.x + a.width - b.x) < 0.05 for a, b in pairwise(found))


def test_places_have_identifiers_of_their_own() -> None:
    assert anchor("a") != anchor("b") and anchor("a").isalnum()

"""Ties: what columns say about each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from facsimile.draft.ties import Ties
from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from facsimile.table.table import Table


def table(**columns: np.ndarray) -> Table:
    axes = tuple(Axis(name, parse_bins([f"0..{codes.max()}"], Fraction(1))) for name, codes in columns.items())
    return Table.from_rows(Domain(axes), np.column_stack(list(columns.values())))


def test_a_copy_is_the_strongest_tie_and_noise_is_none() -> None:
    random = np.random.default_rng(1)
    a, noise = random.integers(0, 5, 4000), random.integers(0, 3, 4000)
    near = np.where(random.random(4000) < 0.7, a, random.integers(0, 5, 4000))
    ties = Ties(table(a=a, copy=a, near=near, noise=noise, constant=np.zeros(4000, int)))
    assert next(iter(ties.strengths)) == ("a", "copy")
    assert abs(ties.of("noise", "a")) < 0.005 < 0.2 < ties.of("near", "a")
    assert ties.same("a", "copy") and not ties.same("a", "near")
    assert ties.to_others("a") > ties.to_others("noise")
    assert not any("constant" in pair for pair in ties.strengths)

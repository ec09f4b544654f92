"""The noisy tables as files: they say what they are, and what they say is what was answered."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from itertools import chain
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.analysis.basis import NoisyTable
from facsimile.privacy.budget import Rho
from facsimile.release.heard import Heard, Said, plain
from facsimile.release.tables import INDEX, files, heard, law
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers.base import Foreseen
from facsimile.table.domain import Domain

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
LABELS = st.lists(TEXTS, unique=True, min_size=1)
SHARES = st.fractions(Fraction(1, 10**6), 100).flatmap(lambda x: st.sampled_from([x, Rho(x)]))


@st.composite
def told(draw: st.DrawFn) -> tuple[Domain, Heard]:
    """Tables over columns with hostile labels, in groups, among other answers."""
    every = draw(st.lists(LABELS.map(lambda names: names[:4]), min_size=1, max_size=3))
    axes = tuple(
        Axis(f"c{i}", tuple(CategoryBin(name, frozenset({name})) for name in names))
        for i, names in enumerate(every)
    )
    said = []
    for _ in range(draw(st.integers(0, 3))):
        chosen = draw(st.lists(st.sampled_from(axes), unique_by=lambda axis: axis.name, min_size=1))
        groups = tuple(np.arange(axis.size) // draw(st.integers(1, 2)) for axis in chosen)
        shape = tuple(int(group.max()) + 1 for group in groups)
        random = np.random.default_rng(draw(st.integers(0, 99)))
        counts = random.integers(-(2**40), 2**40, shape)
        table = NoisyTable(tuple(axis.name for axis in chosen), groups, counts, draw(SHARES))
        said.append(Said("NoisyMarginals", (table,)))
        said.append(Said("NoisySelection", numbers=(draw(st.integers(0, 9)),)))
    return Domain(axes), Heard(tuple(said), (1, 2), draw(st.none() | st.just((3,))))


@given(told())
def test_what_files_say_is_what_was_answered(given: tuple[Domain, Heard]) -> None:
    domain, answered = given
    found = files(answered, domain, Foreseen())
    assert plain(heard(found, domain)) == plain(answered)
    assert files(heard(found, domain), domain, Foreseen()) == found


@given(told())
def test_a_spreadsheet_finds_a_row_for_each_cell(given: tuple[Domain, Heard]) -> None:
    domain, answered = given
    found = files(answered, domain, Foreseen())
    index = json.loads(found[INDEX])
    tables = [table for one in answered.said for table in one.tables]
    assert [told["file"] for told in index["tables"]] == [name for name in found if name != INDEX]
    for told_, table in zip(index["tables"], tables, strict=True):
        head, *rows = csv.reader(io.StringIO(found[told_["file"]].decode(), newline=""))
        assert head == [*table.columns, "noisy_count"] and len(rows) == table.counts.size
        for place, row in zip(np.ndindex(*table.counts.shape), rows, strict=True):
            groups = [told_["groups"][name][code] for name, code in zip(table.columns, place, strict=True)]
            assert row == [*(" | ".join(group) for group in groups), str(table.counts[place])]
        for name, groups in told_["groups"].items():
            assert sorted(chain(*groups)) == sorted(domain.axis(name).labels)


def test_the_law_is_that_of_the_noise() -> None:
    """Laplace: P[Z = z] is proportional to ratio^|z|, for counts that move by 2; Gaussian: variance 1/ρ."""
    found = law(Fraction(1, 3))
    assert found["ratio"] == pytest.approx(exp(-1 / 6)) and Fraction(found["epsilon"]) == Fraction(1, 3)
    weights = found["ratio"] ** np.abs(np.arange(-2000, 2001))
    deviation = np.sqrt((weights * np.arange(-2000, 2001) ** 2).sum() / weights.sum())
    assert found["deviation"] == pytest.approx(deviation, abs=1e-3)
    assert law(Rho(1, 25)) == {"law": "discrete Gaussian", "rho": "1/25", "deviation": 5.0}

"""The setup of a study: the same after packing, and what it remembers changes nothing."""

from __future__ import annotations

import io
import zipfile
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.explore import setup as module
from facsimile.explore.setup import Remembered, Setup
from facsimile.table.domain import Clique, Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Table
from studies import configurations, declared, setup, specification
from table.test_domain import domain

SPEC = specification()
SHAPE = Domain(SPEC.finest()).shape
ROWS = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SHAPE)), min_size=2, max_size=30)
COUNTS = st.integers(1, 2**40)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(ROWS)
    return Table.from_rows(Domain(SPEC.finest()), rows, [draw(COUNTS) for _ in rows])


@given(tables(), st.integers(0, 2**128))
def test_a_setup_is_the_same_after_packing(table: Table, seed: int) -> None:
    before = Setup(SPEC.sized(table.n), table, seed)
    after = Setup.unpacked(before.packed())
    assert after.same(before)
    assert after.specification == before.specification
    assert after.table == table
    assert after.table.codes.dtype == after.table.counts.dtype == np.dtype(np.int64)
    assert after.draws("fit", 1) == before.draws("fit", 1)


def test_configurations_keep_their_places_after_packing() -> None:
    """Alternatives are a mapping, and their order decides which configuration stands at which place."""
    columns = declared()["columns"]
    columns[0]["alternatives"] = dict(reversed(columns[0]["alternatives"].items()))
    spec = specification(columns=columns)
    assert configurations(spec) != configurations(SPEC)
    after = Setup.unpacked(setup(spec).packed())
    assert configurations(after.specification) == configurations(spec)


@pytest.mark.parametrize("size", [65_536, 65_537])
def test_codes_of_wide_columns_are_kept(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """65,536 codes are the last that fit into two bytes."""
    wide = domain([size, 2])
    monkeypatch.setattr(module, "Domain", lambda axes: wide)
    before = Setup(SPEC, Table.from_rows(wide, [[0, 0], [size - 1, 1], [size - 1, 0], [size - 2, 1]]), 1)
    assert Setup.unpacked(before.packed()).table == before.table


def test_equal_setups_have_equal_bytes() -> None:
    """A cluster's workers know a setup by the hash of its bytes."""
    assert setup().packed() == setup().packed()
    assert setup().packed() == Setup.unpacked(setup().packed()).packed()


def test_reading_a_setup_runs_no_code() -> None:
    """A pickled object in place of an array is refused."""
    buffer = io.BytesIO()
    np.savez(buffer, about=np.array([{"any": "object"}], object), codes=np.zeros(1), counts=np.zeros(1))
    assert zipfile.is_zipfile(io.BytesIO(buffer.getvalue()))
    with pytest.raises(ValueError, match="allow_pickle"):
        Setup.unpacked(buffer.getvalue())


@pytest.mark.parametrize("change", ["specification", "table", "seed"])
def test_another_specification_table_or_seed_is_another_setup(change: str) -> None:
    one = setup()
    others: dict[str, Any] = {
        "specification": setup(specification(title="Other people")),
        "table": Setup(one.specification, setup(n=1999).table, one.seed),
        "seed": setup(seed=8),
    }
    assert one.same(setup())
    assert not one.same(others[change])
    assert not others[change].same(one)


def test_the_table_under_alternatives_is_the_recoded_one() -> None:
    found = setup()
    for configuration in configurations(found.specification):
        expected = recode(found.specification, found.table, configuration.alternatives)
        assert found.real(configuration) == expected
        assert found.real(configuration) is found.real(configuration)


def test_no_more_tables_are_kept_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECODED", 1)
    found = setup()
    coarse, fine = configurations(found.specification)[:2]
    assert coarse.alternatives != fine.alternatives
    first = found.real(coarse)
    assert found.real(fine) == recode(found.specification, found.table, fine.alternatives)
    assert found.real(coarse) is not first
    assert found.real(coarse) == first


CLIQUES: list[Clique] = [(), ("age",), ("sex", "age"), ("age", "sex"), ("height",), ("age", "sex", "height")]


@given(st.lists(st.sampled_from(CLIQUES), max_size=20), st.integers(1, 3), st.sampled_from([0, 10, 10**6]))
@settings(max_examples=50)
def test_remembered_marginals_are_the_marginals(asked: list[Clique], most: int, cells: int) -> None:
    """Whatever was asked before, and whatever was forgotten since."""
    plain = setup(n=200).table
    remembered = Remembered(plain.domain, plain.codes, plain.counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MARGINALS", most)
        patch.setattr(module, "SMALL", cells)
        for clique in asked:
            assert np.array_equal(remembered.marginal(clique), plain.marginal(clique))
            assert remembered.marginal(clique).shape == plain.domain.project(clique).shape
            again = remembered.marginal(clique) is remembered.marginal(clique)
            assert again == (plain.domain.size(clique) <= cells), "only small ones are kept"
            assert cast(Any, remembered._small).cache_info().currsize <= most


def test_a_marginal_is_counted_once_and_nobody_can_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Clique] = []
    counting = Table.marginal

    def spy(table: Table, clique: Clique) -> Any:
        counted.append(clique)
        return counting(table, clique)

    monkeypatch.setattr(Table, "marginal", spy)
    found = setup()
    real = found.real(configurations(found.specification)[0])
    for _ in range(3):
        real.marginal(("age", "sex"))
    assert counted == [("age", "sex")]
    with pytest.raises(ValueError, match="read-only"):
        real.marginal(("age", "sex"))[0, 0] += 1


NAMES = st.tuples(
    st.sampled_from(["fit", "sample", "test"]), st.text("abc-0", max_size=4), st.integers(0, 2000)
)


@given(st.lists(NAMES, unique=True, max_size=20), st.integers(0, 10))
def test_every_name_has_a_seed_of_its_own(names: list[tuple[str, str, int]], seed: int) -> None:
    found = Setup(SPEC, setup().table, seed)
    drawn = [found.draws(*name) for name in names]
    assert len(set(drawn)) == len(names)
    assert drawn == [found.draws(*name) for name in names]
    assert not set(drawn) & {Setup(SPEC, found.table, seed + 1).draws(*name) for name in names}
    assert all(0 <= value < 2**128 for value in drawn)

"""The town: its neighbours differ from it in one record, and its cases are all that a release can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from facsimile.audit import town
from facsimile.privacy.reader import read_public
from facsimile.release.check import check
from facsimile.spec.release import Specification
from facsimile.table.table import Table
from traces import MODES, SCHEMES


def table_of(folder: Path, spec: Specification, rows: list[town.Row]) -> Table:
    folder.mkdir()
    return read_public(town.write(rows, folder), spec)


def test_its_neighbours_differ_in_one_record_and_other_rows_first_is_the_same_table(tmp_path: Path) -> None:
    spec = town.specification("test-then-measure, coin")
    first = table_of(tmp_path / "first", spec, town.people())
    assert first.n == town.PEOPLE == spec.n
    assert first == table_of(tmp_path / "shuffled", spec, town.shuffled()) and town.shuffled() != town.people()
    emptied = 0
    for name, rows in town.neighbours():
        other = table_of(tmp_path / name, spec, rows)
        axes = first.domain.names
        moved = abs(first.marginal(axes) - other.marginal(axes))
        assert other.n == first.n and moved.sum() == 2, name
        emptied += any(
            (other.marginal((axis,)) == 0).sum() > (first.marginal((axis,)) == 0).sum() for axis in axes
        )
    assert emptied > 0


@pytest.mark.parametrize("case", town.CASES)
def test_every_case_is_a_specification_that_passes_its_check(case: str) -> None:
    check(town.specification(case))


def test_cases_are_every_scheme_and_mode_and_one_has_a_delta() -> None:
    specs = [town.specification(case) for case in town.CASES]
    assert {spec.scheme for spec in specs} == set(SCHEMES)
    assert {spec.selection.mode for spec in specs} == set(MODES)
    assert any(spec.budget.delta for spec in specs)

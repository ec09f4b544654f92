from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from conftest import EXAMPLES
from facsimile.acceptance.kind import kind_of
from facsimile.explore.attainable import Outlook, attainable
from facsimile.privacy.reader import read_public
from facsimile.spec.load import load
from facsimile.workbench.bench import Seen
from facsimile.workbench.criteria import QUIET, choices, cost, views
from workbench.desk import SPECIFICATION, written

CRITERIA = [
    c for name in ("births/paper", "discharges/first") for c in load(EXAMPLES / f"{name}.yaml").criteria
]


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: c.name)
def test_thresholds_to_choose_from_surround_the_declared_one_and_can_be_met(criterion: object) -> None:
    found = [Fraction(text) for text in choices(criterion)]  # type: ignore[arg-type]
    kind = kind_of(criterion)  # type: ignore[arg-type]
    assert found == sorted(set(found)) and criterion.threshold in found  # type: ignore[attr-defined]
    assert len(found) > 6 and all(kind.from_zero(float(one)) > 0 for one in found)
    assert not kind.share or max(found) <= 1


def test_costs_are_those_that_check_tells(tmp_path: Path) -> None:
    table = read_public(written(tmp_path), Seen(SPECIFICATION, tmp_path).specification)
    seen = Seen(SPECIFICATION, tmp_path)
    outlook = Outlook.of(seen.specification, table)
    lines = {line.criterion: line for line in attainable(seen.specification, table)}
    for criterion, view in zip(seen.specification.criteria, views(seen, outlook), strict=True):
        told = lines[criterion.name]
        assert (view.fresh == "") == (told.fresh is None)
        assert outlook.needed({criterion.name: criterion.threshold}) == told.needed
        wide, tight = (cost(seen, outlook, criterion, criterion.threshold * by) for by in (2, Fraction(1, 8)))
        assert int(wide["noise"][:-1]) < int(tight["noise"][:-1])
    days = seen.specification.criteria[1]
    twice = cost(seen, outlook, days, days.threshold, days.epsilon * 2)
    once = cost(seen, outlook, days, days.threshold)
    assert abs(int(once["noise"][:-1]) - 2 * int(twice["noise"][:-1])) <= 2 and once["quiet"] == twice["quiet"]
    assert cost(seen, outlook, days, Fraction(1, 1000))["below_fresh"]
    assert QUIET < 1 / 3


def test_nothing_is_claimed_before_the_public_file_is_known(tmp_path: Path) -> None:
    view = next(iter(views(Seen(SPECIFICATION, tmp_path), None)))
    assert view.fresh == view.predicted == "" and view.cost["needed"] is None and view.cost["noise"]

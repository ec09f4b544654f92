from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from conftest import EXAMPLES
from facsimile.errors import FacsimileError
from facsimile.release.plan import plan_of
from facsimile.spec.load import load, loads
from facsimile.workbench.budget import asked, view
from facsimile.workbench.drawing import WIDTH
from workbench.desk import SPECIFICATION

FILES = [
    EXAMPLES / "births" / "paper.yaml",
    EXAMPLES / "births" / "ours.yaml",
    EXAMPLES / "discharges" / "first.yaml",
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_picture_holds_all_that_is_charged(path: Path) -> None:
    spec = load(path)
    found, total = view(spec), plan_of(spec).total().epsilon
    shown = sum(Fraction(one.epsilon) for one in found.slices)
    assert abs(shown - total) < Fraction(1, 10**5), "rounded up to six digits each"
    assert abs(sum(one.width for one in found.slices) - WIDTH) < 0.1
    assert found.over == (total > spec.budget.total)


def test_risk_is_told_of_what_is_charged() -> None:
    found = view(loads(SPECIFICATION))
    assert found.risk.guesses > 99 and found.total == "5.9"
    small = view(
        loads(SPECIFICATION.replace("generator: 2", "generator: 0.1").replace("epsilon: 0.5", "epsilon: 0.1"))
    )
    assert small.risk.guesses < found.risk.guesses


def test_a_budget_that_is_none_is_refused_in_words() -> None:
    with pytest.raises(FacsimileError) as refused:
        loads(SPECIFICATION.replace("generator: 2", "generator: much"))
    assert "refused" in asked(refused.value)
    assert asked(loads(SPECIFICATION))["total"] == "5.9"

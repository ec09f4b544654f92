from __future__ import annotations

from pathlib import Path

import pytest

from facsimile.audit import charges
from facsimile.audit.charges import CAP
from facsimile.audit.run import audit
from facsimile.privacy import ledger
from facsimile.privacy.curator import Spending
from facsimile.storage import Hold


def found() -> dict[str, bool]:
    return {one.theorem: one.passed for one in charges.charges()}


def test_the_honest_build_keeps_its_cap_its_charges_and_its_plan() -> None:
    assert found() == {"ledger.refuse_beyond": True, "ledger.begin": True, "curator.Search": True}


def test_a_cap_that_is_not_looked_at_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger.State, "refuse_beyond", lambda state, cost: None)
    assert not found()["ledger.refuse_beyond"]


def test_a_charge_that_two_processes_share_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks that hold nobody: a race, too, ends in a ledger that is damaged."""
    monkeypatch.setattr(Hold, "of", lambda path: object.__new__(Hold))
    monkeypatch.setattr(Hold, "let_go", lambda hold, forget=False: None)
    assert not audit(only=["charges"]).passed


def test_an_allowance_without_an_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spending, "pay", lambda spending, cost: None)
    assert not found()["curator.Search"]


def test_a_ledger_of_an_audit_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert all(found().values()) and CAP == 1
    assert list(tmp_path.iterdir()) == []

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from facsimile.documents.evidence import Audit, Evidence

FOUND = Evidence.bounded("mechanisms.a.B", "law", "a case", "a test", 1.0, 0.8, 0.6)
AUDIT = Audit("1", "2026-11-17", {"python": "3"}, 1e-6, (FOUND,))


def test_what_exceeds_its_claim_or_finds_too_little_has_not_passed() -> None:
    def passed(found: float, alive: float | None = 0.6) -> bool:
        return Evidence.bounded("t", "law", "c", "s", 1.0, found, alive).passed

    assert [passed(x) for x in (0.59, 0.6, 1.0, 1.01)] == [False, True, True, False]
    assert passed(0.0, None) and not passed(1.01, None)
    assert not passed(float("nan")) and not passed(float("nan"), None)


def test_an_audit_passes_if_every_test_does_and_there_is_one() -> None:
    assert AUDIT.passed
    assert not replace(AUDIT, evidence=()).passed
    assert not replace(AUDIT, evidence=(FOUND, replace(FOUND, passed=False))).passed


def test_an_audit_is_read_as_it_was_written() -> None:
    assert Audit.of_json(json.loads(json.dumps(AUDIT.as_json()))) == AUDIT


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2}, {"passed": False}, {"evidence": []}, {"more": 1}, {"alpha": "1"}, {"machine": {"a": 1}},
        {"machine": []}, {"version": None}, {"day": 3}, {"evidence": [{}]}, {"evidence": None},
    ],
)  # fmt: skip
def test_anything_else_is_no_audit(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Audit.of_json(AUDIT.as_json() | change)


@pytest.mark.parametrize(
    "change",
    [{"kind": "luck"}, {"found": "1"}, {"passed": 1}, {"case": None}, {"extra": 1}, {"declared": True}],
)
def test_nor_is_one_with_other_evidence(change: dict[str, Any]) -> None:
    told = AUDIT.as_json()
    told["evidence"] = [told["evidence"][0] | change]
    with pytest.raises(ValueError):
        Audit.of_json(told)


@pytest.mark.parametrize("other", [None, [], "text", 3, {}])
def test_nor_is_other_json(other: Any) -> None:
    with pytest.raises(ValueError):
        Audit.of_json(other)

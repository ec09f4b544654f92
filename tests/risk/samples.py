"""A risk report that no attack was needed for."""

from __future__ import annotations

from facsimile.risk.findings import QUESTIONS, TABLES, Finding, Part, Risk
from facsimile.risk.words import CANNOT, DETAILS, says

LEVELS = {"no-privacy": (0.9, 0.8, 0.95), "release": (0.01, -0.2, 0.06), "independent": (-0.01, -0.3, 0.05)}


def sample(title: str = "Births <b>", at_risk: bool = False, delta: str | None = None) -> Risk:
    """One with every question; `at_risk`: the release fails the last of them."""
    findings = []
    for question in QUESTIONS:
        for table in TABLES:
            risk, low, high = LEVELS[table]
            if at_risk and (question, table) == ("membership", "release"):
                risk, low, high = 0.3, 0.2, 0.4
            parts = [Part(name, risk, low, high, 0.8, 0.5, 1000) for name in ("age", "birth_weight")]
            findings.append(Finding.worst(question, table, parts, DETAILS[question]))
    numbers = {"attacks": 1000, "releases": 2, "shadows": 8, "watched": 10, "confidence": 0.95, "seed": 1}
    return Risk(
        "0.1.0", title, "ab" * 32, "1.85", delta, 132_733, "2026-01-31", 0.95, tuple(findings),
        says(findings, 0.73, "1.85"), CANNOT, numbers | {"people": 500, "released": 8, "bound": 0.73},
    )  # fmt: skip

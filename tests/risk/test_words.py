from __future__ import annotations

from facsimile.risk.findings import Finding, Part
from facsimile.risk.words import says
from risk.samples import sample


def test_the_verdict_comes_first_and_follows_the_intervals() -> None:
    assert sample().says[0].startswith("In the release no attack told people who were in the table")
    told = sample(at_risk=True).says
    assert "are at more risk than others: telling who was in the table, 30.0\u00a0%" in told[0]
    assert told[1] == "More than in an independent sample."


def test_what_the_attacks_find_without_privacy_is_said_and_what_epsilon_allows() -> None:
    told = sample().says
    assert "would put its people at risk: singling out 90.0\u00a0%" in told[2]
    assert "Epsilon 1.85 allows any attack on membership an advantage of 73.0\u00a0% at most" in told[3]


def test_attacks_that_find_nothing_anywhere_are_called_weak() -> None:
    weak = [
        Finding.worst(f.question, f.table, [Part("x", 0.0, -0.1, 0.1, 0.5, 0.5, 9)], "")
        for f in sample().attacks
    ]
    assert "too weak to judge by" in says(weak, 0.7, "1")[2]
    one = [f if f.question == "inference" else g for f, g in zip(weak, sample().attacks, strict=True)]
    assert "shows nothing (inferring a secret), the attack is too weak" in says(one, 0.7, "1")[2]

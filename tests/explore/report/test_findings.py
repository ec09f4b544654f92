"""Findings: what trials say about configurations, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from facsimile.explore.race import audited
from facsimile.explore.report.findings import Estimate, Findings
from facsimile.explore.trials import FRESH
from reports import study_of, trial
from studies import RULE, configurations


def test_the_best_is_chosen_by_the_race_and_estimated_by_fresh_trials(tmp_path: Path) -> None:
    study = study_of(tmp_path / "choice.study")
    race = [trial(study, 0, n, n < 6) for n in range(8)] + [trial(study, 1, n, n < 5) for n in range(8)]
    fresh = [trial(study, 0, FRESH + n, n < 1) for n in range(4)]
    fresh += [trial(study, 1, FRESH + n, True) for n in range(4)] + [trial(study, 2, n, True) for n in range(8)]
    study.add(configurations(study.setup.specification), race + fresh)
    findings = Findings(study)
    names = [c.identifier for c in configurations(study.setup.specification)]
    assert findings.best is not None and findings.best.identifier == names[0]
    assert findings.best.estimate == Estimate(1, 4, True)
    first, second, last = (line.identifier for line in findings.lines)
    assert (first, second, last) == (names[2], names[1], names[0])


def test_the_audit_counts_the_dropped_that_ran_on(tmp_path: Path) -> None:
    rule = replace(RULE, audited=0.5, trials=6, wanted=0.45, confidence=0.6)
    study = study_of(tmp_path / "audit.study", rule)
    every = configurations(study.setup.specification)
    drawn = [i for i, c in enumerate(every) if audited(c.identifier, study.setup.seed, rule)]
    others = [i for i in range(len(every)) if i not in drawn]
    assert len(drawn) >= 2 and others
    late = [trial(study, drawn[0], n, n >= 3) for n in range(6)]
    poor = [trial(study, drawn[1], n, n == 5) for n in range(6)]
    study.add(every, late + poor + [trial(study, others[0], n, False) for n in range(6)])
    findings = Findings(study)
    assert {line.standing.state for line in findings.lines} == {"dropped"}
    assert {line.identifier for line in findings.audited} == {every[i].identifier for i in drawn[:2]}
    assert [line.identifier for line in findings.wrongly_dropped] == [every[drawn[0]].identifier]


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    assert (Estimate(0, 10, True).low, Estimate(10, 10, True).high) == (0.0, 1.0)
    assert Estimate(0, 10, True).high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert Estimate(10, 10, True).low == pytest.approx(0.025 ** (1 / 10))
    assert (Estimate(5, 10, True).low, Estimate(5, 10, True).high) == pytest.approx(
        (0.18709, 0.81291), abs=1e-5
    )

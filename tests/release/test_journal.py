"""The journal gives back what was written into it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings

from documents.drawn import Drawn, releases
from facsimile.release.journal import Decision, Journal
from facsimile.release.scheme import Accepted


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(releases())
def test_a_decision_and_its_measurements_survive_a_crash(
    tmp_path_factory: pytest.TempPathFactory, drawn: Drawn
) -> None:
    """Table, configuration, noisy answers, and both regressions."""
    made = drawn.release
    accepted = Accepted(made.table, made.configuration, tuple(made.measured), made.fit, made.refit)
    journal = Journal.of(made.specification, tmp_path_factory.mktemp("journal") / "data.key")
    journal.decide(Decision(accepted, date(2026, 1, 2)))
    decided = journal.decided()
    assert decided
    journal.finish(accepted)
    assert decided.accepted
    for found in (decided.accepted, journal.finished(replace(accepted, measured=(), fit=None, refit=None))):
        assert found
        assert found.table == accepted.table
        assert (found.configuration, found.measured) == (accepted.configuration, accepted.measured)
        assert (found.fit, found.refit) == (accepted.fit, accepted.refit)

"""The journal gives back what was written into it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from documents.drawn import Drawn, releases
from facsimile.acceptance.model import model_of
from facsimile.acceptance.regression import Fit
from facsimile.privacy.reader import read_public
from facsimile.privacy.transcript import Transcript
from facsimile.release.journal import Decision, Journal
from facsimile.release.questions import made_up
from facsimile.release.run import rehearsed
from facsimile.release.scheme import Accepted
from facsimile.spec.load import validated
from facsimile.table.regression import Scaling
from releases import specification, write_data
from specs import SMALL


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(releases())
def test_a_decision_and_its_measurements_survive_a_crash(
    tmp_path_factory: pytest.TempPathFactory, drawn: Drawn
) -> None:
    """Table, configuration, noisy answers, and both regressions."""
    made = drawn.release
    accepted = Accepted(made.table, made.configuration, tuple(made.measured), made.fit, made.refit)
    journal = Journal(made.specification, tmp_path_factory.mktemp("journal") / "data.key")
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


def test_hundreds_of_criteria_fit_and_a_halt_has_the_same_size(tmp_path: Path) -> None:
    """Once a release with 300 criteria was decided and could never be finished: its journal was too small."""
    query = {"criterion": "query", "where": "age < 18", "threshold": "0.9", "epsilon": "0.01"}
    criteria = [query | {"query": f"question_{number}_of_an_office_that_asks"} for number in range(499)]
    spec = specification(criteria=criteria)
    accepted, _ = rehearsed(spec, read_public(write_data(tmp_path), spec), seed=1)
    assert accepted is not None and len(accepted.measured) == len(criteria)
    sizes = set()
    for decision in (Decision(accepted, date(2026, 1, 2)), Decision(None, date(2026, 1, 2))):
        journal = Journal(spec, tmp_path / "data.key")
        journal.decide(decision)
        decided = journal.decided()
        assert decided is not None and (decided.accepted is None) == (decision.accepted is None)
        journal.finish(accepted)
        finished = journal.finished(replace(accepted, measured=()))
        assert finished is not None and finished.measured == accepted.measured
        sizes.add(journal.decision.stat().st_size)
        assert journal.decision.stat().st_size + journal.measurements.stat().st_size == journal.size
        journal.remove()
    assert len(sizes) == 1


def test_every_draw_is_on_disk_before_what_depends_on_it(tmp_path: Path) -> None:
    seen: list[bool] = []

    class Watched(Transcript):
        def keep(self) -> int:
            seen.append(journal.decision.exists())
            return super().keep()

    with Watched(tmp_path / "transcript") as record:
        journal = Journal(specification(), tmp_path / "data.key", record)
        journal.decide(Decision(None, date(2026, 1, 2)))
    assert seen and not seen[0] and journal.decision.exists()


def test_a_regression_with_hundreds_of_features_fits(tmp_path: Path) -> None:
    """Once a release whose regression multiplied two columns of long labels was found and could not be decided,
    while a halt could: the end of a search was told by an error."""
    labels = [f"{'ж' * 110}{number}" for number in range(19)]
    nominal = {"description": "Words", "values": labels, "alternatives": {"all": labels}}
    criterion = {
        "criterion": "regression-mae",
        "target": "sex",
        "on": ["a*b"],
        "threshold": "1",
        "epsilon": "1",
    }
    spec = validated(
        SMALL
        | {
            "columns": [SMALL["columns"][1], {"name": "a", **nominal}, {"name": "b", **nominal}],
            "constraints": {"policy": "declared", "raw": []},
            "criteria": [criterion],
            "budget": {"total": "9", "generator": "1", "test": "0.1", "once": "1"},
        }
    )
    table = made_up(spec, spec.first)
    formula = spec.once_formula
    assert formula is not None
    names = tuple(name for name in model_of(spec, formula, table.domain).domain.names if name != "sex")
    assert len(names) == 18 + 18 + 18 * 18
    long = Fraction(10**300 + 1, 2**20)
    fit = Fit(Scaling("sex", names, (long,) * len(names), (long,) * len(names)), (long,) * (len(names) + 1))
    accepted = Accepted(table, next(next(spec.space.made())[1]), (), fit, fit)
    journal = Journal(spec, tmp_path / "data.key")
    journal.decide(Decision(accepted, date(2026, 1, 2)))
    decided = journal.decided()
    assert decided is not None and decided.accepted is not None and decided.accepted.fit == fit

"""The audit as a whole: every theorem is tried, and what a claim hides is found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from conftest import ROOT
from facsimile.audit import run
from facsimile.audit.accounting import accounting
from facsimile.audit.examples import examples
from facsimile.audit.questions import SENSITIVITIES
from facsimile.audit.run import audit, machine
from facsimile.audit.searches import MODES, costs, tried, worst
from facsimile.documents.evidence import KINDS, Evidence
from facsimile.privacy.mechanisms import NoisyMarginals, NoisySteps
from facsimile.privacy.modes import Coin, Mode
from facsimile.privacy.queries import Dependences
from facsimile.privacy.renyi import Curve
from facsimile.testing.apart import SHARE

INDEX = re.findall(
    r"^\| `([\w.]+)` \|",
    (ROOT / "src/facsimile/privacy/README.md").read_text("utf-8").split("## Index of theorems")[1],
    re.M,
)


def test_every_theorem_of_the_index_is_tried() -> None:
    """By what each section says it tries; the whole audit is a long test and a journey."""
    known = {example.theorem for example in examples()} | {*SENSITIVITIES.values()}
    known |= {theorem for theorem, _ in MODES} | {found.theorem for found in accounting()}
    known |= {"queries.base.excess", "queries.sensitivity.prediction_error", "mechanisms.search.Plan"}
    known |= {"ledger.refuse_beyond", "ledger.begin", "curator.Search", "reader.read"}
    assert len(INDEX) > 30 and {*INDEX} <= known


@pytest.mark.long
def test_a_whole_audit_of_the_honest_build_finds_nothing() -> None:
    found = audit()
    assert found.passed and found.whole
    assert {*INDEX} <= {one.theorem for one in found.evidence}


def test_kinds_are_chosen() -> None:
    found = audit(only=["charges"])
    assert found.passed and not found.whole
    assert {one.kind for one in found.evidence} == {"charges"}


def test_a_section_that_fails_is_evidence_against_and_the_rest_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> Iterator[Evidence]:
        yield Evidence.bounded("a", "law", "b", "c", 1.0, 0.5)
        raise ZeroDivisionError("a value that nobody needs to see")

    sections = (("Breaking", "law", broken), *(s for s in run.SECTIONS if s[1] == "charges"))
    monkeypatch.setattr(run, "SECTIONS", sections)
    found = audit()
    assert not found.passed and [one.passed for one in found.evidence] == [True, False, True, True, True]
    assert "ZeroDivisionError" in found.evidence[1].test and "nobody" not in str(found.as_json())


@pytest.mark.parametrize("kind", ["sensitivity", pytest.param("distinguished", marks=pytest.mark.long)])
def test_half_the_noise_is_found(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By either kind of evidence about a marginal, each by itself."""
    from facsimile.audit import questions

    few = [example for example in examples() if example.of is NoisyMarginals][:1]
    monkeypatch.setattr(questions, "examples", lambda: iter(few))
    monkeypatch.setattr(run, "SECTIONS", [s for s in run.SECTIONS if s[1] == kind and "earch" not in s[0]][:1])
    assert all(one.passed for one in audit(only=(kind,)).evidence if "Marginals" in one.theorem)
    monkeypatch.setattr(NoisyMarginals, "sensitivity", 1)
    monkeypatch.setattr(NoisyMarginals, "square", 1)
    found = [one for one in audit(only=(kind,)).evidence if "Marginals" in one.theorem]
    assert found and not any(one.passed for one in found)


def test_a_critic_that_takes_the_least_integer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: |-2^63| is negative in 64 bits."""
    from facsimile.audit import questions
    from facsimile.table import critic

    few = [example for example in examples() if example.of is NoisySteps]
    monkeypatch.setattr(questions, "examples", lambda: iter(few))
    assert all(one.passed for one in questions.hostile())
    monkeypatch.setattr(critic, "largest", lambda array: int(abs(array).max()))
    assert [one.passed for one in questions.hostile()] == [False]


def test_mixed_candidates_at_the_sensitivity_of_the_narrowest_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from facsimile.audit import questions

    monkeypatch.setattr(Dependences, "sensitivity", lambda scores: Fraction(4 * scores.n))
    few = [example for example in examples() if example.name == "mixed candidates"]
    monkeypatch.setattr(questions, "examples", lambda: iter(few))
    assert not all(one.passed for one in questions.sensitivities() if one.case == "mixed candidates")


def test_a_mode_that_forgets_the_factor_of_the_search_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(found.passed for found in costs())
    monkeypatch.setattr(Coin, "cost", lambda mode, one: one)
    assert [found.passed for found in costs()].count(False) >= 2


def test_a_mode_that_halts_too_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Coin, "halts_after", lambda mode, index: Fraction(index > 30))
    assert not all(found.passed for found in costs())


@pytest.mark.parametrize("mode", [mode for _, mode in MODES], ids=lambda mode: str(mode.name))
def test_the_number_of_indices_summed_from_the_coins_is_what_the_mode_says(mode: Mode) -> None:
    for chance in (0.05, 0.3, 0.9):
        assert tried(mode, chance) == pytest.approx(float(mode.tried(chance)), rel=1e-3)
    assert worst(mode, float(SHARE)) <= float(mode.cost(SHARE)) + 1e-9


def test_a_divergence_that_is_charged_too_low_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(found.passed for found in accounting())
    at = Curve.at
    monkeypatch.setattr(Curve, "at", lambda curve, order: at(curve, order) * 9 / 10)
    assert not all(found.passed for found in accounting())


def test_the_machine_is_told_by_versions_and_by_no_name() -> None:
    import getpass
    import socket

    told = " ".join(machine().values())
    assert {"python", "opendp", "numpy"} <= {*machine()}
    assert socket.gethostname() not in told and getpass.getuser() not in told
    assert set(KINDS) == {kind for _, kind, _ in run.SECTIONS} | {"opened"}

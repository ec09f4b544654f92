"""Levels: whatever the parts, a search releases a miss with at most what is left of the confidence."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bases import specification
from facsimile.analysis.levels import Confidence
from facsimile.spec.release import Specification

MODES: list[dict[str, str]] = [
    {"mode": "single"},
    {"mode": "coin", "gamma": "0.05"},
    {"mode": "rising-coin", "a": "0.5"},
    {"mode": "capped-coin", "gamma": "0.2", "cap": "40", "epsilon_0": "0.1"},
]
ALPHAS = st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000)
PARTS = st.fractions(0, 1, max_denominator=10)


def spec(scheme: str, selection: dict[str, str]) -> Specification:
    return _made(scheme, tuple(selection.items()))


@cache
def _made(scheme: str, selection: tuple[tuple[str, str], ...]) -> Specification:
    test = {} if scheme in ("paper", "measured") else {"test": "1"}
    budget = {"total": "90", "generator": "1", **test}
    absolute = [{"criterion": "marginals-absolute", "threshold": "0.5"}]
    return specification(criteria=absolute, scheme=scheme, selection=dict(selection), budget=budget)


@pytest.mark.parametrize("scheme", ["test-then-measure", "train-once", "measured", "paper"])
@pytest.mark.parametrize("selection", MODES, ids=lambda one: one["mode"])
@settings(max_examples=30)
@given(alpha=ALPHAS, parts=st.lists(PARTS, min_size=1, max_size=40))
def test_misses_add_up_to_alpha(
    scheme: str, selection: dict[str, str], alpha: Fraction, parts: list[Fraction]
) -> None:
    """Questions of any parts together. In an index: β for the tables, and in scheme measured for the criteria
    too; Λ(β) = released(β). A threshold that is taken for a bound misses with the mode's own luck, once."""
    confidence = Confidence(spec(scheme, selection), alpha, len(parts))
    every = [confidence.shared(part) for part in parts]
    tables, criteria = (sum(float(getattr(one, of) or 0) for one in every) for of in ("tables", "criteria"))
    levels, part = every[0], parts[0]
    if any(one.trusted for one in every):
        bounds = [float(one.criteria or 0) for one in every if not one.trusted]
        criteria = max(criteria, sum(bounds) + float(confidence.mode.luck))
    if scheme == "train-once":
        missed = tables + criteria
    elif scheme == "measured":
        missed = float(confidence.mode.released(tables + criteria))
    else:
        missed = float(confidence.mode.released(tables)) + criteria
    assert missed <= float(alpha) * (1 + 1e-9)
    assert len(parts) > 1 or missed >= float(alpha) * 0.99, "nothing is given away"
    assert levels.of_search == (part > 0 or scheme == "measured")
    assert levels.selective == (scheme == "paper")


def test_tables_claim_nothing_in_a_search_until_success_unless_they_came_first() -> None:
    until = {"mode": "paper"}
    assert not Confidence(spec("paper", until), Fraction(1, 20)).tables_speak
    assert not Confidence(spec("test-then-measure", until), Fraction(1, 20)).tables_speak
    assert Confidence(spec("train-once", until), Fraction(1, 20)).tables_speak


def test_thresholds_are_trusted_in_scheme_measured_only_and_not_beyond_the_level() -> None:
    coin = {"mode": "coin", "gamma": "0.05"}
    assert Confidence(spec("measured", coin), Fraction(1, 20)).shared(Fraction(0)).trusted
    assert not Confidence(spec("measured", coin), Fraction(1, 100)).shared(Fraction(0)).trusted
    assert not Confidence(spec("measured", coin), Fraction(1, 20)).shared(Fraction(1, 2)).trusted
    assert not Confidence(spec("test-then-measure", coin), Fraction(1, 20)).shared(Fraction(0)).trusted

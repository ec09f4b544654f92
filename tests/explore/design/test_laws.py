"""Laws: whether delta pays, by chances, distances or candidates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from facsimile.explore import design as package
from facsimile.explore.design import design
from facsimile.explore.design.laws import Laws, undeclared
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.privacy.budget import Rho
from facsimile.privacy.renyi import rho_of
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from workloads import DELTA, EPSILON, plain, small

FAITHFUL = {"criterion": "faithfulness", "match": ["c"], "threshold": "0.9", "within": "1", "reference": "all"}


def unlinear(delta: Fraction) -> Specification:
    """No criterion has a linear view."""
    specification = validated(plain({"a": 4, "b": 5, "c": 3}, [FAITHFUL]))
    budget = specification.budget.model_copy(update={"delta": delta})
    return specification.model_copy(update={"budget": budget})


def test_more_chance_and_less_distance_are_better() -> None:
    assert Laws.of("chance", 0.9, 0.7).cheaper == "Gaussian"
    assert Laws.of("candidates", 0.6, 0.7).cheaper == "Laplace"
    assert Laws.of("distance", 0.9, 0.7).cheaper == "Laplace"
    assert Laws.of("distance", 0.02, 0.7).cheaper == "Gaussian"


def test_the_promise_decides_between_equals_and_then_what_needs_no_delta() -> None:
    assert Laws.of("chance", 1.0, 1.0, (0.5, 0.4)).cheaper == "Gaussian"
    assert Laws.of("chance", 1.0, 1.0, (0.4, 0.4)).cheaper == "Laplace"


def test_one_line_says_what_to_do() -> None:
    assert Laws.of("chance", 0.93, 0.71).words("0.001") == (
        "Gaussian noise at delta 0.001: predicted 93%; Laplace noise, without delta: predicted 71%. "
        "Gaussian noise is cheaper: delta pays."
    )
    assert (
        Laws.of("distance", 0.03, 0.02)
        .words("0.001")
        .endswith("distance 2.00%. Laplace noise is cheaper: leave budget.delta out.")
    )


def test_a_design_without_delta_compares_nothing() -> None:
    assert design(*small(), EPSILON, margin=0, trials=2).laws is None


def test_few_tables_are_cheaper_without_delta() -> None:
    """Three columns and a pair: four tables have 8·16/ε² against 4/ρ, and ρ at this δ is below ε²/32."""
    found = design(*small(DELTA), EPSILON, margin=0, trials=20)
    assert 32 * rho_of(EPSILON, DELTA) < EPSILON**2
    assert found.laws is not None and found.laws.by == "chance"
    assert found.laws.cheaper == "Laplace" and found.laws.laplace >= found.laws.gaussian
    assert found.predicted is None or found.predicted == found.laws.gaussian


def test_a_great_delta_is_cheaper_and_the_predictions_see_it() -> None:
    """At δ = 0.3 a ρ buys less noise than its ε, for one table even."""
    delta = Fraction(3, 10)
    assert 8 * rho_of(EPSILON, delta) > EPSILON**2
    found = design(*small(delta), EPSILON, margin=0, trials=20)
    assert found.laws is not None and found.laws.cheaper == "Gaussian"


def test_wide_tables_are_compared_by_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "DENSE_CELLS", 10)
    found = design(unlinear(Fraction(3, 10)), small()[1], EPSILON, margin=0, trials=10)
    assert found.laws is not None
    assert (found.laws.by, found.laws.cheaper) == ("distance", "Gaussian")
    assert 0 < found.laws.gaussian < found.laws.laplace < 1


def test_where_neither_can_be_told_candidates_meet() -> None:
    found = design(unlinear(DELTA), small()[1], EPSILON, margin=0, trials=10)
    assert found.laws is not None and found.laws.by == "candidates"


def test_rehearsals_spend_what_the_specification_declares() -> None:
    specification, table = small(DELTA)
    rehearsals = Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)
    assert rehearsals.budget == rho_of(EPSILON, DELTA) and isinstance(rehearsals.budget, Rho)
    pure = replace(rehearsals, specification=undeclared(specification))
    assert pure.budget == EPSILON and not isinstance(pure.budget, Rho)

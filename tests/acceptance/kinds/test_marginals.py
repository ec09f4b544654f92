"""The ratio's threshold: the paper's numbers, and luck against the law of the noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.acceptance.decision import fine_grid
from facsimile.acceptance.kinds.marginals import RelativeKind
from facsimile.privacy.queries.sensitivity import ratio_clipped
from facsimile.spec.criteria import MarginalsRelative
from facsimile.spec.load import validated
from specs import changed

PAPER = {"criterion": "marginals-relative", "threshold": "2", "epsilon": "0.3"}


def ratio(**given: str) -> MarginalsRelative:
    return MarginalsRelative.model_validate(PAPER | given)


def at_of(criterion: MarginalsRelative) -> Fraction:
    return RelativeKind(criterion, "paper").lowered


def luck(criterion: MarginalsRelative, grid: int, units: int) -> float:
    return RelativeKind(criterion, "paper").chance(grid, units)


def lucky(criterion: MarginalsRelative, smallest: int) -> float:
    delta = ratio_clipped(criterion.clip, smallest)
    grid = fine_grid(delta)
    return luck(criterion, grid, max(1, math.ceil(grid * delta)))


def test_the_papers_numbers() -> None:
    """Δ < 0.077 and so T' > 1.4 at a smallest count of 50; 1.4 is what the paper then used."""
    found = at_of(ratio())
    assert found == Fraction("1.420733")
    assert found == pytest.approx(2 + 4 / 53 / 0.3 * math.log(0.1), abs=1e-6)
    given = ratio(tested_at="1.4")
    assert at_of(given) == Fraction("1.4")
    assert lucky(given, 50) == pytest.approx(0.5 * math.exp(-0.6 * 0.3 * 53 / 4), rel=1e-3)
    assert lucky(given, 135) < lucky(given, 50) < 0.05 < lucky(given, 20)


@pytest.mark.parametrize(
    ("threshold", "at"),
    [("2", "1.420733"), ("1.8", "1.420733"), ("1.42", "1.42"), ("1.4", "1.4"), ("1.1", "1.1")],
)
def test_a_low_threshold_is_tested_where_it_stands(threshold: str, at: str) -> None:
    """What is lowered is the clip, against luck; a threshold that is lower already needs no second margin."""
    assert at_of(ratio(threshold=threshold)) == Fraction(at)


@given(
    st.fractions(Fraction(11, 10), Fraction(10), max_denominator=100),
    st.integers(1, 10**6),
    st.integers(0, 1000),
    st.fractions(Fraction(1, 20), Fraction(10), max_denominator=1000),
    st.fractions(Fraction(1, 1000), Fraction(49, 100), max_denominator=1000),
)
def test_luck_is_at_most_what_was_planned_for_where_counts_are_no_smaller(
    clip: Fraction, planned: int, more: int, epsilon: Fraction, p: Fraction
) -> None:
    """Up to the grid, of which Δ is a thousand units, or one."""
    given = {"clip": clip, "threshold": clip, "epsilon": epsilon, "false_accept": p, "planning_s_min": planned}
    criterion = ratio(**{key: str(value) for key, value in given.items()})
    delta = ratio_clipped(clip, planned + more)
    grid = fine_grid(delta)
    units = max(1, math.ceil(grid * delta))
    a = math.exp(-float(epsilon) / units)
    rounding = 2 / (1 + a) * math.exp((math.log(1 / (2 * float(p))) + float(epsilon)) / units)
    assert luck(criterion, grid, units) <= float(p) * rounding * (1 + 1e-9)
    assert at_of(criterion) <= clip
    assert criterion == ratio(**{key: str(value) for key, value in given.items()})


def test_luck_is_the_tail_of_the_noise() -> None:
    """Summed term by term."""
    for at, grid, units in (("1.4", 13, 1), ("1.9", 1000, 77), ("2", 7, 3)):
        criterion = ratio(tested_at=at)
        a = math.exp(-0.3 / units)
        law = {z: (1 - a) / (1 + a) * a ** abs(z) for z in range(-90 * units, 3 * grid)}
        passing = sum(p for z, p in law.items() if Fraction(2 * grid + z, grid) < Fraction(at))
        assert luck(criterion, grid, units) == pytest.approx(passing, rel=1e-9)


@pytest.mark.parametrize(("scheme", "form"), [("paper", "sharp"), ("train-once", "paper")])
def test_only_the_papers_scheme_and_form_test_a_clipped_ratio_alone(scheme: str, form: str) -> None:
    data: dict[str, Any] = changed("criteria.0", PAPER | {"tested_at": "1.4"})
    data |= {"statistic": "paper", "scheme": "paper"}
    data["budget"].pop("test", None)
    specification = validated(data)
    criterion = specification.criteria[0]
    assert isinstance(criterion, MarginalsRelative)
    assert RelativeKind(criterion, "paper").clipped(specification)
    assert not RelativeKind(criterion, "sharp").clipped(specification)
    other = specification.model_copy(update={"scheme": scheme, "statistic": form})
    assert not RelativeKind(criterion, "paper").clipped(other)

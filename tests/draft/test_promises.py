"""Promises: thresholds leave room, epsilons make noise small, numbers are those that people say."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from facsimile.draft.part import Part
from facsimile.draft.promises import MOST, MOST_TEST, Thresholds, affordable, joint_test, said, two_digits_up


@given(st.floats(1e-5, 1e9))
def test_what_people_say_is_at_most_a_half_larger(value: float) -> None:
    found = float(said(value))
    assert value * (1 - 1e-9) <= found <= 1.5 * value * (1 + 1e-9)
    digits = str(said(value).numerator).rstrip("0")
    assert (said(value).denominator == 1 and len(digits) <= 2) or said(value) < 1000


@given(st.fractions(Fraction(1, 10**4), 10**6))
def test_two_digits_are_never_less_and_hardly_more(value: Fraction) -> None:
    assert value <= two_digits_up(value) < value * Fraction(111, 100)


def part(**data: str) -> Part:
    return Part({"criterion": "mean", **data})


def test_a_threshold_is_loosened_only_where_a_trial_missed_it() -> None:
    found = Thresholds((part(threshold="2"), part(threshold="5"))).loosened(
        {"a": 1.9, "b": 6.0}, ["a", "b"], 1.0
    )
    assert [one.data["threshold"] for one in found.criteria] == ["2", "6"]
    assert "loosened from 5" in found.criteria[1].notes["threshold"]
    assert "threshold" not in found.criteria[0].notes


def test_what_is_dear_loses_its_groups_first() -> None:
    dear, cheap = str(float(MOST) * 2), "0.1"
    grouped, plain = part(by="age", epsilon=dear), part(epsilon=dear)
    assert affordable([grouped, plain, part(by="age", epsilon=cheap)]) == [
        part(epsilon=dear),
        part(by="age", epsilon=cheap),
    ]


def test_the_test_costs_more_than_any_criterion_and_not_too_much() -> None:
    assert joint_test([part(epsilon="0.1"), part(epsilon="0.01")]) == Fraction(1, 5)
    assert joint_test([part(epsilon="7")]) == MOST_TEST

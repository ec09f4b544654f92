"""Slack: it follows the worst criterion, and two workloads meet the same luck."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from facsimile.explore.learning.slack import (
    FURTHEST,
    SHARPNESS,
    Coupled,
    Rehearsals,
    badness,
    overshoot,
)
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.synthesizers.workload import whole
from workloads import ABSOLUTE, EPSILON, RELATIVE, small


@given(st.floats(1e-6, 0.999), st.floats(1e-6, 0.999))
def test_an_overshoot_is_negative_exactly_where_the_criterion_is_met(one: float, other: float) -> None:
    assert (overshoot(ABSOLUTE, one) < 0) == (one < 0.02)
    assert (overshoot(RELATIVE, 1 / one) < 0) == (1 / one < 2)
    assert (one < other) <= (overshoot(ABSOLUTE, one) <= overshoot(ABSOLUTE, other))


def test_what_is_not_defined_is_as_bad_as_can_be_and_no_error_as_good() -> None:
    assert overshoot(ABSOLUTE, None) == overshoot(ABSOLUTE, 1e9) == FURTHEST
    assert overshoot(ABSOLUTE, 0.0) == overshoot(RELATIVE, 1.0) == -FURTHEST
    assert overshoot(RELATIVE.model_copy(update={"threshold": Fraction(1)}), 1.5) == FURTHEST


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=8), st.floats(-6, 6))
def test_the_badness_follows_the_worst(overshoots: list[float], more: float) -> None:
    above = badness(overshoots) - max(overshoots)
    assert -1e-12 <= above <= math.log(len(overshoots)) / SHARPNESS + 1e-12
    assert badness([*overshoots, more]) >= badness(overshoots) - 1e-12


def test_a_costly_criterion_is_left_out_where_it_cannot_matter() -> None:
    specification, table = small()
    rehearsals = Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)
    whole = rehearsals.overshoots(("each", "auto"), 1)
    assert all(math.isfinite(one) for one in whole)
    bound = badness(whole[:1])
    assert rehearsals.overshoots(("each", "auto"), 1, lambda bad: bad >= bound) == (whole[0], -math.inf)
    assert rehearsals.overshoots(("each", "auto"), 1, lambda bad: bad > bound) == whole


def test_a_table_meets_the_same_luck_whatever_else_is_asked() -> None:
    _, table = small()

    def asked(seed: int, *cliques: tuple[str, ...]) -> Any:
        question = NoisyMarginals.evenly(cliques, Fraction(len(cliques), 5))
        return Coupled(table.domain, table, seed).run(question)[-1].counts

    alone, beside = asked(1, ("a", "b")), asked(1, ("c",), ("a", "b"))
    assert np.array_equal(alone, beside)
    assert not np.array_equal(alone, asked(2, ("a", "b")))
    twice = Coupled(table.domain, table, 1)
    first, second = (twice.run(NoisyMarginals.evenly([("a", "b")], EPSILON)) for _ in range(2))
    assert not np.array_equal(first[0].counts, second[0].counts)


def test_coupled_noise_has_the_law_of_a_curators() -> None:
    _, table = small()
    question = NoisyMarginals.evenly([("a", "b")], EPSILON)
    runs = [Coupled(table.domain, table, seed).run(question)[0] for seed in range(400)]
    noise = (np.array([run.counts for run in runs]) - table.marginal(("a", "b"))).ravel()
    expected = whole(runs[0]).variance
    # Var(Z²) ≤ 6σ⁴ for Laplace noise: five and a half deviations are alpha < 1e-7
    assert abs((noise**2).mean() / expected - 1) < 5.5 * (6 / len(noise)) ** 0.5
    assert abs(noise.mean()) < 5.5 * (expected / len(noise)) ** 0.5

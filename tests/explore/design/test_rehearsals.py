"""Rehearsals: two workloads meet the same luck, and without a seed there is none."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from facsimile.explore.design.rehearsals import Coupled, Rehearsals, ratio
from facsimile.privacy.mechanisms import NoisyMarginals, NoisyScores
from facsimile.synthesizers.workload import whole
from facsimile.table.scores import RowScores, indicator
from workloads import ABSOLUTE, EPSILON, RELATIVE, small


@given(st.floats(1e-6, 0.999), st.floats(1e-6, 0.999))
def test_a_ratio_is_below_one_exactly_where_the_criterion_is_met(one: float, other: float) -> None:
    assert (ratio(ABSOLUTE, one) < 1) == (one < 0.02)
    assert (ratio(RELATIVE, 1 / one) < 1) == (1 / one < 2)
    assert (one < other) <= (ratio(ABSOLUTE, one) <= ratio(ABSOLUTE, other))


def test_what_is_not_defined_is_as_bad_as_can_be_and_no_error_as_good() -> None:
    assert ratio(ABSOLUTE, None) == math.inf and ratio(ABSOLUTE, 0.0) == ratio(RELATIVE, 1.0) == 0
    assert ratio(RELATIVE.model_copy(update={"threshold": Fraction(1)}), 1.5) == math.inf


def test_without_a_seed_answers_are_exact_and_claim_their_noise() -> None:
    _, table = small()
    exact = Coupled(table.domain, table, None)
    (heard,) = exact.run(NoisyMarginals.evenly([("a", "b")], EPSILON))
    assert np.array_equal(heard.counts, table.marginal(("a", "b")))
    assert heard.variance == 2 * float(NoisyMarginals.scale(EPSILON)) ** 2
    scores = RowScores(table.domain, ((indicator(("a",), np.arange(table.domain.shape[0]) == 1),),))
    sums = exact.run(NoisyScores(scores, 2**10, EPSILON))
    assert sums.tolist() == [2**10 * int(table.marginal(("a",))[1])]


def test_candidates_follow_from_the_seed() -> None:
    specification, table = small()
    rehearsals = Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)
    own = {"measurements": "each; a*b", "weights": "auto"}
    first, again, other = (rehearsals.ratios(own, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert max(rehearsals.ratios(own, None)) < min(max(first), max(other))


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

"""Neighbours are told apart no better than is charged; losses that are larger are found."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log
from typing import Any, ClassVar

import numpy as np
import pytest

from facsimile.audit.examples import Example, examples
from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.mechanisms import MECHANISMS, NoisyAnswer, NoisyMarginals
from facsimile.privacy.queries import QUERIES, SCORES, Unlikeness
from facsimile.testing import Broken, check_apart, every_pair, small_domain
from facsimile.testing.apart import ALIVE, SHARE, Bulk, apart, divergence, of_scores, tightest
from facsimile.testing.queries import finest

EXAMPLES = list(examples())
DOMAIN = small_domain(2)
PAIRS = list(every_pair(DOMAIN, 3))


def test_every_listed_mechanism_query_and_score_has_an_example() -> None:
    assert {example.of for example in EXAMPLES} == {*MECHANISMS, *QUERIES, *SCORES}


EVERY = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
FIRST = [example for example in EXAMPLES if example.theorem.startswith("mechanisms.")]


@pytest.mark.parametrize("example", FIRST, ids=lambda example: str(example.name))
def test_what_is_found_lies_below_the_claim_and_near_it_where_it_is_tight(example: Example) -> None:
    """A quarter of the draws of an audit find less: a tight pair is asked for 0.3 of the claim, at least 6.8
    standard deviations below what 120 runs of each found. Queries are asked by one of these mechanisms, and
    their own turn is in the next test."""
    found = apart(example.mechanism, example.pair, draws=example.draws // 4)
    assert found.holds
    assert found.found >= 0.3 * found.declared or not example.tight


@pytest.mark.long
@EVERY
def test_all_draws_find_most_of_the_claim(example: Example) -> None:
    """0.6 of it is at least 5.8 standard deviations below what 300 runs of each found."""
    check_apart(example.mechanism, example.pair, draws=example.draws, tight=example.tight)


class HalfNoise(NoisyMarginals):
    """Mutant: noise for one changed cell, where a replacement changes two."""

    sensitivity: ClassVar[int] = 1
    square: ClassVar[int] = 1


@pytest.mark.parametrize("share", [SHARE, Rho(9, 8)], ids=["epsilon", "rho"])
def test_half_the_noise_is_found(share: Fraction) -> None:
    marginal = ((("a",), share),)
    pair = tightest(NoisyMarginals(marginal), PAIRS)
    assert check_apart(NoisyMarginals(marginal), pair).alive
    with pytest.raises(Broken, match="better than it is charged for"):
        check_apart(HalfNoise(marginal), pair)


class HalfUnlikeness(Unlikeness):
    """Mutant: half the sensitivity."""

    def sensitivity(self) -> Fraction:
        return super().sensitivity() / 2


def test_half_a_sensitivity_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query's own, through a noisy answer."""
    example = next(e for e in EXAMPLES if e.name == "Unlikeness")
    assert isinstance(example.mechanism, NoisyAnswer) and isinstance(example.mechanism.query, Unlikeness)
    monkeypatch.setattr("facsimile.privacy.mechanisms.answers.QUERIES", (*QUERIES, HalfUnlikeness))
    query = HalfUnlikeness(example.mechanism.query.candidate)
    mutant = NoisyAnswer(query, SHARE, finest(query.sensitivity()))
    with pytest.raises(Broken, match="better than it is charged for"):
        check_apart(mutant, tightest(mutant, example.pairs))


def test_a_dead_pair_is_noticed() -> None:
    pair = (PAIRS[0][0], PAIRS[0][0])
    with pytest.raises(Broken, match="dead"):
        check_apart(NoisyMarginals(((("a",), SHARE),)), pair, draws=500)


def test_a_bound_holds_for_randomised_response_and_comes_near() -> None:
    """An answer that is the truth with probability e^ε/(1+e^ε): the loss is ε, and nothing loses more of it."""
    random, epsilon = np.random.default_rng(1), 1.5
    likely = exp(epsilon) / (1 + exp(epsilon))
    one, other = ((random.random(10_000) < p).astype(float) for p in (likely, 1 - likely))
    found = of_scores(one, other, Cost(Fraction(3, 2)))
    assert ALIVE * 1.5 < found.found < 1.5 == found.declared
    assert of_scores(other, one, Cost(Fraction(3, 2))).found == pytest.approx(found.found, abs=0.1)
    assert of_scores(one, one, Cost(Fraction(3, 2))).found == 0


def test_a_bound_at_a_delta_forgives_it() -> None:
    one, other = np.repeat([1.0, 0.0], [300, 9_700]), np.zeros(10_000)
    random = np.random.default_rng(1)
    random.shuffle(one)
    assert of_scores(one, other, Cost(Fraction(1))).found > 1
    assert of_scores(one, other, Cost(Fraction(1), Fraction(1, 10))).found == 0


def test_an_event_of_two_chances_has_the_divergence_of_a_coin() -> None:
    p, q = 0.8, 0.3
    kl = p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))
    assert divergence(p, q) == pytest.approx(kl, rel=0.05)
    assert divergence(q, p) == divergence(p, p) == 0
    assert divergence(1.0, 0.5) > divergence(0.9, 0.5)


def test_noise_in_bulk_has_the_law_of_noise_one_by_one() -> None:
    from facsimile.testing.laws import counted, discrete_laplace, fits

    bulk = Bulk()
    drawn = np.array([bulk.laplace(np.array([5, 7]), 2, SHARE) - [5, 7] for _ in range(3_000)])
    assert drawn.shape == (3_000, 2)
    for cell in drawn.T:
        assert fits(counted(cell, 9), discrete_laplace(4 / 3, 9))
    assert np.mean(drawn[:, 0] == drawn[:, 1]) < 0.5
    first: Any = bulk.gaussian(np.array([1]), 1, Fraction(1))
    assert first.shape == (1,)

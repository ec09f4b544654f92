"""Prediction: the formula of the covariance, the derivatives, and what real candidates do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from facsimile.explore.design import searched
from facsimile.explore.design.draft import Draft
from facsimile.explore.design.effects import contrasts, effects
from facsimile.explore.design.law import LAPLACE, Law
from facsimile.explore.design.linear import LinearCriteria
from facsimile.explore.design.prediction import Prediction
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.explore.design.weights import weighted
from workloads import EPSILON, small

OWN = {"measurements": "each; a*b@3", "weights": "auto"}


@pytest.fixture(scope="module", params=[0, Fraction(1, 10)], ids=["Laplace", "Gaussian"])
def rehearsals(request: pytest.FixtureRequest) -> Rehearsals:
    specification, table = small(Fraction(request.param))
    return Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)


@pytest.fixture(scope="module")
def prediction(rehearsals: Rehearsals) -> Prediction:
    structures = searched(rehearsals, True, 10, lambda _: None)
    assert structures is not None
    draft = Draft.read(OWN, rehearsals.real.domain, 3000, rehearsals.budget)
    assert draft is not None
    return structures.predicted(draft.with_score("mean-b", 0.1), 400)


def variance(law: Law, share: float, one: float = 2, two: float = 2**0.5) -> float:
    """Of what moves by so much in L1 and in L2; a cell if not told. Written a second time."""
    return 2 * (one / share) ** 2 if law == LAPLACE else two**2 / (2 * share)


def as_loud(law: Law, epsilon: float) -> float:
    """The share with as much noise on a cell as an ε."""
    return epsilon if law == LAPLACE else epsilon**2 / 8


def test_errors_have_the_covariance_of_least_squares(prediction: Prediction) -> None:
    """K(M V⁻¹ M)⁺Kᵀ, from the cells of the tables themselves."""
    table, shares = prediction.moments.table, np.linspace(0.02, 0.05, len(prediction.tables) + 1)
    weights, codes = prediction.moments.weights, prediction.moments.rows
    lines, variances = [], []
    for sizes, share in zip(prediction.tables, shares, strict=False):
        for effect, summed in effects(sizes).items():
            parts = [
                contrasts(size)[
                    :, prediction.moments.cuts[table.domain.names[place]].groups(size)[codes[:, place]]
                ]
                for place, size in effect
            ]
            value = parts[0] if len(parts) == 1 else np.einsum("ki,li->kli", *parts).reshape(-1, len(codes))
            lines.append(value)
            variances += [summed * variance(prediction.law, share)] * len(value)
    score = prediction.moments.scores["mean-b"](codes).T
    lines.append(score)
    diameter = prediction.diameters["mean-b"]
    variances += [variance(prediction.law, shares[-1], diameter, diameter)] * len(score)
    rows = np.concatenate(lines)
    rows = rows - (rows @ weights)[:, None]
    functions = prediction.criteria.functions(codes)
    functions = functions - weights @ functions
    middle = (rows * weights) @ rows.T
    along = (functions * weights[:, None]).T @ rows.T
    expected = along @ np.linalg.pinv(middle @ np.diag(1 / np.array(variances)) @ middle) @ along.T / table.n**2
    left, basis = prediction._basis
    information = left.T @ ((prediction._units @ prediction.law.precision(shares))[:, None] * left)
    found = basis @ np.linalg.solve(information, basis.T)
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-9 * np.abs(expected).max())


def test_the_noise_of_a_draw_has_that_covariance(prediction: Prediction) -> None:
    shares = np.full(len(prediction.tables) + 1, 0.04)
    errors = prediction.errors(shares, np.zeros(len(prediction.first_bias)))
    left, basis = prediction._basis
    information = left.T @ ((prediction._units @ prediction.law.precision(shares))[:, None] * left)
    expected = np.einsum("ij,ij->i", basis @ np.linalg.inv(information), basis)
    seen = expected > 1e-9 * expected.max()
    # A variance from 400 draws: six deviations of √(5/400), for Laplace noise; alpha < 1e-7 for each of a few.
    assert np.all(np.abs((errors[seen] ** 2).mean(axis=1) / expected[seen] - 1) < 6 * (5 / 400) ** 0.5)


def test_derivatives_are_those_of_the_promise(prediction: Prediction) -> None:
    shares, bias = np.linspace(0.01, 0.06, len(prediction.tables) + 1), prediction.first_bias
    _, slopes = prediction.promise(shares, bias)
    for place, slope in enumerate(slopes):
        step = np.zeros(len(shares))
        step[place] = 1e-5
        up, down = (prediction.promise(shares * np.exp(sign * step), bias)[0] for sign in (1, -1))
        assert slope == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-6)


def test_more_epsilon_gives_more_chance_and_better_shares_more_promise(prediction: Prediction) -> None:
    bias = prediction.first_bias * 0
    law, number = prediction.law, len(prediction.tables) + 1
    chances = [prediction.chance(np.full(number, as_loud(law, e)), bias) for e in (0.005, 0.02, 0.08)]
    assert chances == sorted(chances) and chances[0] < chances[-1]
    draft = Draft(*_frame(prediction), prediction.tables[3:], ("mean-b",)).shared([1.0] * 5)
    budget = as_loud(law, 0.2)
    before, _ = prediction.promise(budget * np.array(draft.shares), bias)
    better, promise = weighted(draft, prediction, budget, bias, 10)
    assert promise > before and sum(better.shares) == pytest.approx(1)


def _frame(prediction: Prediction) -> tuple[tuple[str, ...], tuple[int, ...]]:
    domain = prediction.moments.table.domain
    return domain.names, domain.shape


def test_what_is_predicted_is_what_candidates_do(rehearsals: Rehearsals) -> None:
    """Deviations of the linear criteria's functions over real candidates, in the mean within a quarter."""
    structures = searched(rehearsals, False, 10, lambda _: None)
    draft, budget = Draft.read(OWN, rehearsals.real.domain, 3000, rehearsals.budget), rehearsals.budget
    assert structures is not None and draft is not None
    prediction = structures.predicted(draft, 400)
    errors = prediction.errors(float(budget) * np.array(draft.shares), prediction.first_bias * 0)
    predicted = errors.std(axis=1)
    criteria: LinearCriteria = prediction.criteria
    means = []
    for seed in range(60):
        made = rehearsals.candidate(draft.own, seed)
        assert made is not None
        means.append(made.counts @ criteria.functions(made.codes) / made.n)
    seen = np.array(means).std(axis=0)
    large = predicted > np.quantile(predicted, 0.5)
    assert np.median(seen[large] / predicted[large]) == pytest.approx(1, abs=0.25)


def test_a_function_outside_of_all_tables_is_biased(rehearsals: Rehearsals) -> None:
    structures = searched(rehearsals, False, 10, lambda _: None)
    assert structures is not None
    alone, with_pair = (
        structures.predicted(Draft.of(rehearsals.real.domain, tables)) for tables in ([], [(4, 5, 1)])
    )
    worst = [float(one.criteria.worst(one.first_bias[:, None]).max()) for one in (alone, with_pair)]
    assert worst[0] > 1 > worst[1]

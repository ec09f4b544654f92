from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers.estimation import column, columns, estimate, strengths
from facsimile.synthesizers.leaning import Leaning
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats, Ints
from facsimile.table.fit import Target, grouped, relaxed, tabled
from facsimile.table.measurement import Measurement

SEEDS = st.integers(0, 2**32)


def domain_of(*shape: int) -> Domain:
    bins = [tuple(CategoryBin(str(i), frozenset([str(i)])) for i in range(size)) for size in shape]
    return Domain(tuple(Axis(name, b) for name, b in zip("abcdef", bins, strict=False)))


def joint(domain: Domain, n: int, seed: int) -> Floats:
    counts = np.random.default_rng(seed).gamma(1.0, size=domain.shape) + 0.1
    return np.asarray(counts * n / counts.sum(), np.float64)


def halves(size: int) -> Ints:
    return np.arange(size) * 2 // size


def measure(
    domain: Domain, counts: Floats, clique: Clique, deviation: float, seed: int = 0, coarse: bool = False
) -> Measurement:
    sizes = domain.project(clique).shape
    groups = tuple(halves(size) if coarse else np.arange(size) for size in sizes)
    table = tabled(domain, counts, clique, groups)
    noise = np.random.default_rng(seed).normal(0, deviation, table.shape)
    return Measurement(clique, groups, table + noise, max(deviation**2, 1e-3))


@settings(max_examples=10)
@given(SEEDS)
def test_a_relaxed_fit_satisfies_its_condition_of_optimality(seed: int) -> None:
    """At the minimum of KL(p‖start) + Σ(Ap − y)²/2κ, ln(p/start) is Aᵀ(y − Ap)/κ plus terms of the columns."""
    domain = domain_of(3, 4)
    random = np.random.default_rng(seed)
    start, wanted = random.gamma(1.0, size=(3, 4)) + 0.1, joint(domain, 100, seed)
    rows, columns_ = wanted.sum(axis=1), wanted.sum(axis=0)
    groups = (np.array([0, 0, 1]), np.array([0, 1, 1, 1]))
    noisy = grouped(wanted, groups) + random.normal(0, 20, (2, 2))
    targets = [Target(("a", "b"), noisy, groups, 5.0), Target(("a",), rows), Target(("b",), columns_)]
    p = relaxed(domain, targets, start, 100, sweeps=1000, tolerance=1e-12)
    assert p.sum(axis=0) == pytest.approx(columns_)
    left = np.log(p / start) - ((noisy - grouped(p, groups)) / 5.0)[np.ix_(*groups)]
    interaction = left - left.mean(axis=0) - left.mean(axis=1, keepdims=True) + left.mean()
    assert interaction == pytest.approx(0, abs=1e-6)


def test_a_relaxed_target_may_be_negative_and_cells_without_mass_stay_empty() -> None:
    domain = domain_of(2, 2)
    target = Target(("a", "b"), np.array([[60.0, -20.0], [30.0, 30.0]]), slack=3.0)
    p = relaxed(domain, [target], np.array([[1.0, 1.0], [0.0, 1.0]]), 100)
    assert (p >= 0).all()
    assert p[1, 0] == 0
    assert p[0, 1] > 0


@given(SEEDS)
def test_a_column_is_the_constrained_least_squares_of_all_that_is_known_about_it(seed: int) -> None:
    domain, n = domain_of(5, 3, 2), 1000
    counts = joint(domain, n, seed)
    answers = [
        measure(domain, counts, ("a",), 10, seed),
        measure(domain, counts, ("b", "a"), 7, seed + 1, coarse=True),
        measure(domain, counts, ("a", "b", "c"), 3, seed + 2),
        measure(domain, counts, ("b",), 1, seed + 3),
    ]
    found, variances = column("a", 5, answers, n)
    lines, values = [], []
    for answer in answers[:3]:
        shadow = answer.onto(("a",))
        for g in range(len(shadow.counts)):
            centred = shadow.counts[g] + (n - shadow.counts.sum()) / len(shadow.counts)
            lines.append((shadow.groups[0] == g) / shadow.variance**0.5)
            values.append(centred / shadow.variance**0.5)
    basis = np.vstack([np.eye(4), -np.ones(4)])
    some = np.full(5, n / 5)
    a = np.array(lines) @ basis
    best = some + basis @ np.linalg.lstsq(a, np.array(values) - np.array(lines) @ some, rcond=None)[0]
    assert found == pytest.approx(best, rel=1e-4, abs=1e-3)
    assert variances == pytest.approx(np.diag(basis @ np.linalg.inv(a.T @ a) @ basis.T), rel=1e-3)


def test_exact_measurements_are_met_exactly() -> None:
    domain, n = domain_of(4, 3, 5), 10_000
    counts = joint(domain, n, 3)
    answers = [measure(domain, counts, pair, 0) for pair in combinations("abc", 2)]
    found = estimate(domain, answers, n, np.ones(domain.shape))
    for pair in combinations("abc", 2):
        assert tabled(domain, found, pair) == pytest.approx(tabled(domain, counts, pair), rel=0.02, abs=2)


def test_overlapping_measurements_are_better_than_the_best_of_them() -> None:
    """A fine table of a column, and its shadow in a coarse table: mean squared errors over 200 draws."""
    domain, n = domain_of(6, 6), 50_000
    counts = joint(domain, n, 4)
    truth, before = tabled(domain, counts, ("a",)), {name: np.full(6, n / 6) for name in "ab"}
    errors = np.zeros(2)
    for seed in range(200):
        fine = measure(domain, counts, ("a",), 40, seed)
        coarse = measure(domain, counts, ("a", "b"), 10, seed + 1000, coarse=True)
        for place, answers in enumerate([[fine], [fine, coarse]]):
            errors[place] += ((columns(before, answers, n)["a"] - truth) ** 2).sum()
    assert errors[1] < 0.9 * errors[0]


@settings(max_examples=20)
@given(SEEDS, st.sampled_from([0.0, 5.0, 500.0]))
def test_an_estimate_has_n_records_and_none_where_the_start_has_none(seed: int, deviation: float) -> None:
    domain, n = domain_of(4, 3, 2), 500
    start = (np.random.default_rng(seed).random(domain.shape) < 0.7).astype(np.float64)
    start.flat[0] = 1
    counts = joint(domain, n, seed)
    answers = [
        measure(domain, counts, ("a", "b", "c"), deviation, seed),
        measure(domain, counts, ("b",), 3, seed),
    ]
    found = estimate(domain, answers, n, start)
    assert found.sum() == pytest.approx(n)
    assert (found >= 0).all()
    assert not found[start == 0].any()


def test_noise_on_independent_columns_is_taken_for_noise() -> None:
    """The fitted pair is closer to independent columns than its measurement is, several times."""
    domain, n = domain_of(5, 6), 100_000
    a, b = joint(domain_of(5), 1, 1), joint(domain_of(6), n, 2)
    counts = np.outer(a, b)
    answer = measure(domain, counts, ("a", "b"), 300, 5)
    found = estimate(
        domain,
        [answer, measure(domain, counts, ("a",), 1), measure(domain, counts, ("b",), 1)],
        n,
        np.ones((5, 6)),
    )
    assert 2 * np.abs(found - counts).sum() < np.abs(answer.counts - counts).sum()


def test_a_prior_helps_where_noise_is_large_and_yields_where_it_is_wrong() -> None:
    domain, n = domain_of(6), 100_000
    truth = joint(domain, n, 8)
    answer = measure(domain, truth, ("a",), 400, 9)
    good = {"a": truth * (1 + 0.005 * np.array([1, -1, 1, -1, 1, -1]))}
    bad = {"a": truth[::-1].copy()}

    def error(before: dict[str, Floats]) -> float:
        leaning = Leaning(50_000, {}, {"a": 2 / before["a"]})
        return float(np.abs(columns(before, [answer], n, leaning)["a"] - truth).sum())

    alone = float(np.abs(columns({"a": np.full(6, n / 6)}, [answer], n)["a"] - truth).sum())
    assert error(good) < 0.7 * alone
    assert error(bad) < 1.3 * alone


def test_dependent_pairs_are_told_from_independent_ones() -> None:
    domain, n = domain_of(4, 4, 3), 20_000
    counts = np.einsum("ij,k->ijk", np.eye(4) * 3 + 1, np.array([1.0, 2.0, 1.0]))
    counts *= n / counts.sum()
    answer = measure(domain, counts, ("a", "b", "c"), 30, 3)
    margins = {name: tabled(domain, counts, (name,)) for name in "abc"}
    found = strengths([answer], margins, n)
    assert max(found, key=lambda pair: found[pair]) == ("a", "b")
    assert found["a", "b"] > 10 * max(found["a", "c"], found["b", "c"], 1)

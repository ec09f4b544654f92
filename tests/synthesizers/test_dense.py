import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.shaping.sampling import Sampling
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.dense import Dense, Expected, possible, rounded, smoothed
from facsimile.synthesizers.leaning import Leaning
from facsimile.table.domain import Domain
from facsimile.table.fit import fit
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain

SEEDS = st.integers(0, 2**32)


def domain_of(*shape: int) -> Domain:
    bins = [tuple(CategoryBin(str(i), frozenset([str(i)])) for i in range(size)) for size in shape]
    return Domain(tuple(Axis(name, b) for name, b in zip("abcdef", bins, strict=False)))


@given(st.integers(0, 300), st.sampled_from(["iid", "systematic"]), SEEDS)
def test_a_sample_has_exactly_n_records_on_cells_with_mass(n: int, sampling: Sampling, seed: int) -> None:
    domain = domain_of(3, 2, 4)
    random = np.random.default_rng(seed)
    mass = random.gamma(1.0, size=domain.shape) * (random.random(domain.shape) < 0.6)
    mass[0, 0, 0] = 1
    table = Dense(domain, mass).sample(n, random, sampling)
    assert table.n == n
    assert table.domain == domain
    assert (mass[tuple(table.codes.T)] > 0).all()


def test_a_marginal_has_the_order_of_its_columns() -> None:
    domain = domain_of(2, 3)
    mass = np.arange(6.0).reshape(2, 3)
    assert Dense(domain, mass).marginal(("b", "a")).tolist() == mass.T.tolist()


def test_cells_are_possible_unless_a_rule_excludes_them() -> None:
    domain = domain_of(2, 3, 2)
    mask = np.zeros((2, 2), np.bool_)
    mask[1, 0] = True
    found = possible(domain, [(("c", "a"), mask)])
    assert not found[0, :, 1].any()
    assert found.sum() == 12 - 3
    assert possible(domain, [(("a",), np.ones(2, np.bool_))]).all()


@given(SEEDS, st.integers(0, 200))
def test_a_smoothed_prior_has_mass_on_every_allowed_cell_and_nowhere_else(seed: int, n: int) -> None:
    domain = domain_of(3, 1, 4)
    random = np.random.default_rng(seed)
    prior = Table.from_rows(domain, random.integers(0, domain.shape, (n, 3)))
    allowed = random.random(domain.shape) < 0.7
    allowed[0, 0, 0] = True
    found = smoothed(prior, Leaning.on(prior).shares, allowed)
    assert found.sum() == pytest.approx(1)
    assert ((found > 0) <= allowed).all()


def test_a_large_prior_keeps_its_dependence_and_a_small_one_loses_chance() -> None:
    domain = domain_of(3, 3)
    strong = Table.from_rows(domain, [[0, 0], [1, 1], [2, 2], [0, 1]], [400, 300, 300, 100])
    assert smoothed(strong, Leaning.on(strong).shares, np.ones((3, 3), np.bool_))[0, 0] == pytest.approx(
        400 / 1100, rel=0.05
    )
    weak = Table.from_rows(domain, [[0, 0], [1, 1], [2, 2], [0, 1], [1, 0], [1, 2]], [2, 2, 1, 1, 1, 1])
    found = smoothed(weak, Leaning.on(weak).shares, np.ones((3, 3), np.bool_))
    assert found == pytest.approx(np.outer(found.sum(axis=1), found.sum(axis=0)), rel=0.2)


DOMAIN = small_domain(2, 3, 2)


def test_cells_begin_evenly_where_rows_are_allowed() -> None:
    mask = np.array([[True, False], [False, False], [True, True]])
    cells = Expected(DOMAIN, Known(60, ((("b", "a"), mask),)))
    assert cells.counts.sum() == pytest.approx(60)
    assert (cells.marginal(("b", "a")) == np.where(mask, 0, 20)).all()
    assert rounded(cells.marginal(("c",))).tolist() == [30, 30]


def test_scaling_keeps_the_number_of_records() -> None:
    cells = Expected(DOMAIN, Known(100))
    cells.scale(("c", "a"), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert cells.marginal(("c", "a")) == pytest.approx(np.array([[10.0, 20.0], [30.0, 40.0]]))


def test_scaling_that_would_leave_nothing_changes_nothing() -> None:
    """Noisy marginals may contradict each other: mass only where another had none left."""
    cells = Expected(DOMAIN, Known(60))
    cells.scale(("a",), np.array([1.0, 0.0]))
    before = cells.counts.copy()
    cells.scale(("a",), np.array([0.0, 5.0]))
    assert (cells.counts == before).all()
    cells.match([(("a",), np.array([0.0, 60.0])), (("c",), np.array([0.0, 60.0]))], 3, 1e-4)
    assert cells.marginal(("c",)) == pytest.approx([0.0, 60.0]) and cells.counts.sum() == pytest.approx(60)


def test_matching_is_iterative_proportional_fitting() -> None:
    truth = np.random.default_rng(1).random((2, 3, 2))
    targets = [(("b", "a"), truth.sum(axis=2).T), (("b", "c"), truth.sum(axis=0))]
    cells = Expected(DOMAIN, Known(1_000))
    cells.match([(clique, 1_000 * t / t.sum()) for clique, t in targets], 100, 1e-9)
    assert cells.counts == pytest.approx(1_000 * fit(DOMAIN, targets, sweeps=100, tolerance=1e-9), rel=1e-6)
    assert cells.model().marginal(("b", "a")) == pytest.approx(1_000 * targets[0][1] / truth.sum(), rel=1e-6)

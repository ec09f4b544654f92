from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.fit import fit, tabled
from facsimile.testing.neighbours import small_domain

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def domain_of(shape: tuple[int, ...]) -> Domain:
    return Domain(
        tuple(
            Axis(name, tuple(CategoryBin(str(i), frozenset([str(i)])) for i in range(size)))
            for name, size in zip("abcd", shape, strict=False)
        )
    )


def joint_of(shape: tuple[int, ...], seed: int) -> Floats:
    p: Floats = np.random.default_rng(seed).gamma(1.0, size=shape) + 0.01
    p /= p.sum()
    return p


def marginal(p: Floats, domain: Domain, clique: Clique) -> Floats:
    """The marginal of a distribution, its axes in the order of the clique."""
    kept = [domain.place(name) for name in clique]
    summed: Floats = p.sum(axis=tuple(place for place in range(p.ndim) if place not in kept))
    return np.transpose(summed, [sorted(kept).index(place) for place in kept])


def cliques_of(domain: Domain, ways: int) -> list[Clique]:
    return [clique for k in range(1, ways + 1) for clique in combinations(domain.names, k)]


def entropy(p: Floats) -> float:
    present = p[p > 0]
    return float(-(present * np.log(present)).sum())


@given(SHAPES, st.integers(0, 2**32))
def test_consistent_marginals_are_matched_and_nothing_else_is_claimed(
    shape: tuple[int, ...], seed: int
) -> None:
    domain, joint = domain_of(shape), joint_of(shape, seed)
    targets = [(clique, marginal(joint, domain, clique)) for clique in cliques_of(domain, 2)]
    p = fit(domain, targets, sweeps=2000, tolerance=1e-9)
    assert p.shape == shape
    assert p.sum() == pytest.approx(1)
    for clique, target in targets:
        assert marginal(p, domain, clique) == pytest.approx(target, abs=1e-6)
    assert entropy(p) >= entropy(joint) - 1e-6


@given(SHAPES, st.integers(0, 2**32))
def test_independent_margins_give_their_product(shape: tuple[int, ...], seed: int) -> None:
    domain = domain_of(shape)
    margins = [joint_of((size,), seed + place) for place, size in enumerate(shape)]
    p = fit(domain, [((name,), margin) for name, margin in zip(domain.names, margins, strict=True)])
    product = np.ones(())
    for margin in margins:
        product = np.multiply.outer(product, margin)
    assert p == pytest.approx(product, rel=1e-9)


@given(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)), st.integers(0, 2**32))
def test_a_chain_has_its_closed_form(shape: tuple[int, int, int], seed: int) -> None:
    domain, joint = domain_of(shape), joint_of(shape, seed)
    ab, bc, b = (marginal(joint, domain, clique) for clique in (("a", "b"), ("b", "c"), ("b",)))
    p = fit(domain, [(("a", "b"), ab), (("b", "c"), bc)])
    assert p == pytest.approx(ab[:, :, None] * bc[None, :, :] / b[None, :, None], rel=1e-9)


@given(SHAPES, st.integers(0, 2**32), st.floats(0.1, 0.9))
def test_structural_zeros_stay_zero(shape: tuple[int, ...], seed: int, share: float) -> None:
    domain = domain_of(shape)
    allowed = np.random.default_rng(seed).random(shape) >= share
    allowed.flat[0] = True
    joint = np.where(allowed, joint_of(shape, seed), 0)
    joint /= joint.sum()
    targets = [(clique, marginal(joint, domain, clique)) for clique in cliques_of(domain, 2)]
    p = fit(domain, targets, allowed, sweeps=2000, tolerance=1e-9)
    assert not p[~allowed].any()
    for clique, target in targets:
        assert marginal(p, domain, clique) == pytest.approx(target, abs=1e-4)


def test_a_cycle_of_tables_converges_without_a_three_way_interaction() -> None:
    domain, joint = domain_of((2, 2, 2)), joint_of((2, 2, 2), 7)
    targets = [(clique, marginal(joint, domain, clique)) for clique in (("a", "b"), ("b", "c"), ("a", "c"))]
    p = fit(domain, targets)
    for clique, target in targets:
        assert marginal(p, domain, clique) == pytest.approx(target, abs=1e-6)
    odds = p[0, 0] * p[1, 1] / (p[0, 1] * p[1, 0])
    assert odds[0] == pytest.approx(odds[1], rel=1e-4)
    before = joint[0, 0] * joint[1, 1] / (joint[0, 1] * joint[1, 0])
    assert before[0] != pytest.approx(before[1], rel=0.1)


def test_targets_may_be_in_percent_and_in_any_order_of_columns() -> None:
    domain, joint = domain_of((2, 3, 4)), joint_of((2, 3, 4), 1)
    plain = fit(domain, [(("a", "c"), marginal(joint, domain, ("a", "c")))])
    turned = fit(domain, [(("c", "a"), 100 * marginal(joint, domain, ("c", "a")))])
    assert turned == pytest.approx(plain)


def test_where_targets_disagree_the_last_is_matched() -> None:
    domain = domain_of((2, 2))
    p = fit(domain, [(("a", "b"), np.array([[40.0, 10], [10, 40]])), (("a",), np.array([30.0, 70]))])
    assert p.sum(axis=1) == pytest.approx([0.3, 0.7])


@pytest.mark.parametrize("allowed", [np.zeros((2, 2), np.bool_), np.array([[True, True], [False, False]])])
def test_where_nothing_is_possible_all_is_zero(allowed: np.typing.NDArray[np.bool_]) -> None:
    p = fit(domain_of((2, 2)), [(("a",), np.array([0.0, 1.0]))], allowed)
    assert not p.any()


def test_without_targets_the_allowed_cells_are_equally_likely() -> None:
    allowed = np.array([[True, False], [True, True]])
    assert fit(domain_of((2, 2)), [], allowed) == pytest.approx(allowed / 3)
    assert fit(domain_of((2, 2)), []) == pytest.approx(np.full((2, 2), 0.25))


def test_a_table_has_its_columns_in_the_order_given() -> None:
    p = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(tabled(small_domain(2, 3, 4), p, ("c", "a", "b")), p.transpose(2, 0, 1))

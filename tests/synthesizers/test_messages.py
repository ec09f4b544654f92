import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.synthesizers.junction import JunctionTree, junction_tree
from facsimile.synthesizers.messages import Flow, Term, fitted
from facsimile.table.domain import Clique
from facsimile.table.exact import Floats
from facsimile.table.fit import ratio, spread
from synthesizers.test_junction import domain_of, quick

NAMES = tuple("abcd")
CLIQUES: list[Clique] = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("a",), ("b", "c", "d")]
SOME = st.lists(st.sampled_from(CLIQUES), min_size=1, max_size=4, unique=True)
SIZES = st.tuples(*[st.integers(1, 3)] * 4)


def factors_of(tree: JunctionTree, seed: int) -> list[Floats]:
    random = np.random.default_rng(seed)
    return [random.gamma(0.7, size=tree.domain.project(bag).shape) for bag in tree.bags]


def product_of(tree: JunctionTree, factors: list[Floats]) -> Floats:
    joint: Floats = np.ones((1,) * 4)
    for bag, factor in zip(tree.bags, factors, strict=True):
        joint = joint * spread(factor, bag, NAMES)
    return np.broadcast_to(joint, tree.domain.shape)


def summed(joint: Floats, clique: Clique) -> Floats:
    found: Floats = joint.sum(axis=tuple(place for place, name in enumerate(NAMES) if name not in clique))
    return found


@quick
@given(SIZES, SOME, st.integers(0, 10_000))
def test_settled_bags_are_the_marginals_of_the_product(
    sizes: tuple[int, ...], cliques: list[Clique], seed: int
) -> None:
    tree = junction_tree(domain_of(sizes, NAMES), cliques)
    factors = factors_of(tree, seed)
    joint = product_of(tree, factors)
    flow = Flow(tree, [factor.copy() for factor in factors])
    flow.settle(7.0)
    for bag, found in zip(tree.bags, flow.counts, strict=True):
        assert found == pytest.approx(summed(joint, bag) * 7 / joint.sum(), abs=1e-9)


@quick
@given(SIZES, SOME, st.integers(0, 10_000))
def test_the_fit_is_where_the_gradient_vanishes(
    sizes: tuple[int, ...], cliques: list[Clique], seed: int
) -> None:
    """ln p − ln start = Σ_C (y_C − p_C)/s_C + constant, in every cell."""
    random = np.random.default_rng(seed)
    domain = domain_of(sizes, NAMES)
    tree = junction_tree(domain, cliques)
    start = factors_of(tree, seed)
    before = product_of(tree, start)
    targets = {clique: random.normal(5, 9, domain.project(clique).shape) for clique in cliques}
    softness = {clique: float(random.uniform(3, 30)) for clique in cliques}
    terms: dict[int, list[Term]] = {}
    for clique in cliques:
        place = tree.holding(clique)
        assert place is not None
        terms.setdefault(place, []).append(Term(tree.bags[place], clique, targets[clique], softness[clique]))
    counts = fitted(tree, [factor.copy() for factor in start], terms, 20.0, 1, 5000, 1e-12)
    found: Floats = np.ones((1,) * 4)
    for bag, separator, factor in zip(tree.bags, tree.separators, counts, strict=True):
        others = tuple(place for place, name in enumerate(bag) if name not in separator)
        found = found * spread(ratio(factor, factor.sum(axis=others, keepdims=True)), bag, NAMES)
    found = np.broadcast_to(found * 20, domain.shape)
    gap = np.log(found) - np.log(before)
    for clique in cliques:
        step = (targets[clique] - summed(found, clique)) / softness[clique]
        gap = gap - spread(step, clique, NAMES)
    assert gap == pytest.approx(gap.flat[0], abs=1e-5)


def test_a_product_without_mass_is_refused() -> None:
    tree = junction_tree(domain_of((2, 2, 2, 2), NAMES), [("a", "b")])
    with pytest.raises(ValueError, match="every row"):
        Flow(tree, [np.zeros(tree.domain.project(bag).shape) for bag in tree.bags]).settle(1.0)

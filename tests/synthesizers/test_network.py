from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.shaping.sampling import Sampling
from facsimile.synthesizers.network import Network, Node, ruled_out
from facsimile.table.exact import Floats
from facsimile.testing.laws import fits
from facsimile.testing.neighbours import small_domain

HALVES = (0, 1, 1)


def chain(random: np.random.Generator) -> Network:
    """b given a; c given a coarser b and a."""
    domain = small_domain(2, 3, 2)
    return Network(
        domain,
        (
            Node.of("a", (), random.random(2)),
            Node.of("b", (("a", None),), random.random((2, 3))),
            Node.of("c", (("b", HALVES), ("a", None)), random.random((2, 2, 2))),
        ),
    )


def law(network: Network) -> Floats:
    """P(row) by its definition."""
    a, b, c = (node.law for node in network.nodes)
    p = np.zeros((2, 3, 2))
    for x, y, z in product(range(2), range(3), range(2)):
        p[x, y, z] = a[0, x] * b[x, y] * c[HALVES[y] * 2 + x, z]
    return p


@pytest.mark.parametrize("seed", range(3))
def test_independent_draws_have_the_law_of_the_network(seed: int) -> None:
    """Chi-square at one in a million."""
    network = chain(np.random.default_rng(seed))
    drawn = network.sample(20_000, np.random.default_rng(seed), "iid")
    assert fits(drawn.marginal(("a", "b", "c")).ravel(), law(network).ravel())


@pytest.mark.parametrize("seed", range(5))
def test_systematic_draws_stay_close_to_expected_counts_at_every_size(seed: int) -> None:
    network = chain(np.random.default_rng(seed))
    for n in (10, 1_000, 100_000):
        drawn = network.sample(n, np.random.default_rng(seed))
        assert drawn.n == n
        assert np.abs(drawn.marginal(("a", "b", "c")) - n * law(network)).max() < 12
        assert np.abs(drawn.marginal(("a",)) - n * law(network).sum((1, 2))).max() < 4


def test_systematic_draws_are_right_on_average() -> None:
    """Within 6.5 standard deviations of the mean of 1,500 independent draws: α < 1e-6."""
    network = chain(np.random.default_rng(1))
    random = np.random.default_rng(2)
    mean = sum(network.sample(7, random).marginal(("a", "b", "c")) for _ in range(1_500)) / 1_500
    assert np.abs(mean - 7 * law(network)).max() < 6.5 * np.sqrt(7 / 4 / 1_500)


def test_children_of_the_same_parents_are_independent_given_them() -> None:
    """A sequence that was used twice in the same order would tie them together."""
    domain = small_domain(2, 4, 4)
    even = np.full((2, 4), 0.25)
    nodes = (Node.of("a", (), np.ones(2)), Node("b", (("a", None),), even), Node("c", (("a", None),), even))
    drawn = Network(domain, nodes).sample(32_000, np.random.default_rng(1))
    assert np.abs(drawn.marginal(("a", "b", "c")) - 1_000).max() < 12


@pytest.mark.parametrize("sampling", ["iid", "systematic"])
def test_zeros_are_drawn_again(sampling: Sampling) -> None:
    free = chain(np.random.default_rng(4))
    mask = np.array([[True, False], [False, True], [False, False]])
    network = Network(free.domain, free.nodes, ((("b", "a"), mask),))
    drawn = network.sample(30_000, np.random.default_rng(1), sampling)
    allowed = law(free) * ~mask.T[:, :, None]
    assert drawn.n == 30_000
    assert not drawn.marginal(("b", "a"))[mask].any()
    assert np.abs(drawn.marginal(("a", "b", "c")) / 30_000 - allowed / allowed.sum()).max() < 0.02


def test_a_network_that_allows_nothing_falls_back_to_any_allowed_row() -> None:
    domain = small_domain(2, 2)
    never = np.array([1.0, 0.0])
    mask = np.array([True, False])
    network = Network(domain, (Node.of("a", (), never), Node.of("b", (), never)), ((("a",), mask),))
    drawn = network.sample(50, np.random.default_rng(1))
    assert drawn.n == 50
    assert (drawn.column("a") == 1).all()
    with pytest.raises(ValueError, match="every row"):
        Network(domain, network.nodes, ((("a",), np.ones(2, np.bool_)),)).sample(1, np.random.default_rng(1))


@settings(max_examples=50)
@given(st.integers(0, 10_000))
def test_codes_without_mass_are_never_drawn(seed: int) -> None:
    random = np.random.default_rng(seed)
    joint = random.random((6, 5)) * (random.random((6, 5)) < 0.4)
    domain = small_domain(6, 5)
    network = Network(domain, (Node.of("a", (), joint.sum(axis=1)), Node.of("b", (("a", None),), joint)))
    if joint.any():
        for sampling in ("iid", "systematic"):
            drawn = network.sample(200, random, sampling)
            assert not drawn.marginal(("a", "b"))[joint == 0].any()


def test_a_wide_table_never_forms_its_domain() -> None:
    domain = small_domain(*(10,) * 26)
    random = np.random.default_rng(1)
    names = domain.names
    nodes = [Node.of(names[0], (), np.ones(10))]
    nodes += [Node.of(b, ((a, None),), random.random((10, 10))) for a, b in pairwise(names)]
    assert Network(domain, tuple(nodes)).sample(5_000, random).n == 5_000


def test_a_line_without_mass_takes_the_law_of_the_column() -> None:
    node = Node.of("b", (("a", None),), np.array([[0.0, 0.0], [1.0, 3.0]]))
    assert node.law.tolist() == [[0.25, 0.75], [0.25, 0.75]]
    assert Node.of("b", (), np.zeros(2)).law.tolist() == [[0.5, 0.5]]


def test_a_row_is_ruled_out_where_one_zero_holds_it() -> None:
    domain = small_domain(2, 3, 2)
    mask = np.zeros((3, 2), np.bool_)
    mask[1:, 0] = True
    mask[2, 1] = True
    rows = np.array([[0, 1, 0], [0, 0, 1], [1, 2, 1]])
    assert ruled_out(((("b", "a"), mask),), domain, rows).tolist() == [True, False, True]

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers.junction import JunctionTree, fitting, joining, junction_tree, said
from facsimile.table.domain import Clique, Domain
from facsimile.table.measurement import Measurement
from facsimile.table.table import Table

NAMES = tuple("abcdefgh")
CLIQUES = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).map(tuple), max_size=8)
SIZES = st.tuples(*[st.integers(1, 4)] * len(NAMES))


quick = settings(deadline=None, max_examples=40)


def domain_of(sizes: tuple[int, ...], names: Clique = NAMES) -> Domain:
    axes = [
        Axis(name, tuple(CategoryBin(str(i), frozenset([str(i)])) for i in range(size)))
        for name, size in zip(names, sizes, strict=True)
    ]
    return Domain(tuple(axes))


def tree_of(sizes: tuple[int, ...], cliques: Sequence[Clique]) -> JunctionTree:
    return junction_tree(domain_of(sizes), cliques)


@quick
@given(SIZES, CLIQUES)
def test_every_clique_and_every_column_lies_in_a_bag(sizes: tuple[int, ...], cliques: list[Clique]) -> None:
    tree = tree_of(sizes, cliques)
    for clique in [*cliques, *((name,) for name in NAMES)]:
        place = tree.holding(clique)
        assert place is not None
        assert set(clique) <= set(tree.bags[place])


@quick
@given(SIZES, CLIQUES)
def test_what_a_bag_shares_with_earlier_bags_lies_in_its_parent(
    sizes: tuple[int, ...], cliques: list[Clique]
) -> None:
    tree = tree_of(sizes, cliques)
    for place in range(1, len(tree.bags)):
        earlier = set().union(*tree.bags[:place])
        assert 0 <= tree.parents[place] < place
        assert set(tree.bags[place]) & earlier == set(tree.separators[place])


@quick
@given(SIZES, CLIQUES)
def test_no_bag_lies_in_another_and_columns_keep_their_order(
    sizes: tuple[int, ...], cliques: list[Clique]
) -> None:
    bags = tree_of(sizes, cliques).bags
    assert not any(set(one) <= set(other) for one in bags for other in bags if one != other)
    assert all(list(bag) == sorted(bag) for bag in bags)


@quick
@given(SIZES, CLIQUES)
def test_the_walk_goes_to_neighbours_and_ends_where_it_began(
    sizes: tuple[int, ...], cliques: list[Clique]
) -> None:
    tree = tree_of(sizes, cliques)
    walk = tree.walk
    assert set(walk) == set(range(len(tree.bags)))
    assert walk[0] == walk[-1] == 0
    assert all(tree.parents[max(a, b)] == min(a, b) for a, b in pairwise(walk))


@quick
@given(SIZES, CLIQUES, st.sets(st.sampled_from(NAMES), min_size=1, max_size=3))
def test_the_spanning_part_is_connected_and_holds_the_columns(
    sizes: tuple[int, ...], cliques: list[Clique], wanted: set[str]
) -> None:
    tree = tree_of(sizes, cliques)
    places = tree.spanning(wanted)
    assert wanted <= set().union(*(tree.bags[place] for place in places))
    assert all(tree.parents[place] in places for place in places[1:])


def test_a_chain_of_pairs_needs_no_larger_bag() -> None:
    chain = list(pairwise(NAMES))
    assert tree_of((3,) * 8, chain).cells == 7 * 9


def test_a_cycle_of_pairs_needs_triples() -> None:
    cycle = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    assert max(len(bag) for bag in tree_of((2,) * 8, cycle).bags) == 3


DOMAIN = domain_of((3,) * 8)
TRIPLES = list(combinations(NAMES, 3))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(TRIPLES), min_size=1, max_size=12, unique=True), st.integers(27, 500))
def test_the_tree_stays_within_its_bound_and_every_column_is_kept(
    cliques: list[tuple[str, ...]], largest: int
) -> None:
    random = np.random.default_rng(1)
    answers = [
        Measurement.fine(clique, random.poisson(9, (3, 3, 3)).astype(np.float64), 2.0) for clique in cliques
    ]
    kept = fitting(DOMAIN, [], answers, 243, largest)
    assert junction_tree(DOMAIN, [answer.columns for answer in kept]).cells <= largest
    assert set().union(*(answer.columns for answer in kept)) == set().union(*cliques)


def test_what_says_least_gives_way_first() -> None:
    random = np.random.default_rng(1)
    table = random.integers(0, 3, (2000, 8))
    table[:, 1] = table[:, 0]
    table[:, 2] = table[:, 0]
    counts = Table.from_rows(DOMAIN, table)
    pairs = list(combinations(NAMES, 2))
    answers = [Measurement.fine(pair, counts.marginal(pair).astype(np.float64), 2.0) for pair in pairs]
    kept = fitting(DOMAIN, [], answers, 2000, 60)
    found = {answer.columns for answer in kept}
    assert {("a", "b"), ("a", "c"), ("b", "c")} <= found
    assert found < {*pairs, *((name,) for name in NAMES)}


def test_independent_columns_say_nothing_and_noise_less() -> None:
    product = np.outer([1.0, 2.0, 3.0], [4.0, 5.0]) / 9
    assert abs(said(product, 0.0, 6)) < 1e-9
    assert said(product, 1.0, 6) < -5


def test_a_prior_joins_what_depends_most() -> None:
    random = np.random.default_rng(1)
    rows = random.integers(0, 3, (500, 8))
    rows[:, 7] = rows[:, 0]
    pairs = joining(Table.from_rows(DOMAIN, rows), [("b", "c")])
    assert pairs[0] == ("a", "h")
    assert len(pairs) == 6

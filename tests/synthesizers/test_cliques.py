from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.synthesizers.cliques import fitting, joining, said
from facsimile.synthesizers.interactions import measured
from facsimile.synthesizers.junction import junction_tree
from facsimile.table.table import Table
from synthesizers.test_junction import NAMES, domain_of

DOMAIN = domain_of((3,) * 8)
TRIPLES = list(combinations(NAMES, 3))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(TRIPLES), min_size=1, max_size=12, unique=True), st.integers(27, 500))
def test_the_tree_stays_within_its_bound_and_every_column_is_kept(
    cliques: list[tuple[str, ...]], largest: int
) -> None:
    random = np.random.default_rng(1)
    answers = measured(DOMAIN, [(clique, random.poisson(9, (3, 3, 3)), 1.0) for clique in cliques])
    kept = fitting(DOMAIN, [], answers, 243, largest)
    assert junction_tree(DOMAIN, [answer.clique for answer in kept]).cells <= largest
    assert set().union(*(answer.clique for answer in kept)) == set().union(*cliques)


def test_what_says_least_gives_way_first() -> None:
    random = np.random.default_rng(1)
    table = random.integers(0, 3, (2000, 8))
    table[:, 1] = table[:, 0]
    table[:, 2] = table[:, 0]
    counts = Table.from_rows(DOMAIN, table)
    pairs = list(combinations(NAMES, 2))
    kept = fitting(DOMAIN, [], measured(DOMAIN, [(p, counts.marginal(p), 1.0) for p in pairs]), 2000, 60)
    found = {answer.clique for answer in kept}
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

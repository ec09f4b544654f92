from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import Dependences
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.network import Network
from facsimile.synthesizers.privbayes import MOST_CANDIDATES, Levels, PrivBayes, maximal
from facsimile.testing.synthesizers import fitted, table_of

ONE = Fraction(1)


def levels_of(sizes: list[list[int]]) -> list[Levels]:
    """Columns by number; a version of size s is marked by s groups."""
    return [
        tuple(((str(i), None if k == 0 else tuple(range(s))), s) for k, s in enumerate(sorted(column)[::-1]))
        for i, column in enumerate(sizes)
    ]


columns = st.lists(st.lists(st.integers(2, 6), min_size=1, max_size=3, unique=True), max_size=4)


@settings(max_examples=200)
@given(columns, st.integers(1, 150))
def test_maximal_sets_are_those_to_which_nothing_can_be_added_or_refined(
    sizes: list[list[int]], cells: int
) -> None:
    levels = levels_of(sizes)
    choices = [[None, *column] for column in levels]
    fitting = [
        frozenset(version for version in chosen if version is not None)
        for chosen in product(*choices)
        if prod(version[1] for version in chosen if version is not None) <= cells
    ]

    def finer(one: frozenset[object], other: frozenset[object]) -> bool:
        """Whether `one` has every column of `other`, as fine or finer, and differs."""
        mine = {version[0][0]: version[1] for version in one}  # type: ignore[index]
        theirs = {version[0][0]: version[1] for version in other}  # type: ignore[index]
        return one != other and all(name in mine and mine[name] >= size for name, size in theirs.items())

    best = {frozenset(v for v, _ in s) for s in fitting if not any(finer(t, s) for t in fitting)}
    found = maximal(levels, cells, np.random.default_rng(1))
    assert {frozenset(s) for s in found} == best
    assert len(found) == len(best)


def test_where_sets_are_too_many_some_maximal_ones_are_drawn() -> None:
    levels = levels_of([[2]] * 30)
    found = maximal(levels, 1 << 9, np.random.default_rng(1))
    assert 1 < len(found) <= MOST_CANDIDATES
    assert {len(s) for s in found} == {9}


@pytest.mark.parametrize("theta", [1, 4, 50, 10**6])
def test_theta_bounds_the_cells_of_every_table(theta: int) -> None:
    table = table_of((4, 3, 5, 2), 2_000)
    coarser = {"c": ((0, 0, 1, 1, 1),)}
    run = fitted(PrivBayes("theta", Fraction(theta)), table, Known(2_000, coarser=coarser), ONE)
    most = 2_000 * Fraction(9, 10) / (2 * 4 * theta)
    assert isinstance(run.model, Network)
    for node in run.model.nodes:
        assert node.law.size <= max(most, node.law.shape[1])


shares = st.fractions(Fraction(1, 100), Fraction(99, 100))
amounts = st.fractions(Fraction(1, 100), Fraction(200))


@given(st.integers(2, 10**9), st.integers(1, 40), amounts, amounts, shares)
def test_theta_of_the_code_is_theta_at_a_split_of_a_half_only(
    n: int, columns: int, epsilon: Fraction, theta: Fraction, split: Fraction
) -> None:
    """The code: ep * size / (4.0 * dim * theta); ours has the epsilon that is left for the tables."""
    half = [PrivBayes(flavour, theta, epsilon_split=Fraction(1, 2)) for flavour in ("theta", "theta-code")]
    assert half[0].most_cells(n, columns, epsilon) == half[1].most_cells(n, columns, epsilon)
    code = PrivBayes("theta-code", theta, epsilon_split=split).most_cells(n, columns, epsilon)
    assert code == half[1].most_cells(n, columns, epsilon) == int(n * epsilon / (4 * columns * theta))
    ours = PrivBayes("theta", theta, epsilon_split=split).most_cells(n, columns, epsilon)
    assert ours == int(n * epsilon * (1 - split) / (2 * columns * theta))
    assert code <= ours if split < Fraction(1, 2) else code >= ours


@pytest.mark.parametrize(
    ("split", "theta", "parents"), [("0.1", 5, (2, 1)), ("0.5", 5, (1, 1)), ("0.7", 10, (0, 1))]
)
def test_the_network_differs_where_the_bounds_do(split: str, theta: int, parents: tuple[int, int]) -> None:
    """Columns of 4 values: one parent takes 16 cells, two take 64. Allowed are 72 or 40, 40 or 40, 12 or 20."""
    table = table_of((4, 4, 4), 2_400)
    for flavour, wanted in zip(("theta", "theta-code"), parents, strict=True):
        made = PrivBayes.of({"flavour": flavour, "theta": str(theta), "epsilon_split": split})
        found = fitted(made, table, Known(2_400), ONE).model
        assert isinstance(found, Network)
        assert max(len(node.parents) for node in found.nodes) == wanted


def test_degree_bounds_the_parents_and_all_are_used() -> None:
    run = fitted(PrivBayes("degree", degree=2), table_of((4, 3, 5, 2)), Known(300), ONE)
    assert isinstance(run.model, Network)
    assert [len(node.parents) for node in run.model.nodes] == [0, 1, 2, 2]


def test_the_budget_is_split_as_declared() -> None:
    run = fitted(
        PrivBayes("theta", Fraction(1), epsilon_split=Fraction(1, 4)), table_of((4, 3, 5, 2)), Known(300), ONE
    )
    selections = [m.epsilon for m, _ in run.tape if isinstance(m, NoisySelection)]
    tables = [e for m, _ in run.tape if isinstance(m, NoisyMarginals) for _, e in m.marginals]
    assert len(tables) == 4
    assert len(set(tables)) == 1
    assert sum(selections) <= Fraction(1, 4)
    assert sum(selections) + sum(tables) == 1


def test_a_root_is_named_or_uniform() -> None:
    table = table_of((2, 3, 4))
    roots = [
        fitted(PrivBayes(root=root), table, Known(300), ONE, seed).model.nodes[0].column  # type: ignore[attr-defined]
        for root, seed in [("c", 1), *(("uniform", seed) for seed in range(30))]
    ]
    assert roots[0] == "c"
    assert set(roots[1:]) == {"a", "b", "c"}
    with pytest.raises(ValueError, match="no column"):
        PrivBayes(root="z").check(table.domain, 300, ONE)


def test_dependent_columns_find_each_other() -> None:
    """c is a copy of a; b is independent of both."""
    random = np.random.default_rng(1)
    table = table_of((4, 4, 4), 5_000)
    rows = random.integers(0, 4, (5_000, 3))
    rows[:, 2] = rows[:, 0]
    table = type(table).from_rows(table.domain, rows)
    run = fitted(PrivBayes(theta=Fraction(20), root="a"), table, Known(5_000), Fraction(4))
    parents = {node.column: [name for name, _ in node.parents] for node in run.model.nodes}  # type: ignore[attr-defined]
    assert "a" in parents["c"]
    drawn = run.model.sample(5_000, random).marginal(("a", "c"))
    assert np.trace(drawn) > 4_900


def test_a_large_parent_enters_in_a_coarser_version() -> None:
    table = table_of((3, 12), 2_000)
    groups = tuple(int(code >= 6) for code in range(12))
    known = Known(2_000, coarser={"b": (groups,)})
    run = fitted(PrivBayes(theta=Fraction(50), root="b"), table, known, ONE)
    assert run.model.nodes[1].parents == (("b", groups),)  # type: ignore[attr-defined]
    assert run.model.sample(100, np.random.default_rng(1)).domain == table.domain


def test_scores_are_asked_with_the_public_number_of_records() -> None:
    run = fitted(PrivBayes(), table_of((3, 3, 3)), Known(300), ONE)
    scores = [m.scores for m, _ in run.tape if isinstance(m, NoisySelection)]
    assert scores
    assert all(isinstance(s, Dependences) and s.n == 300 for s in scores)


def test_hyperparameters_come_as_text() -> None:
    text = {"flavour": "degree", "degree": "3", "epsilon_split": "0.7", "root": "uniform", "theta": "2.5"}
    assert PrivBayes.of(text) == PrivBayes("degree", Fraction(5, 2), 3, Fraction(7, 10), "uniform")
    assert PrivBayes.of({"root": "age"}).root == "age"
    assert PrivBayes.of({"flavour": "theta-code"}).flavour == "theta-code"
    for bad in ({"flavour": "mint"}, {"theta": "0"}, {"epsilon_split": "1"}, {"degree": "-1"}):
        with pytest.raises(ValueError):
            PrivBayes.of(bad)

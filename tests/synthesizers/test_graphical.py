import time
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.synthesizers.graphical import TreeTooLarge, estimate
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.fit import fit
from facsimile.table.measurement import Measurement
from facsimile.table.table import Table
from facsimile.testing.laws import fits
from synthesizers.test_junction import domain_of

NAMES = tuple("abcde")
PAIRS = list(combinations(NAMES, 2))
SIZES = st.tuples(*[st.integers(1, 3)] * 5)
SOME = st.lists(
    st.sampled_from([*PAIRS, *combinations(NAMES, 3), *((name,) for name in NAMES)]), max_size=6, unique=True
)
quick = settings(deadline=None, max_examples=25)


def records(sizes: tuple[int, ...], n: int, seed: int) -> Table:
    """Records whose neighbouring columns tend to agree."""
    random = np.random.default_rng(seed)
    latent = np.cumsum(random.normal(size=(n, len(sizes))), axis=1)
    ranks = latent.argsort(axis=0).argsort(axis=0)
    names = NAMES if len(sizes) == len(NAMES) else tuple(f"c{place:02}" for place in range(len(sizes)))
    return Table.from_rows(domain_of(sizes, names), ranks * np.array(sizes) // n)


def noisy(table: Table, cliques: list[Clique], scale: float, seed: int) -> list[Measurement]:
    random = np.random.default_rng(seed)
    sizes = table.domain.sizes
    return [
        exact(clique, np.rint(table.marginal(clique) + random.laplace(0, scale, sizes(clique))), scale)
        for clique in cliques
    ]


def exact(clique: Clique, counts: npt.ArrayLike, scale: float = 0.0) -> Measurement:
    return Measurement.fine(clique, np.asarray(counts, np.float64), 2 * scale**2)


def summed(p: Floats, domain: Domain, clique: Clique) -> Floats:
    found: Floats = p.sum(axis=tuple(place for place, name in enumerate(domain.names) if name not in clique))
    return found


def distance(one: Floats, other: Floats, n: int) -> float:
    return float(np.abs(one - other).sum()) / (2 * n)


@quick
@given(SIZES, SOME, st.integers(0, 1000))
def test_exact_marginals_give_the_same_model_as_a_dense_fit(
    sizes: tuple[int, ...], cliques: list[Clique], seed: int
) -> None:
    table = records(sizes, 400, seed)
    domain = table.domain
    model = estimate(
        domain, [exact(clique, table.marginal(clique)) for clique in cliques], [], 400, sweeps=2000
    )
    dense = fit(domain, [(c, table.marginal(c).astype(float)) for c in cliques], sweeps=2000, tolerance=1e-9)
    assert distance(model.marginal(domain.names), 400 * dense, 400) < 0.01


@quick
@given(SIZES, SOME, st.integers(0, 1000))
def test_any_marginal_is_a_sum_of_the_joint_one(
    sizes: tuple[int, ...], cliques: list[Clique], seed: int
) -> None:
    table = records(sizes, 300, seed)
    model = estimate(table.domain, noisy(table, cliques, 5.0, seed), [], 300)
    joint = model.marginal(NAMES)
    assert joint.sum() == pytest.approx(300)
    for clique in [*PAIRS, ("a", "c", "e"), ("d",)]:
        expected = summed(joint, table.domain, clique)
        assert model.marginal(clique) == pytest.approx(expected, abs=1e-6)
        assert model.marginal(clique[::-1]) == pytest.approx(
            expected.T if len(clique) < 3 else expected.transpose(2, 1, 0), abs=1e-6
        )


def masked(domain: Domain, clique: Clique, seed: int) -> tuple[Clique, Mask]:
    """Cells of a clique that may not occur: a whole row, and others by chance, but never the last."""
    mask = np.random.default_rng(seed).random(domain.project(clique).shape) < 0.4
    mask[0] = True
    mask.flat[-1] = False
    return clique, mask


@quick
@given(
    SIZES,
    SOME,
    st.lists(st.sampled_from(PAIRS), max_size=2, unique=True),
    st.sampled_from([0.0, 0.5, 30.0, 1e6]),
    st.sampled_from(["iid", "systematic"]),
    st.booleans(),
    st.integers(0, 1000),
)
def test_every_answer_gives_a_table_of_exactly_n_allowed_records(
    sizes: tuple[int, ...],
    cliques: list[Clique],
    tied: list[Clique],
    scale: float,
    sampling: str,
    informed: bool,
    seed: int,
) -> None:
    table = records(sizes, 200, seed)
    zeros = [masked(table.domain, clique, seed) for clique in tied]
    prior = records(sizes, 50, seed + 1) if informed else None
    model = estimate(table.domain, noisy(table, cliques, scale, seed), zeros, 200, prior)
    drawn = model.sample(123, np.random.default_rng(seed), sampling)  # type: ignore[arg-type]
    assert drawn.n == 123
    assert drawn.domain == table.domain
    for clique, mask in zeros:
        assert not drawn.marginal(clique)[mask].any()
        assert not model.marginal(clique)[mask].any()


@pytest.mark.parametrize("value", [-1e12, -50.0, 0.0, 1e12])
def test_counts_that_no_table_has_are_fitted_all_the_same(value: float) -> None:
    domain = domain_of((3, 3), ("a", "b"))
    wild = np.full((3, 3), value)
    wild[1, 1] = -value
    for scale in (0.0, 1.0):
        answers = [exact(("a", "b"), wild, scale), exact(("a",), [5, 5, -9], scale)]
        found = estimate(domain, answers, [], 10)
        assert np.isfinite(found.marginal(("a", "b"))).all()
        assert found.sample(10, np.random.default_rng(1)).n == 10


def test_without_answers_every_allowed_cell_is_alike() -> None:
    domain = domain_of((2, 3), ("a", "b"))
    mask = np.array([[True, True, True], [False, False, True]])
    assert estimate(domain, [], [(("a", "b"), mask)], 10).marginal(("a", "b")).tolist() == [
        [0, 0, 0],
        [5, 5, 0],
    ]


def test_rules_that_leave_nothing_or_need_too_much_are_refused() -> None:
    domain = domain_of((3,) * 5, NAMES)
    with pytest.raises(ValueError, match="every row"):
        estimate(domain, [], [(("a", "b"), np.ones((3, 3), np.bool_))], 10)
    with pytest.raises(TreeTooLarge):
        estimate(domain, [], [(NAMES, np.zeros((3,) * 5, np.bool_))], 10, largest=100)


def test_a_bound_on_the_tree_is_kept_and_columns_stay_right() -> None:
    table = records((3,) * 5, 1000, 1)
    model = estimate(table.domain, noisy(table, [*PAIRS], 1.0, 1), [], 1000, largest=60)
    assert model.tree.cells <= 60
    for name in NAMES:
        assert distance(model.marginal((name,)), table.marginal((name,)).astype(float), 1000) < 0.01
    assert distance(model.marginal(("a", "b")), table.marginal(("a", "b")).astype(float), 1000) < 0.02


def test_a_systematic_table_has_nearly_the_expected_counts_in_each_bag_given_its_parent() -> None:
    table = records((3, 2, 4, 3, 2), 1000, 1)
    model = estimate(table.domain, noisy(table, [("a", "b"), ("b", "c"), ("c", "d", "e")], 5.0, 1), [], 1000)
    drawn = model.sample(777, np.random.default_rng(1))
    for bag, separator in zip(model.tree.bags, model.tree.separators, strict=True):
        others = tuple(place for place, name in enumerate(bag) if name not in separator)
        share = model.marginal(bag) / model.marginal(bag).sum(axis=others, keepdims=True)
        counts = drawn.marginal(bag)
        assert (
            np.abs(counts - share * counts.sum(axis=others, keepdims=True)) < 1 + np.log2(counts.size)
        ).all()


def test_independent_draws_follow_the_model() -> None:
    table = records((3, 2, 2, 1, 2), 1000, 1)
    model = estimate(table.domain, noisy(table, [("a", "b"), ("b", "c"), ("c", "e")], 9.0, 1), [], 1000)
    drawn = model.sample(20_000, np.random.default_rng(1), "iid").marginal(NAMES)
    assert fits(drawn.ravel(), model.marginal(NAMES).ravel() / 1000)


def test_systematic_draws_follow_the_model_on_average() -> None:
    """Within 6.5 binomial standard deviations, wider than the systematic ones: α < 1e-6 over 24 cells."""
    table = records((3, 2, 2, 1, 2), 1000, 1)
    model = estimate(table.domain, noisy(table, [("a", "b"), ("b", "c"), ("c", "e")], 9.0, 1), [], 1000)
    random = np.random.default_rng(1)
    drawn = sum((model.sample(500, random).marginal(NAMES) for _ in range(40)), np.zeros(table.domain.shape))
    p = model.marginal(NAMES) / 1000
    assert (np.abs(drawn - 20_000 * p) < 6.5 * np.sqrt(20_000 * p * (1 - p)) + 1).all()


def test_coarser_columns_are_measured_and_not_drawn() -> None:
    table = records((6, 6), 2000, 3)
    one, other = table.domain.names
    groups = np.array([0, 0, 0, 1, 1, 1])
    coarse = np.zeros((2, 2))
    np.add.at(coarse, tuple(groups[table.codes.T]), table.counts)
    measurements = [
        exact((one,), table.marginal((one,)), 1.0),
        exact((other,), table.marginal((other,)), 1.0),
        Measurement((one, other), (groups, groups), coarse, 2.0),
    ]
    for prior in (None, records((6, 6), 500, 4)):
        model = estimate(table.domain, measurements, [], 2000, prior)
        found = model.marginal((one, other)).reshape(2, 3, 2, 3).sum(axis=(1, 3))
        assert distance(found, coarse, 2000) < 0.01
        assert model.sample(100, np.random.default_rng(0)).domain == table.domain


def test_a_prior_fills_in_what_was_not_measured() -> None:
    table, prior = records((4,) * 5, 3000, 1), records((4,) * 5, 3000, 2)
    answers = noisy(table, [(name,) for name in NAMES], 5.0, 1)
    blind = estimate(table.domain, answers, [], 3000)
    informed = estimate(table.domain, answers, [], 3000, prior)
    for pair in [("a", "b"), ("c", "d")]:
        exact = table.marginal(pair).astype(float)
        assert distance(informed.marginal(pair), exact, 3000) < 0.5 * distance(
            blind.marginal(pair), exact, 3000
        )


def test_the_estimate_is_a_function_of_its_input() -> None:
    table = records((3,) * 5, 500, 1)
    answers = noisy(table, [*PAIRS], 20.0, 1)
    models = [estimate(table.domain, answers, [], 500, largest=100) for _ in range(2)]
    one, other = (model.sample(500, np.random.default_rng(7)) for model in models)
    assert one == other


def test_a_wide_table_is_fitted_and_drawn_in_seconds() -> None:
    table = records((10,) * 20, 20_000, 1)
    names = table.domain.names
    cliques: list[Clique] = [(name,) for name in names]
    cliques += pairwise(names)
    begin = time.process_time()
    model = estimate(table.domain, noisy(table, cliques, 20.0, 1), [], 20_000)
    drawn = model.sample(20_000, np.random.default_rng(1))
    assert time.process_time() - begin < 10
    exact = table.marginal(names[4:6]).astype(float)
    assert distance(drawn.marginal(names[4:6]).astype(float), exact, 20_000) < 0.05


def test_a_column_is_what_all_its_tables_say() -> None:
    """Codes are known roughly and their groups well: both tell, whichever table they come from."""
    domain = domain_of((4, 2), ("a", "b"))
    rough = Measurement.fine(("a",), np.array([10.0, 30.0, 20.0, 20.0]), 100.0)
    groups = np.array([0, 0, 1, 1]), np.arange(2)
    sharp = Measurement(("a", "b"), groups, np.array([[30.0, 30.0], [20.0, 20.0]]), 0.01)
    found = estimate(domain, [rough, sharp], [], 100).marginal(("a",))
    assert found == pytest.approx([20, 40, 20, 20], abs=0.1)


def test_noise_of_a_large_table_lifts_no_rare_value() -> None:
    """Its cells cannot be negative, but the sum of its noisy ones tells the value without a bias."""
    domain = domain_of((2, 400), ("a", "b"))
    noise = np.random.default_rng(1).laplace(0, 30.0, (2, 400))
    true = np.zeros((2, 400))
    true[0] = 50.0
    answers = [exact(("a",), [20_000.0, 0.0], 2.0), exact(("a", "b"), true + noise, 30.0)]
    assert estimate(domain, answers, [], 20_000).marginal(("a",))[1] < 10

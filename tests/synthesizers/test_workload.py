from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.mechanisms import Mechanism, NoisyMarginals, NoisyScores
from facsimile.privacy.reader import rehearse
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers import workload
from facsimile.synthesizers.base import Known, RowModel, by_cells
from facsimile.synthesizers.dense import Dense
from facsimile.synthesizers.measurements import BestGroups, Item, affordable, items, shares
from facsimile.synthesizers.workload import Workload, batches, firm, heard, strongest, tied, whole
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.measurement import Measurement
from facsimile.table.scores import Factor, RowScores
from facsimile.table.table import Table
from facsimile.testing.synthesizers import fitted as fitting

EPSILONS = st.sampled_from([Fraction(1, 100), Fraction(1), Fraction(100)])
LISTS = [
    "auto",
    "each",
    "each; all@2",
    "each; pairs; strongest@1",
    "each; b*a@2; all",
    "a*b@2",
    "all@3; strongest@2",
]


def domain_of(*shape: int) -> Domain:
    bins = [tuple(CategoryBin(str(i), frozenset([str(i)])) for i in range(size)) for size in shape]
    return Domain(tuple(Axis(name, b) for name, b in zip("abcdefghijklmnop", bins, strict=False)))


def table_of(domain: Domain, n: int, seed: int) -> Table:
    """Records whose second column mostly follows the first."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, domain.shape, (n, len(domain.shape)))
    if len(domain.shape) > 1:
        follows = random.random(n) < 0.7
        codes[follows, 1] = np.minimum(codes[follows, 0], domain.shape[1] - 1)
    return Table.from_rows(domain, codes)


def fitted(
    workload: Workload, table: Table, epsilon: Fraction, known: Known | None = None, seed: int = 0
) -> RowModel:
    curator = Curator.rehearsal(rehearse(table), seed)
    return workload.fit(curator, known or Known(table.n), epsilon, np.random.default_rng(seed))


@settings(max_examples=20)
@given(
    st.sampled_from(LISTS), EPSILONS, st.integers(0, 2**32), st.sampled_from([(3, 4), (5, 1, 4), (2, 3, 2, 6)])
)
def test_it_spends_exactly_epsilon_and_draws_exactly_n_possible_records(
    text: str, epsilon: Fraction, seed: int, shape: tuple[int, ...]
) -> None:
    domain = domain_of(*shape)
    table = table_of(domain, 200, seed)
    zeros: tuple[tuple[Clique, Mask], ...] = ((("b", "a"), np.eye(shape[1], shape[0], k=-1, dtype=np.bool_)),)
    ledger = MemoryLedger()
    curator = Curator.rehearsal(rehearse(table), seed, ledger)
    model = Workload(text).fit(curator, Known(200, zeros), epsilon, np.random.default_rng(seed))
    assert ledger.spent == Cost.of(epsilon)
    for n in (1, 200):
        drawn = model.sample(n, np.random.default_rng(seed))
        assert drawn.n == n
        assert not zeros[0][1][drawn.column("b"), drawn.column("a")].any()


@pytest.mark.parametrize("columns", [1, 2, 7, 12])
def test_any_number_of_columns(columns: int) -> None:
    domain = domain_of(*([3, 2, 2] + [2] * 9)[:columns])
    model = fitted(Workload(), table_of(domain, 500, 1), Fraction(1))
    assert isinstance(model, Dense)
    assert model.sample(500, np.random.default_rng(0), "iid").n == 500


@pytest.mark.parametrize("text", ["auto", "each; pairs@2; strongest@3"])
def test_a_domain_too_large_to_hold_is_fitted_on_a_tree(text: str) -> None:
    domain = domain_of(*[8] * 8)
    table = table_of(domain, 3000, 2)
    model = fitted(Workload(text), table, Fraction(20))
    assert not isinstance(model, Dense)
    drawn = model.sample(3000, np.random.default_rng(0))
    assert drawn.n == 3000
    assert np.abs(drawn.marginal(("a",)) - table.marginal(("a",))).max() < 100


class Recorded:
    """Answers of another run, in order: what a synthesizer may depend on."""

    def __init__(self, domain: Domain, inner: Any, tape: list[Any], replay: bool) -> None:
        self.domain, self.inner, self.tape, self.replay = domain, inner, tape, replay

    def run(self, mechanism: Mechanism[Any]) -> Any:
        if self.replay:
            asked, answer = self.tape.pop(0)
            assert asked == mechanism
            return answer
        self.tape.append((mechanism, self.inner.run(mechanism)))
        return self.tape[-1][1]

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Any:
        inner = None if self.inner is None else self.inner.recoded(domain, maps)
        return Recorded(domain, inner, self.tape, self.replay)


SILENT = Recorded(domain_of(2, 2), None, [], True)


@pytest.mark.parametrize("text", LISTS)
def test_the_model_is_a_function_of_the_answers(text: str) -> None:
    domain = domain_of(4, 5, 3)
    table = table_of(domain, 400, 3)
    tape: list[Any] = []
    first = Recorded(domain, Curator.rehearsal(rehearse(table), 1), tape, False)
    again = Recorded(domain, None, tape, True)
    one, other = (
        Workload(text).fit(a, Known(400), Fraction(1), np.random.default_rng(0)) for a in (first, again)
    )
    assert isinstance(one, Dense)
    assert isinstance(other, Dense)
    assert np.array_equal(one.mass, other.mass)
    assert not tape


def test_with_much_epsilon_one_and_two_way_tables_are_those_of_the_data() -> None:
    domain = domain_of(6, 5, 4)
    table = table_of(domain, 20_000, 4)
    drawn = fitted(Workload("each; pairs@9"), table, Fraction(100)).sample(table.n, np.random.default_rng(0))
    for clique in [("a",), ("b",), ("a", "b"), ("b", "c")]:
        assert np.abs(drawn.marginal(clique) - table.marginal(clique)).max() <= 20


def test_a_prior_brings_what_was_not_measured() -> None:
    domain = domain_of(4, 4, 2)
    table, prior = table_of(domain, 5000, 5), table_of(domain, 3000, 6)
    off = [
        np.abs(
            model.sample(5000, np.random.default_rng(0)).marginal(("a", "b")) - table.marginal(("a", "b"))
        ).sum()
        for model in (
            fitted(Workload("each"), table, Fraction(1), known)
            for known in (Known(5000), Known(5000, prior=prior))
        )
    ]
    assert off[1] < 0.2 * off[0]


def test_the_pair_that_depends_is_refined() -> None:
    domain = domain_of(5, 5, 5)
    table = table_of(domain, 5000, 7)
    asked: list[Clique] = []

    class Watching(Recorded):
        def run(self, mechanism: Mechanism[Any]) -> Any:
            if isinstance(mechanism, NoisyMarginals):
                asked.extend(clique for clique, _ in mechanism.marginals)
            return self.inner.run(mechanism)

    curator = Curator.rehearsal(rehearse(table), 1)
    text = Workload("each; a@3*b@3*c@3; strongest@1")
    text.fit(Watching(domain, curator, [], False), Known(5000), Fraction(4), np.random.default_rng(0))
    assert asked[-1] == ("a", "b")
    fine = Measurement(("a", "b"), (np.arange(2), np.arange(2)), np.eye(2) * 50, 1.0)
    assert strongest([fine], {"a": np.full(2, 50.0), "b": np.full(2, 50.0)}, 100, 3) == []


@pytest.mark.parametrize(("dense", "versions"), [(True, 2), (False, 1)])
def test_on_a_wide_domain_all_tables_cut_a_column_alike(
    dense: bool, versions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first table says about a column would move the cut; each further cut is a column in the tree."""
    monkeypatch.setattr(workload, "DENSE_CELLS", 10**7 if dense else 1)
    domain = domain_of(12, 2, 2)
    codes = np.column_stack([np.arange(600) * 12 // 600, np.arange(600) % 2, np.arange(600) % 3 // 2])
    asked: set[Any] = set()

    class Watching(Recorded):
        def run(self, mechanism: Mechanism[Any]) -> Any:
            assert isinstance(mechanism, NoisyMarginals)
            asked.update(
                group for name, group in mechanism.versions if name == "a" and group and max(group) == 2
            )
            return self.inner.run(mechanism)

    curator = Curator.rehearsal(rehearse(Table.from_rows(domain, codes)), 1)
    text = Workload("a; a@3*b; a@4*b*c; a@3*c", "0.005; 1; 1; 1")
    text.fit(Watching(domain, curator, [], False), Known(600), Fraction(4), np.random.default_rng(0))
    assert len(asked) == versions


def test_tables_that_agree_are_asked_together() -> None:
    one, coarse = Fraction(1), (0, 0, 1, 1)
    first, second, third = batches(
        [
            (("a", "b"), one, {"a": None, "b": coarse}),
            (("b", "c"), one, {"b": coarse, "c": None}),
            (("a", "c"), one, {"a": coarse, "c": None}),
            (("a", "b"), one, {"a": None, "b": coarse}),
        ]
    )
    assert first.marginals == ((("a", "b"), one), (("b", "c"), one))
    assert dict(first.versions) == {"a": None, "b": coarse, "c": None}
    assert second == NoisyMarginals(((("a", "c"), one),), (("a", coarse), ("c", None)))
    assert third == NoisyMarginals(((("a", "b"), one),), (("a", None), ("b", coarse)))


@given(st.sampled_from(LISTS), EPSILONS, st.sampled_from([(3, 4), (9, 1, 4), (2, 3, 2, 30)]))
def test_shares_add_up(text: str, epsilon: Fraction, shape: tuple[int, ...]) -> None:
    domain = domain_of(*shape)
    every = items(text, domain, 1000, epsilon)
    found = shares("auto", every, domain, 1000, epsilon)
    assert sum(share for item in found for share in item) == epsilon
    assert [len(item) for item in found] == [len(item.cliques(domain.names)) for item in every]


def test_weights_are_for_items_or_for_their_tables() -> None:
    domain = domain_of(8, 1)
    every = items("each; a*b", domain, 100, Fraction(1))
    assert shares("3; 1", every, domain, 100, Fraction(1)) == [
        [Fraction(1, 2), Fraction(1, 4)],
        [Fraction(1, 4)],
    ]
    assert shares("1,2; 0.5", every, domain, 100, Fraction(7)) == [[Fraction(2), Fraction(4)], [Fraction(1)]]
    assert shares("auto", every, domain, 100, Fraction(11)) == [[Fraction(6), Fraction(3)], [Fraction(2)]]


@given(st.lists(st.integers(2, 400), min_size=2, max_size=5))
def test_what_tables_deserve_leaves_the_least_squared_error(sizes: list[int]) -> None:
    """By a tenth more or less for any of them; Σ cells/share² or Σ cells/share."""
    for share, power in ((Fraction(1), 2), (Rho(1), 1)):
        best = np.array(by_cells(sizes, share), float)
        errors = [
            float((np.array(sizes) / (weights / weights.sum()) ** power).sum())
            for weights in (
                best,
                *(best * np.where(np.arange(len(sizes)) == i, 1.1, 1) for i in range(len(sizes))),
            )
        ]
        assert min(errors) >= errors[0] * (1 - 1e-4)


def test_of_a_rho_tables_deserve_the_root_of_their_cells() -> None:
    domain = domain_of(9, 1)
    every = items("each; a*b", domain, 100, Rho(1))
    assert shares("auto", every, domain, 100, Rho(15)) == [[Rho(9), Rho(3)], [Rho(3)]]
    assert shares("1,2; 0.5", every, domain, 100, Rho(7)) == [[Rho(2), Rho(4)], [Rho(1)]]
    assert all(isinstance(share, Rho) for item in shares("auto", every, domain, 100, Rho(15)) for share in item)


def test_of_a_rho_a_tree_is_fitted_to_tables_that_say_something() -> None:
    """Two columns that are one, and two that noise alone ties: what noise says gives way to what it says of its
    columns, for a ρ alone."""
    random = np.random.default_rng(1)
    same, noise = np.eye(8) * 500, np.full((8, 8), 62.5)
    tables = [
        Measurement.fine(columns, counts + 30 * random.normal(size=counts.shape), 900.0)
        for columns, counts in ((("a", "b"), same), (("c", "d"), noise), (("c",), noise.sum(axis=0)))
    ]
    kept = heard(tables, Known(4000), Rho(1))
    assert [one.columns for one in kept] == [("a", "b"), ("c",), ("d",), ("c",)]
    assert kept[2].counts.tolist() == tables[1].counts.sum(axis=0).tolist() and kept[2].variance == 8 * 900
    assert heard(tables, Known(4000), Fraction(1)) is tables
    prior = table_of(domain_of(2, 2), 5, 1)
    assert heard(tables, Known(4000, prior=prior), Rho(1)) is tables


@pytest.mark.parametrize("share", [Rho(1, 50), Rho(4)], ids=["much", "little"])
def test_noise_of_a_rho_has_the_variance_that_its_measurement_says(share: Rho) -> None:
    """4,000 draws: nine deviations of a variance, √(2/4000); a small σ in whole numbers has a little less."""
    draws = Curator.rehearsal(rehearse(table_of(domain_of(1), 10, 0)), 5)
    answers = [draws.run(NoisyMarginals(((("a",), share),)))[0] for _ in range(4000)]
    assert firm(answers[0]).variance == answers[0].variance == pytest.approx(1 / float(share))
    assert np.var([answer.counts[0] for answer in answers]) == pytest.approx(1 / float(share), rel=0.2)


@pytest.mark.parametrize(
    "text", ["", "z", "a*a", "a@0", "a@x", "each@2", "strongest", "all*a", "each; ;", "a*b@-1"]
)
def test_a_list_that_is_none_is_refused_before_anything_is_asked(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a measurement|a number of groups"):
        Workload(text).fit(
            Recorded(domain_of(2, 2), None, [], True), Known(10), Fraction(1), np.random.default_rng(0)
        )


@pytest.mark.parametrize(
    ("text", "missing"),
    [("a*b", "c"), ("strongest@2", "a"), ("a; b*c@1", "c"), ("pairs@1", "a"), ("a@1*b; a@1*c", "a")],
)
def test_a_list_that_leaves_a_column_out_is_refused(text: str, missing: str) -> None:
    with pytest.raises(ValueError, match=f"nothing counts {missing}: add `{missing}` or `each`"):
        Workload(text).check(domain_of(3, 4, 2), 100, Fraction(1))
    Workload(f"each; {text}").check(domain_of(3, 4, 2), 100, Fraction(1))
    Workload("a").check(domain_of(3, 1), 100, Fraction(1))


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("cells", [10**7, 1], ids=["dense", "tree"])
def test_codes_of_a_group_share_what_was_counted_of_it(
    cells: int, prior: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column in 4 groups and nowhere else: equally, or in the proportions of a prior. 9,000 records, counts
    with a noise of 10 or so: 6 deviations of a group's sum, and what rounding and a prior's own chance add."""
    monkeypatch.setattr(workload, "DENSE_CELLS", cells)
    domain, random = domain_of(20, 3), np.random.default_rng(3)
    rows = np.column_stack([random.geometric(0.15, 9_000).clip(max=20) - 1, random.integers(0, 3, 9_000)])
    table = Table.from_rows(domain, rows)
    known = Known(9_000, prior=Table.from_rows(domain, rows[::3]) if prior else None)
    drawn = fitted(Workload("a@4*b"), table, Fraction(1), known).sample(9_000, random).marginal(("a",))
    true = table.marginal(("a",))
    if prior:
        assert np.abs(drawn - true).sum() < 0.1 * 9_000
    else:
        assert np.abs(drawn.reshape(4, 5) - true.reshape(4, 5).mean(axis=1, keepdims=True)).max() < 20


@pytest.mark.parametrize("weights", ["1", "1;0", "1,1,1;1", "1;-1", "x;1"])
def test_weights_that_do_not_fit_are_refused(weights: str) -> None:
    with pytest.raises(ValueError, match=r"weight|decimal"):
        Workload("each; all", weights).fit(SILENT, Known(10), Fraction(1), np.random.default_rng(0))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12), st.integers(1, 6))
def test_groups_are_neighbours_and_no_cut_loses_less(counts: list[int], size: int) -> None:
    """Against every way to cut."""
    numbers = [float(i * i) for i in range(len(counts))]
    groups = BestGroups.of(np.array(counts, float), numbers).groups(size)
    assert (np.diff(groups) >= 0).all()
    assert groups[0] == 0
    assert set(groups.tolist()) == set(range(min(size, len(counts))))

    def loss(group: np.typing.NDArray[np.int64]) -> float:
        weights, values, total = np.array(counts) + 1e-9, np.array(numbers), 0.0
        for g in set(group.tolist()):
            w, v = weights[group == g], values[group == g]
            total += float((w * (v - (w * v).sum() / w.sum()) ** 2).sum())
        return total

    codes = np.arange(len(counts))
    every = combinations(range(1, len(counts)), min(size, len(counts)) - 1)
    best = min(loss(np.searchsorted(np.array(edges, int), codes, side="right")) for edges in every)
    assert loss(groups) <= best + 1e-4 * (1 + best)


def test_affordable_sizes_stay_within_their_cells_and_go_where_most_is_lost() -> None:
    cuts = {
        "even": BestGroups.of(np.ones(12), range(12)),
        "rare": BestGroups.of(np.array([1000.0, 1, 1, 1, 1]), range(5)),
        "one": BestGroups.of(np.ones(1), [0]),
    }
    assert cuts["even"].lost[0] == 1
    assert cuts["even"].lost[-1] == pytest.approx(0)
    for cells in (1, 10, 100, 1e6):
        sizes = affordable(cuts, cells)
        assert sizes["one"] == 1
        assert min(sizes["even"], sizes["rare"]) >= 2
        assert np.prod(list(sizes.values())) <= max(4, cells)
    assert affordable(cuts, 60) == {"even": 12, "rare": 5, "one": 1}


def test_a_column_may_have_the_name_of_a_word() -> None:
    bins = (CategoryBin("0", frozenset("0")), CategoryBin("1", frozenset("1")))
    domain = Domain((Axis("all", bins), Axis("b", bins)))
    assert Item.of("all*b", domain).columns == (("all", None), ("b", None))


def test_the_variance_is_that_of_discrete_laplace_noise() -> None:
    draws = Curator.rehearsal(rehearse(table_of(domain_of(1), 10, 0)), 5)
    for epsilon in (Fraction(1, 4), Fraction(4)):
        answers = [draws.run(NoisyMarginals(((("a",), epsilon),)))[0] for _ in range(4000)]
        found = whole(answers[0]).variance
        assert np.var([answer.counts[0] for answer in answers]) == pytest.approx(found, rel=0.25)
        assert 0.6 * answers[0].variance < found < answers[0].variance


@pytest.mark.parametrize(
    "text",
    [
        "mean-age",
        "mean-age 0",
        "mean-age -3",
        "mean-age 60; other 40",
        " 5",
        "mean-age 5; mean-age 5",
        "",
        "5;",
    ],
)
def test_scores_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Workload(scores=text).check(domain_of(2, 3), 100, Fraction(1))


def test_scores_take_their_share_and_leave_the_rest_to_tables() -> None:
    assert Workload().asks() == ()
    workload = Workload("each", scores="mean-b 10; query-some thing 2.5")
    workload.check(domain_of(3, 4), 500, Fraction(1))
    assert workload.asks() == ("mean-b", "query-some thing")
    table = table_of(domain_of(3, 4), 500, 1)
    wave = RowScores(table.domain, ((Factor(0, ((("a",), np.array([-9, 0, 9])),)),),))
    known = Known(500, scores=lambda name, public: wave if name == "mean-b" else None)
    run = fitting(workload, table, known, Fraction(2))
    costs = [(type(mechanism), mechanism.cost().epsilon) for mechanism, _ in run.tape]
    assert costs == [(NoisyMarginals, Fraction(7, 4)), (NoisyScores, Fraction(1, 5))]
    whole = Known(500, scores=lambda name, public: wave)
    assert fitting(workload, table, whole, Fraction(2)).spent == 2


def test_parts_that_nothing_ties_together_are_independent_and_fitted_alone() -> None:
    domain = domain_of(3, 4, 5, 2)
    table = table_of(domain, 4000, 3)
    zeros: tuple[tuple[Clique, Mask], ...] = ((("c", "d"), np.arange(10).reshape(5, 2) == 3),)
    model = fitted(Workload("each; a*b"), table, Fraction(50), Known(4000, zeros))
    assert isinstance(model, Dense)
    joint = model.marginal(("a", "b"))[..., None, None] * model.marginal(("c", "d")) / 4000
    assert model.mass == pytest.approx(joint, rel=1e-6, abs=1e-9)
    assert tied(domain.names, [("a", "b"), ("c", "d")]) == [("a", "b"), ("c", "d")]
    assert tied(domain.names, [("a", "b"), ("c", "d"), ("d", "a")]) == [domain.names]
    assert model.marginal(("c", "d"))[1, 1] == 0

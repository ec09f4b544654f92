import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.explore import learning
from facsimile.explore.learning import UNLEARNT, Clues, Draft, Learned, Move, Search, Texts, learn
from facsimile.explore.slack import (
    FURTHEST,
    SHARPNESS,
    Coupled,
    Lost,
    Overshoots,
    Rehearsals,
    badness,
    overshoot,
)
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.spec.criteria import MarginalsAbsolute, MarginalsRelative
from facsimile.spec.load import loads, validated
from facsimile.spec.release import Specification
from facsimile.synthesizers.dense import LARGEST
from facsimile.synthesizers.graphical import TreeTooLarge
from facsimile.synthesizers.measurements import items, shares
from facsimile.synthesizers.workload import Workload, variance
from facsimile.table.domain import Domain
from facsimile.table.table import Table

EPSILON = Fraction(1, 5)
ABSOLUTE = MarginalsAbsolute(criterion="marginals-absolute", threshold=Fraction(1, 50), epsilon=Fraction(1))
TOLD: list[str] = []
RELATIVE = MarginalsRelative(criterion="marginals-relative", threshold=Fraction(2), epsilon=Fraction(1))


def plain(sizes: dict[str, int], criteria: list[dict[str, Any]]) -> dict[str, Any]:
    """A specification of columns with so many numbers each."""
    return {
        "facsimile": "1",
        "title": "Small",
        "unit": "one person",
        "neighbours": "replace-one",
        "records": {"count": "3000", "public_because": "it is printed on the door"},
        "columns": [
            {
                "name": name,
                "description": name,
                "bounds": ["1", str(size)],
                "alternatives": {"all": [f"1..{size}"]},
                "groups": ["1", "2≤"],
            }
            for name, size in sizes.items()
        ],
        "constraints": {"policy": "declared"},
        "families": [{"family": "mst"}],
        "projection": {"min_count": ["1"]},
        "criteria": [{"epsilon": "0.1"} | criterion for criterion in criteria],
        "selection": {"mode": "coin", "gamma": "0.05"},
        "budget": {"total": "5", "generator": "1", "test": "0.1"},
    }


SMALL = plain(
    {"a": 4, "b": 5, "c": 3},
    [
        {"criterion": "mean", "of": "b", "by": ["a"], "threshold": "0.2"},
        {"criterion": "marginals-absolute", "ways": "2", "threshold": "0.05"},
    ],
)


def dependent(specification: Specification, n: int = 3000, seed: int = 1) -> Table:
    """Records whose second column follows the first; all others are independent."""
    domain = Domain(specification.finest())
    random = np.random.default_rng(seed)
    codes = random.integers(0, domain.shape, (n, len(domain.shape)))
    codes[:, 1] = np.minimum(codes[:, 0] + random.integers(0, 2, n), domain.shape[1] - 1)
    return Table.from_rows(domain, codes)


def small() -> tuple[Specification, Table]:
    specification = validated(copy.deepcopy(SMALL))
    return specification, dependent(specification)


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Texts, int]]]:
    """Every candidate that is made: its texts and its seed."""
    made: list[tuple[Texts, int]] = []
    whole = Rehearsals.candidate

    def candidate(self: Rehearsals, measurements: str, weights: str, seed: int) -> Table | None:
        made.append(((measurements, weights), seed))
        return whole(self, measurements, weights, seed)

    with monkeypatch.context() as patch:
        patch.setattr(Rehearsals, "candidate", candidate)
        yield made


@pytest.fixture(scope="module")
def learned() -> Learned:
    found = learn(*small(), EPSILON, seed=1, evaluations=80, progress=TOLD.append)
    assert TOLD and all("candidates" in line and "gain" in line for line in TOLD)
    return found


# the objective


@given(st.floats(1e-6, 0.999), st.floats(1e-6, 0.999))
def test_an_overshoot_is_negative_exactly_where_the_criterion_is_met(one: float, other: float) -> None:
    assert (overshoot(ABSOLUTE, one) < 0) == (one < 0.02)
    assert (overshoot(RELATIVE, 1 / one) < 0) == (1 / one < 2)
    assert (one < other) <= (overshoot(ABSOLUTE, one) <= overshoot(ABSOLUTE, other))


def test_what_is_not_defined_is_as_bad_as_can_be_and_no_error_as_good() -> None:
    assert overshoot(ABSOLUTE, None) == overshoot(ABSOLUTE, 1e9) == FURTHEST
    assert overshoot(ABSOLUTE, 0.0) == overshoot(RELATIVE, 1.0) == -FURTHEST
    assert overshoot(RELATIVE.model_copy(update={"threshold": Fraction(1)}), 1.5) == FURTHEST


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=8), st.floats(-6, 6))
def test_the_badness_follows_the_worst(overshoots: list[float], more: float) -> None:
    above = badness(overshoots) - max(overshoots)
    assert -1e-12 <= above <= math.log(len(overshoots)) / SHARPNESS + 1e-12
    assert badness([*overshoots, more]) >= badness(overshoots) - 1e-12


def test_a_costly_criterion_is_left_out_where_it_cannot_matter() -> None:
    specification, table = small()
    rehearsals = Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)
    whole = rehearsals.overshoots("each", "auto", 1)
    assert all(math.isfinite(one) for one in whole)
    bound = badness(whole[:1])
    assert rehearsals.overshoots("each", "auto", 1, lambda bad: bad >= bound) == (whole[0], -math.inf)
    assert rehearsals.overshoots("each", "auto", 1, lambda bad: bad > bound) == whole


# luck


def test_a_table_meets_the_same_luck_whatever_else_is_asked() -> None:
    _, table = small()

    def asked(seed: int, *cliques: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
        return Coupled(table.domain, table, seed).run(NoisyMarginals.evenly(cliques, Fraction(len(cliques), 5)))

    alone, beside = asked(1, ("a", "b")), asked(1, ("c",), ("a", "b"))
    assert np.array_equal(alone["a", "b"], beside["a", "b"])
    assert not np.array_equal(alone["a", "b"], asked(2, ("a", "b"))["a", "b"])
    twice = Coupled(table.domain, table, 1)
    first, second = (twice.run(NoisyMarginals.evenly([("a", "b")], EPSILON)) for _ in range(2))
    assert not np.array_equal(first["a", "b"], second["a", "b"])


def test_coupled_noise_has_the_law_of_a_curators() -> None:
    _, table = small()
    question = NoisyMarginals.evenly([("a", "b")], EPSILON)
    runs = [Coupled(table.domain, table, seed).run(question)["a", "b"] for seed in range(400)]
    noise = (np.array(runs) - table.marginal(("a", "b"))).ravel()
    expected = variance(EPSILON)
    # Var(Z²) ≤ 6σ⁴ for Laplace noise: five and a half deviations are alpha < 1e-7
    assert abs((noise**2).mean() / expected - 1) < 5.5 * (6 / len(noise)) ** 0.5
    assert abs(noise.mean()) < 5.5 * (expected / len(noise)) ** 0.5


# drafts


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    codes = tuple(draw(st.lists(st.integers(2, 9), min_size=2, max_size=4)))
    names = tuple("abcd"[: len(codes)]) if draw(st.booleans()) else ("each", "all", "x", "y")[: len(codes)]
    positive = st.floats(0.5, 50)
    draft = Draft(names, codes, tuple(draw(positive) for _ in codes))
    for _ in range(draw(st.integers(0, 3))):
        table = tuple(draw(st.integers(1, size)) for size in codes)
        if len(draft.columns(table)) > 1 and table not in draft.tables:
            draft = draft.with_table(table)
    return draft


def domain_of(draft: Draft) -> Domain:
    criteria = [{"criterion": "marginals-absolute", "threshold": "0.05"}]
    return Domain(validated(plain(dict(zip(draft.names, draft.codes, strict=True)), criteria)).finest())


@settings(max_examples=40)
@given(drafts())
def test_the_family_reads_what_a_draft_writes(draft: Draft) -> None:
    measurements, weights = draft.texts
    domain = domain_of(draft)
    every = items(measurements, domain, 3000, EPSILON)
    found = [share for item in shares(weights, every, domain, 3000, EPSILON) for share in item]
    assert sum(found) == EPSILON
    given_weights = [*draft.each, *draft.weights]
    for share, weight in zip(found, given_weights, strict=True):
        assert float(share / EPSILON) == pytest.approx(weight / sum(given_weights), rel=0.02)
    read = [dict(item.columns) for item in every if len(item.columns) > 1]
    for table, columns in zip(draft.tables, read, strict=True):
        wanted = zip(draft.names, table, draft.codes, strict=True)
        assert columns == {name: None if size == codes else size for name, size, codes in wanted if size > 1}


@settings(max_examples=20)
@given(drafts(), st.sampled_from([2.0, 1.25]))
def test_moves_change_a_draft_and_make_sense(draft: Draft, step: float) -> None:
    domain = domain_of(draft)
    random = np.random.default_rng(0)
    table, made = (
        Table.from_rows(domain, random.integers(0, domain.shape, (3000, len(domain.shape)))) for _ in "12"
    )
    moves = Clues.of(table, EPSILON, (ABSOLUTE,)).moves(draft, made, (0.1,), step)
    names = [move.name for move in moves]
    assert all(move.draft != draft and move.draft.makes_sense(3000) for move in moves)
    assert all(len(move.draft.columns(sizes)) > 1 for move in moves for sizes in move.draft.tables)
    assert {move.kind for move in moves} >= {"weight", "table"}
    assert len(names) == len(set(names)) or len(set(map(draft.columns, draft.tables))) < len(draft.tables)


def test_a_table_too_long_to_write_or_too_large_to_fill_makes_no_sense() -> None:
    draft = Draft(("a", "b"), (40, 40), (1.0, 1.0))
    assert draft.makes_sense(10) and not draft.with_table((40, 40)).makes_sense(1000)
    assert not draft.with_table((2, 2)).with_table((2, 2)).makes_sense(1000)
    names = tuple(f"{'x' * 60}{i}" for i in range(20))
    wide = Draft(names, (2,) * 20, (1.0,) * 20)
    for place in range(9):
        wide = wide.with_table(tuple(2 if i in (place, place + 1) else 1 for i in range(20)))
    assert len(wide.texts[0]) > 1000 and not wide.makes_sense(10**9)


def test_dependent_pairs_are_seen_and_those_that_fit_badly_come_first() -> None:
    specification, table = small()
    clues = Clues.of(table, EPSILON, specification.criteria)
    assert next(iter(clues.dependences)) == ("a", "b") == clues.named[0]
    shuffled = table.records().copy()
    np.random.default_rng(0).shuffle(shuffled[:, 1])
    alone = clues.drafts()[0]
    moves = clues.moves(alone, Table.from_rows(table.domain, shuffled), (0.5, 0.1), 2.0)
    singles = [move for move in moves if move.name.startswith("add a ")]
    assert singles[0].name == "add a fine a*b"


# races


def searching(
    truth: Callable[[Texts], float], noise: float = 0.1, most: int = 500
) -> tuple[Search, list[tuple[Texts, int]]]:
    """A search over an invented objective: its truth, and noise that two texts with one seed share in part."""
    calls: list[tuple[Texts, int]] = []

    def evaluate(texts: Texts, seed: int, lost: Lost) -> Overshoots:
        calls.append((texts, seed))
        shared = np.random.default_rng(seed).normal()
        own = np.random.default_rng([seed, *texts[1].encode()]).normal()
        return (truth(texts) + noise * (3 * shared + own),)

    search = Search(evaluate, range(40), np.random.default_rng(0), lambda made: made >= most, lambda _: None)
    return search, calls


def test_both_sides_of_a_race_meet_the_same_seeds() -> None:
    search, calls = searching(lambda texts: float(texts[1]))
    for better in ("-0.05", "0.3"):
        search.gain(("each", better), ("each", "0"), 0.01)
    seeds = defaultdict(list)
    for (_, weights), seed in calls:
        seeds[weights].append(seed)
    assert all(set(seeds[challenger]) <= set(seeds["0"]) for challenger in ("-0.05", "0.3"))
    assert all(len(found) == len(set(found)) for found in seeds.values())


def test_races_find_the_better_one_and_end_early_where_it_is_worse() -> None:
    wins, looks = 0, []
    for place in range(40):
        search, _ = searching(lambda texts: float(texts[1]))
        search.random = np.random.default_rng(place)
        wins += bool(search.gain(("each", "-0.6"), ("each", "0"), 0.02))
        before = search.evaluations
        assert not search.gain(("each", "0.3"), ("each", "0"), 0.02)
        looks.append(search.evaluations - before)
    assert wins == 40 and np.mean(looks) <= 3


def test_a_move_that_is_worth_nothing_is_seldom_taken() -> None:
    taken = 0
    for place in range(200):
        search, _ = searching(lambda texts: 0.0)
        search.random = np.random.default_rng(place)
        search.seeds = range(1000 * place, 1000 * place + 40)
        taken += bool(search.gain(("each", "1"), ("each", "0"), 0.02))
    assert taken <= 40


def test_a_search_climbs_to_the_best_weight() -> None:
    best = 16.0

    def truth(texts: Texts) -> float:
        return abs(math.log(float(texts[1].split(",")[0]) / best)) / 2

    def moves(draft: Draft, overshoots: Overshoots, step: float) -> list[Move]:
        each = draft.each
        return [
            Move("weight", word, Draft(draft.names, draft.codes, (each[0] * factor, each[1])), 1.0)
            for word, factor in (("more", step), ("less", 1 / step))
        ]

    search, _ = searching(truth, noise=0.02)
    start = Draft(("a", "b"), (2, 2), (1.0, 99.0))
    found = search.climb(start, moves)
    assert truth(found.texts) < 0.1 < truth(start.texts)
    assert search.evaluations < 500


# learning


def test_what_is_learned_is_part_of_a_specification(learned: Learned) -> None:
    text = learned.block()
    assert text.startswith("families:\n")
    whole = copy.deepcopy(SMALL)
    whole["families"] = learned.families()
    specification = validated(whole)
    grid = specification.families[0]
    assert grid.combination(0) == {"measurements": learned.measurements, "weights": learned.weights}
    rest = {key: value for key, value in SMALL.items() if key != "families"}
    assert loads(text + yaml.safe_dump(rest, allow_unicode=True)) == specification
    domain = Domain(specification.finest())
    Workload(learned.measurements, learned.weights).check(domain, 3000, EPSILON)


def test_a_planted_dependence_is_found(learned: Learned) -> None:
    specification, table = small()
    every = items(learned.measurements, table.domain, table.n, EPSILON)
    assert any({"a", "b"} <= {name for name, _ in item.columns} for item in every)
    assert learned.slack > learned.before
    choice = specification.alternatives_named("")
    rehearsals = Rehearsals(specification, table, choice, EPSILON)
    alone = np.mean([badness(rehearsals.overshoots("each", "auto", seed)) for seed in range(5)])
    assert -learned.slack < alone - 0.5


def test_the_same_seed_learns_the_same_and_another_may_not() -> None:
    found = [learn(*small(), EPSILON, seed=seed, evaluations=30) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_figures_come_from_seeds_that_no_race_has_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(monkeypatch) as made:
        found = learn(*small(), EPSILON, seed=3, evaluations=40)
    first = 3 * learning.SEEDS
    fresh = [(texts, seed) for texts, seed in made if seed >= first + learning.POOL]
    assert fresh == made[len(made) - len(fresh) :]
    mine = (found.measurements, found.weights)
    assert {texts for texts, _ in fresh} == {mine, UNLEARNT}
    seeds = [{seed for texts, seed in fresh if texts == wanted} for wanted in (mine, UNLEARNT)]
    assert seeds[0] == seeds[1] and len(seeds[0]) == 4
    specification, table = small()
    rehearsals = Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)
    for texts, said in ((mine, found.slack), (UNLEARNT, found.before)):
        again = -np.mean([badness(rehearsals.overshoots(*texts, seed)) for seed in sorted(seeds[0])])
        assert said == pytest.approx(again)


@pytest.mark.parametrize(("seed", "evaluations"), [(1, 6), (2, 25), (3, 30)])
def test_never_worse_than_auto_on_what_was_searched(seed: int, evaluations: int) -> None:
    specification, table = small()
    found = learn(specification, table, EPSILON, seed=seed, evaluations=evaluations)
    rehearsals = Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)
    number = max(1, max(2, min(learning.FRESH, evaluations // 10)) // 2)
    means = [
        np.mean([badness(rehearsals.overshoots(*texts, seed * learning.SEEDS + i)) for i in range(number)])
        for texts in ((found.measurements, found.weights), UNLEARNT)
    ]
    assert means[0] <= means[1]


@pytest.mark.parametrize("evaluations", [0, 7, 25])
def test_no_more_candidates_than_allowed_but_six(monkeypatch: pytest.MonkeyPatch, evaluations: int) -> None:
    with watched(monkeypatch) as made:
        found = learn(*small(), EPSILON, evaluations=evaluations)
    assert len(made) == found.evaluations <= max(6, evaluations)


def test_seconds_end_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    whole = Rehearsals.candidate

    def candidate(self: Rehearsals, measurements: str, weights: str, seed: int) -> Table | None:
        now[0] += 1
        return whole(self, measurements, weights, seed)

    monkeypatch.setattr("facsimile.explore.learning.time.monotonic", lambda: now[0])
    monkeypatch.setattr(Rehearsals, "candidate", candidate)
    for seconds in (0, 30):
        now[0] = 0
        found = learn(*small(), EPSILON, seconds=seconds)
        assert seconds - 10 <= found.evaluations == now[0] <= max(6, seconds + 1)


# wide tables


def wide() -> tuple[Specification, Table]:
    sizes = {f"w{i}": 12 for i in range(7)}
    criteria: list[dict[str, Any]] = [
        {"criterion": "mean", "of": "w1", "by": ["w0"], "threshold": "0.2"},
        {"criterion": "marginals-relative", "threshold": "1.5"},
    ]
    specification = validated(plain(sizes, criteria))
    return specification, dependent(specification, 2000)


def test_a_domain_too_large_to_hold_is_searched_too() -> None:
    specification, table = wide()
    assert table.domain.cells > LARGEST
    found = learn(specification, table, Fraction(1), evaluations=12)
    assert found.slack >= found.before
    every = items(found.measurements, table.domain, table.n, Fraction(1))
    assert found.measurements == "auto" or all(len(item.columns) <= 3 for item in every)


def test_a_workload_that_no_tree_holds_is_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Workload.fit

    def fit(self: Workload, *arguments: Any) -> Any:
        if any(f"{one}*{other}" in self.measurements for one, other in combinations("abcd", 2)):
            raise TreeTooLarge
        return whole(self, *arguments)

    monkeypatch.setattr(Workload, "fit", fit)
    found = learn(*small(), EPSILON, evaluations=40)
    assert "a*b" not in found.measurements and found.slack > -FURTHEST

    monkeypatch.setattr(Workload, "fit", lambda self, *arguments: fit(Workload("a*b"), *arguments))
    with pytest.raises(FacsimileError) as refused:
        learn(*small(), EPSILON, evaluations=20)
    assert refused.value.code == "E160"

"""Learning: a planted dependence is found, and the figures come from seeds that no race has seen."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import yaml

from facsimile.errors import FacsimileError
from facsimile.explore import learning
from facsimile.explore.learning import UNLEARNT, Learned, learn
from facsimile.explore.learning.draft import Texts
from facsimile.explore.learning.slack import (
    FURTHEST,
    Rehearsals,
    badness,
)
from facsimile.spec.families import DENSE_CELLS
from facsimile.spec.load import loads, validated
from facsimile.spec.release import Specification
from facsimile.synthesizers.graphical import TreeTooLarge
from facsimile.synthesizers.measurements import items
from facsimile.synthesizers.workload import Workload
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from workloads import EPSILON, SMALL, dependent, plain, small, watched

TOLD: list[str] = []


@pytest.fixture(scope="module")
def learned() -> Learned:
    found = learn(*small(), EPSILON, seed=1, evaluations=80, progress=TOLD.append)
    assert TOLD and all("candidates" in line and "gain" in line for line in TOLD)
    return found


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
    alone = np.mean([badness(rehearsals.overshoots(("each", "auto"), seed)) for seed in range(5)])
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
    assert seeds[0] == seeds[1] and len(seeds[0]) == 2
    specification, table = small()
    rehearsals = Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)
    for texts, said in ((mine, found.slack), (UNLEARNT, found.before)):
        again = -np.mean([badness(rehearsals.overshoots(texts, seed)) for seed in sorted(seeds[0])])
        assert said == pytest.approx(again)


@pytest.mark.parametrize(("seed", "evaluations"), [(1, 6), (2, 25), (3, 30)])
def test_never_worse_than_auto_on_what_was_searched(seed: int, evaluations: int) -> None:
    specification, table = small()
    found = learn(specification, table, EPSILON, seed=seed, evaluations=evaluations)
    rehearsals = Rehearsals(specification, table, specification.alternatives_named(""), EPSILON)
    number = max(1, max(2, min(learning.FRESH, evaluations // 30)) // 2)
    means = [
        np.mean([badness(rehearsals.overshoots(texts, seed * learning.SEEDS + i)) for i in range(number)])
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

    def candidate(self: Rehearsals, texts: Texts, seed: int) -> Table | None:
        now[0] += 1
        return whole(self, texts, seed)

    monkeypatch.setattr("facsimile.explore.learning.time.monotonic", lambda: now[0])
    monkeypatch.setattr(Rehearsals, "candidate", candidate)
    for seconds in (0, 30):
        now[0] = 0
        found = learn(*small(), EPSILON, seconds=seconds)
        assert seconds / 3 <= found.evaluations == now[0] <= max(6, seconds + 1)


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
    assert table.domain.cells > DENSE_CELLS
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

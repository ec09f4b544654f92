"""Searches: races find what is better on common seeds, and end early where it is worse."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from facsimile.explore.learning.draft import Draft, Texts
from facsimile.explore.learning.proposals import Move
from facsimile.explore.learning.search import DraftSearch
from facsimile.explore.learning.slack import (
    Lost,
    Overshoots,
)


def searching(
    truth: Callable[[Texts], float], noise: float = 0.1, most: int = 500
) -> tuple[DraftSearch, list[tuple[Texts, int]]]:
    """A search over an invented objective: its truth, and noise that two texts with one seed share in part."""
    calls: list[tuple[Texts, int]] = []

    def evaluate(texts: Texts, seed: int, lost: Lost) -> Overshoots:
        calls.append((texts, seed))
        shared = np.random.default_rng(seed).normal()
        own = np.random.default_rng([seed, *texts[1].encode()]).normal()
        return (truth(texts) + noise * (3 * shared + own),)

    search = DraftSearch(
        evaluate, range(40), np.random.default_rng(0), lambda made: made >= most, lambda _: None
    )
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
    assert taken <= 30


def test_the_best_of_many_is_found_although_each_is_seen_with_noise() -> None:
    """Halving: half of them get twice as many seeds; what is over before the end keeps the first."""
    texts = [("each", f"{place / 10}") for place in range(8, 0, -1)]
    search, calls = searching(lambda texts: float(texts[1]), noise=0.02)
    assert search.best(texts, 4, lambda _: False) == ("each", "0.1")
    seen = Counter(weights for (_, weights), _ in calls)
    assert [seen[f"{place / 10}"] for place in (1, 3, 8)] == [16, 8, 4]
    search, _ = searching(lambda texts: float(texts[1]))
    assert search.best(texts, 4, lambda made: made >= 9) == texts[0]
    assert search.evaluations == 9


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
    path = search.climb(start, moves)
    assert path[0] == start
    assert truth(path[-1].texts) < 0.1 < truth(start.texts)
    assert all(truth(after.texts) < truth(before.texts) + 0.05 for before, after in pairwise(path))
    assert search.evaluations < 500

from __future__ import annotations

from fractions import Fraction
from math import tanh

import numpy as np
import pytest

from facsimile.risk.membership import (
    EXPOSED,
    ORDINARY,
    STATISTICS,
    Watched,
    bound,
    judged,
    shadow_seeds,
    shadowed,
    statistics,
)
from facsimile.risk.people import People
from facsimile.risk.rates import Rate
from facsimile.table.table import Codes, Table
from risk.towns import domain, drawn, town

ALPHA = 1e-6


def attacked(people: People, runs: int, watched: Watched, tables: list[Table] | None = None) -> dict[str, Rate]:
    """What shadow runs find where the table itself is published, or these tables in its place."""
    codes = people.targets[watched.places]

    def publish(table: Table, run: int) -> tuple[Table, Codes]:
        return (table if tables is None else tables[run]), codes

    found = shadowed(people, watched, runs, publish, np.random.default_rng(4), lambda doing: None)
    assert found.released == runs
    return {name: part.members for name, part in found.parts.items()}


def test_the_bound_is_what_epsilon_allows() -> None:
    assert bound(Fraction(3, 2), Fraction(0)) == pytest.approx(tanh(0.75))
    assert bound(Fraction(0), Fraction(1, 10)) == pytest.approx(0.1)
    assert bound(Fraction(60), Fraction(1, 2)) == 1


def test_the_rarest_are_watched_apart() -> None:
    known = domain(5, 5)
    rare = np.full((5, 2), 4)
    common = drawn(domain(4, 4), 995, 1)
    people = People(Table.from_rows(known, common), np.concatenate([common[:95], rare]), common, common)
    watched = Watched.of(people, 10, np.random.default_rng(1))
    assert watched.exposed == 5 and set(watched.places[:5].tolist()) == set(range(95, 100))
    assert len(set(watched.places.tolist())) == 10


def test_a_table_published_as_it_is_tells_who_was_in_it() -> None:
    people = town(1000, sizes=(30, 30, 30))
    watched = Watched.of(people, 40, np.random.default_rng(1))
    for found in attacked(people, 20, watched).values():
        low, _ = found.bounds(ALPHA)
        assert low > 0.8


def test_tables_without_the_watched_tell_nothing() -> None:
    """Two groups, each fails by chance with a probability of at most 1e-6 / 2."""
    people = town(1000)
    others = [town(1000, seed).strangers for seed in range(10, 30)]
    for found in attacked(people, 20, Watched.of(people, 60, np.random.default_rng(1)), others).values():
        low, high = found.bounds(ALPHA / 2)
        assert low <= 0.5 <= high and found.attacks == 300


def test_what_is_learned_is_judged_on_other_runs() -> None:
    """Pure noise, seldom seen: a limit that is judged where it was learned seems right far too often.

    2,000 coins of each group; fails by chance with a probability of at most 1e-6.
    """
    random = np.random.default_rng(1)
    sums = {EXPOSED: Rate(0, 0), ORDINARY: Rate(0, 0)}
    for _ in range(250):
        coins = random.integers(2, size=(4, 8)).astype(bool)
        found = judged(random.normal(size=(4, 8, len(STATISTICS))), coins, 4)
        sums = {name: sums[name] + part.members for name, part in found.parts.items()}
    for total in sums.values():
        low, high = total.bounds(ALPHA)
        assert total.attacks == 2000 and low <= 0.5 <= high and high - low < 0.15


def test_runs_without_a_release_are_guessed_blindly_and_counted() -> None:
    random = np.random.default_rng(1)
    coins = random.integers(2, size=(40, 20)).astype(bool)
    seen = np.repeat(coins[:, :, None].astype(float), len(STATISTICS), axis=2)
    seen[::2] = np.nan
    found = judged(seen, coins, 10)
    assert found.released == 20
    for part in found.parts.values():
        assert 0.6 < part.members.share < 0.9, "all right where there is a release, half of them elsewhere"
    assert judged(np.full_like(seen, np.nan), coins, 10).released == 0


def test_few_false_alarms_are_few_where_they_were_not_learned() -> None:
    random = np.random.default_rng(1)
    coins = random.integers(2, size=(60, 60)).astype(bool)
    seen = np.repeat((2.5 * coins + random.normal(size=coins.shape))[:, :, None], len(STATISTICS), axis=2)
    found = judged(seen, coins, 60)
    assert found.alarms.bounds(ALPHA)[0] < 0.05 < found.alarms.bounds(ALPHA)[1]
    assert found.found.share > 0.6


def test_statistics_count_what_is_like_a_person() -> None:
    table = Table.from_rows(domain(3, 3), [[0, 0], [0, 0], [0, 1], [2, 2]])
    found = statistics(table, np.array([[0, 0], [1, 1]]))
    assert found[:, 0].tolist() == [2, 0] and found[:, 1].tolist() == [3, 1]
    assert found[0, 2] == pytest.approx(np.log1p(2)) and found[0, 3] == pytest.approx(
        2 * np.log(4) - np.log(4 / 3)
    )


def test_every_run_has_a_seed_of_its_own() -> None:
    seeds = [*shadow_seeds(1, 7, 200), *shadow_seeds(1, 2, 40), *shadow_seeds(2, 7, 200)]
    assert len(set(seeds)) == len(seeds) and shadow_seeds(1, 7, 200) == seeds[:200]

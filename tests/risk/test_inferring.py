from __future__ import annotations

import numpy as np
import pytest

from facsimile.risk.inferring import every_guess, guesses, inferring
from facsimile.table.table import Codes, Table
from risk.towns import domain, drawn, town

ALPHA = 1e-6


def plainly(published: Table, record: Codes, secret: int) -> int:
    """By the definition: votes of the nearest records in the other columns, one record at a time."""
    others = [place for place in range(len(record)) if place != secret]
    far = (published.codes[:, others] != record[others]).sum(axis=1)
    votes = np.zeros(published.domain.shape[secret])
    for row in np.nonzero(far == far.min())[0]:
        votes[published.codes[row, secret]] += published.counts[row]
    return int(votes.argmax())


@pytest.mark.parametrize("seed", range(3))
def test_the_short_cut_guesses_what_the_definition_guesses(seed: int) -> None:
    known = domain(5, 4, 4, 3)
    published, records = Table.from_rows(known, drawn(known, 60, seed)), drawn(known, 80, seed + 100)
    found = every_guess(published, records, (0, 1, 2, 3))
    assert found.tolist() == [[plainly(published, record, secret) for secret in range(4)] for record in records]


@pytest.mark.parametrize("secret", range(4))
def test_no_guess_looks_at_the_secret(secret: int) -> None:
    people = town(1000)
    other = people.targets.copy()
    other[:, secret] = (other[:, secret] + 1 + np.arange(len(other))) % people.rest.domain.shape[secret]
    found = guesses(people.members, people.targets, secret)
    assert np.array_equal(found, guesses(people.members, other, secret))


def test_a_table_of_unique_people_published_as_it_is_gives_every_secret_away() -> None:
    """20,000 possible neighbours in the other columns for 500 people: nearly all are alone."""
    people = town(500, sizes=(30, 30, 30, 30))
    for found in inferring(people.members, people.targets, people.controls).values():
        assert found.members.share == 1 and found.controls.share < 0.3
        assert found.bounds(ALPHA)[0] > 0.4


def test_a_table_without_the_attacked_gives_nothing_away_beyond_chance() -> None:
    """Four columns, each of them fails by chance with a probability of at most 1e-6 / 4."""
    people = town(20_000)
    for found in inferring(people.strangers, people.targets, people.controls).values():
        low, high = found.bounds(ALPHA / 4)
        assert low <= 0 <= high and found.members.attacks == 2000


def test_what_holds_for_everyone_is_no_risk_of_those_in_the_table() -> None:
    """b is a function of a, for members and controls alike: it is guessed of all, and r is not above 0."""
    known = domain(6, 6)
    records = np.repeat(np.arange(6), 100)
    published = Table.from_rows(known, np.column_stack([records, records]))
    group = np.column_stack([np.arange(6), np.arange(6)])
    found = inferring(published, group, group)["b"]
    assert found.members.share == found.controls.share == 1 and found.bounds(ALPHA)[0] <= 0


@pytest.mark.parametrize("secret", range(4))
def test_no_guess_looks_at_the_secret_where_nobody_is_near(secret: int) -> None:
    people = town(500, sizes=(30, 30, 30, 30))
    other = people.controls.copy()
    other[:, secret] = (other[:, secret] + 7) % 30
    found = guesses(people.members, people.controls, secret)
    assert np.array_equal(found, guesses(people.members, other, secret))
    assert found.tolist() == [plainly(people.members, record, secret) for record in people.controls]

from __future__ import annotations

import numpy as np

from facsimile.risk.people import People
from facsimile.risk.rates import Rate
from facsimile.risk.singling import Description, descriptions, singling
from facsimile.table.table import Table
from risk.towns import domain, drawn, town

ALPHA = 1e-6


def test_every_description_fits_as_few_records_as_the_rarest_row() -> None:
    known = domain(6, 5, 4)
    records = drawn(known, 150, 1)
    for published in (Table.from_rows(known, records), Table.from_rows(known, np.repeat(records, 3, axis=0))):
        found = list(descriptions(published, 50, np.random.default_rng(1)))
        least = published.counts.min()
        assert found and len(set(found)) == len(found)
        for description in found:
            assert published.counts[description.fits(published.codes)].sum() == least


def test_a_value_that_only_one_has_is_a_description_of_its_own() -> None:
    known = domain(9, 2)
    records = np.array([[i % 8, i % 2] for i in range(80)] + [[8, 0]])
    found = next(descriptions(Table.from_rows(known, records), 5, np.random.default_rng(1)))
    assert found == Description(((0, 8, 8),))


def test_a_table_published_as_it_is_singles_out_all_whom_it_describes() -> None:
    people = town()
    found = singling(people.members, people, 200, np.random.default_rng(1))["several columns"]
    assert found.members.share == 1 and found.members.attacks > 50
    assert found.controls.share < 0.5 and found.bounds(ALPHA)[0] > 0.5


def test_a_table_without_the_attacked_singles_out_nobody_beyond_chance() -> None:
    """Fails by chance with a probability of at most 1e-6."""
    people = town(5000)
    found = singling(people.strangers, people, 500, np.random.default_rng(1))["several columns"]
    low, high = found.bounds(ALPHA)
    assert low <= 0 <= high and found.members.attacks > 100


def test_controls_isolated_as_members_are_would_hide_the_risk() -> None:
    """With the targets as their own controls nothing is left of the risk: the harness must not do that."""
    people = town()
    same = type(people)(people.rest, people.targets, people.targets, people.standins)
    found = singling(people.members, same, 200, np.random.default_rng(1))["several columns"]
    assert found.members.successes == found.controls.successes > 0


def test_a_description_that_fits_two_singles_out_nobody() -> None:
    known = domain(3, 3)
    rest, targets = Table.from_rows(known, np.zeros((50, 2), int)), np.array([[1, 1], [1, 1], [2, 2]])
    people = People(rest, targets, np.zeros((3, 2), int), np.zeros((3, 2), int))
    published = Table.from_rows(known, [[0, 0], [1, 1], [2, 2]])
    parts = singling(published, people, 50, np.random.default_rng(1))
    assert parts["one column"].members == Rate(2, 4), "a1, b1 fit two, a2, b2 fit one"

from __future__ import annotations

import numpy as np
import pytest

from facsimile.risk.distances import Distances
from facsimile.risk.linking import linking, links, parties
from facsimile.table.table import Codes, Table
from risk.towns import domain, drawn, town

ALPHA = 1e-6


def plainly(published: Table, records: Codes) -> int:
    """By the definition, without a short cut."""
    distances, (ours, theirs) = Distances.to(published), parties(published.domain)
    both = distances.nearest(records, ours) & distances.nearest(records, theirs)
    return int(both.any(axis=1).sum())


def test_the_parties_know_different_columns_and_together_all() -> None:
    ours, theirs = parties(domain(5, 90, 2, 40, 7, 3))
    assert sorted((*ours, *theirs)) == list(range(6)) and len(ours) == len(theirs) == 3
    assert (1 in ours) != (3 in ours), "the two largest columns are not in one hand"


@pytest.mark.parametrize("seed", range(5))
def test_the_short_cut_counts_what_the_definition_counts(seed: int) -> None:
    known = domain(5, 4, 4, 3)
    published, records = Table.from_rows(known, drawn(known, 40, seed)), drawn(known, 200, seed + 100)
    found = links(published, records)
    assert found == plainly(published, records) and 0 < found < 200


def test_a_table_published_as_it_is_links_all_its_people() -> None:
    people = town()
    (found,) = linking(people.members, people.targets, people.controls).values()
    assert found.members.share == 1 and found.bounds(ALPHA)[0] > 0.8


def test_a_table_without_the_attacked_links_nobody_beyond_chance() -> None:
    """Fails by chance with a probability of at most 1e-6."""
    people = town(20_000)
    (found,) = linking(people.strangers, people.targets, people.controls).values()
    low, high = found.bounds(ALPHA)
    assert low <= 0 <= high and 0 < found.controls.share < 1


def test_half_of_the_people_in_the_table_are_half_of_the_risk() -> None:
    people = town(20_000)
    inside = np.arange(len(people.targets)) % 2 == 0
    (found,) = linking(people.table(inside), people.targets, people.controls).values()
    low, high = found.bounds(ALPHA)
    assert low <= 0.5 <= high and high - low < 0.5

"""Linkability: two parties know different columns of the same people. Does the table join the halves?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from facsimile.risk.distances import Distances, ranks
from facsimile.risk.rates import Excess, Rate
from facsimile.table.domain import Domain
from facsimile.table.table import Codes, Table

Places = tuple[int, ...]


def parties(domain: Domain) -> tuple[Places, Places]:
    """Who knows what: columns from the largest to the smallest, dealt out so that both know about as much."""
    order = sorted(range(len(domain.axes)), key=lambda place: (-domain.shape[place], place))
    first = tuple(sorted(order[0::4] + order[3::4]))
    return first, tuple(place for place in range(len(order)) if place not in first)


def links(published: Table, records: Codes) -> int:
    """How many records have both halves linked: a row of the table is nearest to the one and to the other.

    All ties count as nearest, so an arbitrary choice among equal rows neither helps nor harms the attack.
    """
    ours, theirs = parties(published.domain)
    halves = [_known(published.codes[:, list(party)], records[:, list(party)]) for party in (ours, theirs)]
    plain = halves[0] & halves[1]
    linked = int(np.count_nonzero(_known(published.codes, records[plain])))
    distances = Distances.to(published)
    for _, piece in distances.pieces(records[~plain]):
        both = distances.nearest(piece, ours) & distances.nearest(piece, theirs)
        linked += int(np.count_nonzero(both.any(axis=1)))
    return linked


def _known(published: Codes, records: Codes) -> npt.NDArray[np.bool_]:
    """Which records stand in a table as they are. Where both halves do, only the whole record links them."""
    rows, asked = ranks(published, records)
    return np.isin(asked, rows)


def linking(published: Table, targets: Codes, controls: Codes) -> dict[str, Excess]:
    """The attack on both groups; its part is named by the columns of the first party."""
    names = published.domain.names
    ours, theirs = (", ".join(names[p] for p in party) for party in parties(published.domain))
    rates = (Rate(links(published, group), len(group)) for group in (targets, controls))
    return {f"{ours} | {theirs}": Excess(*rates)}

"""The contract of a kind of criterion: its question keeps its sensitivity, and people are told of it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.kind import KINDS, Kind
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import declared
from facsimile.acceptance.regression import Fit
from facsimile.spec.release import Specification
from facsimile.table.table import Table
from facsimile.testing.contract import require
from facsimile.testing.neighbours import Neighbours
from facsimile.testing.queries import SHARP, check_query


def check_kind(
    kind: Kind[Any],
    specification: Specification,
    candidates: Iterable[Table],
    *,
    fit: Fit | None = None,
    reach: Fraction = SHARP,
    pairs: Iterable[Neighbours] | None = None,
) -> Fraction:
    """Measure a kind's questions, one for each candidate: see `check_query`.

    A question that a candidate cannot meet is None, and not all are; a table that equals the candidate is
    where the criterion is met; the planned noise is positive where it is known; there are words for people.
    `fit` is for kinds that compare with a regression of the original. Returns the largest share of a
    sensitivity that was seen.
    """
    threshold = kind.criterion.threshold
    every = None if pairs is None else list(pairs)
    shares = []
    for table in candidates:
        candidate = Candidate(specification, table, fit)
        own = kind.exact(candidate, Original(table))
        require(own is None or own < threshold, "a table is too far from itself")
        asked = kind.asked(candidate)
        if asked is not None:
            require(asked.limit <= threshold, "its question passes what its threshold does not")
            shares.append(check_query(asked.query, table.domain, table.n, reach=Fraction(0), pairs=every))
    require(bool(shares), "no candidate can be asked about")
    require(max(shares) >= reach, f"no record moves its question by {reach} of its sensitivity")
    scale = kind.noise(specification, declared(specification)).scale
    require(scale is None or scale > 0, "its planned noise is not positive")
    require(len(kind.told.words.split()) > 3, "it has no words for people")
    require(KINDS.get(type(kind.criterion)) is type(kind), "its criterion is of another kind")
    return max(shares)

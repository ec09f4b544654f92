"""The contract of a query: one record moves it by its declared sensitivity and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from facsimile.privacy.mechanisms import NoisyAnswer
from facsimile.privacy.queries import Query
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from facsimile.testing.apart import SHARE, check_apart, tightest
from facsimile.testing.contract import Broken, require, require_fit, require_proof
from facsimile.testing.mechanisms import NoNoise
from facsimile.testing.neighbours import Neighbours, content, every_pair

SHARP = Fraction(9, 10)
THRESHOLD = Fraction(1, 3)


def check_query(
    query: Query,
    domain: Domain,
    n: int,
    *,
    reach: Fraction = SHARP,
    defined: Callable[[Table], int | Fraction] | None = None,
    pairs: Iterable[Neighbours] | None = None,
    draws: bool = False,
) -> Fraction:
    """Measure a query on neighbours, all of a tiny domain unless others are given.

    Every table has an exact value; neighbours differ by at most the sensitivity, and some pair by at least
    `reach` of it; the excess over a threshold moves by at most 1 and bounds the value, in the units of its
    `steps`; the value is what `defined` says in plain words. Pairs on which a query draws records are left out:
    the law of such a draw needs a test of its own. With `draws`, which takes seconds, ten thousand noisy
    answers on each table of the tightest pair are told apart no better than is charged for, and hardly worse.
    Returns the largest share of the sensitivity that was seen.
    """
    require_fit(query, domain, n)
    delta = query.sensitivity()
    require(isinstance(delta, Fraction) and delta >= 0, "its sensitivity is no Fraction")
    known: dict[bytes, tuple[Fraction, Fraction, bool]] = {}
    largest = Fraction(0)
    pairs = list(every_pair(domain, n) if pairs is None else pairs)
    for pair in pairs:
        one, other = (_measured(query, table, defined, known) for table in pair)
        if one[2] or other[2]:
            continue
        require(abs(one[0] - other[0]) <= delta, "one record moves it by more than its sensitivity")
        require(abs(one[1] - other[1]) <= 1, "one record moves its excess by more than 1")
        largest = max(largest, abs(one[0] - other[0]) / delta if delta else Fraction(1))
    require(largest >= reach, f"no record moves it by {reach} of its sensitivity: {largest} at most")
    require(max(query.steps(THRESHOLD)) == delta, "its sensitivity is not the largest of its steps")
    require_proof(type(query))
    if draws:
        answer = NoisyAnswer(query, SHARE, finest(delta))
        check_apart(answer, tightest(answer, pairs), tight=reach > 0)
    return largest


def finest(delta: Fraction) -> int:
    """A grid on which Δ is a whole number of units: nothing is lost to rounding."""
    return delta.denominator if delta else 1


def _measured(
    query: Query,
    table: Table,
    defined: Callable[[Table], int | Fraction] | None,
    known: dict[bytes, tuple[Fraction, Fraction, bool]],
) -> tuple[Fraction, Fraction, bool]:
    """Value, excess, and whether records were drawn; computed once for each table."""
    key = content(table)
    if key not in known:
        noise = NoNoise()
        try:
            value, excess = query.value(table, noise), query.excess(table, THRESHOLD, noise)
        except Exception as error:
            raise Broken("it fails on a table that its check let pass") from error
        require(type(value) in (int, Fraction), "its value is neither an integer nor a Fraction")
        require(defined is None or value == defined(table), "its value is not what it is defined to be")
        most = max(Fraction(0), *(THRESHOLD + excess * step for step in query.steps(THRESHOLD)))
        require(noise.drew or value <= most, "its value lies beyond what its excess says")
        require(noise.drew or (value < THRESHOLD) == (excess < 0), "its excess is negative where it is not met")
        known[key] = Fraction(value), excess, noise.drew
    return known[key]

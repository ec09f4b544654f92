"""What a draft promises: criteria that suit the table, thresholds with room, the epsilon of each measurement.

A threshold is twice what two samples of the public table's size are apart (explore/attainable.py), or a floor
where less would matter to nobody, rounded up to a number that people say. Noise is a tenth of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

import numpy as np

from facsimile.acceptance.kind import kinds_of
from facsimile.draft.part import DraftColumn, Part
from facsimile.draft.ties import Ties
from facsimile.explore.attainable import apart
from facsimile.release.public import assumptions, summarise
from facsimile.spec.criteria import ConditionalMean
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.table.numbers import variance
from facsimile.table.table import Table

MOST_MEANS, MOST_BY = 3, 2
NARROW, FEW = 8, 7
"""With at most so many columns tables of three are compared; with at most so many, single records."""
SMALLEST_GROUP = 0.05
ROOM = 2
PAIRS = 5
FLOORS = {"marginals-absolute": 0.005, "total-variation": 0.02, "faithfulness": 0.02}
DEVIATIONS = 0.05
"""The least threshold of a share, and of a mean in its deviations."""
NOISE = Fraction(1, 10)
LEAST, MOST = Fraction(1, 100), Fraction(3, 10)
"""The epsilon of a criterion: what would need more is asked without groups, or not at all."""
TESTED = 2
LEAST_TEST, MOST_TEST = Fraction(1, 10), Fraction(1, 2)
SAID = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def criteria(columns: Sequence[DraftColumn], specification: Specification, ties: Ties) -> list[Part]:
    """The criteria without thresholds and epsilons."""
    ways = min(len(columns), 3 if len(columns) <= NARROW else 2)
    found = [Part({"criterion": "marginals-absolute", "ways": str(ways)})]
    if len(columns) > 1:
        over = "worst" if len(columns) <= NARROW else "average"
        found.append(Part({"criterion": "total-variation", "ways": "2", "over": over}))
    for name in averaged(columns, ties):
        by = _by(name, specification, ties)
        found.append(Part({"criterion": "mean", "of": name, **({"by": by} if by else {})}))
    if 1 < len(columns) <= FEW:
        equal = [column.name for column in columns if column.kind in ("category", "yes or no")][:3]
        match = {"match": equal or [columns[0].name], "within": "1", "reference": "released"}
        found.append(Part({"criterion": "faithfulness", **match}))
    return found


def averaged(columns: Sequence[DraftColumn], ties: Ties) -> list[str]:
    """The columns whose means are compared: those that others say most about."""
    names = [column.name for column in columns if column.averaged]
    worth = {name: ties.to_others(name) for name in names}
    chosen = sorted(names, key=lambda name: -worth[name])[:MOST_MEANS]
    return [name for name in names if name in chosen]


def _by(name: str, specification: Specification, ties: Ties) -> list[str]:
    """The columns whose groups say most about a column and are large."""
    table = ties.table
    found: list[str] = []
    for pair in ties.strengths:
        if name in pair and len(found) < MOST_BY:
            other = pair[1] if pair[0] == name else pair[0]
            groups = sizes(specification, table, other)
            large = len(groups) > 1 and min(groups) >= SMALLEST_GROUP * table.n
            if large and not ties.same(name, other):
                found.append(other)
    return found


def sizes(specification: Specification, table: Table, name: str) -> list[int]:
    """The records in each group of a column; nothing where it has none."""
    column = specification.column(name)
    if column.groups is None:
        return []
    labels, places = column.coarsening(table.domain.axis(name))
    found = np.zeros(len(labels), np.int64)
    np.add.at(found, np.array(places), table.marginal((name,)))
    return [int(size) for size in found]


@dataclass(frozen=True)
class Thresholds:
    """Criteria with their thresholds, a note on each."""

    criteria: tuple[Part, ...]

    @classmethod
    def of(cls, specification: Specification, parts: Sequence[Part], real: Table, seed: int) -> Thresholds:
        """Twice what two samples are apart; a criterion that this leaves nothing of is left out."""
        fresh = apart(specification, real, seed, PAIRS)
        kept: list[Part] = []
        for part, criterion, reached in zip(parts, specification.criteria, fresh, strict=True):
            if reached is None:
                continue
            deviation = variance(real, criterion.of) ** 0.5 if isinstance(criterion, ConditionalMean) else 0
            least = DEVIATIONS * float(deviation) or FLOORS.get(criterion.kind, 0.0)
            threshold = said(max(ROOM * reached, least))
            if criterion.kind not in FLOORS or threshold < 1:
                why = f"two samples of {real.n:,} are up to {about(reached)} apart"
                why += "" if ROOM * reached >= least else f"; at least {about(least)}"
                data = {**part.data, "threshold": show_decimal(threshold)}
                kept.append(Part(data, {**part.notes, "threshold": why}))
        return cls(tuple(kept))

    def loosened(self, errors: Mapping[str, float], names: Sequence[str], room: float) -> Thresholds:
        """Wider ones where candidates had larger errors than they allow."""
        found = []
        for part, name in zip(self.criteria, names, strict=True):
            wider = said(room * errors.get(name, 0.0))
            if wider > Fraction(part.data["threshold"]):
                data = {**part.data, "threshold": show_decimal(wider)}
                why = f"loosened from {part.data['threshold']}, which no trial met"
                part = Part(data, {**part.notes, "threshold": why})
            found.append(part)
        return Thresholds(tuple(found))


def about(value: float) -> str:
    """Two digits of a number, without an exponent.

    >>> about(0.01234), about(698.2), about(12_345_678.0)
    ('0.012', '700', '12,000,000')
    """
    return f"{float(f'{value:.2g}'):,.12f}".rstrip("0").rstrip(".")


def said(value: float) -> Fraction:
    """The next number that people say: one or two digits, rounded up.

    >>> [show_decimal(said(value)) for value in (0.0031, 0.012, 17, 5.0, 0.0)]
    ['0.004', '0.015', '20', '5', '0.000001']
    """
    if value <= 1e-6:
        return Fraction(1, 10**6)
    power = floor(log10(value) + 1e-12)
    scaled = value / 10.0**power
    step = next(step for step in SAID if step >= scaled * (1 - 1e-12))
    return Fraction(str(step)) * Fraction(10) ** power


def priced(specification: Specification, parts: Sequence[Part], real: Table) -> list[Part]:
    """Criteria with the epsilon at which noise is a tenth of the threshold, whatever that is."""
    assumed = assumptions(summarise(specification, real), specification.n)
    needed = [_needed(specification, kind, assumed) for kind in kinds_of(specification)]
    pairs = zip(parts, needed, strict=True)
    return [Part({**part.data, "epsilon": show_decimal(epsilon)}, part.notes) for part, epsilon in pairs]


def affordable(parts: Sequence[Part]) -> list[Part]:
    """What costs too much without its groups, or where it has none left out; others as they are."""
    found = []
    for part in parts:
        dear = Fraction(part.data["epsilon"]) > MOST
        if not dear or "by" in part.data:
            plain = {key: value for key, value in part.data.items() if not dear or key != "by"}
            found.append(Part(plain, part.notes))
    return found


def _needed(specification: Specification, kind: Any, assumed: Any) -> Fraction:
    """Noise is as 1/ε: the epsilon for a tenth of the threshold, from the noise at the declared one."""
    line = kind.noise(specification, assumed)
    share = Fraction(line.share) if line.share is not None else NOISE
    return max(LEAST, two_digits_up(share * line.epsilon / NOISE))


def two_digits_up(value: Fraction) -> Fraction:
    """Rounded up to two digits.

    >>> [show_decimal(two_digits_up(Fraction(text))) for text in ("0.01234", "3.061", "12")]
    ['0.013', '3.1', '12']
    """
    if not value:
        return value
    unit = Fraction(10) ** (floor(log10(value) + 1e-12) - 1)
    return ceil(value / unit) * unit


def joint_test(parts: Sequence[Part]) -> Fraction:
    """The epsilon of the joint test: it keeps a margin of some scales of noise, so it needs more than any."""
    most = max(Fraction(part.data["epsilon"]) for part in parts)
    return min(max(LEAST_TEST, two_digits_up(TESTED * most)), MOST_TEST)

"""Linear criteria: the functions of a record that decide the criteria near a public table, all in one.

A criterion without a linear view is judged by real candidates only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np

from facsimile.acceptance.influence import Influences
from facsimile.acceptance.kind import kinds_of
from facsimile.spec.release import Specification
from facsimile.table.exact import Floats
from facsimile.table.table import Codes, Table

POWER = 12
FAINT, FARTHEST = 1e-6, 1e3


@dataclass(frozen=True, eq=False)
class LinearCriteria:
    """The criteria that have a linear view, by name, each with its functions."""

    parts: tuple[tuple[str, Influences], ...]

    @classmethod
    def of(cls, specification: Specification, table: Table) -> LinearCriteria:
        """Near a public table, under the alternatives that it has."""
        both = (
            (kind.criterion.name, kind.influences(specification, table)) for kind in kinds_of(specification)
        )
        return cls(tuple((name, found) for name, found in both if found is not None and len(found.low)))

    @property
    def names(self) -> tuple[str, ...]:
        """The criteria, in order."""
        return tuple(name for name, _ in self.parts)

    def functions(self, codes: Codes) -> Floats:
        """All functions, a line for each row of codes."""
        return np.concatenate([part.of(codes) for _, part in self.parts], axis=1)

    def worst(self, errors: Floats) -> Floats:
        """For each criterion and each column of errors, how many times its limit the worst error is."""
        found = [_relative(part, mine) for part, mine in self._split(errors)]
        return np.array(
            [
                one.sum(axis=0) if isfinite(p.total) else one.max(axis=0)
                for (_, p), one in zip(self.parts, found, strict=True)
            ]
        )

    def powers(self, errors: Floats) -> tuple[Floats, Floats]:
        """S = Σ (error/limit)^POWER of each column of errors, and its derivative by the errors.

        Around 1 it stands for the worst of all: below 1 nothing is far beyond its limit.
        """
        found, slopes = np.zeros(errors.shape[1]), np.zeros_like(errors)
        start = 0
        for part, mine in self._split(errors):
            slope = _slope(part, mine)
            ratio = mine * slope
            if isfinite(part.total):
                ratio = ratio.sum(axis=0, keepdims=True)
            ratio = np.clip(ratio, FAINT, FARTHEST)
            power = _power(ratio)
            found += power.sum(axis=0)
            slopes[start : start + len(mine)] = POWER * power / ratio * slope
            start += len(mine)
        return found, slopes

    def _split(self, errors: Floats) -> Iterator[tuple[Influences, Floats]]:
        start = 0
        for _, part in self.parts:
            yield part, errors[start : start + len(part.low)]
            start += len(part.low)


def _slope(part: Influences, errors: Floats) -> Floats:
    if isfinite(part.total):
        return np.sign(errors) / part.total
    found: Floats = 1 / np.where(errors > 0, part.high[:, None], part.low[:, None])
    return found


def _power(ratio: Floats) -> Floats:
    """ratio^POWER, by squaring."""
    fourth: Floats = (ratio * ratio) ** 2
    return fourth**2 * fourth


def _relative(part: Influences, errors: Floats) -> Floats:
    """Each error beside its limit; of a sum, its part of it."""
    return errors * _slope(part, errors)

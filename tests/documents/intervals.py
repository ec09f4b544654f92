"""What the explorer's rules say, once more: slowly, cell by cell, and from their definitions alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, inf, nan, prod

import numpy as np

from facsimile.acceptance.bounds import bound
from facsimile.acceptance.decision import Measured
from facsimile.analysis.basis import Basis, NoisyTable
from facsimile.analysis.tails import Cells, half_width, law_of
from facsimile.privacy.modes import mode_of
from facsimile.shaping.constraints import allowed
from facsimile.spec.criteria import ConditionalMean, MarginalsAbsolute
from facsimile.table.table import Table

ALPHA = Fraction(1, 20)
Box = Mapping[str, frozenset[int]]
Interval = tuple[float, float]


def inside(table: Table, box: Box) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which distinct rows lie in a box."""
    found = np.ones(table.distinct, np.bool_)
    for name, codes in box.items():
        found &= np.isin(table.column(name), sorted(codes))
    return found


def counted(table: Table, box: Box) -> int:
    return int(table.counts[inside(table, box)].sum())


def mean_of(table: Table, box: Box, of: str) -> float:
    numbers = np.array([float(number) for number in table.domain.axis(of).numbers or ()])
    rows = inside(table, box)
    total = table.counts[rows].sum()
    return float(numbers[table.column(of)[rows]] @ table.counts[rows] / total) if total else nan


def meet(one: Interval | None, other: Interval | None) -> Interval | None:
    if one is None or other is None:
        return other if one is None else one
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else (min(one[0], other[0]), max(one[1], other[1]))


@dataclass(frozen=True, eq=False)
class Rules:
    """The three rules of a release."""

    basis: Basis

    @property
    def n(self) -> int:
        return self.basis.n

    def luck(self, alpha: Fraction) -> Fraction:
        return replace(mode_of(self.basis.specification.selection), false_accept=alpha).luck

    def bound(self, measured: Measured, rules: int) -> float | None:
        spec = self.basis.specification
        epsilon = spec.epsilon_of(measured.criterion)
        if spec.scheme != "measured":
            return bound(measured, epsilon, spec.scheme == "paper", ALPHA / rules)
        found = bound(measured, epsilon, False, self.luck(ALPHA) / rules)
        rest = 1 - Fraction(1, rules) if rules > 1 else Fraction(1)
        safe = mode_of(spec.selection).luck <= rest * self.luck(ALPHA)
        threshold = float(measured.criterion.threshold)
        return found if not safe else threshold if found is None else min(found, threshold)

    def narrowed(self, box: Box) -> Box:
        """Without the columns that it leaves free."""
        domain = self.basis.table.domain
        return {name: codes for name, codes in box.items() if len(codes) < domain.axis(name).size}

    def covered(self, box: Box) -> Measured | None:
        for m in self.basis.measured:
            if isinstance(m.criterion, MarginalsAbsolute):
                ways = m.criterion.ways
                return m if ways is None or len(box) <= ways else None
        return None

    def limit(self, box: Box, rules: int) -> int | None:
        """U in records: nE is an integer below n times the bound."""
        measured = self.covered(box)
        share = None if measured is None else self.bound(measured, rules)
        return None if share is None else ceil(share * self.n - 1e-6) - 1

    def times(self, box: Box) -> int:
        """How many cells a product of sets is a signed sum of: of each factor its bins, or all less others."""
        sizes = {name: self.basis.table.domain.axis(name).size for name in box}
        inside = prod(len(codes) for codes in box.values())
        every = [prod(sizes.values()) - inside]
        for choice in product((False, True), repeat=len(box)):
            parts = [
                1 + sizes[name] - len(codes) if other else len(codes)
                for other, (name, codes) in zip(choice, box.items(), strict=True)
            ]
            every.append(prod(parts) - all(choice))
        return min(every)

    def never(self, box: Box) -> bool:
        """Whether no record of the original may lie in it."""
        domain = self.basis.table.domain
        free = allowed(self.basis.specification.raw_conditions, domain)
        return not free[np.ix_(*(sorted(box.get(a.name, range(a.size))) for a in domain.axes))].any()

    def known(self, box: Box, one: bool, two: bool, rules: int, parts: int) -> Interval | None:
        if self.never(box):
            return 0, 0
        return meet(
            self.by_cells(box, rules) if one else None, self.by_table(box, rules, parts) if two else None
        )

    def by_cells(self, box: Box, rules: int) -> Interval | None:
        limit, value = self.limit(box, rules), counted(self.basis.table, box)
        if limit is None:
            return None
        half = self.times(box) * limit
        return max(0, value - half), min(self.n, value + half)

    def level(self, rules: int, parts: int) -> Fraction:
        match self.basis.specification.scheme:
            case "train-once":
                return ALPHA / rules / parts
            case "measured":
                return self.luck(ALPHA) / rules / parts
        return self.luck(ALPHA / rules) / parts

    def by_table(self, box: Box, rules: int, parts: int) -> Interval | None:
        spec = self.basis.specification
        if spec.scheme != "train-once" and not mode_of(spec.selection).halting:
            return None
        known = [found for t in self.basis.tables if (found := self._of_table(t, box, rules, parts))]
        if not known:
            return None
        middle, half = min(known, key=lambda found: found[1])
        low, high = ceil(middle - half - 1e-6), floor(middle + half + 1e-6)
        return min(self.n, max(0, low)), max(0, min(self.n, high))

    def _of_table(self, table: NoisyTable, box: Box, rules: int, parts: int) -> tuple[float, float] | None:
        if not set(box) <= set(table.columns):
            return None
        kept = np.ones(table.counts.shape, np.bool_)
        for axis, (name, groups) in enumerate(zip(table.columns, table.groups, strict=True)):
            held = np.isin(np.arange(len(groups)), sorted(box.get(name, range(len(groups)))))
            for group in range(table.counts.shape[axis]):
                if held[groups == group].any() != held[groups == group].all():
                    return None
                if not held[groups == group].any():
                    kept[(slice(None),) * axis + (group,)] = False
        j, k, law = int(kept.sum()), kept.size, law_of(table.share)
        noise = [Cells(1 - j / k, law, j), Cells(j / k, law, k - j)]
        middle = table.counts[kept].sum() - j / k * (table.counts.sum() - self.n)
        return float(middle), half_width(noise, float(self.level(rules, parts)))

    def count(self, given: Box) -> Interval | None:
        box = self.narrowed(given)
        if not box:
            return self.n, self.n
        one, two = self.covered(box) is not None, self.by_table(box, 2, 1) is not None
        return self.known(box, one, two, one + two, 1)

    def share(self, given: Box, base: Box) -> Interval | None:
        box, base = self.narrowed(given), self.narrowed(base)
        if not base or self.never(box):
            found = self.count(box)
            return None if found is None else (found[0] / self.n, found[1] / self.n)
        one = self.covered(box) is not None
        two = self.by_table(box, 2, 2) is not None and self.by_table(base, 2, 2) is not None
        rules = one + two
        a, b = (self.known(part, one, two, rules, 2) for part in (box, base))
        if a is None or b is None:
            return None
        c: Interval = (0, self.n)
        limit = self.limit(box, rules) if one else None
        if limit is not None:
            axes = self.basis.table.domain
            taken = prod(len(base.get(name, range(axes.axis(name).size))) for name in box)
            apart = taken - prod(map(len, box.values()))
            half = limit * min(apart, self.times(box) + self.times(base))
            value = counted(self.basis.table, base) - counted(self.basis.table, box)
            c = max(0, value - half), min(self.n, value + half)
        below, above = min(b[1], a[0] + c[1]), max(b[0], a[1] + c[0])
        low, high = a[0] / below if below else 0.0, a[1] / above if above else 1.0
        return min(1.0, low), min(1.0, high)

    def mean(self, given: Box, of: str) -> Interval | None:
        axis, box = self.basis.table.domain.axis(of), self.narrowed(given)
        assert axis.numbers is not None
        codes = sorted(box.get(of, range(axis.size)))
        bins = [self.narrowed(dict(box) | {of: frozenset([code])}) for code in codes]
        one = self.covered(bins[0]) is not None
        two = all(self.by_table(own, 3, axis.size) is not None for own in bins)
        asked = self.asked(box, of) if one or two or not box else None
        rules = one + two + (asked is not None)
        known = [self.known(own, one, two, rules, axis.size) for own in bins]
        numbers, found = [float(axis.numbers[code]) for code in codes], None
        sure = [interval for interval in known if interval is not None]
        if len(sure) == len(known):
            found = extremes(numbers, sure)
        limit = None if asked is None else self.bound(asked[0], rules)
        if asked is not None and limit is not None:
            least: float = sum(interval[0] for interval in sure)
            whole = self.by_cells(box, rules) if one else None
            least = self.n if not box else max(least, 0 if whole is None else whole[0])
            half = limit * max(1, asked[2] / least) if least else inf
            found = meet(found, (asked[1] - half, asked[1] + half)) if least else found
        if found is None:
            return None
        low, high = min(numbers), max(numbers)
        return min(high, max(low, found[0])), max(low, min(high, found[1]))

    def asked(self, box: Box, of: str) -> tuple[Measured, float, int] | None:
        """The criterion about the mean of this very group: its centre, and the size it counts with."""
        spec, table = self.basis.specification, self.basis.table
        for measured in self.basis.measured:
            c = measured.criterion
            if not isinstance(c, ConditionalMean) or c.of != of or measured.form != "sharp":
                continue
            for by in [(), *((one,) if isinstance(one, str) else tuple(one) for one in c.by)]:
                coarse = {name: spec.column(name).coarsening(table.domain.axis(name))[1] for name in by}
                if set(box) != set(by):
                    continue
                groups = {name: {coarse[name][code] for code in box[name]} for name in by}
                whole = all(
                    len(groups[name]) == 1 and sum(g in groups[name] for g in coarse[name]) == len(box[name])
                    for name in by
                )
                if not whole:
                    continue
                size = counted(table, box)
                low, high = measured.bounds or (Fraction(0), Fraction(0))
                centre = mean_of(table, box, of) if size else float(low + high) / 2
                smallest = max(1, floor(size - spec.slack * self.n)) if size else 1
                return measured, centre, max(smallest, c.fill_to or 1) if box else self.n
        return None


def extremes(numbers: list[float], counts: list[Interval]) -> Interval | None:
    """By trying every corner of the box of counts."""
    corners = np.array(np.meshgrid(*counts, indexing="ij")).reshape(len(counts), -1).T
    corners = corners[corners.sum(axis=1) > 0]
    means = corners @ np.array(numbers) / corners.sum(axis=1)
    return (float(means.min()), float(means.max())) if len(means) else None

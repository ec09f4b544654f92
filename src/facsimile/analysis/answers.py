"""Answers: the released table's own figure, and what the original's lies between, by the rules that apply.

Which rules are asked, and how they share what may be missed, is fixed by the specification, the configuration
and the question (intervals.py has the theorem, levels.py the levels). Tables against criteria: by their half
widths at equal parts, tables' by their design and criteria's at a third of their thresholds; who would be twice
as wide as the other is not asked. Among criteria, whose noise is drawn for a release that is fixed, also by the
release.

For a ratio μ = N/D of two sums of the original (a mean, a proportion) that noisy tables tell:

Theorem.  Let N̂ and D̂ be estimates with errors X and Y as in noisy.py, r(μ; β) a half width of X − μY, and d
  one of Y at 0.02β, D̂ > d. Let U have N̂ − UD̂ + r(U; 0.98β) < 0, and L have N̂ − LD̂ − r(L; 0.98β) > 0. Then
  L ≤ N/D ≤ U but for probability β: a miss is one event at the one true ratio, however many are tried.
Proof.    Let μ* = N/D, and q the smallest half width of X − μ*Y: |X − μ*Y| ≤ q but for probability β.
  Suppose so, and μ* > U. X − μ*Y = (X − UY) − (μ* − U)Y, so q ≤ r(U; 0.98β) + (μ* − U)d by the union of two
  events. As N − μ*D = 0, N̂ − μ*D̂ = X − μ*Y ≥ −q; but N̂ − μ*D̂ = N̂ − UD̂ − (μ* − U)D̂ < −r(U; 0.98β) − (μ* − U)d
  ≤ −q, since D̂ > d. The same from below.  QED

For a quantile b* of the original, the first bin with F(b*) ≥ p·D, F(b) the records up to b:

Theorem.  Let l_b ≤ F(b) − pD ≤ h_b at level β for each bin b, each side at β/2. The bins with h_b ≥ 0 and
  l_{b−1} < 0 hold b* but for probability β.
Proof.    F(b*) − pD ≥ 0 > F(b*−1) − pD: b* is left out only if h misses at b*, or l at b*−1; each is one event
  of probability at most β/2.  QED
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, sqrt

import numpy as np

from facsimile.acceptance.decision import Measured
from facsimile.analysis.basis import Basis
from facsimile.analysis.criteria import Criteria, Reach, error_bound, of_mean
from facsimile.analysis.events import EVERYTHING, Event, axis_of, both, event_of, joined, without
from facsimile.analysis.intervals import ANYTHING, SHARE, Claim, Interval, intersected, mean, ratio
from facsimile.analysis.levels import Confidence, Levels
from facsimile.analysis.noisy import NOTHING, Estimates, NoisyCounts, Sum
from facsimile.analysis.questions import Count, Crossing, Mean, Proportion, Quantile
from facsimile.errors import refusal
from facsimile.privacy.queries.means import Group
from facsimile.spec.columns import Axis
from facsimile.table.exact import Floats
from facsimile.table.numbers import floats

GUARANTEED, ESTIMATED, NONE = "guaranteed", "estimated", "none"
ALONE, AT_ONCE = "for this question alone", "for all cells at once"
GIVEN, OF_SEARCH = "given this release", "of the search"
NOISY = "noisy table"
NOISY_WHY = (
    "The noisy tables that the release was made from are published, and the law of their noise is known."
)
RULES = "rules"
RULES_WHY = "The rules of the specification leave no such record in the original."
KNOWN = "number of records"
KNOWN_WHY = "The number of records is public."
MOST_ROWS = 5000
HALF = Fraction(1, 2)
USUAL = 1 / 3
"""What a bound is of its threshold, about, in a release that was accepted."""


@dataclass(frozen=True)
class Found:
    """A number of the release, and the interval for the original's with the rules that decide it.

    `status` is `guaranteed`, `estimated` or `none`; without a guarantee or an estimate there is no interval.
    `labels`: the bins at the ends, where it is a bin.
    """

    value: float | None
    interval: Interval | None
    status: str
    rules: tuple[Claim, ...] = ()
    promise: str = GIVEN
    holds: str = ALONE
    labels: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its labels, and what was found."""

    labels: tuple[str, ...]
    found: Found


@dataclass(frozen=True, eq=False)
class Analyst:
    """Answers questions about a release with a confidence, alone or together with others."""

    basis: Basis
    confidence: Fraction = Fraction(19, 20)
    together: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise refusal("E435", problem="A confidence lies between 0 and 1.")
        if not 1 <= self.together <= 10**6:
            raise refusal("E435", problem="Between 1 and a million questions hold together.")

    @cached_property
    def _levels(self) -> Confidence:
        return Confidence(self.basis.specification, 1 - self.confidence, self.together)

    @cached_property
    def _criteria(self) -> Criteria:
        return Criteria(self.basis)

    @cached_property
    def _noisy(self) -> NoisyCounts:
        basis = self.basis
        tables = basis.tables if self._levels.tables_speak else ()
        known = basis.planned, basis.more, basis.specification.raw_conditions
        return NoisyCounts(basis.table.domain, basis.n, tables, *known)

    def shared(self, tables: Fraction) -> Levels:
        """The levels of an answer of which the tables have this part."""
        return self._levels.shared(tables)

    # Counts

    def count(self, question: Count) -> Found:
        """How many records satisfy a condition."""
        return self.counted(event_of(question.where, self.basis.table.domain))

    def counted(self, event: Event) -> Found:
        """The count of an event."""
        value, certain = self._criteria.count(event), self._certain(event)
        if certain is not None:
            return Found(value, certain.interval, GUARANTEED, (certain,))
        told = self._told([event])
        return self._found(value, told.claims(0), Interval(0, self.basis.n), told.promise, whole=True)

    def cells(self, question: Crossing) -> list[Cell]:
        """Every cell of a table; all intervals hold at once."""
        domain, n = self.basis.table.domain, self.basis.n
        by = tuple(axis_of(name, domain).name for name in question.by)
        where = event_of(question.where, domain)
        sizes = [domain.axis(name).size for name in by]
        if np.prod(sizes) > MOST_ROWS:
            raise refusal("E434", problem=f"The table has more than {MOST_ROWS:,} cells.")
        events, labels = [], []
        for codes in np.ndindex(*sizes):
            event = where
            for name, code in zip(by, codes, strict=True):
                event = both(event, Event((name,), np.arange(domain.axis(name).size) == code), domain)
            events.append(event)
            labels.append(tuple(domain.axis(name).labels[code] for name, code in zip(by, codes, strict=True)))
        told, found = self._told(events), []
        for place, (event, label) in enumerate(zip(events, labels, strict=True)):
            value, certain = self._criteria.count(event), self._certain(event)
            if certain is not None:
                found.append(Cell(label, Found(value, certain.interval, GUARANTEED, (certain,), holds=AT_ONCE)))
                continue
            one = self._found(
                value, told.claims(place), Interval(0, n), told.promise, whole=True, holds=AT_ONCE
            )
            found.append(Cell(label, one))
        return found

    def _certain(self, event: Event) -> Claim | None:
        """A count that needs no noise: all records, or none that the rules allow."""
        possible = self._criteria.possible(event.columns)
        if not (event.mask & possible).any():
            return Claim(RULES, RULES_WHY, Interval(0, 0))
        if not (~event.mask & possible).any():
            known = not event.columns
            return Claim(
                KNOWN if known else RULES,
                KNOWN_WHY if known else RULES_WHY,
                Interval(self.basis.n, self.basis.n),
            )
        return None

    def _told(self, events: Sequence[Event], always: bool = False) -> Told:
        """Who speaks of the counts of some events, and at which levels.

        `always`: tables and criteria have a half each where both speak.
        """
        sums = self._sums(events)
        reaches = [list(self._criteria.reaches(event)) for event in events]
        part = self._part(sums, reaches, always)
        levels = self._levels.shared(part)
        chosen = self._chosen(reaches) if part < 1 else []
        return Told(self, levels, sums if part else NOTHING, reaches, chosen)

    def _sums(self, events: Sequence[Event]) -> Estimates:
        """The estimates of some counts by noisy tables."""
        domain = self.basis.table.domain
        if not self._noisy.tables:
            return NOTHING
        columns = joined((event.columns for event in events), domain)
        shape = domain.project(columns).shape
        masks = [np.broadcast_to(event.over(columns), shape) for event in events]
        return self._noisy.told(columns, np.array(masks, np.float64))

    def _part(self, sums: Estimates, reaches: list[list[Reach]], always: bool) -> Fraction:
        """The tables' part of what may be missed: all, a half or nothing; noise has no say in it."""
        if not sums.speaks:
            return Fraction(0)
        if not any(reaches):
            return Fraction(1)
        levels = self._levels.shared(HALF)
        if always or sums.fixed is None or not levels.tables:
            return HALF
        (part, fixed), ratios = sums.fixed, []
        for place, own in enumerate(reaches):
            criteria = min((reach.spread for reach in own), default=inf) * USUAL
            one = fixed[place]
            width = inf if one is None else one.half_width(levels.tables * part / len(reaches))
            ratios.append(width / max(criteria, 1e-300) if criteria < inf or one is not None else 1.0)
        middle = float(np.median([min(one, 1e9) for one in ratios]))
        return Fraction(1) if middle < 0.5 else Fraction(0) if middle > 2 else HALF

    def _chosen(self, reaches: Iterable[list[Reach]]) -> list[Measured]:
        """The criteria that are asked: those that promise about as much as the best, at their thresholds."""
        chosen: dict[str, Measured] = {}
        for own in reaches:
            best = min((reach.promised for reach in own), default=inf)
            for reach in own:
                if reach.promised <= 2 * best:
                    chosen[reach.measured.criterion.name] = reach.measured
        return list(chosen.values())

    def _found(
        self,
        value: float | None,
        claims: Iterable[Claim],
        limits: Interval,
        promise: str,
        whole: bool = False,
        holds: str = ALONE,
    ) -> Found:
        """What claims leave within limits; no guarantee where nothing is claimed or nothing is gained."""
        every = [c for c in claims if c.interval.low > limits.low or c.interval.high < limits.high]
        if not every:
            return Found(value, None, NONE, holds=holds)
        if whole:
            every = [Claim(c.rule, c.why, c.interval.whole()) for c in every]
        interval, binding = intersected(every, limits)
        return Found(value, interval, GUARANTEED, _once(binding or every), promise, holds)

    # Shares, means and quantiles

    def proportion(self, question: Proportion) -> Found:
        """The share of records that satisfy a condition."""
        domain = self.basis.table.domain
        return self.share(event_of(question.of, domain), event_of(question.given, domain))

    def share(self, event: Event, given: Event) -> Found:
        """The share of an event among the records of another."""
        domain, table = self.basis.table.domain, self.basis.table
        part, rest = both(event, given, domain).reduced(), without(given, event, domain).reduced()
        size = self._criteria.count(given)
        value = self._criteria.count(part) / size if size else None
        if self._certain(given) is not None and size == table.n:
            counted = self.counted(part)
            if counted.interval is None:
                return Found(value, None, NONE)
            return Found(value, counted.interval.over(table.n), counted.status, counted.rules, counted.promise)
        told = self._told([part, given, rest], always=True)
        own = list(self._criteria.means(None, event, given))
        told = told.joined_by([measured for measured, _ in own])
        claims = self._ratios(told, 0, 1, SHARE)
        a, b, c = (told.known(place) for place in range(3))
        claims += _by(
            a + c + b, "conditional proportion", lambda: ratio(*(_met(x, self.basis.n) for x in (a, c, b)))
        )
        claims += self._floored(told, own, given, 1)
        return self._found(value, claims, SHARE, told.promise)

    def mean(self, question: Mean) -> Found:
        """The mean of a column's numbers."""
        return self.averaged(question.of, event_of(question.where, self.basis.table.domain))

    def averaged(self, of: str, where: Event) -> Found:
        """The mean of a column's numbers among the records of an event."""
        axis = self._numbered(of)
        numbers = floats(axis)
        bins = [self._bin(axis, [code], where) for code in range(axis.size)]
        counts = np.array([self._criteria.count(event) for event in bins], np.float64)
        value = float(counts @ numbers / counts.sum()) if counts.sum() else None
        told = self._told([*bins, where], always=True)
        own = list(self._criteria.means(axis.name, EVERYTHING, where))
        told = told.joined_by([measured for measured, _ in own])
        limits = Interval(float(numbers.min()), float(numbers.max()))
        claims = self._ratios(told, range(axis.size), axis.size, limits, numbers)
        known = [told.known(place) for place in range(axis.size)]
        if all(known):
            every = [one for claims_ in known for one in claims_]
            claims += _by(every, "", lambda: mean(numbers.tolist(), [_met(one, self.basis.n) for one in known]))
        claims += self._floored(told, own, where, axis.size)
        return self._found(value, claims, limits, told.promise)

    def quantile(self, question: Quantile) -> Found:
        """The first bin, in the order of the numbers, that a share of the records does not exceed."""
        return self.ranked(question.of, question.at, event_of(question.where, self.basis.table.domain))

    def ranked(self, of: str, share: Fraction, where: Event) -> Found:
        """A quantile of a column's numbers among the records of an event."""
        axis, at = self._numbered(of), float(share)
        order = np.argsort(floats(axis), kind="stable").tolist()
        prefixes = [self._bin(axis, order[: k + 1], where) for k in range(axis.size)]
        rests = [self._bin(axis, order[k + 1 :], where) for k in range(axis.size)]
        below = np.array([self._criteria.count(event) for event in prefixes])
        size = int(below[-1])
        place = int(np.searchsorted(below, -(-share.numerator * size // share.denominator)))
        told = self._told([*prefixes, *rests, where], always=True)
        inside = np.ones(axis.size, np.bool_)
        rules: list[Claim] = []
        for part, found in told.sums.every:
            level = (told.levels.tables or 0.0) * part
            whole = found[-1]
            for k in range(axis.size):
                one = found[k]
                if one is None or whole is None:
                    continue
                less = one.less(whole, at)
                value, reach = less.value(self.basis.tables), less.half_width(level, rough=True)
                if abs(value) <= reach < inf:
                    reach = less.half_width(level)
                inside[k] &= value + reach >= 0
                if k + 1 < axis.size:
                    inside[k + 1] &= value - reach < 0
                rules.append(Claim(NOISY, NOISY_WHY, ANYTHING))
        for k in range(axis.size):
            a, b, c = told.known(k), told.known(2 * axis.size), told.known(axis.size + k)
            if a or b or c:
                ends = ratio(*(_met(x, self.basis.n) for x in (a, c, b)))
                inside[k] &= ends.high >= at
                if k + 1 < axis.size:
                    inside[k + 1] &= ends.low < at
                rules += [Claim("quantile", claim.why, ANYTHING) for claim in (*a, *b, *c)]
        numbers = [float(floats(axis)[code]) for code in order]
        own = None if not size else numbers[place]
        held = np.flatnonzero(inside) if inside.any() else np.arange(axis.size)
        if not rules or len(held) == axis.size:
            return Found(own, None, NONE)
        first, last = int(held[0]), int(held[-1])
        labels = [axis.labels[order[k]] for k in (place if size else 0, first, last)]
        interval = Interval(numbers[first], numbers[last])
        shown = labels[0], labels[1], labels[2]
        return Found(own, interval, GUARANTEED, _once(rules), told.promise, labels=shown)

    def _numbered(self, name: str) -> Axis:
        axis = axis_of(name, self.basis.table.domain)
        if axis.numbers is None:
            raise refusal("E434", problem=f"A bin of {name} has no number.")
        return axis

    def _bin(self, axis: Axis, codes: Sequence[int], where: Event) -> Event:
        """Some bins of a column among the records of an event."""
        chosen = np.isin(np.arange(axis.size), codes)
        return both(where, Event((axis.name,), chosen), self.basis.table.domain)

    def _ratios(
        self,
        told: Told,
        parts: int | Iterable[int],
        whole: int,
        limits: Interval,
        numbers: Floats | None = None,
    ) -> list[Claim]:
        """The ratio of Σ numbers·parts and a whole, by noisy tables."""
        places = [parts] if isinstance(parts, int) else list(parts)
        weights = np.ones(len(places)) if numbers is None else numbers
        claims = []
        for part, found in told.sums.every:
            above, under = [found[place] for place in places], found[whole]
            if under is None or any(one is None for one in above):
                continue
            first = under.less(under, 1.0)
            for weight, one in zip(weights.tolist(), above, strict=True):
                assert one is not None
                first = first.less(one, -weight)
            level = (told.levels.tables or 0.0) * part
            claims.append(Claim(NOISY, NOISY_WHY, self.divided(first, under, level, limits)))
        return claims

    def divided(self, above: Sum, under: Sum, beta: float, limits: Interval) -> Interval:
        """N/D between limits that hold for certain."""
        tables = self.basis.tables
        n_hat, d_hat = above.value(tables), under.value(tables)
        if beta <= 0 or d_hat <= under.half_width(0.02 * beta):
            return limits
        centre = min(max(n_hat / d_hat, limits.low), limits.high)
        step = 3 * sqrt(above.less(under, centre).variance) / d_hat + 1e-12 * (1 + abs(centre))

        def beyond(side: float) -> float:
            def excess(mu: float) -> float:
                reach = above.less(under, mu).half_width(0.98 * beta)
                return side * (n_hat - mu * d_hat) + reach

            limit = limits.high if side > 0 else limits.low
            inner, outer, far = centre, centre + side * step, step
            while side * (limit - outer) > 0 and excess(outer) >= 0:
                inner, far = outer, 2 * far
                outer = outer + side * far
            if side * (limit - outer) <= 0:
                return limit
            while abs(outer - inner) > 0.01 * max(abs(outer - centre), step):  # step is many last places
                middle = (inner + outer) / 2
                inner, outer = (middle, outer) if excess(middle) >= 0 else (inner, middle)
            return outer

        return Interval(beyond(-1.0), beyond(1.0))

    def _floored(
        self, told: Told, own: Iterable[tuple[Measured, Group]], where: Event, place: int
    ) -> list[Claim]:
        """A mean that was measured in just this group."""
        claims = []
        for measured, group in own:
            error = told.error(measured)
            everyone = where.reduced().columns == ()
            fewest = self.basis.n if everyone else _met(told.known(place), self.basis.n).low
            found = None if error is None else of_mean(group, error, fewest)
            if found is not None:
                why = "The largest error of this mean, overall and in the groups named, was measured."
                claims.append(Claim("mean criterion", why, found))
        return claims


@dataclass(frozen=True, eq=False)
class Told:
    """What tables and criteria say of the counts of some events, at levels that are fixed."""

    analyst: Analyst
    levels: Levels
    sums: Estimates
    reaches: list[list[Reach]]
    chosen: list[Measured]

    @property
    def promise(self) -> str:
        """Whether it holds given the release, or of the whole search."""
        return OF_SEARCH if self.levels.of_search else GIVEN

    def joined_by(self, more: Iterable[Measured]) -> Told:
        """The same, with further criteria among those that share their level."""
        if self.levels.criteria is None:
            return self
        named = {m.criterion.name: m for m in (*self.chosen, *more)}
        return Told(self.analyst, self.levels, self.sums, self.reaches, list(named.values()))

    def error(self, measured: Measured) -> float | None:
        """The bound of a criterion that is asked."""
        if measured.criterion.name not in {one.criterion.name for one in self.chosen}:
            return None
        return error_bound(self.analyst.basis, measured, self.levels, len(self.chosen))

    def known(self, place: int) -> list[Claim]:
        """What the criteria say of one count."""
        found = []
        for reach in self.reaches[place]:
            error = self.error(reach.measured)
            if error is not None:
                found.append(Claim(reach.rule, reach.why, reach.interval(error)))
        return found

    def claims(self, place: int) -> list[Claim]:
        """What everybody says of one count: of several events, each at its part of the tables' level."""
        found = self.known(place)
        for part, sums in self.sums.every:
            one, level = sums[place], (self.levels.tables or 0.0) * part / len(self.reaches)
            if one is not None and level > 0:
                value, reach = one.value(self.analyst.basis.tables), one.half_width(level)
                found.append(Claim(NOISY, NOISY_WHY, Interval(value - reach, value + reach)))
        return found


def _met(claims: Iterable[Claim], n: int) -> Interval:
    """What claims about one count leave of it, in whole records."""
    found = Interval(0, n)
    for claim in claims:
        found = found.meet(claim.interval.whole())
    return found if found.low <= found.high else Interval(0, n)


def _by(claims: Sequence[Claim], rule: str, made: Callable[[], Interval]) -> list[Claim]:
    """What follows from several claims about counts, under one rule."""
    if not claims:
        return []
    first = claims[0]
    return [Claim(rule or first.rule, first.why, made())]


def _once(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Each rule once."""
    return tuple({claim.rule: claim for claim in claims}.values())

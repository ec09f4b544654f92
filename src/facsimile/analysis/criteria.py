"""Criteria: what a measured criterion says about a count or a mean of the original.

One noisy number speaks of a largest error E over a public list, so a bound of E holds for everything on that
list at once. R is the original, S the release, |S| = n, and E ≤ u. With U = ⌈nu⌉ − 1, an integer of records
because nE is one and nE < nu:

cell        `marginals-absolute`: |R(c) − S(c)| ≤ U for every cell c of every table of up to `ways` columns.
union       J of the K cells of one table that are possible: ≤ min(J, K−J)·U. The other K−J make it n less.
            A product A₁×…×A_d: ≤ Π aᵢ·U where aᵢ is |Aᵢ|, or 1 + |Aᵢᶜ|: an indicator of Aᵢ is 1 less that of
            each other bin, so the product is a signed sum of so many cells of tables of up to d columns; where
            every factor is taken so, one of them is all records, whose number is known.
prefix      `ranges-absolute`: a prefix or suffix of a column, in all records or in a group, ≤ U; a range
            between, the difference of two, ≤ 2U; g groups, ≤ g times that.
ratio       `marginals-relative`: (R+1)/(S+1) and its inverse are at most u for every one-way cell:
            (S+1)/u − 1 ≤ R ≤ (S+1)·u − 1; cells of one column add up, and so do all others, to n less.
distance    `total-variation`: half of Σ|R(c) − S(c)| is at most U, so a set of cells, whose difference is what
            its cells gain, or what all others lose, is off by at most U. Of an average E over M tables MnE, the
            sum of their distances, is the integer below Mnu, and no single distance is more.
partners    `faithfulness`: all but U records of S have partners of their own in R: S(A⁻) − U ≤ R(A) ≤ S(A⁺) +
            U, A⁺ the rows with some possible partner in A, A⁻ those with all of them in A. Proof: of the S(A⁻)
            records at most U have no partner, the others' partners are distinct and lie in A. For the upper
            end take the complement: R(Aᶜ) ≥ S((Aᶜ)⁻) − U and (Aᶜ)⁻ = (A⁺)ᶜ.
share       `query`, `proportion`: exactly this share of all records: |R(A) − S(A)| ≤ n·u, for a proportion up
            to the rounding of its centre.
mean        `mean`, `proportion`, floored: f = (Σ(x − c))/max(n_v, m) has |f| ≤ u, c the centre and m the size
            that the group counts with. Where n_v ≥ ℓ > 0 records are in it: |mean − c| ≤ u·max(1, m/ℓ). Proof:
            Σ(x − c) = n_v(mean − c), and n_v/max(n_v, m) ≥ min(1, ℓ/m).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import ceil, prod
from typing import Any

import numpy as np

from facsimile.acceptance.bounds import bound
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import Measured
from facsimile.acceptance.groups import crossing, likeness
from facsimile.acceptance.kind import Kind, kind_of
from facsimile.acceptance.kinds.means import GroupedKind
from facsimile.analysis.basis import Basis
from facsimile.analysis.events import EVERYTHING, Event
from facsimile.analysis.intervals import Interval
from facsimile.analysis.levels import Levels
from facsimile.privacy.queries import Viewed
from facsimile.privacy.queries.means import Group, GroupMeans
from facsimile.shaping.constraints import allowed, impossible
from facsimile.spec.constraints import names
from facsimile.spec.criteria import (
    ConditionalMean,
    Faithfulness,
    MarginalsAbsolute,
    MarginalsRelative,
    NamedQuery,
    Proportion,
    RangesAbsolute,
    TotalVariationDistance,
    crossed,
)
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Ints
from facsimile.table.matching import EXACT, Likeness

HAIR = 1e-6
HUGE = 1_000_000
"""Conditions over more cells are not compared with a question's."""


@dataclass(frozen=True, eq=False)
class Reach:
    """What a criterion says of a count, once its error is bounded.

    `interval` gives the interval from a bound of the error; `spread` is half its width at the threshold,
    roughly, as a function of the specification alone: it decides who is asked, and noise has no part in it.
    """

    measured: Measured
    rule: str
    why: str
    spread: float
    interval: Callable[[float], Interval]

    @property
    def promised(self) -> float:
        """The width at the threshold."""
        return self.interval(float(self.measured.criterion.threshold)).width


def error_bound(basis: Basis, measured: Measured, levels: Levels, parts: int) -> float | None:
    """The error of a criterion is less, but for a part of the criteria's level; None where none is."""
    if levels.criteria is None:
        return None
    epsilon = basis.specification.epsilon_of(measured.criterion)
    found = bound(measured, epsilon, levels.selective, levels.criteria / parts) if epsilon else None
    if not levels.trusted:
        return found
    threshold = float(measured.criterion.threshold)
    return threshold if found is None else min(found, threshold)


def records(n: int, error: float) -> int:
    """How many records a share of them is, at most: nE is an integer below n·error."""
    return max(0, ceil(n * error - HAIR) - 1)


@dataclass(frozen=True, eq=False)
class Criteria:
    """The measured criteria of a release, and what each says about counts and means."""

    basis: Basis

    @cached_property
    def candidate(self) -> Candidate:
        """The released table with its questions, each made once."""
        return self.basis.candidate

    @cached_property
    def _marginals(self) -> dict[Clique, tuple[Ints, Mask]]:
        return {}

    def _known(self, columns: Clique) -> tuple[Ints, Mask]:
        """The released counts of some columns, and which cells are possible; made once."""
        if columns not in self._marginals:
            table = self.basis.table
            counts = table.marginal(columns)
            rules = [r for r in self.basis.specification.raw_conditions if set(names(r)) <= set(columns)]
            possible = np.asarray(allowed(rules, table.domain.project(columns)) | (counts > 0))
            self._marginals[columns] = counts, possible
        return self._marginals[columns]

    def count(self, event: Event) -> int:
        """How many released records lie in an event."""
        return int(self._known(event.columns)[0][event.mask].sum())

    def reaches(self, event: Event) -> Iterator[Reach]:
        """Every criterion that speaks of the count of an event."""
        ways: dict[type[Any], Callable[[Measured, Event], Reach | None]] = {
            MarginalsAbsolute: self._absolute,
            MarginalsRelative: self._relative,
            RangesAbsolute: self._ranges,
            TotalVariationDistance: self._variation,
            Faithfulness: self._partners,
            NamedQuery: self._share,
            Proportion: self._share,
        }
        for measured in self.basis.measured:
            found = ways.get(type(measured.criterion), _nothing)(measured, event)
            if found is not None:
                yield found

    def _around(
        self, measured: Measured, event: Event, rule: str, why: str, times: float, averaged: int = 1
    ) -> Reach:
        """The released count, give or take some errors of records; of an average over tables their sum is the
        integer."""
        n, count = self.basis.n * averaged, self.count(event)

        def interval(error: float) -> Interval:
            reach = times * records(n, error)
            return Interval(count - reach, count + reach)

        return Reach(measured, rule, why, times * n * float(measured.criterion.threshold), interval)

    def possible(self, columns: Clique) -> Mask:
        """The cells of some columns that raw rules allow and that no record of the release contradicts."""
        return self._known(columns)[1]

    def _absolute(self, measured: Measured, event: Event) -> Reach | None:
        ways = measured.criterion.ways  # type: ignore[union-attr]
        if ways is not None and len(event.columns) > ways:
            return None
        times = fewest(event.mask, self.possible(event.columns))
        rule = "cell" if times <= 1 else "union"
        why = (
            "The largest error of any count of these columns was measured, so it holds for all of them at once"
        )
        more = "" if times <= 1 else f"; the question needs {times:,} of these counts"
        found = self._around(measured, event, rule, f"{why}{more}.", times)
        return replace(
            found, spread=found.spread * fewest(event.mask, np.ones_like(event.mask)) / max(1, times)
        )

    def _relative(self, measured: Measured, event: Event) -> Reach | None:
        if len(event.columns) != 1:
            return None
        counts, n = self._known(event.columns)[0], self.basis.n

        def one_side(mask: Mask, ratio: float) -> Interval:
            inside = counts[mask].astype(np.float64)
            return Interval(
                float(np.maximum(0.0, (inside + 1) / ratio - 1).sum()), float(((inside + 1) * ratio - 1).sum())
            )

        def interval(ratio: float) -> Interval:
            if ratio <= 1:
                ratio = 1.0
            own, others = one_side(event.mask, ratio), one_side(~event.mask, ratio)
            return own.meet(Interval(n - others.high, n - others.low))

        share = max(1, int(event.mask.sum())) / max(1, event.mask.size)
        spread = (float(measured.criterion.threshold) - 1) * n * min(share, 1 - share)
        why = (
            "The largest ratio of any count of a single column was measured; it holds for all of them at once."
        )
        return Reach(measured, "ratio", why, spread, interval)

    def _ranges(self, measured: Measured, event: Event) -> Reach | None:
        c, spec, domain = measured.criterion, self.basis.specification, self.basis.table.domain
        assert isinstance(c, RangesAbsolute)
        best: int | None = None
        for of, groups in product((None, *c.of), (None, *crossed(c.by).values())):
            clique = {*([] if of is None else [of]), *(groups or ())}
            if not set(event.columns) <= clique or of in (groups or ()):
                continue
            order = tuple(name for name in domain.names if name in clique)
            mask = np.broadcast_to(event.over(order), domain.project(order).shape)
            parts = [EVERYTHING] if groups is None else list(groups_of(spec, groups, domain))
            found = _ranged(mask, order, of, parts)
            if found is not None:
                best = found if best is None else min(best, found)
        if best is None:
            return None
        why = (
            "The largest error of any range of these columns was measured, so it holds for all of them at once."
        )
        return self._around(measured, event, "prefix", why, best)

    def _variation(self, measured: Measured, event: Event) -> Reach | None:
        c, domain = measured.criterion, self.basis.table.domain
        assert isinstance(c, TotalVariationDistance)
        tables = c.of or tuple(combinations(domain.names, min(c.ways or 1, len(domain.names))))
        if not any(set(event.columns) <= set(table) for table in tables):
            return None
        why = (
            "The share of records in another cell of such a table was measured; no set of cells is off by more."
        )
        averaged = len(tables) if c.over == "average" else 1
        return self._around(measured, event, "distance", why, 1, averaged)

    def _partners(self, measured: Measured, event: Event) -> Reach:
        c, spec, table = measured.criterion, self.basis.specification, self.basis.table
        assert isinstance(c, Faithfulness)
        like, n = likeness(spec, c, table.domain), self.basis.n
        outer = self.count(Event(event.columns, reachable(event.mask, event.columns, like)))
        inner = self.count(Event(event.columns, ~reachable(~event.mask, event.columns, like)))

        def interval(error: float) -> Interval:
            return Interval(inner - records(n, error), outer + records(n, error))

        why = (
            "Nearly all records of the release have partners of their own in the original, at most a step away."
        )
        return Reach(measured, "faithfulness", why, n * float(c.threshold), interval)

    def _share(self, measured: Measured, event: Event) -> Reach | None:
        c, n = measured.criterion, self.basis.n
        assert isinstance(c, NamedQuery | Proportion)
        if isinstance(c, NamedQuery) and c.of is not None:
            return None
        if not self._same(c, event):
            return None
        slack = 0 if isinstance(c, NamedQuery) else 1
        count = self.count(event)

        def interval(error: float) -> Interval:
            reach = records(n, error) + slack * (1 + n * 2.0**-20)
            return Interval(count - reach, count + reach)

        why = "Exactly this share was measured."
        return Reach(measured, "share", why, n * float(c.threshold), interval)

    def _same(self, criterion: NamedQuery | Proportion, event: Event) -> bool:
        """Whether a criterion's condition holds on the event's cells, or on all others."""
        domain = self.basis.table.domain
        condition = criterion.condition(self.basis.specification.names)
        if domain.size(names(condition)) > HUGE:
            return False
        own, asked = Event(*impossible(condition, domain)).reduced(), event.reduced()
        if own.columns != asked.columns:
            return False
        return np.array_equal(own.mask, asked.mask) or np.array_equal(own.mask, ~asked.mask)

    def means(self, of: str | None, event: Event, where: Event) -> Iterator[tuple[Measured, Group]]:
        """The criteria that measured the mean of a column, or the share of an event, in just this group."""
        for measured in self.basis.measured:
            c = measured.criterion
            if isinstance(c, ConditionalMean):
                fits = of is not None and c.of == of
            elif isinstance(c, Proportion):
                fits = of is None and self._exactly(c, event)
            else:
                continue
            kind: Kind[Any] = kind_of(c, measured.form)
            if not fits or not isinstance(kind, GroupedKind) or kind.stands == "resized":
                continue
            for place, group in enumerate(self._groups(c)):
                if _equal(group, where):
                    query = self.candidate.query(kind)
                    found = query.query if isinstance(query, Viewed) else query
                    assert isinstance(found, GroupMeans)
                    yield measured, found.groups[place]
                    break

    def _exactly(self, criterion: Proportion, event: Event) -> bool:
        domain = self.basis.table.domain
        condition = criterion.condition(self.basis.specification.names)
        return domain.size(names(condition)) <= HUGE and _equal(Event(*impossible(condition, domain)), event)

    def _groups(self, criterion: ConditionalMean | Proportion) -> Iterator[Event]:
        """All records, then each group in the order that the criterion counts them."""
        spec, domain = self.basis.specification, self.basis.table.domain
        yield EVERYTHING
        for columns in crossed(criterion.by).values():
            yield from groups_of(spec, columns, domain)


def _nothing(measured: Measured, event: Event) -> Reach | None:
    return None


def groups_of(spec: Specification, columns: Clique, domain: Domain) -> Iterator[Event]:
    """The groups of some columns, crossed: each an event."""
    shown = crossing(spec, columns, domain)
    order = tuple(name for name in domain.names if name in columns)
    codes = np.transpose(shown.codes, [columns.index(name) for name in order])
    yield from (Event(order, codes == group) for group in range(shown.axis.size))


def _equal(one: Event, other: Event) -> bool:
    """Whether two events are the same cells."""
    a, b = one.reduced(), other.reduced()
    return a.columns == b.columns and np.array_equal(a.mask, b.mask)


def fewest(mask: Mask, possible: Mask) -> int:
    """How many cells' errors the count of a set adds up, at most, by the best way of writing it.

    >>> whole = np.ones((10, 5), bool)
    >>> nearly = np.zeros((10, 5), bool); nearly[1:, 0] = True
    >>> fewest(nearly, whole), fewest(whole, whole)
    (2, 0)
    """
    inside, outside = int((mask & possible).sum()), int((~mask & possible).sum())
    best = min(inside, outside)
    sides = [_side(mask, i) for i in range(mask.ndim)]
    if not best or not np.array_equal(mask, _outer(sides)):
        return best
    for chosen in product((False, True), repeat=len(sides)):
        cells = prod(
            1 + int((~side).sum()) if other else int(side.sum())
            for side, other in zip(sides, chosen, strict=True)
        )
        best = min(best, cells - all(chosen))
    return best


def _side(mask: Mask, axis: int) -> Mask:
    """Which codes of one column occur in a set of cells."""
    return np.asarray(mask.any(axis=tuple(place for place in range(mask.ndim) if place != axis)))


def _outer(sides: list[Mask]) -> Mask:
    found = np.array(True)
    for side in sides:
        found = np.logical_and.outer(found, side)
    return np.asarray(found)


def _ranged(mask: Mask, order: Clique, of: str | None, parts: Sequence[Event]) -> int | None:
    """How many counted ranges a set is made of: one range of a column in some groups, or whole groups."""
    taken, chosen = 0, None
    for part in parts:
        within = np.broadcast_to(part.over(order), mask.shape)
        inside = mask & within
        if not inside.any():
            continue
        own = np.array([True])
        if of is not None:
            place = order.index(of)
            own = _side(inside, place)
            within = within & own.reshape([-1 if i == place else 1 for i in range(mask.ndim)])
        if not np.array_equal(inside, within) or (chosen is not None and not np.array_equal(own, chosen)):
            return None
        taken, chosen = taken + 1, own
    if chosen is None:
        return None
    if of is None:
        return min(taken, len(parts) - taken)
    ends = int(np.abs(np.diff(chosen.astype(np.int64), prepend=0, append=0)).sum())
    return None if ends != 2 else taken * (1 if chosen[0] or chosen[-1] else 2)


def reachable(mask: Mask, columns: Clique, like: Likeness) -> Mask:
    """A⁺: the cells of which some partner lies in the mask; partners differ by a step in one column at most."""
    steps = dict(like.steps)
    found = mask
    loose = [i for i, name in enumerate(columns) if name not in like.match]
    for i in loose:
        found = _along(found, i, np.array(steps[columns[i]]), 0)
    moved = [_along(found, i, np.array(steps[columns[i]]), like.within) for i in loose]
    return np.asarray(np.logical_or.reduce([found, *moved]))


def _along(mask: Mask, axis: int, reference: Ints, within: int) -> Mask:
    """Cells with a cell of the mask so many reference bins away along one column."""
    codes = np.arange(len(reference))
    near = (np.abs(reference[:, None] - reference[None, :]) <= within) & (reference != EXACT)[:, None]
    near &= (reference != EXACT)[None, :]
    near |= codes[:, None] == codes[None, :]
    return np.moveaxis(np.tensordot(near.astype(np.int64), mask.astype(np.int64), (1, axis)) > 0, 0, axis)


def of_mean(group: Group, error: float, fewest_records: float) -> Interval | None:
    """The mean of a group that was floored, where it has at least so many records."""
    if fewest_records <= 0:
        return None
    reach = error * max(1.0, group.size / fewest_records)
    return Interval(float(group.centre) - reach, float(group.centre) + reach)

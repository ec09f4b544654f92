"""The curve: in each scheme the options that beat every cheaper one, with the probability that each states.

Tables, charts, the plan and the file it writes all read this one curve, so they cannot contradict each other.

Honesty.  The best of many estimates is too good. Therefore the fresh trials are cut in halves.
  listed   One half looks at all options and lists, in each variant of a scheme, those that beat every cheaper
           one by the chance that it vouches for, a lower bound. It is flattered by luck, and none of its
           figures is shown.
  stated   The other half has no part in the list and states the probability of what is listed. The curve keeps
           the options that state more than every cheaper one: more epsilon never states less.

Theorem.  All intervals of listed options whose epsilon of the generator was tried hold together with
  probability 95 %, whichever of them a plan takes. What is predicted between tried ones (between.py) has none.
Proof.    Given the choosing half, the list of k options is fixed, and the stating trials are independent of it.
  Each of its 2k bounds fails with probability at most 5 %/2k (chances.interval); the sum is 5 %.  QED

The middle of an interval has no such guarantee: a plan takes the first option that states what is wished, so
what it states is somewhat too high on average. The interval says by how much it may be.

Probabilities have three digits, bounds are rounded outwards and the middle down, and every comparison uses the
rounded figures: what people read is what was compared.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import ceil, floor
from operator import attrgetter

from facsimile.explore.options import SCHEMES, VARIANTS, Option, levels, options
from facsimile.explore.study import Study
from facsimile.spec.choices import SchemeName

STATING = 0.95
STEP = 0.01
"""How much more an option must vouch for than every cheaper one to be listed."""
MOST_FRESH = 100_000


@dataclass(frozen=True, eq=False)
class Point:
    """An option on the curve: what its total buys. `confidence` is that of its own interval."""

    option: Option
    total: Fraction
    release: float
    low: float
    high: float
    confidence: float

    @classmethod
    def of(cls, option: Option, confidence: float) -> Point:
        """What the stating trials say of an option."""
        chance, low, high = option.chance(confidence)
        return cls(option, option.total, _down(chance), _down(low), _up(high), confidence)

    @property
    def span(self) -> str:
        """The probability and its interval for people."""
        return f"{self.release:.3f} (95 %: {self.low:.3f} to {self.high:.3f})"

    @property
    def scheme(self) -> SchemeName:
        """How it spends."""
        return self.option.scheme

    @property
    def variant(self) -> str:
        """Its scheme, and whether every criterion has a value."""
        return self.option.variant

    def tells(self, wish: float) -> bool:
        """Whether its interval lies on one side of what is wished."""
        return self.low >= wish or self.high < wish

    def fresh(self, wish: float) -> int:
        """How many fresh trials of each finalist would tell, if they were like those that there are."""

        def enough(fresh: int) -> bool:
            trials = max(1, fresh // 2) * len(self.option.configurations)
            _, low, high = self.option.chance(self.confidence, trials)
            return low >= wish or high < wish

        return 2 + bisect_left(range(2, MOST_FRESH), True, key=enough)


@dataclass(frozen=True, eq=False)
class Curve:
    """The points of every scheme, each scheme's by rising total and rising probability."""

    points: tuple[Point, ...]

    @classmethod
    def of(cls, options: Iterable[Option]) -> Curve:
        """List by one half, state by the other."""
        listed = _listed(list(options))
        confidence = 1 - (1 - STATING) / max(1, len(listed))
        points: list[Point] = []
        for point in (Point.of(option, confidence) for option in listed):
            cheaper = [other.release for other in points if other.variant == point.variant]
            if point.release > max(cheaper, default=0.0):
                points.append(point)
        return cls(tuple(points))

    def cheapest(self, wish: float, schemes: Sequence[SchemeName] = SCHEMES) -> Point | None:
        """The smallest total that states what is wished."""
        reached = [point for point in self.points if point.scheme in schemes and point.release >= wish]
        return min(reached, key=lambda point: (point.total, -point.release), default=None)

    def valued(self) -> Curve:
        """The points that publish a value of every criterion."""
        return Curve(tuple(point for point in self.points if point.option.valued))

    def compared(self, wish: float) -> dict[str, Point | None]:
        """The smallest total of each variant that states what is wished."""
        parts = {name: Curve(tuple(p for p in self.points if p.variant == name)) for name in VARIANTS}
        return {name: part.cheapest(wish) for name, part in parts.items()}

    def sure(self, wish: float, schemes: Sequence[SchemeName] = SCHEMES) -> Point | None:
        """The smallest total whose whole interval reaches what is wished; a prediction shows nothing."""
        shown = [p for p in self.points if p.scheme in schemes and p.low >= wish and not p.option.predicted]
        return min(shown, key=lambda point: (point.total, -point.release), default=None)

    def best(self, total: Fraction, schemes: Sequence[SchemeName] = SCHEMES) -> Point | None:
        """The most that a total buys."""
        within = [point for point in self.points if point.scheme in schemes and point.total <= total]
        return max(within, key=lambda point: (point.release, -point.total), default=None)


def curve_of(study: Study, keep: float = 0.1, noise: float = 0.1) -> Curve:
    """The curve of a study."""
    return Curve.of(options(study.setup.specification, levels(study), keep, noise))


def _listed(options: Sequence[Option]) -> list[Option]:
    """In each variant of a scheme the options that beat every cheaper one, by the choosing trials alone."""
    listed = []
    for variant in VARIANTS:
        reached = 0.0
        mine = [option for option in options if option.variant == variant]
        for _, alike in groupby(sorted(mine, key=attrgetter("total")), attrgetter("total")):
            hopeful = [option for option in alike if option.seen > reached]
            best = max(hopeful, key=attrgetter("least"), default=None)
            if best is not None and best.least > reached:
                reached = best.least + STEP
                listed.append(best)
    return listed


def _down(chance: float) -> float:
    return floor(chance * 1000 + 1e-6) / 1000


def _up(chance: float) -> float:
    return ceil(chance * 1000 - 1e-6) / 1000

"""The planner: the smallest total epsilon whose stated probability of a release reaches the wish.

A plan is a point of the curve (curve.py), never above the declared total unless another one is given. Where no
point will do there is no plan, and the refusal says what is known: the total that would do, the best that was
tried, or how many fresh trials would tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from facsimile.errors import FacsimileError, refusal
from facsimile.explore.between import Level
from facsimile.explore.curve import Curve, Point
from facsimile.explore.options import BOUNDED as BOUNDED
from facsimile.explore.options import Option, levels, options
from facsimile.explore.study import Study
from facsimile.spec.choices import SchemeName
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification

TIGHTER = tuple(1 - 0.05 * k for k in range(1, 20))


@dataclass(frozen=True, eq=False)
class Curves:
    """The curve of a study, and the same with tighter thresholds; each is made when it is first asked for."""

    specification: Specification
    levels: list[Level]
    keep: float
    noise: float
    made: dict[float | None, Curve] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study, keep: float = 0.1, noise: float = 0.1) -> Curves:
        """From all trials that a study has by now."""
        return cls(study.setup.specification, levels(study), keep, noise)

    def at(self, factor: float | None = None) -> Curve:
        """With every threshold multiplied by a factor."""
        if factor not in self.made:
            every = options(self.specification, self.levels, self.keep, self.noise, factor)
            self.made[factor] = Curve.of(every)
        return self.made[factor]


@dataclass(frozen=True, eq=False)
class Planned:
    """The plan, the curve it stands on, and what all of the total would buy: a likelier release, or thresholds
    tighter by a factor.

    Where the trials do not show that the wish is reached, so many `fresh` ones of each finalist would tell.
    `sure`: the cheapest point within the total that they do show to reach it, if there is one. `compared`: the
    cheapest of each scheme that reaches it, whichever were asked for.
    """

    point: Point
    accept: float
    curve: Curve
    limit: Fraction
    bought: Point
    tighter: float | None
    fresh: int | None
    sure: Point | None
    compared: dict[str, Point | None]

    @property
    def option(self) -> Option:
        """The way to spend."""
        return self.point.option


def plan(
    study: Study,
    accept: float,
    keep: float = 0.1,
    noise: float = 0.1,
    schemes: Sequence[SchemeName] = BOUNDED,
    total: Fraction | None = None,
    values: bool = False,
) -> Planned:
    """The cheapest point that reaches the wish, among some schemes, within a total: by default the declared.

    `values`: only plans that publish a value of every criterion.
    """
    return planned(Curves.of(study, keep, noise), accept, schemes, total, values)


def planned(
    curves: Curves,
    accept: float,
    schemes: Sequence[SchemeName] = BOUNDED,
    total: Fraction | None = None,
    values: bool = False,
) -> Planned:
    """The plan on curves that serve several wishes."""
    whole = curves.at()
    curve = whole.valued() if values else whole
    limit = curves.specification.budget.total if total is None else total
    point = chosen(curve, accept, limit, schemes)
    tighter = None
    for factor in TIGHTER:
        tight = curves.at(factor)
        met = (tight.valued() if values else tight).cheapest(accept, schemes)
        if met is None or met.total > limit:
            break
        tighter = factor
    fresh = None if point.tells(accept) else point.fresh(accept)
    bought, sure = curve.best(limit, schemes), curve.sure(accept, schemes)
    assert bought is not None, "the plan itself lies within the total"
    within = sure if sure is not None and sure.total <= limit else None
    return Planned(point, accept, whole, limit, bought, tighter, fresh, within, whole.compared(accept))


def chosen(curve: Curve, accept: float, limit: Fraction, schemes: Sequence[SchemeName]) -> Point:
    """The cheapest point that reaches the wish; refused where a total is no room for it."""
    found = curve.cheapest(accept, schemes)
    if found is None or found.total > limit:
        raise _missed(curve, accept, limit, schemes)
    return found


def _missed(curve: Curve, accept: float, limit: Fraction, schemes: Sequence[SchemeName]) -> FacsimileError:
    """Why there is no plan: nothing to go by, more total needed, out of reach, or not to be told."""
    mine = [point for point in curve.points if point.scheme in schemes]
    if not mine:
        return refusal("E415")
    wish, enough, bought = f"{accept:g}", curve.cheapest(accept, schemes), curve.best(limit, schemes)
    if enough is not None:
        buys = "no release" if bought is None else f"a release with probability {bought.release:.3f}"
        needed = show_decimal(enough.total)
        return refusal("E416", total=show_decimal(limit), buys=buys, wish=wish, needed=needed)
    best = bought or min(mine, key=lambda point: point.total)
    total = show_decimal(best.total)
    if best.tells(accept):
        return refusal("E417", wish=wish, span=best.span, total=total)
    return refusal("E418", wish=wish, span=best.span, total=total, fresh=str(best.fresh(accept)))

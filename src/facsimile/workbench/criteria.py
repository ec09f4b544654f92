"""Criteria on the page: each in plain words, with a threshold to slide and what that would cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from typing import Any

from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.planned import NoiseLine
from facsimile.documents.numerals import number
from facsimile.explore.attainable import Outlook
from facsimile.release.check import Check
from facsimile.spec.criteria import Criterion
from facsimile.spec.decimals import show_decimal
from facsimile.workbench.bench import Seen

STEPS = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
FAR = 8
"""How many times larger and smaller than the declared one a threshold may be slid to."""
QUIET = 0.1
"""Noise of a measured criterion that hides nothing, as a part of its threshold."""


@dataclass(frozen=True)
class CriterionView:
    """A criterion for people."""

    name: str
    item: str
    title: str
    words: str
    threshold: str
    epsilon: str
    choices: tuple[str, ...]
    fresh: str
    predicted: str
    cost: dict[str, Any]
    seen: dict[str, Any]


def views(seen: Seen, outlook: Outlook | None) -> Iterator[CriterionView]:
    """Every criterion, with what is known of the public file by now."""
    for criterion, written in zip(seen.specification.criteria, seen.data["criteria"], strict=True):
        kind = kind_of(criterion, seen.specification.statistic_of(criterion))
        fresh = None if outlook is None else outlook.reached.get(criterion.name)
        predicted = None if outlook is None else outlook.predicted(criterion)
        yield CriterionView(
            criterion.name,
            f"criteria.{criterion.name}",
            kind.told.title,
            kind.told.words,
            show_decimal(criterion.threshold),
            "" if not criterion.epsilon else show_decimal(criterion.epsilon),
            choices(criterion),
            "" if fresh is None else number(fresh, digits=3),
            "" if predicted is None else number(predicted, digits=3),
            cost(seen, outlook, criterion, criterion.threshold),
            {key: value for key, value in written.items() if key in ("threshold", "epsilon")},
        )


def choices(criterion: Criterion) -> tuple[str, ...]:
    """Thresholds that people say, around the declared one.

    A threshold is one at which its criterion can be met: a ratio is above 1.
    """
    kind, middle = kind_of(criterion), criterion.threshold
    low, high = middle / FAR, middle * FAR
    powers = range(floor(log10(low)) - 1, floor(log10(high)) + 2)
    human = {Fraction(step) * Fraction(10) ** power for power in powers for step in STEPS}
    if kind.share:
        high = min(high, Fraction(1))
    found = {one for one in human if low <= one <= high and kind.from_zero(float(one)) > 0} | {middle}
    return tuple(show_decimal(one) for one in sorted(found))


def cost(
    seen: Seen,
    outlook: Outlook | None,
    criterion: Criterion,
    threshold: Fraction,
    epsilon: Fraction | None = None,
) -> dict[str, Any]:
    """What a threshold costs: its own noise at the declared epsilon or another, the epsilon at which that hides
    nothing, and the generator's epsilon at which nine of ten candidates meet everything."""
    line = _noise(seen, criterion)
    scale = None if line is None else line.scale
    kind = kind_of(criterion)
    room = kind.from_zero(float(threshold))
    share = None if scale is None else scale / max(room, 1e-12)
    if share is not None and line is not None and epsilon:
        share *= float(line.epsilon / epsilon)
    own = epsilon or (Fraction(0) if line is None else line.epsilon)
    quiet = None if line is None or share is None else float(own) * share / QUIET
    needed = None if outlook is None else outlook.needed({criterion.name: threshold})
    now = None if outlook is None else outlook.needed({})
    fresh = None if outlook is None else outlook.reached.get(criterion.name)
    predicted = None if outlook is None else outlook.predicted(criterion)
    return {
        "threshold": show_decimal(threshold),
        "noise": None if share is None else f"{share:.0%}",
        "loud": share is not None and share > 1 / 3,
        "quiet": None if quiet is None else number(quiet, digits=2),
        "needed": None if needed is None else number(needed, digits=2),
        "now": None if now is None else number(now, digits=2),
        "known": outlook is not None and criterion.name in outlook.ratios,
        "below_fresh": fresh is not None and float(threshold) <= fresh,
        "below_predicted": predicted is not None and float(threshold) <= predicted,
    }


def _noise(seen: Seen, criterion: Criterion) -> NoiseLine | None:
    found = seen.checked
    if not isinstance(found, Check):
        return None
    return next((line for line in found.noise if line.criterion == criterion.name), None)

"""The budget on the page: where ε goes, as one picture, and what one person's risk becomes, in words and as
odds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

from facsimile.documents.numerals import number
from facsimile.documents.summary import guesses
from facsimile.errors import FacsimileError
from facsimile.privacy.mechanisms.search import Plan
from facsimile.release.check import budget_lines, show_upper
from facsimile.release.plan import plan_of
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.workbench.drawing import Slice, slices

PARTS = ("total", "generator", "test", "once")
MEANT = {
    "total": "the promise: all that one release may spend",
    "generator": "for one fit of a generator",
    "test": "for the noisy number that tests a candidate",
    "once": "for a regression of the original, fitted once",
}


@dataclass(frozen=True)
class Risk:
    """What ε leaves to somebody who guesses one yes or no about one person."""

    epsilon: str
    guesses: int
    odds: str
    factor: str

    @classmethod
    def of(cls, epsilon: float, delta: float, shown: str) -> Risk:
        """At this ε and δ."""
        factor = exp(min(epsilon, 700.0))
        odds = number(factor, digits=2) if factor < 1e6 else "more than a million"
        return cls(shown, guesses(epsilon, delta), odds, odds)


@dataclass(frozen=True)
class BudgetView:
    """The budget for people."""

    declared: dict[str, str]
    total: str
    slices: tuple[Slice, ...]
    risk: Risk
    promised: Risk
    over: bool
    search: str


def view(specification: Specification) -> BudgetView:
    """Where the total goes: what comes before the search, the search itself, and what is measured after it."""
    parts, plan = specification.budget, plan_of(specification)
    total = plan.total()
    lines, _ = budget_lines(specification)
    shown = show_upper(total.epsilon)
    delta = float(parts.delta)
    declared = {name: _shown(getattr(parts, name)) for name in PARTS}
    return BudgetView(
        declared,
        shown,
        slices(_parts(specification, plan)),
        Risk.of(float(total.epsilon), delta, shown),
        Risk.of(float(parts.total), delta, show_upper(parts.total)),
        total.epsilon > parts.total,
        next(line.note for line in reversed(lines)),
    )


def _parts(specification: Specification, plan: Plan) -> list[tuple[str, str, float, str]]:
    """What a total is made of, the search divided as one iteration of it is."""
    search, index, test = plan.mode.cost(plan.index), plan.index, specification.budget.test or Fraction(0)
    looped = specification.scheme in ("paper", "measured")
    own = sum((c.epsilon for c in specification.criteria if not specification.shares_once(c)), Fraction(0))
    measured = (own if looped else Fraction(0)) + test
    mode = f"selection mode {plan.mode.name}: one iteration costs {show_upper(index)}"
    found = [
        ("before the search", "what is fitted once", plan.once),
        ("search: fits", mode, search * (index - measured) / index if index else search),
        ("search: tests", "whether a candidate is good enough", search * measured / index if index else search),
        ("measuring", f"{len(specification.criteria)} criteria, once, after acceptance", plan.after),
    ]
    return [(name, words, float(size), show_upper(size)) for name, words, size in found if size > 0]


def _shown(value: Any) -> str:
    return "" if value is None else show_decimal(value)


def asked(specification: Specification | FacsimileError) -> Mapping[str, Any]:
    """What a page is told of a budget that nobody saved."""
    if isinstance(specification, FacsimileError):
        return {"refused": str(specification)}
    found = view(specification)
    return {
        "total": found.total,
        "over": found.over,
        "guesses": found.risk.guesses,
        "odds": found.risk.odds,
        "slices": [[s.x, s.width, s.name, s.epsilon] for s in found.slices],
    }

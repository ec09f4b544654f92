"""What a specification promises, before a confidential record is read.

The number of configurations, the budget line by line, and each criterion's noise beside its threshold, so
that a stakeholder sees whether noise could hide the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from facsimile.documents.report import ONCE
from facsimile.errors import refusal
from facsimile.privacy import budget
from facsimile.release.feasible import refuse_infeasible
from facsimile.release.noise import Assumed, NoiseLine, declared, noise_line
from facsimile.release.plan import plan_of
from facsimile.spec.criteria import (
    RegressionCoefficients,
    RegressionError,
)
from facsimile.spec.decimals import show_decimal
from facsimile.spec.families import FAMILIES
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain

APPROXIMATE = "approximate DP: excluded in pure mode"


@dataclass(frozen=True)
class FamilyLine:
    """The configurations of one family."""

    family: str
    configurations: int
    note: str


@dataclass(frozen=True)
class BudgetLine:
    """One part of the budget and how often it counts."""

    part: str
    epsilon: Fraction
    note: str


@dataclass(frozen=True)
class Check:
    """Everything `facsimile check` prints."""

    specification: Specification
    families: tuple[FamilyLine, ...]
    budget: tuple[BudgetLine, ...]
    total: Fraction
    noise: tuple[NoiseLine, ...]
    finest_cells: int


def check(specification: Specification, assumed: Assumed | None = None) -> Check:
    """Check a specification; a refusal says what is wrong."""
    families = tuple(
        FamilyLine(name, count, "" if FAMILIES[name].pure else APPROXIMATE)
        for name, count in specification.space.by_family().items()
    )
    if not specification.space.pure().grids:
        raise refusal("E200", problem="Every family offers approximate differential privacy only.")
    _refuse_unfitted(specification)
    refuse_infeasible(specification)
    lines, total = budget_lines(specification)
    if total > specification.budget.total:
        raise refusal("E203", parts=show_upper(total), total=show_upper(specification.budget.total))
    known = assumed or declared(specification)
    noise = tuple(noise_line(specification, criterion, known) for criterion in specification.criteria)
    return Check(specification, families, lines, total, noise, Domain(specification.finest()).cells)


def _refuse_unfitted(specification: Specification) -> None:
    """The gap of predictions needs a regression of the original: paid once, or in the paper's loop."""
    wanted = {c.target for c in specification.criteria if isinstance(c, RegressionError)}
    fitted = {
        c.target
        for c in specification.criteria
        if isinstance(c, RegressionCoefficients) and specification.statistic_of(c) == "paper"
    }
    in_loop = specification.scheme == "paper" and wanted <= fitted
    if wanted and specification.budget.once is None and not in_loop:
        problem = "Criterion regression-mae needs a regression of the original: set budget.once."
        raise refusal("E200", problem=problem)


def budget_lines(specification: Specification) -> tuple[tuple[BudgetLine, ...], Fraction]:
    """Every part of the budget, and the total that is charged."""
    parts = specification.budget
    criteria = [
        BudgetLine(
            c.name, c.epsilon, "measured in each iteration" if specification.scheme == "paper" else "once"
        )
        for c in specification.criteria
    ]
    generator = BudgetLine("generator", parts.generator, "one fit")
    once = [BudgetLine(ONCE, parts.once, "once")] if parts.once else []
    test = [BudgetLine("test of a candidate", parts.test, "one test")] if parts.test else []
    plan = plan_of(specification)
    lines = [generator, *([] if specification.scheme == "paper" else test), *criteria]
    selected = selection_cost(specification)
    mode = specification.selection.mode
    lines.append(BudgetLine("one iteration of the search", plan.index, "sum of its parts"))
    lines.append(BudgetLine("the whole search", selected, f"selection mode {mode}"))
    return (*once, *lines), plan.once + selected + plan.after


def selection_cost(specification: Specification) -> Fraction:
    """What the whole search costs."""
    chosen, plan = specification.selection, plan_of(specification)
    if chosen.mode == "capped-coin":
        smallest = budget.smallest_cap(chosen.gamma, chosen.epsilon_0 or Fraction(1))
        if (chosen.cap or 0) < smallest:
            raise refusal("E204", problem="The cap is too small for its coin.", choice=f"cap: {smallest}")
    return plan.searched()


def show_upper(value: Fraction) -> str:
    """An epsilon for people: at most six digits after the point, rounded up.

    >>> show_upper(Fraction(1, 3))
    '0.333334'
    """
    return show_decimal(Fraction(-(-value * 10**6 // 1), 10**6))

"""What a specification promises, before a confidential record is read.

The number of configurations, the budget line by line, and each criterion's noise beside its threshold, so
that a stakeholder sees whether noise could hide the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice
from math import floor, log10
from pathlib import Path

from facsimile.acceptance.kind import kinds_of
from facsimile.acceptance.planned import Assumed, NoiseLine, declared
from facsimile.documents.language import languages
from facsimile.documents.report import FREE, ONCE
from facsimile.errors import Refused
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import Single, mode_of
from facsimile.privacy.renyi import rho_of
from facsimile.release.feasible import infeasible
from facsimile.release.plan import plan_of, share_of
from facsimile.release.prior import found_hash, unpinned
from facsimile.release.questions import unaskable, unheld, untied
from facsimile.release.recipe import NEEDS_DELTA, PROVED, Recipe
from facsimile.spec.decimals import show_decimal
from facsimile.spec.families import family_of
from facsimile.spec.load import load
from facsimile.spec.mistakes import Mistake, every, refused
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain

MOST_TRIED = 50
MOST_IDLE = 1000
APPROXIMATE = "needs budget.delta: left out"
UPRIGHT = "does not use the prior"
LOUD = 1 / 3
UNPROVED = (
    "selection mode {mode} has no guarantee with delta: what shows a record with probability delta, "
    "tried until it succeeds, shows it for certain"
)


@dataclass(frozen=True)
class FamilyLine:
    """The configurations of one family."""

    family: str
    configurations: int
    note: str


@dataclass(frozen=True)
class BudgetLine:
    """One part of the budget and how often it counts. `rho`: what a fit may spend where δ is declared."""

    part: str
    epsilon: Fraction
    note: str
    rho: Fraction | None = None


@dataclass(frozen=True)
class Check:
    """Everything `facsimile check` prints."""

    specification: Specification
    families: tuple[FamilyLine, ...]
    budget: tuple[BudgetLine, ...]
    total: Fraction
    noise: tuple[NoiseLine, ...]
    finest_cells: int

    @property
    def delta(self) -> Fraction:
        """The δ of the total: all that is charged."""
        return self.specification.budget.delta

    @property
    def loud(self) -> tuple[str, ...]:
        """Criteria whose noise can hide the answer: its scale is above a third of the value tested at."""
        return tuple(line.criterion for line in self.noise if (line.share or 0) > LOUD)


def load_checked(path: Path) -> Specification:
    """Read a specification and what `check` finds wrong with it, every mistake with its line."""
    return load(path, mistakes, thorough)


def check(specification: Specification, assumed: Assumed | None = None) -> Check:
    """Check a specification; a refusal says what is wrong."""
    for mistake in chain(mistakes(specification), thorough(specification)):
        raise refused([mistake], {})
    counts = specification.space.by_family().items()
    families = tuple(FamilyLine(name, n, "; ".join(_notes(specification, name))) for name, n in counts)
    lines, total = budget_lines(specification)
    known = assumed or declared(specification)
    noise = tuple(kind.noise(specification, known) for kind in kinds_of(specification))
    return Check(specification, families, lines, total, noise, Domain(specification.finest()).cells)


def _notes(specification: Specification, family: str) -> Iterator[str]:
    if specification.configurations is not None:
        yield f"of {specification.space.whole.by_family()[family]:,}"
    if not family_of(family).pure and specification.budget.delta and (idle := _idle(specification, family)):
        yield f"{idle:,} of its settings afford no step and learn nothing"
    if not family_of(family).pure and not specification.budget.delta:
        yield APPROXIMATE
    elif specification.budget.delta and family_of(family).law == "delta":
        _, own = share_of(specification, family, specification.budget.generator)
        yield f"accounts by itself: a fit has delta {show_small(own)}"
    elif specification.prior is not None and not family_of(family).leans:
        yield UPRIGHT


def _idle(specification: Specification, family: str) -> int:
    """How many settings of a family cannot afford to learn anything."""
    found = 0
    for _, made in specification.made() if len(specification.columns) <= MOST_TRIED else ():
        for chosen in (one for one in islice(made, MOST_IDLE) if one.family == family):
            with suppress(Refused):
                found += not Recipe(specification, chosen).trains(specification.budget.generator)
    return found


def mistakes(specification: Specification) -> Iterator[Mistake]:
    """What makes no release although every part is well formed."""
    yield from every(
        *(look(specification) for look in (_unspoken, _impure, _unleaning, _unfitted, _unproved, _overspent))
    )


def thorough(specification: Specification) -> Iterator[Mistake]:
    """What takes a look at the tables that a release could have; for a specification without other mistakes."""
    unmade = every(infeasible(specification), _unmade(specification))
    found = list(unheld(specification)) or list(unmade)
    yield from found or every(unaskable(specification), untied(specification))


def _unspoken(specification: Specification) -> Iterator[Mistake]:
    """Documents are written in languages that have a catalogue."""
    known = languages()
    for i, code in enumerate(specification.languages or ()):
        if code not in known:
            problem = f"there are no documents in {code}: choose among {', '.join(known)}"
            yield Mistake(("languages", i), problem, hides=False)


def _impure(specification: Specification) -> Iterator[Mistake]:
    listed = specification.configurations
    place, chosen = ("families", specification.families) if listed is None else ("configurations", listed)
    if not specification.budget.delta and not any(family_of(one.family).pure for one in chosen):
        yield Mistake((place,), "every family needs a delta", "E204", {"choice": NEEDS_DELTA})


def _unleaning(specification: Specification) -> Iterator[Mistake]:
    """A prior has its hash, and a family that leans on it."""
    prior = specification.prior
    if prior is None:
        return
    if prior.sha256 is None:
        yield Mistake(("prior",), "", "E217", unpinned(prior, found_hash(prior)), hides=False)
    if not any(family_of(family).leans for family in specification.space.by_family()):
        problem = "no family leans on a prior: add `workload` to `families`, or leave `prior` out"
        yield Mistake(("prior",), problem, hides=False)


def _unmade(specification: Specification) -> Iterator[Mistake]:
    """Each family can be made of the first of its combinations; a run looks at all of them."""
    for place, made in specification.made() if len(specification.columns) <= MOST_TRIED else ():
        for chosen in islice(made, MOST_TRIED):
            try:
                Recipe(specification, chosen).synthesizer(specification.budget.generator)
            except Refused as refused_:
                yield Mistake(place, refused_.sentence, hides=False)
                break


def _unfitted(specification: Specification) -> Iterator[Mistake]:
    """The gap of predictions needs a regression of the original: paid once, or in the paper's loop."""
    kinds = kinds_of(specification)
    wanted = [i for i, kind in enumerate(kinds) if kind.needs]
    fitted = {kind.leaves for kind in kinds}
    in_loop = specification.scheme == "paper" and all(kinds[i].needs in fitted for i in wanted)
    if wanted and specification.budget.once is None and not in_loop:
        name = specification.criteria[wanted[0]].kind
        problem = f"criterion {name} needs a regression of the original: set budget.once"
        yield Mistake(("criteria", wanted[0], "criterion"), problem, hides=False)


def _unproved(specification: Specification) -> Iterator[Mistake]:
    """A mode has a theorem for its settings, and where δ is spent in each iteration one for that."""
    mode, delta = mode_of(specification.selection), specification.budget.delta
    yield from mode.mistakes()
    if specification.scheme != "train-once" and not mode.proved(delta):
        yield Mistake(("selection", "mode"), UNPROVED.format(mode=mode.name), "E204", {"choice": PROVED})
    if delta and not rho_of(specification.budget.generator, delta):
        problem = "so small an epsilon of the generator leaves no noise to draw at this delta"
        yield Mistake(("budget", "generator"), problem, "E204", {"choice": "a larger epsilon or delta"})
    elif delta and mode.proved(delta):
        try:
            plan_of(specification)
        except ValueError:
            problem = "at so small or so large an epsilon of the generator no part of delta is left for a fit"
            yield Mistake(
                ("budget", "generator"), problem, "E204", {"choice": "another epsilon, or a larger delta"}
            )


def _overspent(specification: Specification) -> Iterator[Mistake]:
    if any(_unproved(specification)):
        return
    parts, total = plan_of(specification).total().epsilon, specification.budget.total
    if parts > total:
        sums = {"parts": show_upper(parts), "total": show_upper(total)}
        yield Mistake(("budget", "total"), "", "E203", sums)


def budget_lines(specification: Specification) -> tuple[tuple[BudgetLine, ...], Fraction]:
    """Every part of the budget, and the total that is charged."""
    parts, plan, criteria = specification.budget, plan_of(specification), specification.criteria
    looped = specification.scheme in ("paper", "measured")
    lines = [BudgetLine(ONCE, parts.once, "once")] if parts.once else []
    lines.append(_generator(specification, plan))
    if parts.test:
        sharing = sum(not c.epsilon for c in criteria)
        note = f"one noisy number for {sharing} of the criteria" if looped else "one test"
        lines.append(BudgetLine("test of a candidate", parts.test, note))
    for c in criteria:
        free = specification.shares_once(c)
        note = FREE if free else "measured in each iteration" if looped else "once"
        note = note if c.epsilon else "by the test of a candidate"
        lines.append(BudgetLine(c.name, Fraction(0) if free else c.epsilon, note))
    return (*lines, *_searched(plan)), plan.total().epsilon


def _generator(specification: Specification, plan: Plan) -> BudgetLine:
    """The fit. With δ: the ε that it would have alone, and the ρ that families ask with."""
    epsilon, beside = specification.budget.generator, plan.approximate
    if beside is None:
        return BudgetLine("generator", epsilon, "one fit")
    when = "one fit before the search" if beside.once else "one fit"
    if all(family_of(family).law == "delta" for family, n in specification.drawable.by_family().items() if n):
        return BudgetLine("generator", epsilon, f"{when}, with its own accounting of Gaussian noise")
    return BudgetLine("generator", epsilon, f"{when}: rho {show_small(beside.rho)}, Gaussian noise", beside.rho)


def _searched(plan: Plan) -> Iterator[BudgetLine]:
    """One iteration by itself, and the whole search. Where the fit with its δ is part of an iteration, both are
    an (ε, δ): they are composed, which is the sum of their parts or less."""
    one, whole = "one iteration of the search", "the whole search"
    if plan.approximate is None or plan.approximate.once:
        yield BudgetLine(one, plan.index, "sum of its parts")
        yield BudgetLine(whole, plan.mode.cost(plan.index), f"selection mode {plan.mode.name}")
        return
    search, delta = replace(plan, once=Fraction(0), after=Fraction(0)), show_small(plan.approximate.delta)
    single = replace(search, mode=Single(false_accept=plan.mode.false_accept))
    yield BudgetLine(one, single.total().epsilon, f"its parts composed, delta {delta}")
    yield BudgetLine(whole, search.total().epsilon, f"selection mode {plan.mode.name}, delta {delta}")


def show_small(value: Fraction) -> str:
    """A delta or a rho for people: as it is, or four significant digits of it, rounded up.

    >>> show_small(Fraction(1, 10**9)), show_small(Fraction(1, 3)), show_small(Fraction(1, 30_000_000))
    ('0.000000001', '0.3334', '0.00000003334')
    """
    places = 4 - (0 if not value else floor(log10(value)) + 1)
    scale = Fraction(10) ** places
    return show_decimal(Fraction(-(-value * scale // 1)) / scale)


def show_upper(value: Fraction) -> str:
    """An epsilon for people: at most six digits after the point, rounded up.

    >>> show_upper(Fraction(1, 3))
    '0.333334'
    """
    return show_decimal(Fraction(-(-value * 10**6 // 1), 10**6))

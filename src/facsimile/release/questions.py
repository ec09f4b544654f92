"""Questions: what a release would ask is asked of made-up tables first, so that none fails after the charge.

Whether a question can be asked depends on the domain, the number of records and the candidate. A made-up
candidate has n records spread evenly over the bins of each column: no real one has larger smallest counts.
It is made under the coarsest alternatives, the finest, and with one column at a time under each of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import Asked, JointTest
from facsimile.acceptance.groups import named
from facsimile.acceptance.kind import Kind, kinds_of
from facsimile.privacy.modes import mode_of
from facsimile.release.recipe import Recipe
from facsimile.spec.families import DENSE_CELLS, family_of
from facsimile.spec.mistakes import Mistake, Place
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Domain
from facsimile.table.scores import MOST_ENTRIES, MOST_FUNCTIONS
from facsimile.table.table import Table

MOST_CHOICES = 8
MOST_PAIRS = 50
MOST_ROWS = 5_000
MOST_TERMS = 2**26


def unaskable(specification: Specification) -> Iterator[Mistake]:
    """Criteria whose questions cannot be asked, and ratios that no candidate meets; each once."""
    told, kinds = set[int](), list(enumerate(kinds_of(specification)))
    few = MOST_CHOICES if specification.space.listed is None else MOST_PAIRS
    for choice in islice(choices(specification), few):
        table = made_up(specification, choice)
        for i, kind in kinds:
            problem = "" if i in told else _problem(specification, kind, table)
            if problem:
                told.add(i)
                yield _mistake(i, kind, "criterion", problem)
    for i, kind in kinds:
        found = None if i in told else kind.unmeetable(specification)
        if found is not None:
            yield _mistake(i, kind, *found)


def _mistake(place: int, kind: Kind[Any], key: str, problem: str) -> Mistake:
    return Mistake(("criteria", place, key), f"criterion {kind.criterion.name} {problem}", hides=False)


def unheld(specification: Specification) -> Iterator[Mistake]:
    """Families that hold every row of the domain, where a configuration may have more than they can."""
    for place, chosen in _looked_at(specification):
        for configuration in chosen:
            family, rows = configuration.family, Domain(specification.axes(configuration.alternatives)).cells
            wider = family_of(family).wider
            if wider is not None and rows > DENSE_CELLS:
                problem = f"the family {family} cannot hold a domain of more than {DENSE_CELLS:,} rows"
                yield Mistake((*place[:2], "family"), f"{problem}: use {wider}", hides=False)
                break


def untied(specification: Specification) -> Iterator[Mistake]:
    """Families that cannot hold the cells that rules leave empty: known before anything is measured."""
    for place, chosen in _looked_at(specification):
        for configuration in chosen:
            recipe, family = Recipe(specification, configuration), configuration.family
            made = recipe.synthesizer(specification.budget.generator)
            if not made.holds(recipe.domain, recipe.known()):
                problem = f"the constraints tie too many columns together for the family {family}"
                yield Mistake((*place[:2], "family"), problem, hides=False)
                break


def _looked_at(specification: Specification) -> Iterator[tuple[Place, Iterator[Configuration]]]:
    """Each family where it stands, under alternatives to look at: of a list, each pair of them once."""
    if specification.space.listed is None:
        for place, made in specification.made():
            first = next(made)
            few = islice(choices(specification), MOST_CHOICES)
            yield place, (replace(first, alternatives=choice) for choice in few)
        return
    seen = dict[tuple[str, ...], tuple[Place, Iterator[Configuration]]]()
    for place, made in specification.made():
        one = next(made)
        seen.setdefault(
            (one.family, *(one.alternatives[name] for name in specification.names)), (place, iter((one,)))
        )
    yield from islice(seen.values(), MOST_PAIRS)


def choices(specification: Specification) -> Iterator[dict[str, str]]:
    """Alternatives to look at: the finest and the coarsest together, then each column's own, one at a time.

    Of a list: its own, the finest and the coarsest first.
    """
    if specification.space.listed is not None:
        own = list(specification.space.choices(specification.names))
        own.sort(key=lambda choice: Domain(specification.axes(choice)).cells)
        yield from (own[-1:] + own[:-1])
        return
    finest, coarsest = (_extreme(specification, sign) for sign in (-1, 1))
    single = (finest | {c.name: used} for c in specification.columns for used in c.used)
    seen: list[dict[str, str]] = []
    for choice in (finest, coarsest, *single):
        if choice not in seen:
            seen.append(choice)
            yield choice


def _extreme(specification: Specification, sign: int) -> dict[str, str]:
    """For each column the alternative with the fewest bins, or with the most."""
    return {c.name: min(c.used, key=lambda used: sign * c.axis(used).size) for c in specification.columns}


def made_up(specification: Specification, choice: dict[str, str]) -> Table:
    """n records over a choice of alternatives, as many in each bin of a column as in any other, or one more."""
    domain, random = Domain(specification.axes(choice)), np.random.Generator(np.random.PCG64(0))
    rows = min(specification.n, max(MOST_ROWS, *domain.shape))
    codes = np.column_stack([random.permutation(np.arange(rows) % size) for size in domain.shape])
    whole, rest = divmod(specification.n, rows)
    return Table.from_rows(domain, codes, whole + (np.arange(rows) < rest))


def _scores(specification: Specification, kind: Kind[Any], table: Table) -> int:
    """How many scores a model would hold, where a family asks for the criterion's: of each cell, or record."""
    texts = (text for grid in specification.families for text in grid.grid.get("scores", ()))
    if not kind.scored or not any(kind.criterion.name in text for text in texts):
        return 0
    groups = named(specification, getattr(kind.criterion, "by", ()), table.domain)
    if len(list(islice(groups, MOST_FUNCTIONS + 1))) > MOST_FUNCTIONS:
        return MOST_ENTRIES + 1
    found, cells = kind.scores(specification, table), table.domain.cells
    rows = cells if cells <= DENSE_CELLS else table.n
    return 0 if found is None else len(found.functions) * rows


def _problem(specification: Specification, kind: Kind[Any], table: Table) -> str:
    """What is wrong with a criterion on a made-up table; nothing where all is well."""
    if kind.terms(specification, table.domain) > MOST_TERMS:
        return "compares more numbers than a memory holds: use coarser bins"
    if _scores(specification, kind, table) > MOST_ENTRIES:
        return "has more scores than a memory holds: compare fewer groups, or leave it out of `scores`"
    if kind.slow(table.domain):
        return ""
    try:
        candidate = Candidate(specification, table)
        if kind.needs is not None:
            candidate = replace(candidate, fit=candidate.own_fit(kind.needs))
        asked = candidate.ask(kind)
        if asked is not None:
            _check(specification, asked, table)
        elif not kind.regresses:
            return "has numbers that are too large to be measured with noise"
    except ValueError:
        return "asks what no table can answer: it compares too many cells, or none"
    return ""


def _check(specification: Specification, asked: Asked, table: Table) -> None:
    """The questions that are asked about a candidate fit its table."""
    joint = JointTest((asked,), specification.budget.test or Fraction(1), mode_of(specification.selection).luck)
    for question in (joint.question(), *([asked.question()] if asked.criterion.epsilon else [])):
        question.check(table.domain, table.n)

"""A regression on a domain: what it reads of a record, and the features that it makes of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, count, product
from math import prod

import numpy as np

from facsimile.acceptance.planned import declared
from facsimile.shaping.constraints import impossible
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import Condition
from facsimile.spec.criteria import EVENT
from facsimile.spec.formula import Factors, Formula
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.numbers import grid
from facsimile.table.table import Codes, Table
from facsimile.table.view import Shown, View

Feature = tuple[str, tuple[Fraction, ...]]
"""A column's name and numbers, or those of one of its bins: 1 there, 0 elsewhere."""
HAPPENED = (
    CategoryBin("no", frozenset(["no"]), Fraction(0)),
    CategoryBin("yes", frozenset(["yes"]), Fraction(1)),
)


@dataclass(frozen=True, eq=False)
class Model:
    """What is regressed on what: `reads` shows the columns it needs, `features` what is made of them."""

    target: str
    reads: View
    features: View

    def rows(self, codes: Codes) -> Codes:
        """Features and target of rows of codes."""
        return self.features.rows(self.reads.rows(codes))

    def of(self, table: Table) -> Table:
        """Features and target of a table."""
        return self.features.of(self.reads.of(table))

    @property
    def domain(self) -> Domain:
        """Features and target."""
        return self.features.domain

    @property
    def size(self) -> int:
        """How many coefficients it has."""
        return len(self.domain.names)


def model_of(
    specification: Specification, formula: Formula, domain: Domain, event: Condition | None = None
) -> Model:
    """The regression that a formula stands for.

    A nominal column enters as indicators of its bins but the first, any other by its numbers. The factors of a
    product have a constant of the specification taken off their numbers first, so that a product says little
    of what its factors say: the mean that planning knows, or the middle of the range.
    """
    made = () if event is None else (happened(event, domain),)
    predicted = {formula.target}.union(*(column.clique for column in made))
    terms = formula.terms(tuple(name for name in domain.names if name not in predicted))
    read = {name for term in terms for name in term} | ({formula.target} - {EVENT})
    reads = View(domain, (*(Shown.plain(axis) for axis in domain.axes if axis.name in read), *made))
    if all(len(term) == 1 and not specification.nominal(term[0], formula) for term in terms):
        order = None if formula.on is None else [*(name for (name,) in terms), formula.target]
        return Model(formula.target, reads, View.of_columns(reads.domain, order))
    shown = [column for term in terms for column in _shown(specification, formula, term, reads.domain)]
    last = Shown.plain(reads.domain.axis(formula.target))
    return Model(formula.target, reads, View(reads.domain, (*_apart(shown), last)))


def extent(specification: Specification, formula: Formula, domain: Domain, predicted: Collection[str]) -> int:
    """How many numbers a regression holds: a row for each coefficient, and what solving for them takes."""
    others = tuple(name for name in domain.names if name not in predicted)
    terms, size = formula.terms(others), 1
    for term in terms:
        size += prod(domain.axis(n).size - 1 if specification.nominal(n, formula) else 1 for n in term)
    return max(size**3, size * sum(domain.size({*term}) for term in terms))


def happened(event: Condition, domain: Domain) -> Shown:
    """A column that is 1 where a condition holds on every value of the bins, else 0."""
    clique, mask = impossible(event, domain)
    return Shown(Axis(EVENT, HAPPENED), clique, mask.astype(np.int64))


def _shown(specification: Specification, formula: Formula, term: Factors, domain: Domain) -> Iterator[Shown]:
    """The features of a term: one for each combination of its columns' own."""
    choices = [list(_features(specification, formula, domain.axis(name), len(term) > 1)) for name in term]
    if len(term) == 1:
        for name, numbers in choices[0]:
            yield Shown.numbers(name, term, numbers, (len(numbers),))
        return
    square = term[0] == term[1]
    for (one, x), (other, y) in product(*choices):
        pairs = zip(x, y, strict=True) if square else product(x, y)
        shape = (len(x),) if square else (len(x), len(y))
        yield Shown.numbers(f"{one}*{other}", tuple(dict.fromkeys(term)), (a * b for a, b in pairs), shape)


def _apart(shown: Sequence[Shown]) -> Iterator[Shown]:
    """The features, each with a name of its own: a label may read like a product, or like a second one."""
    taken = set[str]()
    for column in shown:
        name = column.axis.name
        later = (f"{name} ({again})" for again in count(2))
        own = next(one for one in chain([name], later) if one not in taken)
        taken.add(own)
        yield column if own == name else replace(column, axis=replace(column.axis, name=own))


def _features(specification: Specification, formula: Formula, axis: Axis, centred: bool) -> Iterator[Feature]:
    if specification.nominal(axis.name, formula):
        for code, label in enumerate(axis.labels):
            if code:
                yield f"{axis.name}={label}", tuple(Fraction(place == code) for place in range(axis.size))
    else:
        middle = _middle(specification, axis.name) if centred else Fraction(0)
        yield axis.name, tuple(number - middle for number in axis.numbers or ())


def _middle(specification: Specification, name: str) -> Fraction:
    """What is taken off a column's numbers before they are multiplied: a constant of the specification."""
    known = declared(specification).spreads.get(name)
    numbers = specification.column(name).finest.numbers or ()
    return known[0] if known else grid((min(numbers) + max(numbers)) / 2)

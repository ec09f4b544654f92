"""Checks: whether the parameters of a question fit tables of n records over a domain.

They see public things only and raise ValueError, before a charge and before a table is opened. What passes
them is answered for every table of n records: no failure can tell one table from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import wraps
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.privacy.noise import LARGEST
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from facsimile.table.exact import largest
from facsimile.table.linear import Linear
from facsimile.table.matching import EXACT, Likeness, matched
from facsimile.table.scores import Factor, RowScores
from facsimile.table.table import Table
from facsimile.table.view import Shown, View

T = TypeVar("T")
MOST_CELLS = 2**28
MOST_GROUPS = 2**20
MOST_RECORDS = 2**53
PLAIN = (int, float, bool, str, Fraction, Rho, NoneType, np.ndarray, frozenset)
LEARNER = "begin"
"""The field that holds code: it makes what learns from noisy answers."""


def require(fits: bool, what: str) -> None:
    """Refuse a parameter."""
    if not fits:
        raise ValueError(f"the question does not fit the table: {what}")


def refusing(check: Callable[[T, Domain, int], None]) -> Callable[[T, Domain, int], None]:
    """A check that refuses parameters of a wrong kind, too, where it would fail on them; and whatever may be
    another after this look at it."""

    @wraps(check)
    def checked(question: T, domain: Domain, n: int) -> None:
        try:
            plain(question, domain)
            check(question, domain, n)
        except (TypeError, AttributeError, LookupError, ArithmeticError):
            raise ValueError("the question does not fit the table: a parameter of another kind") from None

    return checked


def plain(value: Any, domain: Domain) -> None:
    """A question holds frozen dataclasses, tuples, arrays, sets of texts, texts and numbers, of no class of the
    asker's own but for what begins a learner."""
    if value is domain or type(value) in PLAIN:
        return
    if type(value) is tuple:
        for member in value:
            plain(member, domain)
    else:
        frozen = is_dataclass(type(value)) and type(value).__dataclass_params__.frozen
        require(frozen, "a plain value")
        for field in fields(value):
            if field.name != LEARNER:
                plain(getattr(value, field.name), domain)


def whole(value: Any, least: int = 1, most: int | None = None) -> bool:
    """Whether it is an integer of Python in a range."""
    return type(value) is int and least <= value and (most is None or value <= most)


def exact(values: Iterable[Any]) -> bool:
    """Whether all are exact numbers."""
    return all(type(value) in (int, Fraction) for value in values)


def records(n: Any) -> None:
    """A number of records that a table can have."""
    require(whole(n, most=MOST_RECORDS - 1), "a number of records")


def spending(units: int, share: Fraction) -> None:
    """Noise can be drawn for a sensitivity of `units`, with ε or ρ."""
    require(type(share) in (int, Fraction, Rho) and 0 < share < LARGEST, "a share")
    require(whole(units) and units / Fraction(share) < LARGEST**8, "a sensitivity")


def named(domain: Domain, names: Any) -> None:
    """Known columns, each once."""
    require(type(names) is tuple and all(type(name) is str for name in names), "columns are named in a tuple")
    require(len(set(names)) == len(names) and set(names) <= set(domain.names), "columns are known and distinct")


def columns(domain: Domain, clique: Any, versions: Any = ()) -> None:
    """Known columns whose joint cells can be counted, some of them perhaps in groups."""
    named(domain, clique)
    for name, groups in (version for version in versions if version[1] is not None):
        grouped(domain, name, groups)
    require(domain.size(clique, versions) <= MOST_CELLS, "a marginal has too many cells")


def integral(array: Any, shape: tuple[int, ...], most: int | None = None) -> None:
    """An array of integers of this shape: 64 bits each, or Python's where these are too few."""
    require(type(array) is np.ndarray and array.shape == shape and array.size > 0, "an array has another shape")
    python = all(type(value) is int for value in array.flat)
    require(array.dtype == np.int64 or python, "an array holds integers")
    require(most is None or largest(array) <= most, "an array holds counts")


def grouped(domain: Domain, name: Any, groups: Any) -> None:
    """A group for each code of a known column."""
    named(domain, (name,))
    require(len(groups) == domain.size((name,)), "every code has a group")
    require(all(whole(group, 0, MOST_GROUPS) for group in groups), "groups are numbered from 0")


def numbered(domain: Domain, name: Any) -> tuple[Fraction, ...]:
    """The numbers of a known column that has them."""
    named(domain, (name,))
    numbers = domain.axis(name).numbers
    require(bool(numbers), "a column has no numbers")
    return numbers or ()


def bounded(bounds: Any, numbers: Iterable[Fraction] = ()) -> None:
    """Two exact numbers in order, around all of these."""
    require(len(bounds) == 2 and exact(bounds), "bounds are two numbers")
    require(bounds[0] <= bounds[1] and all(bounds[0] <= x <= bounds[1] for x in numbers), "bounds in order")


def sized(table: Any, domain: Domain, n: int) -> None:
    """A public table of n records over the domain; its codes are never counted before they are looked at."""
    require(type(table) is Table and table.domain == domain, "a table over another domain")
    codes, counts, shape = table.codes, table.counts, np.array(domain.shape)
    require(counts.dtype == codes.dtype == np.int64, "a table holds integers")
    require(codes.shape == (len(counts), len(shape)) and counts.ndim == 1, "a table has another shape")
    require(
        bool((codes >= 0).all() and (codes < shape).all() and (counts > 0).all()), "a table has other codes"
    )
    records(n)
    require(table.n == n, "a table of another size")


def linear(model: Any, domain: Domain) -> None:
    """A linear function of the bins of the domain."""
    require(type(model) is Linear and model.domain == domain, "a model over another domain")
    numbered(domain, model.target)
    require(type(model.constant) is int, "a constant is an integer")
    for clique, table in model.contributions:
        tabled(domain, clique, table)


def tabled(domain: Domain, clique: Any, table: Any) -> None:
    """An integer for each cell of known columns that can be counted."""
    require(len(clique) > 0, "a table is of some columns")
    columns(domain, clique)
    integral(table, domain.project(clique).shape)


def view(shown: Any, domain: Domain) -> None:
    """Columns made of those of the domain, each with a known code for every cell."""
    require(type(shown) is View and shown.source == domain, "a view of another domain")
    require(len(shown.columns) > 0, "a view shows columns")
    names = [column.axis.name for column in shown.columns]
    require(len(set(names)) == len(names), "a view shows each column once")
    for column in shown.columns:
        require(type(column) is Shown and type(column.axis) is Axis, "a column of a view")
        tabled(domain, column.clique, column.codes)
        require(column.codes.dtype == np.int64, "codes are integers")
        require(
            int(column.codes.min()) >= 0 and int(column.codes.max()) < column.axis.size, "codes of its axis"
        )


def scores(found: Any, domain: Domain) -> None:
    """Scores over the domain: tables of 64-bit integers, so small that no product and no row wraps."""
    require(type(found) is RowScores and type(found.domain) is Domain, "scores")
    require(found.domain == domain, "scores over another domain")
    require(len(found.functions) > 0, "a score")
    for factor in (factor for factors in found.functions for factor in factors):
        require(type(factor) is Factor and type(factor.constant) is int, "a factor")
        for clique, table in factor.tables:
            columns(domain, clique)
            integral(table, domain.project(clique).shape)
            require(table.dtype == np.int64, "a table of 64-bit integers")
    require(found.norm in (1, 2), "a norm")
    require(found.fits, "scores are too large")


def like(likeness: Any, domain: Domain) -> None:
    """A rule for partners that speaks of every column."""
    require(type(likeness) is Likeness and whole(likeness.within, 0, MOST_GROUPS), "a rule for partners")
    named(domain, likeness.match)
    steps = dict(likeness.steps)
    for name in domain.names:
        if name not in likeness.match:
            require(name in steps, "a column has no rule for partners")
            grouped(domain, name, tuple(step - EXACT for step in steps[name]))
    first = Table.from_rows(domain, np.zeros((1, len(domain.names)), np.int64))
    require(matched(first, first, likeness) == 1, "a matching has too many values")

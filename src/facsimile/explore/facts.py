"""Facts: published tables from which stand-in microdata can be made, with no access to any record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
from pydantic import Field

from facsimile.spec.bins import CategoryBin, NumberBin, parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import (
    Among,
    Atom,
    Compare,
    Condition,
    atoms,
    holds_on_bins,
    parse_condition,
    resolve,
)
from facsimile.spec.decimals import Count, Exact, show_decimal
from facsimile.spec.load import read_as
from facsimile.spec.mistakes import Mistake, Place, cut, every, unknown_name
from facsimile.spec.model import Label, Model, Prose
from facsimile.spec.text import read, read_limited

MOST_ROUNDING = 1
MOST_VALUES = 100_000


class FactColumn(Model):
    """A raw column: numbers in closed bins, categories, or the dates of one year."""

    name: str = Field(max_length=128)
    bins: tuple[Label, ...] | None = Field(default=None, description="Closed bins of whole numbers.")
    values: tuple[Label, ...] | None = Field(default=None, description="Texts as the file writes them.")
    year: Count | None = Field(default=None, ge=1, le=9999, description="Dates of this year, one bin a month.")
    missing: Exact = Field(default=Fraction(0), ge=0, lt=100, description="Percent left blank.")

    def mistakes(self) -> Iterator[Mistake]:
        """A column is of one kind, and its bins have both ends."""
        if sum(kind is not None for kind in (self.bins, self.values, self.year)) != 1:
            yield Mistake(("name",), f"column {self.name} has either bins, values or year")
        elif self.values is not None and len(set(self.values)) < max(1, len(self.values)):
            yield Mistake(("values",), f"column {self.name} lists no value or one value twice")
        elif self.bins is not None:
            yield from self._check_bins()

    def _check_bins(self) -> Iterator[Mistake]:
        try:
            bins = self.axis.bins
        except ValueError as error:
            yield Mistake(("bins",), f"column {self.name}: {error}")
            return
        for b in bins:
            if isinstance(b, NumberBin) and (b.low is None or b.high is None):
                yield Mistake(("bins",), f"column {self.name}: the bin {b.label} needs both ends")
                return

    @property
    def axis(self) -> Axis:
        """The column's bins."""
        if self.values is not None:
            return Axis(self.name, tuple(CategoryBin(v, frozenset([v])) for v in self.values))
        return Axis(self.name, parse_bins(("1..12",) if self.bins is None else self.bins, Fraction(1)))


class FactTable(Model):
    """A one-way or two-way table in percent, rows in the order of the first column's bins."""

    of: tuple[str, ...] = Field(min_length=1, max_length=2)
    percent: tuple[Exact, ...] | tuple[tuple[Exact, ...], ...]

    def misfits(self, axes: Mapping[str, Axis]) -> Iterator[Mistake]:
        """A table has one percentage for each cell of its columns, and they add up to 100."""
        words = cut(", ".join(self.of))
        for i, name in enumerate(self.of):
            if name not in axes:
                problem = f"the table of {words} speaks of the unknown column {cut(name)}"
                yield unknown_name(("of", i), problem, name, tuple(axes))
        percent = np.array(self.percent, object)
        if len(set(self.of)) < len(self.of):
            yield Mistake(("of",), f"the table of {words} names one column twice")
        elif percent.shape != tuple(axes[name].size for name in self.of):
            problem = f"the table of {words} does not have one percentage for each cell"
            yield Mistake(("percent",), problem)
        elif percent.min() < 0:
            yield Mistake(("percent",), f"the table of {words} has a negative percentage")
        elif abs(percent.sum() - 100) > MOST_ROUNDING:
            problem = f"the table of {words} adds up to {float(percent.sum()):g}, not to 100"
            yield Mistake(("percent",), problem)


def _undecided(text: str, axes: Mapping[str, Axis], place: Place) -> Iterator[Mistake]:
    """Each comparison of a rule holds on all of a bin or on none of it, so that bins decide plausibility."""
    try:
        condition = resolve(parse_condition(text), tuple(axes))
    except ValueError as error:
        yield Mistake(place, str(error))
        return
    for atom in atoms(condition):
        name = atom.names[0]
        if name not in axes:
            yield unknown_name(
                place, f"`{cut(text)}` speaks of the unknown column {cut(name)}", name, tuple(axes)
            )
        elif len(atom.names) > 1:
            yield Mistake(place, f"`{cut(text)}` compares two columns")
        elif isinstance(axes[name].bins[0], CategoryBin):
            yield from _misjudged(atom, axes[name], place)
        else:
            for b in axes[name].bins:
                if not holds_on_bins(atom, {name: b}) and not holds_on_bins(atom.negated(), {name: b}):
                    yield Mistake(place, f"`{atom}` cuts the bin {b.label} of {name}")
                    break


def _misjudged(atom: Atom, axis: Axis, place: Place) -> Iterator[Mistake]:
    """A comparison of a category is with its own labels, and says nothing about an order."""
    if isinstance(atom, Compare) and atom.sign not in ("=", "!="):
        yield Mistake(place, f"`{atom}` orders the categories of {axis.name}")
        return
    constants = atom.values if isinstance(atom, Among) else (atom.other,) if isinstance(atom, Compare) else ()
    for label in (c if isinstance(c, str) else show_decimal(c) for c in constants):
        if label not in axis.labels:
            yield unknown_name(
                place, f"`{atom}`: {cut(label)} is not a value of {axis.name}", label, axis.labels
            )


class Facts(Model):
    """Published tables of one population."""

    facts: Count = Field(ge=1, le=1, description="Version of this language.")
    title: Prose
    source: Prose
    columns: tuple[FactColumn, ...] = Field(min_length=1)
    tables: tuple[FactTable, ...] = Field(min_length=1, max_length=1000)
    never: tuple[str, ...] = Field(default=(), max_length=1000)

    def mistakes(self) -> Iterator[Mistake]:
        """Tables and rules speak of columns and fit their bins; each column has a table."""
        yield from every(self._check_columns(), self._check_tables(), self._check_rules())

    @property
    def axes(self) -> dict[str, Axis]:
        """The columns' bins, by name."""
        return {column.name: column.axis for column in self.columns}

    def _check_columns(self) -> Iterator[Mistake]:
        seen = set[str]()
        for i, column in enumerate(self.columns):
            if column.name in seen:
                problem = f"two columns have the same name: {cut(column.name)}"
                yield Mistake(("columns", i, "name"), problem)
            elif (column.name,) not in [table.of for table in self.tables]:
                yield Mistake(("tables",), f"column {column.name} needs a one-way table", hides=False)
            seen.add(column.name)

    def _check_tables(self) -> Iterator[Mistake]:
        axes = self.axes
        for i, table in enumerate(self.tables):
            for mistake in every(table.misfits(axes)):
                yield mistake.within(("tables", i))

    def _check_rules(self) -> Iterator[Mistake]:
        axes = self.axes
        for i, text in enumerate(self.never):
            yield from every(_undecided(text, axes, ("never", i)))

    def conditions(self) -> tuple[Condition, ...]:
        """What no record satisfies."""
        known = [column.name for column in self.columns]
        return tuple(resolve(parse_condition(text), known) for text in self.never)


def load_facts(path: Path) -> Facts:
    """Read a facts file."""
    return read_as(Facts, read(read_limited(path), MOST_VALUES))

"""Facts: published tables from which stand-in microdata can be made, with no access to any record."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from facsimile.spec.bins import CategoryBin, NumberBin, parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import (
    Among,
    Atom,
    Compare,
    Condition,
    atoms,
    holds_on_bins,
    names,
    parse_condition,
    resolve,
)
from facsimile.spec.decimals import Count, Exact, show_decimal
from facsimile.spec.load import parse, read_limited, validated_as
from facsimile.spec.model import Label, Model, Prose

MOST_ROUNDING = 1


class FactColumn(Model):
    """A raw column: numbers in closed bins, categories, or the dates of one year."""

    name: str = Field(max_length=128)
    bins: tuple[Label, ...] | None = Field(default=None, description="Closed bins of whole numbers.")
    values: tuple[Label, ...] | None = Field(default=None, description="Texts as the file writes them.")
    year: Count | None = Field(default=None, ge=1, le=9999, description="Dates of this year, one bin a month.")
    missing: Exact = Field(default=Fraction(0), ge=0, lt=100, description="Percent left blank.")

    @model_validator(mode="after")
    def _one_kind(self) -> FactColumn:
        if sum(kind is not None for kind in (self.bins, self.values, self.year)) != 1:
            raise ValueError(f"column {self.name} has either bins, values or year")
        if self.values is not None and len(set(self.values)) < max(1, len(self.values)):
            raise ValueError(f"column {self.name} lists no value or one value twice")
        for b in self.axis.bins:
            if isinstance(b, NumberBin) and (b.low is None or b.high is None):
                raise ValueError(f"column {self.name}: the bin {b.label} needs both ends")
        return self

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


def _one_percentage_each(table: FactTable, facts: ValidationInfo) -> FactTable:
    """A table with one percentage for each cell of its columns."""
    if "columns" not in facts.data:
        return table
    axes = _axes(facts.data["columns"])
    words = ", ".join(table.of)
    if not set(table.of) <= set(axes) or len(set(table.of)) < len(table.of):
        raise ValueError(f"a table of {words} names an unknown column or one twice")
    percent = np.array(table.percent, object)
    if percent.shape != tuple(axes[name].size for name in table.of):
        raise ValueError(f"the table of {words} does not have one percentage for each cell")
    if percent.min() < 0:
        raise ValueError(f"the table of {words} has a negative percentage")
    if abs(percent.sum() - 100) > MOST_ROUNDING:
        raise ValueError(f"the table of {words} adds up to {float(percent.sum()):g}, not to 100")
    return table


def _decided_by_bins(text: str, facts: ValidationInfo) -> str:
    """A rule whose comparisons each hold on all of a bin or on none of it, so that bins decide plausibility."""
    if "columns" not in facts.data:
        return text
    axes = _axes(facts.data["columns"])
    condition = resolve(parse_condition(text), tuple(axes))
    if not set(names(condition)) <= set(axes):
        raise ValueError(f"`{condition}` speaks of an unknown column")
    for atom in atoms(condition):
        if len(atom.names) > 1:
            raise ValueError(f"`{condition}` compares two columns")
        name = atom.names[0]
        if isinstance(axes[name].bins[0], CategoryBin):
            _check_labels(atom, axes[name])
        for b in axes[name].bins:
            if not holds_on_bins(atom, {name: b}) and not holds_on_bins(atom.negated(), {name: b}):
                raise ValueError(f"`{atom}` cuts the bin {b.label} of {name}")
    return text


def _check_labels(atom: Atom, axis: Axis) -> None:
    """A comparison of a category is with its own labels, and says nothing about an order."""
    if isinstance(atom, Compare) and atom.sign not in ("=", "!="):
        raise ValueError(f"`{atom}` orders the categories of {axis.name}")
    constants = atom.values if isinstance(atom, Among) else (atom.other,) if isinstance(atom, Compare) else ()
    for label in (c if isinstance(c, str) else show_decimal(c) for c in constants):
        if label not in axis.labels:
            raise ValueError(f"`{atom}`: {label} is not a value of {axis.name}")


def _axes(columns: tuple[FactColumn, ...]) -> dict[str, Axis]:
    return {column.name: column.axis for column in columns}


class Facts(Model):
    """Published tables of one population."""

    facts: Count = Field(ge=1, le=1, description="Version of this language.")
    title: Prose
    source: Prose
    columns: tuple[FactColumn, ...] = Field(min_length=1)
    tables: tuple[Annotated[FactTable, AfterValidator(_one_percentage_each)], ...] = Field(min_length=1)
    never: tuple[Annotated[str, AfterValidator(_decided_by_bins)], ...] = ()

    @field_validator("columns")
    @classmethod
    def _distinct(cls, columns: tuple[FactColumn, ...]) -> tuple[FactColumn, ...]:
        if len(_axes(columns)) < len(columns):
            raise ValueError("two columns have the same name")
        return columns

    @field_validator("tables")
    @classmethod
    def _complete(cls, tables: tuple[FactTable, ...], facts: ValidationInfo) -> tuple[FactTable, ...]:
        for column in facts.data.get("columns", ()):
            if (column.name,) not in [table.of for table in tables]:
                raise ValueError(f"column {column.name} needs a one-way table")
        return tables

    def conditions(self) -> tuple[Condition, ...]:
        """What no record satisfies."""
        known = [column.name for column in self.columns]
        return tuple(resolve(parse_condition(text), known) for text in self.never)


def load_facts(path: Path) -> Facts:
    """Read a facts file."""
    data, lines = parse(read_limited(path))
    return validated_as(Facts, data, lines)

"""Encoding: a raw table becomes counts of encoded rows, by one query.

The steps, in this order, for every record:

  1. clean      each field becomes an integer, missing or malformed (cleaning.py)
  2. rules      malformed and missing values follow the column's rule: a constant, a code, drop, refuse
  3. plausible  `declared`: records that a raw constraint rules out are left out;
                `clamp`: they are mapped to plausible ones, values being clipped to the domain first
  4. bin        values outside the domain are clipped, dropped or refused; the rest become codes
  5. count      codes are packed into as few integers as possible, and equal rows are counted

Packed keys stay below 2^62, so wide tables use several. A refusal is an extra code of its column: it comes
back with the counts and only its error code is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any

import ibis
import numpy as np
import numpy.typing as npt
from ibis.expr.types import Table as Source
from ibis.expr.types import Value

from facsimile.spec.bins import CategoryBin, NumberBin
from facsimile.spec.columns import CLIP, DROP, MISSING, REFUSE, Column, Constant, MissingCode
from facsimile.spec.constraints import Among, Atom, Condition, Missing, fold, holds
from facsimile.spec.decimals import parse_decimal, show_decimal
from facsimile.spec.release import Specification
from facsimile.table.cleaning import BAD, ELSEWHERE, big, can_be_malformed, clean_value, cleaned, stripped
from facsimile.table.domain import Domain, words
from facsimile.table.table import Table

REFUSALS = ("E140", "E141", "E142")
COUNT = "records"
_SIGNS = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "!=": ne}


class Dropped(Exception):
    """The record is left out."""


@dataclass(frozen=True)
class Encoding:
    """How raw records become codes at the finest common refinement of a specification."""

    specification: Specification

    @cached_property
    def domain(self) -> Domain:
        """The domain of the encoded table."""
        return Domain(self.specification.finest())

    @cached_property
    def columns(self) -> dict[str, ColumnEncoding]:
        """The encoding of each column."""
        return {column.name: ColumnEncoding(column) for column in self.specification.columns}

    @property
    def radices(self) -> tuple[int, ...]:
        """The number of codes of each column, refusals included."""
        return tuple(encoding.size + len(REFUSALS) for encoding in self.columns.values())

    @property
    def clamping(self) -> bool:
        """Whether implausible records are mapped rather than left out."""
        return self.specification.constraints.policy == "clamp"

    def query(self, source: Source) -> Source:
        """The one query: key columns and the number of records of each."""
        columns = self.columns.values()
        raw = source.select(**{e.name: source[e.column.raw_name] for e in columns})
        trimmed = raw.mutate(**{e.name: stripped(raw[e.name]) for e in columns if raw[e.name].type().is_string()})
        clean = trimmed.select(**{e.name: cleaned(e.column, trimmed[e.name]) for e in columns})
        loose = {e.name: can_be_malformed(e.column, raw[e.name].type()) for e in columns}
        ruled = self._ruled(clean, loose)
        if self.clamping:
            ruled = self._clamped(ruled, loose)
        drop, refused = self._dropped(ruled, loose), self._refused(ruled, loose)
        if drop is not None:
            ruled = ruled.filter(~drop if refused is None else ~drop | refused)
        codes = ruled.select(**{e.name: e.code(ruled[e.name], loose[e.name]) for e in columns})
        keys = {f"key{i}": _packed(codes, run, self.radices) for i, run in enumerate(words(self.radices))}
        return codes.group_by(**keys).aggregate(**{COUNT: codes.count()})

    def table(self, keys: Sequence[npt.NDArray[np.int64]], counts: npt.NDArray[np.int64]) -> tuple[Table, set[tuple[str, str]]]:
        """The count table from the query's result, and the refusals (code, column) it holds."""
        codes = _unpacked(keys, self.radices)
        refusals = {
            (REFUSALS[code - encoding.size], name)
            for place, (name, encoding) in enumerate(self.columns.items())
            for code in np.unique(codes[:, place])
            if code >= encoding.size
        }
        if refusals:
            return Table.from_rows(self.domain, np.zeros((0, len(self.columns)))), refusals
        return Table.from_rows(self.domain, codes, counts), set()

    def _ruled(self, clean: Source, loose: Mapping[str, bool]) -> Source:
        """Step 2; a field that is refused or dropped as malformed keeps its mark."""
        changed = {}
        for e in self.columns.values():
            value = e.ruled(clean[e.name], loose[e.name])
            if self.clamping and e.column.outside == CLIP:
                value = e.clipped(value, loose[e.name])
            if value is not clean[e.name]:
                changed[e.name] = value
        return clean.mutate(**changed) if changed else clean

    def _clamped(self, table: Source, loose: Mapping[str, bool]) -> Source:
        for constraint in self.specification.constraints.raw:
            broken = self._sql(constraint.condition(self.specification.names), table, loose).fill_null(False)
            changed = {}
            for name, text in (constraint.clamp or {}).items():
                here = broken & (table[name] != BAD).fill_null(True) if loose[name] else broken
                changed[name] = here.ifelse(big(int(self.columns[name].unit(text))), table[name])
            table = table.mutate(**changed)
        return table

    def _dropped(self, table: Source, loose: Mapping[str, bool]) -> Value | None:
        """Whether a record is left out; None where the specification leaves out nobody."""
        reasons: list[Value] = []
        if not self.clamping:
            conditions = self.specification.raw_conditions()
            reasons = [self._sql(condition, table, loose) for condition in conditions]
        for e in self.columns.values():
            reasons += e.drops(table[e.name], loose[e.name])
        return reduce(or_, reasons).fill_null(False) if reasons else None

    def _refused(self, table: Source, loose: Mapping[str, bool]) -> Value | None:
        """Whether a field is refused as malformed: such a record is kept, so that the refusal shows."""
        marked = [n for n, e in self.columns.items() if loose[n] and e.column.malformed == REFUSE]
        return reduce(or_, [(table[n] == BAD).fill_null(False) for n in marked]) if marked else None

    def _sql(self, condition: Condition, table: Source, loose: Mapping[str, bool]) -> Value:
        """A raw condition as an SQL filter; NULL where a missing or malformed value leaves it open."""

        def atom(a: Atom) -> Value:
            values = [table[n].nullif(big(BAD)) if loose[n] else table[n] for n in a.names]
            return self._atom(a, values)

        return fold(condition, atom, lambda ps: reduce(and_, ps), lambda ps: reduce(or_, ps))

    def _atom(self, atom: Atom, values: Sequence[Value]) -> Value:
        value, encoding = values[0], self.columns[atom.name]
        if isinstance(atom, Missing):
            return value.isnull() if atom.missing else value.notnull()
        if isinstance(atom, Among):
            listed = [encoding.unit(_text(constant)) for constant in atom.values]
            whole = [place for place in listed if isinstance(place, int)]
            return value.isin(whole) if atom.among else value.notin(whole)
        return _compare(atom.sign, value, values[1] if atom.other_is_name else encoding.unit(_text(atom.other)))

    def encode(self, record: Mapping[str, Any]) -> tuple[int, ...]:
        """The codes of one raw record: the reference for every engine. Raises Dropped or RefusedField."""
        names = self.specification.names
        clean = {e.name: clean_value(e.column, record[e.column.raw_name]) for e in self.columns.values()}
        for e in self.columns.values():
            if clean[e.name] == BAD and e.column.malformed == REFUSE:
                raise RefusedField("E140", e.name)
        ruled = {name: e.ruled_value(clean[name], self.clamping) for name, e in self.columns.items()}
        values = {name: e.meaning(ruled[name]) for name, e in self.columns.items()}
        if self.clamping:
            values = self.specification.clamped(values)
        elif any(holds(c.condition(names), values) for c in self.specification.constraints.raw):
            raise Dropped
        return tuple(e.code_of(values[name], ruled[name]) for name, e in self.columns.items())


class RefusedField(Exception):
    """A field that its column's rule refuses: the error code and the column."""


@dataclass(frozen=True)
class ColumnEncoding:
    """How the cleaned integer of one column becomes a code."""

    column: Column

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def size(self) -> int:
        """The number of codes, the missing code included."""
        return self.column.finest.size

    @cached_property
    def ends(self) -> tuple[int | None, int | None]:
        """The lowest and highest integer of the domain; None for an open end."""
        if self.column.values is not None:
            return 0, len(self.column.values) - 1
        bins = [b for b in self.column.finest.bins if isinstance(b, NumberBin)]
        low, high = bins[0].low, bins[-1].high
        return (None if low is None else self._int(low)), (None if high is None else self._int(high))

    def _int(self, value: Fraction) -> int:
        return int(value / self.column.step)

    def unit(self, text: str) -> int | Fraction:
        """A constant in the units of the cleaned column: a category's place, a number's multiple."""
        if self.column.values is not None:
            return self.column.values.index(text)
        scaled = parse_decimal(text) / self.column.step
        return int(scaled) if scaled.denominator == 1 else scaled

    def ruled(self, value: Value, loose: bool) -> Value:
        """Malformed as missing, missing as a constant, unknown categories under their label."""
        if loose and self.column.malformed == MISSING:
            value = value.nullif(big(BAD))
        if isinstance(self.column.missing, Constant):
            value = value.fill_null(big(int(self.unit(self.column.missing.value))))
        if self.column.values is not None and self.column.outside in self.column.values:
            label = self.column.values.index(self.column.outside)
            value = (value == ELSEWHERE).ifelse(ibis.literal(label, "int32"), value)
        return value

    def clipped(self, value: Value, loose: bool) -> Value:
        """The value moved to the nearest end of the domain; marks stay."""
        low, high = self.ends
        if low is None and high is None:
            return value
        inside = value.clip(lower=low, upper=high)
        return (value == BAD).ifelse(value, inside) if loose else inside

    def drops(self, value: Value, loose: bool) -> list[Value]:
        """The reasons of this column to leave a record out."""
        reasons = []
        if self.column.missing == DROP:
            reasons.append(value.isnull())
        if loose and self.column.malformed == DROP:
            reasons.append(value == BAD)
        if self.column.outside == DROP:
            low, high = self.ends
            present = [value < low] if low is not None else []
            present += [value > high] if high is not None else []
            if present:
                reasons.append(reduce(or_, present))
        return reasons

    def code(self, value: Value, loose: bool) -> Value:
        """The code of a value, with extra codes for what is refused."""
        low, high = self.ends
        marks: list[tuple[Value, int]] = []
        if loose and self.column.malformed == REFUSE:
            marks.append((value == BAD, self.size))
        if isinstance(self.column.missing, MissingCode):
            marks.append((value.isnull(), self.size - 1))
        elif self.column.missing == REFUSE:
            marks.append((value.isnull(), self.size + 1))
        if self.column.outside == REFUSE:
            marks += [(value < low, self.size + 2)] if low is not None else []
            marks += [(value > high, self.size + 2)] if high is not None else []
        inside = self._bin(value)
        return ibis.cases(*((test, _small(mark)) for test, mark in marks), else_=inside) if marks else inside

    def _bin(self, value: Value) -> Value:
        """Arithmetic where bins are regular, a lookup of places for categories, comparisons otherwise."""
        if self.column.values is not None:
            places = self.places
            if places == list(range(len(places))):
                return value.cast("int32")
            return ibis.cases(*((value == i, _small(p)) for i, p in enumerate(places)), else_=_small(places[-1]))
        starts = self.starts
        if not starts:
            return (value * 0).cast("int32")
        widths = {b - a for a, b in pairwise(starts)}
        if len(starts) > 3 and len(widths) == 1:
            width = widths.pop()
            near = value.clip(lower=starts[0] - width, upper=starts[-1])
            moved = near - _literal(starts[0] - width)
            return (moved if width == 1 else moved // width).cast("int32")
        return reduce(lambda a, b: a + b, [(value >= start).cast("int32") for start in starts])

    @cached_property
    def starts(self) -> list[int]:
        """Where each bin but the first begins."""
        bins = [b for b in self.column.finest.bins if isinstance(b, NumberBin)]
        return [self._int(b.low) for b in bins[1:] if b.low is not None]

    @cached_property
    def places(self) -> list[int]:
        """The code of each category."""
        bins = [b for b in self.column.finest.bins if isinstance(b, CategoryBin)]
        return [next(i for i, b in enumerate(bins) if v in b.values) for v in self.column.values or ()]

    def ruled_value(self, value: int | None, clamping: bool) -> int | None:
        """Step 2 in Python."""
        column = self.column
        if value == BAD:
            if column.malformed == DROP:
                raise Dropped
            value = None
        if value is None and isinstance(column.missing, Constant):
            value = int(self.unit(column.missing.value))
        if value == ELSEWHERE and column.values is not None and column.outside in column.values:
            return column.values.index(column.outside)
        return self._clip(value) if clamping and column.outside == CLIP else value

    def _clip(self, value: int | None) -> int | None:
        low, high = self.ends
        if value is None:
            return None
        value = value if low is None else max(low, value)
        return value if high is None else min(high, value)

    def meaning(self, value: int | None) -> Fraction | str | None:
        """What constraints see: the number or the category; an unknown category is no category."""
        if value is None:
            return None
        if self.column.values is not None:
            return "" if value == ELSEWHERE else self.column.values[value]
        return value * self.column.step

    def code_of(self, meaning: Fraction | str | None, ruled: int | None) -> int:
        """Step 4 in Python."""
        if meaning is None:
            if isinstance(self.column.missing, MissingCode):
                return self.size - 1
            if self.column.missing == DROP:
                raise Dropped
            raise RefusedField("E141", self.name)
        value = ELSEWHERE if meaning == "" else int(self.unit(_text(meaning)))
        low, high = self.ends
        if (low is not None and value < low) or (high is not None and value > high):
            if self.column.outside == DROP:
                raise Dropped
            if self.column.outside == REFUSE:
                raise RefusedField("E142", self.name)
            value = self._clip(value) or 0
        return self.places[value] if self.column.values is not None else sum(value >= s for s in self.starts)


def recode(specification: Specification, table: Table, alternatives: Mapping[str, str]) -> Table:
    """A table at the finest refinement, under the chosen alternatives."""
    maps = {c.name: c.recoding(alternatives[c.name]) for c in specification.columns}
    return table.recode(Domain(specification.axes(alternatives)), maps)


def _small(value: int) -> Value:
    return ibis.literal(value, "int32")


def _literal(value: int) -> Value:
    return ibis.literal(value, "int32" if abs(value) < 2**31 else "int64")


def _text(constant: Fraction | str) -> str:
    return constant if isinstance(constant, str) else show_decimal(constant)


def _compare(sign: str, value: Value, other: Any) -> Value:
    if isinstance(other, Fraction):
        # Between two grid values: x < 2.5 is x <= 2, and no value equals 2.5.
        if sign in ("=", "!="):
            return value.notnull() if sign == "!=" else ibis.literal(False)
        sign, other = ("<=" if sign[0] == "<" else ">"), other.numerator // other.denominator
    return _SIGNS[sign](value, other)


def _packed(codes: Source, run: range, radices: Sequence[int]) -> Value:
    names = list(codes.columns)
    size = 1
    for place in run:
        size *= radices[place]
    kind = "int32" if size < 2**31 else "int64"
    key = codes[names[run[0]]].cast(kind)
    for place in run[1:]:
        key = key * ibis.literal(radices[place], kind) + codes[names[place]].cast(kind)
    return key


def _unpacked(keys: Sequence[npt.NDArray[np.int64]], radices: Sequence[int]) -> npt.NDArray[np.int64]:
    codes = np.empty((len(keys[0]), len(radices)), np.int64)
    for key, run in zip(keys, words(radices), strict=True):
        rest = np.asarray(key, np.int64)
        for place in reversed(run):
            rest, codes[:, place] = np.divmod(rest, radices[place])
    return codes

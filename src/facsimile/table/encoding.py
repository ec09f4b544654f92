"""Encoding: a raw table becomes counts of encoded rows, by one query.

The engine cleans each field (cleaning.py), finds its piece, counts equal rows and leaves out what the
specification leaves out:

    SELECT piece of each column, COUNT(*)  GROUP BY pieces  HAVING NOT left out

The pieces of a column are cut at every edge that an alternative or a raw constraint speaks of, so that a
constraint is decided by pieces alone, once for each distinct row instead of once for each record. Pieces are
then joined to the finest common refinement of the alternatives.

What happens to a record, in this order: malformed values follow their rule; missing values with a constant
become it; unknown categories with a label become it; implausible records are left out (policy `declared`) or
mapped to plausible ones (policy `clamp`, values being clipped to the domain first); values outside the domain
are clipped, dropped or refused; what is still missing gets its code, or is dropped or refused. A record that
is left out for one value is not refused for another, unless that one is malformed. Last, a record that has all
its codes is left out when a raw constraint holds on them: a plausible value may have been clipped to where it
is implausible. Proved clamps leave nothing to this step, because clips come before them.

Theorem. Every coded row lies in a cell that raw constraints allow, at the finest refinement and under every
choice of alternatives. So a maximum over allowed cells is a maximum over all that a record can become.
Proof. At the finest refinement by the last step. A bin of an alternative holds the row's finest bin b; an atom
that holds on all values of that bin holds on those of b. Conditions join atoms by `and` and `or` alone, so one
that holds on the coarser cell holds on the finest one, which the last step excludes.

The query's filter knows only what holds for pieces: it takes out no record that is kept or refused here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import ceil, floor
from operator import and_, or_
from typing import Any

import ibis
import numpy as np
import numpy.typing as npt
from ibis.expr.types import Table as Source
from ibis.expr.types import Value

from facsimile.spec.bins import Bin, CategoryBin, MissingBin, NumberBin, holders
from facsimile.spec.columns import (
    CLIP,
    DROP,
    MISSING,
    MOST_DECIMALS,
    REFUSE,
    Axis,
    Column,
    Constant,
    MissingCode,
)
from facsimile.spec.constraints import Atom, Compare, Condition, atoms, fold
from facsimile.spec.release import Specification
from facsimile.table.cleaning import FAR, FENCED, can_be_malformed, clean_value, cleaned, prepared
from facsimile.table.conditions import Mask, evaluate, implausible, truth
from facsimile.table.cuts import Cuts
from facsimile.table.domain import Domain
from facsimile.table.table import Codes, Table

COUNT = "records"
MORE_DIGITS = 3
SUM, VALUES = "sum of", "values of"
LEFT_OUT, MALFORMED, UNANSWERED, OUTSIDE = -1, -2, -3, -4
REFUSALS = {MALFORMED: "E140", UNANSWERED: "E141", OUTSIDE: "E142"}
ELSEWHERE = "\0"
_NO_LIMIT = 2**62


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
        spec = self.specification
        return {c.name: ColumnEncoding(c, _edges(spec, c), self.clamping) for c in spec.columns}

    @cached_property
    def pieces(self) -> Domain:
        """The domain of the query's result."""
        return Domain(tuple(e.pieces for e in self.columns.values()))

    @property
    def clamping(self) -> bool:
        """Whether implausible records are mapped rather than left out."""
        return self.specification.constraints.policy == "clamp"

    def query(self, source: Source, sums: Sequence[str] = ()) -> Source:
        """The one query: the piece of each column, and the number of records that fall into them.

        Of a public source it can also give the `sums` of columns' values, and how many values each has.
        """
        columns, values = self.columns.items(), [f"{VALUES} {name}" for name in sums]
        clean = self.clean(source, sums)
        loose = {name: can_be_malformed(e.column, source[e.column.raw_name].type()) for name, e in columns}
        kept = {value: clean[value] for value in values}
        pieces = _fence(clean.select(**{name: e.sql(clean[name], loose[name]) for name, e in columns}, **kept))
        totals = {f"{SUM} {name}": pieces[value].sum() for name, value in zip(sums, values, strict=True)}
        totals |= {value: pieces[value].count() for value in values}
        counted = pieces.group_by(list(self.columns)).aggregate(**{COUNT: pieces.count()}, **totals)
        left_out = self._left_out(counted)
        # The count is part of the filter so that no engine moves it below the counting.
        return counted if left_out is None else counted.filter(~left_out | (counted[COUNT] < 1))

    def clean(self, source: Source, sums: Sequence[str] = ()) -> Source:
        """What each field says, as one integer; beside it the values that are to be summed."""
        columns = self.columns.items()
        raw = source.select(**{name: source[e.column.raw_name] for name, e in columns})
        ready = _fence(raw.select(**{name: prepared(raw[name]) for name, e in columns}))
        values = {f"{VALUES} {name}": _value(cleaned(self.columns[name].exact, ready[name])) for name in sums}
        return _fence(ready.select(**{name: cleaned(e.column, ready[name]) for name, e in columns}, **values))

    def table(
        self, pieces: Mapping[str, npt.ArrayLike], counts: npt.ArrayLike
    ) -> tuple[Table, set[tuple[str, str]]]:
        """The count table from the query's result, and the refusals (error code, column) it holds."""
        codes = self.codes(np.stack([np.asarray(pieces[name], np.int64) for name in self.columns]).T)
        refused = {
            (error, name)
            for place, name in enumerate(self.columns)
            for code, error in REFUSALS.items()
            if (codes[:, place] == code).any()
        }
        kept = (codes >= 0).all(axis=1)
        return Table.from_rows(self.domain, codes[kept], np.asarray(counts, np.int64)[kept]), refused

    def codes(self, pieces: Codes) -> Codes:
        """The codes of rows of pieces; negative where a record is left out or refused."""
        seen = {name: e.seen[pieces[:, place]] for place, (name, e) in enumerate(self.columns.items())}
        malformed = {name: e.final[seen[name]] == MALFORMED for name, e in self.columns.items()}
        as_written = np.zeros(len(pieces), np.bool_)
        for constraint in self.specification.constraints.raw:
            broken = evaluate(constraint.condition(self.specification.names), self.pieces, seen)
            if self.clamping:
                for name, text in (constraint.clamp or {}).items():
                    seen[name] = np.where(broken, self.columns[name].piece_of(text), seen[name])
            as_written |= broken & (not self.clamping)
        codes = np.column_stack(
            [np.where(malformed[name], MALFORMED, e.final[seen[name]]) for name, e in self.columns.items()]
        )
        left_out = (as_written | (codes == LEFT_OUT).any(axis=1)) & ~(codes == MALFORMED).any(axis=1)
        codes[left_out] = LEFT_OUT
        coded = np.flatnonzero((codes >= 0).all(axis=1))
        as_coded = implausible(self.specification.raw_conditions, self.domain, codes[coded])
        codes[coded[as_coded]] = LEFT_OUT
        return codes

    def encode(self, record: Mapping[str, Any]) -> tuple[int, ...]:
        """The codes of one raw record, by the same rules without an engine."""
        pieces = [e.piece(clean_value(e.column, record[e.column.raw_name])) for e in self.columns.values()]
        return tuple(int(code) for code in self.codes(np.array([pieces]))[0])

    def _left_out(self, counted: Source) -> Value | None:
        """The pushed-down filter: rows that a raw constraint or a column's rule leaves out."""
        conditions = () if self.clamping else self.specification.raw_conditions
        reasons = [self._sql(condition, counted) for condition in conditions]
        refused = []
        for name, e in self.columns.items():
            final = e.final[e.seen]
            reasons += _among(counted[name], final == LEFT_OUT)
            refused += _among(counted[name], final == MALFORMED)
        if not reasons:
            return None
        return reduce(or_, reasons) & ~reduce(or_, refused) if refused else reduce(or_, reasons)

    def _sql(self, condition: Condition, counted: Source) -> Value:
        def atom(a: Atom) -> Value:
            e = self.columns[a.names[0]]
            return (_among(counted[e.name], truth(a, self.pieces)[e.seen]) or [ibis.literal(False)])[0]

        return fold(condition, atom, lambda ps: reduce(and_, ps), lambda ps: reduce(or_, ps))


@dataclass(frozen=True)
class ColumnEncoding:
    """The pieces of one column, and what becomes of each.

    Pieces of a number: malformed, the stretches between cuts, missing. Pieces of a category: each value,
    any other text, missing.

    >>> known = {"name": "age", "description": "Age", "bounds": (0, 90), "outside": "clip", "missing": "drop"}
    >>> age = ColumnEncoding(Column(**known, alternatives={"a": ["0-17", "18-90"]}), frozenset(), False)
    >>> [int(age.final[age.piece(value)]) for value in (-3, 17, 18, 200, None)]
    [0, 0, 1, 1, -1]
    """

    column: Column
    edges: frozenset[int]
    clamping: bool

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def exact(self) -> Column:
        """The column with some of the digits that rounding cuts off: for sums of public values."""
        digits = min(MOST_DECIMALS, self.column.decimals + MORE_DIGITS)
        return self.column if self.column.round is None else self.column.model_copy(update={"decimals": digits})

    @cached_property
    def cuts(self) -> Cuts:
        """Where the stretches of a number begin."""
        low, high = self.ends
        ends = [end for end in (low, None if high is None else high + 1) if end is not None]
        return Cuts.at({*map(self._unit, self._starts), *self.edges, *ends})

    @cached_property
    def ends(self) -> tuple[int | None, int | None]:
        """The lowest and highest integer of a number's domain; None for an open end."""
        low, high = self._stretches[0].low, self._stretches[-1].high
        return (None if low is None else self._unit(low)), (None if high is None else self._unit(high))

    def _unit(self, value: Fraction) -> int:
        return int(value / self.column.step)

    @cached_property
    def pieces(self) -> Axis:
        """The pieces as an axis: a condition is decided on each of them."""
        return Axis(self.name, tuple(self._pieces()))

    def _pieces(self) -> Iterator[Bin]:
        if self.column.values is not None:
            yield from (CategoryBin(value, frozenset([value])) for value in self.column.values)
            yield CategoryBin("other", frozenset([ELSEWHERE]))
        else:
            yield MissingBin("malformed")
            cuts = [cut * self.column.step for cut in self.cuts.all]
            step = self.column.step
            for low, high in zip([None, *cuts], [*(cut - step for cut in cuts), None], strict=True):
                yield NumberBin("", low, high, Fraction(0))
        yield MissingBin("missing")

    def sql(self, clean: Value, loose: bool) -> Value:
        """The piece of a cleaned value; `loose` where it can be malformed."""
        kind = "int16" if self.pieces.size < 2**15 else "int32"
        place = clean if self.column.values is not None else self.cuts.sql(clean)
        if self.column.values is None:
            place = place + ((clean >= -FAR).cast("int32") if loose else ibis.literal(1, "int32"))
        nothing = ibis.literal(self.pieces.size - 1, kind)
        return ibis.cases((clean.isnull(), nothing), else_=place.cast(kind))

    def piece(self, clean: int | None) -> int:
        """The same in Python."""
        if clean is None:
            return self.pieces.size - 1
        return clean if self.column.values is not None else self.cuts.code(clean) + (clean >= -FAR)

    def piece_of(self, text: str) -> int:
        """The piece that holds a constant of the specification."""
        return self.piece(clean_value(self.column.model_copy(update={"map": None, "part": None}), text))

    @cached_property
    def seen(self) -> Codes:
        """For each piece, the piece that constraints see: after constants, labels and, if clamping, clips."""
        missing = self.pieces.size - 1
        seen = np.arange(self.pieces.size)
        if isinstance(self.column.missing, Constant):
            seen[missing] = self.piece_of(self.column.missing.value)
        if self.column.values is not None:
            if self.column.outside in self.column.values:
                seen[missing - 1] = self.column.values.index(self.column.outside)
            return seen
        if self.column.malformed == MISSING:
            seen[0] = seen[missing]
        if self.clamping and self.column.outside == CLIP:
            first, last = self._inside
            seen[1:missing] = np.clip(seen[1:missing], first, last)
        return seen

    @cached_property
    def _inside(self) -> tuple[int, int]:
        """The first and last stretch of the domain."""
        low, high = self.ends
        return (
            1 if low is None else self.piece(low),
            self.pieces.size - 2 if high is None else self.piece(high),
        )

    @cached_property
    def final(self) -> Codes:
        """For each piece, its code at the finest refinement, or what happens to the record."""
        column, absent = self.column, UNANSWERED
        if isinstance(column.missing, MissingCode):
            absent = column.finest.size - 1
        elif column.missing == DROP:
            absent = LEFT_OUT
        held = holders(self.pieces.bins, column.finest.bins)
        beyond = LEFT_OUT if column.outside == DROP else OUTSIDE
        final = np.array([beyond if code is None else code for code in held], np.int64)
        if column.values is None:
            final[0] = {DROP: LEFT_OUT, REFUSE: MALFORMED}.get(column.malformed, absent)
            if column.outside == CLIP:
                first, last = self._inside
                final[1:first], final[last + 1 :] = 0, len(self._starts)
        final[-1] = absent
        return final

    @cached_property
    def _starts(self) -> list[Fraction]:
        """Where the bins of a number begin, but for the first."""
        return [b.low for b in self._stretches[1:] if b.low is not None]

    @cached_property
    def _stretches(self) -> list[NumberBin]:
        """The bins of a number, without a missing code."""
        return [b for b in self.column.finest.bins if isinstance(b, NumberBin)]


def recode(specification: Specification, table: Table, alternatives: Mapping[str, str]) -> Table:
    """A table at the finest refinement, under the chosen alternatives."""
    return table.recode(Domain(specification.axes(alternatives)), specification.recodings(alternatives))


def _edges(specification: Specification, column: Column) -> frozenset[int]:
    """Where raw constraints cut a number, so that an atom holds on all of a stretch or on none of it."""
    edges: set[int] = set()
    for atom in (a for c in specification.raw_conditions for a in atoms(c) if a.name == column.name):
        sign = atom.sign if isinstance(atom, Compare) else "="
        for unit in (number / column.step for number in atom.numbers):
            edges |= {ceil(unit)} if sign in ("<", ">=", "=", "!=") else set()
            edges |= {floor(unit) + 1} if sign in ("<=", ">", "=", "!=") else set()
    return frozenset(edges)


def _value(clean: Value) -> Value:
    """A cleaned number; nothing where it is missing or malformed."""
    return ibis.cases((clean >= -FAR, clean.cast("float64")), else_=ibis.null("float64"))


def _among(value: Value, wanted: Mask) -> list[Value]:
    """Whether a piece is one of those wanted, as comparisons with the ends of their runs."""
    places = np.flatnonzero(wanted)
    if not len(places):
        return []
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    tests = [
        value == int(run[0]) if len(run) == 1 else value.between(int(run[0]), int(run[-1])) for run in runs
    ]
    return [reduce(or_, tests)]


def _fence(table: Source) -> Source:
    """Keep an engine from merging sub-queries and computing a field again at each use."""
    return table.limit(_NO_LIMIT) if table.get_backend().name in FENCED else table

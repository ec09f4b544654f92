"""Explorer: `explore.html`, one page that answers counts, shares and means, each with how far it can be off.

The page asks for nothing from outside. It holds the released table, the dictionary and what the release says of
the original. Every quantity that comes of noise is computed here: the script only adds, multiplies, intersects.

An interval is for the original table R, n records like the release S. What it may fail with, α = 5 %, is
divided among the d rules that exist for it. Which exist follows from the design, never from noise:

Cells.   `marginals-absolute` bounds the error of every cell by U, of all of them at once. A set that is a sum
  or a difference of so many cells is off by at most that many U (`union` in analysis/criteria.py).
Table.   A noisy table y, fixed before the data were seen, has J of its K cells in A. Then
  R(A) = y(A) − (J/K)(Σy − n) ± h(J), h from `analysis.tails`. Of several tables that with the smallest h is
  taken: h depends on the design alone. One interval may be made of p such counts.
Mean.    The criterion `mean` measured E = max |Σ(x − c)|/max(k, m), c the release's mean of a group and k the
  original's records in it. So the mean is within E·max(1, m/k) of c, k at least what the other rules say.

Where a rule of the plan leaves out every record of A, R(A) = 0.

Theorem.  A table is released and a given interval misses with probability at most α.
Proof.    The tables have the part 1/d of α and each other rule as much (analysis/levels.py); each of p counts
  has the p-th part of the tables' level. Outside the events that these are levels of, every rule holds, and so
  does what follows from them: their intersection, a proportion, the extremes of a mean.  QED

Where no rule says anything, replicates of the release give an estimate, marked as one (analysis/combining.py).
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import product
from math import isfinite
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from scipy.special import stdtrit

from facsimile.acceptance.bounds import ALPHA, CONFIDENCE
from facsimile.acceptance.decision import Measured
from facsimile.acceptance.groups import groupings, members, spoken, view_of
from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.kinds.means import MeanKind
from facsimile.analysis.basis import Basis, NoisyTable
from facsimile.analysis.criteria import error_bound, records
from facsimile.analysis.levels import Confidence
from facsimile.analysis.tails import Cells, half_width, law_of
from facsimile.documents.inline import embedded, part, policy_hash
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.numerals import count, percentage, rounded_up, small, spoken_day
from facsimile.documents.report import ColumnEntry, Report
from facsimile.privacy.queries.means import FloorMeans
from facsimile.privacy.queries.view import Viewed
from facsimile.shaping.constraints import allowed
from facsimile.spec.constraints import names
from facsimile.spec.criteria import ConditionalMean, MarginalsAbsolute
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Ints
from facsimile.table.table import Table

RULES = 3
"""At most so many rules share what one interval may fail with."""
PARTS = ("css", "json", "rules.js", "chart.js", "js")
Replicates = Sequence[tuple[Table, Table]]
MOST_CELLS = 2**16
"""Rules about more cells than these are left to the reader."""
MOST_NOISY = 2**20
"""Larger noisy tables are not in the page."""
PACKED = b'"packed":"'
MOST_PACKED = 2**28
MOST_WIDTHS = 256
"""A noisy table has half widths for so many numbers of cells, the smallest ones."""


def explorer(basis: Basis, report: Report, replicates: Replicates = (), kappa: float | None = None) -> bytes:
    """The page: the same release gives the same bytes (of one version of zlib).

    `replicates`: pairs of the release drawn again and the table that was made from it. `kappa`: a calibrated
    factor for their standard errors, in place of Student's.
    """
    style, text, *scripts = (part("facsimile.documents", f"explorer.{kind}") for kind in PARTS)
    words: dict[str, Any] = json.loads(text)
    page = _templates().get_template("explorer.html")
    return page.render(
        report=report,
        mark=REHEARSAL,
        words=words,
        records=count(report.records),
        epsilon=rounded_up(report.epsilon),
        delta=small(report.delta) if report.delta else "",
        day=spoken_day(report.day),
        style=Markup(style),
        scripts=[Markup(script) for script in scripts],
        data=Markup(embedded(told(basis, report, replicates, kappa) | {"words": words})),
    ).encode(errors="replace")


def told(
    basis: Basis, report: Report, replicates: Replicates = (), kappa: float | None = None
) -> dict[str, Any]:
    """What the script is given."""
    spec, domain = basis.specification, basis.table.domain
    tables, nevers = _fixed(basis), tuple(_nevers(spec, domain))
    cells = _broadest(basis.measured)
    return {
        "title": report.title,
        "rehearsal": report.rehearsal,
        "epsilon": rounded_up(report.epsilon),
        "confidence": percentage(show_decimal(CONFIDENCE)),
        "rest": percentage(show_decimal(ALPHA)),
        "of_search": spec.scheme == "measured" or bool(tables),
        "records": basis.n,
        "rows": basis.table.distinct,
        "columns": [_column(spec, basis.table, entry) for entry in report.columns],
        "cells": [{"ways": criterion.ways, "within": _records(basis, m)} for criterion, m in cells],
        "tables": [_noisy(basis, table, [criterion.ways for criterion, _ in cells]) for table in tables],
        "means": [_means(basis, m) for m in basis.measured if _speaks_of_means(m)],
        "nevers": [[domain.place(name) for name in columns] for columns, _ in nevers],
        "replicates": [made.distinct for _, made in replicates],
        "kappa": kappa or float(stdtrit(max(1, len(replicates)), 1 - float(ALPHA) / 2)),
        "packed": packed(basis.table, tables, [mask for _, mask in nevers], replicates),
    }


def packed(
    table: Table, noisy: Iterable[NoisyTable] = (), nevers: Iterable[Mask] = (), replicates: Replicates = ()
) -> str:
    """The released table, noisy tables, forbidden cells and replicates: little-endian, deflated, in base64.

    A table is the codes of each column, then the counts. A code has one, two or four bytes, as its column
    needs; a count has four, or is a float from 2³² records on; noisy ones are floats. The release drawn again
    has its very rows, so counts are enough.
    """
    parts = [
        *_bytes(table),
        *(one.counts.astype("<f8").tobytes() for one in noisy),
        *(mask.astype("<u1").tobytes() for mask in nevers),
        *(piece for drawn, made in replicates for piece in (_drawn(table, drawn), *_bytes(made))),
    ]
    deflater = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflater.compress(b"".join(parts)) + deflater.flush()).decode()


def unpacked(page: bytes) -> tuple[bytes, bytes]:
    """A page without what is packed, and what that holds: the same wherever it was packed. ValueError where
    nothing is."""
    before, mark, rest = page.partition(PACKED)
    content, end, after = rest.partition(b'"')
    try:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        return before + mark + end + after, inflater.decompress(base64.b64decode(content), MOST_PACKED)
    except (zlib.error, ValueError):
        raise ValueError("nothing is packed") from None


def _bytes(table: Table) -> Iterator[bytes]:
    for name, size in zip(table.domain.names, table.domain.shape, strict=True):
        kind = "<u1" if size <= 2**8 else "<u2" if size <= 2**16 else "<u4"
        yield table.column(name).astype(kind).tobytes()
    yield _counts(table.counts, table.n)


def _counts(counts: Ints, n: int) -> bytes:
    return counts.astype("<u4" if n < 2**32 else "<f8").tobytes()


def _drawn(table: Table, drawn: Table) -> bytes:
    """How often each row of a table was drawn."""
    rows = np.concatenate([table.codes, drawn.codes])
    places = np.unique(rows, axis=0, return_inverse=True)[1].ravel()[table.distinct :]
    found = np.zeros(table.distinct, np.int64)
    found[places] = drawn.counts
    return _counts(found, table.n)


def _nevers(specification: Specification, domain: Domain) -> Iterator[tuple[Clique, Mask]]:
    """Which cells no record of the original is in, for each rule about few columns that forbids some."""
    for condition in specification.raw_conditions:
        columns = tuple(name for name in domain.names if name in set(names(condition)))
        if domain.size(columns) <= MOST_CELLS:
            free = allowed([condition], domain.project(columns))
            if not free.all():
                yield columns, ~free


def bound_of(basis: Basis, measured: Measured, rules: int) -> float | None:
    """The bound of a criterion where so many rules share what may fail; None where none is finite."""
    others = rules - 1
    levels = _confidence(basis.specification).shared(Fraction(1, rules) if others else Fraction(0))
    return error_bound(basis, measured, levels, others or 1)


def noise_level(specification: Specification, rules: int, parts: int) -> float:
    """The level of one count of a noisy table, where rules and parts of an interval share what may fail."""
    return (_confidence(specification).shared(Fraction(1, rules)).tables or 0.0) / parts


def _confidence(specification: Specification) -> Confidence:
    return Confidence(specification, ALPHA)


def spread(table: NoisyTable, taken: int, level: float) -> float:
    """h(J): how far y(A) − (J/K)(Σy − n) can be from R(A), for J of the K cells."""
    share, law, cells = taken / table.counts.size, law_of(table.share), table.counts.size
    return half_width([Cells(1 - share, law, taken), Cells(share, law, cells - taken)], level)


def _fixed(basis: Basis) -> tuple[NoisyTable, ...]:
    """The noisy tables that intervals may be taken from: fixed in advance, in a search that bounds bad luck."""
    speak = _confidence(basis.specification).tables_speak
    fixed = (table for table in basis.tables if speak and table.form == "fixed")
    return tuple(table for table in fixed if table.counts.size <= MOST_NOISY)


def _broadest(measured: Iterable[Measured]) -> list[tuple[MarginalsAbsolute, Measured]]:
    """The criterion about cells of most columns, if there is any: one noisy number, so one event."""
    found = [(m.criterion, m) for m in measured if isinstance(m.criterion, MarginalsAbsolute)]
    return sorted(found, key=lambda one: (one[0].ways is not None, -(one[0].ways or 0)))[:1]


def _column(specification: Specification, table: Table, entry: ColumnEntry) -> dict[str, Any]:
    """One column of the dictionary, with its coarse groups where its bins lie in them."""
    column, axis = specification.column(entry.name), table.domain.axis(entry.name)
    groups: list[dict[str, Any]] = []
    with suppress(KeyError, ValueError):
        labels, places = column.coarsening(axis)
        for label, mask in zip(labels, members((entry.name, places)), strict=False):
            codes = np.flatnonzero(mask).tolist()
            groups.append({"label": spoken(column, label), "codes": codes})
    return {
        "name": entry.name,
        "description": entry.description,
        "labels": entry.labels,
        "meanings": entry.meanings,
        "shown": [_short(*both) for both in zip(entry.labels, entry.meanings, strict=True)],
        "numbers": entry.numbers,
        "groups": groups if 1 < len(groups) < axis.size else None,
    }


def _short(label: str, meaning: str) -> str:
    """What stands beside a figure: a label that its meaning only adds to, else the meaning.

    >>> _short("<18", "less than 18"), _short("infant", "infant (0 or less)")
    ('less than 18', 'infant')
    """
    return label if meaning.startswith(f"{label} (") else meaning


def _records(basis: Basis, measured: Measured) -> list[int | None]:
    """U in records, for each number of rules that share."""
    found = (bound_of(basis, measured, rules) for rules in range(1, RULES + 1))
    return [None if share is None else records(basis.n, share) for share in found]


def _noisy(basis: Basis, table: NoisyTable, cells: Iterable[int | None]) -> dict[str, Any]:
    """A noisy table with its half widths: for rules/parts, the number of cells and the half width."""
    domain, shape = basis.table.domain, table.counts.shape
    covered = any(ways is None or ways >= len(table.columns) for ways in cells)
    taken = _numbers_of_cells([range(1, size + 1) for size in shape], table.counts.size)
    wanted = {(rules, parts): set(taken) for rules in range(1 + covered, 3) for parts in (1, 2)}
    for place, (name, size) in enumerate(zip(table.columns, shape, strict=True)):
        axis = domain.axis(name)
        if axis.numbers is None or size < axis.size:
            continue
        single = [range(1, 2 if i == place else other + 1) for i, other in enumerate(shape)]
        few = _numbers_of_cells(single, table.counts.size)
        for rules in range(1 + covered, RULES + 1):
            wanted.setdefault((rules, axis.size), set()).update(few)
    half: dict[str, list[tuple[int, float]]] = {}
    for (rules, parts), numbers in sorted(wanted.items()):
        level = noise_level(basis.specification, rules, parts)
        widths = ((j, spread(table, j, level)) for j in sorted(numbers))
        half[f"{rules}/{parts}"] = [one for one in widths if isfinite(one[1])]
    return {
        "columns": [domain.place(name) for name in table.columns],
        "groups": [groups.tolist() for groups in table.groups],
        "shape": list(shape),
        "half": half,
    }


def _numbers_of_cells(sizes: list[range], cells: int) -> list[int]:
    """How many cells a box can have, J and K − J being alike; the smallest of them."""
    found = {1}
    for size in sizes:
        found = {one * many for one, many in product(found, size)}
    return sorted({min(j, cells - j) for j in found} - {0})[:MOST_WIDTHS]


def _speaks_of_means(measured: Measured) -> bool:
    """Whether it bounds means themselves: where records are drawn from groups, it speaks of these alone."""
    return isinstance(measured.criterion, ConditionalMean) and measured.form == "sharp"


def _means(basis: Basis, measured: Measured) -> dict[str, Any]:
    """A mean's criterion: its bounds, and of each group who is in it, its centre and its counted size."""
    criterion, domain = measured.criterion, basis.table.domain
    assert isinstance(criterion, ConditionalMean)
    kind = kind_of(criterion, measured.form)
    assert isinstance(kind, MeanKind)
    query = basis.candidate.query(kind)
    asked = query.query if isinstance(query, Viewed) else query
    assert isinstance(asked, FloorMeans)
    whose = [{}, *_groups(basis.specification, criterion, basis.table)]
    return {
        "of": domain.place(criterion.of),
        "within": [bound_of(basis, measured, rules) for rules in range(1, RULES + 1)],
        "groups": [
            {"codes": codes, "centre": float(group.centre), "counted": group.size}
            for codes, group in zip(whose, asked.groups, strict=True)
        ],
    }


def _groups(specification: Specification, criterion: ConditionalMean, table: Table) -> Iterator[dict[int, Any]]:
    """For each group its codes in each column, in the order of the criterion's query."""
    domain = table.domain
    view = view_of(specification, criterion.by, domain)
    for name, places in groupings(specification, criterion.by, view.domain):
        shown = view.column(name)
        for group in range(max(places) + 1):
            held = np.argwhere(np.isin(shown.codes, np.flatnonzero(np.array(places) == group)))
            yield {
                domain.place(column): sorted(set(held[:, i].tolist())) for i, column in enumerate(shown.clique)
            }


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("facsimile.documents"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["policy_hash"] = lambda text: Markup(policy_hash(str(text)))
    return found

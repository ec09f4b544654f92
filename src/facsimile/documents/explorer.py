"""Explorer: `explore.html`, one page that answers counts, shares and means, each with how far it can be off.

The page asks for nothing from outside. It holds the released table, the dictionary and what a release says of the
original; every quantity that comes of noise is computed here, so that its script only adds, multiplies and intersects.

An interval is for the original table R, n records like the release S. What it may fail with, α = 5 %, is divided
evenly among the rules that exist for it. Which exist follows from the design, never from noise:

Cells.   |R(A) − S(A)| ≤ min(J, K − J)·U for J of the K cells of any table that `marginals-absolute` speaks of. U is
  its bound at level α/d, d the number of rules; it holds for all cells of all tables at once.
Table.   A table y with independent noise, fixed before the data were seen, has J of its K cells in A. Then
  R(A) = y(A) − (J/K)(Σy − n) ± h(J), h from `analysis.tails`, p the number of counts that one interval is made of. Of several tables the one with the smallest h is taken: h depends on the design alone.
Mean.    The criterion `mean` measured E = max |Σ(x − c)|/max(k, m), c the release's mean of a group and k the
  original's records in it. So the mean is within E·max(1, m/k) of c, with k at least what the other rules say.

Theorem.  A table is released and a given interval misses with probability at most α.
Proof.    Outside scheme `measured` each of the d rules has α/d. The first and the third fail with at most that given a
  release (acceptance/bounds.py). The second fails in one index with at most luck(α/d), the sum of its p parts, and so
  in a search that releases with at most α/d (privacy/modes.py); in scheme `train-once` its noise is drawn once, and
  has α/d itself. In scheme `measured` all noise is the index's: the d rules have luck(α)/d each, in all luck(α), which
  a search releases with at most α. Outside these events every rule holds, and so does what follows from them: their
  intersection, a proportion, the extremes of a mean.  QED
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import floor
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from facsimile.acceptance.bounds import ALPHA, CONFIDENCE, bound
from facsimile.acceptance.decision import Measured
from facsimile.acceptance.groups import groupings, members, spoken, view_of
from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.kinds.means import MeanKind
from facsimile.analysis.basis import Basis, NoisyTable
from facsimile.analysis.tails import Cells, half_width, law_of
from facsimile.documents.inline import embedded, part, policy_hash
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.numerals import count, percentage, rounded_up, small, spoken_day
from facsimile.documents.report import ColumnEntry, Report
from facsimile.privacy.modes import mode_of
from facsimile.privacy.queries.means import FloorMeans
from facsimile.privacy.queries.view import Viewed
from facsimile.spec.criteria import ConditionalMean, MarginalsAbsolute
from facsimile.spec.release import Specification
from facsimile.table.table import Table

RULES = 3
"""At most so many rules share what one interval may fail with."""
MOST_WIDTHS = 256
"""A noisy table has half widths for so many numbers of cells, the smallest ones."""


def explorer(basis: Basis, report: Report) -> bytes:
    """The page: the same release gives the same bytes (of one version of zlib)."""
    style, script, text = (part("facsimile.documents", f"explorer.{kind}") for kind in ("css", "js", "json"))
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
        script=Markup(script),
        hashes={"style": Markup(policy_hash(style)), "script": Markup(policy_hash(script))},
        data=Markup(embedded(told(basis, report) | {"words": words})),
    ).encode()


def told(basis: Basis, report: Report) -> dict[str, Any]:
    """What the script is given."""
    cells = [m for m in basis.measured if isinstance(m.criterion, MarginalsAbsolute)]
    tables = _fixed(basis)
    return {
        "title": report.title,
        "rehearsal": report.rehearsal,
        "epsilon": rounded_up(report.epsilon),
        "confidence": percentage(str(float(CONFIDENCE))),
        "rest": percentage(str(float(ALPHA))),
        "of_search": basis.specification.scheme == "measured" or bool(tables),
        "records": basis.n,
        "rows": basis.table.distinct,
        "columns": [_column(basis.specification, basis.table, entry) for entry in report.columns],
        "packed": packed(basis.table, tables),
        "cells": [{"ways": m.criterion.ways, "within": _records(basis, m)} for m in cells],  # type: ignore[union-attr]
        "tables": [_noisy(basis, table, [m.criterion for m in cells]) for table in tables],
        "means": [_means(basis, m) for m in basis.measured if _speaks_of_means(m)],
    }


def packed(table: Table, noisy: Iterable[NoisyTable]) -> str:
    """The codes of each column, the counts, and the counts of each noisy table: little-endian, deflated, base64.

    A code is one byte where a column has at most 256 of them, else two; counts have four, with sign if noisy.
    """
    sizes = zip(table.domain.names, table.domain.shape, strict=True)
    parts = [table.column(name).astype("<u1" if size <= 256 else "<u2").tobytes() for name, size in sizes]
    parts.append(table.counts.astype("<u4").tobytes())
    parts += [one.counts.astype("<i4").tobytes() for one in noisy]
    deflater = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflater.compress(b"".join(parts)) + deflater.flush()).decode()


def bound_of(basis: Basis, measured: Measured, rules: int) -> float | None:
    """The bound of a criterion where so many rules share what may fail; None where none is finite."""
    spec = basis.specification
    epsilon = spec.epsilon_of(measured.criterion)
    if spec.scheme != "measured":
        return bound(measured, epsilon, spec.scheme == "paper", ALPHA / rules)
    level = _luck(spec, ALPHA) / rules
    found, threshold = bound(measured, epsilon, False, level), float(measured.criterion.threshold)
    if mode_of(spec.selection).luck <= level:
        return threshold if found is None else min(found, threshold)
    return found


def noise_level(specification: Specification, rules: int, parts: int) -> Fraction:
    """The level of one count of a noisy table, where rules and parts of an interval share what may fail."""
    if specification.scheme == "train-once":
        return ALPHA / (rules * parts)
    if specification.scheme == "measured":
        return _luck(specification, ALPHA) / (rules * parts)
    return _luck(specification, ALPHA / rules) / parts


def spread(table: NoisyTable, taken: int, level: Fraction) -> float:
    """h(J): how far y(A) − (J/K)(Σy − n) can be from R(A), for J of the K cells."""
    share, law, cells = taken / table.counts.size, law_of(table.share), table.counts.size
    return half_width([Cells(1 - share, law, taken), Cells(share, law, cells - taken)], float(level))


def _luck(specification: Specification, alpha: Fraction) -> Fraction:
    return replace(mode_of(specification.selection), false_accept=alpha).luck


def _fixed(basis: Basis) -> tuple[NoisyTable, ...]:
    """The noisy tables that intervals may be taken from: fixed in advance, in a search that bounds bad luck."""
    spec = basis.specification
    bounded = spec.scheme == "train-once" or mode_of(spec.selection).halting
    return () if basis.adaptive or not bounded else basis.tables


def _column(specification: Specification, table: Table, entry: ColumnEntry) -> dict[str, Any]:
    """One column of the dictionary, with its coarse groups where its bins lie in them."""
    column, axis = specification.column(entry.name), table.domain.axis(entry.name)
    groups: list[dict[str, Any]] = []
    if column.groups is not None:
        labels, places = column.coarsening(axis)
        for label, mask in zip(labels, members((entry.name, places)), strict=False):
            codes = np.flatnonzero(mask).tolist()
            groups.append({"label": spoken(column, label), "codes": codes})
    return {
        "name": entry.name,
        "description": entry.description,
        "labels": entry.labels,
        "meanings": entry.meanings,
        "numbers": entry.numbers,
        "groups": groups if 1 < len(groups) < axis.size else None,
    }


def _records(basis: Basis, measured: Measured) -> list[int | None]:
    """U in records, for each number of rules that share."""
    found = (bound_of(basis, measured, rules) for rules in range(1, RULES + 1))
    return [None if share is None else floor(share * basis.n + 1e-6) for share in found]


def _noisy(basis: Basis, table: NoisyTable, cells: Iterable[Any]) -> dict[str, Any]:
    """A noisy table with its half widths: for rules/parts, the number of cells and the half width."""
    domain, shape = basis.table.domain, table.counts.shape
    covered = any(c.ways is None or c.ways >= len(table.columns) for c in cells)
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
    return {
        "columns": [domain.place(name) for name in table.columns],
        "groups": [groups.tolist() for groups in table.groups],
        "shape": list(shape),
        "half": {
            f"{rules}/{parts}": [
                [j, spread(table, j, noise_level(basis.specification, rules, parts))] for j in sorted(numbers)
            ]
            for (rules, parts), numbers in sorted(wanted.items())
        },
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
    """A mean's criterion: its bounds, and for each group who is in it, its centre and the size it counts with."""
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
    return Environment(
        loader=PackageLoader("facsimile.documents"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

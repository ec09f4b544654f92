"""Tables: the noisy tables that a release was made from, as files that a spreadsheet reads.

`tables/index.json` says what each is and holds every other answer of the fit; each table is a CSV file with a
row for each cell, zeros and negative numbers included: counts plus noise, of which nothing was cut away.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import exp, expm1, sqrt
from typing import Any

import numpy as np

from facsimile.analysis.basis import NoisyTable
from facsimile.privacy.budget import Rho
from facsimile.release.heard import Heard, Said
from facsimile.spec.columns import Axis
from facsimile.synthesizers.base import Foreseen
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints

FOLDER = "tables/"
INDEX = f"{FOLDER}index.json"
COUNT = "noisy_count"
LONGEST = 60
MOST, MOST_SEED, MOST_SEEDS = 2**62, 2**128, 64
SHARE, LEAST_SHARE, MOST_SHARE = re.compile(r"[0-9]{1,400}(/[0-9]{1,400})?"), Fraction(1, 10**15), 10**6
UNREADABLE = (LookupError, TypeError, AttributeError, StopIteration, ArithmeticError, RecursionError, csv.Error)
LAPLACE, GAUSSIAN = "discrete Laplace", "discrete Gaussian"
ABOUT = (
    "Counts of the confidential table with integer noise on every cell. The released table was made from them. "
    "They were paid for by its epsilon, so publishing them costs nothing. A count may be negative: keep it."
)


def files(heard: Heard, domain: Domain, foreseen: Foreseen) -> dict[str, bytes]:
    """Every file of the folder."""
    tables = dict(named(heard.tables(foreseen)))
    names, said, place = list(tables), [], 0
    for one in heard.said:
        place += len(one.tables)
        held = names[place - len(one.tables) : place]
        said.append({"mechanism": one.mechanism, "tables": held, "numbers": list(one.numbers)})
    index = {
        "about": ABOUT,
        "tables": [_told(name, table, domain) for name, table in tables.items()],
        "answers": said,
        "seeds": {"own": list(heard.own), "before": None if heard.before is None else list(heard.before)},
    }
    found = {name: _csv(table, domain) for name, table in tables.items()}
    return {INDEX: (json.dumps(index, indent=1, ensure_ascii=False) + "\n").encode(), **found}


def named(tables: Iterable[NoisyTable]) -> Iterator[tuple[str, NoisyTable]]:
    """Each table with its file: a number, and as much of its columns' names as any file system takes."""
    for place, table in enumerate(tables, 1):
        words = re.sub("[^a-z0-9_-]+", ".", "-".join(table.columns).lower())[:LONGEST]
        yield f"{FOLDER}{place:03d}-{words}.csv", table


def heard(found: Mapping[str, bytes], domain: Domain) -> Heard:
    """What the files stand for; ValueError where they stand for nothing: a bundle may come from anybody."""
    try:
        index = json.loads(found[INDEX])
        tables = {told["file"]: _table(told, found[told["file"]], domain) for told in index["tables"]}
        said = tuple(
            Said(one["mechanism"], tuple(tables[name] for name in one["tables"]), _integers(one["numbers"]))
            for one in index["answers"]
        )
        own, before = index["seeds"]["own"], index["seeds"]["before"]
        seeds = _seeds(own), None if before is None else _seeds(before)
    except UNREADABLE:
        raise ValueError("no answers of a fit") from None
    named = [name for one in index["answers"] for name in one["tables"]]
    if sorted(named) != sorted(tables) or {INDEX, *tables} != {n for n in found if n.startswith(FOLDER)}:
        raise ValueError("every table answers one question")
    return Heard(said, *seeds)


def _integers(values: list[Any]) -> tuple[int, ...]:
    """Whole numbers that noise can have made."""
    if not all(type(value) is int and abs(value) <= MOST for value in values):
        raise ValueError("no whole numbers")
    return tuple(values)


def _seeds(values: list[Any]) -> tuple[int, ...]:
    if len(values) > MOST_SEEDS or not all(type(v) is int and 0 <= v <= MOST_SEED for v in values):
        raise ValueError("no seeds")
    return tuple(values)


def _told(name: str, table: NoisyTable, domain: Domain) -> dict[str, Any]:
    axes = [domain.axis(column) for column in table.columns]
    grouped = zip(table.columns, axes, table.groups, strict=True)
    return {
        "file": name,
        "columns": list(table.columns),
        "groups": {column: list(_groups(axis, groups)) for column, axis, groups in grouped},
        "codes": [groups.tolist() for groups in table.groups],
        "cells": list(table.counts.shape),
        "known_before": table.form,
        **law(table.share),
    }


def law(share: Fraction) -> dict[str, Any]:
    """The law of the noise on a cell, exactly as a share and readably as a scale.

    >>> law(Fraction(1, 2))["deviation"], law(Rho(1, 16))["deviation"]
    (5.6421, 4.0)
    """
    if isinstance(share, Rho):
        return {"law": GAUSSIAN, "rho": str(Fraction(share)), "deviation": round(1 / sqrt(share), 4)}
    a = exp(-float(share) / 2)
    deviation = round(sqrt(2 * a) / -expm1(-float(share) / 2), 4)
    return {"law": LAPLACE, "epsilon": str(share), "ratio": round(a, 9), "deviation": deviation}


def _groups(axis: Axis, groups: Ints) -> Iterator[list[str]]:
    """The labels of each group of a column."""
    for group in range(int(groups.max()) + 1):
        yield [label for label, its in zip(axis.labels, groups.tolist(), strict=True) if its == group]


def _csv(table: NoisyTable, domain: Domain) -> bytes:
    """A row for each cell, the last column fastest; a group's labels stand in one field."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*table.columns, COUNT])
    axes = [domain.axis(column) for column in table.columns]
    labels = [[" | ".join(g) for g in _groups(*pair)] for pair in zip(axes, table.groups, strict=True)]
    writer.writerows(
        (*row, count) for row, count in zip(product(*labels), table.counts.ravel().tolist(), strict=True)
    )
    return text.getvalue().encode()


def _table(told: Mapping[str, Any], content: bytes, domain: Domain) -> NoisyTable:
    columns = tuple(told["columns"])
    if len(set(columns)) < len(columns) or not columns or not set(columns) <= set(domain.names):
        raise ValueError("no columns of the release")
    pairs = zip(told["codes"], columns, strict=True)
    groups = tuple(_grouped(codes, domain.axis(name).size) for codes, name in pairs)
    shape = tuple(int(codes.max()) + 1 for codes in groups)
    if list(shape) != told["cells"]:
        raise ValueError("other cells than groups")
    share = told["rho"] if "rho" in told else told["epsilon"]
    if not isinstance(share, str) or not SHARE.fullmatch(share):
        raise ValueError("no share of a budget")
    exact = Fraction(share)
    if not LEAST_SHARE <= exact <= MOST_SHARE:
        raise ValueError("no share that a fit has")
    rows = csv.reader(io.StringIO(content.decode(), newline=""))
    next(rows)
    counts = np.array(_integers([int(row[-1]) for row in rows]), np.int64).reshape(shape)
    return NoisyTable(columns, groups, counts, Rho(exact) if "rho" in told else exact)


def _grouped(codes: list[Any], size: int) -> Ints:
    """The group of each code: from 0 on, none left out."""
    found = np.array(_integers(codes), np.int64)
    if found.shape != (size,) or not np.array_equal(np.unique(found), np.arange(len(np.unique(found)))):
        raise ValueError("no groups of a column")
    return found

"""Tables: the noisy tables that a release was made from, as files that a spreadsheet reads.

`tables/index.json` says what each is and holds every other answer of the fit; each table is a CSV file with a
row for each cell, zeros and negative numbers included: counts plus noise, of which nothing was cut away.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import exp, sqrt
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
LAPLACE, GAUSSIAN = "discrete Laplace", "discrete Gaussian"
ABOUT = (
    "Counts of the confidential table with integer noise on every cell. The released table was made from them. "
    "They were paid for by its epsilon, so publishing them costs nothing. A count may be negative: keep it."
)


def files(heard: Heard, domain: Domain, foreseen: Foreseen) -> dict[str, bytes]:
    """Every file of the folder."""
    tables = list(heard.tables(foreseen))
    names = [_name(place, table) for place, table in enumerate(tables, 1)]
    found = {name: _csv(table, domain) for name, table in zip(names, tables, strict=True)}
    said, place = [], 0
    for one in heard.said:
        place += len(one.tables)
        held = names[place - len(one.tables) : place]
        said.append({"mechanism": one.mechanism, "tables": held, "numbers": list(one.numbers)})
    index = {
        "about": ABOUT,
        "tables": [_told(name, table, domain) for name, table in zip(names, tables, strict=True)],
        "answers": said,
        "seeds": {"own": list(heard.own), "before": None if heard.before is None else list(heard.before)},
    }
    return {INDEX: (json.dumps(index, indent=1, ensure_ascii=False) + "\n").encode(), **found}


def heard(found: Mapping[str, bytes]) -> Heard:
    """What the files stand for; an error of Python's own where they stand for nothing."""
    index = json.loads(found[INDEX])
    tables = {told["file"]: _table(told, found[told["file"]]) for told in index["tables"]}
    said = tuple(
        Said(one["mechanism"], tuple(tables[name] for name in one["tables"]), tuple(map(int, one["numbers"])))
        for one in index["answers"]
    )
    own, before = index["seeds"]["own"], index["seeds"]["before"]
    return Heard(said, tuple(map(int, own)), None if before is None else tuple(map(int, before)))


def _name(place: int, table: NoisyTable) -> str:
    """A number, and as much of the columns' names as any file system takes."""
    words = re.sub("[^a-z0-9_]+", ".", "-".join(table.columns).lower())[:LONGEST]
    return f"{FOLDER}{place:03d}-{words}.csv"


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
    (5.6422, 4.0)
    """
    if isinstance(share, Rho):
        return {"law": GAUSSIAN, "rho": str(Fraction(share)), "deviation": round(1 / sqrt(share), 4)}
    a = exp(-float(share) / 2)
    deviation = round(sqrt(2 * a) / (1 - a), 4)
    return {"law": LAPLACE, "epsilon": str(share), "ratio": round(a, 9), "deviation": deviation}


def _groups(axis: Axis, groups: Ints) -> Iterator[list[str]]:
    """The labels of each group of a column."""
    for group in range(int(groups.max()) + 1):
        yield [label for label, its in zip(axis.labels, groups.tolist(), strict=True) if its == group]


def _csv(table: NoisyTable, domain: Domain) -> bytes:
    """A row for each cell, the last column fastest; a group's labels stand in one field."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.columns, COUNT])
    axes = [domain.axis(column) for column in table.columns]
    labels = [[" | ".join(g) for g in _groups(*pair)] for pair in zip(axes, table.groups, strict=True)]
    writer.writerows(
        (*row, count) for row, count in zip(product(*labels), table.counts.ravel().tolist(), strict=True)
    )
    return text.getvalue().encode()


def _table(told: Mapping[str, Any], content: bytes) -> NoisyTable:
    share = Rho(told["rho"]) if "rho" in told else Fraction(told["epsilon"])
    rows = csv.reader(io.StringIO(content.decode(), newline=""))
    next(rows)
    counts = np.array([int(row[-1]) for row in rows], np.int64).reshape(told["cells"])
    groups = tuple(np.array(codes, np.int64) for codes in told["codes"])
    return NoisyTable(tuple(told["columns"]), groups, counts, share)

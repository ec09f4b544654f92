"""A third table, neither births nor discharges: stays on the wards of one hospital, written here."""

from __future__ import annotations

import random
import re
from pathlib import Path

RECORDS = 4000
SENTINEL = "hx-"

FACTS = """\
facts: 1
title: Stays on the wards of one hospital
source: Invented for a test
columns:
  - name: ward
    values: [surgery, medicine, children]
  - name: age
    bins: [0-17, 18-39, 40-64, 65-79, 80-99]
  - name: days
    bins: [1, 2-3, 4-7, 8-14, 15-30]
  - name: night
    values: ['no', 'yes']
tables:
  - of: [ward]
    percent: [40, 45, 15]
  - of: [age]
    percent: [17, 21, 28, 22, 12]
  - of: [days]
    percent: [30, 30, 22, 12, 6]
  - of: [night]
    percent: [70, 30]
  - of: [ward, age]
    percent:
      - [0, 12, 15, 9, 4]
      - [2, 9, 13, 13, 8]
      - [15, 0, 0, 0, 0]
"""

SPECIFICATION = """\
facsimile: 1
title: Stays on the wards of one hospital
description: Every stay of one year.
unit: one stay
neighbours: replace-one

records:
  count: %(records)s
  public_because: The hospital prints the number of stays in its yearly report.

columns:
  - name: ward
    description: Ward of the stay
    values: [surgery, medicine, children]
    alternatives:
      published: [surgery, medicine, children]
    groups: [surgery, medicine, children]
  - name: age
    description: Age in full years
    bounds: [0, 99]
    alternatives:
      published: [<18, 18-39, 40-64, 65-79, 79<]
    groups: [<18, 18-64, 65≤]
  - name: days
    description: Length of the stay in days
    bounds: [1, 30]
    alternatives:
      published: [1, 2-3, 4-7, 8-14, 14<]
  - name: night
    description: Admitted at night
    values: ['no', 'yes']
    numbers: {'no': 0, 'yes': 1}
    alternatives:
      published: ['no', 'yes']

constraints:
  policy: declared
  raw:
    - never: ward = surgery and age < 1
      source: The hospital has no surgery for newborns

families:
  - family: mst
  - family: workload
    grid:
      measurements: [auto]

projection:
  algorithm: [margins]
  min_count: [2]

statistic: sharp
criteria:
  - criterion: marginals-absolute
    threshold: 0.05
    epsilon: 0.2
  - criterion: mean
    of: days
    by: [ward, age]
    threshold: 2
    epsilon: 0.5
  - criterion: total-variation
    ways: 2
    over: worst
    threshold: 0.2
    epsilon: 0.2

scheme: test-then-measure
selection: {%(selection)s}
budget:
  total: %(total)s
  generator: 2
  test: 0.5
planning:
  groups: {ward: 500, age: 600}
  numbers:
    age: {mean: 47, deviation: 25}
    days: {mean: 5, deviation: 5}
"""


def specification(records: int = RECORDS, total: str = "6", selection: str = "mode: paper") -> str:
    """The specification; by default its search goes on until a candidate passes, so that a release is sure."""
    return SPECIFICATION % {"records": records, "total": total, "selection": selection}


def rows(seed: int = 1) -> list[tuple[str, ...]]:
    """Records, each with a word of its own in a column that no specification names, and ages written oddly."""
    draw = random.Random(seed)
    found: list[tuple[str, ...]] = []
    for number in range(RECORDS):
        ward = draw.choices(("surgery", "medicine", "children"), (40, 45, 15))[0]
        age = draw.randrange(18) if ward == "children" else draw.randrange(18, 100)
        days = min(30, 1 + int(draw.expovariate(0.25)))
        night = "yes" if draw.random() < 0.3 else "no"
        found.append((ward, f"+{age:07}", str(days), night, f"{SENTINEL}{number:05}"))
    return found


HEADER = ("ward", "age", "days", "night", "note")


def write(folder: Path, name: str = "wards.csv", newline: str = "\n") -> Path:
    """The confidential file."""
    path = folder / name
    lines = [",".join(row) for row in (HEADER, *rows())]
    path.write_bytes((newline.join(lines) + newline).encode())
    return path


def echoed(text: str) -> list[str]:
    """What of the data stands in a text: the words that each record has of its own, and ages as written."""
    return re.findall(rf"{SENTINEL}[0-9]{{5}}|\+[0-9]{{7}}", text)

"""A table that the program has never seen: pupils of one year, twelve columns, drawn here and nowhere else."""

from __future__ import annotations

import csv
import random
from pathlib import Path

PUPILS = 6000
HEADER = (
    "Pupil No", "School Type", "Grade", "Sex", "Born", "Distance (km)", "Siblings", "Absent Days", "Maths",
    "Reading", "Lunch", "Language",
)  # fmt: skip


def write(path: Path, seed: int = 7) -> Path:
    """The file: an identifier, dates, categories with blanks, skewed numbers, marks that depend on another."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(HEADER)
        for number in range(PUPILS):
            kind = draw.choices(("primary", "secondary", "special"), (55, 40, 5))[0]
            grade = draw.randint(1, 4) if kind == "primary" else draw.randint(5, 10)
            skill = draw.gauss(0, 1)
            maths, reading = (max(1, min(6, round(3.2 - skill + draw.gauss(0, 0.8)))) for _ in range(2))
            absent = int(draw.expovariate(1 / (4 + 2 * (maths > 4))))
            born = f"{2020 - 6 - grade}-{draw.randint(1, 12):02}-15"
            sheet.writerow(
                (
                    f"P{number:06}", kind, grade, draw.choice("fm"), born,
                    f"{min(40.0, draw.lognormvariate(0.6, 0.8)):.1f}", min(6, int(draw.expovariate(0.8))),
                    absent, maths, reading, draw.choices(("yes", "no", ""), (40, 55, 5))[0],
                    draw.choices(("German", "Turkish", "Arabic", "Polish", "other"), (70, 12, 8, 5, 5))[0],
                )
            )  # fmt: skip
    return path

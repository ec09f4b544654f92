"""Small public tables that tests draft from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv

from facsimile.draft.profile import Seen


def seen(name: str, values: Sequence[object], real: bool = False) -> Seen:
    """A raw column of these values; None is a blank."""
    texts = [str(value) for value in values if value is not None]
    counts = {text: texts.count(text) for text in sorted(set(texts))}
    return Seen(name, counts, len(values) - len(texts), real)


def stays(rows: int = 1500, seed: int = 1) -> pyarrow.Table:
    """Hospital stays in five columns: an age, a sex, a ward that depends on both, nights and an identifier."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(0, 95, rows), random.choice(["f", "m"], rows)
    ward = np.where(age < 16, "paediatrics", random.choice(["surgery", "medicine"], rows, p=[0.4, 0.6]))
    ward = np.where((sex == "f") & (age > 18) & (age < 45) & (random.random(rows) < 0.5), "maternity", ward)
    nights = random.poisson(1 + 0.05 * age)
    return pyarrow.table(
        {
            "Age at stay": age,
            "sex": sex,
            "ward": ward,
            "nights": nights,
            "stay": [f"S{place:05}" for place in range(rows)],
        }
    )


def write(table: pyarrow.Table | Mapping[str, Sequence[object]], path: Path) -> Path:
    """The table as a CSV file."""
    made = table if isinstance(table, pyarrow.Table) else pyarrow.table(dict(table))
    pyarrow.csv.write_csv(made, path)
    return path

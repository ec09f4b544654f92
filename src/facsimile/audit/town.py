"""A town that was made up: a few hundred people, a specification for each scheme and selection mode, and
neighbours of the town at the edges of its domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from facsimile.spec.load import validated
from facsimile.spec.release import Specification

PEOPLE, STRIDE = 200, 77
HEADER = ("age", "sex", "rooms")
Row = tuple[str, str, str]
COLUMNS: list[dict[str, Any]] = [
    {
        "name": "age",
        "description": "Age in years",
        "bounds": ["0", "90"],
        "alternatives": {"coarse": ["<18", "18-64", "64<"], "fine": ["<18", "18..64 by 47", "64<"]},
        "outside": "clip",
    },
    {
        "name": "sex",
        "description": "Sex",
        "values": ["M", "F"],
        "alternatives": {"two": ["M", "F"]},
        "missing": {"code": "unknown"},
    },
    {
        "name": "rooms",
        "description": "Rooms of the home",
        "bounds": ["1", "4"],
        "alternatives": {"each": ["1", "2", "3", "4"]},
        "outside": "clip",
    },
]
CRITERIA = [
    {"criterion": "marginals-absolute", "threshold": "0.2", "epsilon": "0.5"},
    {"criterion": "total-variation", "ways": "2", "threshold": "0.6", "epsilon": "0.5"},
]
TESTED = {"total": "40", "generator": "3", "test": "2"}
WHOLE = {"total": "40", "generator": "3"}
CASES: Mapping[str, Mapping[str, Any]] = {
    "paper, until success": {"scheme": "paper", "budget": WHOLE, "selection": {"mode": "paper"}},
    "test-then-measure, coin": {
        "scheme": "test-then-measure",
        "budget": TESTED,
        "selection": {"mode": "coin", "gamma": "0.05"},
    },
    "train-once, rising coin": {
        "scheme": "train-once",
        "budget": TESTED,
        "selection": {"mode": "rising-coin", "a": "0.5"},
    },
    "measured, capped coin": {
        "scheme": "measured",
        "budget": WHOLE,
        "selection": {"mode": "capped-coin", "gamma": "0.05", "epsilon_0": "0.1", "cap": "60"},
    },
    "test-then-measure with delta, single": {
        "scheme": "test-then-measure",
        "budget": TESTED | {"delta": "0.000001"},
        "selection": {"mode": "single"},
    },
}
"""Every scheme and every selection mode once, pure and with δ."""


def specification(case: str) -> Specification:
    """The specification of a case; every candidate of it is likely to pass."""
    return validated(
        {
            "facsimile": "1",
            "title": "A town that was made up",
            "unit": "one person",
            "neighbours": "replace-one",
            "records": {"count": str(PEOPLE), "public_because": "the town was made up"},
            "columns": COLUMNS,
            "constraints": {"policy": "declared", "raw": [{"never": "age > 120", "source": "biology"}]},
            "families": [{"family": "mst"}, {"family": "workload"}],
            "projection": {"min_count": ["2"]},
            "criteria": CRITERIA,
            **CASES[case],
        }
    )


def people() -> list[Row]:
    """The town: rooms follow age, one person stands alone at an edge of the domain."""
    rows = [(f"{7 * i % 85}", "MF"[i % 3 > 0], f"{1 + (7 * i % 85) // 22}") for i in range(PEOPLE - 1)]
    return [*rows, ("90", "", "1")]


def neighbours() -> Iterator[tuple[str, list[Row]]]:
    """The town with one record replaced: emptied cells, corners of the domain, values that are clipped."""
    rows = people()
    yield "the only one of a cell gone", [*rows[:-1], rows[0]]
    yield "a record in a corner", [("0", "F", "4"), *rows[1:]]
    yield "a record beyond the bounds", [("119", "", "9"), *rows[1:]]


def shuffled() -> list[Row]:
    """The same town, its rows in another order."""
    rows = people()
    return [rows[STRIDE * i % PEOPLE] for i in range(PEOPLE)]


def write(rows: list[Row], folder: Path) -> Path:
    """A file of them."""
    path = folder / "people.csv"
    path.write_text("\n".join(",".join(row) for row in (HEADER, *rows)) + "\n")
    return path

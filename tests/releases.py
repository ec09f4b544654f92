"""A small confidential file and its specification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from facsimile.release.run import Request
from facsimile.sources.address import Address
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from specs import changed

N = 400


def specification(**changes: Any) -> Specification:
    """Ages and sexes; all criteria are easy, so that nearly every candidate passes."""
    data = changed("records", {"count": str(N), "public_because": "it is printed on the door"})
    data["families"] = [{"family": "mst"}, {"family": "workload"}]
    data["criteria"] = [
        {"criterion": "marginals-absolute", "threshold": "0.1", "epsilon": "0.5"},
        {"criterion": "total-variation", "ways": "2", "threshold": "0.6", "epsilon": "0.5"},
        {"criterion": "mean", "of": "age", "by": ["age"], "threshold": "60", "epsilon": "0.5"},
    ]
    data["budget"] = {"total": "30", "generator": "3", "test": "2"}
    data["selection"] = {"mode": "coin", "gamma": "0.05"}
    return validated(data | changes)


def write_data(folder: Path) -> Path:
    """A file of N records."""
    path = folder / "people.csv"
    lines = [f"{(7 * i) % 90},{'true' if i % 3 else 'false'}" for i in range(N)]
    path.write_text("\n".join(["age,is_female", *lines]) + "\n")
    return path


def request(folder: Path, **changes: Any) -> Request:
    """What is asked for, with everything in one folder."""
    given: dict[str, Any] = {
        "specification": specification(),
        "ledger": folder / "budget" / "people.ledger",
        "data": folder / "people.csv",
        "out": folder / "bundle",
    } | changes
    return Request(**given | {"data": Address.of(given["data"])})

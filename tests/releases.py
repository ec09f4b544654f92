"""A small confidential file and its specification, and a program that releases it and may be killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from facsimile import storage
from facsimile.privacy import ledger
from facsimile.release import bundle, run
from facsimile.release.run import Request, release
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
    } | changes
    return Request(data=folder / "people.csv", out=folder / "bundle", **given)


def main(folder: Path, step: str) -> None:
    """Release, and die at the named step, or at the step of this number, as kill -9 would."""
    passed: list[str] = []

    def reached(name: str) -> None:
        passed.append(name)
        if step in (name, str(len(passed))):
            os._exit(9)

    for module in (storage, ledger, bundle, run):
        module.reached = reached  # type: ignore[attr-defined]
    release(request(folder))
    print(len(passed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

"""A small confidential file and its specification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.release.reporting import Release
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


SURE: list[dict[str, Any]] = [
    {"criterion": "marginals-absolute", "threshold": "0.6", "epsilon": "0.5"},
    {"criterion": "total-variation", "ways": "2", "threshold": "0.95", "epsilon": "0.5"},
]
"""Criteria that every candidate passes but for noise of a hundred scales."""


def approximate(scheme: str = "test-then-measure", mode: str = "coin", **changes: Any) -> Specification:
    """The same with δ, in any scheme; every candidate passes."""
    test = {} if scheme in ("paper", "measured") else {"test": "2"}
    budget = {"total": "30", "generator": "3", "delta": "0.000001", **test}
    gamma = {"gamma": "0.05"} if mode == "coin" else {}
    chosen = {"scheme": scheme, "budget": budget, "selection": {"mode": mode, **gamma}, "criteria": SURE}
    return specification(**chosen | changes)


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


def forged(held: Release, deviations: int) -> Release:
    """A release whose first noisy table has another largest count, by so many deviations of its noise."""
    heard = held.heard
    assert heard is not None
    place = next(place for place, said in enumerate(heard.said) if said.tables)
    table, *rest = heard.said[place].tables
    counts = table.counts.copy()
    counts.flat[counts.argmax()] += round(deviations * float(NoisyMarginals.variance(table.share)) ** 0.5)
    said = replace(heard.said[place], tables=(replace(table, counts=counts), *rest))
    return replace(held, heard=replace(heard, said=(*heard.said[:place], said, *heard.said[place + 1 :])))

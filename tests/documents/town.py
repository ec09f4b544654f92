"""A made-up town: an original table, a release of it, and the noisy tables that would be published with it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from facsimile.analysis.basis import Basis, NoisyTable
from facsimile.documents.report import Report
from facsimile.privacy.budget import Rho
from facsimile.release.reporting import Release, report
from facsimile.release.run import rehearsed
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Table
from specs import SMALL

N = 3000
SIZES = (6, 3, 4, 2)
NAMES = ("age", "work", "rooms", "garden")
HOSTILE = ("</script><img src=x>", "שלום, \U0001f3e1", '#1 & "quoted" <b>')
LAYOUT: tuple[tuple[tuple[str, ...], dict[str, list[int]]], ...] = (
    (("age",), {}),
    (("rooms",), {}),
    (("age", "rooms"), {}),
    (("work", "garden"), {}),
    (("age", "work", "rooms"), {"age": [0, 0, 1, 1, 2, 2]}),
)
"""The columns of each noisy table, and the groups of their codes where there are any."""


def specification(
    scheme: str = "test-then-measure", mode: str = "coin", hostile: bool = False, **changes: Any
) -> Specification:
    """People by age, work, rooms and a garden; nearly every candidate passes."""
    values = {"work": list(HOSTILE) if hostile else ["none", "part", "full"], "garden": ["no", "yes"]}
    columns: list[dict[str, Any]] = [
        {
            "name": "age",
            "description": "Age in years",
            "bounds": ["0", "90"],
            "alternatives": {"coarse": ["<18", "18-29", "30-44", "45-64", "65-79", "79<"]},
            "groups": ["<18", "18-64", "64<"],
            "outside": "clip",
        },
        {
            "name": "work",
            "description": "Work",
            "values": values["work"],
            "alternatives": {"coarse": values["work"]},
        },
        {
            "name": "rooms",
            "description": "Rooms of the flat",
            "bounds": ["1", "6"],
            "alternatives": {"coarse": ["1", "2", "3-4", "4<"]},
            "groups": ["≤2", "2<"],
            "outside": "clip",
        },
        {
            "name": "garden",
            "description": "Whether there is a garden",
            "values": values["garden"],
            "numbers": {"no": "0", "yes": "1"},
            "alternatives": {"coarse": values["garden"]},
            "groups": values["garden"],
        },
    ]
    data = copy.deepcopy(SMALL) | {
        "title": HOSTILE[0] if hostile else "A town",
        "records": {"count": str(N), "public_because": "it is printed on the door"},
        "columns": columns,
        "constraints": {
            "policy": "declared",
            "raw": [{"never": "age < 18 and rooms > 4", "source": "a guess"}],
        },
        "families": [{"family": "workload"}],
        "criteria": [
            {"criterion": "marginals-absolute", "ways": "3", "threshold": "0.1", "epsilon": "0.5"},
            {
                "criterion": "mean",
                "of": "rooms",
                "by": ["age", ["garden", "rooms"]],
                "threshold": "4",
                "epsilon": "0.5",
            },
        ],
        "scheme": scheme,
        "selection": {"mode": mode} | ({"gamma": "0.05"} if mode == "coin" else {}),
        "budget": {"total": "40", "generator": "3"}
        | ({} if scheme in ("paper", "measured") else {"test": "2"}),
    }
    return validated(data | changes)


@dataclass(frozen=True, eq=False)
class Town:
    """An original and what is known of it."""

    original: Table
    basis: Basis
    report: Report


def noisy(original: Table, share: Fraction, seed: int) -> tuple[NoisyTable, ...]:
    """Tables of the original with integer noise: discrete Laplace, or about normal where the share is a ρ."""
    random, found = np.random.default_rng(seed), []
    for columns, joins in LAYOUT:
        groups = tuple(np.array(joins.get(name, range(original.domain.axis(name).size))) for name in columns)
        versions = tuple((name, tuple(own.tolist())) for name, own in zip(columns, groups, strict=True))
        exact = original.marginal(columns, versions)
        if isinstance(share, Rho):
            noise = np.rint(random.normal(0, float(1 / Fraction(share)) ** 0.5, exact.shape)).astype(np.int64)
        else:
            stop = -np.expm1(-float(share) / 2)
            noise = random.geometric(stop, exact.shape) - random.geometric(stop, exact.shape)
        found.append(NoisyTable(columns, groups, exact + noise, share, "fixed"))
    return tuple(found)


@cache
def town(scheme: str = "test-then-measure", mode: str = "coin", seed: int = 1, hostile: bool = False) -> Town:
    """A town and its release."""
    spec = specification(scheme, mode, hostile)
    random = np.random.default_rng(seed)
    codes = np.column_stack([np.minimum(random.poisson(size / 3, N), size - 1) for size in SIZES])
    codes[(codes[:, 0] == 0) & (codes[:, 2] == 3), 2] = 0
    finest = Table.from_rows(Domain(tuple(column.finest for column in spec.columns)), codes)
    accepted, _ = rehearsed(spec, finest, seed)
    assert accepted is not None
    original = recode(spec, finest, accepted.configuration.alternatives)
    released = Release.of(accepted, spec)
    basis = Basis(
        spec,
        accepted.table,
        accepted.measured,
        accepted.fit,
        accepted.refit,
        noisy(original, Fraction(1, 2), seed),
    )
    return Town(original, basis, report(released, date(2026, 11, 17)))

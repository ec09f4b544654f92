"""Report: everything a release says about itself, as plain data. `report.json` is this and nothing more."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Criterion:
    """A quality criterion as it was measured, with its noise.

    `value` is the noisy error (None where it is infinite); `bound` is not exceeded by the exact error with
    probability 95 % (None where the noise allows no finite one). Δ is `sensitivity`; the noise has the standard
    deviation `sigma`. `units` and `grid` give the noisy answer exactly: units/grid.
    """

    name: str
    words: str
    threshold: float
    tested_at: float
    value: float | None
    bound: float | None
    statistic: str
    mechanism: str
    epsilon: float
    sensitivity: float
    sigma: float
    grid: int
    units: int
    bounds: tuple[float, float] | None
    smallest_group: int | None


@dataclass(frozen=True)
class Column:
    """One column of the dictionary, with the released counts of its labels."""

    name: str
    description: str
    labels: tuple[str, ...]
    numbers: tuple[float, ...] | None
    missing: str | None
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """What no record satisfies, and who says so."""

    never: str
    source: str
    applies_to: str


@dataclass(frozen=True)
class BudgetLine:
    """One part of the budget; lines add up to the total as `note` says."""

    part: str
    epsilon: str
    note: str


@dataclass(frozen=True)
class Faces:
    """What the release looks like to somebody who searches it for rare people."""

    min_count: int
    unique_rows: int
    k: int
    b: int
    smallest_group: int


@dataclass(frozen=True)
class LedgerPlace:
    """Where the budget was charged: a fork of the ledger becomes visible in public.

    `spent` is what the ledger had spent in all, this release included; `before` is what earlier ledgers of the
    same data had spent.
    """

    id: str
    sequence: int
    head: str
    spent: str
    before: str


@dataclass(frozen=True)
class Regression:
    """The noisy regression of the original that predictions were compared with; exact numbers as text.

    The prediction is the first coefficient plus, for each feature, coefficient × (number − mean)/deviation.
    """

    target: str
    features: tuple[str, ...]
    means: tuple[str, ...]
    deviations: tuple[str, ...]
    coefficients: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """A release's own figures. Nothing here depends on the confidential table but through noisy answers."""

    format: int
    rehearsal: bool
    title: str
    description: str | None
    unit: str
    records: int
    public_because: str
    day: str
    version: str
    epsilon: str
    scheme: str
    selection: str
    false_accept: str
    budget: tuple[BudgetLine, ...]
    criteria: tuple[Criterion, ...]
    columns: tuple[Column, ...]
    rules: tuple[Rule, ...]
    policy: str
    family: str
    hyperparameters: dict[str, str]
    alternatives: dict[str, str]
    projection: dict[str, str]
    faces: Faces
    plan_hash: str
    data_hash: str
    ledger: LedgerPlace | None
    regression: Regression | None = None
    contact: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

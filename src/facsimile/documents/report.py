"""Report: everything a release says about itself, as plain data. `report.json` is this and nothing more."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from facsimile.spec.people import Governance
from facsimile.spec.publisher import Publisher
from facsimile.table.faces import FacePrivacy

ORIGINAL, RELEASE = "original and release", "release"
"""Where a rule was applied."""
ONCE = "fit before the loop"
"""The part of the budget that pays for a regression fitted once."""
_NEWER = ("prior", "delta", "fit", "tables", "publish")
FREE = f"paid by the {ONCE}"
"""The note of a part that compares with that regression, and so costs nothing more."""


@dataclass(frozen=True)
class SubgroupEntry:
    """A group of the release that a criterion compares: who it is, its records, and its own figure.

    The original's figure lies within `within` of it, with the confidence of all bounds, if the original has at
    least `counted` records in the group. `within` is None where no bound speaks of the group as a whole.
    """

    group: str
    records: int
    value: float | None
    within: float | None
    counted: int


@dataclass(frozen=True)
class CriterionEntry:
    """A quality criterion as it was measured, with its noise.

    `kind` and `columns` are those of the specification, `topic` what it is about; `stands` says whether the
    error itself was measured or what stands in for it (acceptance/kind.py).

    `value` is the noisy error (None where it is infinite, or where one number is `shared` by several criteria).
    `bound` is one of those that hold together (see Confidence); None where the noise allows no finite one. Δ is
    `sensitivity`; the noise has the standard deviation `sigma`. `units` and `grid` give the noisy answer
    exactly: units/grid. `source` says who asked for the criterion, `threshold_source` who set its threshold.

    Where the answer is the distance from a noisy fit, and no value plus noise, Δ and σ are None and `spread` is
    how far such noise alone moves the coefficients, on average. `luck` belongs to a ratio that was clipped at
    `clip`: the probability that one so large passes; `expected` is the smallest count that the plan expected.
    `subgroups` are the groups that it compares, if it compares any.
    """

    name: str
    kind: str
    title: str
    words: str
    topic: str
    columns: tuple[str, ...]
    stands: str
    threshold: float
    tested_at: float
    value: float | None
    bound: float | None
    statistic: str
    mechanism: str
    epsilon: float
    sensitivity: float | None
    sigma: float | None
    grid: int
    units: int
    bounds: tuple[float, float] | None
    smallest_group: int | None
    source: str | None = None
    threshold_source: str | None = None
    spread: float | None = None
    clip: float | None = None
    luck: float | None = None
    expected: int | None = None
    shared: bool = False
    subgroups: tuple[SubgroupEntry, ...] = ()


@dataclass(frozen=True)
class SharedNumber:
    """One noisy number that tested several criteria: the largest (error − threshold)/Δ among them.

    Each group, cell or sum of a criterion enters in units of its own Δ. The number was accepted because it is
    at most `limit`; the noise has the standard deviation `sigma`. units/grid gives it exactly.
    """

    criteria: tuple[str, ...]
    epsilon: float
    value: float
    limit: float
    sigma: float
    grid: int
    units: int


@dataclass(frozen=True)
class ColumnEntry:
    """One column of the dictionary, with the released counts of its labels.

    `meanings` says in words what each label holds; `coarse` that a label may hold several values. `missing` is
    the label of blanks. What else happened to a value: `blanks` and `others` are the labels that blanks and
    unknown categories were counted as, `clipped` tells that numbers beyond the list went to its nearest end,
    `left_out` that a record without a usable value was left out.
    """

    name: str
    description: str
    labels: tuple[str, ...]
    meanings: tuple[str, ...]
    numbers: tuple[float, ...] | None
    missing: str | None
    counts: tuple[int, ...]
    coarse: bool = False
    blanks: str | None = None
    others: str | None = None
    clipped: bool = False
    left_out: bool = False


@dataclass(frozen=True)
class RuleEntry:
    """What no record satisfies, and who says so.

    A row has ranges of values. `bins` says when it was removed: if `all` records whose values lie in its ranges
    break the rule, or if `any` does.
    """

    never: str
    source: str
    applies_to: str
    bins: str = "all"


@dataclass(frozen=True)
class BudgetEntry:
    """One part of the budget; lines add up to the total as `note` says."""

    part: str
    epsilon: str
    note: str


@dataclass(frozen=True)
class LedgerPlace:
    """Where the budget was charged: a fork of the ledger becomes visible in public.

    `spent` is what the ledger had spent in all, this release included; `before` is what earlier ledgers of the
    same data had spent. `delta` and `before_delta` are the same of δ, where there is any.
    """

    id: str
    sequence: int
    head: str
    spent: str
    before: str
    delta: str = "0"
    before_delta: str = "0"


@dataclass(frozen=True)
class FitEntry:
    """What one fit of the model spent where δ is declared: alone it would be (ε, δ)-differentially private.

    `rho`: the ρ (zCDP) of its Gaussian noise. None: the model was trained on random batches, and has this
    (ε, δ) by an accounting of its own.
    """

    epsilon: str
    delta: str
    rho: str | None


@dataclass(frozen=True)
class Regression:
    """A noisy regression of the original that the release was compared with; exact numbers as text.

    A report has two: `regression`, with which predictions were compared, and `refit`, with which coefficients
    were. They are one and the same where one fit served both.

    The prediction is the first coefficient plus, for each feature, coefficient × (number − mean)/deviation.
    """

    target: str
    features: tuple[str, ...]
    means: tuple[str, ...]
    deviations: tuple[str, ...]
    coefficients: tuple[str, ...]


@dataclass(frozen=True)
class PriorEntry:
    """The public table that the plan names to lean on, and whether the model of this release did.

    `facts`: it was simulated from published facts, and `sha256` is the hash of their file. `records`: how
    many it has, where the plan says so.
    """

    name: str
    facts: bool
    sha256: str
    records: int | None
    description: str | None
    source: str | None
    used: bool


@dataclass(frozen=True)
class TableEntry:
    """A noisy table that is published: its file and columns, how many cells it has, the law of their noise, its
    share of the budget (an ε, or a ρ of a Gaussian law) and its standard deviation."""

    file: str
    columns: tuple[str, ...]
    cells: int
    law: str
    share: str
    deviation: float


@dataclass(frozen=True)
class Confidence:
    """How sure the bounds are: all `shared_by` of them hold `together` with this probability.

    `of_search`: before the search began, a release with a bound that fails had at most the rest of it. So it is
    in scheme `measured`; elsewhere the bounds hold given the release.
    """

    together: str
    each: str
    shared_by: int
    of_search: bool = False


@dataclass(frozen=True)
class Report:
    """A release's own figures. Nothing here depends on the confidential table but through noisy answers.

    `sources` says who set the budget, the selection and the projection, where the specification does. `delta`
    and `fit` are there where the specification declares δ; without it a release has pure ε. `tables` are there
    where noisy tables are published, `publish` where the specification says what is.
    """

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
    mode: str
    selection: str
    false_accept: str
    configurations: int
    confidence: Confidence
    budget: tuple[BudgetEntry, ...]
    criteria: tuple[CriterionEntry, ...]
    columns: tuple[ColumnEntry, ...]
    rules: tuple[RuleEntry, ...]
    policy: str
    family: str
    hyperparameters: dict[str, str]
    alternatives: dict[str, str]
    projection: dict[str, str]
    faces: FacePrivacy
    plan_hash: str
    data_hash: str
    ledger: LedgerPlace | None
    shared: SharedNumber | None = None
    regression: Regression | None = None
    refit: Regression | None = None
    contact: str | None = None
    publisher: Publisher | None = None
    governance: Governance | None = None
    sources: dict[str, str] = field(default_factory=dict)
    prior: PriorEntry | None = None
    delta: str | None = None
    fit: FitEntry | None = None
    tables: tuple[TableEntry, ...] | None = None
    publish: tuple[str, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data; publisher and governance are the specification's own. Without a prior nothing is said of
        one, and nothing of δ or tables without them: so it was before there were any."""
        people = {"publisher": self.publisher, "governance": self.governance}
        plain = {name: None if part is None else part.model_dump() for name, part in people.items()}
        found = asdict(replace(self, publisher=None, governance=None)) | plain
        if found["ledger"] is not None:
            spent = found["ledger"].items()
            found["ledger"] = {name: part for name, part in spent if "delta" not in name or part != "0"}
        return {name: part for name, part in found.items() if name not in _NEWER or part is not None}

"""Written: what a page says first, for machines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from facsimile.explore.report.comparison import Comparison
from facsimile.explore.report.findings import Findings


@dataclass(frozen=True)
class Written:
    """What the report says first, for machines."""

    title: str
    file: str
    records: int
    configurations: int
    trials: int
    cpu_seconds: float
    epsilons: tuple[str, ...]
    wanted: float
    survivors: int
    best: str | None
    accepted: int
    tried: int
    low: float | None
    high: float | None
    fresh: bool
    audited: int
    wrongly_dropped: int
    candidate: tuple[str, str, int] | None
    bytes: int
    comparison: dict[str, Any]

    @classmethod
    def of(cls, findings: Findings, comparison: Comparison, size: int) -> Written:
        """What a page of so many bytes says."""
        study, best, trial = findings.study, findings.best, findings.chosen()
        return cls(
            study.setup.specification.title,
            study.data,
            study.setup.specification.n,
            len(findings.lines),
            len(findings.trials),
            findings.seconds,
            tuple(findings.levels),
            study.rule.wanted,
            len(findings.survivors),
            best.identifier if best else None,
            best.estimate.accepted if best else 0,
            best.estimate.trials if best else 0,
            best.estimate.low if best else None,
            best.estimate.high if best else None,
            best.estimate.fresh if best else False,
            len(findings.audited),
            len(findings.wrongly_dropped),
            trial.name if trial else None,
            size,
            comparison.as_json(),
        )

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

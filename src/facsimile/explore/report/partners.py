"""Partners: the exhibits of subgroups: the largest errors of their counts, and records without a partner."""

from __future__ import annotations

from collections.abc import Iterator

from facsimile.explore.report import contrasts
from facsimile.explore.report.exhibits import Chart, Exhibit, Head, Row, Sheet, rounded, significant
from facsimile.explore.report.subgroups import Place, Unmatched, Worst, unmatched, worst
from facsimile.spec.criteria import Faithfulness
from facsimile.spec.release import Specification
from facsimile.table.table import Table


def partners(specification: Specification, real: Table, synthetic: Table) -> Iterator[Exhibit]:
    """Counts and partners within the groups of columns that declare some."""
    errors = worst(specification, real, synthetic)
    if errors:
        rows = [_error(line) for line in errors]
        bars = [{"label": row["group"], "value": row["absolute"], "words": row["at"]} for row in rows]
        yield Chart("worst", contrasts.bars(bars, "worst-bars", "share of records"))
        yield Sheet("worst", _WORST, "worst", rows)
    for criterion in specification.criteria_of(Faithfulness)[:1]:
        rows = [_alone(line) for line in unmatched(specification, criterion, real, synthetic)]
        bars = [{"label": row["group"], "value": row["share"], "words": row["group"]} for row in rows]
        line = (float(criterion.threshold), "threshold")
        yield Chart("unmatched", contrasts.bars(bars, "unmatched-bars", "share of records", line))
        yield Sheet("unmatched", _UNMATCHED, "unmatched", rows)


_WORST = (
    Head("Group", "group"),
    Head("Real records", "real", "count"),
    Head("Synthetic records", "synthetic", "count"),
    Head("Largest difference, share of the group", "absolute", "share"),
    Head("where (real → synthetic)", "at", "prose"),
    Head("Largest ratio", "ratio", "number"),
    Head("where (real → synthetic)", "ratio_at", "prose"),
)
_UNMATCHED = (
    Head("Group", "group"),
    Head("Real records", "real", "count"),
    Head("Synthetic records", "synthetic", "count"),
    Head("Without a partner", "share", "share"),
)


def _error(line: Worst) -> Row:
    return {
        "group": f"{line.column}: {line.group}",
        "real": line.records[0],
        "synthetic": line.records[1],
        "absolute": rounded(line.absolute),
        "at": _place(line.at),
        "ratio": significant(line.ratio, 3),
        "ratio_at": _place(line.ratio_at),
    }


def _place(place: Place) -> str:
    return f"{place.column} {place.label}: {place.real:,} → {place.synthetic:,}"


def _alone(line: Unmatched) -> Row:
    return {
        "group": line.group if line.column is None else f"{line.column}: {line.group}",
        "real": line.records[0],
        "synthetic": line.records[1],
        "share": rounded(line.share),
    }

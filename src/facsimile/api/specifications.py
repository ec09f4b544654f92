"""Specifications: load and check one, and name its promise by a hash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from facsimile.api.given import checked, source, specified
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    from fractions import Fraction

    import pyarrow as pa

    from facsimile.acceptance.planned import NoiseLine
    from facsimile.explore.attainable import Attainable
    from facsimile.release.check import BudgetLine, Check
    from facsimile.release.public import BinnedMean, PublicSummary
    from facsimile.spec.release import Specification

WIDTH, NOTE = 80, 40


def load(path: Path | str) -> Specification:
    """Read a specification; every mistake is told with its line.

    >>> spec = facsimile.load("release.yaml")  # doctest: +SKIP
    """
    return specified(path)


def plan_hash(specification: Specification | Path | str) -> str:
    """The hash of the whole promise, which can be published before the run.

    >>> facsimile.plan_hash("release.yaml")  # doctest: +SKIP
    """
    from facsimile.release import plan

    return plan.plan_hash(checked(specification))


def check(specification: Specification | Path | str, public: Any = None) -> Checked:
    """What a specification promises, without confidential data: configurations, budget, noise by criterion.

    `public` is a public source or frame of the same form, to check reading and planning.

    >>> facsimile.check("release.yaml").to_pandas()  # doctest: +SKIP
    """
    from facsimile.explore.attainable import attainable
    from facsimile.explore.priors import prior_of
    from facsimile.privacy.reader import read_public, read_public_sums
    from facsimile.release import check
    from facsimile.release.public import assumptions, averaged, summarise

    spec = checked(specification)
    given = None if public is None else source(public)
    prior = prior_of(spec, given)
    leaned = None if prior is None else prior.n
    if given is None:
        return Checked(check.check(spec), leaned=leaned)
    table, names = read_public(given, spec), averaged(spec)
    summary = summarise(spec, table, read_public_sums(given, spec, names) if names else None)
    return Checked(check.check(spec, assumptions(summary, spec.n)), summary, leaned, attainable(spec, table))


@dataclass(frozen=True, repr=False)
class Checked(Result, Tabular):
    """What `check` found, and what the public file says; as a table: a line for each criterion."""

    found: Check
    public: PublicSummary | None = None
    leaned: int | None = None
    """The number of records of the prior."""
    attainable: tuple[Attainable, ...] = ()

    def to_arrow(self) -> pa.Table:
        """A line for each criterion: threshold, epsilon, sensitivity, noise."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.as_json()["criteria"])

    def as_json(self) -> dict[str, Any]:
        from facsimile.release.plan import plan_of
        from facsimile.release.reporting import said_of
        from facsimile.spec.decimals import show_decimal

        found, spec = self.found, self.found.specification
        named = {criterion.name: criterion for criterion in spec.criteria}
        return {
            "title": spec.title,
            "n": spec.n,
            "neighbours": spec.neighbours,
            "digest": spec.digest(),
            "scheme": spec.scheme,
            "selection": plan_of(spec).mode.name,
            "configurations": {
                "total": spec.space.size,
                "pure": spec.space.pure().size,
                **({"drawable": spec.drawable.size} if spec.budget.delta else {}),
                "allowed": spec.space.whole.size,
                "by_family": [asdict(line) for line in found.families],
            },
            "finest_cells": found.finest_cells,
            "budget": {
                "lines": [_budget_line(line) for line in found.budget],
                "total": show_decimal(found.total),
                "declared": show_decimal(spec.budget.total),
                **({"delta": show_decimal(found.delta)} if found.delta else {}),
            },
            "criteria": [
                {
                    "name": line.criterion,
                    "statistic": line.statistic,
                    "threshold": show_decimal(line.threshold),
                    "tested_at": line.tested_at,
                    "epsilon": show_decimal(line.epsilon),
                    "sensitivity": line.sensitivity,
                    "noise_scale": line.scale,
                    "note": line.note,
                    "source": said_of(named[line.criterion].source),
                    "threshold_source": said_of(named[line.criterion].threshold_source),
                }
                for line in found.noise
            ],
            "public": None if self.public is None else self.public.as_json(),
            "attainable": [asdict(line) for line in self.attainable],
            **({} if spec.prior is None else {"prior": {"file": spec.prior.name, "records": self.leaned}}),
        }

    def page(self) -> Page:
        spec = self.found.specification
        page = Page(spec.title)
        page.line(f"{spec.n:,} records, {spec.neighbours} neighbours, unit of privacy: {spec.unit}")
        page.line(f"{len(spec.columns)} columns, {self.found.finest_cells:,} cells at the finest refinement")
        if spec.prior is not None:
            kind = "facts simulated as" if spec.prior.facts else "a public table of"
            page.line(f"Models may lean on {spec.prior.name}, {kind} {self.leaned:,} records")
        _families(page, self.found)
        _budget(page, self.found)
        _noise(page, self.found)
        sizes = (
            "`planning`" if self.public is None else "the public file, scaled to the declared number of records"
        )
        page.line(f"Sizes come from {sizes}.")
        if self.public is not None:
            _public(page, self.public)
            show_attainable(page, self.attainable, spec.budget.generator)
        return page


def _families(page: Page, found: Check) -> None:
    space = found.specification.space
    rows = [(line.family, f"{line.configurations:,}", line.note) for line in found.families]
    rows.append(("all", f"{space.size:,}", f"{found.specification.drawable.size:,} can be drawn"))
    if space.listed is not None:
        page.line(f"{space.size:,} of {space.whole.size:,} configurations are listed: one of them is drawn")
    page.table("Configurations", "family|>number|_", rows)


def _budget(page: Page, found: Check) -> None:
    from facsimile.release.check import show_upper
    from facsimile.spec.decimals import show_decimal

    rows = [(line.part, show_upper(line.epsilon), line.note) for line in found.budget]
    declared = show_upper(found.specification.budget.total)
    delta = f", delta {show_decimal(found.delta)}" if found.delta else ""
    rows.append(("total", show_upper(found.total), f"declared {declared}{delta}"))
    page.table("Budget", "part|>epsilon|_", rows)
    if delta:
        page.line(f"total {show_upper(found.total)}{delta}: parts compose to their sum or less.")
        page.line("The generator's epsilon is that of its fit alone at this delta.")


def _budget_line(line: BudgetLine) -> dict[str, Any]:
    from facsimile.spec.decimals import show_decimal

    found = {"part": line.part, "epsilon": show_decimal(line.epsilon), "note": line.note}
    return found | ({} if line.rho is None else {"rho": show_decimal(line.rho)})


def _noise(page: Page, found: Check) -> None:
    from facsimile.release.check import show_upper

    page.table(
        "Noise beside thresholds",
        "criterion|>threshold|>tested at|>epsilon|>noise|>share",
        (
            (
                line.criterion,
                f"{float(line.threshold):g}",
                f"{line.tested_at:.4g}",
                show_upper(line.epsilon),
                "?" if line.scale is None else f"{line.scale:.3g}",
                "" if line.share is None else f"{line.share:.0%}",
            )
            for line in found.noise
        ),
    )
    page.line("noise: the scale of the noise; share: that scale over the value tested at.")
    listed = f": {', '.join(found.loud)}" if found.loud else "; none is"
    page.line(fill(f"Above a third, noise can hide the answer{listed}.", WIDTH))
    page.table(
        "Sensitivities: how far one record can move each criterion",
        "criterion|>sensitivity|_",
        ((line.criterion, _sensitivity(line), fill(line.note, NOTE)) for line in found.noise),
    )


def _sensitivity(line: NoiseLine) -> str:
    """A question mark where only a release can tell; nothing where noise is known without one."""
    if line.sensitivity is None:
        return "?" if line.scale is None else ""
    return f"{line.sensitivity:.3g}"


def _public(page: Page, summary: PublicSummary) -> None:
    page.table(
        "Public file: its smallest counts",
        "column|>one-way|>group",
        (
            (name, f"{count:,}", f"{summary.groups[name]:,}" if name in summary.groups else "")
            for name, count in summary.smallest.items()
        ),
    )
    page.line(f"{summary.n:,} records, {summary.distinct:,} distinct rows.")
    if summary.means:
        _means(page, summary.means)


def show_attainable(page: Page, lines: Sequence[Attainable], epsilon: Fraction) -> None:
    """What each criterion can reach, and what its threshold costs."""
    from facsimile.documents.numerals import number
    from facsimile.explore.attainable import costliest
    from facsimile.release.check import show_upper

    def shown(value: float | None) -> str:
        return "" if value is None else number(value, digits=3)

    page.table(
        "Attainable: what nine of ten reach on the public file",
        f"criterion|>threshold|>another sample|>predicted at {show_upper(epsilon)}|>wider|>saves",
        (
            (
                line.criterion,
                shown(line.threshold),
                shown(line.fresh),
                shown(line.predicted),
                shown(line.wider),
                shown(line.saved) if line.saved > 0 else "",
            )
            for line in lines
        ),
    )
    page.line("another sample: two samples of this size from the same population are so far apart.")
    best = costliest(lines)
    if best is None or best.needed is None:
        page.line("Nothing is predicted: the workload has no measurements that can be read. See `design`.")
        return
    page.line(
        fill(f"All are met in nine of ten candidates at a generator epsilon of {best.needed:.2g}.", WIDTH)
    )
    if best.saved > 0:
        wider = f"Relaxing {best.criterion} from {shown(best.threshold)} to {shown(best.wider)}"
        page.line(fill(f"{wider} saves {best.saved:.2g} of that, the most of all.", WIDTH))


def _means(page: Page, means: Sequence[BinnedMean]) -> None:
    from facsimile.documents.numerals import number

    page.table(
        "Public file: means of bins' numbers beside means of the values",
        "criterion|group|>values|>numbers|>difference|_",
        (
            (
                mean.criterion,
                mean.group,
                number(mean.raw, digits=5),
                number(mean.numbers, digits=5),
                number(mean.difference, digits=3),
                "far" if mean.far else "",
            )
            for mean in means
        ),
    )
    page.line("Criteria compare means of bins' numbers: of the release with those of the original.")
    if any(mean.far for mean in means):
        page.line("far: the values' own mean differs by more than a third of the threshold.")
        page.line("Declare `numbers`, cut finer bins, or tell readers what these means are of.")

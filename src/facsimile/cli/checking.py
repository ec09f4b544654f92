"""The commands about a specification alone: check, schema, plan-hash."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from facsimile.cli.options import AsJson, SpecFile, source
from facsimile.cli.page import Page, print_json
from facsimile.sources.address import Address

if TYPE_CHECKING:
    from facsimile.acceptance.planned import NoiseLine
    from facsimile.release.check import Check
    from facsimile.release.public import BinnedMean, PublicSummary

WIDTH, NOTE = 80, 40


def check_command(
    spec: SpecFile,
    public: Annotated[
        Address | None, source("A public source of the same form, to check reading and planning.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a specification without confidential data.

    Counts its configurations, adds up its budget, and shows each criterion's noise beside its threshold.

    Example: facsimile check examples/births/release.yaml
    """
    from facsimile.privacy.reader import read_public, read_public_sums
    from facsimile.release.check import check, load_checked
    from facsimile.release.public import assumptions, averaged, summarise

    specification = load_checked(spec)
    summary = None
    if public is not None:
        table = read_public(public, specification)
        names = averaged(specification)
        raw = read_public_sums(public, specification, names) if names else None
        summary = summarise(specification, table, raw)
    found = check(specification, assumptions(summary, specification.n) if summary else None)
    if as_json:
        print_json(check_as_json(found, summary))
    else:
        _print_check(found, summary)


def schema_command() -> None:
    """Print the JSON Schema of specifications, for editors.

    Example: facsimile schema > facsimile.schema.json
    """
    from facsimile.spec.load import schema

    print_json(schema())


def plan_hash_command(spec: SpecFile, as_json: AsJson = False) -> None:
    """Print the hash of the whole promise; it can be published before the run.

    Example: facsimile plan-hash examples/births/release.yaml
    """
    from facsimile.release.check import load_checked, show_upper
    from facsimile.release.plan import plan_hash, plan_of

    specification = load_checked(spec)
    found = plan_hash(specification)
    if as_json:
        print_json({"plan_hash": found, "epsilon": show_upper(plan_of(specification).total().epsilon)})
    else:
        typer.echo(found)


def check_as_json(found: Check, summary: PublicSummary | None) -> dict[str, Any]:
    """What `check --json` prints."""
    from facsimile.release.plan import plan_of
    from facsimile.release.reporting import said_of
    from facsimile.spec.decimals import show_decimal

    spec = found.specification
    named = {criterion.name: criterion for criterion in spec.criteria}
    pure = spec.space.pure().size
    return {
        "title": spec.title,
        "n": spec.n,
        "neighbours": spec.neighbours,
        "digest": spec.digest(),
        "scheme": spec.scheme,
        "selection": plan_of(spec).mode.name,
        "configurations": {
            "total": spec.space.size,
            "pure": pure,
            "allowed": spec.space.whole.size,
            "by_family": [
                {"family": f.family, "configurations": f.configurations, "note": f.note} for f in found.families
            ],
        },
        "finest_cells": found.finest_cells,
        "budget": {
            "lines": [
                {"part": b.part, "epsilon": show_decimal(b.epsilon), "note": b.note} for b in found.budget
            ],
            "total": show_decimal(found.total),
            "declared": show_decimal(spec.budget.total),
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
        "public": summary.as_json() if summary else None,
    }


def _print_check(found: Check, summary: PublicSummary | None) -> None:
    spec = found.specification
    page = Page()
    page.heading(spec.title)
    page.line(f"{spec.n:,} records, {spec.neighbours} neighbours, unit of privacy: {spec.unit}")
    page.line(f"{len(spec.columns)} columns, {found.finest_cells:,} cells at the finest refinement")
    _print_families(page, found)
    _print_budget(page, found)
    _print_noise(page, found, summary is not None)
    if summary is not None:
        _print_public(page, summary)


def _print_families(page: Page, found: Check) -> None:
    space = found.specification.space
    rows = [(line.family, f"{line.configurations:,}", line.note) for line in found.families]
    rows.append(("all", f"{space.size:,}", f"{space.pure().size:,} in pure mode"))
    if space.listed is not None:
        page.line(f"{space.size:,} of {space.whole.size:,} configurations are listed: one of them is drawn")
    page.table("Configurations", "family|>number|_", rows)


def _print_budget(page: Page, found: Check) -> None:
    from facsimile.release.check import show_upper

    rows = [(line.part, show_upper(line.epsilon), line.note) for line in found.budget]
    declared = show_upper(found.specification.budget.total)
    rows.append(("total", show_upper(found.total), f"declared {declared}"))
    page.table("Budget", "part|>epsilon|_", rows)


def _print_noise(page: Page, found: Check, from_public: bool) -> None:
    from facsimile.release.check import show_upper

    source = "the public file, scaled to the declared number of records" if from_public else "`planning`"
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
    page.line(f"Sizes come from {source}.")


def _sensitivity(line: NoiseLine) -> str:
    """A question mark where only a release can tell; nothing where noise is known without one."""
    if line.sensitivity is None:
        return "?" if line.scale is None else ""
    return f"{line.sensitivity:.3g}"


def _print_public(page: Page, summary: PublicSummary) -> None:
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
        _print_means(page, summary.means)


def _print_means(page: Page, means: Sequence[BinnedMean]) -> None:
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


COMMANDS = {"check": check_command, "schema": schema_command, "plan-hash": plan_hash_command}

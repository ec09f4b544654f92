"""The commands for a study of public data: explore, plan, report, design."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from facsimile.api.plans import ACCEPT, KEEP, NOISE, PlanRule
from facsimile.cli.options import (
    EPSILON,
    Alternatives,
    AsJson,
    Public,
    SpecFile,
    epsilon_of,
    refuse_unless,
    seconds_of,
    source,
)
from facsimile.cli.page import show
from facsimile.cli.progress import busy, telling, watching
from facsimile.errors import refusal
from facsimile.sources.address import Address
from facsimile.spec.choices import SchemeName

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="A study that `facsimile explore` made.")]


def explore_command(
    spec: SpecFile,
    data: Annotated[Address, source("A public source of the same form.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="STUDY", help="The study: one file.")],
    public: Public = False,
    workers: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Processes of this machine; default: one for each core.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster instead (extra `cluster`).")
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start no trial after this time: 90s, 30m, 2h.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same trials.")] = 1,
    wanted: Annotated[float, typer.Option(min=0.001, max=0.999, help="The acceptance to reach.")] = 0.10,
    trials: Annotated[int, typer.Option(min=3, max=999, help="Trials of a configuration at most.")] = 40,
    finalists: Annotated[int, typer.Option(min=1, max=2000, help="Configurations that go on to plans.")] = 4,
    fresh: Annotated[int, typer.Option(min=2, max=100_000, help="Further trials of each finalist.")] = 100,
    steps: Annotated[int, typer.Option(min=0, max=40, help="How often epsilon is lowered, by √2.")] = 8,
    most: Annotated[
        int, typer.Option(min=1, max=100_000, help="Configurations that race; a larger space is sampled.")
    ] = 5000,
    as_json: AsJson = False,
) -> None:
    """Try every configuration on public data and find those that pass; the same command goes on after a stop.

    Example: facsimile explore examples/births/ours.yaml --data births.csv --public --out births.study
    """
    from facsimile.api import studies
    from facsimile.explore.race import RaceRule

    refuse_unless(public)
    seconds = None if time_limit is None else seconds_of(time_limit)
    rule = RaceRule(wanted=wanted, trials=trials, finalists=finalists, fresh=fresh, steps=steps, most=most)
    with busy("Reading", as_json):
        study = studies.begun(spec, data, out, rule, seed)
    try:
        with busy("Starting the workers", as_json):
            pool = studies.started(study, workers, scheduler)
        with watching(as_json, seconds) as watch:
            found = studies.ran(study, pool, watch, seconds)
    except KeyboardInterrupt:
        typer.echo("The study is whole: the same command goes on.", err=True)
        raise
    show(found, as_json)


def plan_command(
    study: StudyFile,
    accept: Annotated[
        float, typer.Option(min=0.01, max=0.999, help="The probability of a release to reach.")
    ] = ACCEPT,
    keep: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Keep configurations with at least this acceptance.")
    ] = KEEP,
    noise: Annotated[
        float,
        typer.Option(min=0.001, max=1.0, help="Noise of a measured criterion, as a part of its threshold."),
    ] = NOISE,
    scheme: Annotated[
        SchemeName | None,
        typer.Option(help="Plan with this scheme only; default: those that bound false_accept."),
    ] = None,
    total: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Plan within this total; default: the declared one."),
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Publish a value of every criterion, not only a bound.")
    ] = False,
    rule: Annotated[
        PlanRule,
        typer.Option(help="cheapest: the smallest total. paper: keep what passes often, change nothing else."),
    ] = "cheapest",
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the specification of the planned release.")
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Rehearse it, and write how far replicates' intervals reach.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the smallest total epsilon at which a release comes out often enough, from a study.

    Example: facsimile plan births.study --accept 0.5 --write release.yaml
    """
    from facsimile.api.plans import plan
    from facsimile.api.studies import study_of

    known = study_of(study)
    if write is not None and write.exists():
        raise refusal("E401")
    if calibrate and write is None:
        raise refusal("E001", problem="--calibrate needs --write FILE.", command="facsimile plan")
    mistyped = refusal("E001", problem=EPSILON, command="facsimile plan")
    limit = None if total is None else epsilon_of(total, mistyped)
    with busy("Planning" if rule == "cheapest" else "Looking", as_json):
        found = plan(
            known,
            accept=accept,
            keep=keep,
            noise=noise,
            scheme=scheme,
            total=limit,
            values=values,
            rule=rule,
        )
    if write is not None:
        with telling("Calibrating", as_json) as tell:
            found.save(write, found.calibration(tell=tell) if calibrate else None)
    show(found, as_json, *([] if write is None else [f"Written: {write}. Next: facsimile check {write}"]))


def report_command(
    study: StudyFile,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The page: a new HTML file.")],
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Lay this configuration beside others: how its identifier begins; may be repeated.",
        ),
    ] = None,
    tables: Annotated[int, typer.Option(min=1, max=50, help="Released tables of each that are compared.")] = 5,
    risk: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add a risk report: the JSON file that `facsimile risk` wrote."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write one page about a study, for everyone who has a say; it opens in any browser, without a network.

    Example: facsimile report births.study --out report.html
    """
    from facsimile.api.studies import report

    with telling("Reading the study", as_json) as tell:
        found = report(study, out, compare=compare or (), tables=tables, risk=risk, tell=tell)
    show(found, as_json)


def design_command(
    spec: SpecFile,
    data: Annotated[Address, source("A public source of the same form.")],
    public: Public = False,
    epsilon: Annotated[
        str | None, typer.Option(help="What the generator may spend; default: `budget.generator`.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(min=0.0, max=20.0, help="Scales of its noise that each criterion is met by; default 2."),
    ] = None,
    scores: Annotated[bool, typer.Option(help="Let criteria ask for scores of their own.")] = True,
    trials: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Drafts to try at most; default 400.")
    ] = None,
    alternatives: Alternatives = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same design.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="Write the specification with the design."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute tables and weights of the workload generator from public data and the criteria.

    Example: facsimile design examples/births/ours.yaml --data births.csv --public --epsilon 0.5 -o new.yaml
    """
    from facsimile.api.public import design

    refuse_unless(public)
    if out is not None and out.exists():
        raise refusal("E401")
    mistyped = refusal("E001", problem=EPSILON, command="facsimile design")
    spent = None if epsilon is None else epsilon_of(epsilon, mistyped)
    with telling("Reading", as_json) as tell:
        found = design(
            spec,
            data,
            public=True,
            epsilon=spent,
            margin=margin,
            scores=scores,
            alternatives=alternatives,
            seed=seed,
            trials=trials,
            tell=tell,
        )
    if out is not None:
        found.save(out)
    show(found, as_json, *([] if out is None else [f"Written: {out}. Next: facsimile check {out}"]))


COMMANDS: dict[str, Callable[..., None]] = {
    "explore": explore_command,
    "plan": plan_command,
    "report": report_command,
    "design": design_command,
}

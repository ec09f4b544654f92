"""The commands for public data: explore, plan, report, learn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from facsimile.cli.options import AsJson, Public, SpecFile, source
from facsimile.cli.page import Page, print_json
from facsimile.cli.progress import busy, telling, watching
from facsimile.cli.surviving import caution, differing, keep_survivors
from facsimile.errors import refusal
from facsimile.sources.address import Address
from facsimile.spec.choices import SchemeName

if TYPE_CHECKING:
    from facsimile.explore.curve import Curve, Point
    from facsimile.explore.planner import Planned
    from facsimile.explore.pool import Pool
    from facsimile.explore.report import Written
    from facsimile.explore.run import Summary
    from facsimile.explore.study import Study

SECONDS = {"s": 1, "m": 60, "h": 3600}
ACCEPT, NOISE = 0.5, 0.1
Rule = Literal["cheapest", "paper"]
RUNGS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
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
    from facsimile.explore.pool import Cluster, Local
    from facsimile.explore.race import RaceRule
    from facsimile.explore.run import begin, explore

    if not public:
        raise refusal("E208")
    seconds = None if time_limit is None else _seconds(time_limit)
    rule = RaceRule(wanted=wanted, trials=trials, finalists=finalists, fresh=fresh, steps=steps, most=most)
    with busy("Reading", as_json):
        study = begin(spec, data, out, rule, seed)
    try:
        with busy("Starting the workers", as_json):
            pool: Pool = Cluster(study.setup, scheduler) if scheduler else Local(study.setup, workers)
        try:
            with watching(as_json, seconds) as watch:
                found = explore(study, pool, watch, seconds)
        finally:
            pool.close()
    except KeyboardInterrupt:
        typer.echo("The study is whole: the same command goes on.", err=True)
        raise
    if as_json:
        print_json(found.as_json())
    else:
        _print_summary(study, found, out)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", text.strip())
    if found is None:
        problem = "A time limit is a number with s, m or h."
        raise refusal("E001", problem=problem, command="facsimile")
    return float(found[1]) * SECONDS[found[2]]


def _epsilon(text: str, command: str) -> Fraction:
    from facsimile.spec.decimals import parse_epsilon

    try:
        return parse_epsilon(text)
    except ValueError:
        problem = "Epsilon is a decimal number above 0."
        raise refusal("E001", problem=problem, command=f"facsimile {command}") from None


def _print_summary(study: Study, found: Summary, out: Path) -> None:
    page = Page()
    page.heading(study.declared.title)
    page.line(f"{study.setup.table.n:,} public records in {study.data}; nothing here is protected")
    page.line(
        f"{found.trials:,} trials of {found.configurations:,} configurations, "
        f"{found.cpu_seconds / 3600:.2f} hours of CPU"
    )
    rows = [
        ("survive", f"{len(found.survivors):,}", f"acceptance {study.rule.wanted:.0%} or more"),
        ("dropped", f"{found.dropped:,}", f"{found.audited} audited, {found.wrongly_dropped} of them wrongly"),
        ("undecided", f"{found.undecided:,}", "after the last trial, with too few successes to go on"),
        ("still running", f"{found.running:,}", "" if found.finished else "the same command goes on"),
        ("all", f"{found.configurations:,}", ""),
    ]
    page.table(f"The race at epsilon {found.level}", "_|>number|_", rows)
    if found.finalists:
        finals = [(level, ", ".join(names)) for level, names in found.finalists.items()]
        page.table("Finalists by the generator's epsilon", "epsilon|configurations", finals)
        page.line(f"\nNext: facsimile plan {out}")
    elif not found.running:
        page.line("\nNo configuration was shown to reach the wanted acceptance.")


def plan_command(
    study: StudyFile,
    accept: Annotated[
        float, typer.Option(min=0.01, max=0.999, help="The probability of a release to reach.")
    ] = ACCEPT,
    keep: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Keep configurations with at least this acceptance.")
    ] = 0.1,
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
    rule: Annotated[
        Rule,
        typer.Option(help="cheapest: the smallest total. paper: keep what passes often, change nothing else."),
    ] = "cheapest",
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the specification of the planned release.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the smallest total epsilon at which a release comes out often enough, from a study.

    Example: facsimile plan births.study --accept 0.5 --write release.yaml
    """
    from facsimile.explore.narrowed import narrowed
    from facsimile.explore.planner import BOUNDED, plan
    from facsimile.explore.study import Study
    from facsimile.release.check import check
    from facsimile.release.writing import write_text
    from facsimile.spec.load import loads

    opened = Study.open(study)
    if write is not None and write.exists():
        raise refusal("E401")
    limit = None if total is None else _epsilon(total, "plan")
    if rule == "paper":
        if (accept, noise, scheme, total) != (ACCEPT, NOISE, None, None):
            problem = "The paper's rule changes no budget: give it --keep and --write only."
            raise refusal("E001", problem=problem, command="facsimile plan")
        keep_survivors(opened, study.name, keep, write, as_json)
        return
    with busy("Planning", as_json):
        found = plan(opened, accept, keep, noise, BOUNDED if scheme is None else (scheme,), limit)
    text = narrowed(opened.source, found.option, _notes(opened, found, study.name))
    loud = check(loads(text)).loud
    if write is not None:
        write_text(write, text)
    if as_json:
        print_json(_planned_as_json(opened, found) | {"loud": list(loud)})
    else:
        _print_plan(opened, found, write, loud)


def _notes(study: Study, found: Planned, name: str) -> list[str]:
    """What the head of the written specification says."""
    return [
        f"Planned by facsimile from the study {name} on public data ({study.data}),",
        f"{study.setup.table.n:,} records: on such data a release comes out with probability "
        f"{found.point.span}.",
        *_doubts(found),
    ]


def _planned_as_json(study: Study, found: Planned) -> dict[str, Any]:
    from facsimile.spec.decimals import show_decimal

    option, point = found.option, found.point
    return {
        "public": {"file": study.data, "records": study.setup.table.n, "declared": study.declared.n},
        "accept": found.accept,
        "total": show_decimal(option.total),
        "scheme": option.scheme,
        "selection": option.selection.model_dump(mode="json", exclude_none=True),
        "generator": show_decimal(option.generator),
        "test": None if option.test is None else show_decimal(option.test),
        "once": None if option.once is None else show_decimal(option.once),
        "criteria": {name: show_decimal(epsilon) for name, epsilon in option.measured},
        "release": {
            "probability": point.release,
            "low": point.low,
            "high": point.high,
            "trials": len(option.stated),
            "fresh_to_tell": found.fresh,
        },
        "candidates": option.iterations(),
        "seconds": option.iterations() * option.seconds,
        "configurations": [c.as_json() | {"identifier": c.identifier} for c in option.configurations],
        "curve": [_point_as_json(each) for each in found.curve.points],
        "within": {
            "total": show_decimal(found.limit),
            "buys": _point_as_json(found.bought),
            "surely": None if found.sure is None else _point_as_json(found.sure),
            "thresholds_could_be": found.tighter,
        },
    }


def _point_as_json(point: Point) -> dict[str, Any]:
    from facsimile.spec.decimals import show_decimal

    return {
        "scheme": point.scheme,
        "total": show_decimal(point.total),
        "release": point.release,
        "low": point.low,
        "high": point.high,
        "generator": show_decimal(point.option.generator),
        "mode": point.option.mode.name,
    }


def _print_plan(study: Study, found: Planned, write: Path | None, loud: Sequence[str]) -> None:
    from facsimile.explore.options import SCHEMES
    from facsimile.release.check import show_upper

    option = found.option
    page = Page()
    page.heading(study.declared.title)
    page.line(f"Total epsilon {show_upper(option.total)}: a release with probability {found.point.span}")
    for line in _doubts(found):
        page.line(line)
    page.line(
        f"Scheme {option.scheme}, selection {option.mode.name}; {option.iterations():.1f} candidates "
        f"expected, {option.iterations() * option.seconds:.1f} s of CPU."
    )
    rows = [(name, show_upper(value), note) for name, value, note in _split(found)]
    page.table("Budget", "part|>epsilon|_", [*rows, ("total", show_upper(option.total), "")])
    every = option.configurations
    kept = [(c.identifier, differing(c, every) or _worded(c.hyperparameters) or "as it comes") for c in every]
    page.table("Configurations", "name|" + ("what differs" if len(every) > 1 else "hyperparameters"), kept)
    page.table(
        "The smallest total epsilon for a probability of release",
        ">probability|" + "|".join(f">{scheme}" for scheme in SCHEMES),
        [
            (f"{rung:g}", *(_cheapest(found.curve, scheme, rung) for scheme in SCHEMES))
            for rung in sorted({*RUNGS, found.accept})
        ],
    )
    page.line(f"\nA total of {show_upper(found.limit)} buys a release with probability {found.bought.span}")
    if found.tighter is not None:
        page.line(f"or, at the wanted probability, thresholds of {found.tighter:.0%} of the declared ones.")
    if option.total > study.declared.budget.total:
        page.line(
            f"\nThis plan costs more than the declared {show_upper(study.declared.budget.total)}: agree on it."
        )
    if loud:
        page.line(f"\nNoise can hide the published answer of {', '.join(loud)}: see `facsimile check`.")
    page.line(f"\n{caution(study)}")
    if write is not None:
        page.line(f"Written: {write}. Next: facsimile check {write}")


def _worded(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _split(found: Planned) -> Iterator[tuple[str, Any, str]]:
    option = found.option
    yield "generator", option.generator, "for each candidate" if option.scheme != "train-once" else "once"
    if option.test is not None:
        yield "test", option.test, "for each candidate"
    if option.once is not None:
        yield "regression", option.once, "once"
    note = "for each candidate" if option.scheme == "paper" else "once, after acceptance"
    for name, epsilon in option.measured:
        yield name, epsilon, note


def _doubts(found: Planned) -> Iterator[str]:
    """What to say where the trials do not show that the wish is reached."""
    from facsimile.explore.curve import MOST_FRESH
    from facsimile.release.check import show_upper

    if found.fresh is None:
        return
    few = f"{len(found.option.stated):,} trials are too few to tell whether that is {found.accept:g} or more"
    if found.fresh < MOST_FRESH:
        yield f"{few}: explore again with --fresh {found.fresh} and another --out to be told."
    else:
        yield f"{few}, and it is so near that no affordable number would tell."
    if found.sure is not None:
        yield f"A total of {show_upper(found.sure.total)} is shown to reach {found.accept:g}."


def _cheapest(curve: Curve, scheme: SchemeName, rung: float) -> str:
    from facsimile.release.check import show_upper

    point = curve.cheapest(rung, (scheme,))
    return "not reached" if point is None else show_upper(point.total)


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
    as_json: AsJson = False,
) -> None:
    """Write one page about a study, for everyone who has a say; it opens in any browser, without a network.

    Example: facsimile report births.study --out report.html
    """
    from facsimile.explore.report import write_report
    from facsimile.explore.study import Study

    with telling("Reading the study", as_json) as tell:
        found = write_report(Study.open(study), out, compare or (), tables, tell)
    if as_json:
        print_json(found.as_json() | {"page": out.name})
    else:
        _print_report(found, out)


def _print_report(found: Written, out: Path) -> None:
    page = Page()
    page.heading(found.title)
    page.line(f"{found.records:,} public records in {found.file}; nothing here is protected")
    page.line(
        f"{found.survivors:,} of {found.configurations:,} configurations reach an acceptance of "
        f"{found.wanted:.0%}"
    )
    if found.best is not None:
        kind = "fresh trials" if found.fresh else "trials that also chose it"
        page.line(
            f"First in the race: {found.best}, accepted in {found.accepted:,} of {found.tried:,} {kind} "
            f"(95 % interval {found.low:.2f} to {found.high:.2f})"
        )
    sides = found.comparison["configurations"]
    if sides:
        rows = [
            (c["letter"], c["identifier"], f"{len(c['tables'])} {'' if c['released'] else 'not '}accepted")
            for c in sides
        ]
        page.table("Side by side", "_|configuration|tables", rows)
    page.line(f"\nThe page to read: {out}")


def learn_command(
    spec: SpecFile,
    data: Annotated[Address, source("A public source of the same form.")],
    public: Public = False,
    epsilon: Annotated[
        str | None, typer.Option(help="What the generator may spend; default: `budget.generator`.")
    ] = None,
    time_limit: Annotated[str, typer.Option(metavar="TIME", help="How long to search: 90s, 10m, 1h.")] = "10m",
    alternatives: Annotated[
        str | None, typer.Option(metavar="NAME", help="The alternative of every column; default: the first.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the search.")] = 1,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write the block to a file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Choose tables and weights of the workload generator on public data: a ready `families` block.

    Example: facsimile learn examples/births/ours.yaml --data births.csv --public -o families.yaml
    """
    from facsimile.explore.learning import learn
    from facsimile.privacy.reader import read_public
    from facsimile.release.writing import write_text
    from facsimile.spec.decimals import show_decimal
    from facsimile.spec.load import load

    if not public:
        raise refusal("E208")
    if out is not None and out.exists():
        raise refusal("E401")
    seconds, specification = _seconds(time_limit), load(spec)
    spent = specification.budget.generator if epsilon is None else _epsilon(epsilon, "learn")
    with busy("Learning", as_json):
        table = read_public(data, specification)
        found = learn(
            specification.sized(table.n),
            table,
            spent,
            alternatives=specification.alternatives_named(alternatives or ""),
            seed=seed,
            seconds=seconds,
        )
    if out is not None:
        write_text(out, found.block())
    if as_json:
        print_json({**asdict(found), "epsilon": show_decimal(found.epsilon), "families": found.families()})
        return
    typer.echo(found.block() if out is None else f"Written: {out}")
    page = Page()
    page.line(
        f"Slack of the worst criterion on fresh seeds: {found.slack:.2f}, with `auto` {found.before:.2f}; "
        "above 0 it is met."
    )
    page.line(f"{found.evaluations:,} candidates were made.")


COMMANDS: dict[str, Callable[..., None]] = {
    "explore": explore_command,
    "plan": plan_command,
    "report": report_command,
    "learn": learn_command,
}

"""The command line: a command parses, calls one function, prints.

Exit codes: 0 done, 1 internal, 2 refused, 3 budget, 4 ledger, 5 verify, 6 no release, 130 stopped.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid

from facsimile import __version__
from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.reader import read_public
from facsimile.release.check import Check, check
from facsimile.release.public import PublicSummary, assumptions, summarise
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import load, schema

app = typer.Typer(
    name="facsimile",
    help="Differentially private releases of microdata.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
SpecFile = Annotated[Path, typer.Argument(metavar="SPEC", help="The specification, a YAML file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.callback(invoke_without_command=True)
def program(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Differentially private releases of microdata."""
    if version:
        typer.echo(f"facsimile {__version__}")
        raise typer.Exit


@app.command("check")
def check_command(
    spec: SpecFile,
    public: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A public file of the same form, to check reading and planning."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a specification without confidential data.

    Counts its configurations, adds up its budget, and shows each criterion's noise beside its threshold.

    Example: facsimile check examples/births/release.yaml
    """
    specification = load(spec)
    summary = None
    if public is not None:
        summary = summarise(specification, read_public(str(public), specification))
    found = check(specification, assumptions(summary) if summary else None)
    if as_json:
        _print_json(check_as_json(found, summary))
    else:
        _print_check(found, summary)


@app.command("schema")
def schema_command(as_json: AsJson = True) -> None:
    """Print the JSON Schema of specifications, for editors.

    Example: facsimile schema > facsimile.schema.json
    """
    _print_json(schema())


def check_as_json(found: Check, summary: PublicSummary | None) -> dict[str, Any]:
    """What `check --json` prints."""
    spec = found.specification
    pure = spec.space.pure().size
    return {
        "title": spec.title,
        "n": spec.n,
        "neighbours": spec.neighbours,
        "digest": spec.digest(),
        "scheme": spec.scheme,
        "selection": spec.selection.mode,
        "configurations": {
            "total": spec.space.size,
            "pure": pure,
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
            }
            for line in found.noise
        ],
        "public": summary.as_json() if summary else None,
    }


def _print_check(found: Check, summary: PublicSummary | None) -> None:
    spec = found.specification
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    console.print(f"[bold]{spec.title}[/bold]")
    console.print(f"{spec.n:,} records, {spec.neighbours} neighbours, unit of privacy: {spec.unit}")
    console.print(f"{len(spec.columns)} columns, {found.finest_cells:,} cells at the finest refinement\n")
    _print_families(console, found)
    _print_budget(console, found)
    _print_noise(console, found, summary is not None)
    if summary is not None:
        _print_public(console, summary)


def _grid(title: str, *columns: str, numeric: tuple[str, ...] = ()) -> Grid:
    grid = Grid(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for name in columns:
        justify = "right" if name in numeric else "left"
        grid.add_column(name, justify=justify, header_style="dim", no_wrap=name in numeric)  # type: ignore[arg-type]
    return grid


def _print_families(console: Console, found: Check) -> None:
    space = found.specification.space
    grid = _grid("Configurations", "family", "configurations", "", numeric=("configurations",))
    for line in found.families:
        grid.add_row(line.family, f"{line.configurations:,}", line.note)
    grid.add_row("all", f"{space.size:,}", f"{space.pure().size:,} in pure mode")
    console.print(grid, "")


def _print_budget(console: Console, found: Check) -> None:
    grid = _grid("Budget", "part", "epsilon", "", numeric=("epsilon",))
    for line in found.budget:
        grid.add_row(line.part, _epsilon(line.epsilon), line.note)
    declared = _epsilon(found.specification.budget.total)
    grid.add_row("[bold]total[/bold]", f"[bold]{_epsilon(found.total)}[/bold]", f"declared {declared}")
    console.print(grid, "")


def _print_noise(console: Console, found: Check, from_public: bool) -> None:
    source = "sizes from the public file" if from_public else "sizes from `planning`"
    numeric = ("threshold", "tested at", "epsilon", "sensitivity", "noise scale", "share")
    grid = _grid(f"Noise beside thresholds ({source})", "criterion", *numeric, "", numeric=numeric)
    for line in found.noise:
        share = "" if line.share is None else f"{line.share:.0%}"
        grid.add_row(
            line.criterion,
            f"{float(line.threshold):g}",
            f"{line.tested_at:.4g}",
            _epsilon(line.epsilon),
            "?" if line.sensitivity is None else f"{line.sensitivity:.3g}",
            "?" if line.scale is None else f"{line.scale:.3g}",
            share,
            line.note,
        )
    console.print(grid, "")
    console.print(
        "share: the noise scale as a part of the value tested at; noise above a third can hide the answer."
    )


def _print_public(console: Console, summary: PublicSummary) -> None:
    console.print()
    console.print(f"[bold]Public file[/bold]  {summary.n:,} records, {summary.distinct:,} distinct rows")
    grid = _grid("Smallest counts", "column", "one-way", "group", numeric=("one-way", "group"))
    for name, count in summary.smallest.items():
        group = summary.groups.get(name)
        grid.add_row(name, f"{count:,}", "" if group is None else f"{group:,}")
    console.print(grid)


def _epsilon(value: Any) -> str:
    """An epsilon for people: at most six digits, rounded up."""
    exact = show_decimal(value)
    return exact if len(exact) < 9 else f"{-(-value * 10**6 // 1) / 10**6:g}"


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


def main() -> None:
    """Run the program; every error becomes one line and an exit code."""
    as_json = "--json" in sys.argv
    try:
        app(standalone_mode=True)
    except FacsimileError as error:
        _fail(error, as_json)
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        sys.exit(130)
    except Exception:
        _fail(refusal("E700"), as_json)


def _fail(error: FacsimileError, as_json: bool) -> None:
    if as_json:
        _print_json(error.as_json())
    else:
        typer.echo(str(error), err=True)
    sys.exit(error.exit_code)

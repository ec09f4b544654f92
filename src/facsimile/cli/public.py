"""The commands that try one part on public files: simulate, evaluate, synthesize."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import (
    EPSILON,
    Alternatives,
    AsJson,
    Public,
    SpecFile,
    epsilon_of,
    refuse_unless,
    source,
)
from facsimile.cli.page import print_json, show
from facsimile.cli.progress import busy
from facsimile.errors import refusal
from facsimile.sources.address import Address
from facsimile.spec.choices import Statistic


def simulate_command(
    facts: Annotated[Path, typer.Argument(metavar="FACTS", help="Published tables, a YAML file.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="CSV or Parquet, by its ending.")],
    records: Annotated[int, typer.Option("-n", "--records", min=1, max=10**9, help="How many records.")],
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same file.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Make stand-in microdata from published facts alone; no confidential data is involved.

    Example: facsimile simulate examples/births/facts.yaml -n 165915 --seed 1 -o births.csv
    """
    from facsimile.api.public import simulate

    with busy(f"Simulating {records:,} records", as_json):
        made = simulate(facts, records, seed=seed)
        made.save(out)
    if as_json:
        print_json(made.as_json() | {"file": out.name})
    else:
        typer.echo(f"{records:,} simulated records in {out.name}: {made.title}")


def evaluate_command(
    spec: SpecFile,
    real: Annotated[Address, source("The original, a public source.")],
    synthetic: Annotated[Address, source("The synthetic one.")],
    public: Annotated[
        bool, typer.Option("--public", help="Both files are public: exact figures may be shown.")
    ] = False,
    statistic: Annotated[
        Statistic | None, typer.Option(help="Show each criterion in this form too, as a release tests it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure every criterion exactly between two public files; for public data only.

    Example: facsimile evaluate examples/births/released.yaml --real a.csv --synthetic b.csv --public
    """
    from facsimile.api.public import evaluate

    refuse_unless(public)
    with busy("Evaluating", as_json):
        found = evaluate(spec, real, synthetic, public=True, statistic=statistic)
    show(found, as_json)


def synthesize_command(
    spec: SpecFile,
    data: Annotated[Address, source("A public source of raw values.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="CSV or Parquet, by its ending.")],
    family: Annotated[
        str | None, typer.Option(help="The generator, as `families` names it; default: the first.")
    ] = None,
    epsilon: Annotated[str, typer.Option(help="What the generator may spend.")] = "1",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same file.")] = 1,
    alternatives: Alternatives = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Another hyperparameter than the specification's; may be repeated.",
        ),
    ] = None,
    prior: Annotated[Address | None, source("Another public source, to start from.")] = None,
    public: Public = False,
    as_json: AsJson = False,
) -> None:
    """Run one generator alone on public data: a rehearsal, without protection.

    It is the specification's first configuration, with its hyperparameters, unless options say otherwise.

    Example: facsimile synthesize examples/births/released.yaml --data births.csv --public -o synthetic.csv
    """
    from facsimile.api.public import fit

    refuse_unless(public)
    spent, chosen = epsilon_of(epsilon, refusal("E200", problem=EPSILON)), _settings(settings or [])
    with busy(f"Fitting {family or 'a generator'}", as_json):
        fitted = fit(
            spec, data, public=True, family=family, epsilon=spent, seed=seed,
            hyperparameters=chosen, alternatives=alternatives, prior=prior,
        )  # fmt: skip
        fitted.sample().save(out)
    if as_json:
        print_json(fitted.as_json() | {"file": out.name})
    else:
        made = f"{fitted.n:,} synthetic records in {out.name}: {fitted.family}, {fitted.loss}"
        typer.echo(f"{made}. A rehearsal on public data.")


def _settings(texts: list[str]) -> dict[str, str]:
    """KEY=VALUE, as a specification writes hyperparameters."""
    pairs = [text.partition("=") for text in texts]
    for key, sign, _ in pairs:
        if not key or not sign:
            raise refusal("E200", problem="A hyperparameter is written KEY=VALUE.")
    return {key.strip(): value.strip() for key, _, value in pairs}


COMMANDS = {"simulate": simulate_command, "evaluate": evaluate_command, "synthesize": synthesize_command}

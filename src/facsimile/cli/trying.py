"""The commands that try one part on public files: simulate, evaluate, synthesize."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, Public, SpecFile, source
from facsimile.cli.page import Page, print_json
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
    from facsimile.explore.facts import load_facts
    from facsimile.explore.simulate import simulate
    from facsimile.release.writing import save

    known = load_facts(facts)
    with busy(f"Simulating {records:,} records", as_json):
        save(simulate(known, records, seed), out)
    if as_json:
        print_json({"title": known.title, "records": records, "seed": seed, "file": out.name})
    else:
        typer.echo(f"{records:,} simulated records in {out.name}: {known.title}")


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
    from facsimile.release.evaluate import evaluate
    from facsimile.spec.load import load

    if not public:
        raise refusal("E208")
    specification = load(spec)
    with busy("Evaluating", as_json):
        found = evaluate(specification, real, synthetic, form=statistic)
    if as_json:
        print_json(found.as_json())
        return
    page = Page()
    page.heading(specification.title)
    page.line(f"{found.n:,} records, exact figures without any protection")
    rows = [
        (
            v.name,
            "none" if v.value is None else f"{v.value:.4g}",
            f"{float(v.threshold):g}",
            "met" if v.met else "not met",
        )
        for v in found.verdicts
    ]
    page.table("Criteria", "criterion|>error|>threshold|_", rows)
    if found.tested is not None:
        tested = [
            (
                v.name,
                *(
                    ("none",) * 4
                    if t is None
                    else ("" if x is None else f"{x:.4g}" for x in (t.value, t.limit, t.sensitivity, t.scale))
                ),
            )
            for v, t in zip(found.verdicts, found.tested, strict=True)
        ]
        page.table(f"As tested, form {statistic}", "criterion|>value|>limit|>sensitivity|>noise", tested)
    faces = found.faces
    page.line(f"\nRows: every one occurs at least {faces.min_count:,} times, {faces.unique_rows:,} are unique.")
    page.line(f"Any {faces.b} columns: the rarest combination occurs {faces.smallest_group:,} times.")
    page.line("Accepted." if found.accepted else "Not accepted.")


def synthesize_command(
    spec: SpecFile,
    data: Annotated[Address, source("A public source of raw values.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="CSV or Parquet, by its ending.")],
    family: Annotated[str, typer.Option(help="The generator, as `families` names it.")] = "workload",
    epsilon: Annotated[str, typer.Option(help="What the generator may spend.")] = "1",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same file.")] = 1,
    alternatives: Annotated[
        str | None, typer.Option(metavar="NAME", help="The alternative of every column; default: the first.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A hyperparameter; may be repeated.")
    ] = None,
    prior: Annotated[Address | None, source("Another public source, to start from.")] = None,
    public: Public = False,
    as_json: AsJson = False,
) -> None:
    """Run one generator alone on public data: a rehearsal, without protection.

    Example: facsimile synthesize examples/births/released.yaml --data births.csv --public -o synthetic.csv
    """
    from facsimile.release.check import show_upper
    from facsimile.release.synthesize import fit
    from facsimile.release.writing import save
    from facsimile.spec.load import load

    if not public:
        raise refusal("E208")
    specification = load(spec)
    with busy(f"Fitting {family}", as_json):
        fitted = fit(specification, data, family, epsilon, seed, _settings(settings or []), alternatives, prior)
        save(fitted.sample(), out)
    n = fitted.recipe.specification.n
    spent = show_upper(fitted.spent)
    if as_json:
        found = {
            "rehearsal": True,
            "family": family,
            "records": n,
            "epsilon": float(fitted.spent),
            "seed": seed,
        }
        print_json(found | {"file": out.name})
    else:
        typer.echo(
            f"{n:,} synthetic records in {out.name}: {family}, epsilon {spent}. A rehearsal on public data."
        )


def _settings(texts: list[str]) -> dict[str, str]:
    """KEY=VALUE, as a specification writes hyperparameters."""
    pairs = [text.partition("=") for text in texts]
    for key, sign, _ in pairs:
        if not key or not sign:
            raise refusal("E200", problem="A hyperparameter is written KEY=VALUE.")
    return {key.strip(): value.strip() for key, _, value in pairs}


COMMANDS = {"simulate": simulate_command, "evaluate": evaluate_command, "synthesize": synthesize_command}

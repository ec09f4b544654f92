"""The command line: a command parses, calls one function, prints.

Exit codes: 0 done, 1 internal, 2 refused, 3 budget, 4 ledger, 5 verify, 6 no release, 130 stopped.
"""

from __future__ import annotations

import io
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from facsimile import __version__
from facsimile.cli import exploring
from facsimile.cli.page import Page, busy, print_json
from facsimile.errors import FacsimileError, refusal
from facsimile.explore.demo import demonstrate
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.ledger import Ledger, State
from facsimile.privacy.ledger import shown as _micro
from facsimile.privacy.reader import read_public
from facsimile.release.check import Check, check, show_upper
from facsimile.release.evaluate import evaluate
from facsimile.release.opening import cap_of, open_ledger
from facsimile.release.plan import plan_hash, plan_of
from facsimile.release.public import PublicSummary, assumptions, summarise
from facsimile.release.run import Request, patient, rehearsal, release
from facsimile.release.synthesize import fit
from facsimile.release.verify import verify
from facsimile.release.writing import save
from facsimile.spec.criteria import Statistic
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import load, schema

STOPPED = 130
UsageError = cast("type[Exception]", typer.BadParameter.__bases__[0])

app = typer.Typer(
    name="facsimile",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
SpecFile = Annotated[Path, typer.Argument(metavar="SPEC", help="The specification, a YAML file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.callback(invoke_without_command=True)
def program(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Differentially private releases of microdata.

    Example: facsimile check examples/births/release.yaml
    """
    if version:
        typer.echo(f"facsimile {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


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
    found = check(specification, assumptions(summary, specification.n) if summary else None)
    if as_json:
        print_json(check_as_json(found, summary))
    else:
        _print_check(found, summary)


@app.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of specifications, for editors.

    Example: facsimile schema > facsimile.schema.json
    """
    print_json(schema())


@app.command("simulate")
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
    known = load_facts(facts)
    with busy(f"Simulating {records:,} records", as_json):
        save(simulate(known, records, seed), out)
    if as_json:
        print_json({"title": known.title, "records": records, "seed": seed, "file": out.name})
    else:
        typer.echo(f"{records:,} simulated records in {out.name}: {known.title}")


@app.command("evaluate")
def evaluate_command(
    spec: SpecFile,
    real: Annotated[Path, typer.Option(metavar="FILE", help="The original, a public file.")],
    synthetic: Annotated[Path, typer.Option(metavar="FILE", help="The synthetic file.")],
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
                    else (f"{x:.4g}" for x in (t.value, t.limit, t.sensitivity, t.scale))
                ),
            )
            for v, t in zip(found.verdicts, found.tested, strict=True)
        ]
        page.table(f"As tested, form {statistic}", "criterion|>value|>limit|>sensitivity|>noise", tested)
    faces = found.faces
    page.line(f"\nRows: every one occurs at least {faces.min_count:,} times, {faces.unique_rows:,} are unique.")
    page.line(f"Any {faces.b} columns: the rarest combination occurs {faces.smallest_group:,} times.")
    page.line("Accepted." if found.accepted else "Not accepted.")


@app.command("release")
def release_command(
    spec: SpecFile,
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="The confidential file, or a public one to rehearse.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="The bundle: a new folder.")],
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The ledger of the dataset; made where there is none.")
    ] = None,
    anchor: Annotated[Path | None, typer.Option(metavar="FILE", help="Its anchor; default: beside it.")] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An Ed25519 key that signs the bundle.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Candidates tried at the same time.")] = 1,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Public data, seeded noise, no protection.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of a rehearsal.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a release: search, test and measure under one charge, and write the bundle.

    Example: facsimile release release.yaml --data births.csv --ledger births.ledger --out bundle
    """
    if seed is not None and not rehearse:
        raise refusal("E206")
    if rehearse and seed is None:
        raise refusal("E001", problem="A rehearsal needs --seed.", command="facsimile release")
    if not rehearse and ledger is None:
        raise refusal("E001", problem="A release needs --ledger.", command="facsimile release")
    request = Request(load(spec), data, out, ledger, anchor, key, workers)
    if seed is None:
        with busy("Releasing: this takes as long as it takes, and tells nothing", as_json), patient():
            made = release(request)
        _print_release(made.as_json(), as_json, out)
        return
    with busy("Rehearsing", as_json):
        tried = rehearsal(request, seed)
    if tried.report is None:
        raise refusal("E601")
    shown = {
        "iterations": tried.iterations,
        "exact": [{"name": v.name, "value": v.value, "met": v.met} for v in tried.exact],
    }
    _print_release(tried.report.as_json() | {"rehearsed": shown}, as_json, out)


def _print_release(said: dict[str, Any], as_json: bool, out: Path) -> None:
    if as_json:
        print_json(said)
        return
    page = Page()
    page.heading(said["title"])
    kind = "rehearsed, without protection" if said["rehearsal"] else "released"
    page.line(f"{said['records']:,} synthetic records {kind}, epsilon {said['epsilon']}, by {said['family']}")
    exact = {line["name"]: line["value"] for line in said.get("rehearsed", {}).get("exact", ())}
    rows = [
        (c["name"], _figure(c["value"]), _figure(c["bound"]), f"{c['threshold']:g}")
        + ((_figure(exact[c["name"]]),) if exact else ())
        for c in said["criteria"]
    ]
    page.table("Criteria", "criterion|>measured|>95 % bound|>threshold" + ("|>exact" if exact else ""), rows)
    if exact:
        page.line(f"\nCandidates tried: {said['rehearsed']['iterations']}")
    page.line(f"\nThe page to read first: {out / 'README.html'}")


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


@app.command("plan-hash")
def plan_hash_command(spec: SpecFile, as_json: AsJson = False) -> None:
    """Print the hash of the whole promise; it can be published before the run.

    Example: facsimile plan-hash examples/births/release.yaml
    """
    specification = load(spec)
    check(specification)
    found = plan_hash(specification)
    if as_json:
        print_json({"plan_hash": found, "epsilon": show_upper(plan_of(specification).total().epsilon)})
    else:
        typer.echo(found)


@app.command("verify")
def verify_command(
    folder: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder of a release.")],
    signed_by: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The publisher's key, a PEM file or fingerprint: no other may sign."),
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan-hash", metavar="HASH", help="The hash of a plan registered before.")
    ] = None,
    allow_rehearsal: Annotated[
        bool, typer.Option("--allow-rehearsal", help="Do not refuse a bundle for being a rehearsal.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a bundle against itself, a key and a plan that you name: no confidential data is needed.

    Example: facsimile verify bundle --signed-by publisher.pem
    """
    with busy("Verifying", as_json):
        found = verify(folder, allow_rehearsal, signed_by, plan)
    if as_json:
        print_json({"verified": True, **asdict(found)})
        return
    page = Page()
    page.heading(found.title)
    page.line(f"{found.records:,} records, epsilon {found.epsilon}, plan {found.plan_hash}")
    page.line("Signed by the key " + found.signed_by if found.signed_by else "Not signed.")
    if not found.rendered:
        page.line("Another version made the documents: their hashes fit, their words were not made again.")
    page.line("Every figure follows from the specification, the data and the noisy answers.")
    if found.plan_checked:
        page.line("The plan is the one you named.")
    unknown = "Self-consistent; who made it was not checked."
    page.line("Verified: the key you named signed it." if found.signer_checked else unknown)
    if found.rehearsal:
        page.line("A REHEARSAL: not a release.")


@app.command("demo")
def demo_command(
    example: Annotated[
        Path, typer.Option(metavar="DIR", help="An example: facts.yaml, narrowed.yaml and ours.yaml.")
    ] = Path("examples/births"),
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="A folder for what is made.")] = Path(
        "demo"
    ),
    as_json: AsJson = False,
) -> None:
    """Simulate records, rehearse the births paper's release and a cheaper one, verify both.

    Example: facsimile demo
    """
    found = demonstrate(example, out, (lambda _: None) if as_json else typer.echo)
    told = {
        name: None if tried.report is None else tried.report.as_json() | {"iterations": tried.iterations}
        for name, tried in (("paper", found.paper), ("ours", found.ours))
    }
    if as_json:
        print_json({**told, "pages": [str(page) for page in found.pages]})
        return
    page = Page()
    lines = zip(*(said["criteria"] for said in told.values() if said is not None), strict=True)
    rows = [(p["name"], _figure(p["threshold"]), _figure(p["value"]), _figure(o["value"])) for p, o in lines]
    spent = [said["epsilon"] for said in told.values() if said is not None]
    page.table("Measured with noise", f"criterion|>threshold|>epsilon {spent[0]}|>epsilon {spent[-1]}", rows)
    for path in found.pages:
        page.line(f"\nThe page to read: {path}")


@app.command("synthesize")
def synthesize_command(
    spec: SpecFile,
    data: Annotated[Path, typer.Option(metavar="FILE", help="A public file of raw values.")],
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
    prior: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Another public file, to start from.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="The file is public: nothing is protected.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run one generator alone on public data: a rehearsal, without protection.

    Example: facsimile synthesize examples/births/released.yaml --data births.csv --public -o synthetic.csv
    """
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


for name, command in exploring.COMMANDS.items():
    app.command(name)(command)

ledger_app = typer.Typer(name="ledger", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(ledger_app)
LedgerFile = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger.")]
AnchorFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Its anchor; default: FILE.anchor beside it.")
]


@ledger_app.callback()
def ledger_program() -> None:
    """Look at a budget ledger.

    Example: facsimile ledger show births.ledger
    """


@ledger_app.command("new")
def ledger_new(
    file: LedgerFile,
    data: Annotated[Path, typer.Option(metavar="FILE", help="The confidential file it counts for.")],
    cap: Annotated[str, typer.Option(metavar="EPSILON", help="What may be spent in all; it never changes.")],
    anchor: AnchorFile = None,
    again: Annotated[
        bool, typer.Option("--again", help="The data has a ledger: open another one, on purpose.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open a ledger for a confidential file: how much may be spent on it in all.

    Data has one ledger. With --again it gets another: what the earlier ones had spent is carried into its first
    entry and stands in every later document.

    Example: facsimile ledger new births.ledger --data births.csv --cap 2 --anchor /safe/births.anchor
    """
    state = open_ledger(data, file, anchor, cap_of(cap), again)
    if as_json:
        print_json(_ledger_as_json(state))
        return
    page = Page()
    page.heading(f"Ledger {state.identifier}")
    page.line(
        f"{_micro(state.cap)} may be spent on {data.name}. The cap never changes; nothing is ever refunded."
    )
    if state.before:
        page.line(f"Earlier ledgers of this data had spent {_micro(state.before)}; every release will say so.")
    page.line("Back up the ledger, its anchor and the dataset key together; keep the anchor in another place.")


@ledger_app.command("show")
def ledger_show(file: LedgerFile, anchor: AnchorFile = None, as_json: AsJson = False) -> None:
    """Show what was charged, for what, and what remains; the ledger is verified first.

    Example: facsimile ledger show births.ledger
    """
    state = Ledger.at(file, anchor).state()
    if as_json:
        print_json({**_ledger_as_json(state), "entries": state.entries})
        return
    page = Page()
    page.heading(f"Ledger {state.identifier}")
    page.line(f"spent {_micro(state.spent)} of {_micro(state.cap)}, {_micro(state.remaining)} remain")
    endings = {entry["charge"]: entry["kind"] for entry in state.entries if "charge" in entry}
    charges = [entry for entry in state.entries if entry["kind"] == "charge"]
    page.table(
        "Charges",
        ">number|day|>epsilon|ended|purpose",
        [
            (str(c["seq"]), c["day"], _micro(c["micro"]), endings.get(c["seq"], "open"), c["purpose"])
            for c in charges
        ],
    )


@ledger_app.command("verify")
def ledger_verify(file: LedgerFile, anchor: AnchorFile = None, as_json: AsJson = False) -> None:
    """Verify every line, number and hash of a ledger, and that its anchor fits.

    Example: facsimile ledger verify births.ledger
    """
    state = Ledger.at(file, anchor).state()
    if as_json:
        print_json(_ledger_as_json(state))
    else:
        typer.echo(f"The ledger is whole: {state.sequence + 1} entries, head {state.head[:16]}.")


def _ledger_as_json(state: State) -> dict[str, Any]:
    return {
        "id": state.identifier,
        "sequence": state.sequence,
        "head": state.head,
        "cap": _micro(state.cap),
        "spent": _micro(state.spent),
        "before": _micro(state.before),
        "remaining": _micro(state.remaining),
    }


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
    page.table("Configurations", "family|>number|_", rows)


def _print_budget(page: Page, found: Check) -> None:
    rows = [(line.part, show_upper(line.epsilon), line.note) for line in found.budget]
    declared = show_upper(found.specification.budget.total)
    rows.append(("total", show_upper(found.total), f"declared {declared}"))
    page.table("Budget", "part|>epsilon|_", rows)


def _print_noise(page: Page, found: Check, from_public: bool) -> None:
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
    page.line("Above a third, noise can hide the answer.")
    page.table(
        "Sensitivities: how far one record can move each criterion",
        "criterion|>sensitivity|_",
        (
            (line.criterion, "?" if line.sensitivity is None else f"{line.sensitivity:.3g}", line.note)
            for line in found.noise
        ),
    )
    page.line(f"Sizes come from {source}.")


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


def main() -> None:
    """Run the program; every error becomes one line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        code = app(standalone_mode=False) or 0
    except FacsimileError as error:
        code = _fail(error)
    except UsageError as error:
        code = _fail(refusal("E001", problem=_one_line(error), command=_command(error)))
    except Exception:
        code = _fail(refusal("E700"))
    if code == STOPPED:
        typer.echo("Stopped.", err=True)
    sys.exit(code)


def _one_line(error: Any) -> str:
    words = " ".join(str(error.format_message()).split())
    return words if words.endswith((".", "?")) else f"{words}."


def _command(error: Any) -> str:
    return error.ctx.command_path if error.ctx else "facsimile"


def _fail(error: FacsimileError) -> int:
    if "--json" in sys.argv:
        print_json(error.as_json())
    else:
        typer.echo(str(error), err=True)
    return error.exit_code

"""The commands of a release: release, verify, demo."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from facsimile.cli.ledgers import BACKUP
from facsimile.cli.options import AsJson, DatasetKey, SpecFile, source
from facsimile.cli.page import Page, print_json, said_or
from facsimile.cli.progress import busy
from facsimile.errors import refusal
from facsimile.sources.address import Address

if TYPE_CHECKING:
    from facsimile.release.run import Request


def release_command(
    spec: SpecFile,
    data: Annotated[Address, source("The confidential data, or public ones to rehearse.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="The bundle: a new folder.")],
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The ledger of the dataset; made where there is none.")
    ] = None,
    anchor: Annotated[Path | None, typer.Option(metavar="FILE", help="Its anchor; default: beside it.")] = None,
    dataset_key: DatasetKey = None,
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
    from facsimile.release.check import load_checked
    from facsimile.release.run import Request, patient, rehearsal, release

    if seed is not None and not rehearse:
        raise refusal("E206")
    if rehearse and seed is None:
        raise refusal("E001", problem="A rehearsal needs --seed.", command="facsimile release")
    if not rehearse and ledger is None:
        raise refusal("E001", problem="A release needs --ledger.", command="facsimile release")
    request = Request(load_checked(spec), data, out, ledger, anchor, key, workers, dataset_key)
    if seed is None:
        with (
            _told_of_a_new_ledger(request, as_json),
            busy("Releasing: this takes as long as it takes, and tells nothing", as_json, at_once=True),
        ):
            made = release(request, patient)
        _print_release(made.as_json(), as_json, out)
        return
    with busy("Rehearsing", as_json):
        tried = rehearsal(request, seed)
    if tried.report is None:
        raise refusal("E605")
    shown = {
        "iterations": tried.iterations,
        "exact": [{"name": v.name, "value": v.value, "met": v.met} for v in tried.exact],
    }
    _print_release(tried.report.as_json() | {"rehearsed": shown}, as_json, out)


@contextlib.contextmanager
def _told_of_a_new_ledger(request: Request, as_json: bool) -> Iterator[None]:
    """Say so, however the release ended, where it began the ledger of its data."""
    from facsimile.spec.decimals import show_decimal

    ledger, cap = request.ledger, show_decimal(request.specification.budget.total)
    there = ledger is not None and ledger.exists()
    try:
        yield
    finally:
        if ledger is not None and not there and not as_json and ledger.exists():
            begun = f"A ledger was begun: {ledger}. {cap} may be spent on {request.data.name} in all,"
            with said_or(begun):
                typer.echo(f"{begun}\nwhich is confidential from now on. {BACKUP}\n")


def _print_release(said: dict[str, Any], as_json: bool, out: Path) -> None:
    with said_or(f"The release is made and stands in {out}; its summary could not be printed."):
        print_json(said) if as_json else _print_summary(said, out)


def _print_summary(said: dict[str, Any], out: Path) -> None:
    from facsimile.documents.numerals import above, holding, standing_in

    page = Page()
    page.heading(said["title"])
    kind = "rehearsed, without protection" if said["rehearsal"] else "released"
    page.line(f"{said['records']:,} synthetic records {kind}, epsilon {said['epsilon']}, by {said['family']}")
    exact = {line["name"]: line["value"] for line in said.get("rehearsed", {}).get("exact", ())}
    rows = [
        (c["name"], _figure(c["value"]), above(c["bound"]), _limit(c))
        + ((_figure(exact[c["name"]]),) if exact else ())
        for c in said["criteria"]
    ]
    page.table("Criteria", "criterion|>measured|>bound|>threshold" + ("|>exact" if exact else ""), rows)
    bounded = [c for c in said["criteria"] if c["bound"] is not None]
    if bounded:
        page.line(f"\n{holding(len(bounded), said['confidence']['together'])}")
        page.line(standing_in(c["name"] for c in bounded if c["stands"] != "itself"))
    if exact:
        page.line(f"\nCandidates tried: {said['rehearsed']['iterations']}")
    page.line(f"\nThe page to read first: {out / 'README.html'}")


def _limit(criterion: dict[str, Any]) -> str:
    """The threshold; of a ratio that is tested below it, that value too."""
    tested = "" if criterion.get("luck") is None else f", tested at {criterion['tested_at']:g}"
    return f"{criterion['threshold']:g}{tested}"


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


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
    from facsimile.documents.numerals import holding, standing_in
    from facsimile.release.verify import verify

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
    if found.bounds:
        page.line(holding(found.bounds, found.confidence))
        page.line(standing_in(found.standing_in))
    if found.plan_checked:
        page.line("The plan is the one you named.")
    unknown = "Self-consistent; who made it was not checked."
    page.line("Verified: the key you named signed it." if found.signer_checked else unknown)
    if found.rehearsal:
        page.line("A REHEARSAL: not a release.")


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
    from facsimile.explore.demo import demonstrate

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


COMMANDS = {"release": release_command, "verify": verify_command, "demo": demo_command}

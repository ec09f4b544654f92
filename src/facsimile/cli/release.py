"""The commands of a release: release, verify, demo."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from facsimile.cli.options import AsJson, DatasetKey, SpecFile, source
from facsimile.cli.page import print_json, print_page, said_or, show
from facsimile.cli.progress import busy
from facsimile.errors import refusal
from facsimile.sources.address import Address

if TYPE_CHECKING:
    from facsimile.spec.release import Budget


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
    audit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An audit of this machine (JSON) for the bundle."),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The log of decisions beside the specification, for the bundle."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a release: search, test and measure under one charge, and write the bundle.

    Example: facsimile release release.yaml --data births.csv --ledger births.ledger --out bundle
    """
    from facsimile.api.releases import release
    from facsimile.release.check import load_checked

    if seed is not None and not rehearse:
        raise refusal("E206")
    if rehearse and seed is None:
        raise refusal("E001", problem="A rehearsal needs --seed.", command="facsimile release")
    if not rehearse and ledger is None:
        raise refusal("E001", problem="A release needs --ledger.", command="facsimile release")
    specification = load_checked(spec)
    words = "Rehearsing" if rehearse else "Releasing: this takes as long as it takes, and tells nothing"
    with (
        _told_of_a_new_ledger(ledger, specification.budget, data, as_json),
        busy(words, as_json, at_once=not rehearse),
    ):
        made = release(
            specification, data, out, ledger=ledger, anchor=anchor, dataset_key=dataset_key, key=key,
            workers=workers, rehearse=rehearse, seed=seed, audit=audit, decisions=decisions,
        )  # fmt: skip
    with said_or(f"The release is made and stands in {out}; its summary could not be printed."):
        show(made, as_json)


@contextlib.contextmanager
def _told_of_a_new_ledger(ledger: Path | None, budget: Budget, data: Address, as_json: bool) -> Iterator[None]:
    """Say so, however the release ended, where it began the ledger of its data."""
    from facsimile.api.ledgers import BACKUP
    from facsimile.spec.decimals import show_decimal

    there = ledger is not None and ledger.exists()
    try:
        yield
    finally:
        if ledger is not None and not there and not as_json and ledger.exists():
            delta = f", with delta {show_decimal(budget.delta)}," if budget.delta else ""
            cap = f"{show_decimal(budget.total)}{delta}"
            begun = f"A ledger was begun: {ledger}. {cap} may be spent on {data.name} in all,"
            with said_or(begun):
                typer.echo(f"{begun}\nwhich is confidential from now on. {BACKUP}\n")


def verify_command(
    folder: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder of a release.")],
    signed_by: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The publisher's key, a PEM file or fingerprint: no other may sign."),
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan-hash", metavar="HASH", help="The hash of a plan registered before.")
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The public file that the plan leans on, to be held against it."),
    ] = None,
    allow_rehearsal: Annotated[
        bool, typer.Option("--allow-rehearsal", help="Do not refuse a bundle for being a rehearsal.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a bundle against itself, a key, a plan and a prior that you name: no confidential data is needed.

    Example: facsimile verify bundle --signed-by publisher.pem
    """
    from facsimile.api.releases import verify

    with busy("Verifying", as_json):
        found = verify(
            folder, signed_by=signed_by, plan_hash=plan, prior=prior, allow_rehearsal=allow_rehearsal
        )
    show(found, as_json)


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
    from facsimile.api.releases import figure
    from facsimile.explore.demo import demonstrate
    from facsimile.results import Page

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
    rows = [(p["name"], figure(p["threshold"]), figure(p["value"]), figure(o["value"])) for p, o in lines]
    spent = [said["epsilon"] for said in told.values() if said is not None]
    page.table("Measured with noise", f"criterion|>threshold|>epsilon {spent[0]}|>epsilon {spent[-1]}", rows)
    print_page(page, *(f"\nThe page to read: {path}" for path in found.pages))


COMMANDS = {"release": release_command, "verify": verify_command, "demo": demo_command}

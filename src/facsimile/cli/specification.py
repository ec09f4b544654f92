"""The commands about a specification alone: check, schema, plan-hash."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, SpecFile, source
from facsimile.cli.page import print_json, show
from facsimile.sources.address import Address


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
    from facsimile.api.specifications import check
    from facsimile.cli.progress import busy

    with nullcontext() if public is None else busy("Looking at the public file", as_json):
        found = check(spec, public)
    show(found, as_json)


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
    from facsimile.spec.decimals import show_decimal

    specification = load_checked(spec)
    found = plan_hash(specification)
    if as_json:
        total = plan_of(specification).total()
        delta = {"delta": show_decimal(total.delta)} if total.delta else {}
        print_json({"plan_hash": found, "epsilon": show_upper(total.epsilon), **delta})
    else:
        typer.echo(found)


COMMANDS = {"check": check_command, "schema": schema_command, "plan-hash": plan_hash_command}

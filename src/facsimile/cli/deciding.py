"""The commands of `facsimile spec` that decide something: set, comment, sign, log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from facsimile.cli.options import AsJson, SpecFile
from facsimile.cli.page import show
from facsimile.errors import refusal

By = Annotated[str, typer.Option(metavar="NAME", help="Who decides.")]
Why = Annotated[str, typer.Option(metavar="REASON", help="Why.")]
Role = Annotated[str, typer.Option(metavar="ROLE", help="In which role.")]
Item = Annotated[
    str, typer.Argument(metavar="ITEM", help="What, such as budget.total or criteria.mean-age.threshold.")
]


def set_command(
    spec: SpecFile,
    item: Item,
    value: Annotated[
        str | None, typer.Argument(metavar="VALUE", help="As it is written in the file; quote it.")
    ] = None,
    by: By = "",
    why: Why = "",
    role: Role = "",
    remove: Annotated[bool, typer.Option("--remove", help="Take the item away instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set an item of a specification, with a name and a reason for the log; the rest of the file stays.

    Example: facsimile spec set release.yaml budget.total 1.4 --by "A. Bell" --why "Agreed on 3 March"
    """
    from facsimile.api.decisions import set_item

    if (value is None) != remove:
        problem = "Give a value, or --remove."
        raise refusal("E001", problem=problem, command="facsimile spec set")
    show(set_item(spec, item, value, by=by, why=why, role=role), as_json)


def comment_command(
    spec: SpecFile,
    item: Item,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What there is to say; quote it.")],
    by: By = "",
    role: Role = "",
    as_json: AsJson = False,
) -> None:
    """Say something of an item, in the log beside the specification.

    Example: facsimile spec comment release.yaml budget "Is this enough?" --by "A. Bell"
    """
    from facsimile.api.decisions import comment

    show(comment(spec, item, words, by=by, role=role), as_json)


def sign_command(spec: SpecFile, by: By = "", role: Role = "", why: Why = "", as_json: AsJson = False) -> None:
    """Sign the plan of a specification as it is; its hash goes into the log.

    Example: facsimile spec sign release.yaml --by "A. Bell" --role "Data protection officer"
    """
    from facsimile.api.decisions import sign

    show(sign(spec, by=by, role=role, why=why), as_json)


def log_command(spec: SpecFile, by: By = "", why: Why = "", role: Role = "", as_json: AsJson = False) -> None:
    """Show who decided what; with a name and a reason, note first what was changed in the file by other means.

    Example: facsimile spec log release.yaml
    """
    from facsimile.api.decisions import decisions, note

    show(note(spec, by=by, why=why, role=role) if by or why else decisions(spec), as_json)


COMMANDS: dict[str, Callable[..., None]] = {
    "set": set_command,
    "comment": comment_command,
    "sign": sign_command,
    "log": log_command,
}

"""Decisions: change, comment on and sign a specification, and read the log of who did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.api.given import path_of
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.agreement.agreed import Agreed, Author
    from facsimile.documents.decisions import Decisions


def set_item(
    specification: Path | str, item: str, value: str | None, by: str, why: str, role: str = ""
) -> Decided:
    """Set an item of a specification's file, or take it away (None); the rest of the file stays as it is.

    `item` is a name such as `budget.total` or `criteria.mean-age.threshold`, `value` is written as in the file.

    >>> facsimile.set_item("release.yaml", "budget.total", "1.4", by="Ada", why="Board")  # doctest: +SKIP
    """
    from facsimile.agreement.agreed import GONE, Change
    from facsimile.spec.text import read

    given = GONE if value is None else read(value).data
    return _decided(specification, lambda agreed, who: agreed.change([Change(item, given)], who, why), by, role)


def note(specification: Path | str, by: str, why: str, role: str = "") -> Decided:
    """Note in the log what was changed in a specification's file since its last entry.

    >>> facsimile.note("release.yaml", by="Ada", why="Agreed on by mail.")  # doctest: +SKIP
    """
    return _decided(specification, lambda agreed, who: agreed.note(who, why), by, role)


def comment(specification: Path | str, item: str, words: str, by: str, role: str = "") -> Decided:
    """Say something of an item of a specification, in its log.

    >>> facsimile.comment("release.yaml", "budget", "Is this enough?", by="Ada")  # doctest: +SKIP
    """
    return _decided(specification, lambda agreed, who: agreed.comment(item, words, who), by, role)


def sign(specification: Path | str, by: str, role: str, why: str = "") -> Decided:
    """Sign the plan of a specification as it is, in a role.

    >>> facsimile.sign("release.yaml", by="Ada", role="Data protection officer")  # doctest: +SKIP
    """
    return _decided(specification, lambda agreed, who: agreed.sign(who, why=why), by, role)


def decisions(specification: Path | str) -> Decided:
    """The log of decisions beside a specification.

    >>> facsimile.decisions("release.yaml").to_pandas()  # doctest: +SKIP
    """
    from facsimile.agreement.agreed import Agreed

    agreed = Agreed(path_of(specification))
    return Decided(agreed.path, agreed.decisions, (), agreed.outside)


def _decided(specification: Path | str, deed: Callable[[Agreed, Author], Any], by: str, role: str) -> Decided:
    from facsimile.agreement.agreed import Agreed, Author

    agreed = Agreed(path_of(specification))
    words = deed(agreed, Author(by, role))
    return Decided(agreed.path, agreed.decisions, words if isinstance(words, tuple) else ())


@dataclass(frozen=True, repr=False)
class Decided(Result, Tabular):
    """A log of decisions; as a table: a line for each."""

    path: Path
    log: Decisions
    words: tuple[str, ...] = ()
    """What was changed just now."""
    outside: bool = False
    """Whether the file holds a change that the log does not."""

    def to_arrow(self) -> pa.Table:
        """A line for each decision: when, who, what and why."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.as_json()["decisions"])

    def as_json(self) -> dict[str, Any]:
        names = ("deed", "when", "by", "role", "item", "why", "plan", "outside")
        lines = [{n: getattr(e, n) for n in names} | {"words": list(e.words)} for e in self.log.entries]
        return {"specification": self.path.name, "changed": list(self.words), "outside": self.outside,
                "decisions": lines}  # fmt: skip

    def page(self) -> Page:
        page = Page(self.path.name)
        for words in self.words:
            page.line(words)
        rows = [
            (
                e.when[:16].replace("T", " "),
                ", ".join(filter(None, (e.by, e.role))) or "found" * e.outside,
                _said(e),
            )
            for e in self.log.entries
        ]
        page.table("Decisions", "when (UTC)|who|what", rows)
        if self.outside:
            page.line(
                "\nThe file was changed since: `facsimile spec log SPEC --by NAME --why REASON` notes it."
            )
        return page


def _said(entry: Any) -> str:
    """One entry in a line."""
    reason = f" ({entry.why})" if entry.why else ""
    match entry.deed:
        case "begun":
            return "the log begins"
        case "comment":
            return f"on {entry.item}: {entry.why}"
        case "signature":
            return f"signed plan {entry.plan[:16]}{reason}"
    return f"{'; '.join(entry.words)}{reason}"

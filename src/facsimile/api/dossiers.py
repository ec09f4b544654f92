"""Dossiers: the regulator's file about a release, assembled from its bundle, an audit and a report of risks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.errors import refusal
from facsimile.results import Page, Result

if TYPE_CHECKING:
    from facsimile.documents.dossier import Dossier

MOST_BYTES = 1 << 26


def dossier(
    bundle: Path | str,
    out: Path | str | None = None,
    *,
    audit: Path | str | None = None,
    risk: Path | str | None = None,
    allow_rehearsal: bool = False,
) -> Assembled:
    """Assemble the dossier of a release, and write it as a PDF to a new file; the bundle is verified first.

    `audit` and `risk` are what `facsimile audit --json` and `facsimile risk --json` wrote; a bundle may carry
    an audit. Without them the dossier says that they are missing.

    >>> facsimile.dossier("bundle", "dossier.pdf", audit="audit.json")  # doctest: +SKIP
    """
    from facsimile.documents.dossier import Dossier
    from facsimile.documents.dossier.statement import AUDIT, MANIFEST, PLAN, REPORT, RISK, Papers
    from facsimile.release.opened import open_bundle
    from facsimile.release.verify import verify
    from facsimile.release.writing import write_bytes
    from facsimile.spec.load import parse

    path = None if out is None else _new(Path(out), Path(bundle))
    papers: dict[str, Any] = {}
    if audit is not None:
        papers[AUDIT] = _audited(Path(audit))
    if risk is not None:
        papers[RISK] = _risked(Path(risk))
    held = verify(Path(bundle), allow_rehearsal)
    if risk is not None and papers[RISK]["plan_hash"] != held.plan_hash:
        raise refusal("E510", file=Path(risk).name)
    files = open_bundle(Path(bundle)).files
    if audit is None and AUDIT in files:
        papers[AUDIT] = json.loads(files[AUDIT])
    papers |= {name: json.loads(files[name]) for name in (REPORT, MANIFEST)}
    papers[PLAN] = parse(files[PLAN].decode("utf-8"))[0]
    made = Assembled(Dossier.of(Papers(papers, held.signed_by)), path)
    if path is not None:
        write_bytes(path, made.dossier.pdf())
    return made


def _new(out: Path, bundle: Path) -> Path:
    """A new file outside the bundle, whose files are those of its manifest."""
    from facsimile.release.writing import refuse_taken

    if out.resolve().is_relative_to(bundle.resolve()):
        raise refusal("E402")
    refuse_taken(out)
    return out


def _json(path: Path) -> Any:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise refusal("E440", file=path.name, problem="it is too large")
        return json.loads(path.read_bytes())
    except OSError:
        raise refusal("E212", file=path.name) from None
    except (ValueError, RecursionError):
        raise refusal("E440", file=path.name, problem="it is not JSON") from None


def _audited(path: Path) -> dict[str, Any]:
    """An audit, as plain data."""
    from facsimile.documents.evidence import Audit

    try:
        return Audit.of_json(_json(path)).as_json()
    except ValueError:
        raise refusal("E440", file=path.name, problem="it is no audit") from None


def _risked(path: Path) -> dict[str, Any]:
    """A report of risks, as plain data."""
    from facsimile.risk.findings import Risk

    try:
        return Risk.of_json(_json(path)).as_json()
    except ValueError:
        raise refusal("E440", file=path.name, problem="it is no report of risks") from None


@dataclass(frozen=True, repr=False)
class Assembled(Result):
    """A dossier, and the file that it was written to, if any."""

    dossier: Dossier
    out: Path | None

    def as_json(self) -> dict[str, Any]:
        return self.dossier.as_json()

    def page(self) -> Page:
        made = self.dossier
        told = made.as_json()
        page = Page(told["title"])
        page.line(
            f"A dossier in {len(made.sections)} sections; {made.blanks} blanks are for the office to fill in."
        )
        for name in made.missing:
            page.line(f"Missing, and said to be: {name}")
        if told["rehearsal"]:
            page.line("A REHEARSAL: not a release.")
        if self.out is not None:
            page.line(f"\nWritten: {self.out}")
        return page

"""Dossiers: the regulator's file about a release, assembled from its bundle, an audit and a report of risks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.errors import FacsimileError, refusal
from facsimile.results import Page, Result

if TYPE_CHECKING:
    from facsimile.documents.dossier import Dossier

MOST_BYTES = 1 << 26
_ATTACK = {"question", "table", "risk", "low", "high", "success", "control", "attacks", "detail"}
_RISK: dict[str, type | tuple[type, ...]] = {
    "format": int, "version": str, "title": str, "plan_hash": str, "epsilon": (str, int, float),
    "records": int, "day": str, "confidence": (str, int, float), "attacks": list, "says": list, "cannot": list,
}  # fmt: skip


def dossier(
    bundle: Path | str,
    out: Path | str | None = None,
    *,
    audit: Path | str | None = None,
    risk: Path | str | None = None,
    allow_rehearsal: bool = False,
) -> Assembled:
    """Assemble the dossier of a release, and write it as a PDF to a new file; the bundle is verified first.

    `audit` and `risk` are what `facsimile audit --json` and `facsimile risk --json` wrote; without them the
    dossier says that they are missing.

    >>> facsimile.dossier("bundle", "dossier.pdf", audit="audit.json")  # doctest: +SKIP
    """
    from facsimile.documents.dossier import Dossier
    from facsimile.documents.dossier.statement import AUDIT, MANIFEST, PLAN, REPORT, RISK, Papers
    from facsimile.release.opened import open_bundle
    from facsimile.release.verify import verify
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
    papers |= {name: json.loads(files[name]) for name in (REPORT, MANIFEST)}
    papers[PLAN] = parse(files[PLAN].decode("utf-8"))[0]
    made = Assembled(Dossier.of(Papers(papers, held.signed_by)), path)
    if path is not None:
        _write(path, made.dossier.pdf())
    return made


def _new(out: Path, bundle: Path) -> Path:
    """A new file outside the bundle, whose files are those of its manifest."""
    if out.is_symlink() or out.resolve().is_relative_to(bundle.resolve()):
        raise refusal("E402")
    if out.exists():
        raise refusal("E401")
    if not out.absolute().parent.is_dir():
        raise refusal("E403")
    return out


def _write(path: Path, content: bytes) -> None:
    from facsimile.storage import append

    try:
        append(path, content, create=True)
        path.chmod(0o644)
    except (OSError, FacsimileError):
        raise refusal("E403") from None


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
    told = _json(path)
    if not risk_holds(told):
        raise refusal("E440", file=path.name, problem="it is no report of risks")
    return dict(told)


def risk_holds(told: Any) -> bool:
    """Whether plain data have the shape of a report of risks, as far as a dossier reads them."""
    if not isinstance(told, Mapping) or told.get("format") != 1:
        return False
    if not all(isinstance(told.get(name), kind) for name, kind in _RISK.items()):
        return False
    if not all(isinstance(words, str) for words in (*told["says"], *told["cannot"])):
        return False
    return all(_attack_holds(attack) for attack in told["attacks"]) and _is_day(told["day"])


def _attack_holds(told: Any) -> bool:
    if not isinstance(told, Mapping) or set(told) != _ATTACK:
        return False
    rates = [told[name] for name in ("risk", "low", "high", "success", "control")]
    words = all(isinstance(told[name], str) for name in ("question", "table"))
    return words and type(told["attacks"]) is int and all(_is_rate(rate) for rate in rates)


def _is_rate(value: Any) -> bool:
    return type(value) in (int, float) and -1 <= value <= 1


def _is_day(text: str) -> bool:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


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

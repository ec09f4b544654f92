"""The dossier: what a regulator asks for about a release, in one order and with the source of every statement.

The order is that of ISO/IEC 27559:2022 (context, data, identifiability and mitigation, governance); each part
says on which layer of NIST SP 800-226 it stands. What only the office can know is a blank, marked and counted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import typst

from facsimile.documents.dossier.context import context, overview
from facsimile.documents.dossier.data import data
from facsimile.documents.dossier.governance import governance
from facsimile.documents.dossier.identifiability import identifiability
from facsimile.documents.dossier.statement import (
    AUDIT,
    MANIFEST,
    REPORT,
    RISK,
    TO_FILL,
    Papers,
    Section,
    blanks,
    named,
)
from facsimile.documents.language import language, printable

FORMAT = 1
PARTS = {
    "1": "Overview",
    "2": "Context assessment",
    "3": "Data assessment",
    "4": "Identifiability assessment and mitigation",
    "5": "Governance",
}
LAYERS = (
    "privacy parameter",
    "unit of privacy",
    "privacy guarantee",
    "algorithms and correctness",
    "utility and bias",
    "threat model",
    "trust model; security and access",
    "implementation and side channels",
    "exposure in data collection",
)
"""From the top of the pyramid of NIST SP 800-226 to its ground, in our words."""


@dataclass(frozen=True)
class Dossier:
    """The parts of a dossier, and the papers that it was made of."""

    papers: Papers
    sections: tuple[Section, ...]

    @classmethod
    def of(cls, papers: Papers) -> Dossier:
        """The dossier of these papers."""
        parts = (*context(papers), *data(papers), *identifiability(papers), *governance(papers))
        return cls(papers, (overview(papers), *parts))

    @property
    def blanks(self) -> int:
        """How many places the office has to fill in."""
        return len(list(blanks(self.sections)))

    @property
    def missing(self) -> tuple[str, ...]:
        """Papers that were not given."""
        return tuple(name for name in (AUDIT, RISK) if name not in self.papers.files)

    def as_json(self) -> dict[str, Any]:
        """As plain data: every statement with its figures and sources, every blank."""
        report = self.papers.files[REPORT]
        told = {name: report[name] for name in ("title", "rehearsal", "day", "version", "plan_hash", "epsilon")}
        counted = {"blanks": self.blanks, "missing": list(self.missing)}
        return {"format": FORMAT, **told, **counted, "sections": [one.as_json() for one in self.sections]}

    def pdf(self) -> bytes:
        """As an archival, accessible PDF; the same papers give the same bytes."""
        source = (files("facsimile.documents") / "templates" / "dossier.typ").read_bytes()
        inputs = {"dossier": printable(json.dumps(self._typeset(), ensure_ascii=False))}
        try:
            return typst.compile(
                source,
                sys_inputs=inputs,
                ignore_system_fonts=True,
                pdf_standards=["a-2a", "ua-1"],
                format="pdf",
            )
        except typst.TypstError:  # a letter that the fonts lack
            return typst.compile(source, sys_inputs=inputs, ignore_system_fonts=True, format="pdf")

    def _typeset(self) -> dict[str, Any]:
        """What the template sets in type."""
        told = self.as_json()
        for section, made in zip(self.sections, told["sections"], strict=True):
            for item, plain in zip(section.items, made["items"], strict=True):
                plain["lines"] = getattr(item, "lines", 0)
                plain["source"] = named(getattr(item, "sources", ()))
                plain["widths"] = getattr(item, "widths", "")
        report = self.papers.files[REPORT]
        hashes = self.papers.files[MANIFEST]["sha256"]
        return told | {
            "mark": language("en").plain("head.mark") if report["rehearsal"] else "",
            "to_fill": TO_FILL,
            "parts": PARTS,
            "layers": {layer: [one.number for one in self.sections if one.nist == layer] for layer in LAYERS},
            "hashes": [[name, hashes[name]] for name in sorted(hashes)],
            "records": f"{report['records']:,}",
            "delta": report.get("delta") or "none",
        }

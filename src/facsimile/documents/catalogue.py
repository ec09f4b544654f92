"""Catalogue: the release described for portals, archives, registries and machine learning, a file for each.

Each says what the report says, in the words of its standard, and nothing that the report does not know. The
same report gives the same bytes.
"""

from __future__ import annotations

import json
from typing import Any

from facsimile.documents.croissant import croissant
from facsimile.documents.dcat import dcat
from facsimile.documents.ddi import ddi
from facsimile.documents.deployment import deployment
from facsimile.documents.facts import Sizes
from facsimile.documents.report import Report

CROISSANT, DCAT, DDI, DEPLOYMENT = (
    f"metadata/{name}" for name in ("croissant.json", "dcat.jsonld", "ddi.xml", "deployment.yaml")
)


def metadata_files(report: Report, sizes: Sizes) -> dict[str, bytes]:
    """Every description; `sizes` has the bytes and the SHA-256 of the bundle's other files, by name."""
    return {
        CROISSANT: _json(croissant(report, sizes)),
        DCAT: _json(dcat(report, sizes)),
        DDI: ddi(report, sizes),
        DEPLOYMENT: deployment(report).encode(),
    }


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()

"""Readers: two made-up tables, one record of which is odd, read from every kind of address on this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from facsimile.documents.evidence import Evidence
from facsimile.sources.source import KINDS
from facsimile.testing.addresses import FORMS, apart

THEOREM = "reader.read"
SAID = "records apart in the count tables of two sources, one record of which is odd"
UNTRIED = "no server is asked, so these kinds of address are not tried here"


def readers() -> Iterator[Evidence]:
    """Each form, whatever its ending: one record apart, and no more; kinds that need a server are named."""
    for form in {(form.kind, form.words): form for form in reversed(FORMS)}.values():
        with tempfile.TemporaryDirectory() as folder:
            yield Evidence.bounded(THEOREM, "reader", form.name, SAID, 1.0, apart(form, Path(folder)), 1.0)
    tried = {form.kind for form in FORMS}
    for kind in KINDS:
        if kind.name not in tried:
            yield Evidence(THEOREM, "reader", kind.name, UNTRIED, None, None, True)

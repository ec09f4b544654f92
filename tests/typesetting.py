"""PDFs of bundles that are not about their pages: typeset once, or not at all."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import typst


@cache
def _compiled(source: bytes, inputs: frozenset[tuple[str, str]], standards: tuple[str, ...]) -> bytes:
    given: dict[str, Any] = {"pdf_standards": list(standards)} if standards else {}
    made: bytes = typst.compile(
        source, sys_inputs=dict(inputs), ignore_system_fonts=True, format="pdf", **given
    )
    return made


def _once(source: bytes, *, sys_inputs: dict[str, str], **how: Any) -> bytes:
    assert how.pop("ignore_system_fonts") and how.pop("format") == "pdf"
    standards = tuple(how.pop("pdf_standards", ()))
    assert how == {}
    return _compiled(source, frozenset(sys_inputs.items()), standards)


ONCE = SimpleNamespace(compile=_once, TypstError=typst.TypstError)
"""Verifying makes the pages of a bundle again; that the same words give the same bytes, tests/documents ask."""
NEVER = SimpleNamespace(compile=lambda *_, **__: b"%PDF", TypstError=())
"""What a crash leaves behind does not depend on letters."""

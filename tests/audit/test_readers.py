from __future__ import annotations

from typing import Any

import pyarrow
import pytest

from facsimile.audit import readers
from facsimile.sources import source
from facsimile.sources.source import KINDS
from facsimile.testing.addresses import FORMS


def test_every_kind_is_tried_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "apart", lambda form, folder: 1)
    found = list(readers.readers())
    assert all(one.passed and one.kind == "reader" for one in found)
    assert {kind.name for kind in KINDS} == {one.case.partition(" .")[0] for one in found} - {
        form.name for form in FORMS if form.kind == "pandas" and form.words
    }
    untried = {one.case for one in found if one.found is None}
    assert untried == {"PostgreSQL", "Spark files", "Spark tables"}


def test_a_library_that_chooses_types_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def inferred(name: str, series: Any) -> pyarrow.Array:
        return pyarrow.array(series, from_pandas=True)

    objects = [form for form in FORMS if form.words == "objects"]
    monkeypatch.setattr(readers, "FORMS", objects)
    assert next(iter(readers.readers())).passed
    monkeypatch.setattr(source, "_column", inferred)
    found = next(iter(readers.readers()))
    assert not found.passed and found.found is not None and found.found > 1

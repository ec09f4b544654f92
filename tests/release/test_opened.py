"""Opened: a bundle is read as it was made, and not at all where a file of it is another."""

from __future__ import annotations

from pathlib import Path

import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy.reader import read_public
from facsimile.release.opened import open_bundle
from facsimile.release.run import rehearsal, rehearsed
from facsimile.sources.address import Address
from releases import N, request, specification, write_data


def test_a_bundle_is_opened_as_it_was_made(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    rehearsal(request(tmp_path), 3)
    accepted, _ = rehearsed(specification(), read_public(Address.of(data), specification()), 3)
    held = open_bundle(tmp_path / "bundle")
    found = held.release
    assert accepted is not None
    assert (found.table, found.configuration) == (accepted.table, accepted.configuration)
    assert found.specification == specification() and held.said["records"] == N

    (tmp_path / "bundle" / "report.json").write_text("{}")
    with pytest.raises(FacsimileError) as refused:
        open_bundle(tmp_path / "bundle")
    assert refused.value.code == "E502"

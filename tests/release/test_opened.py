"""Opened: a bundle is read as it was made, and not at all where a file of it is another."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy.reader import read_public
from facsimile.release.bundle import MANIFEST
from facsimile.release.opened import open_bundle
from facsimile.release.run import rehearsal, rehearsed
from facsimile.release.tables import INDEX
from facsimile.sources.address import Address
from releases import N, request, specification, write_data

pytestmark = pytest.mark.usefixtures("typeset_once")


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


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with noisy tables."""
    folder = tmp_path_factory.mktemp("told")
    write_data(folder)
    rehearsal(request(folder, specification=specification(publish=["tables"])), 3)
    return folder / "bundle"


HOSTILE: list[tuple[str, Any]] = [
    *(("epsilon", given) for given in ("0", "-1", "1/0", "1e99999999", "1e300", 1, [1], None, "9" * 500)),
    *(("codes", given) for given in ([], [[0]], [[0, 10**9]], [[10**30]], [[-1, 0]], [[0.5]], "a", [[[0]]])),
    *(("columns", given) for given in (["nobody"], [], "age", [1], ["age", "age"])),
    *(("cells", given) for given in ([], [-1], [10**9], "a", None)),
    ("file", "../../secret.csv"),
]


@pytest.mark.parametrize(("key", "given"), HOSTILE)
def test_a_hostile_table_is_refused(told: Path, tmp_path: Path, key: str, given: Any) -> None:
    """Without a traceback, a hang or a gigabyte: a bundle may come from anybody."""
    folder = Path(shutil.copytree(told, tmp_path / "copy"))
    index = json.loads((folder / INDEX).read_text("utf-8"))
    index["tables"][0][key] = given
    (folder / INDEX).write_text(json.dumps(index), "utf-8")
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    manifest["sha256"][INDEX] = hashlib.sha256((folder / INDEX).read_bytes()).hexdigest()
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(FacsimileError) as refused:
        open_bundle(folder)
    assert (refused.value.code, refused.value.exit_code) == ("E503", 5)


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of another kind")
@pytest.mark.parametrize("name", ["data.csv", "manifest.json", INDEX])
def test_a_file_is_no_link_and_no_pipe(told: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(told, tmp_path / "copy"))
    elsewhere = tmp_path / "elsewhere"
    (folder / name).rename(elsewhere)
    (folder / name).symlink_to(elsewhere)
    for _ in range(2):
        with pytest.raises(FacsimileError) as refused:
            open_bundle(folder)
        assert refused.value.code == "E503"
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

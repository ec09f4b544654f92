"""Verification: whatever is changed in a bundle is found, with the name of its file."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from typer.testing import CliRunner

from facsimile.cli import app
from facsimile.errors import FacsimileError
from facsimile.release import bundle
from facsimile.release.run import release
from facsimile.release.signature import envelope, signed_by
from facsimile.release.verify import verify
from releases import request, specification, write_data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed release."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "budget").mkdir()
    write_data(folder)
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "signing.pem").write_bytes(pem)
    release(request(folder, key=folder / "signing.pem", specification=specification()))
    return folder / "bundle"


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "bundle")
    return tmp_path / "bundle"


def refused(folder: Path) -> tuple[str, str]:
    with pytest.raises(FacsimileError) as caught:
        verify(folder)
    return caught.value.code, caught.value.sentence


def test_an_untouched_bundle_verifies(made: Path) -> None:
    found = verify(made)
    assert found.signed_by is not None
    assert found.rendered


@pytest.mark.parametrize("name", [*bundle.NAMES, bundle.MANIFEST, bundle.SIGNATURE])
def test_a_changed_byte_is_found_in_every_file(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    code, sentence = refused(copy)
    assert code in ("E502", "E503", "E505")
    assert name in sentence or name == bundle.MANIFEST


@pytest.mark.parametrize("name", [*bundle.NAMES, bundle.MANIFEST])
def test_a_missing_file_is_found(copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert refused(copy)[0] == "E501"


def test_a_file_more_is_found(copy: Path) -> None:
    (copy / "notes.txt").write_text("true errors")
    assert refused(copy)[0] == "E503"


def forge(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    """Change a JSON file and make all hashes fit again, as somebody would who wants to deceive."""
    said = json.loads((folder / name).read_bytes())
    change(said)
    (folder / name).write_bytes(bundle._json(said))
    rehash(folder)


def rehash(folder: Path) -> None:
    manifest = json.loads((folder / bundle.MANIFEST).read_bytes())
    manifest["sha256"] = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in bundle.NAMES}
    (folder / bundle.MANIFEST).write_bytes(bundle._json(manifest))
    (folder / bundle.SIGNATURE).unlink(missing_ok=True)


def _set(path: str, value: Any) -> Callable[[Any], None]:
    def change(said: Any) -> None:
        *parents, last = [int(p) if p.isdigit() else p for p in path.split(".")]
        for part in parents:
            said = said[part]
        said[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("epsilon", "1"),
        ("records", 401),
        ("budget.0.epsilon", "0.1"),
        ("criteria.0.sensitivity", 0.001),
        ("criteria.0.sigma", 0.001),
        ("criteria.0.value", 0.0001),
        ("criteria.0.bound", 0.0001),
        ("criteria.0.threshold", 0.9),
        ("criteria.0.units", 123_456),
        ("criteria.2.smallest_group", 100_000),
        ("faces.min_count", 100_000),
        ("plan_hash", "0" * 64),
        ("data_hash", "0" * 64),
        ("columns.0.counts.0", -1),
        ("family", "aim"),
        ("iterations", 3),
        ("rules", []),
        ("day", "yesterday"),
        ("criteria", []),
        ("ledger", None),
    ],
)
def test_a_forged_figure_does_not_follow_from_the_rest(copy: Path, path: str, value: Any) -> None:
    forge(copy, bundle.REPORT, _set(path, value))
    code, sentence = refused(copy)
    assert (code, bundle.REPORT in sentence or bundle.DATA in sentence) == ("E503", True)


def test_a_removed_row_is_found_though_hashes_fit(copy: Path) -> None:
    lines = (copy / bundle.DATA).read_bytes().splitlines(keepends=True)
    (copy / bundle.DATA).write_bytes(b"".join(lines[:-1]))
    rehash(copy)
    assert refused(copy)[0] == "E503"


def test_rows_in_another_order_are_found(copy: Path) -> None:
    head, *lines = (copy / bundle.DATA).read_bytes().splitlines(keepends=True)
    (copy / bundle.DATA).write_bytes(b"".join([head, *sorted(lines)]))
    rehash(copy)
    assert refused(copy)[0] == "E503"


def test_a_label_of_its_own_is_found(copy: Path) -> None:
    content = (copy / bundle.DATA).read_bytes()
    (copy / bundle.DATA).write_bytes(content.replace(b'"M"', b'"X"', 1))
    rehash(copy)
    assert refused(copy)[0] == "E503"


def test_another_specification_is_found(copy: Path) -> None:
    content = (copy / bundle.SPECIFICATION).read_text()
    assert "generator: '3'" in content
    (copy / bundle.SPECIFICATION).write_text(content.replace("generator: '3'", "generator: '2'"))
    rehash(copy)
    assert refused(copy)[0] == "E503"


def test_a_signature_of_another_manifest_or_key_is_refused(copy: Path) -> None:
    key = Ed25519PrivateKey.generate()
    manifest = (copy / bundle.MANIFEST).read_bytes()
    good = envelope(manifest, key)
    assert signed_by(good, manifest) is not None
    assert signed_by(good, manifest + b" ") is None
    other = json.loads(good)
    other["signatures"][0]["publicKey"] = json.loads(envelope(manifest, Ed25519PrivateKey.generate()))[
        "signatures"
    ][0]["publicKey"]
    assert signed_by(json.dumps(other).encode(), manifest) is None
    for broken in (b"", b"{}", b"[]", b'{"signatures": []}', b"\xff"):
        assert signed_by(broken, manifest) is None


def test_the_command_says_so_and_exits_with_5(made: Path, copy: Path) -> None:
    found = CliRunner().invoke(app, ["verify", str(made), "--json"])
    assert json.loads(found.stdout)["verified"] is True
    assert "Verified." in CliRunner().invoke(app, ["verify", str(made)]).stdout
    (copy / bundle.PAGE).write_text("nothing")
    bad = CliRunner().invoke(app, ["verify", str(copy)])
    assert isinstance(bad.exception, FacsimileError)
    assert bad.exception.exit_code == 5
    nothing = CliRunner().invoke(app, ["verify", str(copy / "none")])
    assert isinstance(nothing.exception, FacsimileError)

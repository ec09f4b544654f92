"""What odd bytes are given to: each target reads or refuses them; anything else that it raises is a finding.

Hypothesis asks them in test_fuzz.py, atheris in fuzz.py. What the reader refuses tells no value: those of its
good file are marked. A specification and a bundle are public.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zlib
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyarrow.csv import read_csv

from engines import write_labelled
from facsimile.errors import FacsimileError
from facsimile.line import hashed, written
from facsimile.privacy.anchor import Anchor
from facsimile.privacy.ledger import verify
from facsimile.privacy.reader import read_public
from facsimile.release.check import mistakes, thorough
from facsimile.release.opened import open_bundle
from facsimile.sources.address import Address
from facsimile.spec.load import loads
from facsimile.spec.release import Specification
from hostile import marked
from hostile.bundles import good, rehashed
from spec.test_text import LOANS

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**30, -(10**400), 1e308, float("inf"), float("nan")),
    *("", "a", "-1", "1e999999999", "1/0", "\u202e", "\ud800", "9" * 5000, "x" * 70_000),
    *([], [[]], [None], {}, {"a": 1}, {"": []}, ["a"] * 3000),
)
FIRST = {"seq": 0, "prev": "", "kind": "open", "id": "a", "tag": "t", "cap": 10**7, "before": 0, "data": "x"}
MORE: tuple[dict[str, Any], ...] = (
    {"kind": "charge", "micro": 5, "delta": "1/1000000", "purpose": "p", "day": "2026-01-01", "nonce": "n"},
    {"kind": "decided", "charge": 1},
    {"kind": "done", "charge": 1},
)
MARK = {"ledger": "a", "sequence": 0, "head": "h", "spent": 0, "before": 0, "delta": "0", "key": "00" * 32}
FILES = ("report.json", "tables/index.json", "manifest.json", "signature.dsse", "release.yaml")
WHOLE = (*FILES, "data.csv", "data.parquet")


def damaged(value: Any, choices: bytes) -> Any:
    """The value with one part of it replaced by an odd one: each byte goes a level down, or says what by."""
    if not choices:
        return value
    parts = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if not parts or choices[0] % (len(parts) + 1) == len(parts):
        return deepcopy(ODD[choices[-1] % len(ODD)])
    part, found = parts[choices[0] % (len(parts) + 1)], value.copy()
    found[part] = damaged(value[part], choices[1:] or choices)
    return found


def refused(read: Callable[[], object], silent: bool = False) -> str | None:
    """The code of a refusal; None where it was read. A silent one tells nothing that is marked."""
    try:
        read()
    except FacsimileError as error:
        assert not silent or marked.marks(str(error)) == [], "a value is told"
        return error.code
    return None


@cache
def place() -> Path:
    """A folder for the files of one process; it goes when the process ends."""
    kept = tempfile.TemporaryDirectory(prefix="hostile-")
    _KEPT.append(kept)
    return Path(kept.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def specification(content: bytes) -> str | None:
    """A text of a specification."""
    return refused(lambda: loads(content, mistakes, thorough))


def declared(choices: bytes) -> str | None:
    """A specification with an odd part."""
    return specification(json.dumps(damaged(_loans(), choices)).encode())


@cache
def _loans() -> Any:
    return yaml.load(LOANS, yaml.BaseLoader)


def ledger(choices: bytes) -> str | None:
    """A ledger: raw, or one with an odd part whose sums and chain hold."""
    if choices[:1] < b"\x20":
        return refused(lambda: _held(choices[1:]))
    if choices[:1] < b"\x40":
        body = choices[1:]
        return refused(lambda: _held(b"%08x %08x %s\n" % (len(body), zlib.crc32(body), body)))
    entries = damaged([FIRST, *MORE], choices[1:])
    content, head = b"", ""
    for sequence, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        chain = {"seq": sequence, "prev": head} if choices[:1] < b"\xe0" else {}
        line = written(entry | chain if isinstance(entry, dict) else entry)
        content, head = content + line, hashed(line)
    return refused(lambda: _held(content))


def _held(content: bytes) -> None:
    state = verify(content)
    assert state.delta >= 0 and state.before >= 0 and state.spent >= 0 and state.mark.spent == state.spent
    state.upto(state.sequence), state.ended(), state.left_open("p")


def anchor(choices: bytes) -> str | None:
    """An anchor or a dataset's key: raw, or with an odd part."""
    path = place() / "anchor"
    path.write_bytes(choices[1:] if choices[:1] < b"\x40" else written(damaged(MARK, choices[1:])))
    return refused(Anchor(path).read)


@cache
def _form() -> Specification:
    return loads(marked.specification(publish=False))


def reader(content: bytes) -> str | None:
    """The bytes of a CSV file."""
    path = place() / "data.csv"
    path.write_bytes(content)
    return read_table(path)


def labelled(content: bytes) -> str | None:
    """The bytes of an SPSS or Stata file."""
    path = place() / "data.sav"
    path.write_bytes(content)
    return read_table(path)


def read_table(path: Path) -> str | None:
    """A file with records."""
    return refused(lambda: read_public(Address.of(path), _form()), silent=True)


@cache
def publisher() -> bytes:
    """A publisher's key."""
    encoding, form, none = Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    return Ed25519PrivateKey.generate().private_bytes(encoding, form, none)


@cache
def _bundle() -> tuple[Path, dict[str, bytes]]:
    folder = good(place())
    return folder, {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def bundle(choices: bytes) -> str | None:
    """A bundle, one file of which is odd; hashes are made to fit again."""
    folder, files = _bundle()
    number, rest = (choices[0], choices[1:]) if choices else (0, b"")
    name = WHOLE[number % len(WHOLE)]
    if number < 128 or name not in files or not name.endswith(".json"):
        content = rest
    else:
        content = json.dumps(damaged(json.loads(files[name]), rest)).encode()
    (folder / name).write_bytes(content)
    if name != "manifest.json":
        rehashed(folder)
    try:
        return refused(lambda: open_bundle(folder))
    finally:
        shutil.rmtree(folder)
        for each, kept in files.items():
            (folder / each).parent.mkdir(parents=True, exist_ok=True)
            (folder / each).write_bytes(kept)


TARGETS: dict[str, Callable[[bytes], str | None]] = {
    found.__name__: found for found in (specification, declared, ledger, anchor, reader, labelled, bundle)
}


def seeds(name: str) -> list[bytes]:
    """Where a search begins: what is good."""
    if name == "specification":
        return [LOANS.encode(), marked.specification().encode()]
    if name == "reader":
        return [marked.write(place()).read_bytes(), b"\xef\xbb\xbfincome,place,pay\n1,north,2\n3,south,4\n"]
    if name == "labelled":
        table = read_csv(marked.write(place()))
        return [write_labelled(table, place() / f"good.{kind}").read_bytes() for kind in ("sav", "zsav", "dta")]
    if name == "ledger":
        return [b"\0" + written(FIRST), b"\x30" + json.dumps(FIRST).encode(), b"\x80\0\5\1", b"\xf0\1\2\3"]
    if name == "anchor":
        return [b"\0" + written(MARK), b"\x80\3\1"]
    if name == "bundle":
        files = _bundle()[1]
        whole = [bytes([number]) + files[file] for number, file in enumerate(WHOLE) if file in files]
        return [*whole, *(bytes([number, 3, 2, 1]) for number in range(128, 256, 5))]
    return [bytes(range(start, start + 4)) for start in range(0, 64, 7)]

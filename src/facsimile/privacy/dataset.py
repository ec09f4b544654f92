"""The dataset: which data a ledger speaks of, and which data are not public; nothing is told about them.

The tag is an HMAC of the data under a random key that lies beside them; a plain hash would let anybody test
a guess of the whole file. Without the key the tag is a random number. The resolved address decides: a table of
a database file has the key of that file, and a link that of the file behind it.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path
from typing import Any

from facsimile.errors import LedgerRefused, refusal
from facsimile.privacy.anchor import NOTHING, Anchor, Mark, nothing_charged
from facsimile.sources.source import parse_place
from facsimile.storage import locked

PIECE = 1 << 20
KEY_BYTES = 32
PATIENCE_SECONDS = 30


def key_path(data: str | Path) -> Path:
    """Where the key of a file lies: beside the file itself, whatever table or link was named."""
    file = parse_place(str(data)).file
    if file is None:
        raise refusal("E101")
    return file.with_name(file.name + ".key")


def dataset_key(path: Path) -> bytes:
    """The key in this file; a new one is made where none is."""
    with locked(path, PATIENCE_SECONDS):
        if not path.exists():
            _begin(path)
        try:
            mark = Anchor(path).read()
            key = bytes.fromhex(mark.key if mark else "")
        except (LedgerRefused, ValueError):
            key = b""
    if len(key) != KEY_BYTES:
        raise refusal("E317")
    return key


def _begin(path: Path) -> None:
    """A new key, of data that has no ledger yet."""
    with nothing_charged():
        Anchor(path).write(Mark("", NOTHING, "", 0, key=secrets.token_hex(KEY_BYTES)))


def dataset_tag(data: str | Path, key: bytes) -> str:
    """The tag of a file's bytes, or of the address of a table in a database."""
    digest = hmac.new(key, digestmod="sha256")
    file = parse_place(str(data)).file
    if file is None:
        digest.update(str(data).encode())
        return digest.hexdigest()
    with file.open("rb") as content:
        while piece := content.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def refuse_confidential(data: Any) -> None:
    """Refuse a file that has a dataset key beside it: budget was spent on it, so it is not public."""
    file = parse_place(str(data)).file if isinstance(data, str | Path) else None
    if file is not None and os.path.lexists(key_path(file)):
        raise refusal("E207", file=file.name)

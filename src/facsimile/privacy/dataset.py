"""The dataset's tag: which data a ledger speaks of, without telling anything about them.

The tag is an HMAC of the data under a random key that lies beside them; a plain hash would let anybody test
a guess of the whole file. Without the key the tag is a random number.
"""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path

from facsimile.errors import refusal
from facsimile.sources.source import parse_place
from facsimile.storage import append

PIECE = 1 << 20
KEY_BYTES = 32


def dataset_key(path: Path) -> bytes:
    """The key of this file; a new one is made where none is, or where a crash left an empty file."""
    if path.exists() and not path.stat().st_size:
        path.unlink()
    if not path.exists():
        append(path, secrets.token_bytes(KEY_BYTES), create=True)
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise refusal("E314")
    return key


def dataset_tag(data: str | Path, key: bytes) -> str:
    """The tag of a file's bytes, or of the address of a table in a database."""
    digest = hmac.new(key, digestmod="sha256")
    path = Path(parse_place(str(data)).address)
    if not path.is_file():
        digest.update(str(data).encode())
        return digest.hexdigest()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()

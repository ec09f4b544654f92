"""The dataset: which data a ledger speaks of, and which data are not public; nothing is told about them.

The tag is an HMAC of the data under a random key; a plain hash would let anybody test a guess of the whole
file. Without it the tag is a random number. The key of a file lies beside it: a table of a database file has
the key of that file, and a link that of the file behind it. A source that is no file is tagged by its address,
its key lies where the curator says, and a claim (sources/claims.py) ties the two together.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Any

from facsimile.errors import LedgerRefused, refusal
from facsimile.privacy.anchor import NOTHING, Anchor, Mark, nothing_charged
from facsimile.sources.address import Address
from facsimile.sources.claims import is_confidential
from facsimile.storage import locked

KEY_BYTES = 32
PATIENCE_SECONDS = 30


def key_path(data: Address, named: Path | None = None) -> Path:
    """Where the key lies: beside a file, and nowhere else; where it is named for other sources."""
    beside, folder = data.beside, data.place
    if beside is None and data.scheme == "file":
        raise refusal("E105" if folder is not None and folder.exists() else "E101")
    found = beside if named is None else named.resolve()
    if found is None:
        raise refusal("E115")
    of_a_file = found.suffix == ".key" and found.with_suffix("").is_file()
    if found != beside if beside else of_a_file or folder in found.parents:
        raise refusal("E116")
    return found


def dataset_key(path: Path) -> bytes:
    """The key in this file; a new one is made where none is."""
    with locked(path, PATIENCE_SECONDS):
        if not path.exists():
            with nothing_charged():
                Anchor(path).write(Mark("", NOTHING, "", 0, key=secrets.token_hex(KEY_BYTES)))
        try:
            mark = Anchor(path).read()
            key = bytes.fromhex(mark.key if mark else "")
        except (LedgerRefused, ValueError):
            key = b""
    if len(key) != KEY_BYTES:
        raise refusal("E317")
    return key


def dataset_tag(data: Address, key: bytes) -> str:
    """The tag of a file's bytes, or of the address of any other source."""
    digest = hmac.new(key, digestmod="sha256")
    if data.file is None:
        digest.update(data.identity.encode())
    else:
        with data.file.open("rb") as content:
            hashlib.file_digest(content, lambda: digest)
    return digest.hexdigest()


def refuse_confidential(data: Any) -> None:
    """Refuse a source that has a dataset key: budget may be spent on it, so it is not public."""
    if isinstance(data, str | Path | Address) and is_confidential(Address.of(data)):
        raise refusal("E207", file=Address.of(data).name)

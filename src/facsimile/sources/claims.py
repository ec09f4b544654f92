"""Claims: sources that are confidential without a key beside them, as far as this user of this machine knows.

A file has its dataset key beside it. A server's table and a folder that Spark reads have no such place, so the
state folder keeps one small file for each: what it is (`Address.identity`) and which key it has, as a hash of
that random key. A claim only ever leads to a refusal, so nothing here can let a record out.

    the state folder:  $FACSIMILE_STATE, else $XDG_STATE_HOME/facsimile, %LOCALAPPDATA%\\facsimile or
    ~/.local/state/facsimile; it is made with the first claim, never by a look
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from facsimile.errors import FacsimileError, refusal
from facsimile.line import parsed, written
from facsimile.sources.address import Address
from facsimile.storage import locked, read, replace

PATIENCE_SECONDS = 30
ENDING = ".claim"


@dataclass(frozen=True)
class Claim:
    """One confidential source and the hash of its key."""

    source: str
    key: str

    @property
    def gone(self) -> bool:
        """Whether it is a folder that is no longer there; of a server nobody can tell."""
        return "://" not in self.source and not Path(self.source).exists()

    def covers(self, address: Address) -> bool:
        """Whether it is this source, lies in it, or is a folder that holds it."""
        place = address.place
        if place is None or "://" in self.source:
            return self.source == address.identity
        mine = Path(self.source)
        return place == mine or mine in place.parents or (address.file is None and place in mine.parents)


def is_confidential(address: Address) -> bool:
    """Whether a key lies beside the file, or beside a file of the folder, or a claim covers the source."""
    return any(map(_has_key, _files(address))) or claimed(address) is not None


def claimed(address: Address) -> Claim | None:
    """The claim that covers a source, if there is one."""
    return next((claim for claim in _claims() if claim.covers(address)), None)


def refuse_other_key(address: Address, secret: bytes | None) -> None:
    """A claimed source has the key it was claimed with; a part of one, or a folder around a file, has none.

    A key is of one source: only a folder that is gone may have moved.
    """
    known, key = claimed(address), _hash(secret)
    if known is not None and (known.source != address.identity or known.key != key):
        raise refusal("E316")
    if any(c.key == key and c.source != address.identity and not c.gone for c in _claims()):
        raise refusal("E315")
    if address.file is None and any(map(_has_key, _files(address))):
        raise refusal("E316")


def claim(address: Address, secret: bytes) -> None:
    """Note that a source without a folder of its own is confidential, and which key it has."""
    if address.file is not None:
        return
    folder = _state()
    if folder is None:
        raise refusal("E118")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(folder / "claims", PATIENCE_SECONDS):
            refuse_other_key(address, secret)
            if claimed(address) is None:
                name = hashlib.sha256(address.identity.encode()).hexdigest()[:32] + ENDING
                replace(folder / name, written(asdict(Claim(address.identity, _hash(secret)))))
    except FacsimileError as error:
        raise (error if error.code in ("E117", "E315", "E316", "E320") else refusal("E118")) from None
    except OSError:
        raise refusal("E118") from None


def _state() -> Path | None:
    """The state folder, which may not be there; None for a user without a home."""
    named = os.environ.get("FACSIMILE_STATE")
    if named:
        return Path(named).absolute()
    bases = (os.environ.get(name, "") for name in ("XDG_STATE_HOME", "LOCALAPPDATA"))
    base = next(filter(os.path.isabs, bases), None)
    try:
        return Path(base or Path.home() / ".local" / "state") / "facsimile"
    except RuntimeError:
        return None


def _claims() -> Iterator[Claim]:
    """Every claim; what is there and cannot be read may be one, so it refuses."""
    folder = _state()
    try:
        for path in [] if folder is None else sorted(folder.iterdir()):
            if path.suffix == ENDING:
                yield Claim(**parsed(read(path)))
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, TypeError, FacsimileError):
        raise refusal("E117") from None


def _files(address: Address) -> Iterator[Path]:
    """The file, or every file of the folder, behind all links."""
    if address.file is not None:
        yield address.file
    elif address.place is not None:
        seen = set()
        for folder, folders, names in os.walk(address.place, followlinks=True):
            seen.add(os.path.realpath(folder))
            folders[:] = [name for name in folders if os.path.realpath(Path(folder, name)) not in seen]
            yield from (Path(os.path.realpath(Path(folder, name))) for name in names)


def _has_key(file: Path) -> bool:
    return os.path.lexists(file.with_name(file.name + ".key"))


def _hash(secret: bytes | None) -> str:
    return "" if secret is None else hashlib.sha256(b"facsimile claim" + secret).hexdigest()

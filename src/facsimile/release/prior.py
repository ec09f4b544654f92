"""The prior's file: public, another one than the data, and the one that the specification fixed by its hash."""

from __future__ import annotations

import hashlib
from typing import Any

from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.dataset import refuse_confidential
from facsimile.sources.address import Address
from facsimile.spec.prior import Prior


def admitted(prior: Prior, data: Any = None) -> Address:
    """Where the prior is; it is refused where it is confidential, the data itself, or another file."""
    place = Address.of(prior.place)
    refuse_confidential(place)
    refuse_same(place, data)
    found = fingerprint(place)
    if found is None:
        raise refusal("E218", file=prior.name, problem="There is no such file.")
    if found != prior.sha256:
        raise refusal("E217", line=None, **unpinned(prior, found))
    return place


def refuse_same(prior: Any, data: Any) -> None:
    """Data lean on another table: not on themselves, under any name, link or table of one file.

    What the two hold is not compared: an answer would tell who guesses a confidential file that the guess is
    right.
    """
    if not isinstance(prior, Address) or not isinstance(data, Address):
        same = prior is data
    else:
        same = prior.identity == data.identity or _nested(prior, data)
    if same:
        raise refusal("E219")


def _nested(one: Address, other: Address) -> bool:
    """Whether both are one file on the disk, or one is a folder that holds the other."""
    if one.file is not None and other.file is not None:
        return one.file.samefile(other.file)
    if one.place is None or other.place is None:
        return False
    return one.place in other.place.parents or other.place in one.place.parents


def fingerprint(place: Address) -> str | None:
    """The SHA-256 of a file; None where there is none that can be read."""
    if place.file is None:
        return None
    try:
        with place.file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return None


def unpinned(prior: Prior, found: str | None = None) -> dict[str, str]:
    """What is told where a file has no hash in the specification, or another one."""
    known = prior.sha256 is not None
    problem = "is another file than its sha256 says" if known else "has no sha256 in the specification"
    step = "Write the SHA-256 of its file under `prior`"
    step = f"{step}." if found is None else f"{step}, if this is the file you mean: sha256: {found}"
    return {"file": prior.name, "problem": problem, "suggestion": step}


def found_hash(prior: Prior) -> str | None:
    """The hash that a prior's file has, as far as it is public and there."""
    try:
        place = Address.of(prior.place)
        refuse_confidential(place)
    except FacsimileError:
        return None
    return fingerprint(place)

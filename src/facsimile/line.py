"""A line of a small durable file: `LENGTH CRC {json}`, so that what a crash or a careless hand did is seen."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

from facsimile.errors import refusal

HEAD = 18


def written(fields: Mapping[str, Any]) -> bytes:
    """The line of these fields: the length and CRC-32 of their JSON in hex, then the JSON.

    >>> written({"a": 1})
    b'00000007 561bacaf {"a":1}\\n'
    """
    body = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
    return b"%08x %08x %s\n" % (len(body), zlib.crc32(body), body)


def parsed(line: bytes) -> dict[str, Any]:
    """The fields of a line; refused where length, checksum, form or an amount does not hold."""
    body = line[HEAD:-1]
    if line != b"%08x %08x %s\n" % (len(body), zlib.crc32(body), body):
        raise refusal("E310")
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise refusal("E310") from None
    amount = fields.get("micro", 1) if isinstance(fields, dict) else None
    if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
        raise refusal("E310")
    return dict(fields)


def hashed(line: bytes) -> str:
    """The SHA-256 of a line."""
    return hashlib.sha256(line).hexdigest()

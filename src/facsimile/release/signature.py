"""Signature: an Ed25519 signature of the manifest in a DSSE envelope.

The envelope carries its own public key, so a signature that fits says only that one key signed all of it. Whose
key that is, a reader learns elsewhere, and pins.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from facsimile.errors import refusal

KIND = "application/vnd.facsimile.manifest+json"


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key of a PEM file."""
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
        raise refusal("E404") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise refusal("E404")
    return key


def pinned(key: str) -> str:
    """The fingerprint of a key that is named by it, or by a PEM file with its public or its private half."""
    if re.fullmatch("[0-9a-fA-F]{64}", key):
        return key.lower()
    try:
        public = _public_half(Path(key).read_bytes())
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
        public = None
    if not isinstance(public, Ed25519PublicKey):
        problem = "--signed-by takes a PEM file with an Ed25519 key, or a fingerprint of 64 hexadecimal digits."
        raise refusal("E001", problem=problem, command="facsimile verify")
    return fingerprint(public.public_bytes_raw())


def _public_half(pem: bytes) -> object:
    try:
        return load_pem_public_key(pem)
    except ValueError:
        return load_pem_private_key(pem, None).public_key()


def envelope(payload: bytes, key: Ed25519PrivateKey) -> bytes:
    """The payload with its signature and the public key."""
    public = key.public_key().public_bytes_raw()
    signed = {
        "payloadType": KIND,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {
                "keyid": fingerprint(public),
                "publicKey": base64.b64encode(public).decode(),
                "sig": base64.b64encode(key.sign(_encoded(payload))).decode(),
            }
        ],
    }
    return (json.dumps(signed, indent=2, sort_keys=True) + "\n").encode()


def signed_by(content: bytes, payload: bytes) -> str | None:
    """The fingerprint of the key that signed this payload; None where the envelope does not fit."""
    try:
        found = json.loads(content)
        given = found["signatures"][0]
        public = base64.b64decode(given["publicKey"], validate=True)
        if found["payloadType"] != KIND or base64.b64decode(found["payload"], validate=True) != payload:
            return None
        signature = base64.b64decode(given["sig"], validate=True)
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _encoded(payload))
        return fingerprint(public) if given["keyid"] == fingerprint(public) else None
    except (ValueError, KeyError, IndexError, TypeError, RecursionError, InvalidSignature):
        return None


def fingerprint(public: bytes) -> str:
    """What people compare: the SHA-256 of the public key."""
    return hashlib.sha256(public).hexdigest()


def _encoded(payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %s %d %s" % (len(KIND), KIND.encode(), len(payload), payload)

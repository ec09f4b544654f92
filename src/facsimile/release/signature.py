"""Signature: an Ed25519 signature of the manifest in a DSSE envelope."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from facsimile.errors import refusal

KIND = "application/vnd.facsimile.manifest+json"


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key of a PEM file."""
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError):
        raise refusal("E404") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise refusal("E404")
    return key


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
    except (ValueError, KeyError, IndexError, TypeError, InvalidSignature):
        return None
    return fingerprint(public) if given["keyid"] == fingerprint(public) else None


def fingerprint(public: bytes) -> str:
    """What people compare: the SHA-256 of the public key."""
    return hashlib.sha256(public).hexdigest()


def _encoded(payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %s %d %s" % (len(KIND), KIND.encode(), len(payload), payload)

"""Inline: what stands inside a page that asks for nothing from outside: scripts, styles and data."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def part(package: str, name: str) -> str:
    """A template that an element can hold: nothing in it ends the element early."""
    text = (files(package) / "templates" / name).read_text(encoding="utf-8")
    if any(end in text.lower() for end in ("</script", "</style", "<!--")):
        raise ValueError("an element would end before its end")
    return text


def policy_hash(text: str) -> str:
    """What a page's policy calls a script or a style of this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def embedded(data: Any) -> str:
    """JSON that may stand inside a script element: no character of it can end the element or begin markup."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text

"""Plain data as people write them in YAML: words without quotes, short collections in one line.

What is written here is read back by `spec/text.py` as it was: texts that it would take for true, false or null,
and texts that are no plain YAML, stand in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from typing import Any

from yaml.emitter import Emitter, ScalarAnalysis

WIDTH = 112
INDENT = 2
_OTHER_WORDS = frozenset(["true", "false", "null", "~", "yes", "no", "on", "off", "y", "n", "<<", "="])
"""Texts that some reader of YAML takes for something else than a text."""


class OneLine(dict[str, Any]):
    """Keys with their values that stand in one line, however long that gets."""


def scalar(value: Any, flow: bool = False) -> str:
    """A value without parts, in one line; in flow style, where brackets and commas mean something.

    >>> [scalar(value) for value in ("<18", "a: b", "true", True, None, "it's", "two\\nlines")]
    ['<18', "'a: b'", "'true'", 'true', 'null', "it's", '"two\\\\nlines"']
    """
    if not isinstance(value, str):
        return {None: "null", True: "true", False: "false"}.get(value, str(value))
    found = _analysed(value)
    plain = found.allow_flow_plain if flow else found.allow_block_plain
    if plain and value and value.lower() not in _OTHER_WORDS and not value.endswith(":"):
        return value
    if found.allow_single_quoted and not found.multiline:
        return "'" + value.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, value)) + '"'


def inline(value: Any) -> str:
    """A value in one line of flow style.

    >>> inline({"home": "home", "further care": ["care home", "died"], True: None})
    '{home: home, further care: [care home, died], true: null}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key, True)}: {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    return scalar(value, flow=True)


Blocks = Mapping[str, Any] | list[Any] | None
"""Which collections are blocks: a mapping with what is known of its values, a list with that of its items."""


def lines(value: Any, indent: int, used: int, like: Blocks = None) -> list[str]:
    """A value after a key or a dash at a column, where so many characters of the first line are used.

    The first line continues that of the key; it is empty where all of the value stands below. A collection that
    is short stands in one line, unless it is a block in what it shall be like; a longer list of words is filled
    up line by line.

    >>> lines({"a": "1", "b": ["x"]}, 0, 4)
    [' {a: 1, b: [x]}']
    >>> lines({"a": "1", "b": ["x"]}, 0, 4, like={})
    ['', '  a: 1', '  b: [x]']
    """
    inner = " " * (indent + INDENT)
    block = isinstance(like, Mapping if isinstance(value, Mapping) else list)
    if not isinstance(value, Mapping | list | tuple):
        whole = scalar(value)
        return [f" {whole}"] if used + 1 + len(whole) <= WIDTH else _folded(value, inner) or [f" {whole}"]
    whole = inline(value)
    short = used + 1 + len(whole) <= WIDTH or isinstance(value, OneLine)
    if not value or (short and not block):
        return [f" {whole}"]
    if isinstance(value, Mapping):
        found = [""]
        for key, item in value.items():
            word = inner + scalar(key, flow=True) + ":"
            known = like.get(str(key)) if isinstance(like, Mapping) else None
            first, *rest = lines(item, indent + INDENT, len(word), known)
            found += [word + first, *rest]
        return found
    if not block and not any(isinstance(item, Mapping | list | tuple) for item in value):
        return [" [", *filled([scalar(item, flow=True) for item in value], inner)]
    found = [""]
    for i, item in enumerate(value):
        known = like[min(i, len(like) - 1)] if isinstance(like, list) and like else None
        first, *rest = item_lines(item, indent + INDENT, known)
        found += [inner + first, *rest]
    return found


def item_lines(item: Any, indent: int, like: Blocks = None) -> list[str]:
    """An item of a block list whose dash stands at a column; the first line without its indent."""
    first, *rest = lines(item, indent, indent + 1, like)
    return ["-" + first, *rest] if first else ["- " + rest[0].lstrip(" "), *rest[1:]]


def filled(words: list[str], inner: str, closing: str = "]") -> list[str]:
    """The words of a collection, line by line, and its closing bracket."""
    found = [inner]
    for i, word in enumerate(words):
        word += closing if i + 1 == len(words) else ","
        if found[-1] == inner:
            found[-1] += word
        elif len(found[-1]) + 1 + len(word) <= WIDTH:
            found[-1] += " " + word
        else:
            found.append(inner + word)
    return found


def _folded(value: Any, inner: str) -> list[str] | None:
    """A long text over several lines, or a text of several lines; None where that would change it."""
    if not isinstance(value, str) or not _analysed(value).allow_block:
        return None
    if value != value.strip() or re.search(r"[^\S \n]|\n ", value):
        return None
    if "\n" in value:
        return [" |-", *(inner + line if line else "" for line in value.split("\n"))]
    found = [""]
    for word in re.split(r"(?<! ) (?! )", value):
        if found[-1] and len(inner) + len(found[-1]) + 1 + len(word) > WIDTH:
            found.append(word)
        else:
            found[-1] = f"{found[-1]} {word}" if found[-1] else word
    return [" >-", *(inner + line for line in found)]


def _analysed(text: str) -> ScalarAnalysis:
    """What PyYAML knows of the ways in which a text may be written."""
    return Emitter(StringIO(), allow_unicode=True).analyze_scalar(text)


def _escaped(character: str) -> str:
    """A character between double quotes."""
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character)
    if known is not None or character.isprintable():
        return known or character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

"""Lines of a draft: strict YAML as people write it, each guess with a note at its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from facsimile.draft.part import Part

WIDTH = 108
ALTERNATIVES = "alternatives"
_PLAIN = re.compile(r"[^\W_][\w .<≤/()%+*'–-]*(?<! )|<[0-9.-]+|≤[0-9.-]+|-[0-9][0-9. ≤<–-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
"""Plain words that this or that reader of YAML does not take for texts."""


def scalar(value: Any) -> str:
    """A text that YAML reads as itself, also inside brackets; a truth value as it is.

    >>> print("  ".join(map(scalar, ("18-19", "<18", ">50K", "a: b", "true", True, "-5≤", "x #1", 'a "b"'))))
    18-19  <18  ">50K"  "a: b"  "true"  true  -5≤  "x #1"  'a "b"'
    """
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def flow(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{scalar(key)}: {flow(item)}' for key, item in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(flow, value))}]"
    return scalar(value)


def entry(key: str, value: Any, note: str, indent: int) -> Iterator[str]:
    """A key with its value: in one line where it fits, else over several; a mapping of lists key by key."""
    begun = f"{' ' * indent}{scalar(key)}:"
    line, said = f"{begun} {flow(value)}", f"  # check: {note}" if note else ""
    deep = isinstance(value, Mapping) and any(not isinstance(one, str) for one in value.values())
    if deep and (len(line) > WIDTH or key == ALTERNATIVES):
        yield begun + said
        for inner, one in value.items():
            yield from entry(inner, one, "", indent + 2)
        return
    if said and len(line) + len(said) > WIDTH:
        yield f"{' ' * indent}{said.strip()}"
        said = ""
    if len(line) <= WIDTH or isinstance(value, str):
        yield line + said
        return
    pairs = value.items() if isinstance(value, Mapping) else None
    words = [f"{scalar(k)}: {flow(one)}" for k, one in pairs] if pairs else [flow(one) for one in value]
    opening, closing = "{}" if pairs else "[]"
    yield f"{begun} {opening}"
    *lines, last = wrapped(words, ", ", indent + 2)
    yield from (f"{text}," for text in lines)
    yield last + closing


def wrapped(words: Sequence[str], between: str, indent: int) -> list[str]:
    """Words in lines of the width of a page; the sign between two lines is left to the caller."""
    lines, current = list[str](), ""
    for word in words:
        longer = f"{current}{between}{word}" if current else word
        if current and indent + len(longer) >= WIDTH:
            lines.append(current)
            longer = word
        current = longer
    return [f"{' ' * indent}{line}" for line in (*lines, current)]


def item(part: Part, indent: int) -> Iterator[str]:
    """An item of a list: its keys, the first after a dash."""
    for place, (key, value) in enumerate(part.data.items()):
        lines = entry(key, value, part.notes.get(key, ""), indent + 2)
        for line in lines:
            first = not place and not line.lstrip().startswith("#")
            yield f"{' ' * indent}- {line[indent + 2 :]}" if first else line


def block(part: Part, indent: int = 0) -> Iterator[str]:
    """The keys of a mapping."""
    for key, value in part.data.items():
        yield from entry(key, value, part.notes.get(key, ""), indent)


def prose(text: str, indent: int = 0) -> list[str]:
    """A comment."""
    return [f"{' ' * indent}# {line.strip()}" for line in wrapped(text.split(), " ", indent + 2)]


def folded(begun: str, text: str, indent: int) -> list[str]:
    """A long text after a key or a dash, in several lines."""
    return [f"{begun} >-", *wrapped(text.split(), " ", indent)]

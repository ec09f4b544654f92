"""Names and labels of a draft: what a file calls its columns and values, within the rules of the language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from pydantic import TypeAdapter, ValidationError

from facsimile.spec.model import Label
from facsimile.synthesizers.measurements import ALL, AUTO, EACH, PAIRS, STRONGEST

LONGEST_NAME, LONGEST_LABEL = 60, 100
_LABEL = TypeAdapter(Label)
_TAKEN = {"and", "or", "not", "in", "is", "missing", "any", EACH, ALL, PAIRS, STRONGEST, AUTO}
"""Words of conditions and of measurements, which no column should be called by."""


def column_name(raw: str, place: int, taken: Collection[str]) -> str:
    """A name in small Latin letters, digits and `_`, that no other column has.

    >>> column_name("Größe (m)", 3, ()), column_name("2nd child", 0, ()), column_name("כיתה", 1, ())
    ('grosse_m', 'c_2nd_child', 'column_2')
    >>> column_name("Sex", 5, ["sex"]), column_name("all", 0, ())
    ('sex_2', 'all_')
    """
    plain = unicodedata.normalize("NFKD", raw.casefold()).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:LONGEST_NAME].strip("_") or f"column_{place + 1}"
    name = name if name[0].isalpha() else f"c_{name}"
    return _another(f"{name}_" if name in _TAKEN else name, taken, "{}_{}")


def label(raw: str, place: int, taken: Collection[str]) -> str:
    """The text itself where it may be a label, or what is left of it, that no other value has.

    >>> label("home", 0, ()), label("=other", 1, ()), label("@", 2, ()), label("-5", 0, ())
    ('home', 'other', 'value 3', '-5')
    """
    if is_label(raw) and raw not in taken:
        return raw
    plain = "".join(c if c.isprintable() else " " for c in raw)
    plain = " ".join(plain.lstrip("=+-@ ").split())[:LONGEST_LABEL].strip()
    return _another(plain if is_label(plain) else f"value {place + 1}", taken, "{} ({})")


def is_label(text: str) -> bool:
    """Whether a text may stand in a spreadsheet as it is."""
    try:
        _LABEL.validate_python(text)
    except ValidationError:
        return False
    return True


def described(raw: str) -> str:
    """A name of a file as words for people."""
    plain = "".join(c if c.isprintable() else " " for c in raw)
    return " ".join(plain.replace("_", " ").split()) or "No name"


def _another(name: str, taken: Collection[str], form: str) -> str:
    found, number = name, 2
    while found in taken:
        found, number = form.format(name, number), number + 1
    return found

"""A part of a draft: plain data as a specification has them, and a note on each key that was guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Part:
    """Keys with their values, in the order in which they are written; `notes` are by key."""

    data: Mapping[str, Any]
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DraftColumn(Part):
    """What a raw column becomes. `raw` is its name in the file, `kind` a word for people.

    `averaged`: a mean of it makes sense: it has many values, and none of them is a code.
    """

    raw: str = ""
    kind: str = ""
    averaged: bool = False

    @property
    def name(self) -> str:
        """Its name in the release."""
        return str(self.data["name"])

    @property
    def short(self) -> Part:
        """The same with each label written once: `labels` for a map and its values, `each` for all values."""
        data, values = dict(self.data), self.data.get("values")
        if values is None:
            return self

        def shorter(partition: Any) -> Any:
            return "each" if partition == values else partition

        data["alternatives"] = {name: shorter(one) for name, one in data["alternatives"].items()}
        data |= {"groups": shorter(data["groups"])} if "groups" in data else {}
        said = list(dict.fromkeys(data.get("map", {}).values())) == values
        if not said:
            return Part(data, self.notes)
        named = {"map": "labels"}
        kept = {named.get(key, key): value for key, value in data.items() if key != "values"}
        notes = {named.get(key, key): note for key, note in self.notes.items() if key != "values"}
        return Part(kept, {"labels": self.notes["values"]} | notes if "values" in self.notes else notes)


@dataclass(frozen=True)
class LeftOut:
    """A raw column that the draft does not have, and why."""

    raw: str
    why: str

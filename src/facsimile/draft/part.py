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


@dataclass(frozen=True)
class LeftOut:
    """A raw column that the draft does not have, and why."""

    raw: str
    why: str

"""Prior: what is public about a population like that of the data, for generators that can lean on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PrivateAttr

from facsimile.spec.decimals import Count
from facsimile.spec.mistakes import Mistake
from facsimile.spec.model import TEXT, Model, Prose, optional, text_of_number, written
from facsimile.spec.people import Sourced

RECORDS = 100_000
"""How many records are simulated from facts."""
_PLACE_RULE = "a prior is a file on this machine: its path has 1 to 500 characters on one line, and no ://"
_DIGEST_RULE = "a SHA-256 has 64 digits, 0 to 9 and a to f"


def _is_place(text: str) -> bool:
    return 0 < len(text) <= 500 and text.isprintable() and "://" not in text


Place = Annotated[str, BeforeValidator(text_of_number), written(_is_place, _PLACE_RULE), TEXT]
Digest = Annotated[str, written(re.compile("[0-9a-f]{64}").fullmatch, _DIGEST_RULE), TEXT]


class Prior(Model):
    """A public table of the same form as the data, or published facts to simulate one from.

    Its hash is a part of the specification, so of the plan: another file is another release. Relative paths
    start at the folder of the specification's file.
    """

    file: Place | None = optional("A public table of the same form as the data.")
    facts: Place | None = optional("Published facts, to simulate such a table from.")
    sha256: Digest | None = optional("The SHA-256 of that file; `check` tells it.")
    records: Count | None = optional("How many records a file has, or are simulated from facts.", ge=2)
    description: Prose | None = optional("What it is.")
    source: Sourced | None = optional("Who published it, and when.")

    _folder: Path = PrivateAttr(Path())

    def model_post_init(self, context: Any, /) -> None:
        """Remember the folder of the specification, where it was read from a file."""
        if isinstance(context, Path):
            self._folder = context

    def mistakes(self) -> Iterator[Mistake]:
        """A prior is a file or facts."""
        if (self.file is None) == (self.facts is None):
            yield Mistake((), "a prior has either `file` or `facts`")

    @property
    def place(self) -> str:
        """The path of its file, from here."""
        return str(self._folder / (self.file or self.facts or ""))

    @property
    def name(self) -> str:
        """What may be told about its place anywhere: a name without a folder."""
        return Path(self.file or self.facts or "").name

    @property
    def size(self) -> int | None:
        """How many records it has, as far as the specification says."""
        return RECORDS if self.records is None and self.facts is not None else self.records

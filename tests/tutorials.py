"""Tutorials: what a reader of docs/tutorial-… does, step by step, and what is shown under each step."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conftest import ROOT

SKIPPED = "…"
PAGES = sorted((ROOT / "docs").glob("tutorial-*.md"))
BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
REFUSED = re.compile(r"^E\d{3} ", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A command for the shell or examples for Python; a command has what is shown under it."""

    python: bool
    text: str
    shown: str = ""

    @property
    def refused(self) -> bool:
        """Whether the page shows a refusal."""
        return bool(REFUSED.search(self.shown))

    def missing(self, printed: str) -> str | None:
        """The first piece between two marks that was not printed in its place, however lines are broken."""
        rest = plain(printed)
        for piece in filter(None, map(plain, self.shown.split(SKIPPED))):
            if piece not in rest:
                return piece
            rest = rest.partition(piece)[2]
        return None


def plain(text: str) -> str:
    """Words and numbers, without their places on lines."""
    return " ".join(text.split())


def steps(text: str) -> list[Step]:
    """Everything that a reader does, in the order of the page."""
    found = []
    for kind, block in BLOCK.findall(text):
        if kind == "pycon":
            found.append(Step(True, block))
            continue
        parts = (part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
        found += [Step(False, command, shown) for command, _, shown in parts]
    return found

"""A mutant: a patch of one file, why it matters, and the tests that could notice it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "src/facsimile/"


class Stale(Exception):
    """The text that a mutant changes does not occur exactly once: the list no longer fits the source."""


@dataclass(frozen=True)
class Mutant:
    """`old` becomes `new` in a file below src/facsimile, or below tests where the path says so.

    `tests` are node ids of pytest, or files. `why` says what a reader of a release would suffer.
    `hangs`: running too long is how it is noticed; otherwise a time-out is no kill.
    `read`: the tests look at the file's text and need not import it.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str
    hangs: bool = False
    read: bool = False

    @property
    def path(self) -> str:
        """The file, below the root of the project."""
        return self.file if self.file.startswith("tests/") else PACKAGE + self.file

    def applied(self, text: str) -> str:
        """The text of the file with the mistake in it; it must fit in one place and no other."""
        found = text.count(self.old)
        if found != 1 or self.old == self.new:
            raise Stale(f"{self.name}: its text occurs {found} times in {self.path}")
        return text.replace(self.old, self.new)


def source(path: str, root: Path = ROOT) -> str:
    """A file of the project."""
    return (root / path).read_text("utf-8")

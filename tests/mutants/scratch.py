"""Scratch copies of the project: a mutant lives in one, never in the tree that people work in."""

from __future__ import annotations

import compileall
import contextlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutants.mutant import ROOT

LEFT_OUT = shutil.ignore_patterns(
    ".*", "__pycache__", "build", "dist", "demo", "*.egg-info", "node_modules", "mutants"
)


@dataclass(frozen=True)
class Scratch:
    """A copy of the project for one worker, compiled once, so that each mutant compiles only its own file."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> Scratch:
        """A fresh copy."""
        shutil.copytree(ROOT, root, ignore=LEFT_OUT)
        for folder in ("src", "tests"):
            compileall.compile_dir(root / folder, quiet=2)
        return cls(root)

    @property
    def path(self) -> list[str]:
        """Where Python looks first."""
        return [str(self.root / "src"), str(self.root / "tests")]

    @contextlib.contextmanager
    def holding(self, path: str, text: str | None) -> Iterator[None]:
        """The copy with another text in one file. Its compiled form is put aside: Python tells a stale one by
        size and second only, and many mutants have the size of the original."""
        if text is None:
            yield
            return
        file = self.root / path
        before, times = file.read_bytes(), file.stat()
        compiled = Path(importlib.util.cache_from_source(str(file)))
        kept = compiled.read_bytes() if compiled.exists() else None
        compiled.unlink(missing_ok=True)
        file.write_text(text, "utf-8")
        try:
            yield
        finally:
            file.write_bytes(before)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
            compiled.unlink(missing_ok=True)
            if kept is not None:
                compiled.write_bytes(kept)

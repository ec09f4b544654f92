"""The program, run as a shell would run it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from facsimile import cli


@dataclass(frozen=True)
class Ran:
    """What one run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def complaints(self) -> str:
        """Standard error without its signs of life."""
        return "".join(line for line in self.err.splitlines(keepends=True) if not line.endswith(" …\n"))

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Program:
    """The program, run in this process as a shell would run it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: object) -> Ran:
        self.monkeypatch.setattr(sys, "argv", ["facsimile", *(str(a) for a in arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = self.capsys.readouterr()
        return Ran(int(stopped.value.code or 0), out, err)


def environment() -> dict[str, str]:
    """What a shell has that finds the program."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | {"PATH": path, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}

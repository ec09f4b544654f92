"""A change of structure changes no file that a seeded command writes and no cost that it prints."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT, RECORDED = (Path(__file__).with_name(name) for name in ("rehearsals.py", "recorded.json"))


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="recorded with the floats of another machine",
)
def test_rehearsals_are_the_recorded_ones() -> None:
    ran = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True)
    found, recorded = json.loads(ran.stdout), json.loads(RECORDED.read_text(encoding="utf-8"))
    assert list(found) == list(recorded)
    assert not [name for name, value in found.items() if recorded[name] != value]

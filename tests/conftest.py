"""Shared paths and settings of the tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from programs import Program

settings.register_profile(
    "facsimile", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("facsimile")

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
PUBLIC = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def births() -> Path:
    return EXAMPLES / "births"


@pytest.fixture(scope="session")
def nvss() -> Path:
    """The folder of the public sample; tests that need it are about that sample only."""
    if not (PUBLIC / "nvss2019_singleton_10k.csv").exists():
        pytest.skip("the public sample is not on this machine")
    return PUBLIC


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    return Program(monkeypatch, capsys)


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    os.environ.pop("FORCE_COLOR", None)

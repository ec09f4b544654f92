"""Shared paths and settings of the tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from browser import Browser, Chromium
from needs import needs
from programs import Program

if TYPE_CHECKING:
    from facsimile.explore.study import Study

# Before NumPy is imported: tests run side by side, and threads that wait for a core wait busily.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile(
    "facsimile", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("facsimile")

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
PUBLIC = ROOT.parent / "shared" / "data"
LONG = (
    "test_docs.py",
    "test_run_crashes.py",
    "test_rehearsals.py",
    "test_planner.py",
    "test_pool.py",
    "test_mistakes.py",
    "test_interrupt.py",
    "test_exploring.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take long come first, doctests last: workers end together (`--no-loadscope-reorder`)."""
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


@pytest.fixture(scope="session")
def births() -> Path:
    return EXAMPLES / "births"


@pytest.fixture(scope="session")
def nvss() -> Path:
    """The folder of the public sample; tests that need it are about that sample only."""
    if not (PUBLIC / "nvss2019_singleton_10k.csv").exists():
        pytest.skip("the public sample is not on this machine")
    return PUBLIC


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server that is thrown away in the end."""
    from engines import postgres_server

    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """The browser's program, started once."""
    program = shutil.which("chromium") or needs("no Chromium on this machine")
    with Chromium(program, tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def browser(chromium: Chromium) -> Iterator[Browser]:
    """A browser that no other file of tests used."""
    with chromium.browser() as found:
        yield found


@pytest.fixture(scope="session")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A whole study, explored once for all tests that read it."""
    from reports import explored_study

    return explored_study(tmp_path_factory.mktemp("study") / "people.study")


@pytest.fixture
def typeset_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of bundles that are made, changed and verified: their pages stay as they are."""
    from facsimile.documents import readme
    from typesetting import ONCE

    monkeypatch.setattr(readme, "typst", ONCE)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    return Program(monkeypatch, capsys)


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    os.environ.pop("FORCE_COLOR", None)


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state folder of this session's tests, never that of the user; a test that claims takes its own."""
    folder = tmp_path_factory.getbasetemp() / "state"
    monkeypatch.setenv("FACSIMILE_STATE", str(folder))
    return folder

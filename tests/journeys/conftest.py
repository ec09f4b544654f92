from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform == "win32":
    collect_ignore_glob = ["test_*.py"]  # pseudo-terminals
else:
    from journeys import wards
    from journeys.forking import Forked
    from journeys.terminal import Terminal

    def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
        here = Path(__file__).parent
        for item in items:
            if item.path.is_relative_to(here):
                item.add_marker("journey")

    @pytest.fixture(params=["terminal", "pipe"])
    def interactive(request: pytest.FixtureRequest) -> bool:
        return bool(request.param == "terminal")

    @pytest.fixture(scope="session")
    def forked() -> Iterator[Forked]:
        """The program, imported once."""
        with Forked() as found:
            yield found

    @pytest.fixture
    def typing(tmp_path: Path, interactive: bool, forked: Forked) -> Terminal:
        """The installed program in a terminal, as a person starts it; its children with pipes."""
        return Terminal(tmp_path, interactive, forked=None if interactive else forked)

    @pytest.fixture
    def desk(typing: Terminal) -> Terminal:
        """A folder with a confidential file and its specification, and a terminal in it."""
        wards.write(typing.folder)
        (typing.folder / "wards.yaml").write_text(wards.specification(), encoding="utf-8")
        return typing

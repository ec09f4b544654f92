from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    collect_ignore_glob = ["test_*.py"]  # pseudo-terminals
else:
    from journeys import wards
    from journeys.terminal import Terminal

    def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
        here = Path(__file__).parent
        for item in items:
            if item.path.is_relative_to(here):
                item.add_marker("journey")

    @pytest.fixture(params=["terminal", "pipe"])
    def interactive(request: pytest.FixtureRequest) -> bool:
        return bool(request.param == "terminal")

    @pytest.fixture
    def desk(tmp_path: Path, interactive: bool) -> Terminal:
        """A folder with a confidential file and its specification, and a terminal in it."""
        wards.write(tmp_path)
        (tmp_path / "wards.yaml").write_text(wards.specification(), encoding="utf-8")
        return Terminal(tmp_path, interactive)

"""A study that several tests read: explored once."""

from __future__ import annotations

import pytest

from facsimile.explore.study import Study
from reports import explored_study


@pytest.fixture(scope="session")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return explored_study(tmp_path_factory.mktemp("study") / "people.study")

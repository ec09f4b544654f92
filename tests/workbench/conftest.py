from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser import Browser
from workbench.desk import Desk, served, written


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A workbench of a small table, for one file of tests."""
    folder = tmp_path_factory.mktemp("desk")
    with served(folder, written(folder)) as found:
        yield found


@pytest.fixture(scope="module")
def person(desk: Desk, browser: Browser) -> Browser:
    """Somebody who came in and said who they are."""
    desk.enter(browser)
    return browser

"""A workbench for tests: a small table that is no births, served in this process, and people who come in."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from browser import Browser
from facsimile.sources.address import Address
from facsimile.spec.load import parse
from facsimile.workbench.door import Door
from facsimile.workbench.server import bench_of, listening, server
from journeys import wards

MEASURED = 'grid: {measurements: ["each; ward*age; ward*days; age*days"]}'
DAYS = "      published: [1, 2-3, 4-7, 8-14, 14<]"
SPECIFICATION = (
    wards.specification()
    .replace("  - family: mst\n", "")
    .replace("grid:\n      measurements: [auto]", MEASURED)
    .replace(DAYS, f"{DAYS}  # days\n      coarse: [1-3, 3<]\n    use: [published]")
)


@dataclass(frozen=True)
class Desk:
    """A running workbench."""

    folder: Path
    door: Door

    @property
    def path(self) -> Path:
        return self.folder / "wards.yaml"

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def data(self) -> Any:
        return parse(self.text)[0]

    @property
    def log(self) -> list[dict[str, Any]]:
        path = self.folder / "wards.decisions.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def enter(self, browser: Browser, page: str = "", name: str = "Ada", role: str = "lawyer") -> None:
        """Come in by a link, say who you are, and open a page."""
        browser.open(self.door.link())
        browser.until("document.querySelector('#who input') !== null")
        ready(browser)
        fill(browser, "#who [name=name]", name)
        fill(browser, "#who [name=role]", role)
        browser.click("#who form button")
        browser.until(f"document.querySelector('#who summary').textContent.includes({json.dumps(name)})")
        self.open(browser, page)

    def open(self, browser: Browser, page: str, width: int = 1280) -> None:
        """Open a page, and wait until everything on it is known."""
        browser.open(f"{self.door.origin}/{page}", width)
        ready(browser)


def ready(browser: Browser, seconds: float = 60) -> None:
    """Nothing is being worked out any more."""
    browser.until("document.readyState == 'complete' && !document.querySelector('[data-working]')", seconds)


def fill(browser: Browser, selector: str, text: str) -> None:
    """Click a field and type into it, over what stands there."""
    browser.click(selector)
    browser.press("Control+a")
    browser.press("Delete")
    browser.type(text)


def sent(browser: Browser, selector: str) -> str:
    """Press a button, and what the page then says was done, or not."""
    browser.do("document.querySelector('#told').replaceChildren()")
    browser.click(selector)
    return told(browser)


def told(browser: Browser) -> str:
    """What the page says was done, or not."""
    return str(browser.until("document.querySelector('#told .told')?.textContent.trim()"))


@contextlib.contextmanager
def served(folder: Path, public: Path | None, name: str = "wards.yaml") -> Iterator[Desk]:
    """A workbench in a thread of this process."""
    bench = bench_of(folder / name, None if public is None else Address.of(public))
    socket = listening(0)
    door = Door(socket.getsockname()[1])
    running = server(bench, door)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    end = monotonic() + 30
    while not running.started:
        assert monotonic() < end and thread.is_alive()
    try:
        yield Desk(folder, door)
    finally:
        running.should_exit = True
        thread.join(20)
        bench.jobs.stop()


def written(folder: Path) -> Path:
    """The public table and its specification, in a folder."""
    wards.write(folder)
    (folder / "wards.yaml").write_text(SPECIFICATION, encoding="utf-8")
    return folder / "wards.csv"

"""axe-core, the checks of accessibility that a program can make, run in a page of the test browser."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from documents.test_browser import Browser

RUN = (
    "axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => [id, nodes[0].html])))"
)


def violations(browser: Browser) -> list[tuple[str, str]]:
    """What axe finds wrong with the open page: the rule, and the first element that breaks it."""
    script = (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    browser.ask("Runtime.evaluate", expression=script)
    found = browser.ask("Runtime.evaluate", expression=RUN, awaitPromise=True, returnByValue=True)
    return [(rule, html) for rule, html in json.loads(found["result"]["value"])]

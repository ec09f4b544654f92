"""axe-core in the browser of a test: what it finds wrong with the page that is open."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Protocol


class Asked(Protocol):
    """A browser that is driven by its debugging protocol."""

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]: ...


def violations(browser: Asked) -> list[str]:
    """Each rule that the page breaks, with the places where it does."""
    _run(browser, files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8") + ";0")
    found = _run(browser, "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


def _run(browser: Asked, script: str) -> Any:
    found = browser.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
    assert "exceptionDetails" not in found, found["exceptionDetails"]
    return found["result"]["value"]

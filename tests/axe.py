"""axe-core in the browser of a test: what it finds wrong with the page that is open."""

from __future__ import annotations

from importlib.resources import files

from browser import Browser


def violations(browser: Browser) -> list[str]:
    """Each rule that the page breaks, with the places where it does."""
    browser.do(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = browser.value("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]

"""The documentation's site (make docs): Markdown pages, and a reference made from docstrings, for any browser, offline."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "facsimile"
author = "The facsimile authors"
copyright = author
extensions = ["myst_parser", "docstrings"]
exclude_patterns = ["Thumbs.db", ".DS_Store"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "facsimile"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_extra_path = ["../build/site-extra"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1d4ed8", "color-brand-content": "#1d4ed8"},
    "dark_css_variables": {"color-brand-primary": "#93c5fd", "color-brand-content": "#93c5fd"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

LOADED = re.compile(r"""<(?:script|img|iframe|link(?![^>]*rel="(?:canonical|license)"))[^>]*(?:src|href)="(?:https?:)?//""")


def refuse_what_needs_a_network(app: Sphinx, failure: Exception | None) -> None:
    """The site opens in an enclave: no page loads anything from elsewhere."""
    pages = sorted(Path(app.outdir).rglob("*.html")) if failure is None else []
    for page in pages:
        if LOADED.search(page.read_text("utf-8")):
            raise ExtensionError(f"{page.name} loads something from another host")


def setup(app: Sphinx) -> None:
    """What is done when every page is written."""
    app.connect("build-finished", refuse_what_needs_a_network)

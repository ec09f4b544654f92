"""The documentation's site (make docs): the pages of this folder and a reference from docstrings, offline."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

project = "facsimile"
author = "The facsimile authors"
project_copyright = author
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
maximum_signature_line_length = 88
python_trailing_comma_in_multi_line_signatures = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1d4ed8", "color-brand-content": "#1d4ed8"},
    "dark_css_variables": {"color-brand-primary": "#93c5fd", "color-brand-content": "#93c5fd"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

ELSEWHERE = {
    "privacy": "src/facsimile/privacy/README.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "changelog": "CHANGELOG.md",
}
"""Pages under reference/ whose words stand outside this folder."""
LOADED = re.compile(r'<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)="(?:https?:)?//')


def bring_in(app: Sphinx, page: str, source: list[str]) -> None:
    """A page from elsewhere gets its words, and links to where they stand lead to that page."""
    folder, _, name = page.rpartition("/")
    text = source[0]
    if folder == "reference" and name in ELSEWHERE:
        text = (ROOT / ELSEWHERE[name]).read_text("utf-8")
    for place, path in ELSEWHERE.items():
        text = re.sub(rf"\]\((?:\.\./)*{re.escape(path)}", f"](/reference/{place}.md", text)
    source[0] = re.sub(r"\]\((?:\.\./)*docs/", "](/", text)


def refuse_what_needs_a_network(app: Sphinx, failure: Exception | None) -> None:
    """The site opens in an enclave: no page loads anything from elsewhere."""
    pages = sorted(Path(app.outdir).rglob("*.html")) if failure is None else []
    for page in pages:
        if LOADED.search(page.read_text("utf-8")):
            raise ExtensionError(f"{page.name} loads something from another host")


def setup(app: Sphinx) -> None:
    """What is done when a page is read, and when every page is written."""
    app.connect("source-read", bring_in)
    app.connect("build-finished", refuse_what_needs_a_network)

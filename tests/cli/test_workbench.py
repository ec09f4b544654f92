"""The workbench's command: what it starts can be read by every user of the machine, and holds no secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from facsimile.cli.workbench import COMMANDS
from workbench.desk import written

BROWSER = """#!{python}
import json, os, signal, stat, sys, urllib.request
from pathlib import Path
try:
    page = Path(urllib.request.url2pathname(sys.argv[1].removeprefix("file://")))
    link = page.read_text().partition("url=")[2].partition('"')[0]
    modes = [oct(stat.S_IMODE(path.stat().st_mode)) for path in (page, page.parent)]
    status = urllib.request.urlopen(link, timeout=10).status if {follows} else 0
    seen = dict(argv=sys.argv, link=link, modes=modes, page=str(page), status=status, left=page.exists())
    Path("seen.json").write_text(json.dumps(seen))
finally:
    os.kill(os.getppid(), signal.SIGTERM)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals and modes of files are those of Unix")
@pytest.mark.parametrize("follows", [True, False])
def test_a_browser_is_started_without_the_token_once_the_server_answers(tmp_path: Path, follows: bool) -> None:
    """The page that leads to the link is its owner's, and goes when the link is used, or with the server."""
    table, browser = written(tmp_path), tmp_path / "browser"
    browser.write_text(BROWSER.format(python=sys.executable, follows=follows))
    browser.chmod(0o700)
    command = [sys.executable, "-m", "facsimile", *COMMANDS, "wards.yaml", "--public", str(table), "--open"]
    environment = os.environ | {"BROWSER": f"{browser} %s", "TMPDIR": str(tmp_path)}
    said = subprocess.run(
        [*command, "--json"], cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False
    ).stdout
    assert (tmp_path / "seen.json").exists(), "it was given no page, or no answer"
    seen: dict[str, Any] = json.loads((tmp_path / "seen.json").read_text())
    token = json.loads(said)["link"].partition("token=")[2]
    assert seen["link"].endswith(token) and len(token) > 40
    assert len(seen["argv"]) == 2 and not any(token in word for word in seen["argv"])
    assert seen["modes"] == ["0o600", "0o700"]
    assert (seen["status"], seen["left"]) == ((200, False) if follows else (0, True))
    assert not Path(seen["page"]).parent.exists()

from __future__ import annotations

import io
import time
from typing import Any

import pytest

from facsimile.cli import progress
from facsimile.explore.explore import News


def news(**changes: Any) -> News:
    given: dict[str, Any] = {
        "stage": "epsilon 2: race",
        "trials": 1500,
        "done": 300,
        "running": 7,
        "survivors": 3,
        "left": 600,
        "started": 0.0,
    }
    return News(**(given | changes))


def test_progress_has_rate_survivors_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    assert progress._told(news(), None) == (
        "epsilon 2: race: 1,500 trials, 3.0 a second, 7 running, 3 survive, at most 3:20 left in this stage"
    )
    assert "at most 0:50 left" in progress._told(news(), 150.0)
    assert "at most 5:33:20 left" in progress._told(news(left=60_000), None)
    assert "0.0 a second" in progress._told(news(done=0), None)


def test_without_a_terminal_a_line_comes_every_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    now, err = [0.0], io.StringIO()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr", err)
    with progress.watching(False, None) as watch:
        for now[0] in range(0, 900, 10):
            watch(news())
    assert len(err.getvalue().splitlines()) == 2


def test_progress_of_a_step_is_a_line_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.busy("Reading", as_json=False):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.busy("Reading", as_json=False) as timer:
        assert timer is not None
        timer.join()
    assert capsys.readouterr().err == "Reading …\n"
    with progress.busy("Reading", as_json=True) as silent:
        assert silent is None

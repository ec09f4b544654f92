from __future__ import annotations

import io
import time
from collections.abc import Iterator
from itertools import islice
from threading import Event
from typing import Any

import pytest

from facsimile.cli import progress
from facsimile.explore.run import News


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


def test_without_a_terminal_lines_come_from_the_start_also_while_no_trial_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, given, err = Event(), Event(), io.StringIO()
    monkeypatch.setattr("sys.stderr", err)

    def pauses() -> Iterator[float]:
        yield 0.0
        yield 0.0
        begun.set()
        given.wait(30)
        yield 60.0

    monkeypatch.setattr(progress, "pauses", pauses)
    with progress.watching(False, None) as watch:
        assert begun.wait(30)
        watch(news())
        given.set()
    start, still, told = err.getvalue().splitlines()
    assert start == still == "Exploring …"
    assert told.startswith("epsilon 2: race: 1,500 trials") and told.endswith(" …")


def test_the_first_line_after_the_start_comes_within_ten_seconds_and_then_one_a_minute_at_least() -> None:
    assert list(islice(progress.pauses(), 6)) == [10, 20, 40, 60, 60, 60]


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


def test_a_step_that_says_what_it_does_is_silent_for_two_seconds_and_for_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    for as_json, shown in ((False, "third …\nfifth …\n"), (True, "")):
        now = 0.0
        with progress.telling("Reading", as_json) as tell:
            for seconds, doing in (
                (0, "first"),
                (1.9, "second"),
                (2.5, "third"),
                (9, "fourth"),
                (12.5, "fifth"),
            ):
                now = float(seconds)
                tell(doing)
        assert capsys.readouterr().err == shown

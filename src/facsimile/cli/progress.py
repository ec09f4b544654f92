"""Signs of life on standard error while something takes its time; nothing of it for JSON."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from facsimile.explore.explore import News, Watch

EVERY = 300.0
PATIENCE = 2.0


@contextlib.contextmanager
def busy(doing: str, as_json: bool, at_once: bool = False) -> Iterator[Timer | None]:
    """A sign of life while something takes its time: on a terminal a spinner, elsewhere a line in two seconds.

    `at_once` writes the line before anything is done: where records are at work, its moment must say nothing.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if as_json:
        yield None
    elif console.is_terminal:
        with console.status(doing):
            yield None
    elif at_once:
        sys.stderr.write(f"{doing} …\n")
        yield None
    else:
        timer = Timer(PATIENCE, lambda: sys.stderr.write(f"{doing} …\n") and None)
        timer.daemon = True
        timer.start()
        try:
            yield timer
        finally:
            timer.cancel()


@contextlib.contextmanager
def watching(as_json: bool, seconds: float | None) -> Iterator[Watch]:
    """Rate, survivors and time left: live on a terminal, every five minutes elsewhere, nothing for JSON."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    console = Console(stderr=True)
    if as_json:
        yield lambda news: None
    elif not console.is_terminal:
        yield _now_and_then(seconds)
    else:
        columns = (SpinnerColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("Starting", total=None)
            yield lambda news: progress.update(task, description=_told(news, seconds))


def _now_and_then(seconds: float | None) -> Watch:
    last = time.monotonic()

    def watch(news: News) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            sys.stderr.write(_told(news, seconds) + "\n")

    return watch


def _told(news: News, seconds: float | None) -> str:
    """One line about where the exploration is."""
    spent = max(time.monotonic() - news.started, 1e-9)
    rate = news.done / spent
    left = news.left / rate if rate else 0.0
    if seconds is not None:
        left = min(left, max(0.0, seconds - spent))
    return (
        f"{news.stage}: {news.trials:,} trials, {rate:.1f} a second, {news.running:,} running, "
        f"{news.survivors:,} survive, at most {_clock(left)} left in this stage"
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

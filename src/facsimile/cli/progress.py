"""Signs of life on standard error while something takes its time; nothing of it for JSON."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from facsimile.explore.run import News, Watch

FIRST, LONGEST = 10.0, 60.0
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
def telling(doing: str, as_json: bool) -> Iterator[Callable[[str], None]]:
    """A sign of life that is told what is done now; where no terminal is, a line in two seconds, then fewer."""
    from rich.console import Console

    console, due, silences = Console(stderr=True), time.monotonic() + PATIENCE, pauses()

    def line(now: str) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + next(silences)
            sys.stderr.write(f"{now} …\n")

    if as_json:
        yield lambda now: None
    elif console.is_terminal:
        with console.status(doing) as status:
            yield lambda now: status.update(now)
    else:
        yield line


@contextlib.contextmanager
def watching(as_json: bool, seconds: float | None) -> Iterator[Watch]:
    """Rate, survivors and time left: live on a terminal, elsewhere in a line now and then, nothing for JSON."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    console = Console(stderr=True)
    if as_json:
        yield lambda news: None
    elif not console.is_terminal:
        with _now_and_then(seconds) as watch:
            yield watch
    else:
        columns = (SpinnerColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("Starting", total=None)
            yield lambda news: progress.update(task, description=_told(news, seconds))


@contextlib.contextmanager
def _now_and_then(seconds: float | None) -> Iterator[Watch]:
    """A line at the start and then after each pause, also while no trial ends."""
    latest: list[News] = []
    over = Event()

    def watch(news: News) -> None:
        latest[:] = [news]

    def speak() -> None:
        for pause in pauses():
            told = "".join(_told(news, seconds) for news in latest) or "Exploring"
            sys.stderr.write(f"{told} …\n")
            sys.stderr.flush()
            if over.wait(pause):
                return

    speaker = Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield watch
    finally:
        over.set()
        speaker.join()


def pauses() -> Iterator[float]:
    """How long to be silent: ten seconds, then longer and longer, a minute at most.

    >>> from itertools import islice
    >>> list(islice(pauses(), 5))
    [10.0, 20.0, 40.0, 60.0, 60.0]
    """
    pause = FIRST
    while True:
        yield pause
        pause = min(2 * pause, LONGEST)


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

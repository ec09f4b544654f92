"""Reach: which test runs which function of the files that an auditor reads, and how long it takes.

It is recorded once (`python -m mutants --record`) and kept in reach.json, by the names of functions and tests,
so that it stays useful while lines move. A function that it does not know is tried by the tests of its file.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mutants.mutant import ROOT
from mutants.runner import Job, run
from mutants.scratch import Scratch

README = ROOT / "src" / "facsimile" / "privacy" / "README.md"
KEPT = Path(__file__).with_name("reach.json")
FOLDERS = (
    "release", "contracts", "audit", "privacy", "testing", "table", "sources", "acceptance", "shaping",
    "synthesizers",
)  # fmt: skip
MOST = 500
"""So many tests are kept for a function: those of its own file first, then the fastest."""


@cache
def files() -> tuple[str, ...]:
    """What an auditor must read: the privacy core, and the files beside it that run on records."""
    listed = README.read_text("utf-8").split("what an auditor must read")[1].split("are imported with them")[0]
    beside = [line.split("`")[1].removeprefix("../") for line in listed.splitlines() if line.startswith("| `")]
    package = ROOT / "src" / "facsimile"
    core = [path.relative_to(package).as_posix() for path in (package / "privacy").rglob("*.py")]
    return tuple(sorted({*core, *beside}))


@dataclass(eq=False)
class Watch:
    """A plugin of pytest: the functions that run in each test, and its seconds; told in a file."""

    told: Path
    found: dict[str, tuple[float, set[str]]] = field(default_factory=dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Watch one test, its fixtures included."""
        seen: set[Any] = set()
        root = f"{Path.cwd()}/src/facsimile/"

        def called(frame: FrameType, event: str, argument: Any) -> None:
            seen.add(frame.f_code)

        began = time.process_time()
        threading.settrace(called)
        sys.settrace(called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            name = item.nodeid.partition("[")[0]
            seconds, before = self.found.get(name, (0.0, set()))
            names = {
                f"{code.co_filename.removeprefix(root)}::{code.co_qualname.partition('.<locals>')[0]}"
                for code in seen
                if code.co_filename.startswith(root)
            }
            self.found[name] = (seconds + time.process_time() - began, before | names)

    def pytest_sessionfinish(self) -> None:
        """Write it down, for the process that forked this one."""
        told = {name: [seconds, sorted(names)] for name, (seconds, names) in self.found.items()}
        self.told.write_text(json.dumps(told), "utf-8")


def record(scratches: list[Scratch], words: str = "") -> None:
    """Run every test file once, watched, and keep what was seen of the auditor's files. With words, only files
    with one of them in their path; what is known of the others is kept."""
    wanted = set(files())
    paths = [path for folder in FOLDERS for path in sorted((ROOT / "tests" / folder).rglob("test_*.py"))]
    tests = [path.relative_to(ROOT).as_posix() for path in paths]
    modules = [f"src/facsimile/{name}" for name in files()]
    chosen = [path for path in (*tests, *modules) if any(word in path for word in words.split() or [""])]
    every = {name: seen for name, seen in _known().items() if name.partition("::")[0] not in chosen}
    folder = scratches[0].root.parent
    places = {name: folder / f"reached-{number}.json" for number, name in enumerate(chosen)}
    jobs = [Job(name, (name,), cpu=600, plugins=(Watch(place),)) for name, place in places.items()]
    for outcome in run(jobs, scratches):
        print(f"{outcome.seconds:7.1f} s  {outcome.verdict:9} {outcome.job.name} {outcome.by}", flush=True)
        found = places[outcome.job.name]
        if found.exists():
            for name, (seconds, names) in json.loads(found.read_text("utf-8")).items():
                kept = {one for one in names if one.partition("::")[0] in wanted}
                if kept:
                    every[name] = (seconds, kept)
    _keep(every)


def _known() -> dict[str, tuple[float, set[str]]]:
    """What was recorded before, of tests that are still there."""
    reach = Reach.read()
    reached: dict[str, set[str]] = {}
    for function, names in reach.functions.items():
        for name in names:
            reached.setdefault(name, set()).add(function)
    return {name: (reach.seconds[name], functions) for name, functions in reached.items()}


def _keep(every: dict[str, tuple[float, set[str]]]) -> None:
    reached: dict[str, list[str]] = {}
    for name, (_, functions) in every.items():
        for function in functions:
            reached.setdefault(function, []).append(name)
    for function, names in reached.items():
        own = mirrored(function.partition("::")[0])
        names.sort(key=lambda name, own=own: (not name.startswith(own), every[name][0]))  # type: ignore[misc]
        del names[MOST:]
    used = sorted({name for names in reached.values() for name in names})
    places = {name: place for place, name in enumerate(used)}
    told = {
        "tests": [[name, round(every[name][0], 2)] for name in used],
        "functions": {function: [places[name] for name in reached[function]] for function in sorted(reached)},
    }
    lines = json.dumps(told, ensure_ascii=False).replace("], ", "],\n").replace('"functions"', '\n"functions"')
    KEPT.write_text(lines + "\n", "utf-8")


def mirrored(file: str) -> tuple[str, str]:
    """How the tests of a file begin: those that mirror it, and its doctests."""
    own = Path(file).with_suffix("")
    return f"tests/{own.parent.as_posix()}/test_{own.name}", f"src/facsimile/{own.as_posix()}.py"


@dataclass(frozen=True)
class Reach:
    """What was recorded."""

    seconds: dict[str, float]
    functions: dict[str, tuple[str, ...]]

    @classmethod
    def read(cls) -> Reach:
        """From its file; tests that are no longer there are left out."""
        told = json.loads(KEPT.read_text("utf-8"))
        names = [name for name, _ in told["tests"]]
        there = {name for name in names if _there(name)}
        functions = {
            function: tuple(names[place] for place in places if names[place] in there)
            for function, places in told["functions"].items()
        }
        return cls(dict(told["tests"]), functions)

    def tests(self, file: str, function: str, seconds: float, most: int) -> tuple[str, ...]:
        """The tests that run a function, up to so many seconds, of so many test files: its own, then those with
        the most such tests. For what runs when a file is imported, those of the whole file."""
        inner = f"{file}::{function}"
        known = [self.functions[inner]] if inner in self.functions else []
        if not known:
            owner = f"{inner}." if function else f"{file}::"
            known = [names for key, names in self.functions.items() if key.startswith(owner)]
        if not known and function:
            return self.tests(file, "", seconds, most)
        names = dict.fromkeys(name for names in known for name in names)
        held, own = Counter(name.partition("::")[0] for name in names), mirrored(file)
        paths = sorted(held, key=lambda path: (not path.startswith(own), -held[path]))[:most]
        every = [name for name in names if name.partition("::")[0] in paths]
        every.sort(key=lambda name: self.seconds[name])
        chosen: list[str] = []
        left = seconds
        for name in every:
            left -= self.seconds[name]
            if left < 0 and chosen:
                break
            chosen.append(name)
        mirror = f"{own[0]}.py"  # written after the record
        return (mirror, *chosen) if mirror not in held and (ROOT / mirror).is_file() else tuple(chosen)


@cache
def _text(path: str) -> str:
    found = ROOT / path
    return found.read_text("utf-8") if found.is_file() else ""


def _there(name: str) -> bool:
    """Whether a test is still where it was."""
    path, _, rest = name.partition("::")
    if not path.startswith("tests/"):
        return bool(_text(path))
    return f"def {rest.rpartition('::')[2]}(" in _text(path)

"""The bench: one specification's file, a public file beside it, and what is known of the two."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from facsimile.agreement.agreed import Agreed
from facsimile.documents.decisions import Decisions, digest
from facsimile.errors import FacsimileError, refusal
from facsimile.explore.attainable import Outlook
from facsimile.privacy.reader import read_public_values
from facsimile.release.check import Check, check
from facsimile.release.plan import plan_hash
from facsimile.sources.address import Address
from facsimile.sources.claims import is_confidential
from facsimile.spec.load import loads, parse
from facsimile.spec.release import Specification
from facsimile.table.values import Values, form
from facsimile.workbench.jobs import Jobs
from facsimile.workbench.later import Later

MARK = re.compile(r"#\s*check:\s*(.*)")


@dataclass(frozen=True, eq=False)
class Seen:
    """The specification's text at one moment, and all that it says."""

    text: str
    folder: Path

    @property
    def digest(self) -> str:
        """Names the text."""
        return digest(self.text)

    @cached_property
    def problem(self) -> FacsimileError | None:
        """Why it is no specification; None where it is one."""
        try:
            _ = self.specification
        except FacsimileError as error:
            return error
        return None

    @cached_property
    def specification(self) -> Specification:
        """The specification."""
        return loads(self.text, folder=self.folder)

    @cached_property
    def data(self) -> Any:
        """Its plain data, as it is written."""
        return parse(self.text)[0]

    @cached_property
    def plan(self) -> str:
        """The hash of its promise; nothing where it makes none."""
        try:
            return plan_hash(self.specification)
        except (FacsimileError, ArithmeticError, ValueError):
            return ""

    @cached_property
    def checked(self) -> Check | FacsimileError:
        """What `check` finds, or why it refuses."""
        try:
            return check(self.specification)
        except FacsimileError as error:
            return error

    @cached_property
    def open_questions(self) -> list[tuple[int, str]]:
        """What a draft guessed and asks to be looked at: line and words."""
        lines = enumerate(self.text.splitlines(), 1)
        return [(n, found[1].strip()) for n, line in lines if (found := MARK.search(line))]


@dataclass
class Bench:
    """What every page of the workbench is about."""

    path: Path
    public: Address | None = None
    latest: Seen | None = None
    logged: tuple[tuple[int, int], Decisions] | None = None
    values: Later[Values] = field(default_factory=Later)
    outlooks: Later[Outlook] = field(default_factory=Later)
    plans: Later[Any] = field(default_factory=Later)

    def __post_init__(self) -> None:
        self.jobs = Jobs(self.folder)

    @property
    def folder(self) -> Path:
        """Where everything is made."""
        return self.path.absolute().parent

    @property
    def agreed(self) -> Agreed:
        """The file and its log."""
        return Agreed(self.path)

    @property
    def there(self) -> bool:
        """Whether there is a specification yet."""
        return self.path.is_file()

    def seen(self) -> Seen:
        """The specification as it is on disk now."""
        text = self.agreed.text
        if self.latest is None or self.latest.text != text:
            self.latest = Seen(text, self.folder)
        return self.latest

    def decisions(self) -> Decisions:
        """The log as it is now; what was read before is not read again."""
        log = self.agreed.log
        stamp = (log.stat().st_mtime_ns, log.stat().st_size) if log.exists() else (0, 0)
        if self.logged is None or self.logged[0] != stamp:
            self.logged = stamp, self.agreed.decisions
        return self.logged[1]

    @property
    def outside(self) -> bool:
        """Whether the file holds a change that the log does not."""
        log = self.decisions()
        return bool(log.entries) and log.text != self.seen().text

    def refuse_confidential(self) -> None:
        """The guard, asked again before each look: a file may have become confidential meanwhile."""
        if self.public is not None and is_confidential(self.public):
            raise refusal("E207", file=self.public.name)

    def read(self, seen: Seen) -> Values | None:
        """The values of the public file, where they are known by now; asking begins to read them."""
        if self.public is None or seen.problem is not None:
            return None
        self.refuse_confidential()
        public, spec = self.public, seen.specification
        found = self.values.begun(form(spec), lambda: read_public_values(public, spec))
        return found.result() if found.done() else None

    def outlook(self, seen: Seen) -> Outlook | None:
        """What the public file says of the criteria, where it is known by now."""
        values = self.read(seen)
        if values is None:
            return None
        spec = seen.specification
        found = self.outlooks.begun(_untouched(seen.data), lambda: Outlook.of(spec, values.table(spec)))
        return found.result() if found.done() else None

    @property
    def busy(self) -> bool:
        """Whether something is being worked out that a page waits for."""
        return self.values.busy or self.outlooks.busy or self.plans.busy

    def news(self) -> Mapping[str, Any]:
        """What an open page asks for each second: whether it is still about what is there."""
        there = self.there
        return {
            "text": self.seen().digest if there else "",
            "log": len(self.decisions().entries) if there else 0,
            "busy": self.busy,
            "jobs": self.jobs.states(),
        }

    def beside(self, ending: str) -> str:
        """The name of a file of ours beside the specification."""
        return f"{self.path.stem}.{ending}"


def _untouched(data: Any) -> str:
    """What an outlook follows from: everything but the thresholds and what is only words."""
    words = (
        "title",
        "description",
        "governance",
        "publisher",
        "contact",
        "calibration",
        "publish",
        "languages",
    )
    kept = {key: value for key, value in data.items() if key not in words}
    kept["criteria"] = [{k: v for k, v in one.items() if k not in _SAID} for one in data.get("criteria", ())]
    return repr(kept)


_SAID = ("threshold", "epsilon", "source", "threshold_source")

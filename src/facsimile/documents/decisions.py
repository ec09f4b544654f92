"""Decisions: who changed a specification, when and why; who said what of an item; who signed which plan.

One JSON object a line, in a file beside the specification, that is only ever added to. Each line names the hash
of the line before it, so what is left out, changed or put in between is seen; only a later line, or a signed
bundle that carries the log, vouches for the last one. The first line holds the whole text of the specification,
each change the lines that it replaced: the text at any time follows from the log.

>>> log = Decisions().begun("title: A\\n", when="2026-01-02T03:04:05Z")
>>> changed = log.changed("title: B\\n", by="Ada", why="Shorter.", when="2026-01-02T03:05:00Z", words=["title"])
>>> changed.text, changed.entries[1].edits, Decisions.of(changed.content) == changed
('title: B\\n', ((0, 1, ('title: B\\n',)),), True)
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, get_args

Deed = Literal["begun", "change", "comment", "signature"]
Edit = tuple[int, int, tuple[str, ...]]
LONGEST, MOST_BYTES = 4000, 1 << 25
"""Characters of what people write, and bytes of a whole log."""
TEXTS = ("when", "by", "role", "item", "why", "text", "digest", "plan", "before")


@dataclass(frozen=True)
class Entry:
    """One line of the log.

    `when`: in universal time; `by` and `role`: the author's own words; `item`: what it is about, as commands
    name it; `why`: the reason of a change, or what a comment says; `words`: what changed, for people; `edits`:
    lines of the text before, from and up to, and what stands there now; `text`: the whole of it, in the first
    line; `digest`: the SHA-256 of the text afterwards; `plan`: the hash of the promise that it makes, where it
    makes one; `outside`: whether the change was found in the file, and noted later; `before`: the hash of the
    line before.
    """

    deed: Deed
    when: str
    digest: str
    by: str = ""
    role: str = ""
    item: str = ""
    why: str = ""
    words: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    text: str = ""
    plan: str = ""
    outside: bool = False
    before: str = ""

    @property
    def line(self) -> bytes:
        """As it stands in the file: what is empty is left out."""
        plain = {name: value for name, value in asdict(self).items() if value}
        return json.dumps(plain, ensure_ascii=False, separators=(", ", ": ")).encode() + b"\n"


@dataclass(frozen=True)
class Decisions:
    """The log of one specification, from its first line on."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, content: bytes) -> Decisions:
        """The log in a file's content; ValueError where that is no whole log."""
        if len(content) > MOST_BYTES or (content and not content.endswith(b"\n")):
            raise ValueError("no whole log")
        found = cls(tuple(_entry(line) for line in content.splitlines(keepends=True)))
        before, text = "", ""
        for place, entry in enumerate(found.entries):
            if entry.before != before or (entry.deed == "begun") != (place == 0):
                raise ValueError("a line does not follow the one before it")
            text = _after(text, entry)
            if digest(text) != entry.digest:
                raise ValueError("a line is not about the text before it")
            before = _hash(entry)
        return found

    @property
    def content(self) -> bytes:
        """The whole file."""
        return b"".join(entry.line for entry in self.entries)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of the specification after each entry."""
        found, text = [], ""
        for entry in self.entries:
            text = _after(text, entry)
            found.append(text)
        return tuple(found)

    @property
    def text(self) -> str:
        """The text after the last entry; nothing before the first."""
        return self.texts[-1] if self.entries else ""

    @property
    def signatures(self) -> tuple[Entry, ...]:
        """Who signed, the last one of each name and role."""
        latest = {(e.by, e.role): e for e in self.entries if e.deed == "signature"}
        return tuple(latest.values())

    def comments(self, item: str) -> tuple[Entry, ...]:
        """What was said of an item."""
        return tuple(entry for entry in self.entries if entry.deed == "comment" and entry.item == item)

    def begun(self, text: str, *, when: str, plan: str = "") -> Decisions:
        """With its first line."""
        return self._with(Entry("begun", when, digest(text), text=text, plan=plan))

    def changed(
        self,
        text: str,
        *,
        by: str,
        why: str,
        when: str,
        words: Iterable[str],
        role: str = "",
        item: str = "",
        plan: str = "",
        outside: bool = False,
    ) -> Decisions:
        """With a change of the text."""
        edits = tuple(_edits(self.text, text))
        said = Entry("change", when, digest(text), by, role, item, why, tuple(words), edits, "", plan, outside)
        return self._with(said)

    def commented(self, item: str, why: str, *, by: str, when: str, role: str = "") -> Decisions:
        """With a comment on an item."""
        return self._with(Entry("comment", when, digest(self.text), by, role, item, why))

    def signed(self, plan: str, *, by: str, role: str, when: str, why: str = "") -> Decisions:
        """With a signature under the plan as it is."""
        return self._with(Entry("signature", when, digest(self.text), by, role, why=why, plan=plan))

    def _with(self, entry: Entry) -> Decisions:
        before = _hash(self.entries[-1]) if self.entries else ""
        return Decisions((*self.entries, _held(replace(entry, before=before))))


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def now() -> str:
    """This second, in universal time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _hash(entry: Entry) -> str:
    return hashlib.sha256(entry.line).hexdigest()


def _edits(before: str, after: str) -> Iterable[Edit]:
    """The lines that differ: from and up to which of the old ones, and the new ones in their place."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield i, j, tuple(new[k:m])


def _after(text: str, entry: Entry) -> str:
    """The text after an entry."""
    if entry.deed == "begun":
        return entry.text
    lines, last = text.splitlines(keepends=True), len(text.splitlines())
    for begin, end, new in reversed(entry.edits):
        if not 0 <= begin <= end <= last:
            raise ValueError("a line is not about the text before it")
        lines[begin:end], last = new, begin
    return "".join(lines)


def _entry(line: bytes) -> Entry:
    """An entry as it was written; ValueError for anything else."""
    try:
        told: dict[str, Any] = json.loads(line)
        told["words"] = tuple(told.get("words", ()))
        told["edits"] = tuple((int(i), int(j), tuple(new)) for i, j, new in told.get("edits", ()))
        entry = _held(Entry(**told))
    except (TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ValueError("no entry") from error
    if entry.line != line:
        raise ValueError("no entry")
    return entry


def _held(entry: Entry) -> Entry:
    """An entry whose parts are of their kind, and that a person wrote within limits."""
    texts = [getattr(entry, name) for name in TEXTS]
    lines = [*entry.words, *(line for _, _, new in entry.edits for line in new)]
    if not all(isinstance(text, str) for text in (*texts, *lines)) or type(entry.outside) is not bool:
        raise ValueError("no entry")
    if entry.deed not in get_args(Deed) or any(len(t) > LONGEST for t in (entry.by, entry.role, entry.why)):
        raise ValueError("no entry")
    datetime.strptime(entry.when, "%Y-%m-%dT%H:%M:%SZ")
    return entry

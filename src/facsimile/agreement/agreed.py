"""Agreed: a specification's file and the log of decisions beside it, changed together.

The file is the truth. A change replaces one or more items in its text and leaves every other byte; it says what
it saw there before. Under a lock across processes the text is read anew, and a change that saw something else
is refused, so that nobody undoes what somebody else did meanwhile; changes of different items both stay. What
was changed by another program is noted in the log as found, before the next change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from facsimile import storage
from facsimile.agreement.items import place_of
from facsimile.agreement.words import differences
from facsimile.documents.decisions import LONGEST, MOST_BYTES, Decisions, now
from facsimile.errors import FacsimileError, refusal
from facsimile.release.plan import plan_hash
from facsimile.release.writing import rewrite
from facsimile.spec.edits import at, removed, replaced
from facsimile.spec.load import loads, parse
from facsimile.spec.release import Specification
from facsimile.spec.text import read_limited

ENDING = ".decisions.jsonl"
PATIENCE_SECONDS = 10.0
UNSEEN, GONE = object(), object()
"""What a change did not look at, and what it takes away."""


@dataclass(frozen=True)
class Author:
    """Who decides, in their own words."""

    name: str
    role: str = ""


@dataclass(frozen=True)
class Change:
    """One item, as commands name it, its new value as plain data (or GONE), and what stood there before."""

    item: str
    value: Any
    seen: Any = UNSEEN


@dataclass(frozen=True)
class Agreed:
    """A specification's file."""

    path: Path

    @property
    def log(self) -> Path:
        """The log of decisions: release.yaml has release.decisions.jsonl, by whatever link it is named."""
        real = self.path.resolve()
        return real.with_name(real.stem + ENDING)

    @property
    def text(self) -> str:
        """The text as it is now."""
        return read_limited(self.path).decode(errors="replace")

    @property
    def decisions(self) -> Decisions:
        """The log as it is now; an empty one where there is none."""
        try:
            if not self.log.exists():
                return Decisions()
            if self.log.stat().st_size > MOST_BYTES:
                raise ValueError("too large")
            return Decisions.of(storage.read(self.log))
        except (OSError, ValueError):
            raise refusal("E441", file=self.log.name) from None

    @property
    def outside(self) -> bool:
        """Whether the text is not the one that the log ends with."""
        found = self.decisions
        return bool(found.entries) and found.text != self.text

    def change(self, changes: Sequence[Change], author: Author, why: str) -> tuple[str, ...]:
        """Make changes that belong together; in words, what they did."""

        def edited(text: str) -> str:
            for one in changes:
                text = _edited(text, one)
            return text

        return self._write(edited, author, why, ", ".join(dict.fromkeys(one.item for one in changes)))

    def take(self, text: str, seen: str, author: Author, why: str) -> tuple[str, ...]:
        """Put another text in place of the one that was seen."""

        def taken(now: str) -> str:
            if now != seen:
                raise refusal("E442", item=self.path.name)
            return text

        return self._write(taken, author, why, "")

    def note(self, author: Author, why: str) -> tuple[str, ...]:
        """Note in the log what was changed in the file by other means; nothing where nothing was."""
        _said(author.name, why)
        with self._locked():
            log, text = self.decisions, self.text
            if not log.entries:
                self._append(log, log.begun(text, when=now(), plan=plan_of_text(text, self.path)))
                return ()
            if log.text == text:
                return ()
            words = in_words(log.text, text, self.path)
            self._append(log, self._found(log, text, words, author, why))
            return words

    def comment(self, item: str, words: str, author: Author) -> None:
        """Say something of an item."""
        _said(author.name, words)
        with self._locked():
            log = self._begun()
            data, _ = parse(self.text)
            place_of(data, item)
            self._append(log, log.commented(item, words, by=author.name, role=author.role, when=now()))

    def sign(self, author: Author, plan: str | None = None, why: str = "") -> str:
        """Sign the plan as it is, or the one that was seen where it still is that one; its hash."""
        _said(author.name, author.role)
        with self._locked():
            log, text = self._begun(), self.text
            found = plan_hash(loads(text, folder=self.path.parent))
            if plan is not None and plan != found:
                raise refusal("E442", item="the plan")
            self._append(log, log.signed(found, by=author.name, role=author.role, when=now(), why=why))
            return found

    def _write(self, edit: Any, author: Author, why: str, item: str) -> tuple[str, ...]:
        _said(author.name, why)
        with self._locked():
            before = self.text
            text = edit(before)
            after = loads(text, folder=self.path.parent)
            words = in_words(before, text, self.path)
            if text == before:
                return words
            log = self._begun()
            rewrite(self.path, text.encode())
            changed = log.changed(
                text, by=author.name, role=author.role, why=why, when=now(), words=words, item=item,
                plan=_plan(after),
            )  # fmt: skip
            self._append(log, changed)
            return words

    def _begun(self) -> Decisions:
        """The log up to the text as it is; with its first line, and what was found changed."""
        log, text = self.decisions, self.text
        if not log.entries:
            begun = log.begun(text, when=now(), plan=plan_of_text(text, self.path))
        elif log.text != text:
            begun = self._found(log, text, in_words(log.text, text, self.path), Author(""), "")
        else:
            return log
        self._append(log, begun)
        return begun

    def _found(self, log: Decisions, text: str, words: tuple[str, ...], author: Author, why: str) -> Decisions:
        plan = plan_of_text(text, self.path)
        return log.changed(
            text, by=author.name, role=author.role, why=why, when=now(), words=words, plan=plan, outside=True
        )

    def _append(self, before: Decisions, after: Decisions) -> None:
        lines = b"".join(entry.line for entry in after.entries[len(before.entries) :])
        storage.append(self.log, lines, create=not self.log.exists())

    def _locked(self) -> Any:
        real = self.path.resolve()
        return storage.locked(real.with_name(f".{real.name}"), PATIENCE_SECONDS)


def in_words(before: str, after: str, path: Path) -> tuple[str, ...]:
    """What differs between two texts, for people; where one cannot be read, that it changed."""
    try:
        one, other = (loads(text, folder=path.parent) for text in (before, after))
    except FacsimileError:
        return ("the text changed",)
    return tuple(found.words for found in differences(one, other)) or ("only comments or layout changed",)


def plan_of_text(text: str, path: Path) -> str:
    """The hash of the plan, where the text makes one."""
    try:
        return _plan(loads(text, folder=path.parent))
    except FacsimileError:
        return ""


def _plan(specification: Specification) -> str:
    try:
        return plan_hash(specification)
    except (FacsimileError, ValueError, ArithmeticError):
        return ""


def value_at(data: Any, item: str) -> Any:
    """The plain value of an item; GONE where a key of a part that is there is not."""
    place = place_of(data, item)
    try:
        return at(data, place)
    except FacsimileError:
        return GONE


def _edited(text: str, change: Change) -> str:
    data, _ = parse(text)
    place, now_there = place_of(data, change.item), value_at(data, change.item)
    if change.seen is not UNSEEN and now_there != change.seen:
        raise refusal("E442", item=change.item)
    if change.value is GONE:
        return text if now_there is GONE else removed(text, place)
    return replaced(text, place, change.value)


def _said(*texts: str) -> None:
    """Whoever decides says who they are and why."""
    if not all(text.strip() for text in texts) or any(len(text) > LONGEST for text in texts):
        raise refusal("E443")

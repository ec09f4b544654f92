"""The journal of a run: what was decided, on disk before anything else happens.

Release and no release are written by the same step to a file of the same size, so that nothing outside can tell
them apart by time or size, and never again: after a crash the decision stands. The journal lies beside the
data and is as confidential as they are. It is removed after the charge is closed, never before: without it a
charge that is still open would be searched again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from facsimile.acceptance.decision import Measured
from facsimile.acceptance.regression import Fit
from facsimile.privacy.transcript import Transcript
from facsimile.release.heard import MOST_BYTES, packed, unpacked
from facsimile.release.scheme import Accepted
from facsimile.spec.criteria import RegressionCoefficients, RegressionError
from facsimile.spec.formula import Formula
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.storage import append, read
from facsimile.table.domain import Domain
from facsimile.table.table import Table

HEAD_BYTES = 1 << 16
PART_BYTES = 1 << 13
FEATURE_BYTES = 1 << 11
CHECK_BYTES = 32


@dataclass(frozen=True, eq=False)
class Decision:
    """What a search ended in: an accepted candidate, or None for a halt; and the day."""

    accepted: Accepted | None
    day: date


@dataclass(frozen=True)
class Said:
    """What is written about a candidate beside its records."""

    measured: tuple[Measured, ...]
    fit: Fit | None
    refit: Fit | None


SAID = TypeAdapter(Said)


@dataclass(frozen=True)
class Journal:
    """The two files of one charge."""

    specification: Specification
    place: Path
    """Beside the data, named by the charge's ledger and number."""
    record: Transcript | None = None
    """The draws that the outcome depends on: they are on disk before it is."""

    @property
    def decision(self) -> Path:
        """Where the decision is written."""
        return self.place.with_name(f"{self.place.name}.decision")

    @property
    def measurements(self) -> Path:
        """Where it is written what was measured after acceptance."""
        return self.place.with_name(f"{self.place.name}.measured")

    @property
    def size(self) -> int:
        """How many bytes both files take, whatever is decided."""
        return self._records + self._room + 2 * (self.head + CHECK_BYTES)

    @property
    def _records(self) -> int:
        """How many bytes the records of a candidate take."""
        return 4 * self.specification.n * len(self.specification.columns)

    @property
    def _room(self) -> int:
        """How many bytes what it was fitted to takes, whatever that is."""
        return MOST_BYTES if self.specification.publishes("tables") else 0

    @cached_property
    def head(self) -> int:
        """How many bytes what is said about a candidate may take: it follows from the specification alone.

        Every name stands in the specification; a criterion has fewer than ten exact numbers, a regression three
        for each feature, none of more than a few hundred digits. One regression may be written twice.
        """
        spec = self.specification
        parts = len(spec.criteria) + len(spec.columns)
        compared = (*spec.criteria_of(RegressionCoefficients), *spec.criteria_of(RegressionError))
        fits = 2 * sum(_fit_bytes(spec, criterion.formula) for criterion in compared)
        return HEAD_BYTES + PART_BYTES * parts + fits + 2 * len(spec.canonical().encode())

    def decide(self, decision: Decision) -> None:
        """Write what the search decided: whole and synced, or not at all."""
        accepted = decision.accepted
        head: dict[str, Any] = {"released": accepted is not None, "day": decision.day.isoformat()}
        rows, told = np.zeros((self.specification.n, len(self.specification.columns)), "<u4"), b""
        if accepted is not None:
            rows[:] = accepted.table.records()
            head |= {"configuration": accepted.configuration.as_json(), **_said(accepted)}
            told = packed(accepted.heard)
        self._write(self.decision, self._padded(head) + rows.tobytes() + told.ljust(self._room, b"\0"))

    def decided(self) -> Decision | None:
        """What was decided, release or halt; None where nothing was."""
        content = _whole(self.decision)
        if content is None:
            return None
        said, _, codes = content.partition(b"\n")  # JSON has no line end of its own
        head = json.loads(said)
        day = date.fromisoformat(head["day"])
        if not head["released"]:
            return Decision(None, day)
        chosen = Configuration(**head["configuration"])
        domain = Domain(self.specification.axes(chosen.alternatives))
        rows = np.frombuffer(codes[: self._records], "<u4").reshape(-1, len(domain.axes))
        table = Table.from_rows(domain, rows.astype(np.int64))
        accepted = Accepted(table, chosen, heard=unpacked(codes[self._records :]))
        return Decision(self._with(accepted, head), day)

    def finish(self, accepted: Accepted) -> None:
        """Write what was measured after acceptance."""
        self._write(self.measurements, self._padded(_said(accepted)))

    def finished(self, accepted: Accepted) -> Accepted | None:
        """The accepted candidate with what was measured, if that is there."""
        content = _whole(self.measurements)
        if content is None:
            return None
        return self._with(accepted, json.loads(content))

    def remove(self) -> None:
        """After the charge is closed: nothing of the run is left but the ledger."""
        for path in (self.decision, self.measurements):
            path.unlink(missing_ok=True)

    def _padded(self, head: dict[str, Any]) -> bytes:
        text = json.dumps(head, separators=(",", ":")).encode()
        if len(text) >= self.head:
            raise ValueError("a journal's head is too long")
        return text.ljust(self.head - 1) + b"\n"

    def _with(self, accepted: Accepted, head: dict[str, Any]) -> Accepted:
        """The candidate with what was written about it."""
        criteria = {criterion.name: criterion for criterion in self.specification.criteria}
        measured = [said | {"criterion": criteria[said["criterion"]]} for said in head["measured"]]
        found = SAID.validate_python({**head, "measured": measured})
        return replace(accepted, **vars(found))

    def _write(self, path: Path, content: bytes) -> None:
        """Whole and synced, after every draw, its SHA-256 at the end: what is half written decides nothing."""
        if self.record is not None:
            self.record.keep()
        path.unlink(missing_ok=True)
        append(path, content + hashlib.sha256(content).digest(), create=True)


def _fit_bytes(specification: Specification, formula: Formula) -> int:
    """At least what a regression takes: a name and three numbers for each feature, under any alternatives.

    A product of two columns that enter by their bins has a feature for each pair, named by both labels.
    """
    found, others = 0, tuple(name for name in specification.names if name != formula.target)
    for term in formula.terms(others):
        features, size = 1, FEATURE_BYTES
        for column in map(specification.column, term):
            size += len(column.name)
            if specification.nominal(column.name, formula):
                axes = [column.axis(used) for used in column.used]
                features *= max(axis.size for axis in axes)
                size += max(len(json.dumps(label)) for axis in axes for label in axis.labels)
        found += features * size
    return found


def _whole(path: Path) -> bytes | None:
    """The content of a file that was written to its end; None where it was not."""
    if not path.exists():
        return None
    content, check = (found := read(path))[:-CHECK_BYTES], found[-CHECK_BYTES:]
    return content if hashlib.sha256(content).digest() == check else None


def _said(accepted: Accepted) -> dict[str, Any]:
    """What was measured, as plain data with exact numbers; a criterion is told by its name."""
    plain: dict[str, Any] = SAID.dump_python(Said(accepted.measured, accepted.fit, accepted.refit), mode="json")
    for said, measured in zip(plain["measured"], accepted.measured, strict=True):
        said["criterion"] = measured.criterion.name
    return plain

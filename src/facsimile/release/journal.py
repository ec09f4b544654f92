"""The journal of a run: what was decided, on disk before anything else happens.

Release and no release are written by the same step to a file of the same size, so that nothing outside can tell
them apart by time or size, and never again: after a crash the decision stands. The journal lies beside the
data and is as confidential as they are. It is removed after the charge is closed, never before: without it a
charge that is still open would be searched again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from facsimile.acceptance.decision import Measured
from facsimile.release.reporting import fit_of, regression
from facsimile.release.scheme import Accepted
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.storage import append, read
from facsimile.table.domain import Domain
from facsimile.table.table import Table

HEAD_BYTES = 1 << 16
PART_BYTES = 1 << 13
CHECK_BYTES = 32


@dataclass(frozen=True, eq=False)
class Decision:
    """What a search ended in: an accepted candidate, or None for a halt; and the day."""

    accepted: Accepted | None
    day: date


@dataclass(frozen=True)
class Journal:
    """The two files of one charge."""

    specification: Specification
    decision: Path
    measurements: Path

    @classmethod
    def of(cls, specification: Specification, place: Path) -> Journal:
        """The files of a charge: beside the data, named by its ledger and number."""
        names = (place.with_name(f"{place.name}.{kind}") for kind in ("decision", "measured"))
        return cls(specification, *names)

    @property
    def size(self) -> int:
        """How many bytes both files take, whatever is decided."""
        return 4 * self.specification.n * len(self.specification.columns) + 2 * (self.head + CHECK_BYTES)

    @cached_property
    def head(self) -> int:
        """How many bytes what is said about a candidate may take: it follows from the specification alone.

        Every name stands in the specification; a criterion has fewer than ten exact numbers, a regression three
        for each column, none of more than a few hundred digits.
        """
        spec = self.specification
        parts = len(spec.criteria) + len(spec.columns)
        return HEAD_BYTES + PART_BYTES * parts + 2 * len(spec.canonical().encode())

    def decide(self, decision: Decision) -> None:
        """Write what the search decided: whole and synced, or not at all."""
        accepted = decision.accepted
        head: dict[str, Any] = {"released": accepted is not None, "day": decision.day.isoformat()}
        rows = np.zeros((self.specification.n, len(self.specification.columns)), "<u4")
        if accepted is not None:
            rows[:] = accepted.table.records()
            head |= {"configuration": accepted.configuration.as_json(), **_measured_as_json(accepted)}
        _write(self.decision, self._padded(head) + rows.tobytes())

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
        rows = np.frombuffer(codes, "<u4").reshape(-1, len(domain.axes))
        table = Table.from_rows(domain, rows.astype(np.int64))
        return Decision(self._with(Accepted(table, chosen), head), day)

    def finish(self, accepted: Accepted) -> None:
        """Write what was measured after acceptance."""
        _write(self.measurements, self._padded(_measured_as_json(accepted)))

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
        measured = tuple(self._measured(m) for m in head["measured"])
        return replace(accepted, measured=measured, fit=fit_of(head["fit"]), refit=fit_of(head["refit"]))

    def _measured(self, data: dict[str, Any]) -> Measured:
        criterion = next(c for c in self.specification.criteria if c.name == data["criterion"])
        plain = {key: _exact(value) for key, value in data.items()}
        return Measured(**plain | {"criterion": criterion})


def _write(path: Path, content: bytes) -> None:
    """Written whole and synced, its SHA-256 at the end. What a crash left half written was never a decision."""
    path.unlink(missing_ok=True)
    append(path, content + hashlib.sha256(content).digest(), create=True)


def _whole(path: Path) -> bytes | None:
    """The content of a file that was written to its end; None where it was not."""
    if not path.exists():
        return None
    content, check = (found := read(path))[:-CHECK_BYTES], found[-CHECK_BYTES:]
    return content if hashlib.sha256(content).digest() == check else None


def _as_json(measured: Measured) -> dict[str, Any]:
    found = {field.name: _plain(getattr(measured, field.name)) for field in fields(measured)}
    return found | {"criterion": measured.criterion.name}


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return {"exact": str(value)}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, str | int | bool | None) else None


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return Fraction(value["exact"])
    if isinstance(value, list):
        return tuple(_exact(part) for part in value)
    return value


def _measured_as_json(accepted: Accepted) -> dict[str, Any]:
    fits = {"fit": regression(accepted.fit), "refit": regression(accepted.refit)}
    plain = {key: None if fit is None else asdict(fit) for key, fit in fits.items()}
    return {"measured": [_as_json(m) for m in accepted.measured], **plain}

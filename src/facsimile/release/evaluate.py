"""Evaluate: a synthetic file against a real one, both public, criterion by criterion and exactly.

A file holds raw values, as the specification's `source` columns describe them, or the labels of an alternative,
as a release does. It is refused where its dataset key lies beside it: then it is not public.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import inf
from typing import Any

import numpy as np

from facsimile.acceptance import Verdict, exact_errors
from facsimile.acceptance.candidate import Candidate, as_tested
from facsimile.acceptance.kind import Tested, kinds_of
from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.reader import opened_public, read_public
from facsimile.sources.address import Address
from facsimile.sources.source import guarded
from facsimile.spec.choices import Statistic
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.faces import FacePrivacy, face_privacy
from facsimile.table.table import Table

Labels = Mapping[str, Any]


@dataclass(frozen=True)
class GroupLine:
    """A group's figure in both tables, None where it is empty, and how many records it has in each."""

    group: str
    real_records: int
    synthetic_records: int
    real: float | None
    synthetic: float | None

    @property
    def records(self) -> tuple[int, int]:
        """Of both tables."""
        return self.real_records, self.synthetic_records

    @property
    def difference(self) -> float:
        """How far apart the two are; infinite where one is empty."""
        if self.real is None or self.synthetic is None:
            return 0.0 if self.real is self.synthetic else inf
        return abs(self.synthetic - self.real)


@dataclass(frozen=True)
class Evaluation:
    """Every criterion's error, and what the synthetic table looks like to somebody who searches it."""

    n: int
    verdicts: tuple[Verdict, ...]
    faces: FacePrivacy
    tested: tuple[Tested | None, ...] | None = None
    groups: Mapping[str, tuple[GroupLine, ...]] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether every criterion is met."""
        return all(verdict.met for verdict in self.verdicts)

    def as_json(self) -> dict[str, Any]:
        """What `evaluate --json` prints."""
        criteria: list[dict[str, Any]] = [
            {"name": v.name, "value": v.value, "threshold": float(v.threshold), "met": v.met}
            for v in self.verdicts
        ]
        for line, tested in zip(criteria, self.tested or (), strict=False):
            line["tested"] = None if tested is None else asdict(tested)
        for line in criteria:
            if self.groups.get(line["name"]):
                line["groups"] = [asdict(group) for group in self.groups[line["name"]]]
        return {
            "private": False,
            "n": self.n,
            "criteria": criteria,
            "face_privacy": asdict(self.faces) | {"k_anonymous": self.faces.k_anonymous},
            "accepted": self.accepted,
        }


def evaluate(
    specification: Specification, real: Address, synthetic: Address, k: int = 5, form: Statistic | None = None
) -> Evaluation:
    """Measure the synthetic file against the real one; with a form, also as a release would test it."""
    labels = [_labels(specification, source) for source in (real, synthetic)]
    choices = [labelled_choice(specification, found) for found in reversed(labels)]
    choice = next((c for c in choices if c is not None), specification.first)
    one, other = (
        read_under(specification, source, found, choice)
        for source, found in zip((real, synthetic), labels, strict=True)
    )
    if one.n != other.n:
        raise refusal("E113")
    faces = face_privacy(other, k, len(specification.columns) - 1)
    tested = None if form is None else tuple(as_tested(specification, one, other, form))
    errors = tuple(exact_errors(specification, one, other))
    return Evaluation(one.n, errors, faces, tested, _grouped(specification, one, other))


def _grouped(specification: Specification, real: Table, synthetic: Table) -> dict[str, tuple[GroupLine, ...]]:
    """The groups of each criterion that compares some, by its name."""
    both, found = (Candidate(specification, real), Candidate(specification, synthetic)), {}
    for kind in kinds_of(specification):
        pairs = zip(*(kind.subgroups(table) for table in both), strict=True)
        lines = (GroupLine(a.words, a.records, b.records, a.value, b.value) for a, b in pairs)
        found[kind.criterion.name] = tuple(lines)
    return {name: lines for name, lines in found.items() if len(lines) > 1}


def read_under(
    specification: Specification, source: Address, found: Labels | None, choice: Mapping[str, str]
) -> Table:
    """A file of raw values, or its labels where it holds some, under the chosen alternatives."""
    if found is not None and _fits(specification, found, choice):
        return _coded(specification, found, choice)
    return recode(specification, read_public(source, specification), choice)


def labelled_choice(specification: Specification, found: Labels | None) -> Mapping[str, str] | None:
    """The alternatives whose labels a file holds; None for a file of raw values."""
    if found is None:
        return None
    choice = {}
    for column in specification.columns:
        names = [a for a in column.alternatives if set(found[column.name]) <= set(column.axis(a).labels)]
        if not names:
            return None
        choice[column.name] = names[0]
    return choice


def _labels(specification: Specification, address: Address) -> Labels | None:
    """Distinct rows of text with their counts; None where the release's columns are not all there."""
    names = list(specification.names)
    try:
        with opened_public(address, names) as source:
            text = source.select(**{name: source[name].cast("string") for name in names})
            counted = text.group_by(names).aggregate(records=text.count())
            return dict(guarded(lambda: counted.to_pyarrow().to_pydict(), lambda _: "E106"))
    except FacsimileError as error:
        if error.code == "E110":
            return None
        raise


def _fits(specification: Specification, found: Labels, choice: Mapping[str, str]) -> bool:
    return all(set(found[c.name]) <= set(c.axis(choice[c.name]).labels) for c in specification.columns)


def _coded(specification: Specification, found: Labels, choice: Mapping[str, str]) -> Table:
    domain = Domain(specification.axes(choice))
    places = [{label: code for code, label in enumerate(axis.labels)} for axis in domain.axes]
    codes = [
        [place[label] for label in found[axis.name]] for place, axis in zip(places, domain.axes, strict=True)
    ]
    return Table.from_rows(domain, np.array(codes).T, found["records"])

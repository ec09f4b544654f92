"""Small public tables for designs of workloads, and drafts of workloads."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from facsimile.explore.design.draft import Draft, Own
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.spec.criteria import MarginalsAbsolute, MarginalsRelative
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.table import Table

EPSILON, DELTA = Fraction(1, 5), Fraction(1, 10**6)
ABSOLUTE = MarginalsAbsolute(criterion="marginals-absolute", threshold=Fraction(1, 50), epsilon=Fraction(1))
RELATIVE = MarginalsRelative(criterion="marginals-relative", threshold=Fraction(2), epsilon=Fraction(1))


def plain(sizes: dict[str, int], criteria: list[dict[str, Any]]) -> dict[str, Any]:
    """A specification of columns with so many numbers each."""
    return {
        "facsimile": "1",
        "title": "Small",
        "unit": "one person",
        "neighbours": "replace-one",
        "records": {"count": "3000", "public_because": "it is printed on the door"},
        "columns": [
            {
                "name": name,
                "description": name,
                "bounds": ["1", str(size)],
                "alternatives": {"all": [f"1..{size}"]},
                "groups": ["1", "2≤"],
            }
            for name, size in sizes.items()
        ],
        "constraints": {"policy": "declared"},
        "families": [{"family": "mst"}],
        "projection": {"min_count": ["1"]},
        "criteria": [{"epsilon": "0.1"} | criterion for criterion in criteria],
        "selection": {"mode": "coin", "gamma": "0.05"},
        "budget": {"total": "5", "generator": "1", "test": "0.1"},
    }


SMALL = plain(
    {"a": 4, "b": 5, "c": 3},
    [
        {"criterion": "mean", "of": "b", "by": ["a"], "threshold": "0.2"},
        {"criterion": "marginals-absolute", "ways": "2", "threshold": "0.05"},
    ],
)


def dependent(specification: Specification, n: int = 3000, seed: int = 1) -> Table:
    """Records whose second column follows the first; all others are independent."""
    domain = Domain(specification.finest())
    random = np.random.default_rng(seed)
    codes = random.integers(0, domain.shape, (n, len(domain.shape)))
    codes[:, 1] = np.minimum(codes[:, 0] + random.integers(0, 2, n), domain.shape[1] - 1)
    return Table.from_rows(domain, codes)


def small(delta: Fraction = Fraction(0)) -> tuple[Specification, Table]:
    specification = validated(copy.deepcopy(SMALL))
    budget = specification.budget.model_copy(update={"delta": delta})
    return specification.model_copy(update={"budget": budget}), dependent(specification)


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Own, int | None]]]:
    """Every candidate that is made: its hyperparameters and its seed."""
    made: list[tuple[Own, int | None]] = []
    whole = Rehearsals.candidate

    def candidate(self: Rehearsals, own: Own, seed: int | None) -> Table | None:
        made.append((own, seed))
        return whole(self, own, seed)

    with monkeypatch.context() as patch:
        patch.setattr(Rehearsals, "candidate", candidate)
        yield made


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    codes = tuple(draw(st.lists(st.integers(2, 9), min_size=2, max_size=4)))
    names = tuple("abcd"[: len(codes)]) if draw(st.booleans()) else ("each", "all", "x", "y")[: len(codes)]
    draft = Draft(names, codes).shared([draw(st.floats(0.5, 50)) for _ in codes])
    for _ in range(draw(st.integers(0, 3))):
        table = tuple(draw(st.integers(1, size)) for size in codes)
        if len(draft.columns(table)) > 1 and table not in draft.tables:
            draft = draft.with_table(table)
    return draft


def domain_of(draft: Draft) -> Domain:
    criteria = [{"criterion": "marginals-absolute", "threshold": "0.05"}]
    return Domain(validated(plain(dict(zip(draft.names, draft.codes, strict=True)), criteria)).finest())

"""A fingerprint is that of all that a question is made of, and of nothing else."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import facsimile
from facsimile.audit.fingerprint import fingerprint
from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyAnswer, NoisyMarginals, NoisySelection
from facsimile.privacy.queries import MarginalDistances, TotalVariation
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain

DOMAIN = small_domain(2, 3)
TABLE = Table.from_rows(DOMAIN, [[0, 1], [1, 2], [1, 2]])
OTHER = Table.from_rows(DOMAIN, [[0, 1], [1, 2], [1, 1]])
ONE = Fraction(1)


def added(more: int) -> Any:
    return lambda number: number + more


class Holder:
    def __init__(self, held: object) -> None:
        self.held = held

    @cached_property
    def length(self) -> int:
        return 1

    def told(self) -> object:
        return self.held


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2), (1, True), (1, 1.0), ("1", 1), ((1, 2), [1, 2]), ((1, (2, 3)), ((1, 2), 3)),
        (("a", "b"), ("ab",)),
        (Fraction(1, 2), Rho(1, 2)), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({1, 2}, {1, 3}), (None, 0),
        (np.array([1, 2]), np.array([1, 3])), (np.array([1, 2]), np.array([[1, 2]])),
        (np.array([1, 2]), np.array([1, 2], np.int32)), (np.array([2**70, 1]), np.array([2**70, 2])),
        (TABLE, OTHER), (DOMAIN, small_domain(2, 4)), (added(1), added(2)), (partial(max, 1), partial(max, 2)),
        (partial(max, 1), partial(min, 1)), (Holder(1), Holder(2)), (Holder(1).told, Holder(2).told),
        (np.random.default_rng(1), np.random.default_rng(2)), (int, str),
        (NoisyMarginals(((("a",), ONE),)), NoisyMarginals(((("b",), ONE),))),
        (NoisyMarginals(((("a",), ONE),)), NoisyMarginals(((("a",), ONE / 2),))),
        (NoisyMarginals(((("a",), ONE),)), NoisyMarginals(((("a",), Rho(1)),))),
        (
            NoisyAnswer(TotalVariation(TABLE, (("a",),)), ONE, 4),
            NoisyAnswer(TotalVariation(OTHER, (("a",),)), ONE, 4),
        ),
        (
            NoisySelection(MarginalDistances(((("a",), np.array([1, 2])),)), ONE),
            NoisySelection(MarginalDistances(((("a",), np.array([2, 1])),)), ONE),
        ),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_differs_has_another(one: Any, other: Any) -> None:
    assert fingerprint(one) == fingerprint(one) != fingerprint(other)


def test_what_is_the_same_has_the_same_whatever_was_computed_on_the_way() -> None:
    """Cached numbers are no part of a question, and neither is which object it is."""
    asked = [NoisyAnswer(TotalVariation(Table.from_rows(DOMAIN, [[0, 1]]), (("a",),)), ONE) for _ in range(2)]
    asked[0].check(DOMAIN, 1)
    assert asked[0].query.sensitivity() and vars(asked[0]) != vars(asked[1])
    assert fingerprint(asked[0]) == fingerprint(asked[1])
    one, other = Holder([1]), Holder([1])
    assert one.length == 1 and vars(one) != vars(other)
    assert fingerprint(one) == fingerprint(other)
    assert fingerprint(dataclasses.replace(TABLE)) == fingerprint(TABLE)


def test_what_holds_itself_has_one() -> None:
    one, other = Holder(1), Holder(1)
    one.held, other.held = one, other
    assert fingerprint(one) == fingerprint(other) != fingerprint(Holder(1))


def test_it_is_the_same_in_a_process_with_another_hash_seed() -> None:
    text = "from facsimile.audit.fingerprint import fingerprint as f; print(f({'b', 'a', 'c', 'long', 'd'}))"
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    variables = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(facsimile.__file__).parents[1])}
    said = subprocess.run(
        [sys.executable, "-c", text], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == fingerprint({"b", "a", "c", "long", "d"})

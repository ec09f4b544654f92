"""The generator: tables that criteria speak of, then those that a fit misses; the first rung that passes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from facsimile.draft import generator
from facsimile.draft.generator import LONGEST, Tried, Workload, climbed
from facsimile.explore.setup import Setup
from facsimile.explore.trials import Job, Trial
from facsimile.privacy.reader import read_public
from releases import specification, write_data

NAMES = ("age", "sex", "ward")
SIZES = {"age": 8, "sex": 2, "ward": 27}


def test_weights_are_of_the_cells_and_larger_for_what_criteria_speak_of() -> None:
    found = Workload(NAMES, SIZES, (("age", "sex"),), (("age", "sex"), ("sex", "ward")))
    assert found.measurements == "each; age*sex; sex*ward"
    assert found.weights == "3.0, 1.9, 3.0; 7.6; 3.8"


def test_no_more_pairs_are_added_than_a_specification_can_hold() -> None:
    long = tuple(f"{letter}{'x' * 59}" for letter in "abcdefghijkl")
    every = [(a, b) for place, a in enumerate(long) for b in long[place + 1 :]]
    found = Workload(long, dict.fromkeys(long, 9), (), ()).with_(every)
    assert len(found.pairs) > 0 and len(found.measurements) <= LONGEST
    assert found.with_(found.pairs) == found


@pytest.mark.parametrize(("needed", "expected"), [("0.5", "0.5"), ("2", "2"), ("100", "4")])
def test_the_first_rung_that_passes_is_taken_or_the_last(
    needed: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(setup: Setup, job: Job) -> list[Trial]:
        accepted = job.generator >= Fraction(needed)
        return [Trial("", "", job.number, accepted, (), (), 0.0, 0.0)]

    monkeypatch.setattr(generator, "run", run)
    table = read_public(write_data(tmp_path), specification())
    found = climbed(specification(), table, 1, lambda doing: None)
    assert found.generator == Fraction(expected) and found.passed == (needed != "100")
    assert found.of == (3 if found.passed else 1), "one that fails decides"


def test_tried_tells_whether_all_passed() -> None:
    assert Tried(Fraction(1), 3, 3, {}).passed and not Tried(Fraction(1), 2, 3, {}).passed

"""Combining: the interval of a statistic that was replicated."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from conftest import ROOT
from facsimile.analysis.combining import combine
from facsimile.errors import FacsimileError

NUMBERS = st.floats(-1e6, 1e6)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("number", [2, 20])
def test_where_errors_are_normal_the_interval_covers_as_often_as_it_says(
    number: int, confidence: float
) -> None:
    random, tries = np.random.default_rng(5), 20_000
    errors = random.normal(0, 3, (number, tries))
    resampled = random.normal(50, 9, (number, tries))
    found = combine(7 + random.normal(0, 3, tries), resampled + errors, resampled, confidence=confidence)
    covered = int(((found.low <= 7) & (found.high >= 7)).sum())
    low, high = binom.ppf([5e-7, 1 - 5e-7], tries, confidence)
    assert low <= covered <= high


@given(NUMBERS, st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=6))
def test_an_array_is_combined_like_each_of_its_numbers(
    release: float, pairs: list[tuple[float, float]]
) -> None:
    replicates, resampled = np.array(pairs).T
    alone = combine(release, replicates, resampled)
    both = combine([release, 1.0], np.column_stack([replicates, resampled]), np.column_stack([resampled] * 2))
    for name in ("estimate", "standard_error", "bias", "low", "high"):
        assert getattr(both, name)[0] == getattr(alone, name)


@given(st.lists(NUMBERS, min_size=2, max_size=6), NUMBERS)
def test_a_bias_that_replicates_see_widens_the_interval_and_moves_nothing(
    errors: list[float], b: float
) -> None:
    resampled = np.zeros(len(errors))
    plain = combine(0.0, np.array(errors) - np.mean(errors), resampled)
    biased = combine(0.0, np.array(errors) - np.mean(errors) + b, resampled)
    assert biased.low == -biased.high and biased.bias == pytest.approx(b, abs=1e-6)
    assert biased.standard_error**2 == pytest.approx(plain.standard_error**2 + b**2, rel=1e-6, abs=1e-6)


def test_the_population_is_held_against_the_release_itself() -> None:
    found = combine(10.0, [13.0, 6.0], target="population")
    assert (found.standard_error, found.bias) == (pytest.approx(12.5**0.5), -0.5)
    assert found.as_json()["guaranteed"] is False and "population" in repr(found)


def test_a_calibrated_factor_replaces_students() -> None:
    found = combine(10.0, [12.0, 8.0], [10.0, 10.0], kappa=3)
    assert (found.low, found.high, found.calibrated) == (4.0, 16.0, True)


def test_what_is_not_defined_on_a_replicate_has_no_interval() -> None:
    assert np.isnan(combine(10.0, [12.0, np.nan], [10.0, 10.0]).low)


@pytest.mark.parametrize(
    ("given_", "more"),
    [
        ((1.0, [1.0], [1.0]), {}),
        ((1.0, 1.0, 1.0), {}),
        ((1.0, [1.0, 2.0]), {}),
        ((1.0, [1.0, 2.0], [1.0]), {}),
        (([1.0, 2.0], [1.0, 2.0], [1.0, 2.0]), {}),
        ((1.0, [1.0, 2.0], [1.0, 2.0]), {"confidence": 95}),
        ((1.0, [1.0, 2.0], [1.0, 2.0]), {"kappa": 0.0}),
        ((1.0, [1.0, 2.0], [1.0, 2.0]), {"target": "everybody"}),
    ],
)
def test_what_cannot_be_combined_is_refused(given_: tuple[Any, ...], more: dict[str, Any]) -> None:
    with pytest.raises(FacsimileError) as refused:
        combine(*given_, **more)
    assert refused.value.code == "E003"


def test_the_function_for_r_gives_the_same(tmp_path: Path) -> None:
    """As docs/replicates.md shows it."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    block = re.findall(r"^```r\n(.*?)^```", (ROOT / "docs" / "replicates.md").read_text("utf-8"), re.M | re.S)[
        0
    ]
    function = block.split("\n\n")[0]
    code = "r <- rbind(c(1, 5), c(2, 7), c(4, 6)); o <- rbind(c(1, 6), c(3, 6), c(2, 6))\n"
    code += "write.csv(rbind(combine(c(2, 6), r, o), combine(c(2, 6), r)), row.names = FALSE)"
    (tmp_path / "combine.R").write_text(f"{function}\n{code}\n")
    ran = subprocess.run([program, "--vanilla", "combine.R"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    told = np.array([[float(x) for x in line.split(",")] for line in ran.stdout.splitlines()[1:]])
    replicates, resampled = [[1, 5], [2, 7], [4, 6]], [[1, 6], [3, 6], [2, 6]]
    found = combine([2, 6], replicates, resampled), combine([2, 6], replicates, target="population")
    ours = [np.column_stack([f.estimate, f.standard_error, f.low, f.high]) for f in found]
    assert told == pytest.approx(np.concatenate(ours))

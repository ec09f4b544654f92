"""A public file's sizes, against a count by hand."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from statistics import fmean, pstdev

import pyarrow
import pytest

from facsimile.privacy.reader import read_public
from facsimile.release.check import check
from facsimile.release.public import assumptions, summarise
from facsimile.spec.load import load
from specs import small

AGES = [3, 17, 18, 40, 64, 65, 90, 90]
FEMALE = [True, False, None, True, False, True, True, False]


def public_table() -> pyarrow.Table:
    return pyarrow.table({"age": AGES, "is_female": FEMALE})


def test_sizes_are_counted_under_the_first_alternative() -> None:
    summary = summarise(small(), read_public(public_table(), small()))
    labels = ["<18" if age < 18 else "18-64" if age < 65 else "64<" for age in AGES]
    assert summary.n == 8
    assert summary.distinct == len(set(zip(labels, FEMALE, strict=True)))
    assert summary.smallest == {"age": min(Counter(labels).values()), "sex": FEMALE.count(None)}
    assert summary.groups == {"age": sum(age < 18 for age in AGES)}


def test_means_and_deviations_are_those_of_the_bins_numbers() -> None:
    summary = summarise(small(), read_public(public_table(), small()))
    numbers = [18 if age < 18 else 41 if age < 65 else 64 for age in AGES]
    mean, deviation = summary.spreads["age"]
    assert float(mean) == pytest.approx(fmean(numbers))
    assert float(deviation) == pytest.approx(pstdev(numbers), rel=1e-5)


def test_an_absent_bin_counts_as_zero() -> None:
    ages = pyarrow.table({"age": [20, 30, 40], "is_female": [True, False, True]})
    summary = summarise(small(), read_public(ages, small()))
    assert summary.smallest == {"age": 0, "sex": 0}
    assert summary.groups == {"age": 0}
    assert summary.spreads["age"][1] == 1, "a column without spread is not divided by zero"


def test_sizes_are_scaled_to_the_declared_number() -> None:
    summary = summarise(small(), read_public(public_table(), small()))
    assert assumptions(summary, 8_000).groups == {"age": 2_000}
    assert assumptions(summary, 8_000).s_min == 1_000
    assert assumptions(summary, 4).s_min == 0


def test_the_summary_as_plain_data() -> None:
    summary = summarise(small(), read_public(public_table(), small()))
    assert summary.as_json() == {
        "n": 8, "distinct_rows": summary.distinct, "smallest_one_way": summary.smallest,
        "smallest_group": summary.groups,
    }  # fmt: skip


def test_the_public_sample_plans_the_births_release(births: Path, nvss: Path) -> None:
    specification = load(births / "released.yaml")
    table = read_public(str(nvss / "nvss2019_singleton_10k.csv"), specification)
    summary = summarise(specification, table)
    assert summary.n == 9_898
    found = check(specification, assumptions(summary, specification.n))
    assert all(line.scale is not None and line.scale > 0 for line in found.noise)
    assert summary.spreads["birth_sex"][0] == Fraction(
        int(table.marginal(("birth_sex",))[specification.finest()[4].labels.index("F")]), 9_898
    )

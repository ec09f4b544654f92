"""A public file's sizes, against a count by hand."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pyarrow
import pytest

import engines
from facsimile.errors import Refused
from facsimile.privacy.dataset import dataset_key, key_path
from facsimile.privacy.reader import read_public, read_public_sums
from facsimile.release.check import check
from facsimile.release.public import BinnedMean, assumptions, averaged, summarise
from facsimile.sources.address import Address
from facsimile.spec.load import load, validated
from facsimile.spec.release import Specification
from specs import changed, small

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
    numbers = [8.5 if age < 18 else 41 if age < 65 else 77.5 for age in AGES]
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
        "smallest_group": summary.groups, "means": [],
    }  # fmt: skip


def averaging(by: Sequence[str] = ("sex", "age"), **age: Any) -> Specification:
    """Ages averaged overall and by sex and age; ages above 100 are implausible, those below 0 are clipped."""
    data = changed(
        "criteria", [{"criterion": "mean", "of": "age", "by": list(by), "threshold": 9, "epsilon": 1}]
    )
    data["columns"][0] |= {"missing": {"code": "no", "number": 50}, "malformed": "drop"} | age
    data["columns"][1] |= {"groups": ["M", "F"], "missing": "drop"}
    data["constraints"]["raw"][0]["never"] = "age > 100"
    return validated(data)


FILE = {
    "age": ["3", "17", "40", "64", "90", "", "101", "x", "30", "-4"],
    "is_female": ["1", "0", "1", "0", "1", "1", "1", "1", "", "0"],
}


def found_means(specification: Specification, data: Any) -> dict[str, BinnedMean]:
    raw = read_public_sums(data, specification, averaged(specification))
    summary = summarise(specification, read_public(data, specification), raw)
    return {mean.group: mean for mean in summary.means}


def test_means_of_numbers_stand_beside_those_of_the_values_of_kept_records() -> None:
    """Left out: 101 (implausible), x (malformed), the one without a sex. A blank has a number but no value."""
    found = found_means(averaging(), pyarrow.table(FILE))
    assert {group: (mean.raw, mean.numbers) for group, mean in found.items()} == {
        "all records": (fmean([3, 17, 40, 64, 90, -4]), fmean([8.5, 8.5, 41, 41, 77.5, 50, 8.5])),
        "sex M": (fmean([17, 64, -4]), fmean([8.5, 41, 8.5])),
        "sex F": (fmean([3, 40, 90]), fmean([8.5, 41, 77.5, 50])),
        "age less than 18": (fmean([3, 17, -4]), 8.5),
        "age more than 17": (fmean([40, 64, 90]), fmean([41, 41, 77.5])),
    }


def test_a_malformed_value_that_counts_as_missing_has_no_value() -> None:
    found = found_means(averaging(malformed="missing"), pyarrow.table(FILE))
    assert found["all records"].raw == fmean([3, 17, 40, 64, 90, -4])
    assert found["sex F"].numbers == fmean([8.5, 41, 77.5, 50, 50])


def test_a_record_that_is_left_out_as_it_is_coded_has_no_value() -> None:
    """A woman of 70 is plausible as written; clipped to 64 she is not, and is left out."""
    choices = {"coarse": ["0-17", "18-64"]}
    data = averaging(alternatives=choices, groups=["0-17", "18-64"]).model_dump(mode="json", exclude_none=True)
    data["constraints"]["raw"][0]["never"] = "age > 17 and age < 65 and sex = F"
    people = pyarrow.table({"age": ["5", "10", "70", "70", "30"], "is_female": ["1", "0", "1", "0", "0"]})
    found = found_means(validated(data), people)
    assert (found["all records"].raw, found["all records"].numbers) == (28.75, fmean([8.5, 8.5, 41, 41]))
    assert (found["sex F"].raw, found["sex F"].numbers) == (5, 8.5)


def test_the_alternative_that_is_farthest_from_the_values_is_shown() -> None:
    choices = {"near": ["<18", "18-40", "41-64", "64<"], "away": ["<18", "18-64", "64<"]}
    found = found_means(averaging(alternatives=choices), pyarrow.table(FILE))
    assert (found["all records"].alternative, found["sex M"].alternative) == ("near", "away")
    assert found["sex M"].numbers == fmean([8.5, 41, 8.5])
    narrowed = found_means(averaging(alternatives=choices, use=["near"]), pyarrow.table(FILE))
    assert {mean.alternative for mean in narrowed.values()} == {"near"}
    assert narrowed["sex M"].numbers == fmean([8.5, 52.5, 8.5])


def test_a_mean_is_far_when_it_moves_by_more_than_a_third_of_the_threshold() -> None:
    mean = BinnedMean("mean-age", "all records", 40.0, 43.0, "coarse", Fraction(9))
    assert not mean.far
    assert replace(mean, numbers=43.1).far
    assert replace(mean, numbers=36.9).far


def test_rounded_values_are_averaged_before_they_are_rounded() -> None:
    ages = pyarrow.table({"age": ["40.25", "40.75", "18"], "is_female": ["1", "0", "1"]})
    assert found_means(averaging(round="down"), ages)["all records"].raw == pytest.approx(33)
    tenths = {"decimals": 1, "alternatives": {"coarse": ["<18", "18-63.9", "64≤"]}, "groups": None}
    assert found_means(averaging(by=[], round="down", **tenths), ages)["all records"].raw == pytest.approx(33)


@pytest.mark.parametrize("name", engines.FILES)
def test_every_kind_of_file_has_the_same_sums(name: str, tmp_path: Path) -> None:
    path = engines.FILES[name](pyarrow.table(FILE), tmp_path / name)
    assert found_means(averaging(), path) == found_means(averaging(), pyarrow.table(FILE))


def test_sums_of_a_file_on_which_budget_was_spent_are_refused(tmp_path: Path) -> None:
    path = engines.write_csv(pyarrow.table(FILE), tmp_path / "people.csv")
    dataset_key(key_path(Address.of(str(path))))
    with pytest.raises(Refused) as refused:
        read_public_sums(str(path), averaging(), ["age"])
    assert refused.value.code == "E207"


def test_categories_have_no_values_to_compare_with() -> None:
    data = changed("criteria", [{"criterion": "mean", "of": "sex", "threshold": 1, "epsilon": 1}])
    assert averaged(validated(data)) == []
    assert averaged(averaging()) == ["age"]


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

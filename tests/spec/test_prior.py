"""The prior in a specification: one file or facts, its hash in the plan, its place beside the specification."""

from __future__ import annotations

from pathlib import Path

import pytest

from facsimile.release.plan import plan_hash
from facsimile.spec.load import load, loads, validated
from facsimile.spec.prior import RECORDS, Prior
from facsimile.spec.release import Specification
from releases import specification

FILE = {"file": "elsewhere.csv", "sha256": "a" * 64}


def test_a_relative_place_starts_at_the_specification(tmp_path: Path) -> None:
    from bad_inputs import text

    content = f"{text()}prior:\n  file: public/elsewhere.csv\n  sha256: {'a' * 64}\n"
    (tmp_path / "release.yaml").write_text(content)
    found, here = load(tmp_path / "release.yaml").prior, loads(content).prior
    assert found is not None and here is not None
    assert found.place == str(tmp_path / "public" / "elsewhere.csv")
    assert here.place == str(Path("public", "elsewhere.csv"))
    assert found.name == "elsewhere.csv"


def test_the_place_goes_with_the_specification_and_is_no_part_of_the_promise(tmp_path: Path) -> None:
    prior = Prior.model_validate(FILE, context=tmp_path)
    spec = specification().model_copy(update={"prior": prior})
    assert spec.sized(7).prior is prior
    assert str(tmp_path) not in spec.canonical()
    assert validated(spec.model_dump(mode="json", exclude_none=True)).canonical() == spec.canonical()


def plan(**prior: str) -> str:
    return plan_hash(specification(prior=FILE | prior))


def test_the_plan_is_of_one_file() -> None:
    assert plan() == plan()
    assert len({plan(), plan(sha256="b" * 64), plan(records="500"), plan_hash(specification())}) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": ""},
        {"file": "https://office.example/births.csv"},
        {"file": "a\nb.csv"},
        {"sha256": "A" * 64},
        {"sha256": "a" * 63},
        {"records": "1"},
        {"facts": "facts.yaml"},
        {"published": "2019"},
    ],
)
def test_a_prior_is_written_in_one_way(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        Prior.model_validate(FILE | wrong)


def test_facts_have_a_number_of_records_and_a_file_has_its_own() -> None:
    assert Prior(facts="facts.yaml").size == RECORDS
    assert Prior(facts="facts.yaml", records=500).size == 500
    assert Prior(file="a.csv").size is None


def test_a_specification_without_one_is_what_it_was() -> None:
    assert Specification.model_fields["prior"].default is None
    assert '"prior"' not in specification().canonical()

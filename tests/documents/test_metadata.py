from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from frictionless import Package, validate

from documents.sample import BIRTHS, ODD, PUBLISHED
from facsimile.documents.metadata import REHEARSAL, datapackage
from facsimile.documents.report import Report
from facsimile.spec.people import Governance
from facsimile.spec.publisher import Publisher

FILES = {"data.csv": (12, "a" * 64), "data.parquet": (7, "b" * 64)}


def write(report: Report, folder: Path, rows: list[list[str]]) -> Path:
    """A folder with the table and its descriptor, as a release has them."""
    table = folder / "data.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[column.name for column in report.columns], *rows])
    content = table.read_bytes()
    found = {"data.csv": (len(content), hashlib.sha256(content).hexdigest())}
    descriptor = folder / "datapackage.json"
    descriptor.write_text(json.dumps(datapackage(report, found)), encoding="utf-8")
    return descriptor


def rows(report: Report) -> list[list[str]]:
    """Rows in which every label occurs."""
    most = max(len(column.labels) for column in report.columns)
    return [[column.labels[i % len(column.labels)] for column in report.columns] for i in range(most)]


@pytest.mark.parametrize("report", [BIRTHS, ODD, PUBLISHED], ids=["births", "odd", "published"])
def test_a_table_of_labels_is_valid(report: Report, tmp_path: Path) -> None:
    found = validate(write(report, tmp_path, rows(report)).as_posix())
    assert found.valid, found.flatten(["type", "message"])


def test_an_unlisted_value_an_empty_one_and_a_changed_byte_are_found(tmp_path: Path) -> None:
    good = rows(BIRTHS)
    for wrong in ("99", ""):
        descriptor = write(BIRTHS, tmp_path, [*good, [wrong, *good[0][1:]]])
        assert [error for error, _ in validate(descriptor.as_posix()).flatten(["type", "title"])] == [
            "constraint-error"
        ]
    write(BIRTHS, tmp_path, good)
    (tmp_path / "data.csv").write_bytes((tmp_path / "data.csv").read_bytes().replace(b"<18", b"44<"))
    assert [error for error, _ in validate(descriptor.as_posix()).flatten(["type", "title"])] == ["hash-count"]


@pytest.mark.parametrize("report", [BIRTHS, ODD, PUBLISHED], ids=["births", "odd", "published"])
def test_the_descriptor_is_one(report: Report) -> None:
    descriptor = datapackage(report, FILES)
    package = Package.from_descriptor(descriptor)
    assert [resource.path for resource in package.resources] == list(FILES)
    for resource in package.resources:
        assert resource.path
        assert (resource.bytes, resource.hash) == (FILES[resource.path][0], f"sha256:{FILES[resource.path][1]}")
        assert resource.schema.field_names == [column.name for column in report.columns]
        for field, column in zip(resource.schema.fields, report.columns, strict=True):
            assert field.type == "string"
            assert field.constraints["enum"] == list(column.labels)
            assert field.description
            assert field.description.startswith(column.description)
    assert json.loads(json.dumps(descriptor)) == descriptor


def test_it_says_what_the_data_is() -> None:
    descriptor = datapackage(BIRTHS, FILES)
    assert descriptor["name"] == "live-births-of-2014-singletons"
    for words in ("165,915", "no row is a person", "epsilon 1.95", BIRTHS.unit, BIRTHS.description):
        assert words in descriptor["description"]
    assert "licenses" not in descriptor
    assert "sources" not in descriptor
    assert "contributors" not in descriptor
    assert descriptor["id"] == BIRTHS.data_hash


def test_it_says_what_was_ruled_out_and_by_which_reading() -> None:
    rules = datapackage(BIRTHS, FILES)["facsimile"]["rules"]
    assert [rule["bins"] for rule in rules] == ["all"] * (len(rules) - 1) + ["any"]
    assert rules[-1]["never"] == "gestation_week < 34 and birth_weight > 3999"
    assert rules[-1]["applies_to"] == "release"


def test_a_publisher_stands_in_the_fields_of_the_standard() -> None:
    descriptor = datapackage(PUBLISHED, FILES)
    publisher = PUBLISHED.publisher
    assert publisher
    assert descriptor["id"] == f"https://doi.org/{publisher.doi}"
    assert descriptor["version"] == publisher.version
    mail = {"email": "births@health.example"}
    assert descriptor["contributors"] == [
        {"title": publisher.name, "path": publisher.homepage, "role": "publisher", **mail},
        {"title": "TIMNA", "role": "contributor", "organization": "Ministry"},
        {"title": "Birth Registry steward", "role": "contributor", "organization": "Ministry"},
        {"title": "An association of midwives", "role": "contributor"},
    ]
    assert descriptor["sources"] == [{"title": publisher.provenance, "path": publisher.provenance_link}]
    assert descriptor["licenses"] == [{"name": publisher.licence, "path": publisher.licence_link}]
    assert descriptor["facsimile"]["data_hash"] == PUBLISHED.data_hash
    assert Package.from_descriptor(descriptor).licenses == descriptor["licenses"]
    alone = replace(PUBLISHED, publisher=Publisher(name="Ministry"), governance=None)
    assert datapackage(alone, FILES)["contributors"] == [{"title": "Ministry", "role": "publisher"}]
    assert not {"licenses", "version", "homepage", "sources"} & set(datapackage(alone, FILES))
    assert len(datapackage(replace(PUBLISHED, publisher=None), FILES)["contributors"]) == 3
    linked = replace(PUBLISHED, governance=Governance(contact="https://health.example/"))
    assert "email" not in datapackage(linked, FILES)["contributors"][0]


def test_who_approved_and_who_set_what_stands_beside_the_standard() -> None:
    found = datapackage(PUBLISHED, FILES)["facsimile"]
    assert found["sources"] == {
        "budget": "Authors, 2023: three heuristics.",
        "projection": "The steward.",
        "criteria": {
            "marginals-absolute": {
                "criterion": "Users, February 2024: counts matter most.",
                "threshold": "Stakeholders: 1 % of all records.",
            }
        },
    }
    assert found["governance"]["approvals"][0] == {
        "by": "Chief Data Officer",
        "of": "The release",
        "when": "2024-02",
    }
    assert found["governance"]["feedback"] == "https://health.example/feedback?a=1&b=2"
    assert "ethics_review" not in found["governance"]
    assert not {"sources", "governance"} & set(datapackage(BIRTHS, FILES)["facsimile"])


def test_a_rehearsal_has_no_licence_no_doi_and_no_provenance() -> None:
    descriptor = datapackage(replace(PUBLISHED, rehearsal=True), FILES)
    assert not {"licenses", "sources"} & set(descriptor)
    assert descriptor["id"] == PUBLISHED.data_hash
    assert descriptor["contributors"]


def test_labels_in_notation_are_said_in_words() -> None:
    fields = {
        f["name"]: f["description"] for f in datapackage(BIRTHS, FILES)["resources"][0]["schema"]["fields"]
    }
    assert "“10<” means more than 10." in fields["parity"]
    assert "“<29” means less than 29." in fields["gestation_week"]
    assert "29-31" not in fields["gestation_week"]


def test_a_rehearsal_says_so_wherever_it_is_named() -> None:
    descriptor = datapackage(ODD, FILES)
    assert descriptor["facsimile"]["rehearsal"] is True
    for words in (
        descriptor["title"],
        descriptor["description"],
        *(r["title"] for r in descriptor["resources"]),
    ):
        assert words.startswith(REHEARSAL)
    assert REHEARSAL not in json.dumps(datapackage(BIRTHS, FILES))


def test_only_files_that_are_there_are_described() -> None:
    found = datapackage(BIRTHS, {"data.csv": FILES["data.csv"], "other.txt": (1, "c" * 64)})
    assert [resource["path"] for resource in found["resources"]] == ["data.csv"]


def test_a_code_for_missing_values_is_explained() -> None:
    field = datapackage(ODD, FILES)["resources"][0]["schema"]["fields"][0]
    assert field["description"].endswith("“it's” means that the value is missing.")


def test_the_report_holds_publisher_and_people_as_plain_data() -> None:
    found = json.loads(json.dumps(PUBLISHED.as_json()))
    assert PUBLISHED.publisher is not None and PUBLISHED.governance is not None
    assert found["publisher"] == PUBLISHED.publisher.model_dump()
    assert found["governance"]["partners"][0] == PUBLISHED.governance.partners[0].model_dump()
    newer = ("prior", "delta", "fit", "tables", "publish")
    assert list(found) == [field.name for field in fields(PUBLISHED) if field.name not in newer]
    assert replace(PUBLISHED, publisher=None).as_json()["publisher"] is None


def test_delta_is_in_the_description_and_among_the_figures_where_there_is_one() -> None:
    found = datapackage(replace(PUBLISHED, delta="0.000000001"), {"data.csv": (1, "a" * 64)})
    assert found["facsimile"]["delta"] == "0.000000001"
    assert f"with epsilon {PUBLISHED.epsilon} and delta 0.000000001; one record is" in found["description"]
    plain = datapackage(PUBLISHED, {"data.csv": (1, "a" * 64)})
    assert "delta" not in plain["facsimile"] and "delta" not in plain["description"]

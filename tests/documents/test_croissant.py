from __future__ import annotations

import copy
import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow.parquet as pq
import pytest
from mlcroissant._src.core.rdf import make_context

from documents.described import REPORTS, SIZES, small, table, written
from documents.sample import BIRTHS, PUBLISHED
from facsimile.documents.croissant import croissant
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import Report

RESPONSIBLE = (
    "dataCollection",
    "dataPreprocessingProtocol",
    "dataManipulationProtocol",
    "dataLimitations",
    "dataBiases",
    "dataUseCases",
    "personalSensitiveInformation",
    "dataReleaseMaintenancePlan",
)
logging.getLogger("absl").setLevel(logging.ERROR)


def read(content: dict[str, Any]) -> Any:
    return mlcroissant.Dataset(jsonld=json.loads(json.dumps(content))).metadata


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_the_reference_library_finds_no_error(report: Report) -> None:
    found = read(croissant(report, SIZES))
    assert found.ctx.issues.errors == set()
    assert found.ctx.is_v1_1()
    assert [file.name for file in found.distribution] == [name for name in SIZES if name != "report.json"]


def test_a_published_release_has_all_that_is_recommended() -> None:
    assert read(croissant(PUBLISHED, SIZES)).ctx.issues.warnings == set()


def test_an_error_is_found() -> None:
    content = copy.deepcopy(croissant(BIRTHS, SIZES))
    content["recordSet"][0]["field"][0]["source"]["fileObject"] = {"@id": "elsewhere.csv"}
    with pytest.raises(mlcroissant.ValidationError):
        read(content)


def test_the_context_is_that_of_the_version() -> None:
    found = read(croissant(BIRTHS, SIZES))
    assert make_context(found.ctx) == croissant(BIRTHS, SIZES)["@context"]


@pytest.mark.parametrize("name", ["births", "odd", "discharges", "hostile"])
def test_the_library_reads_the_records_and_the_values(name: str, tmp_path: Path) -> None:
    report = small(REPORTS[name], 60)
    records = table(report)
    pq.write_table(records, tmp_path / "data.parquet")
    data = (tmp_path / "data.parquet").read_bytes()
    content = croissant(report, {"data.parquet": (len(data), hashlib.sha256(data).hexdigest())})
    written(tmp_path, records, {"metadata/croissant.json": json.dumps(content).encode()})
    found = mlcroissant.Dataset(jsonld=str(tmp_path / "metadata" / "croissant.json"))
    rows = list(found.records("records"))
    assert len(rows) == 60
    for place, column in enumerate(report.columns, 1):
        values = [row[f"records/{place}"].decode() for row in rows]
        assert values == records.column(column.name).to_pylist()
        listed = list(found.records(f"values-{place}"))
        assert [row[f"values-{place}/label"] for row in listed] == list(column.labels)
        assert [row[f"values-{place}/count"] for row in listed] == list(column.counts)


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_the_fields_of_responsible_ai_are_the_librarys_and_filled(report: Report) -> None:
    content = croissant(report, SIZES)
    assert [name.removeprefix("rai:") for name in content if name.startswith("rai:")] == list(RESPONSIBLE)
    found = read(content).to_json()
    kept = {name.removeprefix("rai:") for name in found if name.startswith("rai:")}
    assert kept == {name for name in RESPONSIBLE if content[f"rai:{name}"]}
    assert len(content["rai:dataLimitations"]) > 1
    assert report.unit in " ".join(content["rai:personalSensitiveInformation"])


def test_it_says_the_bounds_the_rules_and_what_was_not_tested() -> None:
    content = croissant(PUBLISHED, SIZES)
    limits = " ".join(content["rai:dataLimitations"])
    assert "mean-parity: at most 0.07173" in limits
    assert "No criterion was tested for medians and other quantiles." in limits
    assert any("mother_age < 23 and parity > 6" in line for line in content["rai:dataBiases"])
    assert "The register of <births> & more" in content["rai:dataCollection"]
    assert content["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert content["citeAs"].endswith("Version 1.2. https://doi.org/10.5281/zenodo.1234567")


@pytest.mark.parametrize("name", ["odd", "published rehearsal"])
def test_a_rehearsal_is_marked_and_not_published(name: str) -> None:
    content = croissant(REPORTS[name], SIZES)
    assert content["alternateName"].startswith("REHEARSAL: ")
    assert content["description"].startswith(REHEARSAL)
    for published in ("license", "citeAs", "datePublished", "publisher", "url"):
        assert published not in content
    assert "doi.org" not in json.dumps(content)
    assert "The register of" not in json.dumps(content)

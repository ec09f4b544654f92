from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml

from documents.described import REPORTS
from documents.sample import BIRTHS, PUBLISHED
from facsimile.documents.deployment import deployment, entry
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import Report

TEXT, NUMBER = {"type": "string", "minLength": 1}, {"type": "number"}


def fields(required: str, optional: str = "", **others: Any) -> dict[str, Any]:
    """An object with texts under these names, and others as given; nothing else."""
    names = [*required.split(), *optional.split()]
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": dict.fromkeys(names, TEXT) | others,
    }


def one_of(*values: Any) -> dict[str, Any]:
    return {"enum": list(values)}


CURATOR = fields(
    "data_curator_name data_curator_type", data_curator_type=one_of("Government", "Industry", "Nonprofit")
)
SOURCE = fields(
    "evidence_source_type misc",
    evidence_source_type=one_of(
        "Peer-reviewed publication",
        "Formal publication by the deploying organization",
        "Authorized organizational attestation",
        "Other public source",
    ),
    misc=fields("title", "author url doi publisher", year=NUMBER),
)
# The structure of the registry's records: names of fields, what is required, and the values that it lists.
REGISTRY = fields(
    "url_slug deployment",
    deployment=fields(
        "basic administrative",
        basic=fields(
            "name data_curators description intended_use data_product_type data_product_region "
            "publication_date",
            "data_product_sector",
            data_curators={"type": "array", "items": CURATOR, "minItems": 1},
            data_product_type=one_of(
                "Summary statistics",
                "Machine learning model",
                "Dataset",
                "Synthetic data",
                "Interactive API",
                "SQL queries",
            ),
            publication_date={"type": "string", "format": "date"},
        ),
        dp_variant=fields(
            "",
            "data_domain unprotected_quantities",
            variant_name=one_of("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
        ),
        privacy_loss=fields(
            "",
            "privacy_unit privacy_unit_details privacy_parameters_details",
            number_of_privacy_units={"type": "integer"},
            privacy_parameters=fields("", epsilon=NUMBER, delta={"type": ["number", "string"]}, rho=NUMBER),
        ),
        deployment_model=fields(
            "",
            "model_name_details trust_assumptions actors release_type_details data_source_type_details "
            "access_type_details",
            model_name=one_of("Local", "Central", "Shuffle", "Federated", "Varies"),
            release_type=one_of("One release", "Many releases"),
            data_source_type=one_of("Static", "Dynamic"),
            access_type=one_of("Interactive", "Non-interactive"),
        ),
        implementation=fields(
            "",
            "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification "
            "utility additional_information",
        ),
        administrative=fields(
            "status registry_authors tier",
            status=one_of("Draft", "Pending"),
            registry_authors={"type": "array", "items": TEXT, "minItems": 1},
            tier=one_of(1, 2, 3),
            evidence_sources={"type": "object", "additionalProperties": SOURCE},
        ),
    ),
)
CHECK = jsonschema.Draft202012Validator(REGISTRY, format_checker=jsonschema.FormatChecker())


def filled(report: Report) -> dict[str, Any]:
    """The entry as a publisher completes it: with what its comments ask for."""
    text = deployment(report)
    head = "".join(line for line in text.splitlines() if line.startswith("#"))
    found: dict[str, Any] = yaml.safe_load(text)
    basic = found["deployment"]["basic"]
    assert "data_product_region" in head
    assert "data_curator_type" in head
    assert ("data_curators itself" in head) == ("data_curators" not in basic) == (report.publisher is None)
    basic["data_product_region"] = "A country"
    basic.setdefault("data_curators", [{"data_curator_name": "An office"}])
    for curator in basic["data_curators"]:
        curator["data_curator_type"] = "Government"
    return found


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_a_completed_entry_is_a_record_of_the_registry(report: Report) -> None:
    assert [error.message for error in CHECK.iter_errors(filled(report))] == []


def test_only_what_the_comments_ask_for_is_missing() -> None:
    missing = [error.message for error in CHECK.iter_errors(yaml.safe_load(deployment(PUBLISHED)))]
    assert sorted(missing) == [
        "'data_curator_type' is a required property",
        "'data_product_region' is a required property",
    ]


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_the_text_is_the_entry_and_its_lists_stand_line_by_line(report: Report) -> None:
    text = deployment(report)
    assert yaml.safe_load(text) == entry(report)
    assert "composition: |" in text


def test_pure_and_approximate_privacy_are_told_apart() -> None:
    pure, approximate = entry(PUBLISHED)["deployment"], entry(REPORTS["delta"])["deployment"]
    assert pure["dp_variant"]["variant_name"] == "Pure DP"
    assert pure["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.95}
    assert approximate["dp_variant"]["variant_name"] == "Approximate DP"
    assert approximate["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.95, "delta": 1e-9}
    assert "Gaussian noise" in approximate["implementation"]["mechanisms"]
    assert "rho 0.012" in approximate["implementation"]["composition"]


def test_it_says_the_unit_the_neighbours_the_budget_and_why() -> None:
    told = entry(PUBLISHED)["deployment"]
    assert told["privacy_loss"]["privacy_unit"] == "one singleton birth"
    assert "differ in one of them" in told["privacy_loss"]["privacy_unit_details"]
    assert "search: epsilon 1.65" in told["implementation"]["composition"]
    assert "Authors, 2023: three heuristics." in told["implementation"]["justification"]
    assert "mean-parity: at most 0.07173" in told["implementation"]["utility"]
    assert "epsilon 18.74 in all" in told["deployment_model"]["release_type_details"]
    assert "The specification names no source" in entry(BIRTHS)["deployment"]["implementation"]["justification"]


@pytest.mark.parametrize("name", ["odd", "published rehearsal"])
def test_a_rehearsal_is_marked_and_no_evidence(name: str) -> None:
    told = entry(REPORTS[name])["deployment"]
    assert told["basic"]["name"].startswith("REHEARSAL: ")
    assert told["basic"]["description"].startswith(REHEARSAL)
    assert "evidence_sources" not in told["administrative"]
    assert "doi" not in deployment(REPORTS[name])

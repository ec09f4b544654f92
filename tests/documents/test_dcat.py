from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pyshacl
import pytest
from rdflib import DCAT, DCTERMS, RDF, Graph, Literal, URIRef

from documents.described import REPORTS, SIZES
from documents.sample import BIRTHS, ODD, PUBLISHED
from facsimile.documents.dcat import dcat
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import Report

HOME = "https://portal.example/births/metadata/dcat.jsonld"
HEALTH = "http://healthdataportal.eu/ns/health#"
SHAPES = Graph().parse(Path(__file__).with_name("dcat-ap.ttl"))


def graph(content: dict[str, Any]) -> Graph:
    return Graph().parse(data=json.dumps(content), format="json-ld", publicID=HOME)


def problems(content: dict[str, Any]) -> str:
    fits, _, words = pyshacl.validate(graph(content), shacl_graph=SHAPES)
    return "" if fits else str(words)


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_every_release_fits_the_profile(report: Report) -> None:
    assert problems(dcat(report, SIZES)) == ""


@pytest.mark.parametrize("lost", ["dct:title", "dct:description", "dct:accessRights", "dcat:distribution"])
def test_a_description_that_lacks_what_is_asked_for_does_not_fit(lost: str) -> None:
    content = dcat(PUBLISHED, SIZES)
    del content[lost]
    assert problems(content)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dct:issued", "yesterday"),
        ("dct:publisher", "An office"),
        ("healthdcatap:numberOfRecords", "many"),
        ("dct:invented", "x"),
    ],
)
def test_one_that_has_something_else_does_not_fit(name: str, value: str) -> None:
    assert problems(dcat(PUBLISHED, SIZES) | {name: value})
    broken = copy.deepcopy(dcat(PUBLISHED, SIZES))
    del broken["dcat:distribution"][0]["dcat:accessURL"]
    assert problems(broken)


def test_files_are_found_from_where_the_description_lies() -> None:
    found = graph(dcat(BIRTHS, SIZES))
    urls = {str(url) for url in found.objects(None, DCAT.downloadURL)}
    assert "https://portal.example/births/data.csv" in urls
    assert "https://portal.example/births/labelled/data.sav" in urls
    assert "https://portal.example/births/tables/one.csv" in urls
    assert not any("report.json" in url for url in urls)
    assert {str(url) for url in found.objects(None, DCAT.accessURL)} == {
        "https://portal.example/births/README.html"
    }


def test_it_says_what_the_report_knows() -> None:
    found = graph(dcat(PUBLISHED, SIZES))
    (dataset,) = found.subjects(RDF.type, DCAT.Dataset)
    assert str(dataset) == "https://doi.org/10.5281/zenodo.1234567"
    assert int(str(found.value(dataset, URIRef(HEALTH + "numberOfRecords")))) == PUBLISHED.records
    assert found.value(dataset, DCTERMS.title) == Literal(PUBLISHED.title, lang="en")
    licences = {str(licence) for licence in found.objects(None, DCTERMS.license)}
    assert licences == {"https://creativecommons.org/licenses/by/4.0/"}
    assert "access-right/PUBLIC" in str(found.value(dataset, DCTERMS.accessRights))
    assert "epsilon 1.95" in str(found.value(dataset, DCTERMS.description))
    assert "mean-parity: at most 0.07173" in found.serialize(format="nt")


def test_it_invents_nothing() -> None:
    text = json.dumps(dcat(BIRTHS, SIZES))
    for unknown in ("theme", "spatial", "temporal", "Age", "UniqueIndividuals", "publisher", "contactPoint"):
        assert unknown not in text.replace(json.dumps(BIRTHS.public_because), "").replace("dcat:themeless", "")


@pytest.mark.parametrize("name", ["odd", "published rehearsal"])
def test_a_rehearsal_is_marked_and_has_no_licence_doi_or_source(name: str) -> None:
    content = dcat(REPORTS[name], SIZES)
    text = json.dumps(content)
    assert content["dct:title"]["@value"].startswith("REHEARSAL: ")
    assert REHEARSAL in content["dct:description"]["@value"]
    assert content["@id"].startswith("urn:uuid:")
    assert "access-right/NON_PUBLIC" in text
    for published in ("dct:license", "doi.org", "dct:source", "dct:issued", "creativecommons"):
        assert published not in text
    assert dcat(ODD, SIZES)["@id"] != dcat(BIRTHS, SIZES)["@id"]

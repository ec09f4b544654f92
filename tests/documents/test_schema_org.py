from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from jinja2 import Environment, PackageLoader, StrictUndefined
from rdflib import Graph

from documents.described import REPORTS, SIZES
from documents.sample import BIRTHS, PUBLISHED
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import Report
from facsimile.documents.schema_org import data_block, schema_org

# Properties of schema.org's Dataset, its downloads, people and columns, each with the types it may have here.
TERMS = {
    "Dataset": "name description identifier keywords inLanguage dateCreated measurementTechnique creator "
    "version variableMeasured distribution creativeWorkStatus datePublished isAccessibleForFree url publisher "
    "license",
    "DataDownload": "name contentUrl encodingFormat contentSize sha256",
    "Organization": "name url contactPoint",
    "ContactPoint": "email url",
    "PropertyValue": "name description value",
}


def objects(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict):
        return [value, *(found for part in value.values() for found in objects(part))]
    return [found for part in value for found in objects(part)] if isinstance(value, list) else []


class Scripts(HTMLParser):
    """The texts of a page's data blocks, and its other elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.names: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        if tag == "script":
            assert dict(attrs) == {"type": "application/ld+json"}

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data)


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_every_property_is_one_of_its_type(report: Report) -> None:
    content = schema_org(report, SIZES)
    assert content["@type"] == "Dataset"
    for found in objects(content):
        known = TERMS[str(found["@type"])].split()
        assert set(found) - {"@context", "@type"} <= set(known)
        assert all(value not in (None, "") for value in found.values())
    assert 50 <= len(content["description"]) <= 5000
    assert len(content["variableMeasured"]) == len(report.columns)
    described = {**content, "@context": {"@vocab": "https://schema.org/"}}
    assert len(Graph().parse(data=json.dumps(described), format="json-ld")) > 20


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_no_text_leaves_the_block(report: Report) -> None:
    templates = Environment(
        loader=PackageLoader("facsimile.documents"), autoescape=True, undefined=StrictUndefined
    )
    content = schema_org(report, SIZES)
    page = templates.get_template("linked.html").render(linked=data_block(content))
    found = Scripts(page)
    assert found.names == ["script"]
    assert len(found.texts) == 1
    assert json.loads(found.texts[0]) == content
    assert page.count("<") == 2


def test_a_published_release_says_who_where_and_under_which_terms() -> None:
    content = schema_org(PUBLISHED, SIZES)
    assert content["url"] == "https://doi.org/10.5281/zenodo.1234567"
    assert content["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert content["publisher"]["contactPoint"]["email"] == "births@health.example"
    assert "license" not in schema_org(BIRTHS, SIZES)


@pytest.mark.parametrize("name", ["odd", "published rehearsal"])
def test_a_rehearsal_is_marked_and_not_published(name: str) -> None:
    content = schema_org(REPORTS[name], SIZES)
    assert content["name"].startswith("REHEARSAL: ")
    assert content["creativeWorkStatus"].startswith(REHEARSAL)
    for published in ("license", "url", "publisher", "datePublished", "isAccessibleForFree"):
        assert published not in content
    assert "doi.org" not in json.dumps(content)

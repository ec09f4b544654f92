"""Croissant: the release for machine learning, in version 1.1 of the format, with fields of responsible AI."""

from __future__ import annotations

from typing import Any

from facsimile.documents.facts import (
    KEYWORDS,
    Sizes,
    abstract,
    bounds,
    contact,
    described,
    identifier,
    landing,
    made,
    origin,
    removed,
    title,
    treated,
    unbounded,
    uses,
    warning,
    wording,
)
from facsimile.documents.metadata import given, slug
from facsimile.documents.readme import uncovered
from facsimile.documents.report import ColumnEntry, Report

VERSIONS = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject fileSet "
    "format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex "
    "repeated replace samplingRate separator source subField transform"
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
_ELSEWHERE = {"application/vnd.apache.parquet": ("application/x-parquet",)}
"""Names of formats that readers of Croissant look for."""
RECORDS = "records"
ROWS = "data.parquet"
"""The file that records are read from: a reader of a CSV file takes some labels for numbers or for nothing."""


def croissant(report: Report, sizes: Sizes) -> dict[str, Any]:
    """The description; its record set is the table, and each column refers to the list of its values."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSIONS,
        "name": slug(title(report)),
        "alternateName": title(report),
        "description": abstract(report),
        "keywords": list(KEYWORDS),
        "inLanguage": "en",
        "isLiveDataset": False,
        "identifier": identifier(report),
        **_published(report),
        **_responsible(report),
        "distribution": [_file(name, sizes) for name in described(sizes)],
        "recordSet": [
            _records(report),
            *(_values(place, column) for place, column in enumerate(report.columns, 1)),
        ],
    }


def _published(report: Report) -> dict[str, Any]:
    """Who publishes it, where and under which terms; a rehearsal is not published."""
    publisher = report.publisher
    organisation = publisher and given(
        {"@type": "sc:Organization", "name": publisher.name, "url": publisher.homepage}
    )
    if report.rehearsal:
        return given({"creator": organisation, "dateCreated": report.day})
    version = None if publisher is None else publisher.version
    cited = f"{publisher.name if publisher else 'No publisher named'} ({report.day[:4]}). {report.title}."
    return given(
        {
            "creator": organisation,
            "publisher": organisation,
            "url": landing(report),
            "license": publisher and (publisher.licence_link or publisher.licence),
            "version": version,
            "datePublished": report.day,
            "citeAs": " ".join([cited, *([f"Version {version}."] if version else []), identifier(report)]),
        }
    )


def _responsible(report: Report) -> dict[str, Any]:
    """What a user of the data must know of where it comes from and what it cannot tell."""
    mail, link = contact(report)
    asked = f"Questions: {mail or link}." if mail or link else "No contact is declared."
    source = f"The confidential file is: {origin(report)}. It is not published." if origin(report) else None
    return {
        "rai:dataCollection": " ".join(filter(None, [source, made(report)])),
        "rai:dataPreprocessingProtocol": [
            f"{column.name}: {' '.join(treated(column))}" for column in report.columns if treated(column)
        ],
        "rai:dataManipulationProtocol": removed(report),
        "rai:dataLimitations": [
            *bounds(report),
            *unbounded(report),
            *(f"No criterion was tested for {topic}." for topic in uncovered(report)),
            "Standard errors from these rows alone leave out the noise.",
        ],
        "rai:dataBiases": [
            f"The model is of the family {report.family}: relations that it does not hold are weakened.",
            *removed(report),
        ],
        "rai:dataUseCases": [f"Statistics of a kind that was tested: {use}." for use in uses(report)],
        "rai:personalSensitiveInformation": [
            warning(report),
            f"The columns describe {report.unit}: {', '.join(c.name for c in report.columns)}.",
        ],
        "rai:dataReleaseMaintenancePlan": (
            f"This version does not change: its table has the SHA-256 {report.data_hash}. Another release of "
            f"the same confidential file would spend more of its budget. {asked}"
        ),
    }


def _file(name: str, sizes: Sizes) -> dict[str, Any]:
    size, sha256 = sizes[name]
    kind = described(sizes)[name]
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": kind.words,
        "contentUrl": f"../{name}",
        "contentSize": f"{size} B",
        "encodingFormat": [kind.media, *_ELSEWHERE.get(kind.media, ())],
        "sha256": sha256,
    }


def _records(report: Report) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": RECORDS,
        "name": RECORDS,
        "description": f"One record for each row of the table. {warning(report)}",
        "field": [_field(place, column) for place, column in enumerate(report.columns, 1)],
    }


def _field(place: int, column: ColumnEntry) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{RECORDS}/{place}",
        "name": column.name,
        "description": " ".join([column.description, *treated(column)]),
        "dataType": "sc:Text",
        "source": {"fileObject": {"@id": ROWS}, "extract": {"column": column.name}},
        "references": {"field": {"@id": f"values-{place}/label"}},
    }


def _values(place: int, column: ColumnEntry) -> dict[str, Any]:
    """The closed list of a column's values, in their order."""
    here = f"values-{place}"
    kinds = {"label": "sc:Text", "meaning": "sc:Text", "count": "sc:Integer"}
    if column.numbers is not None:
        kinds["number"] = "sc:Float"
    numbers = column.numbers or (None,) * len(column.labels)
    rows = zip(column.labels, column.meanings, column.counts, numbers, strict=True)
    return {
        "@type": "cr:RecordSet",
        "@id": here,
        "name": f"{column.name} values",
        "description": f"Every value of {column.name}, with its count in the released table.",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{here}/label"},
        "field": [
            {"@type": "cr:Field", "@id": f"{here}/{part}", "name": part, "description": part, "dataType": kind}
            for part, kind in kinds.items()
        ],
        "data": [
            given(
                {
                    f"{here}/label": label,
                    f"{here}/meaning": wording(label, meaning),
                    f"{here}/count": count,
                    f"{here}/number": number,
                }
            )
            for label, meaning, count, number in rows
        ],
    }

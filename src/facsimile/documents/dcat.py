"""DCAT: the release for data portals, in the words of DCAT-AP 3; HealthDCAT-AP has the number of records.

Themes, ages, areas and periods are left out: no report knows them.
"""

from __future__ import annotations

from typing import Any

from facsimile.documents.facts import (
    KEYWORDS,
    PROGRAM,
    Sizes,
    abstract,
    bounds,
    contact,
    described,
    identifier,
    landing,
    made,
    origin,
    title,
    unbounded,
    warning,
)
from facsimile.documents.metadata import given
from facsimile.documents.report import Report

_EU = "http://publications.europa.eu/resource/authority"
_IANA = "https://www.iana.org/assignments/media-types/"
CONTEXT = {
    "adms": "http://www.w3.org/ns/adms#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "healthdcatap": "http://healthdataportal.eu/ns/health#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_REGISTERED = ("text/csv", "application/vnd.apache.parquet", "application/json")
PAGES = ("README.html", "report.json")


def dcat(report: Report, sizes: Sizes) -> dict[str, Any]:
    """The dataset and its files. Links to files lead from the folder of this description to the bundle."""
    rights = "NON_PUBLIC" if report.rehearsal else "PUBLIC"
    when = "dct:created" if report.rehearsal else "dct:issued"
    return {
        "@context": CONTEXT,
        "@id": identifier(report),
        "@type": "dcat:Dataset",
        "dct:title": _text(title(report)),
        "dct:description": _text(abstract(report)),
        "dct:identifier": report.data_hash,
        when: _typed(report.day, "date"),
        "dct:language": {"@id": f"{_EU}/language/ENG", "@type": "dct:LinguisticSystem"},
        "dct:accessRights": {"@id": f"{_EU}/access-right/{rights}", "@type": "dct:RightsStatement"},
        "dct:provenance": _provenance(report),
        "dcat:keyword": [_text(keyword) for keyword in KEYWORDS],
        "healthdcatap:numberOfRecords": _typed(str(report.records), "nonNegativeInteger"),
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "rdfs:label": _text(f"{PROGRAM} {report.version}, plan {report.plan_hash}"),
        },
        "foaf:page": [{"@id": f"../{page}", "@type": "foaf:Document"} for page in PAGES],
        **_people(report),
        "dcat:distribution": [_distribution(report, name, sizes) for name in described(sizes)],
    }


def _text(words: str) -> dict[str, str]:
    return {"@language": "en", "@value": words}


def _typed(value: str, kind: str) -> dict[str, str]:
    return {"@type": f"xsd:{kind}", "@value": value}


def _provenance(report: Report) -> dict[str, Any]:
    source = f"The confidential file is: {origin(report)}." if origin(report) else ""
    words = " ".join(filter(None, [source, made(report), *bounds(report), *unbounded(report)]))
    return {"@type": "dct:ProvenanceStatement", "rdfs:label": _text(words)}


def _people(report: Report) -> dict[str, Any]:
    """Who publishes it, whom to ask, where it is found and what it was made from."""
    publisher, page = report.publisher, landing(report)
    agent = publisher and given(
        {
            "@type": "foaf:Agent",
            "foaf:name": _text(publisher.name),
            "foaf:homepage": publisher.homepage and {"@id": publisher.homepage, "@type": "foaf:Document"},
        }
    )
    source = publisher and publisher.provenance_link
    return given(
        {
            "dct:publisher": agent,
            "dcat:contactPoint": _contact(report),
            "dcat:version": publisher and publisher.version,
            "dcat:landingPage": page and {"@id": page, "@type": "foaf:Document"},
            "dct:source": {"@id": source} if source and not report.rehearsal else None,
        }
    )


def _contact(report: Report) -> dict[str, Any] | None:
    mail, link = contact(report)
    if mail is None and link is None:
        return None
    name = report.publisher.name if report.publisher else "Contact"
    return given(
        {
            "@type": "vcard:Kind",
            "vcard:fn": name,
            "vcard:hasEmail": mail and {"@id": f"mailto:{mail}"},
            "vcard:hasURL": link and {"@id": link},
        }
    )


def _distribution(report: Report, name: str, sizes: Sizes) -> dict[str, Any]:
    size, sha256 = sizes[name]
    kind = described(sizes)[name]
    media = {"@id": f"{_IANA}{kind.media}", "@type": "dct:MediaType"} if kind.media in _REGISTERED else None
    return given(
        {
            "@id": f"{identifier(report)}#{name}",
            "@type": "dcat:Distribution",
            "dct:title": _text(name),
            "dct:description": _text(f"{kind.words}. {warning(report)}"),
            "dcat:accessURL": {"@id": landing(report) or "../README.html"},
            "dcat:downloadURL": {"@id": f"../{name}"},
            "dcat:mediaType": media,
            "dct:format": {"@type": "dct:MediaTypeOrExtent", "rdfs:label": kind.media},
            "dcat:byteSize": _typed(str(size), "nonNegativeInteger"),
            "spdx:checksum": {
                "@type": "spdx:Checksum",
                "spdx:algorithm": {
                    "@id": "http://spdx.org/rdf/terms#checksumAlgorithm_sha256",
                    "@type": "spdx:ChecksumAlgorithm",
                },
                "spdx:checksumValue": _typed(sha256, "hexBinary"),
            },
            "dct:license": _licence(report),
        }
    )


def _licence(report: Report) -> dict[str, Any] | None:
    publisher = report.publisher
    if publisher is None or publisher.licence is None or report.rehearsal:
        return None
    named = {"@type": "dct:LicenseDocument", "rdfs:label": publisher.licence}
    return named | given({"@id": publisher.licence_link})

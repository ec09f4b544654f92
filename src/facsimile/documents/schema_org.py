"""schema.org: the release for search engines, as a data block in README.html."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

from facsimile.documents.facts import (
    KEYWORDS,
    Sizes,
    abstract,
    contact,
    described,
    identifier,
    landing,
    title,
    warning,
)
from facsimile.documents.metadata import given
from facsimile.documents.report import ColumnEntry, Report

_ESCAPED = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def schema_org(report: Report, sizes: Sizes) -> dict[str, Any]:
    """The dataset with its columns and files; links lead from README.html."""
    publisher = report.publisher
    organisation = publisher and given(
        {
            "@type": "Organization",
            "name": publisher.name,
            "url": publisher.homepage,
            "contactPoint": _asked(report),
        }
    )
    found = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": title(report),
        "description": abstract(report)[:5000],
        "identifier": [identifier(report), f"sha256:{report.data_hash}"],
        "keywords": list(KEYWORDS),
        "inLanguage": "en",
        "dateCreated": report.day,
        "measurementTechnique": "Synthetic data with differential privacy",
        "creator": organisation,
        "version": publisher and publisher.version,
        "variableMeasured": [_variable(column) for column in report.columns],
        "distribution": [
            {
                "@type": "DataDownload",
                "name": kind.words,
                "contentUrl": name,
                "encodingFormat": kind.media,
                "contentSize": f"{sizes[name][0]} B",
                "sha256": sizes[name][1],
            }
            for name, kind in described(sizes).items()
        ],
    }
    if report.rehearsal:
        return given(found | {"creativeWorkStatus": warning(report)})
    return given(
        found
        | {
            "datePublished": report.day,
            "isAccessibleForFree": True,
            "url": landing(report),
            "publisher": organisation,
            "license": publisher and (publisher.licence_link or publisher.licence),
        }
    )


def data_block(content: dict[str, Any]) -> Markup:
    """JSON for a page: no text in it can end the element that holds it.

    >>> data_block({"name": "</script>"})
    Markup('{"name": "\\\\u003c/script\\\\u003e"}')
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return Markup("".join(_ESCAPED.get(sign, sign) for sign in text))


def _asked(report: Report) -> dict[str, Any] | None:
    mail, link = contact(report)
    if mail is None and link is None:
        return None
    return given({"@type": "ContactPoint", "email": mail, "url": link})


def _variable(column: ColumnEntry) -> dict[str, Any]:
    return {
        "@type": "PropertyValue",
        "name": column.name,
        "description": column.description,
        "value": ", ".join(column.labels),
    }

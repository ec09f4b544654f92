"""Metadata: the release described for machines, as a Data Package of the Frictionless standard."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from facsimile.documents.report import ColumnEntry, Report, TableEntry
from facsimile.spec.people import Partner, is_mail

REHEARSAL = "REHEARSAL: made with public or simulated data; no protection, not for publication"
DOI = "https://doi.org/"
TABLES = {
    "data.csv": {"name": "data-csv", "format": "csv", "mediatype": "text/csv", "encoding": "utf-8"},
    "data.parquet": {
        "name": "data-parquet",
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
    },
}


def datapackage(report: Report, files: Mapping[str, tuple[int, str]]) -> dict[str, Any]:
    """The descriptor of the tables among `files` (name: bytes and SHA-256), with the dictionary of columns.

    Publisher, partners, version, licence, DOI and provenance stand here as the specification declares them. A
    rehearsal has no licence and no DOI, and no provenance: it is not published, and was made
    from other data.
    """
    mark = f"{REHEARSAL}. " if report.rehearsal else ""
    return {
        "profile": "data-package",
        "name": slug(report.title),
        "id": report.data_hash,
        **_published(report),
        "title": mark + report.title,
        "description": mark + description(report),
        "created": f"{report.day}T00:00:00Z",
        "keywords": ["synthetic data", "differential privacy"],
        "facsimile": {
            "rehearsal": report.rehearsal,
            "records": report.records,
            "unit": report.unit,
            "epsilon": report.epsilon,
            **({} if report.delta is None else {"delta": report.delta}),
            "rules": [asdict(rule) for rule in report.rules],
            "plan_hash": report.plan_hash,
            "data_hash": report.data_hash,
            "version": report.version,
            **({} if report.prior is None else {"prior": given(asdict(report.prior))}),
            **_chosen(report),
        },
        "resources": [
            {
                "path": path,
                **table,
                "title": mark + report.title,
                "bytes": files[path][0],
                "hash": f"sha256:{files[path][1]}",
                "schema": schema(report.columns),
            }
            for path, table in TABLES.items()
            if path in files
        ]
        + [_noisy(table, files[table.file]) for table in report.tables or ()],
    }


def _noisy(table: TableEntry, size: tuple[int, str]) -> dict[str, Any]:
    """A noisy table of the original."""
    fields = [{"name": name, "type": "string"} for name in table.columns]
    noise = f"{table.law} noise with standard deviation {table.deviation:g} on every cell"
    return {
        "path": table.file,
        "name": slug(table.file.rpartition("/")[2].removesuffix(".csv")),
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "title": f"Noisy counts of {', '.join(table.columns)}",
        "description": f"Counts of the original, {noise}; the released table was made from these.",
        "bytes": size[0],
        "hash": f"sha256:{size[1]}",
        "schema": {"fields": [*fields, {"name": "noisy_count", "type": "integer"}]},
    }


def _published(report: Report) -> dict[str, Any]:
    """Who is behind the release and under which terms it is published, in the fields of the standard."""
    published = not report.rehearsal
    publisher, governance = report.publisher, report.governance
    contact = None if governance is None else governance.contact
    fields: dict[str, Any] = {"contributors": []}
    if publisher is not None:
        mail = contact if contact is not None and is_mail(contact) else None
        who = {"title": publisher.name, "path": publisher.homepage, "email": mail, "role": "publisher"}
        terms = {"name": publisher.licence, "path": publisher.licence_link}
        origin = {"title": publisher.provenance, "path": publisher.provenance_link}
        fields = {
            "id": f"{DOI}{publisher.doi}" if publisher.doi and published else None,
            "version": publisher.version,
            "homepage": publisher.homepage,
            "contributors": [given(who)],
            "licenses": [given(terms)] if publisher.licence and published else None,
            "sources": [given(origin)] if publisher.provenance and published else None,
        }
    fields["contributors"] += [_contributor(p) for p in (() if governance is None else governance.partners)]
    return given(fields | {"contributors": fields["contributors"] or None})


def _contributor(partner: Partner) -> dict[str, str]:
    title = partner.name or partner.role or partner.organisation
    organisation = partner.organisation if partner.name or partner.role else None
    return given({"title": title, "role": "contributor", "organization": organisation})


def _chosen(report: Report) -> dict[str, Any]:
    """Who is behind the release, and who set what, beyond the fields of the standard."""
    criteria = {c.name: {"criterion": c.source, "threshold": c.threshold_source} for c in report.criteria}
    governance = {} if report.governance is None else report.governance.model_dump()
    found: dict[str, Any] = _filled(
        {"sources": {**report.sources, "criteria": criteria}, "governance": governance}
    )
    return found


def _filled(value: Any) -> Any:
    """Plain data without what is empty."""
    if isinstance(value, dict):
        return {name: kept for name, part in value.items() if (kept := _filled(part))}
    return [_filled(part) for part in value] if isinstance(value, tuple) else value


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def schema(columns: tuple[ColumnEntry, ...]) -> dict[str, Any]:
    """The columns as texts, each with its closed list of values."""
    return {"fields": [_field(column) for column in columns], "missingValues": []}


def _field(column: ColumnEntry) -> dict[str, Any]:
    pairs = zip(column.labels, column.meanings, strict=True)
    means = "".join(f" “{label}” means {words}." for label, words in pairs if not plain(label, words))
    if column.missing is not None:
        means += f" “{column.missing}” means that the value is missing."
    return {
        "name": column.name,
        "type": "string",
        "description": column.description + means,
        "constraints": {"required": True, "enum": list(column.labels)},
        **_numbers(column),
    }


def _numbers(column: ColumnEntry) -> dict[str, Any]:
    """The number that stands for each value in means and regressions, where values have one."""
    if column.numbers is None:
        return {}
    return {"facsimile": {"numbers": dict(zip(column.labels, column.numbers, strict=True))}}


def plain(label: str, words: str) -> bool:
    """Whether a label needs no words: it says them itself, or is a range such as 18-19."""
    return words == label or words == label.replace("-", " to ")


def description(report: Report) -> str:
    """What the release is, in the words of its specification and in one sentence on how private it is."""
    delta = "" if report.delta is None else f" and delta {report.delta}"
    private = "A release by this plan would be differentially" if report.rehearsal else "Differentially"
    words = (
        f"Synthetic data: {report.records:,} rows drawn from a statistical model; no row is a person. "
        f"{private} private with epsilon {report.epsilon}{delta}; one record is {report.unit}."
    )
    return f"{report.description} {words}" if report.description else words


def slug(title: str) -> str:
    """A title as a name: small letters, digits and dashes.

    >>> slug("Live births of 2014, singletons")
    'live-births-of-2014-singletons'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "release"

"""DDI: the release for data archives, as a DDI-Codebook of version 2.5.

Frequencies are those of the released table. Elements stand in the order that the standard prescribes.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree as Xml

from facsimile.documents.facts import (
    KEYWORDS,
    PROGRAM,
    ROWS,
    Sizes,
    abstract,
    bounds,
    budget,
    contact,
    identifier,
    landing,
    made,
    mechanisms,
    origin,
    printable,
    removed,
    title,
    treated,
    unbounded,
    warning,
    wording,
)
from facsimile.documents.metadata import DOI
from facsimile.documents.report import ColumnEntry, Report

NAMESPACE = "ddi:codebook:2_5"


def ddi(report: Report, sizes: Sizes) -> bytes:
    """The codebook."""
    book = Xml.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5", "xml:lang": "en", "ID": "release"})
    _document(report, _add(book, "docDscr"))
    _study(report, _add(book, "stdyDscr"))
    files = {name: f"F{place}" for place, name in enumerate((name for name in ROWS if name in sizes), 1)}
    for name, key in files.items():
        _file(report, _add(book, "fileDscr", {"ID": key, "URI": f"../{name}"}), name, sizes)
    columns = _add(book, "dataDscr")
    for place, column in enumerate(report.columns, 1):
        _variable(columns, place, column, list(files.values()))
    _add(columns, "notes", text=warning(report))
    Xml.indent(book)
    written: str = Xml.tostring(book, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n'.encode()


def _add(
    parent: Xml.Element, name: str, given: Mapping[str, str | None] | None = None, text: str | None = None
) -> Xml.Element:
    """A part of an element, without the attributes that have no value."""
    known = {key: printable(value) for key, value in (given or {}).items() if value is not None}
    found = Xml.SubElement(parent, name, known)
    found.text = None if text is None else printable(text)
    return found


def _document(report: Report, part: Xml.Element) -> None:
    """Who made this description."""
    cited = _add(part, "citation")
    _add(_add(cited, "titlStmt"), "titl", text=f"Codebook of: {title(report)}")
    produced = _add(cited, "prodStmt")
    _add(produced, "prodDate", {"date": report.day}, report.day)
    _add(produced, "software", {"version": report.version}, PROGRAM)


def _study(report: Report, part: Xml.Element) -> None:
    _citation(report, _add(part, "citation"))
    for approval in () if report.governance is None else report.governance.approvals:
        authorised = _add(part, "studyAuthorization", {"date": approval.when})
        _add(authorised, "authorizingAgency", text=approval.by)
        _add(authorised, "authorizationStatement", text=approval.of)
    info = _add(part, "stdyInfo")
    subject = _add(info, "subject")
    for keyword in KEYWORDS:
        _add(subject, "keyword", text=keyword)
    _add(info, "abstract", text=abstract(report))
    summary = _add(info, "sumDscr")
    _add(summary, "anlyUnit", text=report.unit)
    _add(summary, "dataKind", text="Synthetic microdata with differential privacy")
    _method(report, _add(part, "method"))
    _access(report, _add(part, "dataAccs"))
    _add(part, "notes", {"type": "privacy"}, " ".join([*mechanisms(report), *budget(report)]))


def _citation(report: Report, cited: Xml.Element) -> None:
    publisher, page = report.publisher, landing(report)
    titles = _add(cited, "titlStmt")
    _add(titles, "titl", text=title(report))
    agency = "DOI" if identifier(report).startswith(DOI) else None
    _add(titles, "IDNo", {"agency": agency}, identifier(report).removeprefix(DOI))
    _add(titles, "IDNo", {"agency": "SHA-256 of the table"}, report.data_hash)
    if publisher is not None:
        _add(_add(cited, "rspStmt"), "AuthEnty", text=publisher.name)
    produced = _add(cited, "prodStmt")
    if publisher is not None:
        _add(produced, "producer", text=publisher.name)
    _add(produced, "prodDate", {"date": report.day}, report.day)
    _add(produced, "software", {"version": report.version}, PROGRAM)
    if not report.rehearsal:
        distributed = _add(cited, "distStmt")
        if publisher is not None:
            _add(distributed, "distrbtr", {"URI": publisher.homepage}, publisher.name)
        _contact(report, distributed)
        _add(distributed, "distDate", {"date": report.day}, report.day)
    if publisher is not None and publisher.version is not None:
        _add(_add(cited, "verStmt"), "version", {"date": report.day}, publisher.version)
    if page is not None:
        _add(cited, "holdings", {"URI": page}, page)


def _contact(report: Report, part: Xml.Element) -> None:
    mail, link = contact(report)
    if mail or link:
        _add(part, "contact", {"email": mail, "URI": link}, mail or link)


def _method(report: Report, part: Xml.Element) -> None:
    """Where the rows come from and how far figures can be off."""
    collected = _add(part, "dataColl")
    if (source := origin(report)) is not None:
        _add(_add(collected, "sources"), "dataSrc", text=source)
    _add(collected, "cleanOps", text=" ".join(removed(report)) or "No rule removed a record.")
    appraised = _add(part, "anlyInfo")
    for line in [*bounds(report), *unbounded(report)]:
        _add(appraised, "dataAppr", text=line)
    _add(part, "dataProcessing", text=made(report))


def _access(report: Report, part: Xml.Element) -> None:
    used = _add(part, "useStmt")
    _add(used, "confDec", {"required": "no"}, warning(report))
    if report.rehearsal:
        _add(used, "restrctn", text="Not for publication.")
    _contact(report, used)
    publisher = report.publisher
    if publisher is not None and publisher.licence is not None and not report.rehearsal:
        _add(used, "conditions", text=" ".join(filter(None, [publisher.licence, publisher.licence_link])))
    _add(
        used, "disclaimer", text="No row is a person. Figures of this table differ from those of the original."
    )


def _file(report: Report, part: Xml.Element, name: str, sizes: Sizes) -> None:
    told = _add(part, "fileTxt")
    _add(told, "fileName", text=name)
    _add(told, "fileCont", text=ROWS[name].words)
    _add(told, "fileStrc", {"type": "rectangular"})
    size = _add(told, "dimensns")
    _add(size, "caseQnty", text=str(report.records))
    _add(size, "varQnty", text=str(len(report.columns)))
    _add(told, "fileType", {"charset": "UTF-8"}, ROWS[name].media)
    _add(part, "notes", {"type": "checksum"}, f"{sizes[name][0]} bytes, SHA-256 {sizes[name][1]}")


def _variable(parent: Xml.Element, place: int, column: ColumnEntry, files: list[str]) -> None:
    nature = "nominal" if column.numbers is None else "ordinal"
    given = {
        "ID": f"V{place}",
        "name": column.name,
        "files": " ".join(files) or None,
        "intrvl": "discrete",
        "nature": nature,
        "representationType": "code",
    }
    part = _add(parent, "var", given)
    _add(part, "labl", text=column.description)
    valid = _add(part, "valrng")
    for label in column.labels:
        _add(valid, "item", {"VALUE": label})
    for words in treated(column):
        _add(part, "txt", text=words)
    numbers = column.numbers or (None,) * len(column.labels)
    rows = zip(column.labels, column.meanings, column.counts, numbers, strict=True)
    for label, meaning, count, number in rows:
        found = _add(part, "catgry", {"missing": "Y" if label == column.missing else None})
        _add(found, "catValu", text=label)
        _add(found, "labl", text=wording(label, meaning))
        if number is not None:
            _add(found, "txt", text=f"Number in means and regressions: {number!r}")
        _add(found, "catStat", {"type": "freq"}, str(count))
    _add(part, "varFormat", {"type": "character"})
    if column.numbers is not None:
        _add(
            part, "notes", text="The numbers of the values are in the labelled files as a column of their own."
        )

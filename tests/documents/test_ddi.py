from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from documents.described import REPORTS, SIZES
from documents.sample import BIRTHS, PUBLISHED
from facsimile.documents.ddi import NAMESPACE, ddi
from facsimile.documents.facts import printable
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import Report

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("ddi.xsd")))
IN = {"d": NAMESPACE}


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_every_release_is_a_codebook(report: Report) -> None:
    SCHEMA.assertValid(etree.fromstring(ddi(report, SIZES)))


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_it_has_the_columns_their_values_and_the_released_counts(report: Report) -> None:
    book = etree.fromstring(ddi(report, SIZES))
    variables = book.findall("d:dataDscr/d:var", IN)
    assert [part.get("name") for part in variables] == [printable(c.name) for c in report.columns]
    for part, column in zip(variables, report.columns, strict=True):
        assert part.findtext("d:labl", None, IN) == column.description
        assert [one.text for one in part.findall("d:catgry/d:catValu", IN)] == list(column.labels)
        assert [int(one.text) for one in part.findall("d:catgry/d:catStat", IN)] == list(column.counts)
        assert [one.get("VALUE") for one in part.findall("d:valrng/d:item", IN)] == list(column.labels)
        missing = [one.findtext("d:catValu", None, IN) for one in part.findall("d:catgry[@missing='Y']", IN)]
        assert missing == [label for label in column.labels if label == column.missing]
        assert part.get("files") == "F1 F2 F3 F4"
    names = [one.text for one in book.findall("d:fileDscr/d:fileTxt/d:fileName", IN)]
    assert names == ["data.csv", "data.parquet", "labelled/data.dta", "labelled/data.sav"]
    assert {one.text for one in book.iterfind(".//d:caseQnty", IN)} == {str(report.records)}


@pytest.mark.parametrize("broken", ["titl", "catValu", "varFormat"])
def test_an_element_out_of_its_place_is_found(broken: str) -> None:
    book = etree.fromstring(ddi(BIRTHS, SIZES))
    part = book.find(f".//d:{broken}", IN)
    above = part.getparent()
    above.remove(part)
    above.append(part)
    above.append(etree.fromstring(etree.tostring(part)))
    assert not SCHEMA.validate(book)


def test_it_says_who_and_under_which_terms() -> None:
    book = etree.fromstring(ddi(PUBLISHED, SIZES))
    assert book.findtext("d:stdyDscr/d:citation/d:titlStmt/d:IDNo", None, IN) == "10.5281/zenodo.1234567"
    assert "CC-BY-4.0" in book.findtext(".//d:conditions", None, IN)
    assert book.find(".//d:contact", IN).get("email") == "births@health.example"
    assert book.findtext(".//d:dataSrc", None, IN) == "The register of <births> & more"
    assert [one.get("date") for one in book.findall(".//d:studyAuthorization", IN)] == ["2024-02", None]
    appraised = " ".join(one.text for one in book.findall(".//d:dataAppr", IN))
    assert "mean-parity: at most 0.07173" in appraised


@pytest.mark.parametrize("name", ["odd", "published rehearsal"])
def test_a_rehearsal_is_marked_and_has_no_licence_and_no_doi(name: str) -> None:
    text = ddi(REPORTS[name], SIZES).decode()
    assert REHEARSAL in text
    assert "<titl>REHEARSAL: " in text
    assert "<restrctn>Not for publication.</restrctn>" in text
    for published in ("<conditions>", "zenodo", "<distStmt>", "The register of"):
        assert published not in text

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from lxml import etree

from documents.described import REPORTS, SIZES
from documents.drawn import Drawn, releases
from documents.test_croissant import read
from documents.test_dcat import problems
from documents.test_ddi import SCHEMA
from documents.test_deployment import CHECK, filled
from facsimile.documents.catalogue import CROISSANT, DCAT, DDI, DEPLOYMENT, metadata_files
from facsimile.documents.report import Report


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_there_is_a_file_for_each_standard_and_always_the_same(report: Report) -> None:
    files = metadata_files(report, SIZES)
    assert list(files) == [CROISSANT, DCAT, DDI, DEPLOYMENT]
    assert metadata_files(report, dict(reversed(SIZES.items()))) == files
    assert all(content.endswith(b"\n") for content in files.values())


@settings(max_examples=10, deadline=None)
@given(releases())
def test_any_release_is_valid_in_each_of_them(drawn: Drawn) -> None:
    files = metadata_files(drawn.report, SIZES)
    assert read(json.loads(files[CROISSANT])).ctx.issues.errors == set()
    assert problems(json.loads(files[DCAT])) == ""
    SCHEMA.assertValid(etree.fromstring(files[DDI]))
    assert [error.message for error in CHECK.iter_errors(filled(drawn.report))] == []

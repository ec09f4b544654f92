from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.described import REPORTS
from documents.sample import BIRTHS, ODD
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import Report
from facsimile.documents.script import companions, quoted, script

LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def meant(literal: str) -> str:
    """What R reads from a literal."""
    plain = {"n": "\n", "r": "\r", "t": "\t"}

    def sign(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else plain.get(found[2], found[2])

    return re.sub(r"\\(?:U([0-9a-f]{8})|(.))", sign, literal[1:-1], flags=re.DOTALL)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t\r")))
def test_a_literal_means_its_text_and_ends_where_it_should(text: str) -> None:
    literal = quoted(text)
    assert literal.isascii()
    assert "\n" not in literal
    assert LITERAL.fullmatch(literal)
    assert meant(literal).replace("\ufffd", "") == "".join(s for s in text if s not in "\ufffd\ufffe\uffff")


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_the_script_is_ascii_and_holds_every_label_as_a_literal(report: Report) -> None:
    text = script(report)
    assert text.isascii()
    found = {meant(literal) for literal in LITERAL.findall(text)}
    for column in report.columns:
        assert {column.name, column.description, *column.labels, *column.meanings} <= found
        assert (companions(report.columns)[column.name] in found) == (column.numbers is not None)
    code = LITERAL.sub("", text)
    assert not re.search(r"[\"\\]|system|eval|parse|script>", code)


def test_it_carries_the_warning_and_the_bounds() -> None:
    assert "No row is a person" in script(BIRTHS)
    assert "mean-parity: at most 0.07173" in script(BIRTHS)
    assert REHEARSAL in script(ODD)
    assert 'attr(found, "delta")' in script(REPORTS["delta"])
    assert 'attr(found, "delta")' not in script(BIRTHS)

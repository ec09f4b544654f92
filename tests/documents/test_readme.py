from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.sample import BIRTHS, ODD, PIXEL, PUBLISHED
from facsimile.documents import readme
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.numerals import above, exact, number, spoken_day
from facsimile.documents.report import FitEntry, Regression, Report
from facsimile.spec.people import Approval, Governance, Partner
from facsimile.spec.publisher import Publisher

VOID = {"meta", "link", "br", "img"}
UNSAID = {
    "day",
    "false_accept",
    "policy",
    "regression",
    "refit",
    "kind",
    "topic",
    "stands",
    "mode",
    "confidence",
    "delta",
    "before_delta",
    "fit",
}
"""What the page says in other words."""
FITTED = replace(
    BIRTHS,
    regression=Regression("birth_weight", ("parity",), ("23/10",), ("7/5",), ("3270.25", "-10/3")),
)
APPROXIMATE = replace(
    BIRTHS,
    delta="0.000000001",
    fit=FitEntry("0.8", "0.000000001", "0.0097123456"),
    ledger=BIRTHS.ledger and replace(BIRTHS.ledger, delta="0.000000002"),
)
NEURAL = replace(APPROXIMATE, family="dpctgan", fit=FitEntry("0.8", "0.00000000003", None))
REPORTS = {"births": BIRTHS, "odd": ODD, "fitted": FITTED, "published": PUBLISHED, "approximate": APPROXIMATE}
both = pytest.mark.parametrize("name", REPORTS)


class Page(HTMLParser):
    """A page read strictly: every element is closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return squeezed(" ".join(self.words))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@cache
def page(name: str) -> Page:
    return Page(readme.html(REPORTS[name]))


def said(report: Report) -> str:
    return Page(readme.html(report)).text


@cache
def pdf(name: str) -> bytes:
    return readme.pdf(REPORTS[name])


@cache
def printed(name: str) -> list[str]:
    return [sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(pdf(name))).pages]


def texts(value: Any) -> Iterator[str]:
    """Every text of a report."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)
    elif is_dataclass(value):
        for field in fields(value):
            found = getattr(value, field.name)
            if field.name == "sources":
                yield from texts(tuple(found.values()))
            elif field.name == "when":
                yield from texts(found and spoken_day(found))
            elif field.name not in UNSAID:
                yield from texts(found)


# --- the page


@both
def test_every_text_of_the_report_is_on_the_page(name: str) -> None:
    for text in texts(REPORTS[name]):
        if text.startswith(("http", "data:")):
            assert any(text in (attrs.get("href"), attrs.get("src")) for _, attrs in page(name).elements)
        else:
            assert squeezed(text) in page(name).text, text


@both
def test_every_figure_of_a_criterion_is_on_the_page(name: str) -> None:
    report = REPORTS[name]
    for c in report.criteria:
        for figure in (number(c.value), exact(c.threshold), above(c.bound)):
            assert figure in page(name).text
        for figure in (exact(c.epsilon), above(c.sensitivity), number(c.sigma)):
            assert figure in page(name).text
        if c.bounds:
            assert f"[{c.bounds[0]:g}, {c.bounds[1]:g}]" in page(name).text


@both
def test_the_page_is_well_formed_with_headings_in_order(name: str) -> None:
    levels = [int(tag[1]) for tag, _ in page(name).elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def outward(tag: str, attrs: dict[str, str | None]) -> bool:
    """A link that a reader may follow, or the logo, which stands in the page itself."""
    if tag == "img":
        return (attrs["src"] or "").startswith("data:image/png;base64,")
    return (
        tag == "a"
        and (attrs["href"] or "").startswith(("https://", "mailto:"))
        and attrs["rel"] == "noopener noreferrer"
    )


@both
def test_the_page_loads_nothing(name: str) -> None:
    allowed = {"link": ("href", "data:,")}
    for tag, attrs in page(name).elements:
        assert tag not in ("script", "iframe", "object", "embed", "form", "audio", "video", "base")
        for key, value in attrs.items():
            assert not key.startswith("on")
            if key in ("src", "href", "xlink:href", "data", "action", "srcset", "style"):
                assert (value or "").startswith("#") or allowed.get(tag) == (key, value) or outward(tag, attrs)
    style = re.search("<style>(.*?)</style>", readme.html(REPORTS[name]), re.DOTALL)
    assert style
    assert not re.search(r"url\(|@import|expression|https?:", style[1])


def test_a_page_of_plain_words_names_no_address() -> None:
    text = readme.html(BIRTHS)
    for word in ("http:", "https:", "src=", "@import", "<script"):
        assert word not in text


@both
def test_links_inside_the_page_lead_somewhere(name: str) -> None:
    ids = [attrs["id"] for _, attrs in page(name).elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"] or "" for tag, attrs in page(name).elements if tag == "a"]
    targets = {link[1:] for link in links if link.startswith("#")}
    assert targets <= set(ids)
    assert len(targets) > 10


@both
def test_tables_and_charts_speak_to_a_screen_reader(name: str) -> None:
    found = page(name).elements
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in found if tag == "th")
    tables = [tag for tag, _ in found if tag == "table"]
    assert len(tables) == len([tag for tag, _ in found if tag == "caption"])
    charts = [attrs for tag, attrs in found if tag == "svg"]
    assert len(charts) == 2 + len(REPORTS[name].columns)
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in charts)
    assert ("html", {"lang": "en"}) in found


def test_a_rehearsal_says_so_at_the_top() -> None:
    assert page("odd").text.count(REHEARSAL) >= 2
    tags = [attrs.get("class") for tag, attrs in page("odd").elements if tag == "div"]
    assert tags[0] == "banner"
    assert "REHEARSAL" not in page("births").text


WORDS = st.text(min_size=1, max_size=40)


@given(WORDS, WORDS, WORDS)
def test_any_text_is_text(title: str, label: str, words: str) -> None:
    """Whatever a report says, the page stays well-formed and says it."""
    column = replace(ODD.columns[0], labels=(label,), meanings=(words,), counts=(1,), missing=label)
    criterion = replace(ODD.criteria[0], words=words, source=label, threshold_source=title)
    people = Governance.model_construct(
        partners=(Partner.model_construct(name=label, role=words, organisation=title),),
        requirements={title: words},
        approvals=(Approval.model_construct(by=title, of=words),),
        legal_basis=words,
        ethics_review=label,
        contact=title,
        feedback=label,
    )
    publisher = Publisher.model_construct(name=words, provenance=label)
    said = replace(ODD, title=title, columns=(column,), criteria=(criterion,), sources={"budget": words})
    found = Page(readme.html(replace(said, governance=people, publisher=publisher)))
    assert {tag for tag, _ in found.elements} <= {tag for tag, _ in page("odd").elements} | {"small", "em"}
    if label.isprintable():
        assert squeezed(label) in found.text


# --- what it says


def test_a_value_beyond_its_threshold_is_explained() -> None:
    assert f"Here this is so for {BIRTHS.criteria[5].title}" in page("births").text
    assert "can lie beyond its threshold" not in page("odd").text


def test_bounds_hold_together() -> None:
    assert page("births").text.count("bounds hold together with") == 3
    assert "All 8 bounds hold together with a confidence of 95 %" in page("births").text
    assert "Each by itself holds with at least 99.2 %" in page("births").text


@pytest.mark.parametrize(
    ("scheme", "selection", "words"),
    [
        ("test-then-measure", "coin gamma 0.05", "happened in the whole search was at most 5 %"),
        ("train-once", "rising-coin a 0.5", "happened in the whole search was at most 5 %"),
        ("test-then-measure", "paper", "no such limit holds for the whole search"),
        ("paper", "paper", "Each condition was tested with noise"),
    ],
)
def test_the_chance_of_a_false_accept_is_said_as_it_holds(scheme: str, selection: str, words: str) -> None:
    assert (
        words
        in Page(
            readme.html(replace(BIRTHS, scheme=scheme, mode=selection.split()[0], selection=selection))
        ).text
    )


def test_questions_without_a_guarantee_follow_from_the_criteria() -> None:
    assert readme.uncovered(BIRTHS) == [
        "medians and other quantiles",
        "correlations",
        "the mean of birth_month or mother_age or birth_sex",
    ]
    none = replace(BIRTHS, criteria=())
    assert len(readme.uncovered(none)) == 5


def test_each_rule_says_by_which_records_a_row_falls() -> None:
    births, odd = readme.html(BIRTHS), readme.html(ODD)
    rows = re.findall(r'data-label="Applied to">(.*?)</td>\s*<td[^>]*falls if broken by">(.*?)</td>', births)
    assert rows[-2:] == [("release", "every record behind it"), ("release", "any record behind it")]
    assert {reading for _, reading in rows[:-2]} == {"every record behind it"}
    assert "The confidential file may hold such records" in births and "such records" not in odd


def test_the_ledger_is_named_or_said_to_be_absent() -> None:
    assert BIRTHS.ledger
    assert BIRTHS.ledger.head in page("births").text
    assert "No ledger was charged" in page("odd").text


def test_a_person_with_two_records_is_told_twice_epsilon() -> None:
    assert "2ε = 3.9," in page("births").text
    assert "2ε = 19.96," in page("odd").text
    assert "ε = 9.98 is large" in page("odd").text
    assert "is large" not in page("births").text


def test_delta_is_told_for_one_person_for_anybody_and_for_two_records() -> None:
    words = said(APPROXIMATE)
    assert "ε = 1.95, δ = 10⁻⁹" in words
    assert "δ = 10⁻⁹ is one in 1,000,000,000: the chance that the promise of ε fails for one person." in words
    assert "at most 165,915 × δ = 1.7 × 10⁻⁴, one in 6,027." in words
    assert "protected at 2ε = 3.9 with a δ of 8.1 × 10⁻⁹" in words, "(1 + e^ε)δ, rounded up"
    assert "had spent 18.74 and δ 2 × 10⁻⁹ in all" in words
    assert "That is not small." not in words
    assert "That is not small." in said(replace(APPROXIMATE, delta="0.0001"))
    assert "What δ means" not in said(BIRTHS) and "δ" not in said(BIRTHS)


def test_what_the_noise_of_a_model_assumes_depends_on_its_family() -> None:
    exact_noise, assumed = "no rounding has to be trusted", "is an assumption, not a theorem"
    votes = said(replace(APPROXIMATE, family="patectgan"))
    assert all(exact_noise in words for words in (said(APPROXIMATE), said(NEURAL), votes))
    assert assumed in said(NEURAL) and assumed in votes and assumed not in said(APPROXIMATE)
    assert "Gaussian, in whole numbers, exact: ρ = 0.009713" in said(APPROXIMATE)
    steps = "exact, on sums over random batches; one fit alone has ε = 0.8, δ = 3 × 10⁻¹¹"
    assert (
        f"Gaussian, in whole numbers, {steps}" in said(NEURAL)
        and "each step of its training" in said(NEURAL).lower()
    )
    assert "through counts of votes alone" in votes and "votes" not in said(APPROXIMATE)


def test_the_regression_is_shown_where_there_is_one() -> None:
    for words in ("Intercept", "3,270", "−3.333", "2.3", "1.4"):
        assert words in page("fitted").text
    assert "Intercept" not in page("births").text


def test_a_fit_of_coefficients_and_one_of_predictions_are_both_shown() -> None:
    fit = FITTED.regression
    assert fit
    alone = Page(readme.html(replace(BIRTHS, refit=fit))).text
    assert "that coefficients were compared with" in alone
    same = Page(readme.html(replace(BIRTHS, refit=fit, regression=fit))).text
    assert same.count("were compared with") == 1
    assert "coefficients and predictions were compared with" in same
    other = replace(fit, coefficients=("1", "2"))
    two = Page(readme.html(replace(BIRTHS, refit=other, regression=fit))).text
    assert two.count("were compared with") == 2


def test_an_epsilon_for_people_is_short_and_never_too_small() -> None:
    long = Page(readme.html(replace(BIRTHS, epsilon="1.946713"))).text
    assert "ε = 1.95" in long
    assert "It is rounded up from 1.946713." in long
    assert long.count("1.946713") == 3  # the sentence, the ledger's line and the total of the budget
    assert "2ε = 3.9," in long


def test_part_one_has_no_raw_names() -> None:
    part = page("births").text.partition("Before the confidential file was read")[0]
    for c in BIRTHS.criteria:
        assert c.name not in part
        assert c.title in part
        assert c.name in page("births").text


def test_a_publisher_is_named_with_logo_licence_version_and_doi() -> None:
    found = page("published")
    publisher = PUBLISHED.publisher
    assert publisher
    for words in (publisher.name, publisher.licence, publisher.version, f"https://doi.org/{publisher.doi}"):
        assert words
        assert words in found.text
    assert ("img", {"src": PIXEL, "alt": ""}) in found.elements
    rehearsed = Page(readme.html(replace(PUBLISHED, rehearsal=True))).text
    assert "doi.org" not in rehearsed
    assert "CC-BY" not in rehearsed


def test_people_and_sources_are_told_in_words_and_links() -> None:
    found = page("published")
    for words in (
        "TIMNA Primary stakeholder Ministry Birth Registry steward Ministry An association of midwives –",
        "Chief Data Officer The release February 2024 Steward The plan –",
        "The confidential file is: The register of <births> & more .",
        "Budget Authors, 2023: three heuristics. Rare rows The steward.",
        "Users, February 2024: counts matter most. Stakeholders: 1 % of all records.",
        "Please send it to https://health.example/feedback?a=1&b=2 .",
        "please report it to births@health.example before you tell anybody else",
    ):
        assert words in found.text, words
    links = {attrs.get("href") for tag, attrs in found.elements if tag == "a"}
    assert {"mailto:births@health.example", "https://health.example/feedback?a=1&b=2"} <= links
    assert "#people" in links


def test_an_address_of_another_form_is_no_link() -> None:
    links = [attrs.get("href") or "" for tag, attrs in page("odd").elements if tag == "a"]
    assert links
    assert all(link.startswith("#") for link in links)


def test_a_release_without_people_has_no_place_for_them() -> None:
    for without in (None, Governance(contact="births@health.example")):
        text = Page(readme.html(replace(PUBLISHED, governance=without, sources={}))).text
        assert "Who is behind it" not in text
        assert "Who chose" not in text


# --- the PDF


@both
def test_the_same_report_gives_the_same_bytes(name: str) -> None:
    assert pdf(name).startswith(b"%PDF-1.7")
    assert readme.pdf(REPORTS[name]) == pdf(name)
    assert readme.html(REPORTS[name]) == readme.html(REPORTS[name])


@both
def test_the_pdf_is_archival_and_accessible(name: str) -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf(name)))
    assert b"pdfaid:part>2" in pdf(name) or b'pdfaid:part="2"' in pdf(name)
    assert b"pdfuaid" in pdf(name)
    assert reader.metadata
    assert (reader.metadata.title or "").endswith(REPORTS[name].title)
    created = reader.metadata.creation_date
    assert created
    assert created.date().isoformat() == REPORTS[name].day
    assert (created.hour, created.minute, created.second) == (0, 0, 0)
    assert len(reader.outline) > 1


@both
def test_the_pdf_says_what_the_page_says(name: str) -> None:
    """Letter for letter, but for blanks, line breaks and the order of a right-to-left label."""
    said = re.sub(r"[\s\u200b\u2010-]", "", "".join(printed(name)))
    report = REPORTS[name]
    for text in texts(report):
        if not re.search("[\u0590-\u05ff]|^(http|data:)", text):
            assert re.sub(r"[\s\u2010-]", "", text) in said, text
    for c in report.criteria:
        for figure in (number(c.value), above(c.bound), number(c.sigma)):
            assert figure.replace(" ", "") in said


@pytest.mark.parametrize("name", ["births", "published", "fitted"])
def test_no_sheet_is_half_empty(name: str) -> None:
    """But for the last: something stands in the lower third, above the footer."""
    for sheet in pypdf.PdfReader(io.BytesIO(pdf(name))).pages[:-1]:
        lowest: list[float] = []

        def seen(
            text: str, matrix: list[float], place: list[float], *_: Any, low: list[float] = lowest
        ) -> None:
            height = place[4] * matrix[1] + place[5] * matrix[3] + matrix[5]
            if text.strip() and height > 65:
                low.append(height)

        sheet.extract_text(visitor_text=seen)
        assert min(lowest) < float(sheet.mediabox.height) * 0.4


def test_every_sheet_of_a_rehearsal_says_so() -> None:
    assert len(printed("odd")) > 1
    assert all(REHEARSAL in squeezed(sheet) for sheet in printed("odd"))
    assert not any("REHEARSAL" in sheet for sheet in printed("births"))


def test_letters_that_cannot_be_printed_are_said_to_be_missing() -> None:
    found = readme.pdf(replace(BIRTHS, unit="一人"))
    lacking = "appear as boxes. README.html shows them."
    assert lacking in squeezed(pypdf.PdfReader(io.BytesIO(found)).pages[0].extract_text())
    assert lacking not in squeezed(printed("births")[0])


def test_characters_that_no_document_may_hold_are_replaced() -> None:
    column = replace(ODD.columns[1], labels=("a\x00\x1fb",), meanings=("a\x00\x1fb",))
    found = replace(ODD, title="t\x01", columns=(column,))
    assert Page(readme.html(found))
    assert readme.pdf(found).startswith(b"%PDF")

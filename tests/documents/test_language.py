"""Every language says the same: the same keys and placeholders, and no English left on the page of another."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pypdf
import pytest
import yaml
from hypothesis import HealthCheck, given, seed, settings
from jinja2 import meta

from documents.drawn import Drawn, releases
from documents.sample import BIRTHS, ODD, PUBLISHED
from documents.test_readme import APPROXIMATE, FITTED, NEURAL, Page
from facsimile.acceptance.kind import kind_of
from facsimile.documents import language as module
from facsimile.documents import readme
from facsimile.documents.language import ENGLISH, Language, language, languages, slots
from facsimile.documents.metadata import REHEARSAL
from facsimile.documents.report import Report
from facsimile.privacy.modes import MODES

OTHERS = [code for code in languages() if code != ENGLISH]
REPORTS = [BIRTHS, PUBLISHED, APPROXIMATE, FITTED, NEURAL]
LATIN = re.compile("[A-Za-z]{2,}")
KEPT = {
    *(
        "facsimile",
        "report",
        "json",
        "data",
        "csv",
        "parquet",
        "datapackage",
        "SHA",
        "ChaCha",
        "DOI",
        "https",
        "doi",
    ),
    *("org", "paper", "sharp", "declared", "clamp", "English", "README", "html"),
}
"""Names of files, programs, standards and keys."""


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_has_the_keys_and_placeholders_of_english(code: str) -> None:
    english, other = language(ENGLISH), language(code)
    assert set(other.ways) == set(english.ways)
    assert set(other.texts) == set(english.texts)
    differ = [key for key in english.texts if placeholders(english, key) != placeholders(other, key)]
    assert differ == []
    assert {g: set(p) for g, p in other.phrases.items()} == {g: set(p) for g, p in english.phrases.items()}
    for group, phrases in english.phrases.items():
        for key, text in phrases.items():
            assert {name for name, _ in slots(text)} == {n for n, _ in slots(other.phrases[group][key])}, text


def placeholders(said: Language, key: str) -> set[str]:
    found = said.environment()
    return meta.find_undeclared_variables(found.parse(said.texts[key])) - set(found.globals)


def test_every_text_is_said_somewhere() -> None:
    """A key that nothing names would be translated for nobody."""
    folder = Path(readme.__file__).parent
    sources = "".join(p.read_text() for p in [*folder.glob("*.py"), *folder.glob("templates/*.html")])
    parts = {key.partition(".")[0] for key in language(ENGLISH).texts}
    unsaid = [
        key
        for key in language(ENGLISH).texts
        if f'"{key}"' not in sources
        and not re.search(rf'"{key.partition(".")[2]}"|{key.rpartition("_")[0]}_', sources)
    ]
    assert parts and unsaid == []


def test_what_the_program_says_elsewhere_is_in_the_catalogue() -> None:
    english = language(ENGLISH)
    assert english.texts["head.mark"] == REHEARSAL
    assert {mode.ending for mode in MODES.values()} == set(english.phrases["ending"].values())


class Own(HTMLParser):
    """The words of a page that are its own: not those set apart, in code, or as values."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open, self.words = list[str](), list[str]()
        self.feed(re.sub("<style>.*?</style>|<title>.*?</title>", "", text, flags=re.DOTALL))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.words += [isolated(told[key] or "") for key in ("aria-label", "data-label") if key in told]
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"bdi", "code"} & set(self.open) or re.search("[\u0590-\u05ff]", data):
            self.words.append(isolated(data))


def isolated(text: str) -> str:
    """A text without what is set apart in it."""
    while (less := re.sub("[\u2066\u2068][^\u2066\u2068\u2069]*\u2069", "", text)) != text:
        text = less
    return text


def english_left(report: Report) -> list[str]:
    words = LATIN.findall(" ".join(Own(readme.html(report, "he", ("he", "en"))).words))
    return [word for word in words if word not in KEPT]


@pytest.mark.parametrize("place", range(len(REPORTS)))
def test_no_english_is_left_on_the_hebrew_page(place: int) -> None:
    """A sample's made-up sentences are no phrases: they stand apart, as the texts of a specification do."""
    report = REPORTS[place]
    page = readme.html(report, "he")
    assert '<html lang="he" dir="rtl">' in page
    assert english_left(report) == []


@seed(3)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(releases())
def test_no_english_is_left_whatever_a_release_is_like(drawn: Drawn) -> None:
    assert english_left(drawn.report) == []
    said = language("he")
    for criterion in drawn.specification.criteria:
        told = kind_of(criterion).told
        for text in (told.title, told.words):
            assert re.search("[\u0590-\u05ff]", said.phrase("criterion", text)), text
    for line in drawn.report.budget:
        assert re.search("[\u0590-\u05ff]", said.phrase("note", signed(line.note))), line.note


def signed(note: str) -> str:
    return re.sub("delta ", "δ = ", re.sub("rho ", "ρ = ", note))


def test_hebrew_phrases_isolate_what_they_name() -> None:
    said = language("he")
    words = "The largest difference of the mean of age, overall and within the groups of each of sex and a × b."
    assert isolated(said.phrase("criterion", words)) == (
        "ההפרש הגדול ביותר של הממוצע של , בסך הכול ובתוך הקבוצות של כל אחת מ- ו-."
    )
    assert isolated(said.phrase("meaning", "less than 18")) == "פחות מ-"
    assert isolated(said.phrase("group", "age × sex: less than 18, M")) == ": פחות מ-, "
    assert said.phrase("criterion", "No phrase at all") == "No phrase at all"
    assert said.meaning("once", "once") == "once"


def test_a_label_without_letters_keeps_its_direction() -> None:
    """`<18` would be read as more than 18 from the right."""
    said = language("he")
    assert said.own("<18") == '<bdi dir="ltr">&lt;18</bdi>'
    assert said.own("שלום 18") == "<bdi>שלום 18</bdi>"
    assert language(ENGLISH).own("<18") == "&lt;18"


def test_numerals_follow_the_language() -> None:
    english, hebrew = language(ENGLISH), language("he")
    assert english.figure("nearly 0\u00a0%") == "nearly 0\u00a0%"
    assert isolated(hebrew.figure("nearly 0\u00a0%")) == "כמעט "
    assert (hebrew.count(1234), hebrew.figure("50\u00a0%")) == ("1,234", "50%")
    assert hebrew.day("2024-02").startswith("פברואר")
    assert english.listed(["a", "b", "c"]) == "a, b and c"


def parts(content: Any) -> Iterator[tuple[dict[str, str], str]]:
    """Every text of a catalogue, with where it stands."""
    for group in (*content["texts"].values(), *content["phrases"].values()):
        yield from ((group, key) for key in group)


@pytest.fixture
def third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A language that nobody speaks: English with another mark in front, commas for points."""
    content = yaml.safe_load((module.FOLDER / "en.yaml").read_text(encoding="utf-8"))
    for group, key in parts(content):
        group[key] = f"ø{re.sub(':[a-z]+}', '}', group[key])}" if group[key] else ""
    content["language"] |= {"name": "Øsk", "thousands": ".", "decimal": ","}
    for code in languages():
        (tmp_path / f"{code}.yaml").write_bytes((module.FOLDER / f"{code}.yaml").read_bytes())
    (tmp_path / "xx.yaml").write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    language.cache_clear()
    yield "xx"
    monkeypatch.undo()
    language.cache_clear()


def test_another_language_is_one_file(third: str) -> None:
    assert third in languages()
    found = readme.documents(BIRTHS, ("en", third), summary=True)
    assert set(found) == set(readme.names(("en", third), summary=True))
    page = found["README.xx.html"].decode()
    text = Page(page).text
    assert '<html lang="xx">' in page
    assert "øWhat this data is" in text and "165.915" in text and "ε = 1,95" in text
    assert 'href="README.html" hreflang="en"' in page
    assert 'href="README.xx.html"' in found["README.html"].decode()
    sheet = pypdf.PdfReader(io.BytesIO(found["SUMMARY.xx.pdf"])).pages[0].extract_text()
    assert "øGood for" in sheet


def test_a_rehearsal_says_so_in_hebrew_at_the_top_and_on_every_sheet() -> None:
    page = readme.html(ODD, "he")
    assert page.index('class="banner"') < page.index("<h1>")
    assert "הרצת ניסיון" in page
    sheets = pypdf.PdfReader(io.BytesIO(readme.pdf(ODD, "he"))).pages
    assert all("ניסיון" in sheet.extract_text() or "ןויסינ" in sheet.extract_text() for sheet in sheets)

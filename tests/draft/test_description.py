"""What public files say of themselves and of others, and what such words may not do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pandas
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.described import REPORTS
from facsimile.documents.ddi import ddi
from facsimile.documents.metadata import datapackage
from facsimile.documents.report import Report
from facsimile.draft.description import LARGEST, Description, Field, described
from facsimile.errors import CATALOGUE, FacsimileError
from facsimile.privacy.dataset import dataset_key, key_path
from facsimile.privacy.reader import opened_public
from facsimile.sources.address import Address
from facsimile.sources.claims import claim
from hostile.targets import damaged

HEADER = "age,sex,born,pay\n"
PACKAGE: dict[str, Any] = {
    "title": "People",
    "resources": [
        {
            "name": "people",
            "path": "people.csv",
            "schema": {
                "missingValues": ["", "NA"],
                "fields": [
                    {
                        "name": "age",
                        "title": "Age\n in years",
                        "description": "Not this",
                        "type": "integer",
                        "constraints": {"minimum": 0, "maximum": 1.2e2, "required": True},
                    },
                    {
                        "name": "sex",
                        "description": "Sex",
                        "type": "integer",
                        "categories": [{"value": 1, "label": "male"}, {"value": 2, "label": ""}, {"value": 9}],
                        "missingValues": [{"value": "-1", "label": "refused"}, 9],
                    },
                    {"name": "born", "type": "date", "constraints": {"minimum": "2019-01-01"}},
                    {"name": "pay", "type": "string", "constraints": {"enum": ["low", "high"]}},
                ],
            },
        }
    ],
}
BOOK = """<?xml version="1.0" encoding="UTF-8"?>
<codeBook xmlns="ddi:codebook:2_5" version="2.5">
  <stdyDscr><citation><titlStmt><titl>People</titl></titlStmt></citation></stdyDscr>
  <fileDscr ID="F1"><fileTxt><fileName>people.csv</fileName></fileTxt></fileDscr>
  <dataDscr>
    <var name="age" files="F1" intrvl="contin"><labl>Age  in <b>years</b></labl>
      <valrng><range min="0" max="1.2e2"/></valrng><invalrng><item VALUE="-1"/></invalrng>
      <catgry missing="Y"><catValu>999</catValu><labl>refused</labl></catgry>
      <varFormat type="numeric"/></var>
    <var name="sex" intrvl="discrete" nature="nominal"><labl>Sex</labl>
      <catgry><catValu>1</catValu><labl>male</labl></catgry><catgry><catValu>2</catValu></catgry></var>
    <var name="born"><varFormat type="character" category="date"/></var>
    <var name="pay"><valrng><item VALUE="low"/><item VALUE="high"/></valrng><varFormat type="character"/></var>
    <var name="other" files="F2"/>
  </dataDscr>
</codeBook>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(HEADER + "30,1,2019-01-01,low\n41,2,2019-02-01,high\n")
    return tmp_path


def put(folder: Path, content: Any, name: str = "datapackage.json") -> Address:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return Address.of(path)


def refused(address: Address | str | Path) -> str:
    with pytest.raises(FacsimileError) as caught:
        described(Address.of(address))
    error = caught.value
    entry = CATALOGUE[error.code]
    assert entry.next_step.partition("{")[0] in error.next_step
    assert error.__context__ is None or error.__suppress_context__
    return error.code


def changed(**changes: Any) -> dict[str, Any]:
    """The package with another resource."""
    found: dict[str, Any] = json.loads(json.dumps(PACKAGE))
    found["resources"][0] |= changes
    return found


# --- what is said


def test_a_plain_source_says_nothing(folder: Path) -> None:
    for source in (folder / "people.csv", "postgres://host/registry#people", folder):
        address = Address.of(str(source))
        assert described(address) == Description(address)


def test_a_data_package(folder: Path) -> None:
    found = described(put(folder, PACKAGE))
    assert (found.title, found.origin, found.data.path) == ("People", "datapackage.json", folder / "people.csv")
    assert list(found.fields.values()) == [
        Field("age", "Age in years", {}, ("NA",), "number", ("0", "120")),
        Field("sex", "Sex", {"1": "male", "2": "2", "9": "9"}, ("-1", "9"), "category"),
        Field("born", "", {}, ("NA",), "date", ("2019-01-01", None)),
        Field("pay", "", {"low": "low", "high": "high"}, ("NA",), "category"),
    ]
    assert described(Address.of(folder)) == found, "a folder is described by its package"
    with opened_public(found.data, list(found.fields)) as source:
        assert source.count().execute() == 2


@pytest.mark.parametrize(
    ("said", "kind", "labels"),
    [
        ({"type": "number"}, "number", {}),
        ({"type": "year"}, "number", {}),
        ({"type": "boolean"}, "category", {}),
        ({"type": "datetime"}, "date", {}),
        ({"type": "date", "format": "%d/%m/%y"}, None, {}),
        ({"type": "string"}, None, {}),
        ({}, None, {}),
        ({"type": "integer", "categories": [1, 2.5]}, "category", {"1": "1", "2.5": "2.5"}),
        ({"type": "string", "categories": ["a", "b"]}, "category", {"a": "a", "b": "b"}),
        ({"type": "boolean", "constraints": {"enum": [True]}}, "category", {"true": "true"}),
    ],
)
def test_kinds_and_categories_of_a_package(
    said: dict[str, Any], kind: str | None, labels: dict[str, str], folder: Path
) -> None:
    schema = {"fields": [{"name": "age", **said}]}
    field = described(put(folder, changed(schema=schema), "any.json")).fields["age"]
    assert (field.kind, dict(field.labels), field.missing) == (kind, labels, ())


def test_a_resource_that_stands_alone(folder: Path) -> None:
    assert described(put(folder, PACKAGE["resources"][0], "people.json")).title == ""
    assert list(described(put(folder, changed(path=["people.csv"]))).fields) == ["age", "sex", "born", "pay"]


def test_one_of_several_tables_is_named(folder: Path) -> None:
    other = {"name": "other", "path": "people.csv", "schema": {"fields": [{"name": "age"}]}}
    both = PACKAGE | {"resources": [*PACKAGE["resources"], other, {"name": "page", "path": "page.pdf"}]}
    path = put(folder, both).path
    assert refused(str(path)) == "E107"
    assert list(described(Address.of(f"{path}#other")).fields) == ["age"]
    assert list(described(Address.of(f"{folder}#other")).fields) == ["age"]
    assert refused(f"{path}#nobody") == refused(f"{path}#page") == "E108"
    for second, code in (("people.parquet", None), ("people2020.csv", "E107")):
        two = [changed(path=path)["resources"][0] for path in ("people.csv", second)]
        address = put(folder, PACKAGE | {"resources": two})
        if code is None:
            assert described(address).data.name == "people.csv", "one table in two formats"
        else:
            assert refused(address) == code


def test_a_codebook(folder: Path) -> None:
    found = described(put(folder, BOOK, "book.xml"))
    assert (found.title, found.origin, found.data.path) == ("People", "book.xml", folder / "people.csv")
    assert list(found.fields.values()) == [
        Field("age", "Age in years", {"999": "refused"}, ("-1", "999"), "number", ("0", "120")),
        Field("sex", "Sex", {"1": "male", "2": "2"}, (), "category"),
        Field("born", kind="date"),
        Field("pay", labels={"low": "low", "high": "high"}, kind="category"),
    ]
    plain = BOOK.replace('xmlns="ddi:codebook:2_5"', "").replace('max="1.2e2"', 'max="*"')
    assert described(put(folder, plain, "book.xml")).fields["age"].bounds == ("0", None)
    assert described(Address.of(f"{folder / 'book.xml'}#F1")).data == found.data


@pytest.mark.parametrize(("said", "kind"), [
    ('intrvl="discrete"><catgry><catValu>1</catValu></catgry><varFormat type="numeric"/>', None),
    ('intrvl="discrete"><varFormat type="numeric"/>', "number"),
    ('nature="ratio">', "number"),
    ('nature="ordinal">', "category"),
    ('><varFormat type="character"/>', None),
    (">", None),
    ('><catgry missing="Y"><catValu>9</catValu></catgry><varFormat type="numeric"/>', "number"),
])  # fmt: skip
def test_kinds_of_a_codebook(said: str, kind: str | None, folder: Path) -> None:
    content = BOOK.replace('<var name="born">', f'<var name="x" {said}</var><var name="born">')
    assert described(put(folder, content, "book.xml")).fields["x"].kind == kind


SPSS: dict[str, Any] = {
    "file_label": "People",
    "column_labels": ["Age", "Sex", None],
    "variable_value_labels": {"age": {-9: "refused"}, "sex": {1: "male", 2: "female"}},
    "missing_ranges": {"age": [{"lo": -9, "hi": -1}, 999]},
    "variable_measure": {"age": "scale", "sex": "nominal", "born": "scale"},
}


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta"])
def test_labels_of_spss_and_stata(kind: str, tmp_path: Path) -> None:
    data = pandas.DataFrame({"age": [30, 41.5], "sex": [1, 2], "born": [date(2019, 1, 1)] * 2})
    path = tmp_path / f"people.{kind}"
    if kind == "dta":
        kept = {key: SPSS[key] for key in ("file_label", "column_labels")}
        pyreadstat.write_dta(data, path, variable_value_labels={"sex": {1: "male", 2: "female"}}, **kept)
    else:
        pyreadstat.write_sav(data, path, compress=kind == "zsav", **SPSS)
    found = described(Address.of(path))
    spss = kind != "dta"
    assert (found.title, found.origin, found.data.path) == ("People", path.name, path)
    assert list(found.fields.values()) == [
        Field(
            "age",
            "Age",
            {"-9": "refused"} if spss else {},
            ("999", "-9") if spss else (),
            "number" if spss else None,
        ),
        Field("sex", "Sex", {"1": "male", "2": "female"}, (), "category" if spss else None),
        Field("born", kind="date"),
    ]
    with opened_public(found.data, ["sex"]) as source:
        texts = source.to_pyarrow().column("sex").to_pylist()
    assert set(texts) == set(found.fields["sex"].labels), "a label is of the text that is read"


@pytest.mark.parametrize("made", REPORTS.values(), ids=REPORTS)
def test_our_own_bundles(made: Report, tmp_path: Path) -> None:
    sizes = {"data.csv": (10, "0" * 64), "data.parquet": (10, "0" * 64)}
    names = [column.name for column in made.columns]
    (tmp_path / "data.csv").write_text(",".join(names) + "\n")
    package = datapackage(made, sizes)
    noisy = {"name": "noisy", "path": "tables/1.csv", "schema": {"fields": [{"name": "noisy_count"}]}}
    package["resources"].append(noisy)
    found = described(put(tmp_path, package))
    assert list(found.fields) == names and found.data.name == "data.csv"
    put(tmp_path, ddi(made, sizes).decode(), "ddi.xml")
    book = described(Address.of(tmp_path / "ddi.xml"))
    assert list(book.fields) == names and book.data == found.data
    for column in made.columns:
        assert (
            tuple(found.fields[column.name].labels) == column.labels == tuple(book.fields[column.name].labels)
        )
        assert book.fields[column.name].missing == (() if column.missing is None else (column.missing,))
        assert found.fields[column.name].kind == book.fields[column.name].kind == "category"
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "1.csv").write_text("noisy_count\n")
    assert list(described(Address.of(f"{tmp_path}#noisy")).fields) == ["noisy_count"]


# --- what is confidential


def test_no_description_opens_confidential_data(folder: Path) -> None:
    """Nor does one that is confidential itself, and nothing of either is read."""
    addresses = [put(folder, PACKAGE), put(folder, BOOK, "book.xml"), Address.of(folder)]
    for address in addresses:
        described(address)
    data = Address.of(folder / "people.csv")
    dataset_key(key_path(data))
    (folder / "people.csv").chmod(0)
    for address in (*addresses, data):
        assert refused(address) == "E207"
    (folder / "people.csv.key").unlink()
    (folder / "datapackage.json").write_text("not even JSON")
    for name in ("datapackage.json", "book.xml"):
        dataset_key(key_path(Address.of(folder / name)))
        assert refused(folder / name) == "E207"


def test_nor_a_labelled_file_nor_one_of_a_claimed_folder(folder: Path) -> None:
    pyreadstat.write_sav(pandas.DataFrame({"age": [1.0]}), folder / "people.sav")
    assert described(Address.of(folder / "people.sav")).fields
    dataset_key(key_path(Address.of(folder / "people.sav")))
    assert refused(folder / "people.sav") == "E207"
    (folder / "deep").mkdir()
    (folder / "people.csv").rename(folder / "deep" / "people.csv")
    address = put(folder, changed(path="deep/people.csv"))
    described(address)
    claim(Address.of(f"spark://local{folder / 'deep'}"), b"secret")
    assert refused(address) == "E207"


# --- paths


@pytest.mark.parametrize("path", [
    "/etc/passwd", "../people.csv", "deep/../../people.csv", "http://host/people.csv", "file:///people.csv",
    "C:\\people.csv", "c:people.csv", "deep\\people.csv", "", "people.csv\0", ".", "deep", "nobody.csv",
    "x" * 5000, "link.csv", "linked/people.csv", "~/people.csv", "people.csv/", "//host/share/people.csv",
])  # fmt: skip
def test_a_path_that_leads_elsewhere_is_refused(path: str, tmp_path: Path) -> None:
    """The file that a link leads to is there, and readable."""
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    for place in (tmp_path, inside / "deep"):
        (place / "people.csv").write_text(HEADER)
    (inside / "link.csv").symlink_to(tmp_path / "people.csv")
    (inside / "linked").symlink_to(tmp_path)
    assert refused(put(inside, changed(path=path))) == "E126"
    book = BOOK.replace("people.csv", path.replace("\0", "") or " ")
    assert refused(put(inside, book, "book.xml")) in ("E126", "E125")


@pytest.mark.parametrize("path", ["deep/people.csv", "./people.csv", "link.csv", "a#b.csv", "é è.csv"])
def test_a_path_that_stays_inside_is_taken(path: str, folder: Path) -> None:
    (folder / "deep").mkdir()
    for name in ("deep/people.csv", "a#b.csv", "é è.csv"):
        (folder / name).write_text(HEADER + "1,1,2019-01-01,low\n")
    (folder / "link.csv").symlink_to(folder / "people.csv")
    found = described(put(folder, changed(path=path)))
    with opened_public(found.data, ["age"]) as source:
        assert source.count().execute() in (1, 2)


def test_a_link_to_a_description_is_that_description(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its data lie beside the file itself."""
    put(folder, PACKAGE)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "link.json"
    elsewhere.symlink_to(folder / "datapackage.json")
    assert described(Address.of(elsewhere)).data.place == folder / "people.csv"


# --- what is malformed

BAD_RULES: list[Any] = [
    [], {"enum": {}}, {"enum": [None]}, {"minimum": "x"}, {"maximum": {}}, {"minimum": True},
    {"minimum": "1e999999999"},
]  # fmt: skip
BAD_FIELDS: list[dict[str, Any]] = [
    {}, {"name": ""}, {"name": []}, {"name": "a", "missingValues": "NA"}, {"name": "a", "categories": [[]]},
    {"name": "a", "categories": [{"label": "x"}]},
    *({"name": "a", "type": "integer", "constraints": rule} for rule in BAD_RULES),
]  # fmt: skip
BAD_PACKAGES: list[Any] = [
    "", "{", "[]", "1", '"x"', "null", "[" * 100_000, '{"a":"\\ud800"}', {}, {"resources": {}},
    {"resources": []}, {"resources": [1]}, changed(schema="people.schema.json"), changed(schema={"fields": {}}),
    changed(schema={"fields": [1]}), changed(schema={"fields": [{"name": "a"}] * 2}),
    changed(path=["a.csv", "b.csv"]), changed(path=None),
    *(changed(schema={"fields": [field]}) for field in BAD_FIELDS),
    {key: value for key, value in PACKAGE["resources"][0].items() if key != "path"},
]  # fmt: skip
BAD_BOOKS = [
    "", "<", "<codeBook>", "<other/>", "<codeBook/>", BOOK.replace("people.csv", ""),
    BOOK.replace("var ", "vars "), '<!DOCTYPE codeBook [<!ENTITY a "aaaaaaaaaa">]>' + BOOK.partition("?>")[2],
    '<!DOCTYPE codeBook SYSTEM "file:///etc/passwd">' + BOOK.partition("?>")[2],
    BOOK.replace("People", "&nbsp;"), BOOK.replace("UTF-8", "no-such-code"), "<a>" * 5000 + "</a>" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("content", BAD_PACKAGES + BAD_BOOKS)
def test_a_malformed_description_is_refused_in_words(content: Any, folder: Path) -> None:
    name = "book.xml" if content in BAD_BOOKS[1:] else "datapackage.json"
    assert refused(put(folder, content, name)) == "E125"


def test_a_description_that_is_not_there_or_too_large(folder: Path) -> None:
    assert (
        refused(folder / "none.json") == refused(folder / "none.xml") == refused(folder / "none.sav") == "E101"
    )
    with (folder / "large.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert refused(folder / "large.json") == "E125"
    assert refused(put(folder, "x", "people.sav")) == "E106"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def read_or_refused(address: Address) -> None:
    try:
        found = described(address)
    except FacsimileError as error:
        assert error.code in ("E101", "E107", "E108", "E125", "E126")
    else:
        json.dumps([found.title, *map(str, found.fields)], ensure_ascii=False).encode()
        assert all(isinstance(each.labels, Mapping) for each in found.fields.values())


def test_odd_packages_are_read_or_refused(folder: Path) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.binary(min_size=1, max_size=12), JSON, st.sampled_from(["resource", "schema", "field", "none"]))
    def check(choices: bytes, odd: Any, where: str) -> None:
        read_or_refused(put(folder, damaged(PACKAGE, choices)))
        whole: dict[str, Any] = {
            "resource": {"resources": [odd]},
            "schema": changed(schema=odd),
            "field": changed(schema={"fields": [odd]}),
            "none": odd,
        }
        read_or_refused(put(folder, json.dumps(whole[where])))

    check()


def test_odd_codebooks_are_read_or_refused(folder: Path) -> None:
    @settings(max_examples=150, deadline=None)
    @given(
        st.integers(0, len(BOOK)), st.integers(0, 40), st.text(max_size=9) | st.sampled_from(["<", "&x;", "'"])
    )
    def check(start: int, size: int, piece: str) -> None:
        content = BOOK[:start] + piece + BOOK[start + size :]
        (folder / "book.xml").write_bytes(content.encode(errors="surrogatepass"))
        read_or_refused(Address.of(folder / "book.xml"))

    check()

"""Labels are written once: a short column is the long one, to the hash, and its mistakes have their lines."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.release.plan import plan_hash
from facsimile.spec.labels import label_of, numbers_of, written_out
from facsimile.spec.load import dump, loads, schema, validated
from facsimile.spec.written import inline
from hostile.targets import ODD
from spec.yamls import at, places
from specs import SMALL, small

SHORT = {
    "name": "sex",
    "description": "Sex",
    "source": "is_female",
    "labels": {False: {"label": "M", "number": "0"}, True: {"label": "F", "number": "1"}},
    "alternatives": {"coarse": "each"},
    "missing": {"code": "unknown", "number": "0.5"},
}


def with_column(column: dict[str, Any]) -> dict[str, Any]:
    return {**SMALL, "columns": [SMALL["columns"][0], column]}


def test_the_short_form_is_the_long_one() -> None:
    long, short = small(), validated(with_column(SHORT))
    assert short.canonical() == long.canonical() and short.digest() == long.digest()
    assert plan_hash(short) == plan_hash(long)
    assert short.columns == long.columns and short.column("sex").labels is None
    assert loads(dump(short)) == long


LABELS = st.lists(st.sampled_from(["male", "female", "other", "n/a"]), min_size=1, max_size=6)


@given(LABELS, st.booleans(), st.data())
def test_any_labels_are_their_map_values_and_numbers(labels: list[str], numbered: bool, data: Any) -> None:
    """Several texts may have one label; the values are the labels as they first appear."""
    values = list(dict.fromkeys(labels))
    numbers = {label: str(i) for i, label in enumerate(values)}
    texts = [True, False, "1", "2", "x", "y"][: len(labels)]
    entries: dict[Any, Any] = {}
    for text, label in zip(texts, labels, strict=True):
        fuller = numbered and (
            label not in [labels[i] for i in range(len(entries))] or data.draw(st.booleans())
        )
        entries[text] = {"label": label, "number": numbers[label]} if fuller else label
    column = {"name": "sex", "description": "Sex", "missing": "drop"}
    short = {**column, "labels": entries, "alternatives": {"coarse": "each"}, "groups": "each"}
    long = {
        **column,
        "map": dict(zip(texts, labels, strict=True)),
        "values": values,
        **({"numbers": numbers} if numbered else {}),
        "alternatives": {"coarse": values},
        "groups": values,
    }
    one, other = validated(with_column(short)), validated(with_column(long))
    assert one.canonical() == other.canonical() and one.columns == other.columns
    plain = written_out(short)
    assert plain["map"] == long["map"] and plain["values"] == values


def test_each_stands_for_all_values_of_a_column_with_values_too() -> None:
    column = SMALL["columns"][1] | {"alternatives": {"coarse": "each"}, "hierarchy": {"all": "each"}}
    long = column | {"alternatives": {"coarse": ["M", "F"]}, "hierarchy": {"all": ["M", "F"]}}
    assert validated(with_column(column)).digest() == validated(with_column(long)).digest()


BLOCK = """\
    labels:
      false: {label: M, number: 0}
      true:
        label: F
        number: 1
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("label: F\n", "label: =F\n", 6, "E161"),
        ("number: 1\n", "number: one\n", 7, "`number` is wrong: a decimal number is expected."),
        ("number: 1\n", "numbr: 1\n", 7, "Unknown key numbr."),
        ("        number: 1\n", "", 3, "`labels` gives one number to each label, or none to any."),
        ("{label: M, number: 0}", "M", 3, "`labels` gives one number to each label, or none to any."),
        ("{label: M, number: 0}", "{label: F, number: 0}", 3, "`labels` gives one number to each label"),
        ("{label: M, number: 0}", "[M]", 4, "`False`"),
        ("{label: M, number: 0}", "unknown", 3, "one number"),
        ("{label: M, number: 0}", "{label: unknown, number: 0}", 9, "the missing code is the label of a bin"),
        (
            BLOCK,
            BLOCK + "    values: [M, F]\n",
            3,
            "has `labels` beside `values`, which they take the place of",
        ),
        (BLOCK, BLOCK + "    map: {true: F}\n", 3, "has `labels` beside `map`"),
        (BLOCK, BLOCK + "    numbers: {M: 0, F: 1}\n", 3, "has `labels` beside `numbers`"),
        (BLOCK, "    labels: {}\n", 3, "`labels` lists no label."),
        (BLOCK, "    labels: [M, F]\n", 3, "`labels` must hold keys with their values."),
        (BLOCK, BLOCK.replace("labels", "lables"), 3, "Unknown key lables."),
        (BLOCK, BLOCK + "    bounds: [0, 1]\n", 8, "lists `values`, so it has no part, bounds"),
        ("coarse: each", "coarse: [M, X]", 8, "X is not among `values`"),
        ("coarse: each", "coarse: every", 8, "a list of bins is expected"),
    ],
)
def test_a_mistake_is_told_once_at_its_line(old: str, new: str, line: int, sentence: str) -> None:
    column = "  - name: sex\n    description: Sex\n" + BLOCK + "    alternatives: {coarse: each}\n"
    column += "    missing: {code: unknown, number: 0.5}\n"
    assert old in column
    head = "".join(f"{key}: {inline(value)}\n" for key, value in SMALL.items() if key != "columns")
    text = "columns:\n" + column.replace(old, new, 1) + f"  - {inline(SMALL['columns'][0])}\n" + head
    assert loads("columns:\n" + column + f"  - {inline(SMALL['columns'][0])}\n" + head)
    with pytest.raises(FacsimileError) as caught:
        loads(text)
    told = str(caught.value)
    assert sentence in told and "\n" not in told, told
    assert caught.value.line == line + 1, told


def test_each_belongs_to_categories() -> None:
    column = SMALL["columns"][0] | {"alternatives": {"coarse": "each"}}
    with pytest.raises(FacsimileError, match="`each` stands for the values of a category column"):
        validated({**SMALL, "columns": [column]})


def test_odd_labels_are_refused_and_never_crash() -> None:
    data = with_column(SHORT)
    for place in [("columns", 1, *place) for place in places(SHORT) if place[0] in ("labels", "alternatives")]:
        for odd in (*ODD, "each", {"label": "M"}, {None: "M"}, {True: None}, [{}], {"a": ODD}):
            damaged = copy.deepcopy(data)
            holder = at(damaged, place[:-1])
            key: Any = next((key for key in holder if str(key) == place[-1]), place[-1])
            holder[key] = odd
            try:
                validated(damaged)
            except FacsimileError as error:
                assert error.code.startswith(("E1", "E2"))
            written_out(damaged["columns"][1])


def test_an_editor_knows_both() -> None:
    validator = jsonschema.Draft202012Validator(schema())
    plain = json.loads(json.dumps(yaml.safe_load(inline(with_column(SHORT)))))
    validator.validate(plain)
    assert "each" in json.dumps(schema())
    for wrong in ("every", 3):
        plain["columns"][1]["alternatives"]["coarse"] = wrong
        assert not validator.is_valid(plain)
    plain["columns"][1]["alternatives"]["coarse"] = "each"
    plain["columns"][1]["labels"] = ["M", "F"]
    assert not validator.is_valid(plain)


def test_numbers_are_given_to_all_labels_or_none() -> None:
    assert numbers_of({"1": "a"}) == {} and numbers_of({}) == {}
    assert label_of("a") == "a"

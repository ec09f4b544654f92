"""Differences in words: none exactly where the canonical forms are equal, and each where it is."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from facsimile.agreement.words import Difference, differences
from facsimile.errors import FacsimileError
from facsimile.spec.load import load, loads, validated
from facsimile.spec.release import Specification
from spec.yamls import at, places
from specs import SMALL, changed, small

RICH: dict[str, Any] = {
    **SMALL,
    "description": "A file of a few people, made up for tests, described in more words than one line holds.",
    "governance": {"partners": [{"name": "A"}, {"role": "B"}], "contact": "a@b.example"},
    "columns": [
        *SMALL["columns"],
        {
            "name": "region",
            "description": "Where",
            "values": ["R1", "R2", "R3", "other"],
            "alternatives": {
                "fine": ["R1", "R2", "R3", "other"],
                "coarse": {"north": ["R1", "R2"], "south": "R3", "other": "other"},
            },
            "hierarchy": {"half": {"north": ["R1", "R2"], "rest": ["R3", "other"]}},
            "missing": {"value": "other"},
            "outside": "other",
        },
    ],
    "constraints": {
        "policy": "declared",
        "raw": [{"never": "age > 120", "source": "biology"}, {"never": "age < 3 and sex = F", "source": "law"}],
        "synthetic": [{"never": "age < 18 and sex = F", "source": "law"}],
    },
    "families": [{"family": "mst"}, {"family": "privbayes", "grid": {"degree": ["1", "2"]}}],
    "criteria": [
        *SMALL["criteria"],
        {"criterion": "mean", "of": "sex", "by": ["age"], "threshold": "0.3", "epsilon": "0.1"},
    ],
    "publish": ["tables", "metadata"],
}


def said(before: Specification, after: Specification) -> list[str]:
    return [found.words for found in differences(before, after)]


def rich(path: str, value: Any) -> Specification:
    """The rich specification with one value replaced (`...`: without it)."""
    data = copy.deepcopy(RICH)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    here = at(data, tuple(parents))
    if value is ...:
        del here[last]
    elif isinstance(here, list) and last == len(here):
        here.append(value)
    else:
        here[last] = value
    return validated(data)


@pytest.mark.parametrize(
    ("path", "value", "item", "words"),
    [
        ("title", "Large", "title", "title: Small → Large"),
        ("records.count", "9", "records.count", "records 6 → 9"),
        ("budget.total", "4", "budget.total", "total 5 → 4"),
        ("budget.delta", "0.001", "budget.delta", "delta 0 → 0.001"),
        ("selection.gamma", "0.1", "selection.gamma", "selection gamma 0.05 → 0.1"),
        ("projection.min_count", ["3"], "projection.min_count", "projection min_count [2] → [3]"),
        ("criteria.1.threshold", "0.25", "criteria.mean-sex.threshold", "mean-sex threshold 0.3 → 0.25"),
        ("criteria.1.epsilon", "0.2", "criteria.mean-sex.epsilon", "mean-sex epsilon 0.1 → 0.2"),
        ("criteria.1", ..., "criteria.mean-sex", "criterion mean-sex removed"),
        ("columns.0.missing", "drop", "columns.age.missing", "age: missing refuse → drop"),
        ("columns.0.outside", "drop", "columns.age.outside", "age: outside clip → drop"),
        ("columns.0.bounds", ["0", "99"], "columns.age.bounds", "age: bounds [0, 90] → [0, 99]"),
        (
            "columns.0.groups",
            ["<65", "64<"],
            "columns.age.groups",
            "age groups: the edge between <18 and 17< moved: <65 and 64<",
        ),
        (
            "columns.0.alternatives.coarse",
            ["<18", "17<"],
            "columns.age.alternatives.coarse",
            "age coarse: 18-64 and 64< joined as 17<",
        ),
        (
            "columns.0.alternatives.third",
            ["<18", "17<"],
            "columns.age.alternatives.third",
            "age: alternative third added: [<18, 17<]",
        ),
        ("columns.0.alternatives.fine", ..., "columns.age.alternatives.fine", "age: alternative fine removed"),
        (
            "columns.0.alternatives.fine",
            ["<18", "18-64", "64<"],
            "columns.age.alternatives.fine",
            "age fine: the same bins, written otherwise: [<18, 18..64 by 47, 64<] → [<18, 18-64, 64<]",
        ),
        (
            "columns.1.alternatives.coarse",
            {"M": "M", "W": "F"},
            "columns.sex.alternatives.coarse",
            "sex: label F → W",
        ),
        (
            "columns.2.alternatives.coarse",
            {"north": ["R1"], "middle": ["R2"], "south": "R3", "other": "other"},
            "columns.region.alternatives.coarse",
            "region coarse: north split into north and middle",
        ),
        (
            "columns.2.hierarchy.half",
            {"all": ["R1", "R2", "R3", "other"]},
            "columns.region.hierarchy.half",
            "region half: north and rest joined as all",
        ),
        (
            "constraints.raw.0.never",
            "age > 110",
            "constraints.raw.1.never",
            "raw rule “age > 120” → “age > 110”",
        ),
        ("constraints.raw.1", ..., "constraints.raw.2", "raw rule removed: never “age < 3 and sex = F”"),
        ("constraints.raw.0", ..., "constraints.raw.1", "raw rule removed: never “age > 120”"),
        (
            "constraints.raw.2",
            {"never": "sex is missing", "source": "me"},
            "constraints.raw.3",
            "raw rule added: never “sex is missing”",
        ),
        (
            "constraints.raw.0.source",
            "law",
            "constraints.raw.1.source",
            "raw rule “age > 120”: source biology → law",
        ),
        (
            "constraints.synthetic.0.bins",
            "any",
            "constraints.synthetic.1.bins",
            "synthetic rule “age < 18 and sex = F”: bins any added",
        ),
        ("families.2", {"family": "aim"}, "families.3", "family aim added"),
        ("families.0", ..., "families.1", "family mst removed"),
        (
            "families.1.grid.degree",
            ["1", "2", "3", "4"],
            "families.2.grid.degree",
            "privbayes grid degree 3, 4 added",
        ),
        ("publish", ["tables"], "publish", "publish: metadata removed"),
        ("contact", "x@y.example", None, None),
        ("governance.partners.0.name", "C", "governance.partners.1.name", "governance.partners.1.name: A → C"),
        (
            "configurations",
            [{"family": "mst", "alternatives": {"age": "fine", "region": "fine"}}],
            "configurations",
            "configurations listed: 1",
        ),
    ],
)
def test_each_change_has_its_words(path: str, value: Any, item: str | None, words: str | None) -> None:
    if item is None:
        with pytest.raises(FacsimileError):
            rich(path, value)
        return
    found = differences(validated(RICH), rich(path, value))
    assert [(one.item, one.words) for one in found] == [(item, words)]


def test_a_label_is_followed_through_its_column() -> None:
    column = json.loads(json.dumps(RICH["columns"][2]).replace('"R1"', '"first"'))
    data = {**RICH, "columns": [*RICH["columns"][:2], column]}
    assert said(validated(RICH), validated(data)) == ["region: label R1 → first"]


def test_what_moved_is_said_to_have_moved() -> None:
    data = copy.deepcopy(RICH)
    for key in ("columns", "criteria", "families"):
        data[key].reverse()
    data["constraints"]["raw"].reverse()
    assert said(validated(RICH), validated(data)) == [
        "columns in another order: region, sex, age",
        "raw rules in another order",
        "families in another order: privbayes, mst",
        "criteria in another order: mean-sex, marginals-absolute",
    ]


def test_names_that_changed_are_said_to_have_changed() -> None:
    data = copy.deepcopy(RICH)
    data["columns"][2]["name"] = "place"
    column = data["columns"][0]
    column["alternatives"] = {"rough": column["alternatives"]["coarse"], "fine": column["alternatives"]["fine"]}
    assert said(validated(RICH), validated(data)) == [
        "column region renamed to place",
        "age: alternative coarse renamed to rough",
    ]


def test_a_column_comes_and_goes() -> None:
    data = {**RICH, "columns": RICH["columns"][:2]}
    (gone,) = differences(validated(RICH), validated(data))
    assert (gone.item, gone.words, gone.after) == ("columns.region", "column region removed", None)
    (new,) = differences(validated(data), validated(RICH))
    assert new.item == "columns.region" and new.words.startswith("column region added: ") and new.before is None


def test_of_long_texts_the_words_that_differ_are_shown() -> None:
    (found,) = differences(
        validated(RICH), rich("description", RICH["description"].replace("described", "told"))
    )
    one, other = (
        f"“… up for tests, {word} in more words than one line holds.”" for word in ("described", "told")
    )
    assert found.words == f"description: {one} → {other}"


POOL = ["1", "2", "0.2", "0.5", "drop", "refuse", "M", "F", "R1", "R2", "other", "coarse", "fine", "age", "sex"]
POOL += ["<18", "17<", "18-64", "64<", "any", "all", "paper", "sharp", "mst", "aim", "word", "age > 90", "coin"]


def mutated(random: Random, data: Any) -> Any:
    """Data with a few random changes."""
    for _ in range(random.randint(1, 3)):
        place = random.choice(places(data))
        holder, last = at(data, place[:-1]), place[-1]
        key: Any = next(k for k in holder if str(k) == last) if isinstance(holder, dict) else last
        kind = random.random()
        if kind < 0.2:
            del holder[key]
        elif kind < 0.4 and isinstance(holder[key], list):
            random.shuffle(holder[key])
        elif kind < 0.5 and isinstance(holder, list):
            holder.insert(0, copy.deepcopy(holder[key]))
        elif isinstance(holder[key], str):
            holder[key] = random.choice(POOL)
    return data


def read(data: Any) -> Specification | None:
    try:
        return validated(data)
    except FacsimileError:
        return None


@settings(max_examples=80)
@given(st.integers(0, 2**32).map(Random))
def test_there_are_differences_exactly_where_the_canonical_forms_differ(random: Random) -> None:
    before, after = (read(mutated(random, copy.deepcopy(RICH))) for _ in range(2))
    first = validated(RICH)
    assume(before is not None or after is not None)
    for one, other in ((first, before), (after, first), (before, after)):
        if one is None or other is None:
            continue
        found = differences(one, other)
        assert bool(found) == (one.canonical() != other.canonical())
        plain = [json.loads(spec.canonical()) for spec in (one, other)]
        wrong = {key for key in (*plain[0], *plain[1]) if plain[0].get(key) != plain[1].get(key)}
        assert {difference.item.split(".")[0] for difference in found} == wrong, (
            "each part that differs is told"
        )
        assert all(difference.words.strip() and "\n" not in difference.words for difference in found)
        json.dumps([difference.as_json() for difference in found])
        for column in set(one.names) & set(other.names):
            if one.column(column) != other.column(column):
                assert any(column in difference.words for difference in found)


def test_any_two_examples_can_be_told_apart(births: Any) -> None:
    files = ("paper", "ours", "half", "released", "narrowed")
    specs = [load(births / f"{name}.yaml") for name in files]
    for one in specs:
        for other in specs:
            assert bool(differences(one, other)) == (one.canonical() != other.canonical())


def test_a_specification_does_not_differ_from_its_layout() -> None:
    assert differences(small(), loads(json.dumps(json.loads(small().canonical()), indent=3))) == ()
    assert differences(small(), small("budget.total", "4")) == (
        Difference("budget.total", "total 5 → 4", "5", "4"),
    )
    assert changed("budget.total", "4") != SMALL

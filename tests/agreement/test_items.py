"""Items: every place of a specification has a name, and every name leads to its place."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.agreement.items import criterion_name, item_of, names_at, place_of
from facsimile.errors import FacsimileError
from facsimile.spec.load import load, parse
from facsimile.spec.mistakes import Place
from spec.yamls import TEXTS, places
from specs import SMALL


@pytest.mark.parametrize(
    ("item", "place"),
    [
        ("title", ("title",)),
        ("budget.total", ("budget", "total")),
        ("columns.age.alternatives.coarse", ("columns", 0, "alternatives", "coarse")),
        ("columns.age.alternatives.coarse.2", ("columns", 0, "alternatives", "coarse", 1)),
        ("columns.2.map.true", ("columns", 1, "map", "True")),
        ("columns.age.missing", ("columns", 0, "missing")),
        ("criteria.marginals-absolute.threshold", ("criteria", 0, "threshold")),
        ("constraints.raw.1.never", ("constraints", "raw", 0, "never")),
        ("constraints.synthetic", ("constraints", "synthetic")),
        ("families.1.grid", ("families", 0, "grid")),
        ('"title"', ("title",)),
        ("publish", ("publish",)),
        ("constraints.raw.2", ("constraints", "raw", 1)),
    ],
)
def test_items_are_named_as_people_name_them(item: str, place: Place) -> None:
    assert place_of(SMALL, item) == place
    assert place_of(SMALL, item_of(SMALL, place)) == place


@pytest.mark.parametrize(
    ("item", "hint"),
    [
        ("titel", "Did you mean title?"),
        ("columns.agee.missing", "Did you mean age?"),
        ("columns.age.mising", "Did you mean missing?"),
        ("columns.4", "Known here: age, sex."),
        ("columns.3.name", "Known here: age, sex."),
        ("columns.0", "Known here: age, sex."),
        ("criteria.marginals-relative", "Did you mean marginals-absolute?"),
        ("constraints.raw.3", "Known here: 1."),
        ("publish.tables", "Did you mean publish?"),
        ("budget.total.", "Remove it."),
        ("", "Known here"),
        ("budget..total", "Known here"),
    ],
)
def test_an_unknown_item_is_refused_with_what_could_be_meant(item: str, hint: str) -> None:
    with pytest.raises(FacsimileError) as caught:
        place_of(SMALL, item)
    assert caught.value.code == "E220" and hint in caught.value.next_step


def test_every_place_of_the_examples_has_a_name_of_its_own(births: Path) -> None:
    for path in sorted(births.parent.rglob("*.yaml")):
        data = parse(path.read_bytes())[0]
        known = Random(1).sample(places(data), 60)
        items = [item_of(data, place) for place in known]
        assert len(set(items)) == len(items)
        assert [place_of(data, item) for item in items] == known


def test_a_criterion_bears_the_name_that_check_lists(births: Path) -> None:
    for path in sorted(births.glob("*.yaml")):
        data = parse(path.read_bytes())[0]
        if "criteria" in data:
            names = [criterion.name for criterion in load(path).criteria]
            assert [criterion_name(c) for c in data["criteria"]] == names == list(names_at(data, ("criteria",)))


WORDS = st.one_of(TEXTS, st.sampled_from(["1", "2", "a.b", "a", "b", '"a"', '2."a"', "True", "", "."]))
LEAVES = st.one_of(WORDS, st.none(), st.booleans())
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=10
)
PARTS = st.lists(
    st.dictionaries(st.sampled_from(["name", "criterion", "of", "by"]), TREES, max_size=3), max_size=3
)
DATA = (
    st.fixed_dictionaries({}, optional={"columns": PARTS | TREES, "criteria": PARTS | TREES, "x": TREES})
    | TREES
)


@settings(max_examples=100)
@given(DATA)
def test_place_and_item_are_inverse_of_each_other(data: Any) -> None:
    """Whatever stands there, and however its keys are spelled."""
    for place in places(data):
        assert place_of(data, item_of(data, place)) == place


@settings(max_examples=100)
@given(DATA, WORDS)
def test_any_word_is_a_place_or_is_refused(data: Any, item: str) -> None:
    try:
        place = place_of(data, item)
    except FacsimileError as error:
        assert error.code == "E220"
    else:
        assert place

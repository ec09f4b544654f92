"""Listed configurations: exactly these are drawn, each lies in the grid, and the grid stays as it was."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.spec.load import dump, loads, validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from specs import SMALL

GRID: dict[str, Any] = {
    **SMALL,
    "families": [
        {"family": "mst"},
        {
            "family": "privbayes",
            "grid": {"theta": ["4", "8"], "degree": ["1", "2"]},
            "exclude": ["theta > 4 and degree > 1"],
        },
        {"family": "dpctgan", "grid": {"epochs": ["300"]}},
    ],
    "projection": {"algorithm": ["paper", "margins"], "min_count": ["2", "3"]},
}
WHOLE = validated(copy.deepcopy(GRID)).space


def listed(*items: dict[str, Any]) -> Specification:
    return validated(copy.deepcopy(GRID) | {"configurations": list(items)})


def entry(configuration: Configuration, short: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = configuration.as_json()
    if short:
        del found["alternatives"]["sex"]
    return found


@settings(max_examples=30)
@given(places=st.lists(st.integers(0, WHOLE.size - 1), min_size=1, unique=True), short=st.booleans())
def test_a_list_is_the_space_that_is_drawn_from(places: list[int], short: bool) -> None:
    """Any part of the grid can be listed; it is counted, addressed and told from the rest."""
    wanted = [WHOLE.configuration(place) for place in places]
    spec = listed(*(entry(c, short) for c in wanted))
    space = spec.space
    assert [space.configuration(i) for i in range(space.size)] == wanted
    assert space.size == len(places) and space.whole == WHOLE
    assert space.by_family() == {"mst": 0, "privbayes": 0, "dpctgan": 0} | Counter(c.family for c in wanted)
    assert list(space.pure().listed or ()) == [c for c in wanted if c.family != "dpctgan"]
    for i in range(WHOLE.size):
        one = WHOLE.configuration(i)
        assert space.holds(one) == (one in wanted) and WHOLE.holds(one)
    with pytest.raises(IndexError):
        space.configuration(len(places))
    for columns in (["age"], ["sex", "age"]):
        drawn = [dict(c) for c in dict.fromkeys(tuple((k, w.alternatives[k]) for k in columns) for w in wanted)]
        assert list(space.choices(columns)) == drawn
    assert [[*made] for _, made in space.made()] == [[c] for c in wanted if c.family != "dpctgan"]
    assert loads(dump(spec)).digest() == spec.digest()


def test_a_grid_has_every_choice_and_every_combination() -> None:
    assert list(WHOLE.choices(["age", "sex"])) == [{"age": age, "sex": "coarse"} for age in ("coarse", "fine")]
    made = {place: [c.hyperparameters for c in found] for place, found in WHOLE.made()}
    assert made == {
        ("families", 0, "grid"): [{}],
        ("families", 1, "grid"): [WHOLE.grids[1].combination(i) for i in range(3)],
    }


@given(st.dictionaries(st.sampled_from(["theta", "degree", "x"]), st.sampled_from(["1", "2", "4", "8"])))
def test_a_combination_fits_exactly_where_the_grid_has_it(chosen: dict[str, str]) -> None:
    grid = WHOLE.grids[1]
    assert (chosen in [grid.combination(i) for i in range(grid.size)]) == (not list(grid.misfits(chosen)))


def test_a_specification_without_a_list_has_the_digest_it_had() -> None:
    """What was registered before lists existed still verifies."""
    assert "configurations" not in validated(copy.deepcopy(SMALL)).canonical()


def test_a_draw_is_uniform_over_the_list() -> None:
    wanted = [WHOLE.configuration(place) for place in (3, 1, 7)]
    space = listed(*map(entry, wanted)).space
    asked = list[int]()

    def below(n: int) -> int:
        asked.append(n)
        return len(asked) - 1

    assert [space.draw(below) for _ in range(3)] == wanted
    assert asked == [3, 3, 3]


def test_what_is_listed_once_may_be_left_out_of_a_projection() -> None:
    given = copy.deepcopy(GRID) | {"projection": {"algorithm": ["margins"], "min_count": ["3"]}}
    spec = validated(given | {"configurations": [{"alternatives": {"age": "fine"}, "family": "mst"}]})
    assert spec.space.configuration(0) == Configuration(
        {"age": "fine", "sex": "coarse"}, "mst", {}, {"algorithm": "margins", "min_count": "3"}
    )
    for key in ("algorithm", "min_count"):
        several = given | {
            "projection": {"algorithm": ["margins"], "min_count": ["3"]} | {key: GRID["projection"][key]}
        }
        with pytest.raises(FacsimileError, match=f"chooses one `{key}`"):
            validated(several | {"configurations": [{"alternatives": {"age": "fine"}, "family": "mst"}]})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"family": "pep"}, "`families` has no pep"),
        (
            {"family": "privbayes", "hyperparameters": {"theta": "8", "degree": "2"}},
            "rules this combination out",
        ),
        ({"family": "privbayes", "hyperparameters": {"theta": "8"}}, "has degree too"),
        ({"family": "privbayes", "hyperparameters": {"theta": "80", "degree": "1"}}, "Did you mean 8"),
        ({"alternatives": {"age": "fne"}}, "Did you mean fine"),
        ({"alternatives": {}}, "one of the alternatives of age"),
        ({"alternatives": {"age": "fine", "sexx": "coarse"}}, "Did you mean sex"),
        ({"projection": {"algorithm": "paper", "min_count": "9"}}, "has no min_count 9"),
        ({"projection": {"algorithm": "implementation", "min_count": "2"}}, "has no algorithm implementation"),
    ],
)
def test_what_the_file_does_not_allow_may_not_be_listed(change: dict[str, Any], words: str) -> None:
    with pytest.raises(FacsimileError, match=words):
        listed(entry(WHOLE.configuration(0)) | change)


def test_no_configuration_stands_twice_however_it_is_written() -> None:
    one = WHOLE.configuration(5)
    with pytest.raises(FacsimileError, match="twice"):
        listed(entry(one), entry(one, short=True))


def test_every_mistake_of_a_list_is_told_beside_others() -> None:
    """One that hides a part does not hide another item."""
    good, *_ = (entry(WHOLE.configuration(i)) for i in range(1))
    bad = [good | {"family": "mts"}, good | {"alternatives": {"age": "fne"}}, "mst", good]
    with pytest.raises(FacsimileError) as refused:
        validated(copy.deepcopy(GRID) | {"configurations": bad, "title": ""})
    told = str(refused.value)
    for words in ("mts", "fne", "an item of `configurations`".capitalize(), "`title`"):
        assert words.casefold() in told.casefold()


def test_alternatives_of_the_list_are_those_of_use() -> None:
    columns = copy.deepcopy(GRID["columns"])
    columns[0]["use"] = ["fine"]
    given = copy.deepcopy(GRID) | {"columns": columns}
    one = {"family": "mst", "projection": {"algorithm": "paper", "min_count": "2"}}
    assert validated(given | {"configurations": [one]}).space.size == 1
    validated(given | {"configurations": [one | {"alternatives": {"age": "fine"}}]})
    with pytest.raises(FacsimileError, match="uses no alternative coarse"):
        validated(given | {"configurations": [one | {"alternatives": {"age": "coarse"}}]})

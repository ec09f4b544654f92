import random
from pathlib import Path

import pytest

from facsimile.spec.families import Grid
from facsimile.spec.load import load
from facsimile.spec.space import Configuration, Space

SPACE = Space(
    {"a": ("x", "y"), "b": ("z",)},
    (
        Grid(family="mwem", grid={"num_query": ["128", "512"], "num_iterations": ["100", "500"]},
             exclude=("num_query < num_iterations",)),
        Grid(family="mst"),
    ),
    {"min_count": ("2", "3")},
)  # fmt: skip


def test_the_paper_space_is_counted(births: Path) -> None:
    space = load(births / "release.yaml").space
    assert space.by_family() == {
        "privbayes": 1440, "mwem": 432, "pep": 1296, "dpctgan": 2304, "patectgan": 768,
    }  # fmt: skip
    assert space.pure().size == 1440 + 432 + 1296


def test_a_huge_space_is_counted_without_being_built() -> None:
    space = Space({f"c{i}": ("x", "y", "z") for i in range(200)}, SPACE.grids, SPACE.projections)
    assert space.size == 3**200 * 4 * 2
    assert space.configuration(space.size - 1).family == "mst"


def test_indices_lead_to_every_configuration_once() -> None:
    every = [SPACE.configuration(i) for i in range(SPACE.size)]
    assert len({c.identifier for c in every}) == SPACE.size == 2 * (3 + 1) * 2
    for chosen in every:
        if chosen.family == "mwem":
            hyper = chosen.hyperparameters
            assert int(hyper["num_query"]) >= int(hyper["num_iterations"])
    with pytest.raises(IndexError):
        SPACE.configuration(SPACE.size)


def test_identifiers_do_not_depend_on_the_order_of_the_specification() -> None:
    one = Configuration({"a": "x", "b": "y"}, "mst", {"p": "1", "q": "2"}, {})
    other = Configuration({"b": "y", "a": "x"}, "mst", {"q": "2", "p": "1"}, {})
    assert one.identifier == other.identifier == "mst-" + one.identifier[4:]
    assert Configuration({"a": "x", "b": "y"}, "mst", {"p": "1", "q": "3"}, {}).identifier != one.identifier


def test_a_draw_asks_once_for_a_place_in_the_whole_space() -> None:
    asked: list[int] = []

    def below(n: int) -> int:
        asked.append(n)
        return n - 1

    assert SPACE.draw(below) == SPACE.configuration(SPACE.size - 1)
    assert asked == [SPACE.size]
    assert {SPACE.draw(random.Random(i).randrange).family for i in range(50)} == {"mwem", "mst"}

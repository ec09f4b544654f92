from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from facsimile.privacy.private import Private
from facsimile.table.table import Table
from table.test_domain import domain

SECRET = 424242
BOXES = [Private(SECRET), Private([SECRET]), Private(Table.from_rows(domain([2]), [[1]] * 3))]


@pytest.mark.parametrize("box", BOXES, ids=["number", "list", "table"])
@pytest.mark.parametrize("show", [repr, str, "{!r}".format, "{!s}".format, ascii])
def test_its_text_is_the_same_for_every_content(box: Private[Any], show: Callable[[Any], str]) -> None:
    assert show(box) == "Private()"


@pytest.mark.parametrize("box", BOXES, ids=["number", "list", "table"])
@pytest.mark.parametrize(
    "look",
    [
        len, iter, bool, hash, int, float, list, tuple, set, dict, sorted, operator.index,
        pickle.dumps, copy.copy, copy.deepcopy, np.array, np.asarray, json.dumps, "{:>10}".format, vars,
        lambda box: box == box, lambda box: box != SECRET, lambda box: box < 1, lambda box: box >= 1,
        lambda box: SECRET in box, lambda box: box[0], lambda box: box + 1, lambda box: "yes" if box else "no",
        lambda box: [*box], lambda box: f"{box:x}", lambda box: pickle.dumps(box, 0), lambda box: box(),
    ],
)  # fmt: skip
def test_it_shows_nothing(box: Private[Any], look: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError) as caught:
        look(box)
    assert str(SECRET) not in str(caught.value)


def test_it_has_no_public_parts() -> None:
    assert [name for name in dir(BOXES[0]) if not name.startswith("_")] == []
    with pytest.raises(AttributeError):
        operator.attrgetter("value")(BOXES[0])
    with pytest.raises(AttributeError):
        BOXES[0].note = 1  # type: ignore[attr-defined]


def test_it_cannot_be_subclassed() -> None:
    with pytest.raises(TypeError):
        type("Open", (Private,), {})

"""Items: how people and commands name a part of a specification.

    title                                  a key
    budget.total                           a key of a section
    columns.age.alternatives.released      a column by its name
    criteria.mean-parity.threshold         a criterion by the name that `check` lists
    constraints.raw.2, families.1.grid     anything else in a list by its number, from 1

A key that holds a full stop needs no quotes where no other item could be meant, else it has double ones:
`columns.weight.numbers."0.0-0.9"`.

>>> data = {"columns": [{"name": "age", "bounds": ["0", "90"]}], "title": "Births"}
>>> place_of(data, "columns.age.bounds.2")
('columns', 0, 'bounds', 1)
>>> item_of(data, ("columns", 0, "bounds", 1))
'columns.age.bounds.2'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from facsimile.errors import FacsimileError, refusal
from facsimile.spec.criteria import Criterion
from facsimile.spec.edits import at
from facsimile.spec.mistakes import Place, Unknown, cut, named, suggestion
from facsimile.spec.release import Specification
from facsimile.spec.salvage import Enough, keys_at, salvaged

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_NUMBER = re.compile(r"[1-9][0-9]{0,8}(?![^.])")
Named = list[tuple[str, str | int]]


def place_of(data: Any, item: str) -> Place:
    """The place of an item in the plain data of a specification; an item that it does not have is refused.

    What is not there yet may be named at the end: a key that a specification knows and this one leaves out, or
    the number after the last item of a list.
    """
    found = next(_places(data, (), item), None)
    if found is None:
        raise _unknown(data, item)
    return found


def item_of(data: Any, place: Place) -> str:
    """The name of the item at a place of plain data, or of a key that may be added there."""
    steps = [(place[:i], part) for i, part in enumerate(place)]
    item = ".".join(_shown(data, holder, part) for holder, part in steps)
    if next(_places(data, (), item), None) == place:
        return item
    return ".".join(_exact(part) for _, part in steps)


def names_at(data: Any, place: Place) -> tuple[str, ...]:
    """What the parts of the value at a place are called."""
    return tuple(_shown(data, place, part) for part in named(at(data, place)))


def criterion_name(data: Any) -> str | None:
    """The name that `check` lists a criterion by; None where its data do not say enough."""
    with suppress(Unknown, Enough):
        return str(salvaged(Criterion, data).name)
    return None


def _places(data: Any, place: Place, item: str) -> Iterator[Place]:
    """The places that an item may name from a place on, the likeliest first."""
    for part, rest in _first(data, place, item):
        here = (*place, part)
        if rest is None:
            yield here
        elif part in named(at(data, place)):
            yield from _places(data, here, rest)


def _first(data: Any, place: Place, item: str) -> Iterator[tuple[str | int, str | None]]:
    """The parts that an item may begin with, each with what is left: a number first, then long names."""
    value = at(data, place)
    number, quoted = _NUMBER.match(item), _QUOTED.match(item)
    if isinstance(value, list) and number and int(number.group()) <= len(value) + 1:
        yield int(number.group()) - 1, item[number.end() + 1 :] if number.end() < len(item) else None
    if isinstance(value, dict) and quoted and item[quoted.end() :][:1] in ("", "."):
        with suppress(ValueError):
            part = json.loads(quoted.group())
            if part in _keys(data, place):
                yield part, item[quoted.end() + 1 :] if quoted.end() < len(item) else None
    if isinstance(value, dict):
        known: Named = [(_shown(data, place, key), key) for key in _keys(data, place)]
    else:
        known = [(name, i) for i, name in _called(data, place).items()]
    for word, part in sorted(known, key=lambda pair: len(pair[0]), reverse=True):
        if f"{item}.".startswith(f"{word}."):
            yield part, item[len(word) + 1 :] if len(word) < len(item) else None


def _keys(data: Any, place: Place) -> list[str]:
    """The keys of a mapping, and those that a specification may have there."""
    written = [str(key) for key in named(at(data, place))]
    return [*written, *(key for key in keys_at(Specification, data, place) if key not in written)]


def _called(data: Any, place: Place) -> dict[int, str]:
    """The names of a list's items, of those that have one of their own."""
    value = at(data, place)
    if place == ("columns",):
        names = [item.get("name") if isinstance(item, dict) else None for item in value]
    elif place == ("criteria",):
        names = [criterion_name(item) for item in value]
    else:
        names = []
    return {i: name for i, name in enumerate(names) if isinstance(name, str) and names.count(name) == 1}


def _shown(data: Any, place: Place, part: str | int) -> str:
    """What people call a part of the value at a place."""
    value = at(data, place)
    if isinstance(part, int):
        return _called(data, place).get(part, str(part + 1))
    lone = isinstance(value, dict) and part in ("True", "False") and part not in value
    return part.lower() if lone and part.lower() not in value else part


def _exact(part: str | int) -> str:
    return str(part + 1) if isinstance(part, int) else json.dumps(part, ensure_ascii=False)


def _unknown(data: Any, item: str) -> FacsimileError:
    """An item that is not there, and what could be meant, as far as the item can be followed."""
    words = item.split(".")
    for length in range(len(words) - 1, -1, -1):
        found = next(_places(data, (), ".".join(words[:length])), None) if length else ()
        if found is not None and (not found or found[-1] in named(at(data, found[:-1]))):
            value = at(data, found)
            known = [_shown(data, found, key) for key in _keys(data, found)] if isinstance(value, dict) else []
            known = known or list(names_at(data, found))
            return refusal("E220", item=cut(item), suggestion=suggestion(words[length], known))
    raise AssertionError("the root is always found")

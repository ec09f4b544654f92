"""Labels: the categories of a column, each written once beside the raw texts that mean it.

`labels: {1: male, 2: female}` stands for a `map` from raw texts to categories and for the `values` in the order
of their first appearance; `{1: {label: male, number: 0}, 2: {label: female, number: 1}}` for `numbers` too.
`each` stands for every value by itself where a list of categories is expected. Both are written out before
anything else is done, so that a short and a long specification make the same promise and have the same hash.

>>> data = {"labels": {"1": "male", "2": "female"}, "groups": "each"}
>>> written_out(data)
{'groups': ['male', 'female'], 'map': {'1': 'male', '2': 'female'}, 'values': ['male', 'female']}
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from facsimile.spec.decimals import Exact
from facsimile.spec.mistakes import Place
from facsimile.spec.model import Label, Model

EACH: Final = "each"


class Labelled(Model):
    """The label of a raw text, and its number."""

    label: Label
    number: Exact | None = None


def _text_keys(value: Any) -> Any:
    return {str(key): label for key, label in value.items()} if isinstance(value, Mapping) else value


Labels = Annotated[dict[str, Label | Labelled], BeforeValidator(_text_keys)]
_LABELS: TypeAdapter[dict[str, str | Labelled]] = TypeAdapter(Labels)


def label_of(given: str | Labelled) -> str:
    """The label that is given for a raw text."""
    return str(given.label) if isinstance(given, Labelled) else given


def numbers_of(labels: Mapping[str, str | Labelled]) -> dict[str, Fraction] | None:
    """The number of each label, in the order of their first appearance; none at all where none is given.

    None where some labels have a number and some have not, or one has two.
    """
    found: dict[str, set[Fraction]] = {label_of(given): set() for given in labels.values()}
    for given in labels.values():
        if isinstance(given, Labelled) and given.number is not None:
            found[given.label].add(given.number)
    if all(len(numbers) == 1 for numbers in found.values()):
        return {label: min(numbers) for label, numbers in found.items()}
    return None if any(found.values()) else {}


def written_out(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """A column without `labels` and `each`; labels with a mistake stay, and no value is known then."""
    labels, found = _read(data), dict(data)
    if labels is not None:
        del found["labels"]
        found["map"] = {key: label_of(labels[str(key)]) for key in data["labels"]}
        found["values"] = list(dict.fromkeys(found["map"].values()))
        found |= {"numbers": numbers} if (numbers := numbers_of(labels)) else {}
    if "bounds" not in found or "values" in found or "labels" in found:
        values = found.get("values")
        everything = list(values) if isinstance(values, list | tuple) else []
        for key in ("alternatives", "hierarchy"):
            if isinstance(found.get(key), Mapping):
                found[key] = {name: everything if p == EACH else p for name, p in found[key].items()}
        if found.get("groups") == EACH:
            found["groups"] = everything
    return found


def places(data: Mapping[Any, Any]) -> dict[Place, Place]:
    """For each place of what labels are written out as, the place where it is written."""
    labels = _read(data)
    if labels is None:
        return {}
    found: dict[Place, Place] = {(key,): ("labels",) for key in ("map", "values", "numbers")}
    firsts: dict[str, str] = {}
    for key, given in labels.items():
        found["map", key] = ("labels", key)
        firsts.setdefault(label_of(given), key)
    for i, (label, key) in enumerate(firsts.items()):
        found["values", i] = found["numbers", label] = ("labels", key)
    if "numbers" in data:
        found = {filled: given for filled, given in found.items() if filled[0] != "numbers"}
    return found


def _read(data: Mapping[Any, Any]) -> dict[str, str | Labelled] | None:
    """The labels of a column; None where it has none, where they are odd, or where other keys say the same."""
    given = data.get("labels")
    if not isinstance(given, Mapping) or not given or "map" in data or "values" in data:
        return None
    try:
        labels = _LABELS.validate_python(given)
    except ValidationError:
        return None
    numbers = numbers_of(labels)
    return None if numbers is None or (numbers and "numbers" in data) else labels

"""Words: what differs between two specifications, one sentence for each item.

Parts are matched by their names, not by their places: a column that moved is a column that moved. What is not
known here by its meaning is said as `item: old → new`, so nothing that changes the canonical form is silent.

Theorem. Differences are none if and only if the canonical forms are equal.
Proof. Both are compared as the plain data of their canonical forms, key by key. Equal data give nothing. Where
the values of a key differ, what is said of its meaning is taken if it says anything, else `_values`, which says
something of any two different values: of mappings it looks at a key whose values differ, of lists it tells what
was added, removed or moved, and of anything else it shows both. ∎
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from facsimile.agreement.items import item_of
from facsimile.agreement.partitions import regrouped
from facsimile.spec.columns import Column, Partition
from facsimile.spec.mistakes import Place, cut, named
from facsimile.spec.release import Specification
from facsimile.spec.written import inline

LONGEST = 80
SIMILAR = 0.6
ABSENT: Any = object()
_CATEGORICAL = ("values", "map", "alternatives", "groups", "hierarchy", "outside")


@dataclass(frozen=True)
class Difference:
    """One item that differs: its name, what happened in words, and its plain values (None: there is none)."""

    item: str
    words: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        """The difference for `--json`."""
        return {"item": self.item, "words": self.words, "before": self.before, "after": self.after}


def differences(before: Specification, after: Specification) -> tuple[Difference, ...]:
    """What differs, in the order of a specification's keys."""
    both = json.loads(before.canonical()), json.loads(after.canonical())
    root = _Pair(both, (), ())
    found: list[Difference] = []
    for key in Specification.model_fields:
        pair = root.part(key)
        if pair.old != pair.new:
            told = _TOLD.get(key, lambda pair, *_: ())
            found += list(told(pair, before, after)) or list(_values(pair))
    return tuple(found)


@dataclass(frozen=True)
class _Pair:
    """An item of both specifications: where it stands in each; None where it does not."""

    both: tuple[Any, Any]
    old_place: Place | None
    new_place: Place | None

    @property
    def old(self) -> Any:
        return _at(self.both[0], self.old_place)

    @property
    def new(self) -> Any:
        return _at(self.both[1], self.new_place)

    def part(self, old: str | int | None, new: str | int | None = None) -> _Pair:
        """A part of both, by its key; in lists by its place in each of them."""
        new = old if new is None and isinstance(old, str) else new
        return _Pair(
            self.both,
            None if self.old_place is None or old is None else (*self.old_place, old),
            None if self.new_place is None or new is None else (*self.new_place, new),
        )

    def says(self, words: str) -> Difference:
        """What is said of it."""
        old, new = self.old, self.new
        if new is ABSENT:
            assert self.old_place is not None
            item = item_of(self.both[0], self.old_place)
        else:
            assert self.new_place is not None
            item = item_of(self.both[1], self.new_place)
        return Difference(item, words, *(None if value is ABSENT else value for value in (old, new)))


def _at(data: Any, place: Place | None) -> Any:
    for part in place or ():
        data = named(data).get(part, ABSENT)
    return ABSENT if place is None else data


def _values(pair: _Pair, label: str | None = None) -> Iterator[Difference]:
    """What differs between any two values; under a label, or under the item's own name."""
    old, new = pair.old, pair.new
    if old == new:
        return
    called = label if label is not None else f"{pair.says('').item}:"
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _values(pair.part(key), None if label is None else f"{label} {key}")
    elif old is ABSENT:
        yield pair.says(f"{called} {_shown(new)} added")
    elif new is ABSENT:
        yield pair.says(f"{called} {_shown(old)} removed")
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(pair, called, label)
    else:
        yield pair.says(f"{called} {' → '.join(_excerpts(old, new))}")


def _lists(pair: _Pair, called: str, label: str | None) -> Iterator[Difference]:
    """What was added to a list and removed from it; of items with keys, what changed in each."""
    old, new = pair.old, pair.new
    rich = any(isinstance(item, dict) for item in (*old, *new))
    if rich and len(old) == len(new):
        for i in range(len(old)):
            yield from _values(pair.part(i, i), None if label is None else f"{label} {i + 1}")
    elif len(old) == len(new) <= 3 and sorted(map(str, old)) != sorted(map(str, new)):
        yield pair.says(f"{called} {_shown(old)} → {_shown(new)}")
    else:
        yield pair.says(f"{called} {_moves(old, new)}")


def _moves(old: Sequence[Any], new: Sequence[Any]) -> str:
    """What was added, what was removed, and whether the rest stands in another order."""
    more, less = _without(new, old), _without(old, new)
    said = [f"{_each(more)} added"] * bool(more) + [f"{_each(less)} removed"] * bool(less)
    if _without(old, less) != _without(new, more):
        said.append("in another order")
    return ", ".join(said)


def _without(items: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """The items that others lack, each as often as it is lacking."""
    left, found = list(others), []
    for item in items:
        if item in left:
            left.remove(item)
        else:
            found.append(item)
    return found


def _each(items: Sequence[Any]) -> str:
    return ", ".join(map(_shown, items[:5])) + (f" and {len(items) - 5} more" if len(items) > 5 else "")


def _shown(value: Any) -> str:
    """A value for people, not too long."""
    text = cut(value if isinstance(value, str) else inline(value), LONGEST)
    return f"“{text}”" if isinstance(value, str) and (not value or any(map(str.isspace, value))) else text


def _excerpts(old: Any, new: Any) -> tuple[str, str]:
    """Two values; of long texts the words that differ, and a few before them."""
    one, other = str(old), str(new)
    if not isinstance(old, str) or not isinstance(new, str) or max(len(one), len(other)) <= LONGEST:
        return _shown(old), _shown(new)
    words = one.split(), other.split()
    same = next((i for i, pair in enumerate(zip(*words, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(map(len, words)) if same is None else same) - 3)
    lead = "… " * bool(start)
    return tuple(f"“{lead}{cut(' '.join(part[start:]), LONGEST)}”" for part in words)  # type: ignore[return-value]


def _records(pair: _Pair, *_: Any) -> Iterator[Difference]:
    yield from _values(pair.part("count"), "records")
    yield from _values(pair.part("public_because"), "the reason why their number is public:")


def _budget(pair: _Pair, *_: Any) -> Iterator[Difference]:
    for key in dict.fromkeys((*pair.old, *pair.new)):
        yield from _values(pair.part(key), f"budget {key}" if key == "source" else str(key))


def _selection(pair: _Pair, *_: Any) -> Iterator[Difference]:
    yield from _values(pair, "selection")


def _projection(pair: _Pair, *_: Any) -> Iterator[Difference]:
    yield from _values(pair, "projection")


def _named_parts(
    pair: _Pair, old: Sequence[str], new: Sequence[str], kind: str
) -> Iterator[tuple[str, _Pair] | Difference]:
    """Parts by their names, those of both before added and removed ones; and whether they moved."""
    for name in old:
        if name in new:
            yield name, pair.part(old.index(name), new.index(name))
    for i, name in enumerate(old):
        if name not in new:
            yield pair.part(i).says(f"{kind} {name} removed")
    for i, name in enumerate(new):
        if name not in old:
            added = pair.part(None, i)
            holds = {key: item for key, item in _unnamed(added.new).items() if item not in ([], {})}
            yield added.says(f"{kind} {name} added" + (f": {_shown(holds)}" if holds else ""))
    shared = [name for name in new if name in old]
    if shared != [name for name in old if name in new]:
        yield pair.says(f"{pair.says('').item} in another order: {', '.join(new)}")


def _unnamed(value: dict[str, Any]) -> dict[str, Any]:
    """What a part says beside its name."""
    return {key: item for key, item in value.items() if key not in ("name", "criterion", "family")}


def _columns(pair: _Pair, before: Specification, after: Specification) -> Iterator[Difference]:
    old, new = list(before.names), list(after.names)
    renamed = _renamed_columns(pair.old, pair.new, old, new)
    for one, other in renamed.items():
        yield pair.part(old.index(one), new.index(other)).part("name").says(f"column {one} renamed to {other}")
    for found in _named_parts(pair, [renamed.get(name, name) for name in old], new, "column"):
        if isinstance(found, Difference):
            yield found
        elif found[0] not in renamed.values():
            yield from _column(found[1], before.column(found[0]), after.column(found[0]))


def _renamed_columns(old: Any, new: Any, one: list[str], other: list[str]) -> dict[str, str]:
    """Columns that are the same but for their names."""
    left = {name: _unnamed(data) for name, data in zip(other, new, strict=True) if name not in one}
    found: dict[str, str] = {}
    for name, data in zip(one, old, strict=True):
        again = next((key for key, same in left.items() if same == _unnamed(data)), None)
        if name not in other and again is not None:
            found[name] = again
            del left[again]
    return found


def _column(pair: _Pair, before: Column, after: Column) -> Iterator[Difference]:
    """What differs in a column; labels that changed are followed everywhere in it."""
    name = after.name
    labels = _labels_changed(pair)
    if labels:
        changed = ", ".join(f"{_shown(old)} → {_shown(new)}" for old, new in labels.items())
        yield pair.part("values").says(f"{name}: label {changed}")
        pair, before = _followed(pair, labels)
    for key in dict.fromkeys((*pair.old, *pair.new)):
        part = pair.part(key)
        if part.old == part.new:
            continue
        found: list[Difference] = []
        if key in ("alternatives", "hierarchy"):
            found = list(_partitions(part, name, before, after, key))
        elif key == "groups" and ABSENT not in (part.old, part.new):
            found = list(_partition(part, f"{name} groups", before, after, (before.groups, after.groups)))
        yield from found or _values(part, f"{name}: {key}")


def _labels_changed(pair: _Pair) -> dict[str, str]:
    """Categories that stand where others stood."""
    old, new = pair.old.get("values", ()), pair.new.get("values", ())
    if len(old) != len(new):
        return {}
    both = zip(old, new, strict=True)
    return {one: other for one, other in both if one != other and one not in new and other not in old}


def _followed(pair: _Pair, labels: dict[str, str]) -> tuple[_Pair, Column]:
    """A column as it was, with other labels wherever it names a category."""

    def followed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: followed(item) for key, item in value.items()}
        return [followed(item) for item in value] if isinstance(value, list) else labels.get(value, value)

    data = {key: followed(item) if key in _CATEGORICAL else item for key, item in pair.old.items()}
    if "numbers" in data:
        data["numbers"] = {labels.get(key, key): number for key, number in data["numbers"].items()}
    if "value" in (missing := data["missing"]):
        data["missing"] = followed(missing)
    assert pair.old_place is not None
    whole = [*pair.both[0]["columns"]]
    whole[int(pair.old_place[-1])] = data
    return replace(pair, both=({**pair.both[0], "columns": whole}, pair.both[1])), Column.model_validate(data)


def _partitions(pair: _Pair, name: str, before: Column, after: Column, key: str) -> Iterator[Difference]:
    """Named partitions: added, removed, renamed, or their bins changed."""
    if ABSENT in (pair.old, pair.new):
        return
    kind = "alternative" if key == "alternatives" else "level"
    old, new = dict(getattr(before, key) or {}), dict(getattr(after, key) or {})
    again = {
        one: other
        for one in old
        for other in new
        if one not in new and other not in old and old[one] == new[other]
    }
    for one, other in again.items():
        yield pair.part(one, other).says(f"{name}: {kind} {one} renamed to {other}")
    for one in old:
        if one not in new and one not in again:
            yield pair.part(one, None).says(f"{name}: {kind} {one} removed")
    for other in new:
        if other not in old and other not in again.values():
            yield pair.part(other).says(f"{name}: {kind} {other} added: {_shown(_labels(after, new[other]))}")
    for one in old:
        if one in new:
            label = f"{name} {one}" if key == "hierarchy" or len(new) > 1 else name
            yield from _partition(pair.part(one), label, before, after, (old[one], new[one]))


def _partition(
    pair: _Pair, label: str, before: Column, after: Column, both: tuple[Partition | None, Partition | None]
) -> Iterator[Difference]:
    """What became of the bins of a partition."""
    if pair.old == pair.new or both[0] is None or both[1] is None:
        return
    said = regrouped(before.bins_of(both[0]), after.bins_of(both[1]))
    same = f"the same bins, written otherwise: {_shown(pair.old)} → {_shown(pair.new)}"
    yield pair.says(f"{label}: {'; '.join(said) or same}")


def _labels(column: Column, partition: Partition) -> list[str]:
    return [b.label for b in column.bins_of(partition)]


def _criteria(pair: _Pair, before: Specification, after: Specification) -> Iterator[Difference]:
    old, new = ([criterion.name for criterion in spec.criteria] for spec in (before, after))
    for found in _named_parts(pair, old, new, "criterion"):
        if isinstance(found, Difference):
            yield found
        else:
            yield from _values(found[1], found[0])


def _families(pair: _Pair, *_: Any) -> Iterator[Difference]:
    old, new = ([grid["family"] for grid in data] for data in (pair.old, pair.new))
    if len(set(old)) < len(old) or len(set(new)) < len(new):
        return
    for found in _named_parts(pair, old, new, "family"):
        if isinstance(found, Difference):
            yield found
        else:
            yield from _values(found[1], found[0])


def _constraints(pair: _Pair, *_: Any) -> Iterator[Difference]:
    yield from _values(pair.part("policy"), "policy of rules:")
    for kind in ("raw", "synthetic"):
        yield from _rules(pair.part(kind), kind)


def _rules(pair: _Pair, kind: str) -> Iterator[Difference]:
    """Rules are known by their own words: the same ones first, then those that are almost the same."""
    left = list(range(len(pair.new)))
    matched: dict[int, int] = {}
    for alike in (_equal, _same_words, _almost):
        for i, rule in enumerate(pair.old):
            again = None if i in matched else next((j for j in left if alike(rule, pair.new[j])), None)
            if again is not None:
                matched[i] = again
                left.remove(again)
    for i, rule in enumerate(pair.old):
        if i not in matched:
            yield pair.part(i).says(f"{kind} rule removed: never “{rule['never']}”")
    for i, j in sorted(matched.items()):
        rule = pair.part(i, j)
        if rule.old["never"] != rule.new["never"]:
            yield rule.part("never").says(f"{kind} rule “{rule.old['never']}” → “{rule.new['never']}”")
        for key in dict.fromkeys((*rule.old, *rule.new)):
            if key != "never":
                yield from _values(rule.part(key), f"{kind} rule “{rule.new['never']}”: {key}")
    for j in left:
        yield pair.part(None, j).says(f"{kind} rule added: never “{pair.new[j]['never']}”")
    kept = [matched[i] for i in sorted(matched)]
    if kept != sorted(kept):
        yield pair.says(f"{kind} rules in another order")


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other)


def _same_words(one: Any, other: Any) -> bool:
    return bool(one["never"] == other["never"])


def _almost(one: Any, other: Any) -> bool:
    return difflib.SequenceMatcher(None, one["never"], other["never"]).ratio() > SIMILAR


def _configurations(pair: _Pair, *_: Any) -> Iterator[Difference]:
    if ABSENT in (pair.old, pair.new):
        there, what = (
            (pair.new, "listed") if pair.old is ABSENT else (pair.old, "no longer listed: all are allowed")
        )
        yield pair.says(f"configurations {what}" + (f": {len(there):,}" if pair.old is ABSENT else ""))
        return
    yield pair.says(f"configurations: {_moves(pair.old, pair.new)}")


_TOLD: dict[str, Callable[..., Iterator[Difference]]] = {
    "records": _records,
    "columns": _columns,
    "constraints": _constraints,
    "families": _families,
    "projection": _projection,
    "configurations": _configurations,
    "criteria": _criteria,
    "selection": _selection,
    "budget": _budget,
}

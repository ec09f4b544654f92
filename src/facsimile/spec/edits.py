"""Changes of a specification's text that leave every other byte as it is: comments, order, quotes, layout.

A place names what is changed, as in `spec/mistakes.py`: keys as texts, places in lists as numbers. What is
written anew has the style of what stood there, or that of `spec/written.py`. Comments inside a value that is
replaced go with it; one that stands behind its key stays. With a key or an item that is removed go the comment
lines directly above it: those in the same column, without a blank line between them and it.

Every change is read again. Where the text is so odd that it did not come out as meant (`? key`, a lone `a: b`
in a list), the part around it is written anew as a whole.

>>> text = "# Ages.\\nage:  # in years\\n  - <18   # minors\\n  - 17<\\n"
>>> print(replaced(text, ("age", 1), "18≤"), end="")
# Ages.
age:  # in years
  - <18   # minors
  - 18≤
>>> print(removed(replaced(text, ("sex",), ["M", "F"]), ("age", 0)), end="")
# Ages.
age:  # in years
  - 17<
sex: [M, F]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import chain, islice, pairwise, takewhile
from typing import Any

import yaml

from facsimile.errors import FacsimileError, refusal
from facsimile.spec.marked import BLANKS, BREAKS, Entry, Marked, Odd, names
from facsimile.spec.mistakes import Place, cut, named, suggestion
from facsimile.spec.release import Specification
from facsimile.spec.salvage import keys_at
from facsimile.spec.text import read
from facsimile.spec.written import INDENT, WIDTH, Blocks, filled, inline, item_lines, lines, scalar

MOST_STEPS = 20
_MARK = "\ufeff"
_COMMENT = re.compile(r"[ \t]*#.*")
_GONE: Any = object()


def replaced(text: str, place: Place, value: Any) -> str:
    """The text with this value at a place; parts of the value that are there already stay as they are written.

    A last key that is not there yet is added where the order of a specification's keys suggests; an index that
    is the length of a list appends.
    """
    value = _plain(value)
    steps = list(islice(_steps(read(text).data, place, value), MOST_STEPS + 1))
    for where, what in steps if len(steps) <= MOST_STEPS else [(place, value)]:
        text = _changed(text, where, what)
    return text


def removed(text: str, place: Place) -> str:
    """The text without a key or an item, and without the comment lines that belong to it."""
    return _changed(text, place, _GONE)


def at(data: Any, place: Place) -> Any:
    """The value at a place of plain data; a place that is not there is refused."""
    for i, part in enumerate(place):
        known = named(data)
        if part not in known:
            problem = f"The specification has no {cut('.'.join(map(str, place[: i + 1])))}."
            raise refusal("E213", problem=problem, suggestion=suggestion(str(part), list(map(str, known))))
        data = known[part]
    return data


def _plain(value: Any) -> Any:
    """A value as a text is read: numbers are texts."""
    if isinstance(value, Mapping):
        return type(value)({key: _plain(item) for key, item in value.items()})  # type: ignore[call-arg]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | str) else str(value)


def _steps(data: Any, place: Place, value: Any) -> Iterator[tuple[Place, Any]]:
    """The smaller changes that together set a value, in an order in which they can be made."""
    try:
        old = at(data, place)
    except FacsimileError:
        old = _GONE
    found = None
    if isinstance(old, dict) and isinstance(value, dict):
        found = _steps_of_keys(data, place, old, value)
    elif isinstance(old, list) and isinstance(value, list):
        found = _steps_of_items(data, place, old, value)
    if found is not None:
        yield from found
    elif old != value or type(old) is not type(value):
        yield place, value


def _steps_of_keys(
    data: Any, place: Place, old: dict[Any, Any], new: dict[Any, Any]
) -> Iterator[tuple[Place, Any]] | None:
    """Changes key by key; None where the keys would come out in another order, or all are others."""
    shared = [key for key in old if key in new]
    added = [key for key in new if key not in old]
    ordered = list(new) == [*shared, *added] or keys_at(Specification, data, place)
    if not shared or not ordered or any(not isinstance(key, str) for key in added):
        return None
    gone = (((*place, str(key)), _GONE) for key in old if key not in new)
    kept = (_steps(data, (*place, str(key)), new[key]) for key in (*shared, *added))
    return chain(gone, chain.from_iterable(kept))


def _steps_of_items(
    data: Any, place: Place, old: list[Any], new: list[Any]
) -> Iterator[tuple[Place, Any]] | None:
    """Items that are added at the end, a run of them that goes, or one that changes; None for anything else."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    gone = len(old) - len(new)
    if 0 < same == len(old):
        return (((*place, i), new[i]) for i in range(same, len(new)))
    if new and gone > 0 and old[same + gone :] == new[same:]:
        return (((*place, i), _GONE) for i in reversed(range(same, same + gone)))
    if not gone and same < len(old) and old[same + 1 :] == new[same + 1 :]:
        return _steps(data, (*place, same), new[same])
    return None


def _changed(text: str, place: Place, value: Any) -> str:
    """The text changed at a place: there alone if that can be, else with more of what is around it."""
    mark = _MARK if text.startswith(_MARK) else ""
    text = text.removeprefix(_MARK)
    data = read(text).data
    if not isinstance(data, dict):
        raise _refused("it holds no keys.")
    if not place:
        raise _refused("it is not replaced as a whole.")
    wanted = _with(data, place, value)
    error = _refused(f"it is written so that `{cut(str(place[0]))}` cannot be changed alone.")
    while place:
        try:
            found = _Page(text, data).edited(place, value)
            if read(found).data == wanted:
                return mark + found
        except (FacsimileError, Odd) as refused:
            error = refused if isinstance(refused, FacsimileError) else error
        place = place[:-1]
        value = at(wanted, place)
    raise error


def _refused(problem: str) -> FacsimileError:
    return refusal("E210", problem=problem, suggestion="Write each key and its value on a line of its own.")


def _with(data: Any, place: Place, value: Any) -> Any:
    """Data with a value set, or without what stands at a place."""
    whole = deepcopy(data)
    *parents, part = place
    here = at(whole, tuple(parents))
    if value is not _GONE and isinstance(here, list) and part == len(here):
        here.append(value)
        return whole
    if value is _GONE or not isinstance(here, dict) or not isinstance(part, str):
        at(whole, place)
    key = next((key for key in here if str(key) == part), part) if isinstance(here, dict) else part
    if value is _GONE:
        del here[key]
    else:
        here[key] = value
    return whole


class _Page(Marked):
    """A text beside its data and its nodes, to be edited."""

    def __init__(self, text: str, data: Any) -> None:
        super().__init__(text)
        self.data = data
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def edited(self, place: Place, value: Any) -> str:
        """The text with a value at a place, or without what stands there."""
        parent = self.node(place[:-1])
        entries, found = self.entries(parent), self.index(parent, place[-1])
        listed = isinstance(parent, yaml.SequenceNode)
        if found is None and entries:
            return self.added(place, parent, entries, value)
        if found is None:
            return self.whole(place[:-1], [value] if listed else {place[-1]: value})
        if value is not _GONE:
            return self.exchanged(parent, entries[found], value)
        if parent.flow_style:
            return self.without_flow(entries, found)
        if len(entries) == 1:
            return self.whole(place[:-1], [] if listed else {})
        return self.without_block(entries[found], parent.start_mark.column)

    def put(self, begin: int, end: int, new: list[str]) -> str:
        """The text with these lines between two characters."""
        return self.text[:begin] + self.newline.join(new) + self.text[end:]

    def whole(self, place: Place, value: Any) -> str:
        """Another value for all of a collection."""
        if place:
            return self.edited(place, value)
        found = lines(value, -INDENT, 0, {})
        new = found[1:] if len(found) > 1 else [inline(value)]
        return self.put(self.root.start_mark.index, self.end(self.root), new)

    def exchanged(self, parent: yaml.CollectionNode, entry: Entry, value: Any) -> str:
        """Another value for an entry; a comment behind its key stays there."""
        begin = entry.value.start_mark.index
        end = max(len(self.text[: self.end(entry.value)].rstrip(BLANKS)), entry.after)
        if parent.flow_style:
            lead = " " if isinstance(parent, yaml.MappingNode) and begin == entry.after else ""
            return self.put(begin, end, self.flowing(lead if entry.colon else ": ", value, begin))
        column, like = parent.start_mark.column, _blocks(entry.value)
        if isinstance(parent, yaml.SequenceNode):
            new = item_lines(value, column, like)
            new[0] = new[0][1:]
        else:
            new = lines(value, column, entry.after - self.line_start(entry.after), like)
        gap = self.text[entry.after : begin]
        if like is None and len(new) == 1 and gap and not gap.strip(" \t"):
            return self.put(begin, end, [new[0][1:]])
        behind = _comment(self.rest(entry.after)) if any(c in gap for c in BREAKS) else ""
        if like is not None:
            end += len(self.rest(end))
        elif not behind and len(new) > 1:
            behind = _comment(self.rest(end))
            end += len(behind)
        return self.put(entry.after, end, [new[0] + behind, *new[1:]])

    def flowing(self, lead: str, value: Any, index: int) -> list[str]:
        """A value within brackets, from this character on; a long list of words takes several lines."""
        start = self.line_start(index)
        words = isinstance(value, list) and value and not _rich(value)
        if not words or index - start + len(lead) + len(inline(value)) <= WIDTH:
            return [lead + inline(value)]
        inner = self.margin(start) + " " * INDENT
        return [f"{lead}[", *filled([scalar(item, flow=True) for item in value], inner)]

    def added(self, place: Place, parent: yaml.CollectionNode, entries: list[Entry], value: Any) -> str:
        """One more key, or one more item at the end."""
        listed, name = isinstance(parent, yaml.SequenceNode), place[-1]
        before = len(entries) - 1 if listed else self.before(place, parent)
        word = "" if listed else f"{scalar(name, flow=True)}:"
        if parent.flow_style:
            return self.added_flow(parent, entries, before, f"{word} " if word else "", value)
        column = parent.start_mark.column
        if listed:
            new = item_lines(value, column, _blocks(entries[-1].value))
        else:
            like: Blocks = None if column else [] if _rich(value) else {}
            first, *rest = lines(value, column, column + len(word), like)
            new = [word + first, *rest]
        if before < 0:
            return self.put(entries[0].begin, entries[0].begin, [*new, " " * column])
        end = max(self.end(entries[before].value), entries[before].after)
        new = [*([""] if listed and self.apart(entries[-2:]) else []), " " * column + new[0], *new[1:]]
        if self.text[end - 1] in BREAKS:
            return self.put(end, end, [*new, ""])
        end += len(self.rest(end))
        return self.put(end, end, ["", *new])

    def added_flow(
        self, parent: yaml.CollectionNode, entries: list[Entry], before: int, lead: str, value: Any
    ) -> str:
        """One more entry within brackets, on a line of its own where all have one or the line is full."""
        if before < 0:
            *rest, last = self.flowing(lead, value, entries[0].begin)
            return self.put(entries[0].begin, entries[0].begin, [*rest, last + ", "])
        end = max(self.end(entries[before].value), entries[before].after)
        starts = [self.line_start(entry.begin) for entry in entries]
        own = len(set(starts)) == len(starts) > 1
        full = end - self.line_start(end) + len(f", {lead}{inline(value)}]") > WIDTH
        if own or (full and starts[before] != self.line_start(parent.start_mark.index)):
            return self.put(end, end, [",", self.margin(starts[before]) + lead + inline(value)])
        return self.put(end, end, self.flowing(f", {lead}", value, end))

    def before(self, place: Place, parent: yaml.CollectionNode) -> int:
        """The entry that a new key follows: the last one before it in the order of a specification."""
        order, known = keys_at(Specification, self.data, place[:-1]), names(parent)
        if place[-1] not in order:
            return len(known) - 1
        earlier = order[: order.index(str(place[-1]))]
        found = [(earlier.index(str(name)), i) for i, name in enumerate(known) if name in earlier]
        return max(found)[1] if found else -1

    def apart(self, entries: list[Entry]) -> bool:
        """Whether a blank line parts two entries."""
        gaps = (self.text[self.end(one.value) : other.begin] for one, other in pairwise(entries))
        return any(not line.strip() for gap in gaps for line in re.split(rf"\r\n|[{BREAKS}]", gap)[1:-1])

    def without_block(self, entry: Entry, column: int) -> str:
        """Without an entry of a block and the comment lines above it; blank lines do not pile up."""
        start, end = self.line_start(entry.begin), max(self.end(entry.value), entry.after)
        stop = end if self.text[end - 1] in BREAKS else self.next_line(end)
        if self.text[start : entry.begin].strip(" \t"):
            following = len(self.text) - len(self.text[stop:].lstrip(BLANKS))
            return self.put(entry.begin, following, [""])
        while start and self.rest(self.line_above(start)).startswith(" " * column + "#"):
            start = self.line_above(start)
        parted = not start or not self.rest(self.line_above(start)).strip()
        while parted and stop < len(self.text) and not self.rest(stop).strip():
            stop = self.next_line(stop)
        return self.put(start, stop, [""])

    def without_flow(self, entries: list[Entry], found: int) -> str:
        """Without an entry within brackets and its comma; comments stay."""
        entry = entries[found]
        end = max(self.end(entry.value), entry.after)
        comma = self.skipped(end)
        if self.text[comma : comma + 1] == ",":
            rest = self.text[end:comma] + self.text[comma + 1 :]
            return self.text[: entry.begin] + rest.lstrip(" \t")
        if len(entries) == 1:
            return self.put(entry.begin, end, [""])
        comma = self.skipped(max(self.end(entries[found - 1].value), entries[found - 1].after))
        if self.text[comma : comma + 1] != ",":
            raise Odd
        return self.text[:comma] + self.text[comma + 1 : entry.begin].rstrip(" \t") + self.text[end:]


def _blocks(node: yaml.Node) -> Blocks:
    """Which parts of a value are blocks."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style:
        return None
    if isinstance(node, yaml.MappingNode):
        return {key.value: _blocks(value) for key, value in node.value}
    return [_blocks(item) for item in node.value]


def _rich(value: Any) -> bool:
    """Whether a value is a list of collections."""
    return isinstance(value, list) and any(isinstance(item, list | dict) for item in value)


def _comment(line: str) -> str:
    """A comment that a rest of a line consists of, with the blanks before it."""
    return line.rstrip() if _COMMENT.fullmatch(line) else ""

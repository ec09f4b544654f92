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
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import yaml

from facsimile.errors import FacsimileError, refusal
from facsimile.spec.mistakes import Place, cut, named, suggestion
from facsimile.spec.release import Specification
from facsimile.spec.salvage import keys_at
from facsimile.spec.text import LOADER, plain, read
from facsimile.spec.written import INDENT, WIDTH, filled, inline, item_lines, lines, scalar

_MARK = "\ufeff"
_BREAKS = "\r\n\x85\u2028\u2029"
_SPACE = re.compile(rf"(?:[ \t{_BREAKS}]+|(?<![^\s])#[^{_BREAKS}]*)*")
_REST = re.compile(rf"[^{_BREAKS}]*")
_COMMENT = re.compile(rf"[ \t]*(#[^{_BREAKS}]*)?")
_GONE: Any = object()


def replaced(text: str, place: Place, value: Any) -> str:
    """The text with this value at a place.

    A last key that is not there yet is added where the order of a specification's keys suggests; an index that
    is the length of a list appends.
    """
    return _changed(text, place, value)


def removed(text: str, place: Place) -> str:
    """The text without a key or an item, and without the comment lines that belong to it."""
    return _changed(text, place, _GONE)


def _changed(text: str, place: Place, value: Any) -> str:
    """The text changed at a place: there alone if that can be, else with more of what is around it."""
    mark = _MARK if text.startswith(_MARK) else ""
    text = text.removeprefix(_MARK)
    data = read(text).data
    if not isinstance(data, dict):
        raise _refused("it holds no keys.")
    wanted = _with(data, place, value)
    while True:
        try:
            found = _Page(text, data).edited(place, value)
            if read(found).data == wanted:
                return mark + found
        except (FacsimileError, _Odd) as error:
            if len(place) == 1 and isinstance(error, FacsimileError):
                raise
        if len(place) == 1:
            raise _refused(f"it is written so that `{cut(str(place[0]))}` cannot be changed alone.")
        place = place[:-1]
        value = at(wanted, place)


def _refused(problem: str) -> FacsimileError:
    return refusal("E210", problem=problem, suggestion="Write each key and its value on a line of its own.")


class _Odd(Exception):
    """A text that has no place for an edit."""


def at(data: Any, place: Place) -> Any:
    """The value at a place of plain data; a place that is not there is refused."""
    for i, part in enumerate(place):
        known = named(data)
        if part not in known:
            problem = f"The specification has no {cut('.'.join(map(str, place[: i + 1])))}."
            raise refusal("E213", problem=problem, suggestion=suggestion(str(part), list(map(str, known))))
        data = known[part]
    return data


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


@dataclass(frozen=True)
class _Entry:
    """A key with its value, or an item of a list: where it begins, and where its value may stand.

    `begin` is the first character of the key, or the dash of a block list; `after` is behind its colon or dash.
    """

    begin: int
    after: int
    value: yaml.Node
    colon: bool = True


class _Page:
    """A text beside its nodes."""

    def __init__(self, text: str, data: Any) -> None:
        self.text, self.data = text, data
        self.root = yaml.compose(text, Loader=LOADER)
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def edited(self, place: Place, value: Any) -> str:
        """The text with a value at a place, or without what stands there."""
        parent = self.node(place[:-1])
        entries = self.entries(parent)
        found = self.index(parent, place[-1])
        if found is None:
            if not entries:
                empty = [value] if isinstance(parent, yaml.SequenceNode) else {place[-1]: value}
                return self.whole(place[:-1], parent, empty)
            return self.added(place, parent, entries, value)
        if value is not _GONE:
            return self.exchanged(parent, entries[found], value)
        if parent.flow_style:
            return self.without_flow(entries, found)
        if len(entries) == 1:
            return self.whole(place[:-1], parent, [] if isinstance(parent, yaml.SequenceNode) else {})
        return self.without_block(entries, found, self.column(parent))

    # Where things stand

    def node(self, place: Place) -> yaml.CollectionNode:
        here = self.root
        for part in place:
            assert isinstance(here, yaml.CollectionNode)
            found = self.index(here, part)
            assert found is not None
            here = here.value[found][1] if isinstance(here, yaml.MappingNode) else here.value[found]
        assert isinstance(here, yaml.CollectionNode)
        return here

    def index(self, node: yaml.CollectionNode, part: str | int) -> int | None:
        """The number of the entry that a part of a place names."""
        if isinstance(node, yaml.SequenceNode):
            return part if isinstance(part, int) and part < len(node.value) else None
        names = [str(plain(key.value, key.style)) for key, _ in node.value]
        return names.index(str(part)) if str(part) in names else None

    def entries(self, node: yaml.CollectionNode) -> list[_Entry]:
        """All entries of a collection, in order."""
        found: list[_Entry] = []
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                colon = self.skipped(key.end_mark.index)
                there = self.text[colon : colon + 1] == ":"
                after = colon + 1 if there else key.end_mark.index
                found.append(_Entry(key.start_mark.index, after, value, there))
        elif node.flow_style:
            found = [_Entry(item.start_mark.index, item.start_mark.index, item) for item in node.value]
        else:
            dash = node.start_mark.index
            for item in node.value:
                if self.text[dash : dash + 1] != "-":
                    raise _Odd
                found.append(_Entry(dash, dash + 1, item))
                dash = self.skipped(self.end(item))
        return found

    def column(self, node: yaml.Node) -> int:
        """The column of a collection's keys or dashes."""
        return int(node.start_mark.column)

    def end(self, node: yaml.Node) -> int:
        """Where a value ends: its last character, not the comments and blank lines behind it."""
        end = int(node.end_mark.index)
        if isinstance(node, yaml.CollectionNode) and not node.flow_style:
            last = node.value[-1]
            return self.end(last[1] if isinstance(node, yaml.MappingNode) else last)
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            begin = node.start_mark.index
            header = self.rest(begin)
            return end if "+" in header else begin + len(self.text[begin:end].rstrip(f" \t{_BREAKS}"))
        return end

    def skipped(self, index: int) -> int:
        """The first character from here on that is no blank, break or comment."""
        found = _SPACE.match(self.text, index)
        assert found is not None
        return found.end()

    def rest(self, index: int) -> str:
        """What is left of a line."""
        found = _REST.match(self.text, index)
        assert found is not None
        return found.group()

    def line_start(self, index: int) -> int:
        while index and self.text[index - 1] not in _BREAKS:
            index -= 1
        return index

    def next_line(self, index: int) -> int:
        """The beginning of the line after the one that holds this character."""
        end = index + len(self.rest(index))
        return end + (2 if self.text[end : end + 2] == "\r\n" else 1 if end < len(self.text) else 0)

    def put(self, begin: int, end: int, new: list[str]) -> str:
        return self.text[:begin] + self.newline.join(new) + self.text[end:]

    # What is done there

    def whole(self, place: Place, node: yaml.CollectionNode, value: Any) -> str:
        """Another value for all of a collection."""
        if place:
            parent = self.node(place[:-1])
            found = self.index(parent, place[-1])
            assert found is not None
            return self.exchanged(parent, self.entries(parent)[found], value)
        keys = lines(value, -INDENT, 0, block=True)
        return self.put(node.start_mark.index, self.end(node), keys[1:] if len(keys) > 1 else [inline(value)])

    def exchanged(self, parent: yaml.CollectionNode, entry: _Entry, value: Any) -> str:
        """Another value for an entry."""
        begin = entry.value.start_mark.index
        end = max(len(self.text[: self.end(entry.value)].rstrip(f" \t{_BREAKS}")), entry.after)
        if parent.flow_style:
            lead = "" if entry.colon else ": "
            lead = lead or (" " if begin == entry.after and isinstance(parent, yaml.MappingNode) else "")
            return self.put(begin, end, self.flowing(lead, value, begin, parent))
        blocks = isinstance(entry.value, yaml.CollectionNode) and not entry.value.flow_style
        same = isinstance(value, dict if isinstance(entry.value, yaml.MappingNode) else list)
        column, used = self.column(parent), entry.after - self.line_start(entry.after)
        new = lines(value, column, used, block=blocks and same)
        if isinstance(parent, yaml.SequenceNode):
            new = item_lines(value, column, block=blocks and same)
            new[0] = new[0][1:]
        gap = self.text[entry.after : begin]
        if not blocks and len(new) == 1 and gap.strip(" \t") == "" and gap:
            return self.put(begin, end, [new[0][1:]])
        behind = _comment(self.rest(entry.after)) if any(c in gap for c in _BREAKS) else ""
        if blocks:
            end += len(self.rest(end))
        elif not behind and len(new) > 1:
            behind = _comment(self.rest(end))
            end += len(behind)
        return self.put(entry.after, end, [new[0] + behind, *new[1:]])

    def flowing(self, lead: str, value: Any, index: int, parent: yaml.Node) -> list[str]:
        """A value within brackets, from this character on; a long list of words takes several lines."""
        start = self.line_start(index)
        words = isinstance(value, list) and value and not any(isinstance(v, list | dict) for v in value)
        if not words or index - start + len(lead) + len(inline(value)) <= WIDTH:
            return [lead + inline(value)]
        depth = len(self.rest(start)) - len(self.rest(start).lstrip(" "))
        return [f"{lead}[", *filled([scalar(v, flow=True) for v in value], " " * (depth + INDENT))]

    def added(self, place: Place, parent: yaml.CollectionNode, entries: list[_Entry], value: Any) -> str:
        """One more key, or one more item at the end."""
        name = place[-1]
        before = len(entries) - 1 if isinstance(parent, yaml.SequenceNode) else self.before(place, parent)
        word = "" if isinstance(parent, yaml.SequenceNode) else f"{scalar(name, flow=True)}:"
        if parent.flow_style:
            lead = f"{word} " if word else ""
            return self.added_flow(parent, entries, before, lead, value)
        column = self.column(parent)
        if word:
            first, *rest = lines(
                value, column, column + len(word), block=not column and isinstance(value, dict)
            )
            new = [word + first, *rest]
        else:
            likes = [e.value for e in entries if isinstance(e.value, yaml.CollectionNode)]
            new = item_lines(value, column, block=bool(likes) and not likes[-1].flow_style)
        margin = " " * column
        if before < 0:
            return self.put(entries[0].begin, entries[0].begin, [*new, margin])
        end = self.end(entries[before].value)
        end = max(end, entries[before].after)
        new[0] = margin + new[0]
        apart = [""] if self.apart(entries, before) else []
        if end and self.text[end - 1] in _BREAKS:
            return self.put(end, end, [*apart, *new, ""])
        end += len(self.rest(end))
        return self.put(end, end, ["", *apart, *new])

    def added_flow(
        self, parent: yaml.CollectionNode, entries: list[_Entry], before: int, lead: str, value: Any
    ) -> str:
        if before < 0:
            begin = entries[0].begin
            new = self.flowing(lead, value, begin, parent)
            return self.put(begin, begin, [*new[:-1], new[-1] + ", "])
        last = entries[before]
        end = max(self.end(last.value), last.after)
        starts = [self.line_start(entry.begin) for entry in entries]
        listed = len(set(starts)) == len(starts) > 1
        start, length = self.line_start(end), len(lead) + len(inline(value)) + len(", ]")
        if listed or (
            end - start + length > WIDTH and starts[before] != self.line_start(parent.start_mark.index)
        ):
            at = starts[before]
            margin = self.text[at:][: len(self.rest(at)) - len(self.rest(at).lstrip(" \t"))]
            return self.put(end, end, [",", margin + lead + inline(value)])
        return self.put(end, end, self.flowing(f", {lead}", value, end, parent))

    def before(self, place: Place, parent: yaml.CollectionNode) -> int:
        """The entry that a new key follows: the last one before it in the order of a specification."""
        order = keys_at(Specification, self.data, place[:-1])
        if place[-1] not in order:
            return len(parent.value) - 1
        names = [str(plain(key.value, key.style)) for key, _ in parent.value]
        earlier = [
            (order.index(n), i) for i, n in enumerate(names) if n in order[: order.index(str(place[-1]))]
        ]
        return max(earlier)[1] if earlier else -1

    def apart(self, entries: list[_Entry], before: int) -> bool:
        """Whether blank lines part the entries around a new one."""
        first = before if before + 1 < len(entries) else before - 1
        if first < 0:
            return False
        gap = self.text[self.end(entries[first].value) : entries[first + 1].begin]
        return any(not line.strip() for line in re.split("\r\n|[\r\n\x85\u2028\u2029]", gap)[1:-1])

    def without_block(self, entries: list[_Entry], found: int, column: int) -> str:
        """Without an entry of a block and the comment lines above it; blank lines do not pile up."""
        entry = entries[found]
        start, end = self.line_start(entry.begin), max(self.end(entry.value), entry.after)
        stop = end if self.text[end - 1] in _BREAKS else self.next_line(end)
        if self.text[start : entry.begin].strip(" \t"):
            return self.put(entry.begin, _blanks(self.text, stop), [""])
        while start and self.is_comment(above := self.line_start(_broken(self.text, start)), column):
            start = above
        parted = not start or not self.text[self.line_start(_broken(self.text, start)) : start].strip()
        while parted and stop < len(self.text) and not self.rest(stop).strip():
            stop = self.next_line(stop)
        return self.put(start, stop, [""])

    def is_comment(self, start: int, column: int) -> bool:
        return self.rest(start)[: column + 1] == " " * column + "#"

    def without_flow(self, entries: list[_Entry], found: int) -> str:
        """Without an entry between brackets and its comma; comments stay."""
        entry = entries[found]
        end = max(self.end(entry.value), entry.after)
        comma = self.skipped(end)
        if self.text[comma : comma + 1] == ",":
            first = self.put(end, comma + 1, [self.text[end:comma]])
            stop = end + len(first[end:]) - len(first[end:].lstrip(" \t"))
            return first[: entry.begin] + first[stop:]
        if len(entries) == 1:
            return self.put(entry.begin, end, [""])
        previous = entries[found - 1]
        comma = self.skipped(max(self.end(previous.value), previous.after))
        if self.text[comma : comma + 1] != ",":
            raise _Odd
        return self.text[:comma] + self.text[comma + 1 : entry.begin].rstrip(" \t") + self.text[end:]


def _comment(line: str) -> str:
    """A comment that a rest of a line consists of, with the blanks before it."""
    found = _COMMENT.fullmatch(line)
    return found.group().rstrip() if found and found.group(1) else ""


def _blanks(text: str, index: int) -> int:
    """The first character from here on that is no blank and no break."""
    while index < len(text) and text[index] in f" \t{_BREAKS}":
        index += 1
    return index


def _broken(text: str, start: int) -> int:
    """Before the line break that ends the line above."""
    return start - 2 if text[:start].endswith("\r\n") else start - 1

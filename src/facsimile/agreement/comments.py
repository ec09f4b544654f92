"""Comments of a specification's text: what each says, and which item it speaks of.

A comment behind a key or a value speaks of it. One on a line of its own speaks of what follows in its column,
or, where it is indented deeper than what follows, of the part that ends there. Comments before the first key
speak of the file; where there are several with blank lines between, the last one speaks of the key below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import yaml

from facsimile.spec.marked import BREAKS, Marked, names
from facsimile.spec.mistakes import Place

Side = Literal["head", "above", "behind", "tail"]
_COMMENT = re.compile(rf"#[^{BREAKS}]*")


@dataclass(frozen=True)
class Comment:
    """Words from the number sign on; the place that they speak of, and on which side of it they stand.

    `tail` is inside a collection, after its last part. `apart`: a blank line follows.
    """

    words: str
    place: Place
    side: Side
    apart: bool = False


@dataclass(frozen=True)
class _Spot:
    """A key or an item: from where to where it is written, and in which column."""

    place: Place
    begin: int
    end: int
    column: int


@dataclass(frozen=True)
class _Region:
    """What stands within the outermost brackets of an item."""

    place: Place
    begin: int
    end: int
    parts: tuple[_Spot, ...]


def comments(marked: Marked) -> tuple[Comment, ...]:
    """All comments of a text, in their order."""
    return tuple(_Found(marked, list(_spots(marked, marked.root, ()))).all())


def _spots(marked: Marked, node: yaml.CollectionNode, place: Place) -> Iterator[_Spot | _Region]:
    """Keys and items in their order, and what is within brackets."""
    parts = range(len(node.value)) if isinstance(node, yaml.SequenceNode) else names(node)
    found: list[_Spot] = []
    for part, entry in zip(parts, marked.entries(node), strict=True):
        here, value = (*place, part), entry.value
        column = entry.begin - marked.line_start(entry.begin)
        found.append(_Spot(here, entry.begin, max(marked.end(value), entry.after), column))
        if not node.flow_style:
            yield found[-1]
            if isinstance(value, yaml.CollectionNode):
                yield from _spots(marked, value, here)
    if node.flow_style:
        yield _Region(place, node.start_mark.index, node.end_mark.index, tuple(found))


def _scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield from _scalars(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item)


class _Found:
    """The comments of one text."""

    def __init__(self, marked: Marked, spots: list[_Spot | _Region]) -> None:
        self.marked, self.text = marked, marked.text
        self.block = [spot for spot in spots if isinstance(spot, _Spot)]
        self.regions = [spot for spot in spots if isinstance(spot, _Region)]
        self.columns = {spot.place: spot.column for spot in self.block}

    def all(self) -> Iterator[Comment]:
        """Each comment with its place."""
        found: list[Comment] = []
        for begin in self.begins():
            words, start = self.marked.rest(begin).rstrip(), self.marked.line_start(begin)
            follows = self.marked.next_line(begin)
            apart = follows < len(self.text) and not self.marked.rest(follows).strip()
            if not self.text[start:begin].strip(" \t"):
                found.append(Comment(words, *self.alone(begin, begin - start), apart))
            else:
                found.append(Comment(words, self.behind(begin, start), "behind"))
        first = [comment for comment in found if self.block and comment.place == self.block[0].place]
        ends = [i for i, comment in enumerate(first) if comment.side == "above"]
        parted = [i for i in ends if first[i].apart]
        head = set(map(id, first[: (parted or ends)[-1] + 1])) if ends else set()
        yield from (replace(c, place=(), side="head") if id(c) in head else c for c in found)

    def begins(self) -> Iterator[int]:
        """Where comments begin: outside of every scalar, or behind the sign of a block scalar."""
        at = 0
        for node in sorted(_scalars(self.marked.root), key=lambda node: node.start_mark.index):
            begin, end = node.start_mark.index, node.end_mark.index
            yield from (found.start() for found in _COMMENT.finditer(self.text, at, begin))
            if node.style in ("|", ">"):
                header = self.marked.rest(begin)
                yield from [begin + header.index("#")] if "#" in header else []
            at = max(at, end)
        yield from (found.start() for found in _COMMENT.finditer(self.text, at))

    def region(self, index: int) -> _Region | None:
        """The brackets within which a character stands."""
        return next((region for region in self.regions if region.begin < index < region.end), None)

    def alone(self, index: int, column: int) -> tuple[Place, Side]:
        """What a comment on a line of its own speaks of."""
        region = self.region(index)
        if region is not None:
            after = next((part for part in region.parts if part.begin > index), None)
            last: Side = "tail" if region.parts else "behind"
            return (region.place, last) if after is None else (after.place, "above")
        before = next((spot for spot in reversed(self.block) if spot.begin < index), None)
        after = next((spot for spot in self.block if spot.begin > index), None)
        for holder, margin in self.holders(before):
            ended = after is None or (after.place[: len(holder)] != holder and margin > after.column)
            if ended and margin <= column:
                return holder, "tail"
        return ((), "tail") if after is None else (after.place, "above")

    def holders(self, spot: _Spot | None) -> Iterator[tuple[Place, int]]:
        """The collections that hold a part, the innermost first, each with its column."""
        place = () if spot is None else spot.place
        while place:
            yield place[:-1], self.columns[place]
            place = place[:-1]

    def behind(self, index: int, start: int) -> Place:
        """What a comment at the end of a line speaks of: what ends there, else what begins there."""
        region = self.region(index)
        if region is not None:
            before = [part for part in region.parts if part.begin < index]
            return before[-1].place if before else region.place
        ends = [spot for spot in self.block if start < spot.end <= index and spot.begin < index]
        begins = [spot for spot in self.block if start <= spot.begin < index]
        found = [spot for spot in ends if self.marked.line_start(spot.end) == start] or begins
        return max(found, key=lambda spot: spot.begin).place if found else ()

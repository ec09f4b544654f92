"""A text beside its nodes: where keys, dashes, values and comments stand, to the character."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from facsimile.spec.mistakes import Place
from facsimile.spec.text import LOADER, plain

BREAKS = "\r\n\x85\u2028\u2029"
"""What ends a line of YAML."""
BLANKS = f" \t{BREAKS}"
_SPACE = re.compile(rf"(?:[{BLANKS}]+|(?<!\S)#[^{BREAKS}]*)*")
_REST = re.compile(rf"[^{BREAKS}]*")


class Odd(Exception):
    """A text that is written in a way that nobody expects."""


@dataclass(frozen=True)
class Entry:
    """A key with its value, or an item of a list.

    `begin` is the first character of the key or the item, of a block list its dash; `after` is behind the colon
    or the dash.
    """

    begin: int
    after: int
    value: yaml.Node
    colon: bool = True


class Marked:
    """A text and its nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = yaml.compose(text, Loader=LOADER)

    def node(self, place: Place) -> yaml.CollectionNode:
        """The collection at a place."""
        here: yaml.CollectionNode = self.root
        for part in place:
            found = self.index(here, part)
            assert found is not None
            here = here.value[found][1] if isinstance(here, yaml.MappingNode) else here.value[found]
        return here

    def index(self, node: yaml.CollectionNode, part: str | int) -> int | None:
        """The number of the entry that a part of a place names."""
        listed = isinstance(node, yaml.SequenceNode)
        known: list[str | int] = [*range(len(node.value))] if listed else names(node)
        return known.index(part) if part in known else None

    def entries(self, node: yaml.CollectionNode) -> list[Entry]:
        """All entries of a collection, in order."""
        if isinstance(node, yaml.MappingNode):
            return [self.pair(key, value) for key, value in node.value]
        if node.flow_style:
            return [Entry(item.start_mark.index, item.start_mark.index, item) for item in node.value]
        found: list[Entry] = []
        dash = node.start_mark.index
        for item in node.value:
            if self.text[dash : dash + 1] != "-":
                raise Odd
            found.append(Entry(dash, dash + 1, item))
            dash = self.skipped(self.end(item))
        return found

    def pair(self, key: yaml.Node, value: yaml.Node) -> Entry:
        """A key with its value; between braces the colon may be left out."""
        colon = self.skipped(key.end_mark.index)
        there = self.text[colon : colon + 1] == ":"
        return Entry(key.start_mark.index, colon + 1 if there else key.end_mark.index, value, there)

    def end(self, node: yaml.Node) -> int:
        """Where a value ends: behind its last character, before the comments and blank lines that follow."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style:
            last = node.value[-1]
            return self.end(last[1] if isinstance(node, yaml.MappingNode) else last)
        begin, end = int(node.start_mark.index), int(node.end_mark.index)
        clipped = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">") and "+" not in self.rest(begin)
        return begin + len(self.text[begin:end].rstrip(BLANKS)) if clipped else end

    def skipped(self, index: int) -> int:
        """The first character from here on that is no blank, break or comment."""
        found = _SPACE.match(self.text, index)
        return found.end() if found else index

    def rest(self, index: int) -> str:
        """What is left of a line."""
        found = _REST.match(self.text, index)
        return found.group() if found else ""

    def line_start(self, index: int) -> int:
        """The beginning of the line that holds this character."""
        return max(self.text.rfind(end, 0, index) for end in BREAKS) + 1

    def line_above(self, start: int) -> int:
        """The beginning of the line before the one that begins here."""
        return self.line_start(start - (2 if self.text[:start].endswith("\r\n") else 1))

    def next_line(self, index: int) -> int:
        """The beginning of the line after the one that holds this character."""
        end = index + len(self.rest(index))
        return end + (2 if self.text.startswith("\r\n", end) else 1 if end < len(self.text) else 0)

    def margin(self, start: int) -> str:
        """The blanks with which a line begins."""
        line = self.rest(start)
        return line[: len(line) - len(line.lstrip(" \t"))]


def names(node: yaml.CollectionNode) -> list[str | int]:
    """The keys of a mapping, as a place names them."""
    return [str(plain(key.value, key.style)) for key, _ in node.value]

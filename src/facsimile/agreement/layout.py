"""One layout for specifications.

Two blanks for each level; sections and the keys of columns in the order of their models; a blank line between
sections and between columns; short collections in one line, long ones wrapped at 112 characters; quotes only
where they are needed. Every comment stays beside what it speaks of (`agreement/comments.py`).

What comes out is read again: it has the same canonical form, the same comments on the same items, and is laid
out as itself. Otherwise nothing is returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import yaml

from facsimile.agreement.comments import Comment, Side, comments
from facsimile.errors import FacsimileError, refusal
from facsimile.spec.columns import Column
from facsimile.spec.edits import at
from facsimile.spec.load import loads, parse
from facsimile.spec.marked import Marked, Odd, names
from facsimile.spec.mistakes import Place
from facsimile.spec.release import Specification
from facsimile.spec.written import INDENT, WIDTH, filled, inline, lines, scalar

LONGEST_WORD, LONGEST_PLAIN = 40, 60
_SECTIONS = ("columns", "families", "criteria")


def laid_out(text: str, name: str = "the specification") -> str:
    """The text of a specification in the one layout; refused where it would not say the same."""
    before = loads(text).canonical()
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        found = _Layout(text).text()
        again = _Layout(found).text()
        same = loads(found).canonical() == before and parse(found)[0] == parse(text)[0]
    except (FacsimileError, Odd):
        raise refusal("E221", file=name, problem="it is written in a way that is not expected") from None
    if not same or again != found:
        raise refusal("E221", file=name, problem="it would not say the same")
    if _spoken(text) != _spoken(found):
        raise refusal("E221", file=name, problem="a comment would be lost, or speak of something else")
    return found


def _spoken(text: str) -> Counter[tuple[str, Place]]:
    """The comments of a text and what they speak of."""
    return Counter((comment.words, comment.place) for comment in comments(Marked(text)))


class _Layout:
    """A text, its data and its comments by what they speak of."""

    def __init__(self, text: str) -> None:
        self.data = parse(text)[0]
        self.marked = Marked(text)
        self.comments: dict[tuple[Place, Side], list[Comment]] = {}
        for comment in comments(self.marked):
            self.comments.setdefault((comment.place, comment.side), []).append(comment)
        self.spoken = {place[:length] for place, _ in self.comments for length in range(len(place))}
        self.spoken |= {place for place, side in self.comments if side == "tail"}

    def text(self) -> str:
        """The whole text anew."""
        head = [*self.notes((), "head", 0), *self.notes((), "behind", 0)]
        found = [*head, *self.block(self.marked.root, (), 0)]
        return "\n".join(found) + "\n"

    def block(self, node: yaml.CollectionNode, place: Place, column: int) -> list[str]:
        """A collection as a block whose keys or dashes stand in a column."""
        parts = list(self.parts(node, place, column))
        found: list[str] = []
        for i, (lines_, apart) in enumerate(parts):
            if i and (apart or parts[i - 1][1]) and self.parted(place):
                found.append("")
            found += lines_
        return [*found, *self.notes(place, "tail", column)]

    def parted(self, place: Place) -> bool:
        """Whether blank lines stand between the parts of a collection: sections, and columns."""
        return place in ((), ("columns",))

    def parts(self, node: yaml.CollectionNode, place: Place, column: int) -> Iterator[tuple[list[str], bool]]:
        """The lines of each part, and whether it is one that blank lines stand around."""
        for part, value in self.ordered(node, place):
            here = (*place, part)
            margin = " " * column
            word = "-" if isinstance(part, int) else scalar(self.key(place, part), flow=True) + ":"
            first, *rest = self.value(value, here, column, column + len(word))
            behind = [comment.words for comment in self.comments.get((here, "behind"), ())]
            note = f"  {behind[-1]}" if behind else ""
            above = [*self.notes(here, "above", column), *(margin + words for words in behind[:-1])]
            if isinstance(part, int) and not first and not note and not rest[0].lstrip().startswith("#"):
                first, rest = " " + rest[0].lstrip(" "), rest[1:]
            block = isinstance(value, yaml.CollectionNode) and bool(rest)
            yield [*above, margin + word + first + note, *rest], block

    def ordered(self, node: yaml.CollectionNode, place: Place) -> list[tuple[str | int, yaml.Node]]:
        """The parts of a collection: sections and keys of columns in the order of a specification."""
        if isinstance(node, yaml.SequenceNode):
            return list(enumerate(node.value))
        found = list(zip(names(node), (value for _, value in node.value), strict=True))
        column = len(place) == 2 and place[0] == "columns"
        order = list(Column.model_fields if column else Specification.model_fields if not place else ())
        return sorted(found, key=lambda part: order.index(str(part[0])) if part[0] in order else len(order))

    def key(self, place: Place, part: str | int) -> Any:
        """A key as it is in the data: a text, or true, false or null."""
        return next(key for key in at(self.data, place) if str(key) == part)

    def notes(self, place: Place, side: Side, column: int) -> list[str]:
        """The comment lines on one side of an item; a blank line between them stays."""
        found: list[str] = []
        for comment in self.comments.get((place, side), ()):
            found += [" " * column + comment.words, *([""] if comment.apart else [])]
        while side == "tail" and found and not found[-1]:
            found.pop()
        return found

    def value(self, node: yaml.Node, place: Place, column: int, used: int) -> list[str]:
        """A value behind its key or dash; the first line continues that of the key."""
        data = at(self.data, place)
        if isinstance(node, yaml.ScalarNode):
            kept = self.kept(node, column)
            return kept or lines(data, column, used)
        assert isinstance(node, yaml.CollectionNode)
        whole, ends = inline(data), "[]" if isinstance(data, list) else "{}"
        if not node.value or not (place in self.spoken or self.holds_lines(node) or self.tall(place, data)):
            one_line = place[:1] == ("configurations",) and len(place) == 2
            if one_line or (used + 1 + len(whole) <= WIDTH and not _quoted(data)):
                return [f" {whole}"]
            words = _words(data)
            if words and max(map(len, words)) <= LONGEST_WORD:
                return [f" {ends[0]}", *filled(words, " " * (column + INDENT), ends[1])]
        return ["", *self.block(node, place, column + INDENT)]

    def tall(self, place: Place, data: Any) -> bool:
        """Whether a collection is a block however short it is: sections, their parts, and lists of such."""
        if isinstance(data, list):
            return any(isinstance(item, dict) for item in data)
        if len(place) == 1 or (len(place) == 2 and place[0] in _SECTIONS):
            return True
        if len(place) == 3 and place[0] == "constraints":
            return True
        return len(place) == 3 and place[2] in ("alternatives", "hierarchy", "grid")

    def holds_lines(self, node: yaml.Node) -> bool:
        """Whether a value is, or holds, a text in lines of its own that is too long for less."""
        if isinstance(node, yaml.ScalarNode):
            return node.style in ("|", ">") and ("\n" in node.value or len(node.value) > LONGEST_PLAIN)
        parts = (pair[1] for pair in node.value) if isinstance(node, yaml.MappingNode) else node.value
        return any(map(self.holds_lines, parts))

    def kept(self, node: yaml.ScalarNode, column: int) -> list[str] | None:
        """A text in lines of its own, as it is written; None for any other, or with an indent declared."""
        if not self.holds_lines(node):
            return None
        begin = node.start_mark.index
        header = self.marked.rest(begin).split("#")[0].strip()
        if any(sign.isdigit() for sign in header):
            return None
        end = node.end_mark.index if "+" in header else self.marked.end(node)
        body = self.marked.text[begin:end].split("\n")[1:]
        if "+" in header and body and not body[-1].strip():
            body.pop()
        margin = next((len(line) - len(line.lstrip(" ")) for line in body if line.strip()), 0)
        return [
            f" {header}",
            *((" " * (column + INDENT) + line[margin:]) if line.strip() else "" for line in body),
        ]


def _words(data: Any) -> list[str]:
    """The items of a collection of words, each as it is written within brackets; none where it holds more."""
    values = list(data.values()) if isinstance(data, dict) else data
    if any(isinstance(value, list | dict) for value in values):
        return []
    if isinstance(data, list):
        return [scalar(item, flow=True) for item in data]
    return [f"{scalar(key, flow=True)}: {scalar(item, flow=True)}" for key, item in data.items()]


def _quoted(data: Any) -> bool:
    """Whether keys hold a text that needs quotes within brackets, and none in a line of its own."""
    values = data.values() if isinstance(data, dict) else ()
    return any(
        isinstance(value, str) and scalar(value) == value != scalar(value, flow=True) for value in values
    )

"""The directive `api`: a function or a class of the program, from its docstring, as Markdown.

The program is read, not imported, so the site needs none of its packages. Docstrings are Markdown; examples in
them are fenced for it.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import ClassVar

import griffe
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SOURCE = Path(__file__).parents[1] / "src"
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
LABELS = ("classmethod", "staticmethod", "abstractmethod")
HIDDEN = re.compile(r"\s*# (?:doctest|type|noqa).*$", re.MULTILINE)


@cache
def package() -> griffe.Object | griffe.Alias:
    """The program, parsed once."""
    return griffe.load("facsimile", search_paths=[SOURCE], allow_inspection=False)


def words(found: griffe.Object | griffe.Alias) -> str:
    """A docstring with its examples fenced."""
    text = found.docstring.value if found.docstring else ""
    return EXAMPLE.sub(lambda example: f"```pycon\n{HIDDEN.sub('', example[0])}\n```", text)


def signature(name: str, function: griffe.Function) -> str:
    """How it is called, `self` and `cls` left out."""
    shown = []
    star = False
    for parameter in function.parameters:
        if parameter.name in ("self", "cls"):
            continue
        kind = parameter.kind
        if kind is griffe.ParameterKind.keyword_only and not star:
            shown.append("*")
        star = star or kind in (griffe.ParameterKind.keyword_only, griffe.ParameterKind.var_positional)
        mark = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(kind, "")
        typed = f": {parameter.annotation}" if parameter.annotation else ""
        default = f" = {parameter.default}" if parameter.default is not None and not mark else ""
        shown.append(f"{mark}{parameter.name}{typed}{default}")
    returned = f" -> {function.returns}" if function.returns else ""
    return f"{name}({', '.join(shown)}){returned}"


def block(kind: str, heading: str, text: str, depth: int, *options: str) -> str:
    """A directive of Sphinx around a text: the outer one has the longer fence."""
    fence = "`" * depth
    return "\n".join([f"{fence}{{py:{kind}}} {heading}", *options, "", text, fence, ""])


def members(kind: griffe.Class, names: frozenset[str]) -> Iterator[str]:
    """What a class offers by itself, in the order of its file: members with words, or those named."""
    for name, member in kind.members.items():
        wanted = name in names if names else not name.startswith("_") and member.docstring is not None
        if not wanted or member.is_alias:
            continue
        labels = [
            f":{label}:"
            for label in ("classmethod", "staticmethod", "abstractmethod")
            if label in member.labels
        ]
        if isinstance(member, griffe.Function):
            yield block("method", signature(name, member), words(member), 4, *labels)
        elif isinstance(member, griffe.Attribute):
            typed = [f":type: {member.annotation}"] if member.annotation else []
            yield block("attribute", name, words(member), 4, *typed)


class Api(SphinxDirective):
    """`{api} facsimile.check`; `:from:`: where it stands if that is elsewhere; `:members:`: which to show."""

    required_arguments = 1
    option_spec: ClassVar = {"from": str, "members": str}

    def run(self) -> list[nodes.Node]:
        """The words of the docstring, under a heading that can be linked to."""
        name = self.arguments[0]
        home = self.options.get("from", name).removeprefix("facsimile.")
        found = package()[home]
        found = found.final_target if isinstance(found, griffe.Alias) else found
        if not found.docstring:
            raise self.error(f"{name} has no docstring")
        if isinstance(found, griffe.Function):
            return self.parse_text_to_nodes(block("function", signature(name, found), words(found), 5))
        if not isinstance(found, griffe.Class):
            raise self.error(f"{name} is neither a function nor a class")
        chosen = frozenset(self.options.get("members", "").split())
        text = "\n".join([words(found), "", *members(found, chosen)])
        return self.parse_text_to_nodes(block("class", name, text, 5))


def setup(app: Sphinx) -> dict[str, bool]:
    """The directive, by its name."""
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

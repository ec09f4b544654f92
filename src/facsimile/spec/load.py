"""Reading a specification: strict YAML in, frozen models out, every mistake with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from facsimile.spec.mistakes import Mistake, Place, refused
from facsimile.spec.model import Model
from facsimile.spec.release import Specification
from facsimile.spec.salvage import Enough, Salvage
from facsimile.spec.text import Text, read, read_limited

M = TypeVar("M", bound=Model)
NAMELESS = "there is a mistake that cannot be named"
Finder = Callable[[Any], Iterator[Mistake]]


def load(path: Path, *checks: Finder) -> Specification:
    """Read a specification file; further checks add their mistakes to those of the file."""
    return loads(read_limited(path), *checks, folder=path.parent)


def loads(content: bytes | str, *checks: Finder, folder: Path | None = None) -> Specification:
    """Read a specification from its text; paths in it start at the folder."""
    return read_as(Specification, read(content), *checks, folder=folder)


def parse(content: bytes | str) -> tuple[Any, Mapping[Place, int]]:
    """Plain data from strict YAML, and the line of every value."""
    text = read(content)
    if text.twice:
        raise refused(text.twice, text.lines)
    return text.data, text.lines


def validated(data: Any) -> Specification:
    """A specification from plain data."""
    return read_as(Specification, Text(data, {}, ()))


def read_as(model: type[M], text: Text, *checks: Finder, folder: Path | None = None) -> M:
    """A text as a model; all its mistakes become one refusal.

    The first check also looks at a model that has mistakes; the others want one without.
    """
    salvage = Salvage()
    with suppress(Enough):
        try:
            made, whole = model.model_validate(text.data, context=folder), not text.twice
        except ValidationError:
            made, whole = salvage.part(model, text.data), False
        for check in checks if whole else checks[:1]:
            salvage.check(made, check(made))
        if whole and not salvage.mistakes:
            return made
    raise refused([*text.twice, *salvage.found()] or [Mistake((), NAMELESS)], text.lines)


def schema() -> dict[str, Any]:
    """The JSON Schema of a specification, for editors."""
    found = Specification.model_json_schema(mode="validation")
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "facsimile specification"
    found["properties"]["facsimile"] = {"enum": [1, "1"], "description": "Version of this language."}
    found["properties"]["neighbours"] = {"const": "replace-one"}
    return found


def dump(specification: Specification) -> str:
    """The specification as YAML, in the order of its fields."""
    plain = specification.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100)

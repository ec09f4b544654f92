"""Reading a specification: strict YAML in, frozen models out, every refusal with its line.

Scalars stay text (so that `0.30` is exact, `010` keeps its zero and `no` is a word); only true, false and
null are themselves. Anchors, aliases, tags, duplicate keys and files over 1 MB are refused before anything
is built from them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from facsimile.errors import FacsimileError, refusal
from facsimile.spec.model import Model
from facsimile.spec.release import Specification

LARGEST = 1_000_000
DEEPEST = 30
LOOSE_BRACKETS = 500
_BOOLEANS = {"true": True, "false": False}
M = TypeVar("M", bound=Model)
Lines = dict[tuple[str | int, ...], int]


def load(path: Path) -> Specification:
    """Read a specification file."""
    return loads(read_limited(path))


def loads(content: bytes | str) -> Specification:
    """Read a specification from its text."""
    data, lines = parse(content)
    return validated(data, lines)


def parse(content: bytes | str) -> tuple[Any, Lines]:
    """Plain data from strict YAML, and the line of every value."""
    raw = content.encode() if isinstance(content, str) else content
    if len(raw) > LARGEST:
        raise refusal("E210", problem="it is too large.", construct="more than 1 MB")
    try:
        text = raw.decode("utf-8-sig")
        _check_events(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except UnicodeDecodeError:
        raise refusal("E210", problem="it is not UTF-8.", construct="other encodings") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise refusal("E210", line=line, problem="its syntax is broken.", construct="the mistake") from None
    except (yaml.YAMLError, RecursionError):
        raise refusal("E210", problem="it is not YAML.", construct="special characters") from None
    lines: Lines = {}
    data = _build(node, (), lines) if node is not None else None
    return data, lines


def validated(data: Any, lines: Lines | None = None) -> Specification:
    """A specification from plain data."""
    return validated_as(Specification, data, lines or {})


def validated_as(model: type[M], data: Any, lines: Lines) -> M:
    """Plain data as a model; the first problem becomes a refusal with its line."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _first_refusal(error, model, lines) from None


def read_limited(path: Path) -> bytes:
    """A small text file, whole."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError:
        raise refusal("E212") from None


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


def _check_events(text: str) -> None:
    """Refuse what a specification never needs, before memory is spent on it."""
    depth = 0
    for bracket in re.finditer(r"[\[\]{}]", text):
        depth = max(0, depth + (1 if bracket[0] in "[{" else -1))
        if depth > LOOSE_BRACKETS:
            raise refusal("E210", problem="it nests too deep.", construct="deep nesting")
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise refusal("E210", line=line, problem="it uses an anchor or alias.", construct="& and *")
        if getattr(event, "tag", None):
            raise refusal("E210", line=line, problem="it uses a tag.", construct="!")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise refusal("E210", line=line, problem="it nests too deep.", construct="deep nesting")
        if isinstance(event, yaml.DocumentStartEvent) and event.explicit and line > 1:
            raise refusal("E210", line=line, problem="it has several documents.", construct="---")


def _build(node: yaml.Node, path: tuple[str | int, ...], lines: Lines) -> Any:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        built: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = _scalar(key_node)
            line = key_node.start_mark.line + 1
            if key in built:
                raise refusal("E202", line=line, key=str(key))
            lines[(*path, str(key))] = line
            built[key] = _build(value_node, (*path, str(key)), lines)
            lines[(*path, str(key))] = line
        return built
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*path, i), lines) for i, item in enumerate(node.value)]
    return _scalar(node)


def _scalar(node: yaml.Node) -> Any:
    if not isinstance(node, yaml.ScalarNode):
        line = node.start_mark.line + 1
        raise refusal("E210", line=line, problem="a key is not a plain text.", construct="complex keys")
    if node.style is not None:
        return node.value
    if node.value in ("", "null", "~"):
        return None
    return _BOOLEANS.get(node.value, node.value)


def _first_refusal(error: ValidationError, model: type[Model], lines: Lines) -> FacsimileError:
    """The first problem in the order of the file; unknown keys before their consequences."""
    problems = sorted(error.errors(), key=lambda e: (e["type"] != "extra_forbidden", _line(e, lines) or 0))
    problem = problems[0]
    line = _line(problem, lines)
    kind = problem["type"]
    if kind == "extra_forbidden":
        key = str(problem["loc"][-1])
        return refusal("E205", line=line, key=key, suggestion=_nearest(key, problem, model))
    if re.fullmatch(r"E\d{3}", kind):
        context = {name: str(value) for name, value in problem.get("ctx", {}).items()}
        return refusal(kind, line=line, problem=problem["msg"], **context)
    if kind == "missing":
        place = ".".join(str(part) for part in problem["loc"][:-1] if isinstance(part, str))
        where = f" in {place}" if place else ""
        return refusal("E200", line=line, problem=f"The key {problem['loc'][-1]} is missing{where}.")
    text = problem["msg"].removeprefix("Value error, ")
    place = ".".join(str(part) for part in problem["loc"] if isinstance(part, str) and "[" not in part)
    sentence = f"{place}: {text}" if place and kind != "value_error" else text
    return refusal("E200", line=line, problem=sentence[:1].upper() + sentence[1:].rstrip(".") + ".")


def _line(problem: ErrorDetails, lines: Lines) -> int | None:
    """The line of the innermost part of the problem's path that stands in the file."""
    path: tuple[str | int, ...] = ()
    line = lines.get(())
    for part in problem["loc"]:
        if (*path, part) in lines:
            path = (*path, part)
            line = lines[path]
    return line


def _nearest(key: str, problem: ErrorDetails, model: type[Model]) -> str:
    known = _known_keys(model.model_json_schema(), problem["loc"][:-1])
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Known keys here: {', '.join(known)}." if known else "Remove it."


def _known_keys(whole: Mapping[str, Any], path: tuple[int | str, ...]) -> list[str]:
    """The keys that a schema allows at a path, walking its references."""
    here: Any = whole
    for part in path:
        here = _follow(here, whole)
        options = here.get("anyOf") or here.get("oneOf")
        if options and isinstance(part, str):
            named = [o for o in (_follow(o, whole) for o in options) if _is_branch(o, part)]
            here = named[0] if named else {}
            if part not in here.get("properties", {}):
                continue
        if isinstance(part, int):
            here = here.get("items", {})
        elif part in here.get("properties", {}):
            here = here["properties"][part]
        elif isinstance(here.get("additionalProperties"), Mapping):
            here = here["additionalProperties"]
    return sorted(_follow(here, whole).get("properties", {}))


def _is_branch(option: Mapping[str, Any], part: str) -> bool:
    """Whether pydantic's path element names this member of a union: by its tag or its class."""
    tag = option.get("properties", {}).get("criterion", {}).get("const")
    return part == tag or part == option.get("title") or part in option.get("properties", {})


def _follow(node: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in node:
        node = whole["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return node

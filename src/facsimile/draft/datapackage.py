"""Data packages: a description of tables in the form of Frictionless, versions 1 and 2.

A package has `resources`, each with a path and a schema; a resource may also stand alone. Numbers stay the
texts that they were written as: the 1 of an enumeration is the `1` of a CSV file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from facsimile.documents.metadata import TABLES
from facsimile.draft.description import Field, Kind, Malformed, Resource, bound, one_line

KINDS: dict[str, Kind] = {
    "integer": "number",
    "number": "number",
    "year": "number",
    "boolean": "category",
    "date": "date",
    "datetime": "date",
}
ISO = (None, "default", "any", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S")
"""Formats of dates that are read."""


def resources(content: bytes) -> list[Resource]:
    """The tables of a package that have a path and columns; of one of our bundles the released one is meant."""
    try:
        document = json.loads(content.decode("utf-8-sig"), parse_float=str, parse_int=str)
        json.dumps(document, ensure_ascii=False).encode()  # half a character, which JSON can spell, is no text
    except (ValueError, RecursionError):
        raise Malformed("it is no JSON") from None
    package = _mapping(document, "a package")
    listed = _list(package["resources"], "`resources`") if "resources" in package else [package]
    tables = [each for each in listed if isinstance(each, dict) and isinstance(each.get("schema"), dict)]
    title, ours = _words(package, "title"), "facsimile" in package
    return [_resource(each, title, ours) for each in tables if "fields" in each["schema"] and "path" in each]


def _resource(given: Mapping[str, Any], title: str, ours: bool) -> Resource:
    path = given["path"]
    if isinstance(path, list) and len(path) == 1:
        (path,) = path
    if not isinstance(path, str):
        raise Malformed("a table has a path that is not one text")
    schema = given["schema"]
    missing = _missing(schema.get("missingValues", []))
    fields = [_field(each, missing) for each in _list(schema["fields"], "`fields`")]
    by_name = {each.name: each for each in fields}
    if len(by_name) < len(fields):
        raise Malformed("it describes a column twice")
    name = str(given.get("name", ""))
    meant = not ours or name in [table["name"] for table in TABLES.values()]
    return Resource((name,), path, _words(given, "title") or title, by_name, meant)


def _field(given: Any, missing: tuple[str, ...]) -> Field:
    said = _mapping(given, "a column")
    name, kind = said.get("name"), KINDS.get(str(said.get("type")))
    if not isinstance(name, str) or not name:
        raise Malformed("a column has no name")
    rules = _mapping(said.get("constraints", {}), "`constraints`")
    labels = _labels(said.get("categories", rules.get("enum", [])))
    if kind == "date" and said.get("format") not in ISO:
        kind = None
    return Field(
        name=name,
        title=_words(said, "title") or _words(said, "description"),
        labels=labels,
        missing=_missing(said["missingValues"]) if "missingValues" in said else missing,
        kind="category" if labels else kind,
        bounds=(_bound(rules.get("minimum"), kind), _bound(rules.get("maximum"), kind)),
    )


def _labels(given: Any) -> dict[str, str]:
    """Values, or values with labels; a value without one is its own."""
    found = {}
    for each in _list(given, "a list of values"):
        value, label = (each.get("value"), each.get("label")) if isinstance(each, dict) else (each, None)
        text = _text(value)
        found[text] = one_line(label) if isinstance(label, str) and label.strip() else text
    return found


def _missing(given: Any) -> tuple[str, ...]:
    """What means that there is no value; nothing at all always does."""
    return tuple(text for text in _labels(given) if text)


def _bound(given: Any, kind: Kind | None) -> str | None:
    if given is None or kind not in ("number", "date"):
        return None
    if isinstance(given, str) and kind == "date":
        return given
    found = bound(given) if isinstance(given, str) else None
    if found is None:
        raise Malformed("a minimum or maximum is no number")
    return found


def _text(value: Any) -> str:
    """A value as a CSV file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    raise Malformed("a listed value is no text, number or truth value")


def _words(given: Mapping[str, Any], key: str) -> str:
    found = given.get(key)
    return one_line(found) if isinstance(found, str) else ""


def _mapping(given: Any, what: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Malformed(f"{what} is no mapping")
    return given


def _list(given: Any, what: str) -> list[Any]:
    if not isinstance(given, list):
        raise Malformed(f"{what} is no list")
    return given

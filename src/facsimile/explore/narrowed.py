"""The narrowed specification: a study's own text with what a plan decided; the rest and its comments stay.

What changes: the alternatives that are used, families, projection, forms and epsilons of the criteria, scheme,
selection and budget. What is promised (columns, rules, thresholds) stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import yaml

from facsimile.explore.options import Option
from facsimile.release.check import check
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import dump, loads, parse, validated
from facsimile.spec.release import Selection, Specification

Edit = tuple[int, int, str]
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_REPLACED = ("families", "projection", "statistic", "scheme", "selection", "budget")


def narrowed(source: str, option: Option, notes: Sequence[str]) -> str:
    """The text of the planned release, with notes at its head."""
    sections = dict(_sections(option))
    wanted = _wanted(source, option, sections)
    text = _edited(source, option, sections)
    if text is None or loads(text).canonical() != wanted.canonical():
        text = dump(wanted)
    check(loads(text))
    return "".join(f"# {note}\n" for note in notes) + text


def _sections(option: Option) -> Iterator[tuple[str, Any]]:
    """The plain data of what a plan decides, in the order of a specification."""
    yield "families", [_family(c.family, c.hyperparameters) for c in option.configurations]
    projection = option.configurations[0].projection
    yield "projection", {name: [value] for name, value in projection.items()}
    yield "statistic", "sharp"
    yield "scheme", option.scheme
    yield "selection", _selection(option.selection)
    parts = {"total": option.total, "generator": option.generator, "test": option.test, "once": option.once}
    yield "budget", {name: show_decimal(value) for name, value in parts.items() if value is not None}


def _family(family: str, hyperparameters: Mapping[str, str]) -> dict[str, Any]:
    grid = {name: [value] for name, value in hyperparameters.items()}
    return {"family": family, "grid": grid} if grid else {"family": family}


def _selection(selection: Selection) -> dict[str, str]:
    given = selection.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return {name: str(value) for name, value in given.items()}


def _wanted(source: str, option: Option, sections: Mapping[str, Any]) -> Specification:
    """The planned specification by its data, whatever its text looks like."""
    data = {**parse(source)[0], **sections}
    alternatives = option.configurations[0].alternatives
    data["columns"] = [
        {**column, "use": [alternatives[column["name"]]]} if len(column["alternatives"]) > 1 else column
        for column in data["columns"]
    ]
    data["criteria"] = [
        {**given, "epsilon": show_decimal(epsilon)} | ({"statistic": "sharp"} if "statistic" in given else {})
        for given, epsilon in zip(data["criteria"], _epsilons(loads(source), option), strict=True)
    ]
    return validated(data)


def _epsilons(specification: Specification, option: Option) -> list[Fraction]:
    planned = dict(option.measured)
    return [planned[criterion.name] for criterion in specification.criteria]


def _edited(source: str, option: Option, sections: Mapping[str, Any]) -> str | None:
    """The source with each changed piece replaced where it stands; None where it is written in one line."""
    root = yaml.compose(source, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return None
    keys = {key.value: (key, value) for key, value in root.value}
    starts = sorted(key.start_mark.index for key, _ in keys.values())
    edits = list(_column_edits(keys["columns"][1], option))
    edits += _criterion_edits(keys["criteria"][1], _epsilons(loads(source), option))
    for name in _REPLACED:
        text = _block(name, sections[name])
        if name in keys:
            begin = keys[name][0].start_mark.index
            end = next((start for start in starts if start > begin), len(source))
            edits.append((begin, begin + _length(source[begin:end]), text))
        else:
            place = keys["criteria"][0].start_mark.index
            edits.append((place, place, text))
    for begin, end, text in sorted(edits, reverse=True):
        source = source[:begin] + text + source[end:]
    return source


def _length(section: str) -> int:
    """A section without the blank lines and comments that belong to the next."""
    lines = section.splitlines(keepends=True)
    while lines and re.fullmatch(r"\s*(#.*)?\s*", lines[-1]):
        lines.pop()
    return sum(map(len, lines))


def _column_edits(columns: yaml.SequenceNode, option: Option) -> Iterator[Edit]:
    chosen = option.configurations[0].alternatives
    for column in columns.value:
        keys = {key.value: (key, value) for key, value in column.value}
        key, alternatives = keys["alternatives"]
        text = f"[{_scalar(chosen[keys['name'][1].value])}]"
        if len(alternatives.value) < 2:
            continue
        if "use" in keys:
            node = keys["use"][1]
            yield node.start_mark.index, node.end_mark.index, text
        else:
            after = ", " if column.flow_style else "\n" + " " * key.start_mark.column
            yield key.start_mark.index, key.start_mark.index, f"use: {text}{after}"


def _criterion_edits(criteria: yaml.SequenceNode, epsilons: Sequence[Fraction]) -> Iterator[Edit]:
    for criterion, epsilon in zip(criteria.value, epsilons, strict=True):
        for key, value in criterion.value:
            if key.value == "epsilon":
                yield value.start_mark.index, value.end_mark.index, show_decimal(epsilon)
            elif key.value == "statistic":
                yield value.start_mark.index, value.end_mark.index, "sharp"


def _block(name: str, value: Any) -> str:
    """A section as people write it."""
    if isinstance(value, str):
        return f"{name}: {_scalar(value)}\n"
    if isinstance(value, Mapping):
        return f"{name}:\n" + "".join(f"  {key}: {_inline(given)}\n" for key, given in value.items())
    lines = [f"{name}:\n"]
    for family in value:
        lines.append(f"  - family: {family['family']}\n")
        if "grid" in family:
            lines.append("    grid:\n")
            lines += [f"      {key}: {_inline(given)}\n" for key, given in family["grid"].items()]
    return "".join(lines)


def _inline(value: str | list[str]) -> str:
    return _scalar(value) if isinstance(value, str) else "[" + ", ".join(map(_scalar, value)) + "]"


def _scalar(text: str) -> str:
    """A word or number as it is; anything else quoted."""
    plain = _WORD.fullmatch(text) and text.lower() not in ("true", "false", "null")
    return text if plain else json.dumps(text, ensure_ascii=False)

"""The narrowed specification: a study's own text with what a plan decided; the rest and its comments stay.

A plan changes which configurations are drawn, the epsilons of the criteria, scheme, selection and budget; the
paper's rule changes the first only. A design changes the families, and which configurations are drawn. What is
allowed and promised (columns, rules, families, forms, thresholds)
stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import yaml

from facsimile.errors import FacsimileError, refusal
from facsimile.explore.options import Option, shared_with
from facsimile.release.check import check
from facsimile.spec.calibration import Calibration
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import dump, loads, parse, validated
from facsimile.spec.release import Selection, Specification
from facsimile.spec.space import MOST_LISTED, Configuration

Edit = tuple[int, int, str]
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_LISTED = "configurations"
KEPT = "kept"
"""An epsilon that stays as it is written."""


def narrowed(source: str, option: Option, notes: Sequence[str]) -> str:
    """The text of the planned release, with notes at its head."""
    sections = {_LISTED: listed(loads(source), option.configurations), **dict(_sections(option))}
    shared = loads(source).criteria if option.scheme == "measured" else ()
    epsilons: dict[str, str | None] = {criterion.name: None for criterion in shared}
    epsilons |= {name: show_decimal(epsilon) for name, epsilon in option.measured}
    for name in shared_with(loads(source), option.once):
        epsilons[name] = show_decimal(option.once or Fraction(0))
    return _written(source, sections, epsilons, notes)


def restricted(source: str, configurations: Iterable[Configuration], notes: Sequence[str]) -> str:
    """The text of the same release that draws these configurations only, with notes at its head."""
    return _written(source, {_LISTED: listed(loads(source), configurations)}, {}, notes)


def designed(source: str, configuration: Configuration, notes: Sequence[str]) -> str:
    """The text of the same release with one family and one configuration of it, with notes at its head."""
    specification, own = loads(source), configuration.hyperparameters
    grid = {"family": configuration.family, "grid": {name: [text] for name, text in own.items()}}
    sections: dict[str, Any] = {"families": [grid]}
    if specification.configurations or prod(map(len, _choices(specification))) > 1:
        sections[_LISTED] = listed(specification, [configuration])
    return _written(source, sections, {}, notes)


def with_calibration(text: str, calibration: Calibration) -> str:
    """The text of the same release, with factors for intervals by replicates."""
    return _written(text, {"calibration": calibration.model_dump(mode="json")}, {}, ())


def listed(specification: Specification, configurations: Iterable[Configuration]) -> list[dict[str, Any]]:
    """Configurations as a specification lists them, without what need not be said."""
    space = specification.space
    found = []
    for one in configurations:
        parts = {
            "alternatives": {k: v for k, v in one.alternatives.items() if len(space.alternatives[k]) > 1},
            "family": one.family,
            "hyperparameters": dict(one.hyperparameters),
            "projection": {k: v for k, v in one.projection.items() if len(space.projections[k]) > 1},
        }
        found.append({key: value for key, value in parts.items() if value})
    return found


def _choices(specification: Specification) -> Iterator[Sequence[str]]:
    """The alternatives of each column, and what the projection may be."""
    space = specification.space
    yield from (*space.alternatives.values(), *space.projections.values())


def _sections(option: Option) -> Iterator[tuple[str, Any]]:
    """The plain data of what a plan decides beside the configurations, in the order of a specification."""
    yield "scheme", option.scheme
    yield "selection", _selection(option.selection)
    parts = {"total": option.total, "generator": option.generator, "test": option.test, "once": option.once}
    parts["delta"] = option.delta or None
    yield "budget", {name: show_decimal(value) for name, value in parts.items() if value is not None}


def _selection(selection: Selection) -> dict[str, str]:
    given = selection.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return {name: str(value) for name, value in given.items()}


def _written(
    source: str, sections: Mapping[str, Any], epsilons: Mapping[str, str | None], notes: Sequence[str]
) -> str:
    """The source with these sections and epsilons (None: left out); written anew where that is no matter of a
    few edits."""
    names = [criterion.name for criterion in loads(source).criteria]
    data = {**parse(source)[0], **sections}
    data["criteria"] = [
        {
            **{k: v for k, v in given.items() if k != "epsilon"},
            **_epsilon(epsilons.get(name, given.get("epsilon"))),
        }
        for given, name in zip(data["criteria"], names, strict=True)
    ]
    many = len(sections.get(_LISTED, ()))
    if many > MOST_LISTED:
        raise refusal("E420", asked=f"{many:,}")
    wanted = validated(data)
    text = _edited(source, sections, [epsilons.get(name, KEPT) for name in names])
    if text is None or _read(text, sections).canonical() != wanted.canonical():
        text = dump(wanted)
    check(_read(text, sections))
    return "".join(f"# {note}\n" for note in notes) + text


def _read(text: str, sections: Mapping[str, Any]) -> Specification:
    """What was written, read again; a list may have more values than a file may hold."""
    try:
        return loads(text)
    except FacsimileError as error:
        if error.code != "E210":
            raise
        raise refusal("E420", asked=f"{len(sections.get(_LISTED, ())):,}") from None


def _edited(source: str, sections: Mapping[str, Any], epsilons: Sequence[str | None]) -> str | None:
    """The source with each changed piece replaced where it stands; None where it is written in one line."""
    root = yaml.compose(source, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return None
    keys = {key.value: (key, value) for key, value in root.value}
    starts = sorted(key.start_mark.index for key, _ in keys.values())

    def span(name: str) -> tuple[int, int]:
        begin = keys[name][0].start_mark.index
        end = next((start for start in starts if start > begin), len(source))
        return begin, begin + _length(source[begin:end])

    edits = list(_criterion_edits(keys["criteria"][1], epsilons))
    for name, value in sections.items():
        if name in keys:
            edits.append((*span(name), _block(name, value)))
        elif name == _LISTED:
            place = span("projection")[1]
            edits.append((place, place, _block(name, value)))
        else:
            place = keys["criteria"][0].start_mark.index
            edits.append((place, place, _block(name, value)))
    for begin, end, text in sorted(edits, reverse=True):
        source = source[:begin] + text + source[end:]
    return source


def _length(section: str) -> int:
    """A section without the blank lines and comments that belong to the next."""
    lines = section.splitlines(keepends=True)
    while lines and re.fullmatch(r"\s*(#.*)?\s*", lines[-1]):
        lines.pop()
    return sum(map(len, lines))


def _epsilon(value: Any) -> dict[str, Any]:
    return {} if value is None else {"epsilon": value}


def _criterion_edits(criteria: yaml.SequenceNode, epsilons: Sequence[str | None]) -> Iterator[Edit]:
    """New epsilons; one that was left out stands in front, and one that is not needed any more goes."""
    for criterion, epsilon in zip(criteria.value, epsilons, strict=True):
        place = next((i for i, (key, _) in enumerate(criterion.value) if key.value == "epsilon"), None)
        if epsilon == KEPT or (epsilon is None and place is None):
            continue
        if place is not None and epsilon is None:
            key, value = criterion.value[place]
            last = place + 1 == len(criterion.value)
            begin = criterion.value[place - 1][1].end_mark.index if last else key.start_mark.index
            yield begin, value.end_mark.index if last else criterion.value[place + 1][0].start_mark.index, ""
        elif place is not None:
            value = criterion.value[place][1]
            yield value.start_mark.index, value.end_mark.index, str(epsilon)
        else:
            first = criterion.value[0][0].start_mark
            after = ", " if criterion.flow_style else "\n" + " " * first.column
            yield first.index, first.index, f"epsilon: {epsilon}{after}"


def _block(name: str, value: Any) -> str:
    """A section as people write it: a word, keys, or a list with one line for each item."""
    if isinstance(value, str):
        return f"{name}: {_scalar(value)}\n"
    if isinstance(value, Mapping):
        return f"{name}:\n" + "".join(f"  {key}: {_inline(given)}\n" for key, given in value.items())
    if name == "families":
        return yaml.safe_dump({name: value}, sort_keys=False, width=100, allow_unicode=True)
    return f"{name}:\n" + "".join(f"  - {_inline(item)}\n" for item in value)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_inline(given)}" for key, given in value.items()) + "}"
    return _scalar(str(value))


def _scalar(text: str) -> str:
    """A word or number as it is; anything else quoted."""
    plain = _WORD.fullmatch(text) and text.lower() not in ("true", "false", "null")
    return text if plain else json.dumps(text, ensure_ascii=False)

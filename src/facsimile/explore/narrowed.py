"""The narrowed specification: a study's own text with what a plan decided; the rest and its comments stay.

A plan changes which configurations are drawn, the epsilons of the criteria, scheme, selection and budget; the
paper's rule changes the first only. A design changes the families, and which configurations are drawn. What is
allowed and promised (columns, rules, families, forms, thresholds)
stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from facsimile.errors import FacsimileError, refusal
from facsimile.explore.options import Option, shared_with
from facsimile.release.check import check
from facsimile.spec.calibration import Calibration
from facsimile.spec.decimals import show_decimal
from facsimile.spec.edits import removed, replaced
from facsimile.spec.load import dump, loads, parse, validated
from facsimile.spec.release import Selection, Specification
from facsimile.spec.space import MOST_LISTED, Configuration
from facsimile.spec.written import OneLine

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
    found: list[dict[str, Any]] = []
    for one in configurations:
        parts = {
            "alternatives": {k: v for k, v in one.alternatives.items() if len(space.alternatives[k]) > 1},
            "family": one.family,
            "hyperparameters": dict(one.hyperparameters),
            "projection": {k: v for k, v in one.projection.items() if len(space.projections[k]) > 1},
        }
        found.append(OneLine({key: value for key, value in parts.items() if value}))
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
    try:
        text = _edited(source, sections, [epsilons.get(name, KEPT) for name in names])
        if loads(text).canonical() != wanted.canonical():
            text = dump(wanted)
        check(loads(text))
    except FacsimileError as error:
        raise refusal("E420", asked=f"{many:,}") if error.code == "E210" else error from None
    return "".join(f"# {note}\n" for note in notes) + text


def _edited(source: str, sections: Mapping[str, Any], epsilons: Sequence[str | None]) -> str:
    """The source with each changed piece replaced where it stands."""
    given = parse(source)[0]["criteria"]
    for i, epsilon in enumerate(epsilons):
        place = ("criteria", i, "epsilon")
        if epsilon is None and "epsilon" in given[i]:
            source = removed(source, place)
        elif epsilon not in (KEPT, None):
            source = replaced(source, place, epsilon)
    for name, value in sections.items():
        source = replaced(source, (name,), value)
    return source


def _epsilon(value: Any) -> dict[str, Any]:
    return {} if value is None else {"epsilon": value}

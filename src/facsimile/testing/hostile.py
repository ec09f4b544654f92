"""Hostile parameters: a question is refused for all tables, or answered for all within its sensitivity.

Whoever may ask could try parameters that fail on one table only: that a question fails would then be an answer,
for nothing. `check` sees no table. What passes it is put to every table of a tiny domain, with the noise off.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np

from facsimile.privacy.mechanisms import Mechanism
from facsimile.privacy.queries import Query, Scores
from facsimile.table.domain import Domain
from facsimile.testing.contract import Broken, require
from facsimile.testing.mechanisms import moves
from facsimile.testing.neighbours import Neighbours, every_pair

LEAST = -(2**63)
"""What rounding NaN to 64 bits gives."""
WHOLE = (LEAST, -(2**62), -2, -1, 0, 1, 2, 3, 5, 2**53, 2**62, 2**63, 10**30)
RATIOS = (*map(Fraction, ("0", "-1/2", "1/3", "1", "1e30", "1e-30")), 0.5, None, 2)
NAMES = ("a", "b", "z", "")


def check_parameters(
    mechanism: Mechanism[Any],
    domain: Domain,
    n: int,
    *,
    changes: int = 100,
    others: Sequence[Any] = (),
    pairs: Iterable[Neighbours] | None = None,
) -> int:
    """Exchange each number of a good question for hostile ones, then change one to three parts of it, many
    times: no failure may depend on the table.

    `others` are queries and scores that one of the question's own may be exchanged for. Returns how many
    hostile questions were asked.
    """
    pairs = list(every_pair(domain, n) if pairs is None else pairs)
    require(not refused(lambda: mechanism, domain, n, pairs), "a good question is refused")
    hostile = [*exchanges(mechanism)]
    hostile += [(f"seed {seed}", partial(_changed, mechanism, seed, others)) for seed in range(changes)]
    for where, make in hostile:
        try:
            refused(make, domain, n, pairs)
        except Broken as broken:
            broken.add_note(f"changed at {where}")
            raise
    return len(hostile)


def _changed(mechanism: Mechanism[Any], seed: int, others: Sequence[Any]) -> Mechanism[Any]:
    """One to three random changes."""
    random = Random(seed)
    for _ in range(random.randint(1, 3)):
        mechanism = mutated(random, mechanism, others)
    return mechanism


def exchanges(value: Any, where: str = "") -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every way to exchange one number inside a value, an array's first and last among them, for a hostile one:
    where it stands, and what makes the value anew."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            for place, part in exchanges(getattr(value, field.name), f"{where}.{field.name}"):
                yield place, partial(_with_field, value, field.name, part)
    elif isinstance(value, tuple):
        for index, member in enumerate(value):
            for place, part in exchanges(member, f"{where}[{index}]"):
                yield place, partial(_with_member, value, index, part)
    elif isinstance(value, np.ndarray) and value.dtype == np.int64 and value.size:
        for index in {0, value.size - 1}:
            for number in (least for least in WHOLE if LEAST <= least < -LEAST):
                yield f"{where}[{index}] = {number}", partial(_with_entry, value, index, number)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from ((f"{where} = {number}", partial(_given, number)) for number in WHOLE)
    elif isinstance(value, Fraction):
        yield from ((f"{where} = {number}", partial(_given, number)) for number in RATIOS)


def _given(value: Any) -> Any:
    return value


def _with_field(value: Any, name: str, part: Callable[[], Any]) -> Any:
    return dataclasses.replace(value, **{name: part()})


def _with_member(value: tuple[Any, ...], index: int, part: Callable[[], Any]) -> tuple[Any, ...]:
    return (*value[:index], part(), *value[index + 1 :])


def _with_entry(value: Any, index: int, number: int) -> Any:
    changed = value.copy()
    changed.flat[index] = number
    return changed


def refused(make: Callable[[], Mechanism[Any]], domain: Domain, n: int, pairs: Iterable[Neighbours]) -> bool:
    """Whether a question is refused when it is built or by its check; if not, it must keep its sensitivity."""
    try:
        mechanism = make()
    except Exception:
        return True
    try:
        mechanism.check(domain, n)
    except ValueError:
        return True
    require(moves(mechanism, pairs)[0] <= 1, "one record moves it by more than it asks noise for")
    return False


def mutated(random: Random, value: Any, others: Sequence[Any] = ()) -> Any:
    """A value with one part of it changed, of the same kind or almost."""
    if isinstance(value, Query | Scores) and others and random.random() < 0.1:
        return random.choice(others)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and dataclasses.fields(value):
        field = random.choice(dataclasses.fields(value)).name
        return dataclasses.replace(value, **{field: mutated(random, getattr(value, field), others)})
    if isinstance(value, tuple):
        return _changed_tuple(random, value, others)
    if isinstance(value, np.ndarray):
        return _changed_array(random, value)
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, str):
        return random.choice(NAMES)
    if isinstance(value, int):
        return random.choice(WHOLE)
    return value if isinstance(value, Query | Scores) else random.choice(RATIOS)


def _changed_tuple(random: Random, value: tuple[Any, ...], others: Sequence[Any]) -> Any:
    how = random.choice(("shorter", "longer", "empty", "list", "swapped", *["part"] * 6))
    if how == "part" and value:
        place = random.randrange(len(value))
        return (*value[:place], mutated(random, value[place], others), *value[place + 1 :])
    longer = (*value, *value[-1:])
    return {"shorter": value[:-1], "longer": longer, "list": list(value), "swapped": value[::-1]}.get(how, ())


def _changed_array(random: Random, value: Any) -> Any:
    how = random.choice(("shorter", "longer", "turned", "deeper", "float", "object", "rounded", *["entry"] * 3))
    if how == "entry":
        if value.dtype == np.bool_:
            return value & (np.arange(value.size).reshape(value.shape) % 2 > 0)
        changed = value.copy()
        changed.flat[random.randrange(value.size)] = max(LEAST, min(2**63 - 1, random.choice(WHOLE)))
        return changed
    hidden = np.where(np.arange(value.size).reshape(value.shape) == 0, np.nan, value.astype(np.float64))
    with np.errstate(invalid="ignore"):
        rounded = np.rint(hidden).astype(np.int64)
    return {
        "shorter": value[:-1],
        "longer": np.concatenate([value, value[-1:]]),
        "turned": value.T,
        "deeper": value[None],
        "float": value.astype(np.float64),
        "object": value.astype(object),
        "rounded": rounded,
    }[how]

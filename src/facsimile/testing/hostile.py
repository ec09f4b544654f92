"""Hostile parameters: a question is refused for all tables, or answered for all within its sensitivity.

Whoever may ask could try parameters that fail on one table only: that a question fails would then be an answer,
for nothing. `check` sees no table. What passes it is put to every table of a tiny domain, with the noise off.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random
from typing import Any

import numpy as np

from facsimile.privacy.budget import Rho
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


Rebuild = Callable[[Any], Any]


def exchanges(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every way to exchange one number inside a value, an array's first and last among them, for a hostile one:
    where it stands, and what makes the value anew."""
    for where, part, rebuild in parts(value):
        if isinstance(part, np.ndarray) and part.dtype == np.int64 and part.size:
            for index, number in product({0, part.size - 1}, WHOLE):
                if LEAST <= number < -LEAST:
                    yield f"{where}[{index}] = {number}", partial(rebuild, _with_entry(part, index, number))
        elif type(part) in (int, Fraction, Rho):
            for other in WHOLE if type(part) is int else RATIOS:
                yield f"{where} = {other}", partial(rebuild, other)


def parts(
    value: Any, where: str = "", rebuild: Rebuild = lambda part: part
) -> Iterator[tuple[str, Any, Rebuild]]:
    """Every part of a value and the value itself: where it stands, and what makes the value anew with another
    in its place."""
    yield where, value, rebuild
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            inner = _inside(rebuild, partial(_with_field, value, field.name))
            yield from parts(getattr(value, field.name), f"{where}.{field.name}", inner)
    elif isinstance(value, tuple):
        for index, member in enumerate(value):
            inner = _inside(rebuild, partial(_with_member, value, index))
            yield from parts(member, f"{where}[{index}]", inner)


def _inside(outer: Rebuild, inner: Rebuild) -> Rebuild:
    return lambda part: outer(inner(part))


def _with_field(value: Any, name: str, part: Any) -> Any:
    return dataclasses.replace(value, **{name: part})


def _with_member(value: tuple[Any, ...], index: int, part: Any) -> tuple[Any, ...]:
    return (*value[:index], part, *value[index + 1 :])


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

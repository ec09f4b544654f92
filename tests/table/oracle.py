"""What becomes of a raw record, told in the plainest way: the order of steps in encoding.py, one by one."""

from __future__ import annotations

import copy
import datetime
import math
import re
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from facsimile.spec.bins import CategoryBin, MissingBin, NumberBin
from facsimile.spec.columns import Column, Constant, MissingCode
from facsimile.spec.constraints import Condition, Constraint, fold, holds, holds_on_bins
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from specs import SMALL

LEFT_OUT = "left out"
MALFORMED = object()
UNKNOWN = "some other text"
Outcome = str | tuple[int, ...] | frozenset[tuple[str, str]]


def specified(columns: list[dict[str, Any]], policy: str = "declared", raw: Any = ()) -> Specification:
    """A specification of these columns and raw constraints."""
    data = copy.deepcopy(SMALL)
    data["columns"] = [{"description": "A column", **column} for column in columns]
    rules = [{"source": "a test", **({"never": rule} if isinstance(rule, str) else rule)} for rule in raw]
    data["constraints"] = {"policy": policy, "raw": rules}
    return validated(data)


@cache
def parsed(text: str, names: tuple[str, ...]) -> Condition:
    return Constraint(never=text, source="a test").condition(names)


def outcome(specification: Specification, record: Mapping[str, Any]) -> Outcome:
    """The codes of a record, or that it is left out, or the refusals (error code, column) it causes."""
    found = as_written(specification, record)
    return LEFT_OUT if isinstance(found, tuple) and impossible(specification, found) else found


def impossible(specification: Specification, codes: tuple[int, ...]) -> bool:
    """Whether a raw constraint holds on every value of the bins of these codes."""
    bins = {axis.name: axis.bins[code] for axis, code in zip(specification.finest(), codes, strict=True)}
    rules = (parsed(rule.never, specification.names) for rule in specification.constraints.raw)
    return any(fold(rule, lambda atom: holds_on_bins(atom, bins), all, any) for rule in rules)


def as_written(specification: Specification, record: Mapping[str, Any]) -> Outcome:
    """The same while raw constraints are asked about the record as it is written only."""
    columns = specification.columns
    values: dict[str, Any] = {c.name: understood(c, record[c.raw_name]) for c in columns}
    malformed = [c for c in columns if values[c.name] is MALFORMED]
    if refused := [c for c in malformed if c.malformed == "refuse"]:
        return frozenset(("E140", c.name) for c in refused)
    if any(c.malformed == "drop" for c in malformed):
        return LEFT_OUT
    values |= {c.name: None for c in malformed}
    for c in columns:
        if values[c.name] is None and isinstance(c.missing, Constant):
            values[c.name] = c.missing.value if c.is_category else Fraction(c.missing.value)
        if values[c.name] == UNKNOWN and c.outside in (c.values or ()):
            values[c.name] = c.outside
    if specification.constraints.policy == "clamp":
        values = clamped(specification, values)
    elif any(holds(parsed(rule.never, specification.names), values) for rule in specification.constraints.raw):
        return LEFT_OUT
    found = [placed(c, values[c.name]) for c in columns]
    if LEFT_OUT in found:
        return LEFT_OUT
    codes = tuple(code for code in found if isinstance(code, int))
    if len(codes) == len(found):
        return codes
    return frozenset((str(f), c.name) for f, c in zip(found, columns, strict=True) if not isinstance(f, int))


def understood(column: Column, raw: Any) -> Any:
    """None, MALFORMED, an exact number on the column's grid, or a category."""
    if isinstance(raw, str):
        raw = re.sub("^[ \t\n\r\v\f]+|[ \t\n\r\v\f]+$", "", raw)
    if raw is None or raw == "":
        return None
    if column.values is not None:
        text = plain_text(raw)
        meant = text if column.map is None else column.map.get(text, UNKNOWN)
        return meant if meant in column.values else UNKNOWN
    if column.part is not None:
        day = day_of(raw)
        if day is None:
            return MALFORMED
        quarter = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3}.get(day.month, 4)
        return Fraction(quarter if column.part == "quarter" else getattr(day, column.part))
    number = number_of(raw, column)
    if number is None:
        return MALFORMED
    rounded = Fraction(math.floor(number / column.step)) * column.step
    return rounded if rounded == number or column.round == "down" else MALFORMED


def plain_text(raw: Any) -> str:
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, float | Decimal):
        value = float(raw)
        near = math.isfinite(value) and abs(value) < 1e15 and abs(value - round(value)) <= 1e-6
        return str(round(value)) if near else UNKNOWN
    return str(raw)


def day_of(raw: Any) -> datetime.date | None:
    if isinstance(raw, datetime.date):
        return raw
    zone = "( ?(Z|[+-][0-9][0-9](:?[0-9][0-9])?))?"
    time = f"([T ][0-9][0-9]:[0-9][0-9](:[0-9][0-9](\\.[0-9]+)?)?{zone})?"
    if not isinstance(raw, str) or not re.fullmatch(f"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{time}", raw):
        return None
    try:
        return datetime.date(int(raw[:4]), int(raw[5:7]), int(raw[8:10]))
    except ValueError:
        return None


def number_of(raw: Any, column: Column) -> Fraction | None:
    """The exact number; a binary one that is very large or within a millionth of a step is on the grid."""
    if isinstance(raw, str):
        with localcontext(prec=2000):
            return Fraction(Decimal(raw)) if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", raw, re.A) else None
    if isinstance(raw, float):
        if not math.isfinite(raw):
            return None
        if abs(raw) >= 10 ** (15 - column.decimals):
            return Fraction(round(raw))
        steps = raw * 10**column.decimals
        return round(steps) * column.step if abs(steps - round(steps)) <= 1e-6 else Fraction(raw)
    return Fraction(raw) if isinstance(raw, int | Decimal) and math.isfinite(raw) else None


def clamped(specification: Specification, values: dict[str, Any]) -> dict[str, Any]:
    found = dict(values)
    for c in specification.columns:
        bins = [b for b in c.finest.bins if isinstance(b, NumberBin)]
        if bins and c.outside == "clip" and found[c.name] is not None:
            low, high = bins[0].low, bins[-1].high
            found[c.name] = found[c.name] if low is None else max(low, found[c.name])
            found[c.name] = found[c.name] if high is None else min(high, found[c.name])
    for rule in specification.constraints.raw:
        if holds(parsed(rule.never, specification.names), found):
            for name, text in (rule.clamp or {}).items():
                found[name] = text if specification.column(name).is_category else Fraction(text)
    return found


def placed(column: Column, value: Any) -> int | str:
    """The code of a value, LEFT_OUT, or an error code."""
    bins = column.finest.bins
    if value is None:
        if isinstance(column.missing, MissingCode):
            return next(i for i, b in enumerate(bins) if isinstance(b, MissingBin))
        return LEFT_OUT if column.missing == "drop" else "E141"
    for code, b in enumerate(bins):
        if isinstance(b, NumberBin) and b.contains(value):
            return code
        if isinstance(b, CategoryBin) and value in b.values:
            return code
    if column.outside == "clip":
        numbers = [b for b in bins if isinstance(b, NumberBin)]
        return 0 if numbers[0].low is not None and value < numbers[0].low else len(numbers) - 1
    return LEFT_OUT if column.outside == "drop" else "E142"

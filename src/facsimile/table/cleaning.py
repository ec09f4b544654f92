"""Cleaning: what a raw field says, as one integer, the same on every engine and in Python.

A number or date part becomes an integer in units of 10^-decimals; a category becomes its place among the
column's values, or one more for any other text. Beside it there are marks:

    NULL     missing: nothing, or blanks only
    BAD      malformed: no number or no date
    ±FAR     a number beyond any bound (so that no engine overflows on 400 digits)

A number in text is ^[+-]?[0-9]+([.][0-9]+)?$ after trimming ASCII blanks: `1_000`, `0x10`, `1e3`, `inf`, `nan`
and digits of other scripts are malformed. Regular expressions avoid backslashes, which engines escape
differently, and `$` before a final line end, which they read differently (texts are trimmed first).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import floor, isfinite
from typing import Any

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import Column as Expression
from ibis.expr.types import Value

from facsimile.spec.columns import Column

DIGITS = 15
FAR: int = 10**DIGITS
BAD = -(2**62)
BLANKS = " \t\n\r\v\f"
FENCED = ("sqlite", "postgres")
"""Engines that would merge sub-queries, and clean a field in each branch that uses it."""
NUMBER = "^[+-]?[0-9]+([.][0-9]+)?$"
_OTHER_SIGNS = "[^-+.0-9]"
_DATE = (
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?[ ]?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
_OTHER_IN_DATES = "[^-+:.TZ 0-9]"
_LARGEST_DOUBLE = 1.7976931348623157e308
_TINY = 1e-6
_NO_TEXT = "\n"


def big(value: int) -> Value:
    """A 64-bit literal, so that no engine computes in 32 bits."""
    return ibis.literal(value, "int64")


def prepared(raw: Expression) -> Value:
    """A text without blanks at its ends, NULL when nothing is left; other types as they are.

    DuckDB trims in `cleaned`, and only what is not in canonical form.
    """
    engine = _engine(raw)
    text = raw.cast("string") if raw.type().is_unknown() else raw
    if not text.type().is_string() or engine == "duckdb":
        return text
    if engine == "sqlite":
        return ibis.cases((_is_real(text), text), else_=_trimmed(text))
    # An enumeration of PostgreSQL has no text functions until it is joined to a text.
    return _trimmed(text + "" if engine == "postgres" else text)


def cleaned(column: Column, ready: Expression) -> Value:
    """The integer of a prepared field."""
    engine = _engine(ready)
    if ready.type().is_string() and engine == "duckdb":
        test, value = _canonical(column, ready)
        return ibis.cases((test, value), else_=_clean(column, _trimmed(ready)))
    if ready.type().is_string() and engine == "sqlite":
        return ibis.cases((_is_real(ready), _clean(column, ready.cast("float64"))), else_=_clean(column, ready))
    return _clean(column, ready)


def _trimmed(raw: Expression) -> Value:
    return raw.strip().nullif("")


def _engine(raw: Expression) -> str:
    return str(raw.get_backend().name)


def _is_real(raw: Expression) -> Value:
    """Whether a field of SQLite, whose columns have no type, is a binary number."""
    return raw.typeof() == "real"


def _canonical(column: Column, text: Expression) -> tuple[Value, Value]:
    """A fast path: text that is exactly what DuckDB prints for the value it reads is that value."""
    if column.values is not None:
        value = _category(column.values, column.map, text)
        return value < len(column.values), value
    if column.part:
        day = text.try_cast("date")
        found = (day.cast("string") == text) & (text.length() == len("2000-01-01"))
        return found, _date_part(column.part, day).cast("int64")
    number = text.try_cast("int32")
    return number.cast("string") == text, number.cast("int64") * big(10**column.decimals)


def _clean(column: Column, ready: Expression) -> Value:
    if column.values is not None:
        return _category(column.values, column.map, ready)
    return _date_part(column.part, ready) if column.part else _number(column, ready)


def can_be_malformed(column: Column, raw: dt.DataType) -> bool:
    """Whether a source of this type can hold a value that is no number or no date."""
    return not (raw.is_temporal() if column.part else raw.is_integer() or raw.is_boolean())


def _number(column: Column, raw: Expression) -> Value:
    kind, digits, down = raw.type(), column.decimals, column.round == "down"
    if kind.is_string():
        return _text_number(raw, digits, down)
    if kind.is_boolean():
        return ibis.cases((raw.isnull(), ibis.null("int64")), (raw, big(10**digits)), else_=big(0))
    if kind.is_integer() and not kind.is_uint64():
        return _integer(raw, digits)
    if kind.is_floating():
        return _double(raw.cast("float64"), digits, down)
    return _text_number(_decimal_text(raw) if kind.is_decimal() else raw.cast("string"), digits, down)


def _decimal_text(raw: Expression) -> Value:
    """The digits of a decimal; what is below a millionth is on no grid, and one engine writes it 1E-7."""
    if raw.type().scale is not None and raw.type().scale <= 6:
        return raw.cast("string")
    size = raw.cast("float64")
    return ibis.cases(
        (size == 0, "0"),
        ((size > 0) & (size < _TINY), "0.0000001"),
        ((size < 0) & (size > -_TINY), "-0.0000001"),
        else_=raw.cast("string"),
    )


def _integer(raw: Expression, digits: int) -> Value:
    if digits == 0:
        return raw
    far = 10 ** (DIGITS - digits)
    inside = raw.between(-far, far).ifelse(raw, ibis.literal(0, raw.type())).cast("int64") * big(10**digits)
    marked = ibis.cases((raw > far, big(FAR)), (raw < -far, big(-FAR)), else_=inside)
    return ibis.cases((raw.isnull(), ibis.null("int64")), else_=marked)


def _text_number(text: Expression, digits: int, down: bool) -> Value:
    """Text surgery: the integer part and the first `digits` decimals, joined and cast.

    The guard stands inside the cast's argument, so the cast is total even where CASE is not lazy.
    """
    number = text.re_search(NUMBER) & ~text.re_search(_OTHER_SIGNS)
    near = text.re_search(f"^[+-]?0*[0-9]{{1,{DIGITS - digits}}}([.][0-9]+)?$")
    off_grid = text.re_search("[.]" + "[0-9]" * digits + "[0-9]*[1-9]")
    negative = text.startswith("-")
    safe = (number & near).ifelse(text, "0")
    joined = safe.re_extract("^([+-]?[0-9]+)", 1)
    if digits:
        joined = joined + ((safe + "." + "0" * digits).re_extract("[.]([0-9]*)", 1) + "0" * digits).left(digits)
    value = joined.cast("int64")
    if down:
        value = value - (off_grid & negative).ifelse(big(1), big(0))
    malformed = ~number if down else ~number | off_grid
    return ibis.cases(
        (text.isnull(), ibis.null("int64")),
        (malformed, big(BAD)),
        (near, value),
        (negative, big(-FAR)),
        else_=big(FAR),
    )


def _double(raw: Value, digits: int, down: bool) -> Value:
    """A binary number within a millionth of the grid is on it; NaN and infinities are malformed.

    NaN sorts above every number, and no product here overflows or underflows. The malformed test comes
    first because one engine takes NaN for NULL.
    """
    far = float(10 ** (DIGITS - digits))
    calm = ((raw < far) & (raw > -far) & ((raw > 1e-20) | (raw < -1e-20))).ifelse(raw, 0.0)
    scaled = calm * float(10**digits)
    near = (scaled + 0.5).floor()
    on_grid = (scaled - near).abs() <= 1e-6
    return ibis.cases(
        ((raw > _LARGEST_DOUBLE) | (raw < -_LARGEST_DOUBLE), big(BAD)),
        (raw.isnull(), ibis.null("int64")),
        (raw >= far, big(FAR)),
        (raw <= -far, big(-FAR)),
        (on_grid, near.cast("int64")),
        else_=scaled.floor().cast("int64") if down else big(BAD),
    )


def _date_part(part: str, raw: Expression) -> Value:
    if raw.type().is_temporal():
        found = getattr(raw, part)()
        return found if found.type().nbytes < 8 else found.cast("int64")
    text = raw if raw.type().is_string() else raw.cast("string")
    is_date = text.re_search(_DATE) & ~text.re_search(_OTHER_IN_DATES)
    safe = is_date.ifelse(text, "2000-01-01")
    year, month, day = (
        part.cast("int64") for part in (safe.left(4), safe.left(7).right(2), safe.left(10).right(2))
    )
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = ibis.cases(
        (month == 2, leap.ifelse(big(29), big(28))), (month.isin([4, 6, 9, 11]), big(30)), else_=big(31)
    )
    quarter = ibis.cases((month <= 3, big(1)), (month <= 6, big(2)), (month <= 9, big(3)), else_=big(4))
    value = {"year": year, "quarter": quarter, "month": month, "day": day}[part]
    return ibis.cases(
        (text.isnull(), ibis.null("int64")), (~is_date | (day > last) | (year < 1), big(BAD)), else_=value
    )


def _category(values: tuple[str, ...], texts: Mapping[str, str] | None, raw: Expression) -> Value:
    """The place of the field's text among the values, or one more for any other text."""
    spelled = texts if texts is not None else {value: value for value in values}
    if raw.type().is_boolean():
        true, false = (_place(spelled.get(text), values) for text in ("true", "false"))
        return ibis.cases((raw.isnull(), ibis.null("int16")), (raw, true), else_=false)
    text = _as_text(raw)
    places = ((text == written, _place(value, values)) for written, value in spelled.items())
    return ibis.cases((text.isnull(), ibis.null("int16")), *places, else_=_place(None, values))


def _place(value: str | None, values: tuple[str, ...]) -> Value:
    return ibis.literal(len(values) if value is None else values.index(value), "int16")


def _as_text(raw: Expression) -> Value:
    """The text of a category, the same on every engine: 1 for the number 1.0."""
    kind = raw.type()
    if kind.is_floating() or kind.is_decimal():
        whole = _double(raw.cast("float64"), 0, down=False)
        far = (whole <= -FAR) | (whole >= FAR)
        return ibis.cases((whole.isnull(), ibis.null("string")), (far, _NO_TEXT), else_=whole.cast("string"))
    return raw if kind.is_string() else raw.cast("string")


def clean_value(column: Column, raw: Any) -> int | None:
    """The same in Python, for one field: the reference that every engine is tested against.

    >>> age = Column(name="age", description="Age", bounds=("0", "90"), alternatives={"all": ["0..90"]})
    >>> [clean_value(age, raw) for raw in (" 42 ", "", "4.5", "9" * 20)] == [42, None, BAD, FAR]
    True
    """
    if isinstance(raw, str):
        raw = raw.strip(BLANKS) or None
    if raw is None:
        return None
    if column.values is not None:
        text = _category_text(raw)
        value = column.map.get(text) if column.map is not None else text
        return column.values.index(value) if value in column.values else len(column.values)
    return _clean_date(column.part, raw) if column.part else _clean_number(column, raw)


def _category_text(raw: Any) -> str:
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, float | Decimal):
        whole = _clean_double(float(raw), 0, down=False)
        return str(whole) if -FAR < whole < FAR else _NO_TEXT
    return str(raw)


def _clean_number(column: Column, raw: Any) -> int:
    unit, down = 10**column.decimals, column.round == "down"
    if isinstance(raw, str):
        if not re.fullmatch("[+-]?[0-9]+([.][0-9]+)?", raw):
            return BAD
        exact = Fraction(raw) * unit
    elif isinstance(raw, bool | int | Decimal | Fraction) and (not isinstance(raw, Decimal) or raw.is_finite()):
        exact = Fraction(raw) * unit
    elif isinstance(raw, float):
        return _clean_double(raw, column.decimals, down)
    else:
        return BAD
    if exact.denominator != 1 and not down:
        return BAD
    return int(max(-FAR, min(FAR, floor(exact))))


def _clean_double(raw: float, digits: int, down: bool) -> int:
    """In the same floating-point steps as an engine.

    >>> [_clean_double(raw, 1, down=False) for raw in (0.1, -2.0, 0.15, 1e300)] == [1, -20, BAD, FAR]
    True
    """
    if not isfinite(raw):
        return BAD
    if abs(raw) >= 10 ** (DIGITS - digits):
        return FAR if raw > 0 else -FAR
    scaled = (raw if abs(raw) > 1e-20 else 0.0) * float(10**digits)
    near = floor(scaled + 0.5)
    if abs(scaled - near) <= 1e-6:
        return near
    return floor(scaled) if down else BAD


def _clean_date(part: str, raw: Any) -> int:
    if isinstance(raw, str):
        if not re.fullmatch(_DATE.strip("^$"), raw):
            return BAD
        try:
            raw = date.fromisoformat(raw[:10])
        except ValueError:
            return BAD
    if not isinstance(raw, date | datetime):
        return BAD
    return (raw.month + 2) // 3 if part == "quarter" else int(getattr(raw, part))

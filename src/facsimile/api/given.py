"""What a call was given: a specification, a source, an epsilon; refused before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.errors import refusal

if TYPE_CHECKING:
    from facsimile.spec.release import Specification

ExactNumber = str | int | Fraction | Decimal


@dataclass(frozen=True, eq=False)
class InMemory:
    """A table in memory where an address is expected: it lies nowhere, and nothing can lie beside it."""

    table: Any
    name = "a table in memory"
    file = place = None

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        from pyarrow import Table

        known = hasattr(self.table, "__arrow_c_stream__")
        table = self.table if known else Table.from_pandas(self.table, preserve_index=False)
        stream: object = table.__arrow_c_stream__(requested_schema)
        return stream


def source(data: Any) -> Any:
    """Where the records are: an address, or a table in memory."""
    from facsimile.sources.address import Address

    if isinstance(data, str | Path | Address):
        return Address.of(data)
    if not (hasattr(data, "__arrow_c_stream__") or hasattr(data, "iloc")):
        problem = "Data are a path, an address, or a pandas, Polars or Arrow table."
        raise refusal("E003", problem=problem, call="facsimile.fit")
    return InMemory(data)


def refuse_unless(public: object, call: str) -> None:
    """A call that protects nothing takes public data only, and its caller says so."""
    if public is not True:
        raise refusal("E209", call=call)


def specified(given: Specification | Path | str) -> Specification:
    """A specification, or the one in a file."""
    from facsimile.spec.load import load
    from facsimile.spec.release import Specification

    return given if isinstance(given, Specification) else load(path_of(given))


def text_of(given: Specification | Path | str) -> str:
    """The text of a specification: that of its file, or written anew."""
    from facsimile.spec.load import dump
    from facsimile.spec.release import Specification
    from facsimile.spec.text import read_limited

    if isinstance(given, Specification):
        return dump(given)
    return read_limited(path_of(given)).decode("utf-8-sig")


def checked(given: Specification | Path | str) -> Specification:
    """The same, with everything that `check` finds wrong with a file told with its line."""
    from facsimile.release.check import load_checked
    from facsimile.spec.release import Specification

    return given if isinstance(given, Specification) else load_checked(path_of(given))


def path_of(given: object) -> Path:
    """The file of a specification."""
    if not isinstance(given, str | Path):
        problem = "A specification is a path, or what facsimile.load returned."
        raise refusal("E003", problem=problem, call="facsimile.load")
    return Path(given)


def alternatives_of(specification: Specification, name: object) -> str | None:
    """The name of alternatives that a column has; a misspelled one would quietly mean each column's first."""
    if name is None or any(name == known for c in specification.columns for known in c.alternatives):
        return name if isinstance(name, str) else None
    raise refusal("E200", problem=f"No column has the alternative {name}.")


def refuse_unless_whole(call: str, **least: tuple[object, int]) -> None:
    """Each named number is whole and at least so much.

    >>> refuse_unless_whole("facsimile.fit", seed=(1, 0))
    """
    for name, (number, smallest) in least.items():
        if type(number) is not int or number < smallest:
            raise refusal("E003", problem=f"{name} is a whole number, {smallest} or more.", call=call)


def exact(epsilon: ExactNumber) -> Fraction:
    """An epsilon as the exact number that was written.

    A float is refused, not rounded: it is not the decimal that was typed (0.1 + 0.2 is not 0.3), the parts of a
    budget are added exactly, and a warning would scroll by in a notebook.

    >>> exact("0.1"), exact(Decimal("0.30"))
    (Fraction(1, 10), Fraction(3, 10))
    """
    from facsimile.spec.decimals import parse_epsilon

    if isinstance(epsilon, float):
        raise refusal("E215", given=repr(float(epsilon)))
    whole = isinstance(epsilon, Integral) and not isinstance(epsilon, bool)
    try:
        return parse_epsilon(int(epsilon) if whole else epsilon)
    except ValueError:
        raise refusal("E201", problem="Epsilon is a decimal number above 0.") from None

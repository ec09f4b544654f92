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

    return Address.of(data) if isinstance(data, str | Path | Address) else InMemory(data)


def refuse_unless(public: object, call: str) -> None:
    """A call that protects nothing takes public data only, and its caller says so."""
    if public is not True:
        raise refusal("E209", call=call)


def specified(given: Specification | Path | str) -> Specification:
    """A specification, or the one in a file."""
    from facsimile.spec.load import load
    from facsimile.spec.release import Specification

    return given if isinstance(given, Specification) else load(Path(given))


def checked(given: Specification | Path | str) -> Specification:
    """The same, with everything that `check` finds wrong with a file told with its line."""
    from facsimile.release.check import load_checked
    from facsimile.spec.release import Specification

    return given if isinstance(given, Specification) else load_checked(Path(given))


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

"""Private: a box around the confidential table.

It is made only in reader.py and opened only in curator.py (rule P1, held by a test), for a mechanism or to be
recoded into another box. The box shows nothing of what it holds: no text, length, comparison, copy or
serialisation (rule P9). It stops accidents, not malice: code in the same process can reach anything in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar, final

from facsimile.table.domain import Domain
from facsimile.table.table import Table

T = TypeVar("T")


@final
class Private(Generic[T]):
    """Holds a confidential value."""

    __slots__ = ("__value",)

    def __init__(self, value: T) -> None:
        self.__value = value

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Private cannot be subclassed")

    def _open(self) -> T:
        """For curator.py only."""
        return self.__value

    def _recoded(self, change: Callable[[T], T]) -> Private[T]:
        """For curator.py only: a box around the recoded value."""
        return Private(change(self.__value))

    def __repr__(self) -> str:
        return "Private()"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a Private value shows nothing")

    __str__ = __repr__
    __len__ = __iter__ = __bool__ = __eq__ = __ne__ = __hash__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __getitem__ = _refuse
    __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
    __array__ = __int__ = __float__ = __index__ = __format__ = _refuse


@dataclass(frozen=True, eq=False)
class Sealed:
    """A confidential table in its box, and what is public about it: its domain and its number of records."""

    private: Private[Table]
    domain: Domain
    n: int

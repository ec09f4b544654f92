"""Exact sums: integers in arrays that never wrap, however large the public numbers are.

An array holds 64-bit integers where all of them, and all sums made of them, stay below 2^62; otherwise it holds
Python's own integers. The types of NumPy know the first kind only; both kinds are read in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt
from typing import TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LARGEST = 2**62


def integers(values: Iterable[int]) -> Ints:
    """Integers as an array.

    >>> integers([1, 2]).dtype, integers([1, 2**62]).dtype
    (dtype('int64'), dtype('O'))
    """
    every = list(values)
    return np.array(every, np.int64 if all(abs(value) < LARGEST for value in every) else object)


def frozen(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """A copy that nobody can write to: what was derived from it stays true."""
    kept = np.array(values)
    kept.setflags(write=False)
    return kept


def rounded(values: npt.NDArray[np.float64]) -> Ints:
    """The nearest integers of finite floats.

    >>> rounded(np.array([0.6, 1e20])).tolist()
    [1, 100000000000000000000]
    """
    whole = np.rint(values)
    if not whole.size or float(np.abs(whole).max()) < LARGEST:
        return whole.astype(np.int64)
    return integers(map(int, whole.ravel().tolist())).reshape(whole.shape)


def largest(values: Ints) -> int:
    """The largest absolute value, 0 where there is none.

    >>> largest(np.array([-(2**63), 5]))
    9223372036854775808
    """
    return max(int(values.max()), -int(values.min())) if values.size else 0


def total(values: Ints) -> int:
    """The sum of all entries.

    >>> total(np.array([2**62, 2**62]))
    9223372036854775808
    """
    return int(_summable(values).sum())


def product(one: Ints, other: Ints) -> Ints:
    """The products of entries, shapes broadcast."""
    if largest(one) * largest(other) < LARGEST:
        return one * other
    return np.asarray(one.astype(object) * other.astype(object))


def roots(squares: Ints) -> Ints:
    """⌈√x⌉ of each entry.

    >>> roots(np.array([0, 1, 2, 4, 5])).tolist(), roots(integers([2**80, 2**80 + 1])).tolist()
    ([0, 1, 2, 2, 3], [1099511627776, 1099511627777])
    """
    return integers(isqrt(x - 1) + 1 if x else 0 for x in squares.tolist())


def dot(terms: Ints, counts: Ints) -> Ints:
    """`terms @ counts`: no partial sum exceeds max|term|·Σ|count|, so a check of that is enough.

    >>> dot(np.array([[10**13, 1]]), np.array([2 * 10**6, 1])).tolist()
    [20000000000000000001]
    """
    one, other = largest(terms), largest(counts)
    if one * other * counts.size < LARGEST or one * int(np.abs(_summable(counts)).sum()) < LARGEST:
        return np.asarray(terms @ counts)
    return np.asarray(terms.astype(object) @ counts.astype(object))


def _summable(values: Ints) -> Ints:
    return values if largest(values) * values.size < LARGEST else values.astype(object)

"""Fingerprint: one hash for all that a question is made of, the same in every process.

Frozen dataclasses are their fields, arrays their form and bytes, functions their name and what they closed
over, anything else its own variables. What was cached on the way is no part of a question.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

PLAIN = (int, float, complex, str, bytes, Fraction, np.generic, type(None), type(...))


def fingerprint(value: object) -> str:
    """The SHA-256 of what a value is made of.

    >>> fingerprint((1, np.array([1, 2]))) == fingerprint((1, np.array([1, 2])))
    True
    >>> fingerprint(np.array([1, 2])) == fingerprint(np.array([[1, 2]]))
    False
    """
    digest = hashlib.sha256()
    for part in _parts(value, ()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _parts(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    """Kind and content, each part with a length of its own (in `fingerprint`), so that no two run together."""
    yield f"{type(value).__module__}.{type(value).__qualname__}".encode()
    if isinstance(value, PLAIN):
        yield repr(value).encode()
        return
    if id(value) in inside:
        yield b"itself"
        return
    if isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        if not value.dtype.hasobject:
            yield np.ascontiguousarray(value).tobytes()
            return
        value = value.ravel().tolist()
    if isinstance(value, set | frozenset):
        yield "".join(sorted(map(fingerprint, value))).encode()
        return
    parts = _within(value)
    yield str(len(parts)).encode()
    for part in parts:
        yield from _parts(part, (*inside, id(value)))


def _within(value: Any) -> list[Any]:
    """What a value is made of, in its order."""
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, type | CodeType | BuiltinFunctionType):
        return [value.__qualname__ if not isinstance(value, CodeType) else value.co_qualname]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__.__qualname__, value.__self__]
    if isinstance(value, FunctionType):
        closed = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__module__, value.__qualname__, value.__defaults__, closed]
    if isinstance(value, np.random.Generator):
        return [str(value.bit_generator.state)]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    kind = type(value)
    return [{n: v for n, v in vars(value).items() if not isinstance(getattr(kind, n, None), cached_property)}]

"""A contract's words: what is said when a part of it does not hold, and the proof that every class carries."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Protocol

from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain


class Broken(AssertionError):
    """A part of a contract does not hold."""


class Checkable(Protocol):
    """A query, scores or a mechanism: what is held against the public domain before it is asked."""

    def check(self, domain: Domain, n: int) -> None:
        """ValueError where it does not fit."""


def require(holds: bool, words: str) -> None:
    """Say what does not hold."""
    if not holds:
        raise Broken(words)


def require_fit(asked: Checkable, domain: Domain, n: int) -> None:
    """Its own domain and size are accepted; other columns, and more records than can be counted, are not."""
    asked.check(domain, n)
    strange = Domain(
        tuple(Axis(f"{place}", a.bins) for place, a in enumerate((*domain.axes, *domain.axes[:1])))
    )
    for other, size in ((strange, n), (domain, 2**53)):
        try:
            asked.check(other, size)
        except ValueError:
            continue
        raise Broken("check accepts a domain or a size that it does not fit")


def require_proof(kind: type, *words: str) -> None:
    """A frozen dataclass whose docstring has a theorem and its proof; letters stand in docstring and code."""
    parameters = getattr(kind, "__dataclass_params__", None)
    require(dataclasses.is_dataclass(kind) and bool(parameters and parameters.frozen), "it is not frozen")
    text = inspect.getdoc(kind) or ""
    for part in ("Theorem.", "Proof.", "QED", *words):
        require(part in text, f"its docstring has no {part}")
    remarks = " ".join(re.findall(r"#.*", inspect.getsource(inspect.getmodule(kind) or kind)))
    for letter in set(re.findall(r"\[[A-Z]\]", text)):
        require(letter in remarks, f"no line of the code carries the letter {letter} of its proof")

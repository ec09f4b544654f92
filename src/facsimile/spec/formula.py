"""Formulas: what is regressed on what, as an analyst writes it: `on: [age, sex, age*parity]`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Factors = tuple[str, ...]
"""A column, or two that are multiplied."""


def factors(term: str) -> Factors:
    """The columns of a term.

    >>> factors("age * sex")
    ('age', 'sex')
    """
    return tuple(part.strip() for part in term.split("*"))


@dataclass(frozen=True)
class Formula:
    """A regression of a column, or of an event, on columns and their products.

    `on` are terms as they are written; None stands for every other column. `indicators` are columns that enter
    by their bins although they have numbers.
    """

    target: str
    on: tuple[str, ...] | None = None
    indicators: tuple[str, ...] = ()

    def terms(self, others: tuple[str, ...]) -> tuple[Factors, ...]:
        """Its terms, each once: the columns first, then the products. A product brings its columns with it.

        >>> Formula("y", ("a*b", "c")).terms(("a", "b", "c", "d"))
        (('a',), ('b',), ('c',), ('a', 'b'))
        """
        if self.on is None:
            return tuple((name,) for name in others)
        every = [factors(term) for term in self.on]
        single = ((name,) for term in every for name in term)
        return tuple(dict.fromkeys((*single, *(_sorted(term) for term in every if len(term) > 1))))

    def columns(self, others: tuple[str, ...]) -> Iterator[str]:
        """The columns that it reads beside its target."""
        yield from (term[0] for term in self.terms(others) if len(term) == 1)


def _sorted(term: Factors) -> Factors:
    """A product in one order: a*b is b*a."""
    return tuple(sorted(term))

"""Synthesizer and RowModel: a synthesizer asks noisy questions and returns a model; a model draws tables.

A synthesizer holds no table. It sees the confidential one through `answers.run` alone, so its guarantee is the
sum of the costs it ran, whatever it does with the answers. The folder needs no privacy review.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import Mechanism
from facsimile.shaping.sampling import Sampling
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.families import Law
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.scores import RowScores
from facsimile.table.table import Table

T = TypeVar("T")


class Answers(Protocol):
    """Whoever answers mechanisms: a curator, or an allowance inside a search."""

    domain: Domain

    def run(self, mechanism: Mechanism[T]) -> T:
        """A noisy answer."""

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Answers:
        """The same records under other axes."""


def unscored(name: str, table: Table) -> RowScores | None:
    """No criterion has anything to ask."""
    return None


@dataclass(frozen=True, eq=False)
class Known:
    """What is public about the table beside its domain.

    `zeros`: columns, and the cells of their joint domain that no record may have. `coarser`: for each column
    its coarser versions, finest first, each as the group of every code. `prior`: a public table of the domain.
    `delta`: what a family may spend beside its ε. `scores`: what the criterion of this name would ask, if its
    model were like a public table; None: nothing.
    """

    n: int
    zeros: tuple[tuple[Clique, Mask], ...] = ()
    coarser: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    prior: Table | None = None
    delta: Fraction = Fraction(0)
    scores: Callable[[str, Table], RowScores | None] = unscored


@dataclass(frozen=True)
class Foreseen:
    """What is known of the tables of a fit before any noise is drawn: which columns they have.

    `fixed`: tables as fine as the domain, measured whatever is answered. `planned`: measured for certain, in
    groups that may follow from earlier answers. `more`: there may be others, chosen by earlier answers.
    """

    fixed: tuple[Clique, ...] = ()
    planned: tuple[Clique, ...] = ()
    more: bool = True


class RowModel(ABC):
    """A distribution over the rows of a domain."""

    domain: Domain

    @abstractmethod
    def sample(self, n: int, random: np.random.Generator, sampling: Sampling = "systematic") -> Table:
        """A table of n records: independent draws, or counts close to the expected ones."""


PARSERS: dict[str, Callable[[str], Any]] = {
    "int": int, "int | None": int, "Fraction": parse_decimal, "Fraction | None": parse_decimal,
}  # fmt: skip


class Synthesizer(ABC):
    """One family with its hyperparameters: a frozen dataclass whose fields they are, each with a default.

    `law` says what it is given (`spec.families.Family`): a share that is an ε or a ρ, always a ρ, or an ε
    beside `Known.delta`. One that leans starts from `Known.prior` where there is one.
    """

    law: ClassVar[Law] = "either"
    leans: ClassVar[bool] = False

    @classmethod
    def of(cls, hyperparameters: Mapping[str, str]) -> Self:
        """From the text of a configuration: integers, fractions or words, as the fields say."""
        kinds = {one.name: str(getattr(one.type, "__name__", one.type)) for one in fields(cls)}  # type: ignore[arg-type]
        made = {name: PARSERS.get(kinds.get(name, ""), str)(text) for name, text in hyperparameters.items()}
        return cls(**made)

    def check(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> None:  # noqa: B027
        """Raise ValueError if the hyperparameters make no sense on this domain: before anything is charged."""

    def trains(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> bool:
        """Whether a fit learns anything: a family with noise of its own may not afford one step."""
        return True

    def holds(self, domain: Domain, known: Known) -> bool:
        """Whether a model can hold the cells that may not occur: asked before anything is charged."""
        return True

    def asks(self) -> tuple[str, ...]:
        """The names of the criteria whose scores it asks for."""
        return ()

    def foreseen(self, domain: Domain, n: int, share: Fraction) -> Foreseen:
        """What is known of its tables before any noise is drawn: nothing, unless it says so."""
        return Foreseen()

    @abstractmethod
    def fit(self, answers: Answers, known: Known, share: Fraction, random: np.random.Generator) -> RowModel:
        """Spend at most a share on questions, an ε or a ρ (`privacy.budget.Rho`), and return a model.

        Parts of a share are taken by arithmetic, and stay what it is.

        `random` serves choices that need no protection (an order, a public draw, a starting point).
        """


def by_law(share: Fraction, laplace: T, gaussian: T) -> T:
    """What suits the noise of a share: Laplace for an ε, Gaussian for a ρ."""
    return gaussian if isinstance(share, Rho) else laplace


def by_cells(sizes: Sequence[float], share: Fraction) -> list[Fraction]:
    """The weight of a share that each of some tables deserves by its cells.

    Noise has the variance 1/ε² or 1/ρ on each cell. The squared error of all cells, Σ cells/ε² or Σ cells/ρ, is
    least for ε ∝ cells^(1/3), or ρ ∝ cells^(1/2).

    >>> by_cells([64], Fraction(1)), by_cells([64], Rho(1))
    ([Fraction(4, 1)], [Fraction(8, 1)])
    """
    power = by_law(share, 1 / 3, 1 / 2)
    return [Fraction(round(1000 * size**power), 1000) for size in sizes]


def some(every: Sequence[T], most: int, random: np.random.Generator) -> list[T]:
    """All, or as many as may be, drawn at random and in their order."""
    if len(every) <= most:
        return list(every)
    return [every[place] for place in sorted(random.choice(len(every), most, replace=False))]

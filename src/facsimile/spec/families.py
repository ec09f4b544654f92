"""Generator families and the grids of hyperparameters a release may draw from.

A family is one of ours, or one that another package provides: an entry point of the group
`facsimile.synthesizers` with the family's name, which no family of ours bears. Its object is a synthesizer's
class (`synthesizers.base`). It is imported where a specification names it, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from itertools import product
from math import prod
from typing import Any, Literal

from pydantic import Field

from facsimile.errors import refusal
from facsimile.spec.constraints import Condition, holds, names, parse_condition, resolve, unreadable
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.mistakes import SEED, Mistake, cut, every, listed, nearest, unknown_name
from facsimile.spec.model import Model, Setting, optional

DENSE_CELLS = 10_000_000
SAMPLING = "sampling"
GROUP = "facsimile.synthesizers"
MOST_TIED = 100_000
Law = Literal["either", "rho", "delta"]


@dataclass(frozen=True)
class Family:
    """What the specification may say about a family: its hyperparameters, its guarantee, whether a variant of
    it takes a domain with more rows than it can hold, and whether it leans on a prior.

    `law`: what it asks its questions with. `either` an ε or, where δ is declared, a ρ; `rho` needs a ρ; `delta`
    has an (ε, δ) of its own, by its own accounting.
    """

    hyperparameters: tuple[str, ...]
    law: Law = "either"
    wider: str | None = None
    leans: bool = False

    @property
    def pure(self) -> bool:
        """Whether it can do without δ."""
        return self.law == "either"


_GAN = (
    "epochs", "batch_size", "generator_lr", "discriminator_lr", "generator_decay", "discriminator_decay",
    "noise_multiplier", "loss",
)  # fmt: skip
_QUERIES = ("num_query", "num_iterations", "num_inner_updates")

FAMILIES: dict[str, Family] = {
    "privbayes": Family(("flavour", "theta", "degree", "epsilon_split", "root", SAMPLING)),
    "mwem": Family((*_QUERIES, "queries", SAMPLING), wider="mwem-tables"),
    "pep": Family((*_QUERIES, "marginal", SAMPLING), wider="pep-tables"),
    "mwem-tables": Family((*_QUERIES, SAMPLING)),
    "pep-tables": Family((*_QUERIES, "marginal", SAMPLING)),
    "mst": Family((SAMPLING,)),
    "aim": Family(("rounds", "most_cells", SAMPLING)),
    "workload": Family(("measurements", "weights", "scores", SAMPLING), leans=True),
    "dpctgan": Family((*_GAN, "max_per_sample_grad_norm", SAMPLING), law="delta"),
    "patectgan": Family((*_GAN, "regularization", "teachers", SAMPLING), law="rho"),
}


@cache
def others() -> dict[str, tuple[EntryPoint, ...]]:
    """The families that other packages provide, by name; nothing is imported for it."""
    found = entry_points(group=GROUP)
    return {name: tuple(found.select(name=name)) for name in sorted(found.names) if name not in FAMILIES}


@cache
def _imported(name: str) -> tuple[Any, str]:
    """The class that another package provides for a family, or why there is none: never in its own words."""
    if len(others()[name]) > 1:
        return None, "two packages provide it"
    try:
        made = others()[name][0].load()
    except Exception as error:
        return None, f"its import ends with {type(error).__name__}"
    return (made, "") if isinstance(made, type) and is_dataclass(made) else (None, "it is no dataclass")


def provided(name: str) -> Any:
    """The class that another package provides for a family."""
    made, reason = _imported(name)
    if reason:
        raise refusal("E216", family=name, problem=reason)
    return made


def family_of(name: str) -> Family:
    """What a specification may say about a known family."""
    if name in FAMILIES:
        return FAMILIES[name]
    made = provided(name)
    own = (*(field.name for field in fields(made)), SAMPLING)
    return Family(own, getattr(made, "law", "either"), leans=getattr(made, "leans", False))


class Grid(Model):
    """One generator family with the values each hyperparameter may take."""

    family: str
    grid: dict[str, list[Setting]] = Field(default_factory=dict, description="Hyperparameter: its values.")
    exclude: tuple[str, ...] = optional("Conditions that a draw may not satisfy.", (), max_length=100)

    def mistakes(self) -> Iterator[Mistake]:
        """A known family, its own hyperparameters, and exclusions that leave something."""
        known = (*FAMILIES, *others())
        meant = self.family if self.family in known else nearest(self.family, FAMILIES)
        if self.family not in known:
            yield unknown_name(("family",), f"there is no family {cut(self.family)}", self.family, known)
        elif self.family not in FAMILIES and _imported(self.family)[1]:
            items, meant = {"family": cut(self.family), "problem": _imported(self.family)[1]}, None
            yield Mistake(("family",), "", "E216", items)
        yield from every(self._check_grid(meant), self._check_exclusions(), self._check_size())

    def _check_grid(self, family: str | None) -> Iterator[Mistake]:
        known = family_of(family).hyperparameters if family else tuple(self.grid)
        for name, values in self.grid.items():
            if name == SEED:
                yield Mistake(("grid", name), "", "E206")
            elif name not in known:
                problem = f"the family {family} has no hyperparameter {cut(name)}"
                yield unknown_name(("grid", name), problem, name, known)
            elif not values or len(set(values)) < len(values):
                yield Mistake(("grid", name), f"{cut(name)} lists no value or one value twice")

    def _check_exclusions(self) -> Iterator[Mistake]:
        for i, text in enumerate(self.exclude):
            wrong = list(unreadable(text, ("exclude", i)))
            yield from wrong
            for name in () if wrong else names(resolve(parse_condition(text), tuple(self.grid))):
                if name not in self.grid:
                    problem = f"`exclude` speaks of {cut(name)}, which is not in the grid"
                    yield unknown_name(("exclude", i), problem, name, tuple(self.grid))

    def _check_size(self) -> Iterator[Mistake]:
        if prod(len(self.grid[name]) for name in self._tied) > MOST_TIED:
            yield Mistake(("exclude",), "`exclude` has too many combinations to look at")
        elif self.size == 0:
            yield Mistake(("exclude",), "`exclude` leaves nothing")

    def misfits(self, chosen: Mapping[str, str]) -> Iterator[Mistake]:
        """Why a value for each hyperparameter is no combination of the grid; nothing where it is one."""
        for name, value in chosen.items():
            if name not in self.grid:
                problem = f"the grid of {self.family} has no hyperparameter {cut(name)}"
                yield unknown_name((name,), problem, name, tuple(self.grid))
            elif value not in self.grid[name]:
                problem = f"the grid of {self.family} has no {cut(name)} {cut(value)}"
                yield unknown_name((name,), problem, value, tuple(self.grid[name]))
        missing = [name for name in self.grid if name not in chosen]
        if missing:
            yield Mistake((), f"the grid of {self.family} has {listed(missing)} too: choose a value")
        elif tuple(chosen.get(name) for name in self._tied) not in self._combinations:
            yield Mistake((), f"`exclude` of {self.family} rules this combination out", hides=False)

    @cached_property
    def exclusions(self) -> tuple[Condition, ...]:
        """The parsed conditions."""
        return tuple(resolve(parse_condition(text), tuple(self.grid)) for text in self.exclude)

    @cached_property
    def _tied(self) -> tuple[str, ...]:
        """The hyperparameters that exclusions speak of; only their combinations are ever listed."""
        spoken = {name for condition in self.exclusions for name in names(condition)}
        return tuple(sorted(spoken))

    @cached_property
    def _free(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.grid) - set(self._tied)))

    @cached_property
    def _combinations(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self._allowed())

    def _allowed(self) -> Iterator[tuple[str, ...]]:
        for values in product(*(self.grid[name] for name in self._tied)):
            record = {name: _exact(value) for name, value in zip(self._tied, values, strict=True)}
            if not any(holds(condition, record) for condition in self.exclusions):
                yield values

    @property
    def size(self) -> int:
        """The number of allowed combinations."""
        return len(self._combinations) * prod(len(self.grid[name]) for name in self._free)

    def combination(self, index: int) -> dict[str, str]:
        """The combination at a place from 0 to size − 1."""
        index, tied = divmod(index, len(self._combinations))
        chosen = dict(zip(self._tied, self._combinations[tied], strict=True))
        for name in self._free:
            index, place = divmod(index, len(self.grid[name]))
            chosen[name] = self.grid[name][place]
        return dict(sorted(chosen.items()))


def _exact(value: str) -> str | Fraction:
    try:
        return parse_decimal(value)
    except ValueError:
        return value

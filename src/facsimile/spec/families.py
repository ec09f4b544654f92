"""Generator families and the grids of hyperparameters a release may draw from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from pydantic import Field, model_validator

from facsimile.spec.constraints import Condition, holds, names, parse_condition, resolve
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.model import Model, Setting

DENSE_CELLS = 10_000_000
SAMPLING = "sampling"


@dataclass(frozen=True)
class Family:
    """What the specification may say about a family: its hyperparameters and its guarantee."""

    hyperparameters: tuple[str, ...]
    pure: bool = True


_GAN = (
    "epochs", "batch_size", "generator_lr", "discriminator_lr", "generator_decay", "discriminator_decay",
    "noise_multiplier", "loss",
)  # fmt: skip
_QUERIES = ("num_query", "num_iterations", "num_inner_updates")

FAMILIES: dict[str, Family] = {
    "privbayes": Family(("flavour", "theta", "degree", "epsilon_split", "root", SAMPLING)),
    "mwem": Family((*_QUERIES, SAMPLING)),
    "pep": Family((*_QUERIES, "marginal", SAMPLING)),
    "mst": Family((SAMPLING,)),
    "aim": Family(("rounds", "most_cells", SAMPLING)),
    "workload": Family(("measurements", "weights", SAMPLING)),
    "dpctgan": Family((*_GAN, "max_per_sample_grad_norm"), pure=False),
    "patectgan": Family((*_GAN, "regularization"), pure=False),
}


class Grid(Model):
    """One generator family with the values each hyperparameter may take."""

    family: str
    grid: dict[str, list[Setting]] = Field(default_factory=dict, description="Hyperparameter: its values.")
    exclude: tuple[str, ...] = Field(default=(), description="Conditions that a draw may not satisfy.")

    @model_validator(mode="after")
    def _known(self) -> Grid:
        if self.family not in FAMILIES:
            raise ValueError(f"unknown family {self.family}; known: {', '.join(FAMILIES)}")
        known = FAMILIES[self.family].hyperparameters
        for name, values in self.grid.items():
            if name not in known:
                raise ValueError(f"{self.family} has no hyperparameter {name}; known: {', '.join(known)}")
            if not values or len(set(values)) < len(values):
                raise ValueError(f"{name} of {self.family} lists no value or one value twice")
        for condition in self.exclusions:
            unknown = set(names(condition)) - set(self.grid)
            if unknown:
                raise ValueError(
                    f"exclude of {self.family} speaks of {', '.join(sorted(unknown))}, not in its grid"
                )
        if self.size == 0:
            raise ValueError(f"exclude of {self.family} leaves nothing")
        return self

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

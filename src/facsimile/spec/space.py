"""The configuration space: alternatives × family and hyperparameters × projection.

The space is counted and drawn from by index; it is never built as a list.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from facsimile.spec.families import FAMILIES, Grid


@dataclass(frozen=True)
class Configuration:
    """Everything that turns the original table into a candidate, apart from noise."""

    alternatives: Mapping[str, str]
    family: str
    hyperparameters: Mapping[str, str]
    projection: Mapping[str, str]

    def as_json(self) -> dict[str, object]:
        """The configuration as plain data."""
        return {
            "alternatives": dict(self.alternatives),
            "family": self.family,
            "hyperparameters": dict(self.hyperparameters),
            "projection": dict(self.projection),
        }

    @cached_property
    def identifier(self) -> str:
        """A name that depends on what is chosen, not on where it stands in a specification."""
        canonical = json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return f"{self.family}-{hashlib.sha256(canonical.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Space:
    """A Cartesian space of configurations with exclusions, addressed by index."""

    alternatives: Mapping[str, tuple[str, ...]]
    grids: tuple[Grid, ...]
    projections: Mapping[str, tuple[str, ...]]

    @property
    def transformations(self) -> int:
        """The number of ways to choose one alternative for each column."""
        return prod(len(names) for names in self.alternatives.values())

    @property
    def _shared(self) -> int:
        return self.transformations * prod(len(values) for values in self.projections.values())

    @property
    def size(self) -> int:
        """The number of configurations."""
        return sum(grid.size for grid in self.grids) * self._shared

    def by_family(self) -> dict[str, int]:
        """The number of configurations of each family."""
        counts: dict[str, int] = {}
        for grid in self.grids:
            counts[grid.family] = counts.get(grid.family, 0) + grid.size * self._shared
        return counts

    def pure(self) -> Space:
        """The space without families that offer approximate differential privacy only."""
        kept = tuple(grid for grid in self.grids if FAMILIES[grid.family].pure)
        return Space(self.alternatives, kept, self.projections)

    def configuration(self, index: int) -> Configuration:
        """The configuration at a place from 0 to size − 1."""
        if not 0 <= index < self.size:
            raise IndexError("no configuration at this place")
        index, alternatives = _choose(index, self.alternatives)
        index, projection = _choose(index, self.projections)
        for grid in self.grids:
            if index < grid.size:
                return Configuration(alternatives, grid.family, grid.combination(index), projection)
            index -= grid.size
        raise AssertionError("the sizes of the grids add up to the size of the space")

    def draw(self, below: Callable[[int], int]) -> Configuration:
        """A uniform configuration, given an unbiased draw from 0 … n − 1."""
        return self.configuration(below(self.size))


def _choose(index: int, choices: Mapping[str, tuple[str, ...]]) -> tuple[int, dict[str, str]]:
    chosen: dict[str, str] = {}
    for name, values in choices.items():
        index, place = divmod(index, len(values))
        chosen[name] = values[place]
    return index, chosen

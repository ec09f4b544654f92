"""The configuration space: alternatives × family and hyperparameters × projection, or a list of its members.

The space is counted and drawn from by index; unless it is listed, it is never built as a list.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

from pydantic import Field

from facsimile.spec.choices import Algorithm
from facsimile.spec.decimals import Count
from facsimile.spec.families import Grid, family_of
from facsimile.spec.mistakes import Place
from facsimile.spec.model import Model, Reference, Setting

MOST_LISTED = 1_000


@dataclass(frozen=True)
class Configuration:
    """Everything that turns the original table into a candidate, apart from noise."""

    alternatives: Mapping[str, str]
    family: str
    hyperparameters: Mapping[str, str]
    projection: Mapping[str, str]

    def as_json(self) -> dict[str, object]:
        """The configuration as plain data."""
        return asdict(self)

    @cached_property
    def identifier(self) -> str:
        """A name that depends on what is chosen, not on where it stands in a specification."""
        canonical = json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return f"{self.family}-{hashlib.sha256(canonical.encode()).hexdigest()[:12]}"

    @cached_property
    def fit_name(self) -> str:
        """A name for everything but the projection."""
        return replace(self, projection={}).identifier


@dataclass(frozen=True)
class Space:
    """A Cartesian space of configurations with exclusions, addressed by index.

    `listed`: the members that can be drawn, where not all of them can.
    """

    alternatives: Mapping[str, tuple[str, ...]]
    grids: tuple[Grid, ...]
    projections: Mapping[str, tuple[str, ...]]
    listed: tuple[Configuration, ...] | None = None

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
        return sum(self.by_family().values())

    @property
    def whole(self) -> Space:
        """The space without its list: everything that is allowed."""
        return replace(self, listed=None)

    def by_family(self) -> dict[str, int]:
        """The number of configurations of each family."""
        counts = Counter({grid.family: 0 for grid in self.grids})
        if self.listed is not None:
            counts.update(configuration.family for configuration in self.listed)
        else:
            for grid in self.grids:
                counts[grid.family] += grid.size * self._shared
        return dict(counts)

    def pure(self) -> Space:
        """The space without families that offer approximate differential privacy only."""
        grids = tuple(grid for grid in self.grids if family_of(grid.family).pure)
        listed = None if self.listed is None else tuple(c for c in self.listed if family_of(c.family).pure)
        return replace(self, grids=grids, listed=listed)

    def configuration(self, index: int) -> Configuration:
        """The configuration at a place from 0 to size − 1."""
        if not 0 <= index < self.size:
            raise IndexError("no configuration at this place")
        if self.listed is not None:
            return self.listed[index]
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

    def holds(self, configuration: Configuration) -> bool:
        """Whether it can be drawn."""
        if self.listed is not None:
            return any(configuration.as_json() == one.as_json() for one in self.listed)
        chosen = (configuration.alternatives, configuration.projection)
        for given, choices in zip(chosen, (self.alternatives, self.projections), strict=True):
            if set(given) != set(choices) or any(given[name] not in choices[name] for name in choices):
                return False
        own = [grid for grid in self.grids if grid.family == configuration.family]
        return any(not list(grid.misfits(configuration.hyperparameters)) for grid in own)

    def choices(self, columns: Sequence[str]) -> Iterator[dict[str, str]]:
        """The alternatives that some columns can have together, each choice once."""
        if self.listed is not None:
            drawn = (tuple(c.alternatives[name] for name in columns) for c in self.listed)
            chosen: Iterator[tuple[str, ...]] = iter(dict.fromkeys(drawn))
        else:
            chosen = product(*(self.alternatives[name] for name in columns))
        return (dict(zip(columns, names, strict=True)) for names in chosen)

    def made(self, delta: bool = False) -> Iterator[tuple[Place, Iterator[Configuration]]]:
        """What generators have to be made of, and where the specification says so.

        Families that need δ only where there is one. Of a grid every combination, under the first alternatives
        and projection; of a list every configuration.
        """
        for i, configuration in enumerate(self.listed or ()):
            if delta or family_of(configuration.family).pure:
                yield ("configurations", i), iter((configuration,))
        for i, grid in enumerate(self.grids if self.listed is None else ()):
            if delta or family_of(grid.family).pure:
                yield ("families", i, "grid"), self._combined(grid)

    def _combined(self, grid: Grid) -> Iterator[Configuration]:
        alternatives = {name: names[0] for name, names in self.alternatives.items()}
        projection = {name: values[0] for name, values in self.projections.items()}
        for place in range(grid.size):
            yield Configuration(alternatives, grid.family, grid.combination(place), projection)


class ListedProjection(Model):
    """The projection of one configuration; what `projection` lists once may be left out."""

    algorithm: Algorithm | None = None
    min_count: Count | None = None


class Listed(Model):
    """One configuration; a column that uses one alternative only may be left out."""

    alternatives: dict[Reference, Reference] = Field(default_factory=dict, description="Column: alternative.")
    family: str
    hyperparameters: dict[str, Setting] = Field(default_factory=dict, description="Hyperparameter: its value.")
    projection: ListedProjection = ListedProjection()


def _choose(index: int, choices: Mapping[str, tuple[str, ...]]) -> tuple[int, dict[str, str]]:
    chosen: dict[str, str] = {}
    for name, values in choices.items():
        index, place = divmod(index, len(values))
        chosen[name] = values[place]
    return index, chosen

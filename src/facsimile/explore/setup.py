"""The setup of a study: a specification, a public table and a seed; what trials share is done here once."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from facsimile.release.recipe import Recipe
from facsimile.release.stored import archive
from facsimile.spec.families import family_of
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Clique, Domain, Versions
from facsimile.table.encoding import recode
from facsimile.table.table import Counts, Table

RECODED = 16
PRIOR = "prior_"
MARGINALS, SMALL = 512, 100_000
"""How many marginals a table remembers, and how many cells those may have."""


class Remembered(Table):
    """A public table that counts each small marginal once."""

    def marginal(self, clique: Clique, versions: Versions = ()) -> Counts:
        """The counts, from memory where they were asked before; groups are seldom the same again."""
        if versions or self.domain.size(clique) > SMALL:
            return super().marginal(clique, versions)
        return self._small(clique)

    @cached_property
    def _small(self) -> Callable[[Clique], Counts]:
        @lru_cache(MARGINALS)
        def counted(clique: Clique) -> Counts:
            counts = Table.marginal(self, clique)
            counts.setflags(write=False)
            return counts

        return counted


@dataclass(frozen=True, eq=False)
class Setup:
    """What every trial of a study stands on: a specification of the table's size, a public table, a seed.

    `prior` is what the specification names as one, at the finest refinement.
    """

    specification: Specification
    table: Table
    seed: int
    prior: Table | None = None

    def packed(self) -> bytes:
        """As bytes for a file or another process; reading them runs no code."""
        plain = self.specification.model_dump(mode="json", exclude_none=True)
        about = json.dumps({"specification": plain, "seed": self.seed})
        buffer = io.BytesIO()
        arrays = _arrays(self.table) | ({} if self.prior is None else _arrays(self.prior, PRIOR))
        arrays["about"] = np.frombuffer(about.encode(), np.uint8)
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        return buffer.getvalue()

    @classmethod
    def unpacked(cls, packed: bytes) -> Setup:
        """The same setup again."""
        with archive(packed) as parts:
            about = json.loads(parts["about"].tobytes())
            specification = validated(about["specification"])
            domain, leans = Domain(specification.finest()), f"{PRIOR}codes" in parts
            prior = _table(domain, parts, PRIOR) if leans else None
            return cls(specification, _table(domain, parts), about["seed"], prior)

    def same(self, other: Setup) -> bool:
        """Whether both are one: specification, table and seed."""
        promises = self.specification.canonical() == other.specification.canonical()
        tables = self.table == other.table and self.prior == other.prior
        return promises and self.seed == other.seed and tables

    def recipe(self, configuration: Configuration) -> Recipe:
        """How a configuration makes its candidates, with the prior recoded once."""
        return Recipe(self.specification, configuration, self._leaning(configuration))

    def real(self, configuration: Configuration) -> Table:
        """The table under the configuration's alternatives, recoded once."""
        found = self._under(False, self._chosen(configuration))
        assert found is not None
        return found

    def _leaning(self, configuration: Configuration) -> Table | None:
        return self._under(True, self._chosen(configuration)) if family_of(configuration.family).leans else None

    def _chosen(self, configuration: Configuration) -> tuple[str, ...]:
        return tuple(configuration.alternatives[name] for name in self.specification.names)

    @cached_property
    def _under(self) -> Callable[[bool, tuple[str, ...]], Table | None]:
        @lru_cache(RECODED)
        def recoded(leaning: bool, chosen: tuple[str, ...]) -> Table | None:
            table = self.prior if leaning else self.table
            if table is None:
                return None
            alternatives = dict(zip(self.specification.names, chosen, strict=True))
            found = recode(self.specification, table, alternatives)
            return Remembered(found.domain, found.codes, found.counts)

        return recoded

    def draws(self, *name: object) -> int:
        """The seed of a named piece of randomness."""
        text = "|".join(str(part) for part in (self.seed, *name))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def _arrays(table: Table, which: str = "") -> dict[str, np.ndarray[Any, Any]]:
    """A table's codes, as small as they may be, and its counts."""
    size = np.uint16 if max(table.domain.shape) <= 2**16 else np.int64
    return {f"{which}codes": table.codes.astype(size), f"{which}counts": table.counts}


def _table(domain: Domain, parts: Mapping[str, np.ndarray[Any, Any]], which: str = "") -> Table:
    return Table(domain, *(parts[f"{which}{name}"].astype(np.int64) for name in ("codes", "counts")))

"""The setup of a study: a specification, a public table and a seed; what trials share is done here once."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Clique, Domain, Versions
from facsimile.table.encoding import recode
from facsimile.table.table import Counts, Table

RECODED = 16
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
    """What every trial of a study stands on: a specification of the table's size, a public table, a seed."""

    specification: Specification
    table: Table
    seed: int

    def packed(self) -> bytes:
        """As bytes for a file or another process; reading them runs no code."""
        size = np.uint16 if max(self.table.domain.shape) <= 2**16 else np.int64
        plain = self.specification.model_dump(mode="json", exclude_none=True)
        about = json.dumps({"specification": plain, "seed": self.seed})
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            about=np.frombuffer(about.encode(), np.uint8),
            codes=self.table.codes.astype(size),
            counts=self.table.counts,
        )
        return buffer.getvalue()

    @classmethod
    def unpacked(cls, packed: bytes) -> Setup:
        """The same setup again."""
        with np.load(io.BytesIO(packed), allow_pickle=False) as parts:
            about = json.loads(parts["about"].tobytes())
            codes, counts = parts["codes"].astype(np.int64), parts["counts"].astype(np.int64)
        specification = validated(about["specification"])
        return cls(specification, Table(Domain(specification.finest()), codes, counts), about["seed"])

    def same(self, other: Setup) -> bool:
        """Whether both are one: specification, table and seed."""
        promises = self.specification.canonical() == other.specification.canonical()
        return promises and self.seed == other.seed and self.table == other.table

    def real(self, configuration: Configuration) -> Table:
        """The table under the configuration's alternatives, recoded once."""
        return self._under(tuple(configuration.alternatives[name] for name in self.specification.names))

    @cached_property
    def _under(self) -> Callable[[tuple[str, ...]], Table]:
        @lru_cache(RECODED)
        def recoded(chosen: tuple[str, ...]) -> Table:
            alternatives = dict(zip(self.specification.names, chosen, strict=True))
            found = recode(self.specification, self.table, alternatives)
            return Remembered(found.domain, found.codes, found.counts)

        return recoded

    def draws(self, *name: object) -> int:
        """The seed of a named piece of randomness."""
        text = "|".join(str(part) for part in (self.seed, *name))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")

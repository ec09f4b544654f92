"""The setup of a study: a specification, a public table and a seed; what trials share is done here once."""

from __future__ import annotations

import hashlib
import io
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Clique, Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Counts, Table

RECODED = 16
MARGINALS, SMALL = 512, 100_000
"""How many marginals a table remembers, and how many cells those may have."""


class Remembered(Table):
    """A public table that counts each small marginal once."""

    @cached_property
    def _known(self) -> OrderedDict[Clique, Counts]:
        return OrderedDict()

    def marginal(self, clique: Clique) -> Counts:
        """The counts, from memory where they were asked before."""
        known = self._known
        if clique in known:
            known.move_to_end(clique)
        else:
            counts = super().marginal(clique)
            if counts.size > SMALL:
                return counts
            counts.setflags(write=False)
            known[clique] = counts
            if len(known) > MARGINALS:
                known.popitem(last=False)
        return known[clique]


@dataclass(frozen=True, eq=False)
class Setup:
    """What every trial of a study stands on: a specification of the table's size, a public table, a seed."""

    specification: Specification
    table: Table
    seed: int
    _recoded: OrderedDict[tuple[str, ...], Table] = field(default_factory=OrderedDict)

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
        key = tuple(configuration.alternatives[name] for name in self.specification.names)
        if key not in self._recoded:
            found = recode(self.specification, self.table, configuration.alternatives)
            self._recoded[key] = Remembered(found.domain, found.codes, found.counts)
            if len(self._recoded) > RECODED:
                self._recoded.popitem(last=False)
        return self._recoded[key]

    def draws(self, *name: object) -> int:
        """The seed of a named piece of randomness."""
        text = "|".join(str(part) for part in (self.seed, *name))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")

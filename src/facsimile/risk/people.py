"""People: a public file split at random into those of a table and those who are not in it.

    rest       in every table
    targets    in the table that is published, and attacked
    controls   in no table, and attacked in the same way
    standins   in the targets' place in a table that knows neither targets nor controls

Targets, controls and stand-ins are equally many and drawn by one shuffle, so that nothing tells them apart but
whether they were in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from facsimile.errors import refusal
from facsimile.table.domain import Domain
from facsimile.table.table import Codes, Table

PART = 10
"""Targets, controls and stand-ins are a tenth of the file each."""
LEAST = 50


@dataclass(frozen=True, eq=False)
class People:
    """A public file, split. `rest` is a table, the others a line for each person."""

    rest: Table
    targets: Codes
    controls: Codes
    standins: Codes

    @classmethod
    def split(cls, table: Table, random: np.random.Generator) -> People:
        """A random split."""
        if table.n < LEAST:
            raise refusal("E152")
        records, part = random.permutation(table.records()), table.n // PART
        targets, controls, standins, rest = np.split(records, [part, 2 * part, 3 * part])
        return cls(Table.from_rows(table.domain, rest), targets, controls, standins)

    @property
    def n(self) -> int:
        """How many records every published table has."""
        return self.rest.n + len(self.targets)

    def table(self, inside: npt.NDArray[np.bool_]) -> Table:
        """The table that holds these targets, and stand-ins in place of the others."""
        chosen = np.where(inside[:, None], self.targets, self.standins)
        return self._joined(chosen)

    @property
    def members(self) -> Table:
        """The table with every target."""
        return self._joined(self.targets)

    @property
    def strangers(self) -> Table:
        """The table with none: to targets and controls it is an independent sample."""
        return self._joined(self.standins)

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> People:
        """The same people under other axes: `maps` gives each old code its new one."""
        places = {name: place for place, name in enumerate(self.rest.domain.names)}

        def codes(of: Codes) -> Codes:
            found = of.copy()
            for name, groups in maps.items():
                found[:, places[name]] = np.asarray(groups, np.int64)[of[:, places[name]]]
            return found

        groups = (codes(group) for group in (self.targets, self.controls, self.standins))
        return People(self.rest.recode(domain, maps), *groups)

    def _joined(self, codes: Codes) -> Table:
        rows = np.concatenate([self.rest.codes, codes])
        counts = np.concatenate([self.rest.counts, np.ones(len(codes), np.int64)])
        return Table.from_rows(self.rest.domain, rows, counts)

"""Network: a Bayesian network over columns. It draws rows column by column and never forms the joint domain."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from facsimile.shaping.sampling import DrawnRecords, Sampling
from facsimile.synthesizers.base import RowModel
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain, Versions
from facsimile.table.exact import Floats
from facsimile.table.table import Codes, Table, add

FRUITLESS = 30
MANY = 10_000


@dataclass(frozen=True, eq=False)
class Node:
    """A column with its law given its parents: a line for each cell of the parents, a place for each code."""

    column: str
    parents: Versions
    law: Floats

    @classmethod
    def of(cls, column: str, parents: Versions, joint: Floats) -> Node:
        """From a joint table, the column's axis last. A line without mass takes the law of the whole column."""
        lines = joint.reshape(-1, joint.shape[-1])
        whole = lines.sum(axis=0)
        whole = whole / whole.sum() if whole.sum() > 0 else np.full(len(whole), 1 / len(whole))
        mass = lines.sum(axis=1, keepdims=True)
        return cls(column, parents, np.where(mass > 0, lines / np.where(mass > 0, mass, 1.0), whole))


class Rejecting(RowModel):
    """A model that holds its `zeros` by rejection: rows that are ruled out are drawn again."""

    zeros: tuple[tuple[Clique, Mask], ...]

    def sample(self, n: int, random: np.random.Generator, sampling: Sampling = "systematic") -> Table:
        kept: list[Table] = []
        missing, fruitless = n, 0
        while missing:
            if fruitless < FRUITLESS:
                drawn = self._drawn(max(missing, MANY) if fruitless else missing, random, sampling)
            else:
                drawn = self._uniform(random)
            found = _some(drawn.filter(~ruled_out(self.zeros, drawn.domain, drawn.codes)), missing, random)
            if found.n:
                kept.append(found)
                missing -= found.n
            else:
                fruitless += 1
            if fruitless == 10 * FRUITLESS:
                raise ValueError("the zeros rule out every row that was drawn")
        return add(kept)

    @abstractmethod
    def _drawn(self, n: int, random: np.random.Generator, sampling: Sampling) -> Table:
        """n records, some of them perhaps ruled out."""

    def _uniform(self, random: np.random.Generator) -> Table:
        """Rows of any kind, for a model that gives the allowed ones no chance."""
        shape = np.array(self.domain.shape)
        return Table.from_rows(self.domain, random.integers(0, shape, (MANY, len(shape))))


@dataclass(frozen=True, eq=False)
class Network(Rejecting):
    """P(row) = Π P(column | parents), given that the row is none of the `zeros`.

    The condition holds by rejection: rows that are ruled out are drawn again.
    """

    domain: Domain
    nodes: tuple[Node, ...]
    zeros: tuple[tuple[Clique, Mask], ...] = ()

    def _drawn(self, n: int, random: np.random.Generator, sampling: Sampling) -> Table:
        """n records from the network itself."""
        records, codes = DrawnRecords(n, random, sampling), dict[str, Codes]()
        for node in self.nodes:
            line = np.zeros(n, np.int64)
            for name, groups in node.parents:
                size = self.domain.axis(name).size if groups is None else max(groups) + 1
                line = line * size + (codes[name] if groups is None else np.array(groups)[codes[name]])
            codes[node.column] = records.draw(node.law, line)
        return Table.from_rows(self.domain, np.column_stack([codes[name] for name in self.domain.names]))


def ruled_out(zeros: Sequence[tuple[Clique, Mask]], domain: Domain, codes: Codes) -> Mask:
    """For each row of codes, whether one of the zeros holds it."""
    found = [mask[tuple(codes[:, domain.place(name)] for name in clique)] for clique, mask in zeros]
    return reduce(np.logical_or, found, np.zeros(len(codes), np.bool_))


def _some(table: Table, n: int, random: np.random.Generator) -> Table:
    """At most n records of a table."""
    if table.n <= n:
        return table
    return Table.from_rows(table.domain, table.codes, random.multivariate_hypergeometric(table.counts, n))

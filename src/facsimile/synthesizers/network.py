"""Network: a Bayesian network over columns. It draws rows column by column and never forms the joint domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from facsimile.privacy.queries.information import Version
from facsimile.shaping.sampling import Records, Sampling
from facsimile.synthesizers.base import Model
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.table import Codes, Table, add

Floats = npt.NDArray[np.float64]
FRUITLESS = 30
MANY = 10_000


@dataclass(frozen=True, eq=False)
class Node:
    """A column with its law given its parents: a line for each cell of the parents, a place for each code."""

    column: str
    parents: tuple[Version, ...]
    law: Floats

    @classmethod
    def of(cls, column: str, parents: tuple[Version, ...], joint: Floats) -> Node:
        """From a joint table, the column's axis last. A line without mass takes the law of the whole column."""
        lines = joint.reshape(-1, joint.shape[-1])
        whole = lines.sum(axis=0)
        whole = whole / whole.sum() if whole.sum() > 0 else np.full(len(whole), 1 / len(whole))
        mass = lines.sum(axis=1, keepdims=True)
        return cls(column, parents, np.where(mass > 0, lines / np.where(mass > 0, mass, 1.0), whole))


@dataclass(frozen=True, eq=False)
class Network(Model):
    """P(row) = Π P(column | parents), given that the row is none of the `zeros`.

    The condition holds by rejection: rows that are ruled out are drawn again.
    """

    domain: Domain
    nodes: tuple[Node, ...]
    zeros: tuple[tuple[Clique, Mask], ...] = ()

    def sample(self, n: int, random: np.random.Generator, sampling: Sampling = "systematic") -> Table:
        """Exactly n records, none of them ruled out."""
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

    def _drawn(self, n: int, random: np.random.Generator, sampling: Sampling) -> Table:
        """n records from the network itself."""
        records, codes = Records(n, random, sampling), dict[str, Codes]()
        for node in self.nodes:
            line = np.zeros(n, np.int64)
            for name, groups in node.parents:
                size = self.domain.axis(name).size if groups is None else max(groups) + 1
                line = line * size + (codes[name] if groups is None else np.array(groups)[codes[name]])
            codes[node.column] = records.draw(node.law, line)
        return Table.from_rows(self.domain, np.column_stack([codes[name] for name in self.domain.names]))

    def _uniform(self, random: np.random.Generator) -> Table:
        """Rows of any kind, for a network that gives the allowed ones no chance."""
        shape = np.array(self.domain.shape)
        return Table.from_rows(self.domain, random.integers(0, shape, (MANY, len(shape))))


def ruled_out(zeros: Sequence[tuple[Clique, Mask]], domain: Domain, codes: Codes) -> Mask:
    """For each row of codes, whether one of the zeros holds it."""
    found = [mask[tuple(codes[:, domain.place(name)] for name in clique)] for clique, mask in zeros]
    return reduce(np.logical_or, found, np.zeros(len(codes), np.bool_))


def emptied(zeros: Sequence[tuple[Clique, Mask]], domain: Domain, versions: Sequence[Version]) -> Mask:
    """The cells of some columns, or coarser versions of them, in which every row is ruled out by one zero."""
    sizes = [domain.axis(name).size if groups is None else max(groups) + 1 for name, groups in versions]
    found = np.zeros(sizes, np.bool_)
    known = dict(versions)
    for clique, mask in zeros:
        inside = [name for name, _ in versions if name in clique]
        if inside:
            others = tuple(i for i, name in enumerate(clique) if name not in known)
            kept = [name for name in clique if name in known]
            part: Mask = np.asarray(mask.all(axis=others)).transpose([kept.index(name) for name in inside])
            for axis, name in enumerate(inside):
                part = _grouped(part, axis, known[name])
            found |= part.reshape([s if v[0] in inside else 1 for s, v in zip(sizes, versions, strict=True)])
    return found


def _grouped(mask: Mask, axis: int, groups: tuple[int, ...] | None) -> Mask:
    """A group is ruled out where every code of it is."""
    if groups is None:
        return mask
    lines = np.moveaxis(mask, axis, 0)
    joined = [lines[np.array(groups) == group].all(axis=0) for group in range(max(groups) + 1)]
    return np.moveaxis(np.array(joined), 0, axis)


def _some(table: Table, n: int, random: np.random.Generator) -> Table:
    """At most n records of a table."""
    if table.n <= n:
        return table
    return Table.from_rows(table.domain, table.codes, random.multivariate_hypergeometric(table.counts, n))

"""Interactions: noisy marginals made consistent, each interaction of columns averaged by its precision.

A marginal over C is a sum over A ⊆ C of orthogonal components: summed over C∖A, centred along each column
of A. With independent noise of variance σ² on its cells, its component A has noise of variance σ²·|C∖A| in the
same directions, and components are independent of each other. So averaging each component over the marginals
that hold it, by precision, is generalised least squares. The component of no column is the known total.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from facsimile.synthesizers.junction import ordered
from facsimile.table.domain import Clique, Domain

Floats = npt.NDArray[np.float64]
Measurement = tuple[Clique, npt.NDArray[np.int64] | Floats, float]
SMALLEST_SCALE = 1e-3


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy counts of columns in the domain's order, and the Laplace scale of their noise, never quite zero."""

    clique: Clique
    counts: Floats
    scale: float

    def face(self, lost: str) -> Measured:
        """The same answer without one of its columns."""
        place = self.clique.index(lost)
        clique = (*self.clique[:place], *self.clique[place + 1 :])
        counts: Floats = self.counts.sum(axis=place)
        return Measured(clique, counts, self.scale * self.counts.shape[place] ** 0.5)


def measured(domain: Domain, measurements: Iterable[Measurement]) -> list[Measured]:
    """One measurement for each clique; repeated ones averaged by their precision."""
    sums: dict[Clique, tuple[Floats, float]] = {}
    for clique, counts, scale in measurements:
        names = ordered(domain, clique)
        array = np.asarray(counts, np.float64).reshape(domain.project(clique).shape)
        precision = max(scale, SMALLEST_SCALE) ** -2
        before, known = sums.get(names, (np.zeros(domain.project(names).shape), 0.0))
        turned = np.transpose(array, [clique.index(name) for name in names])
        sums[names] = before + precision * turned, known + precision
    return [Measured(names, array / known, known**-0.5) for names, (array, known) in sums.items()]


def interactions(domain: Domain, answers: Iterable[Measured], total: float) -> dict[Clique, Floats]:
    """The best linear unbiased estimate of every component of the measured marginals."""
    sums: dict[Clique, tuple[Floats, float]] = {}
    for answer in answers:
        for part in parts(answer.clique):
            others = tuple(place for place, name in enumerate(answer.clique) if name not in part)
            centred = answer.counts.sum(axis=others)
            for axis in range(len(part)):
                centred = centred - centred.mean(axis=axis, keepdims=True)
            precision = domain.size(part) / (answer.scale**2 * domain.size(answer.clique))
            before, known = sums.get(part, (np.zeros(centred.shape), 0.0))
            sums[part] = before + precision * centred, known + precision
    found = {part: array / known for part, (array, known) in sums.items()}
    return {**found, (): np.array(float(total))}


def composed(domain: Domain, components: Mapping[Clique, Floats], clique: Clique) -> Floats:
    """The marginal that has these components."""
    shape = domain.project(clique).shape
    result = np.zeros(shape)
    for part in parts(clique):
        spread = [size if name in part else 1 for name, size in zip(clique, shape, strict=True)]
        result += components[part].reshape(spread) * (domain.size(part) / domain.size(clique))
    return result


def parts(clique: Clique) -> list[Clique]:
    """Every subset of some columns, the empty one first.

    >>> parts(("a", "b"))
    [(), ('a',), ('b',), ('a', 'b')]
    """
    return [part for size in range(len(clique) + 1) for part in combinations(clique, size)]

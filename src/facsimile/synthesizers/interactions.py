"""Interactions: noisy marginals made consistent, each interaction of columns averaged by its precision.

A marginal over C is a sum over A ⊆ C of orthogonal components: summed over C∖A, centred along each column
of A. With independent noise of variance σ² on its cells, its component A has noise of variance σ²·|C∖A| in the
same directions, and components are independent of each other. So averaging each component over the marginals
that hold it, by precision, is generalised least squares. The component of no column is the known total.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.measurement import Measurement


def interactions(domain: Domain, answers: Iterable[Measurement], total: float) -> dict[Clique, Floats]:
    """The best linear unbiased estimate of every component of the measured marginals."""
    sums: dict[Clique, tuple[Floats, float]] = {}
    for answer in answers:
        for part in parts(answer.columns):
            others = tuple(place for place, name in enumerate(answer.columns) if name not in part)
            centred = answer.counts.sum(axis=others)
            for axis in range(len(part)):
                centred = centred - centred.mean(axis=axis, keepdims=True)
            precision = domain.size(part) / (answer.variance * answer.counts.size)
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

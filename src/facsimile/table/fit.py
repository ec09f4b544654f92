"""Maximum-entropy fit: the flattest distribution with given marginals, on a dense domain.

Iterative proportional fitting: in turn, each marginal of the current distribution is scaled to its target.
Among all distributions on the allowed cells whose marginals are the targets, the limit is the one closest
in relative entropy to the start (Csiszár 1975); from a uniform start it has the greatest entropy. Cells
that are not allowed stay at zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain

Floats = npt.NDArray[np.float64]


def fit(
    domain: Domain,
    targets: Sequence[tuple[Clique, Floats]],
    allowed: Mask | None = None,
    sweeps: int = 50,
    tolerance: float = 1e-6,
) -> Floats:
    """A distribution shaped like the domain; targets given last are matched best.

    Stops after a sweep in which no marginal was off by more than `tolerance` in total variation. Where the
    targets leave no cell, all is zero.
    """
    p: Floats = np.ones(domain.shape) if allowed is None else allowed.astype(np.float64)
    p /= p.sum() or 1.0
    scaled = [(_others(domain, clique), _shaped(domain, clique, target)) for clique, target in targets]
    for _ in range(sweeps):
        worst = 0.0
        for others, target in scaled:
            found = p.sum(axis=others, keepdims=True)
            worst = max(worst, 0.5 * float(np.abs(found - target).sum()))
            p *= np.divide(target, found, out=np.zeros_like(found), where=found > 0)
        p /= p.sum() or 1.0
        if worst < tolerance:
            break
    return p


def _others(domain: Domain, clique: Clique) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(domain.names) if name not in clique)


def _shaped(domain: Domain, clique: Clique, target: Floats) -> Floats:
    """A target as a distribution that broadcasts over the domain."""
    order = sorted(range(len(clique)), key=lambda i: domain.place(clique[i]))
    shape = [axis.size if axis.name in clique else 1 for axis in domain.axes]
    shaped: Floats = (np.transpose(target, order) / target.sum()).reshape(shape)
    return shaped

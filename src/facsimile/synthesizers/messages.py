"""Messages: a product over the bags of a junction tree, fitted to marginals bag by bag.

Wanted is the p that minimises λ·KL(p ‖ start) + Σ_C ‖p_C − y_C‖²/(2σ_C²), p_C the marginal over a clique and
y_C its target. It is start × Π_C exp(θ_C) with θ_C = (y_C − p_C)/(λσ_C²): a product over bags. The coordinates
θ_C are solved for in turn. Given all others, p_C = r·exp(θ_C) with r known, hence

    p_C = s·ω(ln(r/s) + y_C/s),    s = λσ_C²,    ω(x) + ln ω(x) = x  (Wright's function),

and the sum of p is set to the known total. Each step ascends the concave dual, so the fit converges whatever
the targets are; with s → 0 it is iterative proportional fitting.

This is done in stages, each from the result of the one before (a proximal method). What the targets say clearly
is learnt in the first stages, noise only in many; few stages of a large λ follow the targets more closely than
one stage of a small λ that takes up as much noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import wrightomega

from facsimile.synthesizers.junction import JunctionTree
from facsimile.table.domain import Clique
from facsimile.table.exact import Floats
from facsimile.table.fit import ratio, spread

LOWEST = -20.0


class Term:
    """The marginal of a clique inside a bag: its target, s = λσ², and its coordinates θ."""

    def __init__(self, bag: Clique, clique: Clique, target: Floats, softness: float) -> None:
        self.others = tuple(place for place, name in enumerate(bag) if name not in clique)
        self.target, self.softness = spread(target, clique, bag), softness
        self.theta = np.zeros(self.target.shape)

    def solve(self, counts: Floats, total: float) -> float:
        """Solve for θ and scale the bag in place; how far the marginal moved, as a share of the total.

        θ stays above a floor, so that no cell is lost to rounding that a later step might want back.
        """
        found = counts.sum(axis=self.others, keepdims=True)
        present = found > 0
        free = np.log(found, out=np.zeros_like(found), where=present) - self.theta
        solved = self.softness * wrightomega(free + self.target / self.softness - np.log(self.softness))
        self.theta = np.maximum((self.target - solved) / self.softness, LOWEST)
        exponent = np.where(present, free + self.theta, -np.inf)
        after = np.exp(exponent - exponent.max())
        after *= total / after.sum()
        counts *= ratio(after, found)
        return float(np.abs(after - found).sum()) / (2 * total)


class Flow:
    """A product over the bags; the bag we are at holds its true marginal, up to the sum."""

    def __init__(self, tree: JunctionTree, counts: list[Floats]) -> None:
        self.tree, self.counts, self.here = tree, counts, 0
        self.known = [np.ones(tree.domain.project(separator).shape) for separator in tree.separators]

    def move(self, place: int) -> None:
        """Go to a neighbouring bag and tell it how the counts of the separator have changed."""
        if place == self.here:
            return
        tree, edge = self.tree, max(place, self.here)
        found = sum_to(self.counts[self.here], tree.bags[self.here], tree.separators[edge])
        self.counts[place] *= spread(ratio(found, self.known[edge]), tree.separators[edge], tree.bags[place])
        self.known[edge], self.here = found, place

    def settle(self, total: float) -> None:
        """Make every bag hold its true marginal with the given sum."""
        for place in self.tree.walk:
            self.move(place)
        mass = float(self.counts[0].sum())
        if not mass > 0:
            raise ValueError("the zeros rule out every row")
        self.counts[0] *= total / mass
        for place in self.tree.walk:
            self.move(place)


def fitted(
    tree: JunctionTree,
    start: list[Floats],
    terms: Mapping[int, Sequence[Term]],
    total: float,
    stages: int,
    sweeps: int,
    tolerance: float,
) -> list[Floats]:
    """The bags' expected counts; a stage ends when no marginal moves by `tolerance` or after `sweeps` walks."""
    flow = Flow(tree, start)
    flow.settle(total)
    for _ in range(stages):
        for term in (term for inside in terms.values() for term in inside):
            term.theta = np.zeros_like(term.theta)
        for _ in range(sweeps):
            if _walked(flow, terms, total) < tolerance:
                break
    flow.settle(total)
    return flow.counts


def _walked(flow: Flow, terms: Mapping[int, Sequence[Term]], total: float) -> float:
    """Solve for every term once, on a walk through the tree; how far a marginal moved at most."""
    moved, visited = 0.0, set[int]()
    for place in flow.tree.walk:
        flow.move(place)
        if place not in visited:
            visited.add(place)
            moved = max([moved, *(term.solve(flow.counts[place], total) for term in terms.get(place, ()))])
    return moved


def sum_to(array: Floats, columns: Clique, names: Clique, keep: bool = False) -> Floats:
    """Sum out all columns but some."""
    others = tuple(place for place, name in enumerate(columns) if name not in names)
    return np.asarray(array.sum(axis=others, keepdims=keep))

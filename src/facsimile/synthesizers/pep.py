"""PEP: private entropy projection. The flattest model that agrees with the answers so far.

The pool holds single cells of tables of `marginal` columns. An update projects the model, in relative entropy,
onto the distributions that give one query its measured answer y: with a the model's, what lies in the cell is
multiplied by y(n − a)/(a(n − y)), and all counts are scaled to n again. As in the code of its authors (Liu,
Vietri and Wu 2021) it is the answered query that the model is farthest from, and shares of n keep 10⁻⁶ from
0 and 1; where no answer is farther off than that, a round ends. Where a query was answered more than
once, the answers' mean counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from facsimile.synthesizers.pooled import Floats, Heard, Pooled, cells
from facsimile.table.boxes import Boxes

SMALLEST = 1e-6
FARTHEST = 1e30


@dataclass(frozen=True)
class PEP(Pooled):
    """Cells of tables of `marginal` columns, learnt by entropy projection."""

    marginal: int = 3

    def pool(self, shape: tuple[int, ...], random: np.random.Generator) -> Boxes:
        """Distinct cells, each as likely as any other; all of them where there are no more."""
        return cells(shape, [self.marginal], self.num_query, random)

    def learn(self, counts: Floats, pool: Boxes, newest: int, heard: Heard) -> None:
        """Projections onto the worst answers; counts are scaled where their mass, remembered, runs away."""
        boxes, mass = pool.some(list(heard)), float(counts.sum())
        n = mass
        means = np.array([np.mean(answers) for answers in heard.values()])
        wanted = np.clip(means / mass, SMALLEST, 1 - SMALLEST)
        sums = boxes.sums(counts)
        for _ in range(self.num_inner_updates):
            found = np.clip(sums / mass, SMALLEST, 1 - SMALLEST)
            worst = int(np.argmax(np.abs(found - wanted)))
            y, a = float(wanted[worst]), float(found[worst])
            if abs(y - a) < SMALLEST:
                return
            box = counts[boxes.slices(worst)]
            inside, factor = float(box.sum()), y * (1 - a) / (a * (1 - y))
            if not 0 < inside < mass * (1 - SMALLEST):
                wanted[worst] = a
                continue
            touched, parts = boxes.within(worst)
            sums[touched] += (factor - 1) * parts.sums(box)
            box *= factor
            mass += (factor - 1) * inside
            if not n / FARTHEST < mass < n * FARTHEST:
                counts *= n / mass
                sums, mass = boxes.sums(counts), n

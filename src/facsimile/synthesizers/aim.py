"""AIM: an adaptive and iterative mechanism, for an ε or a ρ.

After every column was measured, each round selects a marginal r of up to three columns by the score
w_r(‖M_r(R) − M_r(p)‖₁ − b·n_r): what the model p gets wrong, less the L1 error b·n_r that a measurement with
noise of scale b on n_r cells would have itself; w_r counts the columns that r shares with the workload
of all triples. The marginal is measured and the model fitted again. Where a measurement moved the model by no
more than noise, noise is halved: a round has twice the ε, or four times the ρ. The last takes what is left. A
choice has a fifth of the ε of a round, or a tenth of its ρ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import MarginalDistances
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers import graphical
from facsimile.synthesizers.base import Answers, Foreseen, Known, RowModel, Synthesizer, by_law, some
from facsimile.synthesizers.consistency import consistent
from facsimile.synthesizers.dense import Expected, rounded
from facsimile.synthesizers.junction import junction_tree
from facsimile.table.domain import Clique, Domain
from facsimile.table.measurement import Measurement, joined

Current = Expected | graphical.Graphical
WAYS = 3
MOST_CANDIDATES = 500
SELECTION, SELECTION_RHO = Fraction(1, 4), Fraction(1, 9)
"""What a choice has for each unit of the measurement after it."""
TWICE, TWICE_RHO = 2, 4
"""What halves the noise."""
SMOOTHING = 1e-4


@dataclass(frozen=True)
class AIM(Synthesizer):
    """`rounds` None: twice the number of columns. `most_cells` bounds a marginal, or the tree of a model."""

    rounds: int | None = None
    most_cells: int = 200_000

    def __post_init__(self) -> None:
        if (self.rounds is not None and self.rounds < 1) or self.most_cells < 1:
            raise ValueError("rounds and most_cells are positive")

    def foreseen(self, domain: Domain, n: int, share: Fraction) -> Foreseen:
        """Columns come first; pairs and more are chosen."""
        return Foreseen(tuple((name,) for name in domain.names))

    def holds(self, domain: Domain, known: Known) -> bool:
        """Where the domain is too large to be held, a junction tree must hold the rules."""
        return domain.cells <= DENSE_CELLS or graphical.holds(domain, known.zeros)

    def fit(self, answers: Answers, known: Known, share: Fraction, random: np.random.Generator) -> RowModel:
        """Measure columns, then select, measure and fit until the share is spent."""
        domain = answers.domain
        columns = [(name,) for name in domain.names]
        if len(columns) == 1:
            return _final(domain, known, answers.run(NoisyMarginals.evenly(columns, share)))
        rounds, halving = self.rounds or 2 * len(columns), by_law(share, TWICE, TWICE_RHO)
        whole = 1 + by_law(share, SELECTION, SELECTION_RHO)
        measure = share / (len(columns) + rounds * whole)
        measured = answers.run(NoisyMarginals.evenly(columns, measure * len(columns)))
        left = share - measure * len(columns)
        pool = _pool(domain, random)
        fitted = _fitted(domain, known, measured, None)
        while left > 0:
            if left < 2 * measure * whole:
                measure = left / whole
            candidates = self._affordable(domain, pool, measured)
            clique = _selected(answers, candidates, fitted, measure, measure * (whole - 1))
            before = fitted.marginal(clique)
            measured += answers.run(NoisyMarginals(((clique, measure),)))
            left -= measure * whole
            if left > 0:
                fitted = _fitted(domain, known, measured, fitted)
                moved = float(np.abs(fitted.marginal(clique) - before).sum())
                if moved <= float(NoisyMarginals.scale(measure)) * before.size:
                    measure = halving * measure
        return _final(domain, known, measured)

    def _affordable(
        self, domain: Domain, pool: Mapping[Clique, int], measured: Sequence[Measurement]
    ) -> dict[Clique, int]:
        """The candidates with few enough cells; on a large domain, those of the tree a model would need."""
        fitting = {clique: weight for clique, weight in pool.items() if domain.size(clique) <= self.most_cells}
        if domain.cells > DENSE_CELLS:
            present = [m.columns for m in measured]
            trees = {clique: junction_tree(domain, [*present, clique]) for clique in fitting}
            fitting = {clique: pool[clique] for clique, tree in trees.items() if tree.cells <= self.most_cells}
        return fitting or {clique: weight for clique, weight in pool.items() if len(clique) == 1}


def _pool(domain: Domain, random: np.random.Generator) -> dict[Clique, int]:
    """Marginals of one to three columns with their weights; of very many triples some at random."""
    ways = min(WAYS, len(domain.names))
    workload = list(combinations(domain.names, ways))
    small = [clique for size in range(1, ways) for clique in combinations(domain.names, size)]
    large = some(workload, max(1, MOST_CANDIDATES - len(small)), random)
    return {clique: sum(len({*clique} & {*s}) for s in workload) for clique in [*small, *large]}


def _selected(
    answers: Answers, candidates: Mapping[Clique, int], fitted: Current, measure: Fraction, share: Fraction
) -> Clique:
    models = tuple((clique, rounded(fitted.marginal(clique))) for clique in candidates)
    weights = tuple(map(Fraction, candidates.values()))
    biases = tuple(NoisyMarginals.scale(measure) * model.size for _, model in models)
    scores = MarginalDistances(models, weights, biases)
    return models[answers.run(NoisySelection(scores, share))][0]


def _fitted(
    domain: Domain, known: Known, measured: Sequence[Measurement], before: Current | None, sweeps: int = 10
) -> Current:
    """The model of what was measured; on a dense domain it starts from the one before.

    Consistent marginals, large ones first, are a little flattened so that no cell is lost to later rounds.
    """
    if domain.cells > DENSE_CELLS:
        return graphical.estimate(domain, measured, known.zeros, known.n)
    cells = before if isinstance(before, Expected) else Expected(domain, known)
    smoothing = SMOOTHING if sweeps < 20 else 0.0
    every = sorted(joined(measured), key=lambda one: -one.counts.size)
    tables = consistent(every, known.n, known.zeros, 30)
    flat = ((1 - smoothing) * table + smoothing * known.n / table.size for table in tables)
    cells.match(list(zip((one.columns for one in every), flat, strict=True)), sweeps, 1e-4)
    return cells


def _final(domain: Domain, known: Known, measured: Sequence[Measurement]) -> RowModel:
    """The model of everything, fitted afresh."""
    fitted = _fitted(domain, known, measured, None, 50)
    return fitted.model() if isinstance(fitted, Expected) else fitted

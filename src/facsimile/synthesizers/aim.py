"""AIM: an adaptive and iterative mechanism, in pure differential privacy.

After every column was measured, each round selects a marginal r of up to three columns by the score
w_r(‖M_r(R) − M_r(p)‖₁ − b·n_r): what the model p gets wrong, less the L1 error b·n_r that a measurement with
noise of scale b = 2/ε_m on n_r cells would have itself; w_r counts the columns that r shares with the workload
of all triples. The marginal is measured and the model fitted again. Where a measurement moved the model by no
more than noise, the budget of a round doubles. The last round takes what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Protocol

import numpy as np
import numpy.typing as npt

from facsimile.privacy.mechanisms import NoisyMarginals, NoisySelection
from facsimile.privacy.queries import MarginalDistances
from facsimile.spec.families import DENSE_CELLS
from facsimile.synthesizers.base import Answers, Known, Model, Synthesizer
from facsimile.synthesizers.cells import Cells
from facsimile.synthesizers.consistency import Noisy, consistent
from facsimile.synthesizers.network import emptied
from facsimile.table.domain import Clique, Domain

Floats = npt.NDArray[np.float64]
WAYS = 3
MOST_CANDIDATES = 500
SELECTION = Fraction(1, 4)
SMOOTHING = 1e-4


class Fitted(Protocol):
    """A model between rounds."""

    def marginal(self, clique: Clique) -> Floats:
        """The expected counts of some columns."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """A noisy marginal and the scale of its noise."""

    clique: Clique
    counts: Floats
    scale: float


@dataclass(frozen=True)
class AIM(Synthesizer):
    """`rounds` None: twice the number of columns. `most_cells` bounds a marginal, or the tree of a model."""

    rounds: int | None = None
    most_cells: int = 200_000

    def __post_init__(self) -> None:
        if (self.rounds is not None and self.rounds < 1) or self.most_cells < 1:
            raise ValueError("rounds and most_cells are positive")

    @classmethod
    def of(cls, hyperparameters: Mapping[str, str]) -> AIM:
        """From the text of a configuration."""
        return cls(**{name: int(value) for name, value in hyperparameters.items()})

    def holds(self, domain: Domain, known: Known) -> bool:
        """Where the domain is too large to be held, a junction tree must hold the rules."""
        from facsimile.synthesizers import graphical

        return domain.cells <= DENSE_CELLS or graphical.holds(domain, known.zeros)

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Model:
        """Measure columns, then select, measure and fit until ε is spent."""
        domain = answers.domain
        columns = [(name,) for name in domain.names]
        if len(columns) == 1:
            return _final(domain, known, _measured(answers, columns, epsilon))
        rounds = self.rounds or 2 * len(columns)
        measure = epsilon / (len(columns) + rounds * (1 + SELECTION))
        measured = _measured(answers, columns, measure * len(columns))
        left = epsilon - measure * len(columns)
        pool = _pool(domain, random)
        fitted = _fitted(domain, known, measured, None)
        while left > 0:
            if left < 2 * measure * (1 + SELECTION):
                measure = left / (1 + SELECTION)
            candidates = self._affordable(domain, pool, measured)
            clique = _selected(answers, candidates, fitted, measure)
            before = fitted.marginal(clique)
            measured += _measured(answers, [clique], measure)
            left -= measure * (1 + SELECTION)
            if left > 0:
                fitted = _fitted(domain, known, measured, fitted)
                moved = float(np.abs(fitted.marginal(clique) - before).sum())
                if moved <= float(2 / measure) * domain.size(clique):
                    measure = 2 * measure
        return _final(domain, known, measured)

    def _affordable(
        self, domain: Domain, pool: Mapping[Clique, int], measured: Sequence[Measurement]
    ) -> dict[Clique, int]:
        """The candidates with few enough cells; on a large domain, those of the tree a model would need."""
        fitting = {clique: weight for clique, weight in pool.items() if domain.size(clique) <= self.most_cells}
        if domain.cells > DENSE_CELLS:
            from facsimile.synthesizers.junction import junction_tree

            present = [m.clique for m in measured]
            fitting = {
                clique: weight
                for clique, weight in fitting.items()
                if junction_tree(domain, [*present, clique]).cells <= self.most_cells
            }
        return fitting or {clique: weight for clique, weight in pool.items() if len(clique) == 1}


def _pool(domain: Domain, random: np.random.Generator) -> dict[Clique, int]:
    """Marginals of one to three columns with their weights; of very many triples some at random."""
    d = len(domain.names)
    ways = min(WAYS, d)
    workload = list(combinations(domain.names, ways))
    small = [clique for size in range(1, ways) for clique in combinations(domain.names, size)]
    some = workload
    if len(small) + len(workload) > MOST_CANDIDATES:
        room = max(1, MOST_CANDIDATES - len(small))
        some = [
            workload[i] for i in sorted(random.choice(len(workload), min(room, len(workload)), replace=False))
        ]
    return {clique: sum(len({*clique} & {*s}) for s in workload) for clique in [*small, *some]}


def _selected(answers: Answers, candidates: Mapping[Clique, int], fitted: Fitted, measure: Fraction) -> Clique:
    cliques = list(candidates)
    models = tuple((c, np.rint(fitted.marginal(c)).astype(np.int64)) for c in cliques)
    weights = tuple(Fraction(candidates[c]) for c in cliques)
    biases = tuple(2 / measure * model.size for _, model in models)
    return cliques[answers.run(NoisySelection(MarginalDistances(models, weights, biases), SELECTION * measure))]


def _measured(answers: Answers, cliques: Sequence[Clique], epsilon: Fraction) -> list[Measurement]:
    found = answers.run(NoisyMarginals.evenly(cliques, epsilon))
    scale = float(2 * len(cliques) / epsilon)
    return [Measurement(clique, found[clique].astype(np.float64), scale) for clique in cliques]


def _joined(measured: Sequence[Measurement]) -> list[Measurement]:
    """One measurement for each marginal, repeated ones averaged by their precision; large ones first."""
    found: dict[Clique, Measurement] = {}
    for new in measured:
        old = found.get(new.clique)
        if old is not None:
            a, b = old.scale**-2, new.scale**-2
            new = replace(new, counts=(a * old.counts + b * new.counts) / (a + b), scale=(a + b) ** -0.5)
        found[new.clique] = new
    return sorted(found.values(), key=lambda m: -m.counts.size)


def _fitted(
    domain: Domain, known: Known, measured: Sequence[Measurement], before: Fitted | None, sweeps: int = 10
) -> Fitted:
    """The model of what was measured; on a dense domain it starts from the one before."""
    if domain.cells > DENSE_CELLS:
        from facsimile.synthesizers.graphical import estimate

        return estimate(domain, [(m.clique, m.counts, m.scale) for m in measured], known.zeros, known.n)
    cells = before if isinstance(before, Cells) else Cells(domain, known)
    smoothing = SMOOTHING if sweeps < 20 else 0.0
    targets = _targets(domain, known, measured, smoothing)
    cells.match(targets, sweeps, 1e-4)
    return cells


def _final(domain: Domain, known: Known, measured: Sequence[Measurement]) -> Model:
    """The model of everything, fitted afresh."""
    fitted = _fitted(domain, known, measured, None, 50)
    return fitted.model() if isinstance(fitted, Cells) else fitted  # type: ignore[return-value]


def _targets(
    domain: Domain, known: Known, measured: Sequence[Measurement], smoothing: float
) -> list[tuple[Clique, Floats]]:
    """Consistent marginals, a little flattened so that no cell is lost to later rounds."""
    joined = _joined(measured)
    noisy = [
        Noisy(m.clique, m.counts, 2 * m.scale**2, emptied(known.zeros, domain, [(c, None) for c in m.clique]))
        for m in joined
    ]
    tables = consistent(noisy, known.n, 30)
    return [
        (m.clique, (1 - smoothing) * table + smoothing * known.n / table.size)
        for m, table in zip(joined, tables, strict=True)
    ]

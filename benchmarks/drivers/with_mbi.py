"""MST and AIM after their papers, under ρ-zCDP for replaced records, on the estimator of mbi 2.

mbi estimates a graphical model from noisy tables and draws from it; its package on PyPI holds no mechanism.
MST is that of McKenna, Miklau and Sheldon, Winning the NIST contest (2021), AIM that of McKenna, Mullins,
Sheldon and Miklau (2022), with their constants. A replaced record moves two cells of a table by one: a table
with Gaussian noise of deviation σ costs 1/σ². The L1 distance of a table from a model moves by at most 2, so
a choice by the exponential mechanism with exp(ε·score/4) costs ε²/8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import jax  # type: ignore[import-not-found]

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_enable_compilation_cache", False)

import networkx as nx  # noqa: E402
import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
import opt_einsum  # type: ignore[import-not-found]  # noqa: E402
from mbi import Dataset, Domain, LinearMeasurement, junction_tree, marginal_oracles  # type: ignore[import-not-found]  # noqa: E402
from mbi.estimation import MirrorDescent  # type: ignore[import-not-found]  # noqa: E402
from task import Codes, Task, drive  # type: ignore[import-not-found]  # noqa: E402

Clique = tuple[str, ...]
Floats = npt.NDArray[np.float64]
MEGABYTES = 80.0
MEASURE = 0.9
ROUNDS_PER_COLUMN = 16
MOST_CELLS = 10_000
TRIPLES_UP_TO = 8
"""So many columns: all triples are the workload of AIM; beyond, all pairs."""


class Records:
    """Records, noise and estimates."""

    def __init__(self, codes: Codes, sizes: Mapping[str, int], seed: int) -> None:
        self.domain = Domain(tuple(sizes), tuple(sizes.values()))
        self.data = Dataset({name: codes[:, place] for place, name in enumerate(sizes)}, self.domain)
        self.n = len(codes)
        self.random = np.random.default_rng(seed)

    def counts(self, clique: Clique) -> Floats:
        return np.asarray(self.data.project(clique).datavector(), np.float64)

    def measured(self, clique: Clique, sigma: float) -> Any:
        exact = self.counts(clique)
        return LinearMeasurement(exact + self.random.normal(0, sigma, exact.size), clique, sigma)

    def chosen(self, scores: Sequence[float], epsilon: float, weight: float = 1.0) -> int:
        """The exponential mechanism; a replaced record moves a score by at most 2·weight."""
        logits = np.asarray(scores) * epsilon / (4 * weight)
        odds = np.exp(logits - logits.max())
        return int(self.random.choice(len(odds), p=odds / odds.sum()))

    def estimated(self, measurements: list[Any], steps: int, start: Any = None) -> Any:
        return MirrorDescent().estimate(
            self.domain, measurements, known_total=float(self.n), iters=steps, warm_start=start
        )


def expected(model: Any, cliques: Iterable[Clique]) -> dict[Clique, Floats]:
    """The model's tables by sums of products of shares given a parent in its junction tree.

    Not by mbi itself, which compiles each of them, and that takes longer than to compute them.
    """
    tree, _ = junction_tree.make_junction_tree(model.domain, list(model.cliques))
    joint = marginal_oracles.message_passing_stable(model.potentials.expand(list(tree.nodes)), 1.0)
    parts: list[Any] = []
    for root in (min(component) for component in nx.connected_components(tree)):
        for node, parent in [(root, ()), *nx.bfs_predecessors(tree, root)]:
            table = joint[node]
            names, shares = table.domain.attributes, np.asarray(table.values)
            own = tuple(place for place, name in enumerate(names) if name not in parent)
            given = shares.sum(axis=own, keepdims=True)
            parts += [np.divide(shares, given, out=np.zeros_like(shares), where=given > 0), names]
    found = {clique: opt_einsum.contract(*parts, clique).ravel() for clique in cliques}
    return {clique: values * (float(model.total) / values.sum()) for clique, values in found.items()}


def mst(task: Task) -> Codes:
    """A third of ρ each for the columns, the tree and its pairs; rare codes are merged in between."""
    names, sizes = list(task.sizes), dict(task.sizes)
    codes, third = task.codes(), task.rho / 3
    records = Records(codes, sizes, task.seed)
    sigma = math.sqrt(len(names) / third)
    columns = {name: records.measured((name,), sigma) for name in names}
    seen = {name: np.flatnonzero(columns[name].noisy_measurement >= 3 * sigma) for name in names}
    seen = {name: kept if len(kept) else np.arange(sizes[name]) for name, kept in seen.items()}
    merged = np.empty_like(codes)
    for place, name in enumerate(names):
        merge = np.full(sizes[name], len(seen[name]))
        merge[seen[name]] = np.arange(len(seen[name]))
        merged[:, place] = merge[codes[:, place]]
        sizes[name] = len(seen[name]) + (len(seen[name]) < sizes[name])
    small = Records(merged, sizes, task.seed + 1)
    log = [part for name in names for part in _merged(columns[name], seen[name], sigma)]
    pairs = _tree(small, small.estimated(log, 1000), third)
    model = small.estimated([*log, *(small.measured(p, math.sqrt(len(pairs) / third)) for p in pairs)], 5000)
    drawn = _drawn(model, task)
    for place, name in enumerate(names):
        rare = np.setdiff1d(np.arange(task.sizes[name]), seen[name])
        values = np.append(seen[name], -1)[drawn[:, place]]
        values[values < 0] = small.random.choice(rare, int((values < 0).sum())) if len(rare) else 0
        drawn[:, place] = values
    return drawn


def _merged(measurement: Any, seen: Codes, sigma: float) -> list[Any]:
    """A column's noisy counts after the merge: of the codes kept, and the sum of the others."""
    counts = np.asarray(measurement.noisy_measurement)
    rest = len(counts) - len(seen)
    if not rest:
        return [measurement]
    (name,), kept = measurement.clique, len(seen)
    total = counts.sum() - counts[seen].sum()
    return [
        LinearMeasurement(counts[seen], (name,), sigma, query=lambda f: f.datavector()[:kept]),
        LinearMeasurement(
            np.array([total]), (name,), sigma * math.sqrt(rest), query=lambda f: f.datavector()[kept:]
        ),
    ]


def _tree(records: Records, model: Any, rho: float) -> list[Clique]:
    """A spanning tree of strong pairs, edge by edge."""
    names = records.domain.attributes
    epsilon = math.sqrt(8 * rho / (len(names) - 1))
    guesses = expected(model, combinations(names, 2))
    scores = {pair: float(np.abs(guesses[pair] - records.counts(pair)).sum()) for pair in guesses}
    forest: Any = nx.Graph()
    forest.add_nodes_from(names)
    while forest.number_of_edges() < len(names) - 1:
        part = {name: i for i, tree in enumerate(nx.connected_components(forest)) for name in tree}
        open_pairs = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        forest.add_edge(*open_pairs[records.chosen([scores[pair] for pair in open_pairs], epsilon)])
    return [pair for pair in scores if forest.has_edge(*pair)]


def aim(task: Task) -> Codes:
    """Rounds that choose the worst table by its weight in the workload, measure it, and anneal."""
    names = list(task.sizes)
    records = Records(task.codes(), task.sizes, task.seed)
    weights = _weights(task.sizes)
    exact = {clique: records.counts(clique) for clique in weights}
    step = task.rho / (ROUNDS_PER_COLUMN * len(names))
    log = [records.measured((name,), _sigma(step)) for name in names]
    spent = MEASURE * step * len(names)
    model = records.estimated(log, 1000)
    while task.rho - spent > 1e-9 * task.rho:
        if task.rho - spent < 2 * step:
            step = task.rho - spent
        spent += step
        sigma = _sigma(step)
        limit = MEGABYTES * spent / task.rho
        candidates = [c for c in weights if model.marginals.supports(c) or _size(model, c) <= limit]
        guesses, noise = expected(model, candidates), math.sqrt(2 / math.pi) * sigma
        scores = [
            weights[c] * float(np.abs(exact[c] - guesses[c]).sum() - noise * exact[c].size) for c in candidates
        ]
        epsilon = math.sqrt(8 * (1 - MEASURE) * step)
        clique = candidates[records.chosen(scores, epsilon, max(weights[c] for c in candidates))]
        log.append(records.measured(clique, sigma))
        model = records.estimated(log, 1000, model)
        if np.abs(expected(model, [clique])[clique] - guesses[clique]).sum() <= noise * exact[clique].size:
            step *= 4
    return _drawn(model, task)


def _sigma(rho: float) -> float:
    return math.sqrt(1 / (MEASURE * rho))


def _size(model: Any, clique: Clique) -> float:
    return float(junction_tree.hypothetical_model_size(model.domain, [*model.cliques, clique]))


def _weights(sizes: Mapping[str, int]) -> dict[Clique, float]:
    """Every table within one of the workload, by how much it shares with all of it."""
    ways = 3 if len(sizes) <= TRIPLES_UP_TO else 2
    workload = [c for c in combinations(sizes, ways) if math.prod(sizes[name] for name in c) <= MOST_CELLS]
    closure = {part for c in workload for k in range(1, ways + 1) for part in combinations(c, k)}
    return {
        c: float(sum(len({*c} & {*w}) for w in workload)) for c in sorted(closure, key=lambda c: (len(c), c))
    }


def _drawn(model: Any, task: Task) -> Codes:
    """mbi draws from NumPy's own generator."""
    np.random.seed(task.seed)
    data = model.synthetic_data(task.rows).to_dict()
    return np.column_stack([np.asarray(data[name], np.int64) for name in task.sizes])


if __name__ == "__main__":
    drive(lambda task: {"MST": mst, "AIM": aim}[task.algorithm](task))

"""Questions: of every listed mechanism, query and score the sensitivity, the noise, and neighbours apart."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from facsimile.audit.examples import BOUNDS, Example, examples
from facsimile.documents.evidence import Evidence
from facsimile.privacy.mechanisms import NoisyAnswer
from facsimile.privacy.queries import PredictionGap, Query
from facsimile.testing import check_parameters, moves
from facsimile.testing.apart import ALIVE, apart
from facsimile.testing.contract import Broken
from facsimile.testing.drawn import check_noise
from facsimile.testing.mechanisms import NoNoise
from facsimile.testing.neighbours import tables
from facsimile.testing.queries import THRESHOLD

SHARP = 0.9
HOSTILE_PAIRS = 60
"""Neighbours that each hostile question is put to."""
SENSITIVITIES = {
    "LargestDifference": "queries.sensitivity.counts_share",
    "ClippedRatio": "queries.sensitivity.ratio_clipped",
    "Unlikeness": "queries.sensitivity.ratio_sharp",
    "FloorMeans": "queries.sensitivity.group_mean",
}


def sensitivities() -> Iterator[Evidence]:
    """With the noise off, over all neighbours of a tiny domain: no record moves an answer by more than its
    sensitivity, and some by nearly as much."""
    said = "one record moves the exact answer, as a share of its sensitivity: all neighbours of a tiny domain"
    largest = 0.0
    for example in examples():
        most, _ = moves(example.mechanism, example.pairs)
        names = [example.theorem, *filter(None, [SENSITIVITIES.get(example.name)])]
        for theorem in names:
            yield Evidence.bounded(
                theorem, "sensitivity", example.name, said, 1.0, most, SHARP if example.tight else None
            )
        if isinstance(example.mechanism, NoisyAnswer):
            largest = max(largest, _excess(example.mechanism.query, example))
        if isinstance(example.mechanism, NoisyAnswer) and isinstance(example.mechanism.query, PredictionGap):
            yield _bounds_only(example.mechanism.query, example, said)
    told = "one record moves the excess over a threshold, which may be by 1"
    yield Evidence.bounded("queries.base.excess", "sensitivity", "every query", told, 1.0, largest, SHARP)


def _bounds_only(query: PredictionGap, example: Example, said: str) -> Evidence:
    """The form of a gap that knows bounds alone, at 2(U − L)/n: looser by its nature."""
    loose = PredictionGap(query.real, query.candidate, BOUNDS, None, query.n)
    most, _ = moves(NoisyAnswer(loose, Fraction(1), 1000), example.pairs)
    return Evidence.bounded(
        "queries.sensitivity.prediction_error", "sensitivity", "bounds alone", said, 1.0, most
    )


def _excess(query: Query, example: Example) -> float:
    """The furthest that a record moves the excess; pairs on which records are drawn are left out."""
    found = 0.0
    for pair in example.pairs:
        noise = NoNoise()
        one, other = (query.excess(table, THRESHOLD, noise) for table in pair)
        if not noise.drew:
            found = max(found, float(abs(one - other)))
    return found


def laws() -> Iterator[Evidence]:
    """Real noise has the law of its scale and of none that is 0.7 or 1.3 times as large; answers are on their
    grid; the exact value comes no more often than by chance; draws do not repeat each other."""
    for example in examples():
        if example.theorem.startswith("mechanisms."):
            yield _law(example)


def _law(example: Example) -> Evidence:
    said = (
        "the mean size of real noise; law, grid, atoms and independence tested, scales ×0.7 and ×1.3 rejected"
    )
    try:
        found = check_noise(example.mechanism, tables(example.pairs))
    except Broken as broken:
        return Evidence(example.theorem, "law", example.name, f"real noise: {broken}", None, None, False)
    wanted, seen = found[0].scale
    return Evidence(example.theorem, "law", example.name, said, wanted, seen, True)


def distinguished() -> Iterator[Evidence]:
    """Draws on two neighbours are told apart no better than is charged, and on a tight pair nearly as well."""
    for example in examples():
        found = apart(example.mechanism, example.pair, draws=example.draws)
        said = f"a lower bound on the loss from {example.draws:,} draws on each of two neighbours"
        yield Evidence.bounded(
            example.theorem, "distinguished", example.name, said, found.declared, found.found, _alive(example)
        )


def hostile() -> Iterator[Evidence]:
    """Questions with every number exchanged for hostile ones: each is refused without a look at a table, or
    answered for all tables within its sensitivity."""
    said = "hostile questions, each refused whatever the table or answered within its sensitivity"
    for example in examples():
        pairs = example.pairs[:: len(example.pairs) // HOSTILE_PAIRS + 1]
        try:
            asked = check_parameters(example.mechanism, example.domain, example.n, changes=10, pairs=pairs)
        except Broken as broken:
            yield Evidence(example.theorem, "hostile", example.name, f"hostile: {broken}", None, None, False)
        else:
            yield Evidence(example.theorem, "hostile", example.name, said, None, float(asked), asked > 0)


def _alive(example: Example) -> float | None:
    return ALIVE if example.tight else None

"""Statistics of the confidential table: a closed, listed set, each with its sensitivity and proof."""

from facsimile.privacy.queries.base import Query, Scores
from facsimile.privacy.queries.counts import CellCount
from facsimile.privacy.queries.distances import MarginalDistances
from facsimile.privacy.queries.faithfulness import Unmatched
from facsimile.privacy.queries.marginals import ClippedRatio, LargestDifference, Unlikeness
from facsimile.privacy.queries.means import FloorMeans, ResizedMeans
from facsimile.privacy.queries.regression import OneStep, PredictionGap, WorstExcess

QUERIES: tuple[type[Query], ...] = (
    CellCount,
    LargestDifference,
    ClippedRatio,
    Unlikeness,
    FloorMeans,
    ResizedMeans,
    OneStep,
    PredictionGap,
    Unmatched,
    WorstExcess,
)
SCORES: tuple[type[Scores], ...] = (MarginalDistances,)

__all__ = [
    "QUERIES",
    "SCORES",
    "CellCount",
    "ClippedRatio",
    "FloorMeans",
    "LargestDifference",
    "MarginalDistances",
    "OneStep",
    "PredictionGap",
    "Query",
    "ResizedMeans",
    "Scores",
    "Unlikeness",
    "Unmatched",
    "WorstExcess",
]

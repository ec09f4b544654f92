"""Statistics of the confidential table: a closed, listed set, each with its sensitivity and proof."""

from facsimile.privacy.queries.base import Query, Scores
from facsimile.privacy.queries.counts import CellCount
from facsimile.privacy.queries.distances import MarginalDistances
from facsimile.privacy.queries.faithfulness import Unmatched
from facsimile.privacy.queries.information import Dependences
from facsimile.privacy.queries.marginals import (
    ClippedRatio,
    LargestDifference,
    TailDifference,
    TotalVariation,
    Unlikeness,
)
from facsimile.privacy.queries.means import FloorMeans, ResizedMeans
from facsimile.privacy.queries.regression import OneStep, PredictionGap, WorstExcess
from facsimile.privacy.queries.sums import WorstSum

QUERIES: tuple[type[Query], ...] = (
    CellCount,
    LargestDifference,
    ClippedRatio,
    Unlikeness,
    TotalVariation,
    TailDifference,
    WorstSum,
    FloorMeans,
    ResizedMeans,
    OneStep,
    PredictionGap,
    Unmatched,
    WorstExcess,
)
SCORES: tuple[type[Scores], ...] = (MarginalDistances, Dependences)

__all__ = [
    "QUERIES",
    "SCORES",
    "CellCount",
    "ClippedRatio",
    "Dependences",
    "FloorMeans",
    "LargestDifference",
    "MarginalDistances",
    "OneStep",
    "PredictionGap",
    "Query",
    "ResizedMeans",
    "Scores",
    "TailDifference",
    "TotalVariation",
    "Unlikeness",
    "Unmatched",
    "WorstExcess",
    "WorstSum",
]

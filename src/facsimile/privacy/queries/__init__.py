"""Statistics of the confidential table: a closed, listed set, each with its sensitivity and proof."""

from facsimile.privacy.queries.base import Query as Query
from facsimile.privacy.queries.base import Scores as Scores
from facsimile.privacy.queries.distances import BoxDistances as BoxDistances
from facsimile.privacy.queries.distances import MarginalDistances as MarginalDistances
from facsimile.privacy.queries.faithfulness import Unmatched as Unmatched
from facsimile.privacy.queries.information import Dependences as Dependences
from facsimile.privacy.queries.marginals import ClippedRatio as ClippedRatio
from facsimile.privacy.queries.marginals import LargestDifference as LargestDifference
from facsimile.privacy.queries.marginals import TailDifference as TailDifference
from facsimile.privacy.queries.marginals import TotalVariation as TotalVariation
from facsimile.privacy.queries.marginals import Unlikeness as Unlikeness
from facsimile.privacy.queries.means import FloorMeans as FloorMeans
from facsimile.privacy.queries.means import ResizedMeans as ResizedMeans
from facsimile.privacy.queries.regression import OneStep as OneStep
from facsimile.privacy.queries.regression import PredictionGap as PredictionGap
from facsimile.privacy.queries.regression import WorstExcess as WorstExcess
from facsimile.privacy.queries.sums import WorstSum as WorstSum
from facsimile.privacy.queries.view import Viewed as Viewed

QUERIES: tuple[type[Query], ...] = (
    LargestDifference, ClippedRatio, Unlikeness, TotalVariation, TailDifference, WorstSum, FloorMeans,
    ResizedMeans, OneStep, PredictionGap, Unmatched, WorstExcess, Viewed,
)  # fmt: skip
SCORES: tuple[type[Scores], ...] = (MarginalDistances, BoxDistances, Dependences)

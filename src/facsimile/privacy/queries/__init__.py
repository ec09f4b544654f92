"""Statistics of the confidential table: a closed, listed set, each with its sensitivity and proof."""

from facsimile.privacy.queries.base import Query, Scores
from facsimile.privacy.queries.counts import CellCount
from facsimile.privacy.queries.distances import MarginalDistances

QUERIES: tuple[type[Query], ...] = (CellCount,)
SCORES: tuple[type[Scores], ...] = (MarginalDistances,)

__all__ = ["QUERIES", "SCORES", "CellCount", "MarginalDistances", "Query", "Scores"]

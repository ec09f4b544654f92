"""The mechanisms: a closed, listed set. Nothing else sees a table."""

from typing import Any

from facsimile.privacy.mechanisms.answers import Answer, NoisyAnswer
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.mechanisms.marginals import NoisyMarginals
from facsimile.privacy.mechanisms.selection import NoisySelection
from facsimile.privacy.mechanisms.training import NoisyMoments

MECHANISMS: tuple[type[Mechanism[Any]], ...] = (NoisyMarginals, NoisyAnswer, NoisySelection, NoisyMoments)

__all__ = [
    "MECHANISMS",
    "Answer",
    "Mechanism",
    "NoisyAnswer",
    "NoisyMarginals",
    "NoisyMoments",
    "NoisySelection",
]

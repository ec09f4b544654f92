"""The mechanisms: a closed, listed set. Nothing else sees a table."""

from typing import Any

from facsimile.privacy.mechanisms.answers import Answer as Answer
from facsimile.privacy.mechanisms.answers import NoisyAnswer as NoisyAnswer
from facsimile.privacy.mechanisms.answers import NoisySelection as NoisySelection
from facsimile.privacy.mechanisms.base import Mechanism as Mechanism
from facsimile.privacy.mechanisms.marginals import NoisyMarginals as NoisyMarginals
from facsimile.privacy.mechanisms.scores import NoisyScores as NoisyScores
from facsimile.privacy.mechanisms.steps import NoisySteps as NoisySteps
from facsimile.privacy.mechanisms.training import NoisyMoments as NoisyMoments
from facsimile.privacy.mechanisms.votes import NoisyVotes as NoisyVotes

MECHANISMS: tuple[type[Mechanism[Any]], ...] = (
    NoisyMarginals,
    NoisyAnswer,
    NoisySelection,
    NoisyMoments,
    NoisyScores,
    NoisySteps,
    NoisyVotes,
)

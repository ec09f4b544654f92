"""Rounds: families that select a question, measure it and learn the answer, over and over.

In each of T rounds the question that the model answers worst is selected and then measured, with ε/(2T) for
each; of a ρ a tenth of a round selects. The same one may be chosen again. Where there is one question only, all
of a round measures it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from facsimile.privacy.mechanisms import Mechanism, NoisySelection
from facsimile.privacy.queries import Scores
from facsimile.synthesizers.base import Answers, Known, RowModel, Synthesizer, by_law
from facsimile.table.domain import Domain

SELECTION, SELECTION_RHO = Fraction(1, 2), Fraction(1, 10)


class Learner(ABC):
    """A model between rounds, and the questions that may be asked next: by their place, at least one."""

    @abstractmethod
    def __len__(self) -> int:
        """How many questions there are."""

    @abstractmethod
    def scores(self, share: Fraction) -> Scores:
        """How badly the model answers each question, if measured with so much of ε."""

    @abstractmethod
    def question(self, place: int, share: Fraction) -> Mechanism[Any]:
        """The measurement of the question at a place of the scores."""

    @abstractmethod
    def learn(self, place: int, answer: Any) -> None:
        """Take up an answer."""

    @abstractmethod
    def model(self) -> RowModel:
        """What was learnt."""


@dataclass(frozen=True)
class Rounds(Synthesizer):
    """How many questions there are to choose from, how many rounds, and how many updates in each."""

    num_query: int = 128
    num_iterations: int = 100
    num_inner_updates: int = 25

    def __post_init__(self) -> None:
        if min(value for value in vars(self).values() if isinstance(value, int)) < 1:
            raise ValueError("every hyperparameter is at least 1")

    @abstractmethod
    def learner(self, domain: Domain, known: Known, random: np.random.Generator) -> Learner:
        """Before anything was asked."""

    def fit(self, answers: Answers, known: Known, share: Fraction, random: np.random.Generator) -> RowModel:
        learner = self.learner(answers.domain, known, random)
        part = share / self.num_iterations
        spent = part if len(learner) == 1 else part * (1 - by_law(share, SELECTION, SELECTION_RHO))
        for _ in range(self.num_iterations):
            place = 0 if spent == part else answers.run(NoisySelection(learner.scores(spent), part - spent))
            learner.learn(place, answers.run(learner.question(place, spent)))
        return learner.model()

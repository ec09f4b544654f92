"""Rounds: the hyperparameters of families that select, measure and learn one question after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from facsimile.synthesizers.base import Synthesizer


@dataclass(frozen=True)
class Rounds(Synthesizer):
    """How many questions there are to choose from, how many rounds, and how many updates in each."""

    num_query: int = 128
    num_iterations: int = 100
    num_inner_updates: int = 25

    def __post_init__(self) -> None:
        if min(vars(self).values()) < 1:
            raise ValueError("every hyperparameter is at least 1")

    @classmethod
    def of(cls, hyperparameters: Mapping[str, str]) -> Self:
        """From the text of a configuration."""
        return cls(**{name: int(value) for name, value in hyperparameters.items()})

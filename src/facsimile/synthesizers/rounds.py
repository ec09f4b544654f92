"""Rounds: the hyperparameters of families that select, measure and learn one question after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from facsimile.synthesizers.base import Synthesizer


@dataclass(frozen=True)
class Rounds(Synthesizer):
    """How many questions there are to choose from, how many rounds, and how many updates in each."""

    num_query: int = 128
    num_iterations: int = 100
    num_inner_updates: int = 25

    def __post_init__(self) -> None:
        if min(value for value in vars(self).values() if isinstance(value, int)) < 1:
            raise ValueError("every hyperparameter is at least 1")

    @classmethod
    def of(cls, hyperparameters: Mapping[str, str]) -> Self:
        """From the text of a configuration."""
        numbers = {field.name for field in fields(cls) if field.type == "int"}
        made: dict[str, Any] = {k: int(v) if k in numbers else v for k, v in hyperparameters.items()}
        return cls(**made)

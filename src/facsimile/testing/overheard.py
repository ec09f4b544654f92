"""Overheard: what a mechanism asks the sampler for, and what is drawn.

`Overheard` stands before real noise and keeps both. `Retold` draws the same again for another table: whatever a
mechanism does with noisy answers, it does again, and what it asks about is what that table has in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, Literal

import numpy as np

from facsimile.privacy.mechanisms import Answer
from facsimile.privacy.noise import Integers, Noise
from facsimile.table.exact import integers
from facsimile.table.measurement import Measurement
from facsimile.testing.contract import Broken, require
from facsimile.testing.laws import (
    Law,
    discrete_gaussian,
    discrete_laplace,
    exponential_mechanism,
    permute_and_flip,
)

Name = Literal["laplace", "gaussian", "argmax", "gumbel"]
CHOICES = ("argmax", "gumbel")
LARGEST_SCALE = 10**5


@dataclass(frozen=True, eq=False)
class Call:
    """One call of the sampler: the numbers or scores, their sensitivity (of `gaussian` its square), the share
    they have, and what was drawn: numbers, or the place of a score."""

    name: Name
    values: Integers
    sensitivity: int
    share: Fraction
    drawn: Integers

    @cached_property
    def scale(self) -> float:
        """The size of the noise: b of a Laplace law, σ of a Gaussian; of a choice, what scores are divided
        by."""
        if self.name in ("gaussian", "gumbel"):
            square = self.sensitivity if self.name == "gaussian" else self.sensitivity**2
            return sqrt(square / (2 * float(self.share)))
        return self.sensitivity / float(self.share) * (2 if self.name == "argmax" else 1)

    def law(self, times: float = 1.0) -> Law:
        """The law of the noise at so many times its scale: of each integer within `reach`, or of each place."""
        require(self.scale < LARGEST_SCALE, "its noise is too large to be judged by drawing it")
        if self.name == "laplace":
            return discrete_laplace(times * self.scale, self.reach)
        if self.name == "gaussian":
            return discrete_gaussian(times * self.scale, self.reach)
        scores = self.values.tolist()
        if self.name == "gumbel":
            return np.array(exponential_mechanism(scores, times * self.scale))
        return np.array(permute_and_flip(scores, 1, Fraction(2 / (times * self.scale))))

    @property
    def reach(self) -> int:
        """As far as noise usually comes."""
        return int((6 if self.name == "laplace" else 4) * self.scale) + 3


class Overheard:
    """Noise that keeps every call with what was drawn."""

    def __init__(self, noise: Noise) -> None:
        self._noise, self.calls, self.below_drawn = noise, list[Call](), list[int]()

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        """As drawn."""
        return self._kept(
            "laplace", values, sensitivity, epsilon, self._noise.laplace(values, sensitivity, epsilon)
        )

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        """As drawn."""
        return self._kept("gaussian", values, square, rho, self._noise.gaussian(values, square, rho))

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """As drawn."""
        drawn = self._noise.argmax(scores, sensitivity, epsilon)
        self._kept("argmax", integers(scores), sensitivity, epsilon, np.array([drawn]))
        return drawn

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        """As drawn."""
        drawn = self._noise.gumbel(scores, sensitivity, rho)
        self._kept("gumbel", integers(scores), sensitivity, rho, np.array([drawn]))
        return drawn

    def coin(self, probability: Fraction) -> bool:
        """Coins belong to the search."""
        raise Broken("a mechanism flips no coin")

    def below(self, n: int) -> int:
        """As drawn."""
        self.below_drawn.append(self._noise.below(n))
        return self.below_drawn[-1]

    def _kept(self, name: Name, values: Any, sensitivity: int, share: Fraction, drawn: Integers) -> Integers:
        self.calls.append(Call(name, np.asarray(values), sensitivity, share, drawn))
        return drawn


class Retold:
    """Noise that draws what another table was told, and keeps what this one would have been asked about."""

    def __init__(self, heard: Overheard) -> None:
        self._calls, self._below = iter(heard.calls), iter(heard.below_drawn)
        self.values: list[Integers] = []

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        """What was drawn before."""
        return self._again("laplace", values, sensitivity, epsilon)

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        """What was drawn before."""
        return self._again("gaussian", values, square, rho)

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """What was drawn before."""
        return int(self._again("argmax", integers(scores), sensitivity, epsilon)[0])

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        """What was drawn before."""
        return int(self._again("gumbel", integers(scores), sensitivity, rho)[0])

    coin = Overheard.coin

    def below(self, n: int) -> int:
        """What was drawn before."""
        return next(self._below)

    def _again(self, name: Name, values: Any, sensitivity: int, share: Fraction) -> Integers:
        call = next(self._calls, None)
        same = call is not None and (call.name, call.sensitivity, call.share) == (name, sensitivity, share)
        require(same and np.shape(values) == call.values.shape, "what it asks noise for depends on the table")  # type: ignore[union-attr]
        self.values.append(np.asarray(values))
        return call.drawn  # type: ignore[union-attr]


def numbers(answer: Any) -> list[int]:
    """The numbers of an answer, in their order: nothing but what the sampler drew may stand in it."""
    if isinstance(answer, tuple):
        return [number for part in answer for number in numbers(part)]
    if isinstance(answer, Measurement):
        return [int(count) for count in answer.counts.ravel()]
    if isinstance(answer, Answer):
        return [answer.units]
    if isinstance(answer, np.ndarray):
        return [int(number) for number in answer.ravel()]
    return [int(answer)]

"""Mechanisms that somebody learns from while they run, with a learner that goes on alike whatever it hears."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisySteps, NoisyVotes
from facsimile.privacy.noise import Integers, RehearsalNoise
from facsimile.privacy.stream import WORDS
from facsimile.table.critic import UNIT, Critic, Loss
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints
from facsimile.table.teachers import Layer, Lesson
from facsimile.testing.contract import Broken

HALF = WORDS // 2
DELTA = Fraction(1, 10**9)


def critic(domain: Domain, units: int = 3, seed: int = 1, loss: Loss = "cross_entropy") -> Critic:
    """Random weights up to 2."""
    random = np.random.default_rng(seed)
    weights, bias, out = (
        random.integers(-2048, 2049, shape) for shape in ((sum(domain.shape), units), units, units)
    )
    return Critic(domain, weights, bias, out, int(random.integers(-(2**20), 2**20)), loss)


class Deaf:
    """A course that goes through the same critics whatever it hears."""

    def __init__(self, critics: Sequence[Critic]) -> None:
        self.critics, self.heard = critics, list[Ints]()

    @property
    def critic(self) -> Critic:
        """The next of them."""
        return self.critics[len(self.heard) % len(self.critics)]

    @critic.setter
    def critic(self, value: Critic) -> None:
        raise Broken("a course sets its own critic")

    def hear(self, answer: Ints) -> None:
        """Kept, and nothing follows from it."""
        self.heard.append(answer)


class DeafSchool:
    """A school that asks the same whatever it hears."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson, self.heard = lesson, list[Ints]()

    def hear(self, answer: Ints) -> None:
        """Kept, and nothing follows from it."""
        self.heard.append(answer)


class Listening(RehearsalNoise):
    """Noise that adds none to sums, and remembers what it was asked for; keys are drawn from a seed."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)
        self.asked: list[tuple[Integers, int, Fraction]] = []

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        self.asked.append((np.array(values), square, rho))
        return values

    def laplace(self, *_: Any) -> Integers:
        raise Broken("another noise")

    argmax = gumbel = coin = laplace  # type: ignore[assignment]


def steps(domain: Domain, share: int = HALF, most: int = UNIT, times: int = 3, **more: Any) -> NoisySteps[Deaf]:
    """Steps along three critics."""
    critics = [critic(domain, seed=seed, **more) for seed in range(3)]
    return NoisySteps(lambda: Deaf(critics), times, share, most, Fraction(400), DELTA)


def lesson(domain: Domain, rows: int = 6, seed: int = 1) -> Lesson:
    """Random made rows, and random rows to vote on."""
    random = np.random.default_rng(seed)
    made, asked = (random.integers(0, domain.shape, (size, len(domain.shape))) for size in (20, rows))
    layer = [(domain.names, 2 * random.integers(0, 2, domain.shape) - 1) for _ in range(5)]
    return Lesson(Layer(domain, tuple(layer)), made, asked)


def votes(domain: Domain, teachers: int = 2, rounds: int = 2, rows: int = 6) -> NoisyVotes[DeafSchool]:
    """Votes on a few rows."""
    told = lesson(domain, rows)
    return NoisyVotes(lambda: DeafSchool(told), teachers, rounds, rows, Rho(1, 100))


def learners(domain: Domain) -> dict[type, Any]:
    """One of each kind."""
    return {NoisySteps: steps(domain), NoisyVotes: votes(domain)}

"""Mechanisms that somebody learns from while they run, with a learner that goes on alike whatever it hears."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import Mechanism, NoisySteps, NoisyVotes
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
    """A course or a school that goes through the same critics or lessons whatever it hears."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts, self.heard = parts, list[Ints]()
        self.critic = self.lesson = parts[0]

    def hear(self, answer: Ints) -> None:
        """Kept, and nothing follows from it."""
        self.heard.append(answer)
        self.critic = self.lesson = self.parts[len(self.heard) % len(self.parts)]


@dataclass(frozen=True, eq=False)
class Begin:
    """Begins a deaf learner: a value whose every part a hostile caller may change."""

    parts: tuple[Any, ...]

    def __call__(self) -> Deaf:
        """A new one."""
        return Deaf(self.parts)


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
    critics = tuple(critic(domain, seed=seed, **more) for seed in range(3))
    return NoisySteps(Begin(critics), times, share, most, Fraction(400), DELTA)


def lesson(domain: Domain, rows: int = 6, seed: int = 1) -> Lesson:
    """Random made rows, and random rows to vote on."""
    random = np.random.default_rng(seed)
    made, asked = (random.integers(0, domain.shape, (size, len(domain.shape))) for size in (20, rows))
    layer = [(domain.names, 2 * random.integers(0, 2, domain.shape) - 1) for _ in range(5)]
    return Lesson(Layer(domain, tuple(layer)), made, asked)


def votes(domain: Domain, teachers: int = 2, rounds: int = 2, rows: int = 6) -> NoisyVotes[Deaf]:
    """Votes on a few rows."""
    return NoisyVotes(Begin((lesson(domain, rows),)), teachers, rounds, rows, Rho(1, 100))


LEARNERS: dict[type, tuple[Callable[[Domain], Any], dict[str, int], int]] = {
    NoisySteps: (steps, {"share": WORDS}, 4),
    NoisyVotes: (votes, {"teachers": 1}, 1),
}
"""For each kind an example, the parameters at which its secret draw is the same for all tables (every record in
every batch; one teacher), and what a replaced record may move, in units of the declared square: steps declare
one record's clip, and one goes while another comes."""


def learners(domain: Domain) -> dict[type, Any]:
    """One of each kind."""
    return {kind: make(domain) for kind, (make, _, _) in LEARNERS.items()}


def coupled(mechanism: Mechanism[Any]) -> tuple[Mechanism[Any], int] | None:
    """The mechanism with the draw that all tables share, and how many declared squares a replacement may move
    it; None where nobody learns from it."""
    if type(mechanism) not in LEARNERS:
        return None
    _, parameters, squares = LEARNERS[type(mechanism)]
    return dataclasses.replace(cast(Any, mechanism), **parameters), squares

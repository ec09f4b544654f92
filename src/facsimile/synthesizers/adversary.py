"""Adversaries: a generator that learns to please a judge; the judge learns from noisy answers elsewhere.

Both go on for a fixed number of rounds. They circle around each other, so the model is a mean of the
generator's weights over its last rounds: that is close where each of them is far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from facsimile.shaping.sampling import DrawnRecords, Sampling
from facsimile.synthesizers.network import Rejecting, ruled_out
from facsimile.synthesizers.networks import Adam, Generator, Judge, Weights, drawn
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats, Ints
from facsimile.table.table import Codes, Table, add

Zeros = tuple[tuple[Clique, Mask], ...]
LATENT, UNITS = 16, 128
JUDGE_UNITS = 64
MOST_CODES = 100_000
BATCH = 512
FORGETS = 4
"""In all its rounds the mean forgets so many times by a factor e."""
BLOCK = 1 << 17


@dataclass(frozen=True)
class Rates:
    """How fast each of the two learns, and how fast its weights decay."""

    generator: Fraction
    generator_decay: Fraction
    judge: Fraction
    judge_decay: Fraction

    def __post_init__(self) -> None:
        if min(self.generator, self.judge) <= 0 or min(self.generator_decay, self.judge_decay) < 0:
            raise ValueError("learning rates are positive, and decays are not negative")


class Adversaries:
    """A generator and a judge at some point of their training; all random numbers are public."""

    def __init__(
        self, domain: Domain, zeros: Zeros, rates: Rates, rounds: int, random: np.random.Generator
    ) -> None:
        self.domain, self.zeros, self.random = domain, zeros, random
        self.generator = Generator.started(domain, LATENT, UNITS, random)
        self.judge = Judge.started(domain, JUDGE_UNITS, random)
        self._generator = Adam(self.generator.weights, float(rates.generator), float(rates.generator_decay))
        self._judge = Adam(self.judge.weights, float(rates.judge), float(rates.judge_decay))
        self._mean = [w.copy() for w in self.generator.weights]
        self._keeps = max(0.0, 1 - FORGETS / rounds)

    def rows(self, n: int) -> Codes:
        """n rows as the generator makes them now, allowed ones as far as it makes any."""
        found = self._made(n)[-1]
        while len(found) < n:
            found = np.concatenate([found, self._made(n)[-1]])
        return found[:n]

    def judged(self, gradients: Weights) -> None:
        """The judge takes a step against gradients."""
        self._judge.step(self.judge.weights, gradients)

    def train(self, times: int = 1) -> None:
        """The generator takes steps towards what the judge likes, and the mean follows."""
        for _ in range(times):
            latents, first, second, laws, codes = self._made(BATCH)
            likes = self.judge.alternatives(codes)
            starts = np.cumsum((0, *self.domain.shape))[:-1]
            mean = np.repeat(np.add.reduceat(laws * likes, starts, axis=1), self.domain.shape, axis=1)
            by_logits = laws * (mean - likes) / len(codes)
            found = self.generator.gradients(latents, first, second, by_logits)
            self._generator.step(self.generator.weights, found)
        for mean, now in zip(self._mean, self.generator.weights, strict=True):
            mean += (1 - self._keeps) * (now - mean)

    def model(self) -> Neural:
        """The mean generator."""
        mean = Generator(self.domain, self.generator.latent, [w.copy() for w in self._mean])
        return Neural(self.domain, mean, self.zeros)

    def _made(self, n: int) -> tuple[Floats, Floats, Floats, Floats, Codes]:
        """Latents, layers, laws and rows; those that are ruled out are left out, unless all are."""
        latents = self.generator.latents(n, self.random)
        first, second, laws = self.generator.layers(latents)
        codes = drawn(self.domain, laws, self.random)
        kept = ~ruled_out(self.zeros, self.domain, codes)
        if not kept.any():
            return latents, first, second, laws, codes
        return latents[kept], first[kept], second[kept], laws[kept], codes[kept]


@dataclass(frozen=True, eq=False)
class Neural(Rejecting):
    """A generator, given that the row is none of the `zeros`."""

    domain: Domain
    generator: Generator
    zeros: Zeros = ()

    def _drawn(self, n: int, random: np.random.Generator, sampling: Sampling) -> Table:
        return add([self._some(min(BLOCK, n - start), random, sampling) for start in range(0, n, BLOCK)])

    def _some(self, n: int, random: np.random.Generator, sampling: Sampling) -> Table:
        """Each record has a latent of its own; systematic draws are close to the sum of the laws."""
        laws = self.generator.layers(self.generator.latents(n, random))[-1]
        records, line = DrawnRecords(n, random, sampling), np.arange(n)
        ends = np.cumsum(self.domain.shape)
        columns = [
            records.draw(laws[:, end - size : end], line)
            for size, end in zip(self.domain.shape, ends, strict=True)
        ]
        return Table.from_rows(self.domain, np.column_stack(columns))


class Told(Protocol):
    """A training that hears answers one after the other."""

    adversaries: Adversaries
    heard: int

    def hear(self, answer: Ints) -> None:
        """One answer more."""


def learned(trainings: Sequence[Told], begin: Callable[[], Told], answers: Sequence[Ints]) -> Neural:
    """What follows from the answers: the training that heard them as they came has learned it already."""
    training = trainings[-1] if trainings else begin()
    for answer in answers[training.heard :]:
        training.hear(answer)
    return training.adversaries.model()


def check_positive(*given: int | Fraction | None) -> None:
    """What is given of epochs, batch size and noise multiplier is above 0."""
    if any(number is not None and number <= 0 for number in given):
        raise ValueError("epochs, batch size and noise multiplier are positive")


def check_size(domain: Domain) -> None:
    """A domain whose codes a network can list."""
    if sum(domain.shape) > MOST_CODES:
        raise ValueError(f"the columns have more than {MOST_CODES:,} codes together")

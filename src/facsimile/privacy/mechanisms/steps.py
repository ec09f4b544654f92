"""Noisy steps: clipped gradients of a public critic, summed over random batches of the records (DP-SGD)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks
from facsimile.privacy.sampled import Steps
from facsimile.privacy.stream import WORDS, Stream
from facsimile.table.critic import EXACT, Critic
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints
from facsimile.table.table import Table

MOST_STEPS = 10**6
MOST_CLIP = 2**30
MOST_NOISE = 2**110
"""Noise stays far below 2^62."""


class Course(Protocol):
    """Who learns from the steps: it holds no table, and what it hears is noisy."""

    critic: Critic
    """What the next step asks about."""

    def hear(self, answer: Ints) -> None:
        """The noisy sum of a step; another critic may follow from it."""


C = TypeVar("C", bound=Course)


@dataclass(frozen=True, eq=False)
class NoisySteps(Mechanism[tuple[Ints, ...]], Generic[C]):
    """Release, for each step, Σ clipped gradients of the course's critic at the records of a random batch, with
    discrete Gaussian noise. `share` of 2^32 is each record's chance of being in a batch; `most` is the clip, in
    the critic's units; `variance` is σ², the noise's variance in units of the squared clip.

    Neighbours.  Replace one record; n is public.
    Theorem.     (2ε, (1 + e^ε)·δ)-DP, ε by `sampled.Steps`.
    Needs.       ChaCha20's words count as uniform (stream.py).
    Proof.       Steps, share, clip and variance are fixed before a record is read [E]. Every batch is really
      drawn: each record by itself with the share's probability, none twice, empty ones too [A]. A gradient at a
      record depends on the record and on the critic, which is public given the answers so far [B]; it is an
      integer vector of length at most `most`, and the sum over a batch is exact (`Critic.summed`), for n·most
      is below 2^53 [C]. So a record that is there or not moves the sum of its batch by at most `most`. Noise of
      variance σ²·most² [D] and the steps' number make it what `Steps` is proved for. Nothing else of the
      records is read, and the course hears noisy sums alone. A critic that is none, or of another
      domain, ends the steps before it sees a record [F]: that it came follows from noisy sums.  QED

    Noise is integer and exact, gradients are: no float is assumed to be a Gaussian.
    """

    begin: Callable[[], C]
    steps: int
    share: int
    most: int
    variance: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        limits = ((self.share, WORDS), (self.most, MOST_CLIP), (self.steps, MOST_STEPS))
        if not all(checks.whole(value, most=most) for value, most in limits):
            raise ValueError("steps, share and clip are positive and not too large")
        if not checks.exact([self.variance, self.delta]):
            raise ValueError("variance and delta are exact")
        self.cost()

    @cached_property
    def priced(self) -> Steps:
        """What is charged for."""
        return Steps(self.steps, Fraction(self.share, WORDS), self.variance, self.delta)  # [E]

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        """A critic over the domain, sums that are exact, and noise that can be drawn."""
        checks.records(n)
        checks.require(n * self.most < EXACT, "a clip")  # [C]
        checks.require(self.most**2 * self.variance < MOST_NOISE, "noise")
        _judging(self.begin(), domain)

    def cost(self) -> Cost:
        return Cost(*self.priced.replaced)

    def _sample(self, table: Table, noise: Noise) -> tuple[Ints, ...]:
        course, stream, heard = self.begin(), Stream.of(noise), []
        for _ in range(self.steps):
            times = stream.chosen(table.counts, self.share)  # [A]
            found = times > 0
            critic = _judging(course, table.domain)  # [F]
            sums = critic.summed(table.codes[found], times[found], True, self.most)  # [B]
            heard.append(noise.gaussian(sums, self.most**2, 1 / (2 * self.variance)))  # [D]
            course.hear(heard[-1])
        return tuple(heard)


def _judging(course: Course, domain: Domain) -> Critic:
    """The next critic, if it is one of this domain."""
    critic = course.critic
    checks.require(type(critic) is Critic and critic.domain == domain, "a critic over another domain")
    return critic

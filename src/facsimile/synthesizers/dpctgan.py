"""DPCTGAN: a generator and a critic; the critic's gradients at random batches of records are clipped and noisy.

As in CTGAN a generator gets random numbers and a conditional vector. Here the vector is drawn from the public
domain alone, and the critic judges single records without one: to draw records that fit a condition would read
how often it holds. The critic's step at made rows is public and clipped in the same way, so that a generator
that has the records' law is a fixed point. By default 300 steps on a tenth of the records each, with the least
noise that (ε, δ) affords; with a `noise_multiplier`, as many steps as are affordable, at most `epochs` of them;
where not one is, the generator stays as it was drawn, and nothing is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import ClassVar, get_args

import numpy as np

from facsimile.privacy.mechanisms import NoisySteps
from facsimile.privacy.sampled import Steps
from facsimile.privacy.stream import WORDS
from facsimile.spec.families import Law
from facsimile.synthesizers.adversary import Adversaries, Neural, Rates, check_positive, check_size, learned
from facsimile.synthesizers.base import Answers, Known, Synthesizer
from facsimile.table.critic import UNIT, Loss
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints

STEPS = 300
PART, MOST_ROWS = 10, 1 << 16
MADE = 4096


@dataclass(frozen=True)
class DPCTGAN(Synthesizer):
    """The births paper's hyperparameters; rates, clip and batches are ours where none is given."""

    epochs: int | None = None
    batch_size: int | None = None
    generator_lr: Fraction = Fraction(5, 10_000)
    discriminator_lr: Fraction = Fraction(5, 100)
    generator_decay: Fraction = Fraction(1, 10**6)
    discriminator_decay: Fraction = Fraction(1, 10**6)
    noise_multiplier: Fraction | None = None
    loss: Loss = "cross_entropy"
    max_per_sample_grad_norm: Fraction = Fraction(1)
    law: ClassVar[Law] = "delta"

    def check(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> None:
        check_size(domain)
        if self.loss not in get_args(Loss):
            raise ValueError("the loss is cross_entropy or wasserstein")
        check_positive(self.epochs, self.batch_size, self.noise_multiplier)
        asked = self._asked([], Known(n, delta=delta), domain, share, 0)
        if asked is not None:
            asked.check(domain, n)

    def trains(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> bool:
        return self._priced(n, share, delta)[1] is not None

    def fit(self, answers: Answers, known: Known, share: Fraction, random: np.random.Generator) -> Neural:
        trainings: list[Training] = []
        asked = self._asked(trainings, known, answers.domain, share, int(random.integers(2**62)))
        if asked is None:
            return Adversaries(answers.domain, known.zeros, self._rates, 1, random).model()
        return learned(trainings, asked.begin, answers.run(asked))

    @property
    def _rates(self) -> Rates:
        return Rates(self.generator_lr, self.generator_decay, self.discriminator_lr, self.discriminator_decay)

    def _priced(self, n: int, share: Fraction, delta: Fraction) -> tuple[Fraction, Steps | None]:
        """The chance to be in a batch, and what the steps cost; None: not one is affordable."""
        batch = min(n, self.batch_size or min(-(-n // PART), MOST_ROWS))
        chance = Fraction(max(1, WORDS * batch // n), WORDS)
        steps = STEPS if self.epochs is None else ceil(Fraction(self.epochs * n, batch))
        return chance, priced(steps, chance, self.noise_multiplier, share, delta)

    def _asked(
        self, trainings: list[Training], known: Known, domain: Domain, share: Fraction, seed: int
    ) -> NoisySteps[Training] | None:
        """The one question, of public numbers alone; who learns from its answers joins the trainings."""
        (chance, paid), rates = self._priced(known.n, share, known.delta), self._rates
        if paid is None:
            return None
        most = int(self.max_per_sample_grad_norm * UNIT)

        def begin() -> Training:
            random = np.random.default_rng(seed)
            two = Adversaries(domain, known.zeros, rates, paid.steps, random)
            trainings.append(Training(two, self.loss, most, float(chance * known.n)))
            return trainings[-1]

        return NoisySteps(begin, paid.steps, int(chance * WORDS), most, paid.variance, paid.delta)


@lru_cache(maxsize=256)
def priced(
    steps: int, chance: Fraction, multiplier: Fraction | None, epsilon: Fraction, delta: Fraction
) -> Steps | None:
    """Steps with the least noise, or as many as are affordable with the noise that is given."""
    if multiplier is None:
        return Steps.within(steps, chance, epsilon, delta)
    return Steps.most(steps, chance, multiplier**2, epsilon, delta)


class Training:
    """A judge that hears noisy sums of gradients, and a generator beside it."""

    def __init__(self, adversaries: Adversaries, loss: Loss, most: int, expected: float) -> None:
        self.adversaries, self.loss, self.most, self.expected = adversaries, loss, most, expected
        self.heard = 0
        self.critic = adversaries.judge.critic(loss)

    def hear(self, answer: Ints) -> None:
        """A step of the judge and one of the generator. The sum is divided by a batch's expected size."""
        self.heard += 1
        made = self.adversaries.rows(MADE)
        public = self.critic.summed(made, np.ones(MADE, np.int64), False, self.most)
        uphill = (answer / self.expected + public / MADE) / UNIT
        self.adversaries.judged(self.adversaries.judge.split(-uphill))
        self.adversaries.train()
        self.critic = self.adversaries.judge.critic(self.loss)

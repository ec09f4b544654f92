"""PATECTGAN: teachers vote on rows that a generator made, and a student learns from their noisy votes.

In each round (`epochs` of them) every teacher compares its records with made rows on a public random layer, and
votes on `batch_size` made rows. The votes are noisy. What the same votes would be if the records were made
rows, too, is public: it is taken off, so that a generator that has the records' law is a fixed point. The
student, a judge like DPCTGAN's, learns the difference; the generator learns to please it. Noise in a vote's
share falls with the number of teachers and what a teacher knows rises with the root of its part, so many small
parts say most: by default four records each. With a `noise_multiplier`, the noise's deviation in votes, rounds
end when ρ is spent; where not one is affordable, the generator stays as it was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np
from scipy.special import expit

from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyVotes
from facsimile.privacy.mechanisms.votes import MOST_TEACHERS
from facsimile.spec.families import Law
from facsimile.synthesizers.adversary import Adversaries, Neural, Rates, check_positive, check_size, learned
from facsimile.synthesizers.base import Answers, Known, Synthesizer
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats, Ints
from facsimile.table.table import Codes
from facsimile.table.teachers import Layer, Lesson, votes

Regularization = Literal["none", "dragan"]
PART, MANY = 4, 1 << 16
MADE, LAYER = 1000, 128
COLUMNS, MOST_CELLS = 3, 1 << 16
PUBLIC = 2000
LESSONS, BATCH, WINDOW = 30, 256, 3
STEPS = 10
PENALTY = 10.0


@dataclass(frozen=True)
class PATECTGAN(Synthesizer):
    """The births paper's hyperparameters, and the number of teachers."""

    epochs: int = 100
    batch_size: int = 500
    generator_lr: Fraction = Fraction(5, 10_000)
    discriminator_lr: Fraction = Fraction(1, 100)
    generator_decay: Fraction = Fraction(1, 10**6)
    discriminator_decay: Fraction = Fraction(1, 10**6)
    noise_multiplier: Fraction | None = None
    loss: Literal["cross_entropy"] = "cross_entropy"
    regularization: Regularization = "none"
    teachers: int | None = None
    law: ClassVar[Law] = "rho"

    def check(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> None:
        check_size(domain)
        if self.loss != "cross_entropy":
            raise ValueError("votes have the loss cross_entropy")
        if self.regularization not in get_args(Regularization):
            raise ValueError("the regularization is none or dragan")
        check_positive(self.epochs, self.batch_size, self.noise_multiplier)
        if self.batch_size > MANY:
            raise ValueError(f"a round votes on at most {MANY:,} rows")
        if self.teachers is not None and not 1 <= self.teachers <= min(n, MOST_TEACHERS):
            raise ValueError("there are no more teachers than records")
        asked = self._asked([], Known(n, delta=delta), domain, share, 0)
        if asked is not None:
            asked.check(domain, n)

    def trains(self, domain: Domain, n: int, share: Fraction, delta: Fraction = Fraction(0)) -> bool:
        return self._rounds(share)[0] > 0

    def fit(self, answers: Answers, known: Known, share: Fraction, random: np.random.Generator) -> Neural:
        students: list[Student] = []
        asked = self._asked(students, known, answers.domain, share, int(random.integers(2**62)))
        if asked is None:
            return Adversaries(answers.domain, known.zeros, self._rates, 1, random).model()
        return learned(students, asked.begin, answers.run(asked))

    @property
    def _rates(self) -> Rates:
        return Rates(self.generator_lr, self.generator_decay, self.discriminator_lr, self.discriminator_decay)

    def _rounds(self, share: Fraction) -> tuple[int, Fraction]:
        """How many rounds are affordable, and what they spend."""
        if self.noise_multiplier is None:
            return self.epochs, share
        each = Rho(self.batch_size / (2 * self.noise_multiplier**2))
        rounds = min(self.epochs, int(share / each))
        return rounds, rounds * each

    def _asked(
        self, students: list[Student], known: Known, domain: Domain, share: Fraction, seed: int
    ) -> NoisyVotes[Student] | None:
        """The one question, of public numbers alone; who learns from its answers joins the students."""
        if not isinstance(share, Rho):
            raise ValueError("votes have Gaussian noise, which needs a delta")
        (rounds, spent), rates = self._rounds(share), self._rates
        if not rounds:
            return None
        teachers = self.teachers or min(MANY, -(-known.n // PART))

        def begin() -> Student:
            random = np.random.default_rng(seed)
            two = Adversaries(domain, known.zeros, rates, rounds, random)
            part = max(1, round(known.n / teachers))
            students.append(Student(two, self.batch_size, teachers, part, self.regularization))
            return students[-1]

        return NoisyVotes(begin, teachers, rounds, self.batch_size, Rho(spent))


class Student:
    """A judge that hears noisy votes, and a generator beside it."""

    def __init__(
        self, adversaries: Adversaries, rows: int, teachers: int, part: int, regularization: Regularization
    ) -> None:
        self.adversaries, self.rows, self.teachers, self.part = adversaries, rows, teachers, part
        self.regularization = regularization
        self.heard = 0
        self._known: list[tuple[Codes, Floats]] = []
        self.lesson = self._next()

    def hear(self, answer: Ints) -> None:
        """Lessons of the last rounds for the judge, then steps of the generator."""
        self.heard += 1
        shares = answer / self.teachers - self._expected() + 0.5
        self._known = [*self._known, (self.lesson.asked, shares)][-WINDOW:]
        rows, labels = (np.concatenate(parts) for parts in zip(*self._known, strict=True))
        random = self.adversaries.random
        for _ in range(LESSONS):
            some = random.integers(0, len(rows), BATCH)
            self._learn(rows[some], labels[some])
        self.adversaries.train(STEPS)
        self.lesson = self._next()

    def _next(self) -> Lesson:
        """A new public layer, and rows as the generator makes them now."""
        two = self.adversaries
        return Lesson(signs(two.domain, two.random), two.rows(MADE), two.rows(self.rows))

    def _expected(self) -> Floats:
        """The share of votes for each row if records were made rows: measured with teachers of such rows."""
        random = self.adversaries.random
        teachers = min(self.teachers, max(1, PUBLIC))
        made = self.adversaries.rows(teachers * self.part)
        return votes(self.lesson, made, random.integers(0, teachers, len(made)), teachers) / teachers

    def _learn(self, codes: Codes, labels: Floats) -> None:
        judge = self.adversaries.judge
        missed = (expit(judge.scores(codes)) - labels) / len(codes)
        found = judge.gradients(codes, missed)
        if self.regularization == "dragan":
            found = [
                g + p
                for g, p in zip(found, judge.penalty(codes, PENALTY, self.adversaries.random), strict=True)
            ]
        self.adversaries.judged(found)


def signs(domain: Domain, random: np.random.Generator) -> Layer:
    """Random signs for the cells of one to three columns, drawn at random, while their cells are few."""
    found = []
    for _ in range(LAYER):
        names = random.permutation(domain.names)[: random.integers(1, COLUMNS + 1)]
        while len(names) > 1 and domain.size(names) > MOST_CELLS:
            names = names[1:]
        clique = tuple(map(str, names))
        found.append((clique, 2 * random.integers(0, 2, domain.project(clique).shape) - 1))
    return Layer(domain, tuple(found))

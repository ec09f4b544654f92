"""Noisy votes: teachers on disjoint parts of the records judge public rows (PATE)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.mechanisms.base import Mechanism
from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks
from facsimile.privacy.stream import Stream
from facsimile.table.domain import Domain
from facsimile.table.exact import Ints
from facsimile.table.table import Table
from facsimile.table.teachers import Layer, Lesson, votes

MOST_TEACHERS = 2**20
MOST_ROUNDS = 10**5


class School(Protocol):
    """Who learns from the votes: it holds no table, and what it hears is noisy."""

    lesson: Lesson
    """What teachers are told and asked next."""

    def hear(self, answer: Ints) -> None:
        """The noisy votes; another lesson may follow from them."""


S = TypeVar("S", bound=School)


@dataclass(frozen=True, eq=False)
class NoisyVotes(Mechanism[tuple[Ints, ...]], Generic[S]):
    """Release, for each round, how many of the teachers call each of `rows` public rows real, with discrete
    Gaussian noise; all counts of all rounds share ρ evenly.

    Neighbours.  Replace one record; n is public.
    Theorem.     ρ-zCDP.
    Needs.       ChaCha20's words count as uniform (stream.py).
    Proof.       Each record has a teacher, drawn uniformly, by itself and secretly, once for all rounds [A].
      The draw does not look at the records: for neighbours let the record that is replaced and the one in its
      place have the same teacher, and every other record keep its own. Given the draw, one teacher's part
      changes, and each count moves by at most 1 (`teachers.votes`) [B]. Rounds, rows and teachers are fixed
      before a record is read [C]; which rows a round asks about follows from the noisy votes so far. Noise for
      a count that moves by 1 and ρ/(rounds·rows) on each of `rows` counts [D] composes to ρ. No bound on the
      votes that are there is used. Mixing over draws of one law raises no divergence beyond its largest. A
      lesson that is none, or of another domain or size, ends the rounds before it sees a record [E].  QED
    """

    begin: Callable[[], S]
    teachers: int
    rounds: int
    rows: int
    share: Rho
    square: ClassVar[int] = 1  # [B]

    def __post_init__(self) -> None:
        if not (
            0 < self.teachers <= MOST_TEACHERS and self.rounds * self.rows > 0 and self.rounds <= MOST_ROUNDS
        ):
            raise ValueError("teachers, rounds and rows are positive and not too many")
        if not isinstance(self.share, Rho) or self.share <= 0:
            raise ValueError("votes have Gaussian noise: a rho is expected")

    @checks.refusing
    def check(self, domain: Domain, n: int) -> None:
        """Rows over the domain, as many as were promised, and noise that can be drawn."""
        checks.records(n)
        checks.require(all(map(checks.whole, (self.teachers, self.rounds, self.rows))), "rounds")
        checks.spending(self.square, self.share / (self.rounds * self.rows))
        self._told(self.begin(), domain)

    def cost(self) -> Cost:
        return Cost.of(self.share)

    def _sample(self, table: Table, noise: Noise) -> tuple[Ints, ...]:
        school, records, heard = self.begin(), table.records(), []
        teacher = Stream.of(noise).below(self.teachers, len(records))  # [A]
        each = self.share / (self.rounds * self.rows)  # [C]
        for _ in range(self.rounds):
            lesson = self._told(school, table.domain)  # [E]
            counts = votes(lesson, records, teacher, self.teachers)
            heard.append(noise.gaussian(counts, self.square * self.rows, self.rows * each))  # [D]
            school.hear(heard[-1])
        return tuple(heard)

    def _told(self, school: School, domain: Domain) -> Lesson:
        """The next lesson, if it is one of this domain and asks about as many rows as are charged for."""
        lesson = school.lesson
        checks.require(type(lesson) is Lesson and type(lesson.layer) is Layer, "a lesson")
        checks.require(lesson.layer.domain == domain and len(lesson.asked) == self.rows, "rows to ask about")
        return lesson

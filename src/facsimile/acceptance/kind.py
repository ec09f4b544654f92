"""Kind: everything that is known of one sort of criterion, in one class.

A kind holds a criterion and the form that it is measured in. From these follow its question and the value below
which it is met, its exact error on public data, the noise it is planned with, and its words for people. A class
derived from Kind[X] is the kind of the criterion X. It is found wherever it stands in `kinds/`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, get_args

from facsimile.acceptance.decision import Asked, Measured, fine_grid
from facsimile.acceptance.influence import Influences
from facsimile.acceptance.planned import Assumed, NoiseLine, PlannedSensitivity
from facsimile.privacy.mechanisms import Answer
from facsimile.privacy.noise import LARGEST
from facsimile.privacy.queries import Query
from facsimile.privacy.queries.sensitivity import counts_share
from facsimile.spec.choices import Statistic
from facsimile.spec.criteria import By, Criterion, crossed
from facsimile.spec.formula import Formula
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Domain
from facsimile.table.scores import RowScores
from facsimile.table.table import Table

if TYPE_CHECKING:
    from facsimile.acceptance.candidate import Candidate
    from facsimile.acceptance.original import Original

C = TypeVar("C", bound=Criterion)
Stand = Literal["itself", "floored", "resized", "step", "fit"]
Topical = Literal["counts", "means", "quantiles", "correlations", "regression", "rows"]
KINDS: dict[type[Any], type[Kind[Any]]] = {}
"""The kind of each class of criteria."""


@dataclass(frozen=True)
class Told:
    """A criterion for readers: a short title, what it measures, its topic, and the columns it speaks of."""

    title: str
    words: str
    topic: Topical
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Subgroup:
    """A group of the release: what it is grouped by, who it is, its records and its own figure, None if empty.

    All records together are grouped by nothing. The measured error speaks of the group's figure in the original
    where that has as many records in it as it was `counted` with.
    """

    by: str
    labels: tuple[str, ...]
    records: int
    value: float | None
    counted: int

    @property
    def words(self) -> str:
        """Who they are."""
        return f"{self.by.replace('*', ' × ')}: {', '.join(self.labels)}" if self.by else "all records"


@dataclass(frozen=True)
class Tested:
    """A criterion as a release would test it, without the noise: value, limit, sensitivity, noise scale.

    The distance from a noisy fit has no sensitivity; its scale is simulated.
    """

    form: Statistic
    value: float
    limit: float
    sensitivity: float | None
    scale: float


@dataclass(frozen=True)
class Luck:
    """What is cut off at `clip` passes by luck of the noise with a `chance`.

    `expected` is the smallest count that was planned with.
    """

    clip: float
    chance: float
    expected: int


@dataclass(frozen=True)
class Kind(ABC, Generic[C]):
    """A criterion in one of its two forms. What is not abstract here is what most kinds have in common."""

    criterion: C
    form: Statistic

    expense: ClassVar[int] = 0
    """Cheap ones are computed first; one that another needs comes before it."""
    share: ClassVar[bool] = False
    """Whether its error is a share of all records, 1 at most."""
    needs_fit: ClassVar[bool] = False
    """Whether it asks about a regression of the original, and does not pay for it."""
    regresses: ClassVar[bool] = False
    """Whether a candidate's own regression may not be determined, and so decides."""
    refits: ClassVar[bool] = False
    """Whether its paper form is measured by a noisy regression of the original; it is public from then on."""
    scored: ClassVar[bool] = False
    """Whether it has `scores`."""
    clips: ClassVar[bool] = False
    """Whether its paper form is clipped, and so compared with less than its limit."""
    stand: ClassVar[tuple[Stand, Stand]] = ("itself", "itself")
    """What is measured in place of the error, in the sharp form and in the paper's: see `stands`."""
    title: ClassVar[str]
    sentence: ClassVar[str]
    """What it measures. `{columns}`: what it is `about`; `{within}`: its groups; more: see `words`."""
    topic: ClassVar[Topical]
    about: ClassVar[str | None] = None
    """The key of the columns that it speaks of."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        (of,) = get_args(cls.__orig_bases__[0])  # type: ignore[attr-defined]
        if not isinstance(of, TypeVar) and KINDS.setdefault(of, cls) is not cls:
            raise TypeError(f"{of.__name__} has a kind already")

    @property
    def sharp(self) -> bool:
        """Whether it is measured in the form with less noise."""
        return self.form == "sharp"

    # The question

    @abstractmethod
    def query(self, candidate: Candidate) -> Query | None:
        """The question about the confidential table; None where the candidate itself decides: not met."""

    @property
    def limit(self) -> Fraction:
        """The query's value below which the criterion is met."""
        return self.criterion.threshold

    def tested_at(self, specification: Specification) -> Fraction:
        """What a noisy value alone is compared with."""
        return self.limit

    @property
    def alone(self) -> bool:
        """Whether it is measured by its value plus noise, and that is compared with its limit."""
        return self.sharp or not (self.refits or self.clips)

    def asked(self, candidate: Candidate) -> Asked | None:
        """The criterion's question; None where the candidate cannot meet it.

        Nor can it where integer noise is too short for the sensitivity: what is accepted can be measured.
        """
        query = candidate.query(self)
        if query is None:
            return None
        asked = Asked(self, query, self.limit, self.tested_at(candidate.specification))
        return None if asked.sensitivity > LARGEST // 2 else asked

    @property
    def needs(self) -> Formula | None:
        """The regression, of the original, that it asks about and does not pay for."""
        return getattr(self.criterion, "formula", None) if self.needs_fit else None

    @property
    def leaves(self) -> Formula | None:
        """The regression, of the original, that is public once it is measured."""
        return getattr(self.criterion, "formula", None) if self.refits and not self.sharp else None

    def terms(self, specification: Specification, domain: Domain) -> int:
        """How many numbers its sums hold, before any is made."""
        return 0

    def slow(self, domain: Domain) -> bool:
        """Whether making the question takes seconds on so large a domain."""
        return False

    def unmeetable(self, specification: Specification) -> tuple[str, str] | None:
        """The key of the specification because of which no candidate meets it, and why."""
        return None

    # What was measured

    def measure(self, candidate: Candidate, answers: Answers) -> tuple[Measured | None, Candidate]:
        """Measured with its own noise, or None where it cannot be met; and the candidate for the next one."""
        asked = candidate.ask(self)
        return (None if asked is None else asked.measured(answers.run(asked.question()))), candidate

    def again(self, candidate: Candidate, units: int) -> Measured:
        """What was measured, from the published answer; ValueError where nothing can have been."""
        asked = candidate.ask(self)
        if asked is None:
            raise ValueError("the released table does not meet a criterion that it alone decides")
        return asked.measured(Answer(units, fine_grid(asked.sensitivity)))

    def error(self, value: Fraction) -> Fraction | None:
        """The criterion's error that a value of the query stands for; None where it is infinite."""
        return value

    @property
    def least(self) -> int:
        """The smallest value that its query can have."""
        return 0

    def bound(self, value: float) -> float | None:
        """The bound of the error, where that of the query's value is this; None where there is none."""
        return value

    def smallest(self, query: Query) -> int | None:
        """The smallest count of the candidate that the sensitivity depends on, where it does."""
        return None

    def luck(self, specification: Specification, measured: Measured) -> Luck | None:
        """How often what lies beyond all limits passes, where it is cut off before it is measured."""
        return None

    def spread(self, candidate: Candidate) -> float | None:
        """How far noise alone moves what is measured, on average, where it has no sensitivity."""
        return None

    # On public data

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """The error as it is defined, without noise, clipping or resizing; None where it is not defined."""
        query = candidate.query(self)
        return None if query is None else float(original.value(query))

    def tested(self, candidate: Candidate, original: Original) -> Tested | None:
        """As a release would test it; None where the candidate itself decides that it is not met."""
        asked = candidate.ask(self)
        if asked is None:
            return None
        value, limit, delta = original.value(asked.query), asked.tested_at, asked.sensitivity
        scale = delta / candidate.specification.epsilon_of(self.criterion)
        return Tested(self.form, float(value), float(limit), float(delta), float(scale))

    def from_zero(self, error: float) -> float:
        """An error on a scale on which no error at all is 0."""
        return error

    def subgroups(self, candidate: Candidate) -> Iterator[Subgroup]:
        """The release's own figure, overall and within each group that is compared; nothing where none is."""
        return iter(())

    # To first order

    def influences(self, specification: Specification, table: Table) -> Influences | None:
        """Functions of a record whose means decide it near a public table; None where it has no linear view."""
        return None

    def scores(self, specification: Specification, table: Table) -> RowScores | None:
        """What a generator whose model is like a public table may ask the original for, to meet it more often:
        sums that say what the model gets wrong. None where there is nothing to ask.

        What one-way tables decide is left out: a generator has them from elsewhere.
        """
        return None

    # Planning

    @abstractmethod
    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """Its sensitivity at the declared number of records, before a release exists."""

    def noise(self, specification: Specification, assumed: Assumed) -> NoiseLine:
        """Its sensitivity and noise scale at the declared number of records."""
        c, (delta, note) = self.criterion, self.planned(specification, assumed)
        epsilon = specification.epsilon_of(c)
        moved, scale = (None, None) if delta is None else (float(delta), float(delta / epsilon))
        return NoiseLine(c.name, self.form, c.threshold, float(c.threshold), epsilon, moved, scale, note)

    # Words

    def words(self) -> dict[str, str]:
        """What its sentence and its title name beside columns and groups."""
        return {}

    @property
    def told(self) -> Told:
        """The criterion for readers."""
        columns = tuple(name for place, name in self.criterion.references() if place[0] == self.about)
        by = getattr(self.criterion, "by", ())
        filled = filled_up(getattr(self.criterion, "fill_to", None))
        said = {"columns": listed(columns), "within": within(by), "filled": filled, **self.words()}
        return Told(self.title.format(**said), self.sentence.format(**said), self.topic, columns)

    @property
    def stands(self) -> Stand:
        """What was measured in place of the error: the error itself, or what stands in for it.

        `floored`: a small group is filled up with the release's mean. `resized`: so is it, and of a large group
        a random part is taken. `step`: one step from the release's figure towards the original's. `fit`: a
        noisy regression of the original in place of its own.
        """
        return self.stand[0 if self.sharp else 1]


class ShareKind(Kind[C]):
    """Counts between the original and a candidate, as a share of all records: one record moves it by 1/n."""

    share = True

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        return counts_share(specification.n), "1/n"


def kind_of(criterion: Criterion, form: Statistic | None = None) -> Kind[Any]:
    """The kind of a criterion, in a form or in its own."""
    return KINDS[type(criterion)](criterion, form or criterion.statistic or "sharp")


def kinds_of(specification: Specification) -> list[Kind[Any]]:
    """Every criterion of a specification in the form that is declared for it."""
    return [kind_of(criterion, specification.statistic_of(criterion)) for criterion in specification.criteria]


def cheapest_first(specification: Specification) -> list[Kind[Any]]:
    """The kinds in the order of what they cost to compute."""
    return sorted(kinds_of(specification), key=lambda kind: kind.expense)


def titles(criteria: Iterable[Criterion]) -> dict[str, str]:
    """The short title of each criterion, by its name: for pages, where a name would be a raw key."""
    return {criterion.name: kind_of(criterion).told.title for criterion in criteria}


def listed(names: tuple[str, ...]) -> str:
    """Names in a sentence.

    >>> listed(("a", "b", "c"))
    'a, b and c'
    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def filled_up(size: int | None) -> str:
    """What becomes of small groups, in a sentence."""
    return (
        "" if size is None else f"; a smaller group is filled up to {size:,} records with the release's figure"
    )


def within(by: By) -> str:
    """Groups in a sentence: by one column at a time, or crossed.

    >>> within(("age", ("education", "sex")))
    ' and within the groups of each of age and education × sex'
    """
    said = tuple(" × ".join(names) for names in crossed(by).values())
    return f" and within the groups of {'each of ' * (len(said) > 1)}{listed(said)}" if said else ""

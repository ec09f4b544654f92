"""Criteria: how far the release may be from the confidential table, and what each test may spend.

A criterion is met when its error is strictly below its threshold. `statistic: paper` is the error as the
births paper defines it; `sharp` is the form with less noise. Sensitivities are not declared here: they
follow from the form, the domain and the number of records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Discriminator, Field, SerializerFunctionWrapHandler, Tag, model_serializer

from facsimile.spec.choices import Statistic
from facsimile.spec.constraints import Condition, names, parse_condition, resolve, unreadable
from facsimile.spec.decimals import Count, Epsilon, Exact, show_decimal
from facsimile.spec.formula import Formula, factors
from facsimile.spec.mistakes import Mistake, Place, cut
from facsimile.spec.model import Model, Name, Reference, optional
from facsimile.spec.people import Sourced

REFERENCES = ("of", "by", "match", "target", "on", "indicators")
MOST_BINS = 1_000_000
MOST_FILLED = 10**9
EVENT = "the event"
"""What a formula calls a target that is no column."""
Crossing = tuple[Reference, ...]
"""Columns whose groups are crossed."""
By = tuple[Reference | Crossing, ...]
"""Columns whose groups condition something, one at a time; or crossed, in a list of their own."""


def crossed(by: By) -> dict[str, Crossing]:
    """What is grouped by, each under the name that reports and planning call it by.

    >>> crossed(("age", ("education", "sex")))
    {'age': ('age',), 'education*sex': ('education', 'sex')}
    """
    every = ((one,) if isinstance(one, str) else one for one in by)
    return {"*".join(names): names for names in every}


def _words(value: object, place: Place) -> Iterator[tuple[Place, str]]:
    """The words of nested lists, each with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from _words(item, (*place, i))


def _repeated(names: Sequence[str], place: Place, problem: str) -> Iterator[Mistake]:
    if len(set(names)) < len(names):
        yield Mistake(place, problem, hides=False)


class _Criterion(Model):
    _called: ClassVar[str] = "{0.kind}"

    called: Name | None = optional("Its name in reports, after its kind: where two of a kind are asked for.")
    threshold: Exact = Field(gt=0, description="Met when the error is strictly below.")
    epsilon: Epsilon = optional(
        "Budget share of the measurement that is published; left out: it shares one noisy number "
        "(scheme measured).",
        Fraction(0),
    )
    statistic: Statistic | None = optional("Overrides the specification's `statistic`.")
    source: Sourced | None = optional("Who asked for it, and why.")
    threshold_source: Sourced | None = optional("Who set the threshold, and why.")

    numbers_of: ClassVar[str | None] = None
    """The key of the columns that need a number for every bin."""

    @model_serializer(mode="wrap")
    def _without_nothing(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """An epsilon that was left out stays out."""
        return {key: value for key, value in plain(self).items() if key != "epsilon" or self.epsilon}

    @property
    def name(self) -> str:
        """The criterion's name in reports."""
        return self._own_name if self.called is None else f"{self.kind}-{self.called}"

    @property
    def _own_name(self) -> str:
        return self._called.format(self)

    @property
    def kind(self) -> str:
        """The word that a specification calls it by."""
        return str(get_args(type(self).model_fields["criterion"].annotation)[0])

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it names."""
        return tuple(name for _, name in self.references())

    def mistakes(self) -> Iterator[Mistake]:
        """Crossed groups are of two columns or more, each once."""
        by = self.__dict__.get("by", ())
        for i, one in enumerate(by):
            if not isinstance(one, str):
                if len(one) < 2:
                    yield Mistake(("by", i), "a list inside `by` crosses the groups of two columns or more")
                yield from _repeated(one, ("by", i), "crossed groups name a column twice")
        if len(crossed(by)) < len(by):
            yield Mistake(("by",), "`by` names the same groups twice", hides=False)

    def references(self) -> Iterator[tuple[Place, str]]:
        """The columns it names, each with its place."""
        for key in REFERENCES:
            if key in self.__dict__:
                yield from _words(self.__dict__[key], (key,))


class MarginalsAbsolute(_Criterion):
    """The largest difference of any count of any k-way table, as a share of all records."""

    criterion: Literal["marginals-absolute"]
    ways: Count | None = optional("Largest k; default: all columns.", ge=1)


class MarginalsRelative(_Criterion):
    """The largest ratio of two one-way counts, each plus one."""

    criterion: Literal["marginals-relative"]
    clip: Exact = optional("Ratios are clipped to [1, clip] (paper form).", Fraction(2), gt=1)
    false_accept: Exact = optional(
        "Probability that a clipped ratio passes by luck of the noise (paper form).",
        Fraction(1, 20),
        gt=0,
        lt=Fraction(1, 2),
    )
    tested_at: Exact | None = optional(
        "What a noisy ratio must stay below (scheme and form paper); default: from `false_accept`.", gt=1
    )
    planning_s_min: Count = optional("Smallest one-way count to plan with, before a release exists.", 50, ge=0)

    def mistakes(self) -> Iterator[Mistake]:
        """A ratio is tested at its threshold or below, and below what it is clipped to."""
        if self.tested_at is not None and self.tested_at > min(self.threshold, self.clip):
            problem = f"criterion {self.kind}: `tested_at` is at most its `threshold` and its `clip`"
            yield Mistake(("tested_at",), problem)


def _by(words: str = "Columns whose groups condition it, `[a, b]` for crossed ones; overall is added.") -> Any:
    return optional(words, ())


def _filled() -> Any:
    words = "A smaller group counts as filled up to so many records with the release's own figure."
    return optional(words, ge=1, le=MOST_FILLED)


class ConditionalMean(_Criterion):
    """The largest difference of a column's mean, overall and within the groups of other columns."""

    numbers_of = "of"
    criterion: Literal["mean"]
    _called: ClassVar[str] = "mean-{0.of}"
    of: Reference = Field(description="The column whose mean is taken.")
    by: By = _by()
    fill_to: Count | None = _filled()


class Proportion(_Criterion):
    """The largest difference of the share of records that satisfy a condition, overall and within groups."""

    criterion: Literal["proportion"]
    where: str = Field(description="The condition, as in a constraint.")
    by: By = _by()
    fill_to: Count | None = _filled()

    @property
    def _own_name(self) -> str:
        return f"{self.kind}-{'-'.join(names(parse_condition(self.where)))}"

    def mistakes(self) -> Iterator[Mistake]:
        """A condition can be read."""
        yield from unreadable(self.where, ("where",))
        yield from super().mistakes()

    def condition(self, names: Sequence[str]) -> Condition:
        """The parsed condition."""
        return resolve(parse_condition(self.where), names)


class _Regression(_Criterion):
    on: tuple[Reference, ...] | None = optional(
        "Predictors: columns, and products such as `age*sex`; default: every other column.", min_length=1
    )
    indicators: tuple[Reference, ...] | None = optional(
        "Predictors that enter by their bins, although they have numbers."
    )

    @property
    def formula(self) -> Formula:
        """What is regressed on what; an event is no column."""
        return Formula(getattr(self, "target", EVENT), self.on, self.indicators or ())

    def references(self) -> Iterator[tuple[Place, str]]:
        for place, word in super().references():
            yield from ((place, name) for name in (factors(word) if place[0] == "on" else (word,)))

    def mistakes(self) -> Iterator[Mistake]:
        """Each term once; a product is of two."""
        seen = set[tuple[str, ...]]()
        for i, term in enumerate(self.on or ()):
            parts = tuple(sorted(factors(term)))
            if not all(parts) or len(parts) > 2:
                yield Mistake(("on", i), f"a predictor is a column, or a product of two: not {cut(term)}")
            elif parts in seen:
                yield Mistake(("on", i), f"`on` names {cut(term)} twice")
            seen.add(parts)
        yield from _repeated(self.indicators or (), ("indicators",), "`indicators` names a column twice")


class RegressionCoefficients(_Regression):
    """The L1 distance of regression coefficients, features standardised by the release."""

    criterion: Literal["regression-coefficients"]
    target: Reference
    planning_sensitivity: Exact | None = optional(
        "Sensitivity of the one-step statistic to plan with (sharp form).", gt=0
    )


class RegressionError(_Regression):
    """The difference of mean absolute prediction errors, trained on the release and on the original."""

    criterion: Literal["regression-mae"]
    target: Reference


class LogisticCoefficients(_Regression):
    """The L1 distance of the coefficients of a logistic regression, features standardised by the release."""

    criterion: Literal["logistic-coefficients"]
    event: str = Field(description="What is predicted: a condition, as in a constraint.")
    planning_sensitivity: Exact | None = optional("Sensitivity of the one-step statistic to plan with.", gt=0)

    @property
    def _own_name(self) -> str:
        return f"{self.kind}-{'-'.join(names(parse_condition(self.event)))}"

    def mistakes(self) -> Iterator[Mistake]:
        """A condition can be read."""
        yield from unreadable(self.event, ("event",))
        yield from super().mistakes()

    def condition(self, names: Sequence[str]) -> Condition:
        """The parsed condition."""
        return resolve(parse_condition(self.event), names)


class Faithfulness(_Criterion):
    """The share of records of the release without a partner of their own in the original.

    Partners agree on the columns `match` and differ by at most `within` bins in one of the others. A bin
    finer than the reference counts as its reference bin; a bin with a reference edge strictly inside it
    must match exactly.
    """

    criterion: Literal["faithfulness"]
    match: tuple[Reference, ...] = Field(description="Columns that must be equal.")
    within: Count = optional("How many reference bins one other column may be off.", 1, ge=0, le=MOST_BINS)
    reference: str = Field(description="The alternative whose bins count.")

    def mistakes(self) -> Iterator[Mistake]:
        """A column is matched once."""
        yield from _repeated(self.match, ("match",), "`match` names a column twice")


class RangesAbsolute(_Criterion):
    """The largest difference of any prefix, suffix or group count, as a share of all records.

    A prefix counts the records up to a bin of an ordered column, a suffix those beyond it: over all records and
    within each group of the columns `by`. The counts of these groups are compared too.
    """

    criterion: Literal["ranges-absolute"]
    of: tuple[Reference, ...] = Field(min_length=1, description="Ordered columns.")
    by: By = _by("Columns whose groups condition them, `[a, b]` for crossed ones.")


class _OfMarginals(_Criterion):
    of: tuple[tuple[Reference, ...], ...] = optional("Marginals; or give `ways`.", ())
    ways: Count | None = optional("All marginals of this many columns.", ge=1)

    def mistakes(self) -> Iterator[Mistake]:
        """Marginals are either listed or counted by their columns."""
        if bool(self.of) == (self.ways is not None) or not all(self.of):
            place = ("ways",) if self.ways is not None else ("of",) if self.of else ()
            yield Mistake(place, "give either marginals (`of`) or a number of columns (`ways`)")
        for i, marginal in enumerate(self.of):
            yield from _repeated(marginal, ("of", i), "a marginal names a column twice")


class TotalVariationDistance(_OfMarginals):
    """The share of records that stand in the wrong cell of a marginal: the worst marginal, or their average."""

    criterion: Literal["total-variation"]
    _called: ClassVar[str] = "total-variation-{0.over}"
    over: Literal["worst", "average"] = optional("The worst marginal, or the average.", "worst")


class MarginalsTail(_OfMarginals):
    """The difference of counts that all but a small share of the cells keep, as a share of all records."""

    criterion: Literal["marginals-tail"]
    beyond: Exact = Field(gt=0, lt=1, description="The share of cells that may differ by more.")


class Quantile(_Criterion):
    """How far the release's quantile is from being one of the original, in ranks, overall and within groups.

    As a share of the group: a median with an error of 0.02 lies between the 48th and 52nd percentile.
    """

    numbers_of = "of"
    criterion: Literal["quantile"]
    of: Reference = Field(description="The column whose quantile is taken.")
    by: By = _by()
    at: Exact = optional("Which one; 0.5 is the median.", Fraction(1, 2), gt=0, lt=1)
    fill_to: Count | None = _filled()

    @property
    def _own_name(self) -> str:
        return f"quantile-{show_decimal(self.at)}-{self.of}"


class Correlation(_Criterion):
    """The largest difference of the correlation of two columns."""

    numbers_of = "of"
    criterion: Literal["correlation"]
    of: tuple[Reference, ...] = Field(min_length=2, description="Columns whose pairs are compared.")

    def mistakes(self) -> Iterator[Mistake]:
        """A column is not compared with itself."""
        yield from _repeated(self.of, ("of",), "`of` names a column twice")


class NamedQuery(_Criterion):
    """The error of one query: the share of records that satisfy a condition, or a column's mean among them."""

    numbers_of = "of"
    criterion: Literal["query"]
    _called: ClassVar[str] = "query-{0.query}"
    query: Name = Field(description="The query's name.")
    where: str = Field(description="The condition, as in a constraint.")
    of: Reference | None = optional("Compare this column's mean instead of the share.")

    def mistakes(self) -> Iterator[Mistake]:
        """A condition can be read."""
        yield from unreadable(self.where, ("where",))

    def condition(self, names: Sequence[str]) -> Condition:
        """The parsed condition."""
        return resolve(parse_condition(self.where), names)


def _kind(value: Any) -> str | None:
    found = value.get("criterion") if isinstance(value, dict) else getattr(value, "criterion", None)
    return found if isinstance(found, str) else None


Criterion = Annotated[
    Annotated[MarginalsAbsolute, Tag("marginals-absolute")]
    | Annotated[MarginalsRelative, Tag("marginals-relative")]
    | Annotated[ConditionalMean, Tag("mean")]
    | Annotated[Proportion, Tag("proportion")]
    | Annotated[RegressionCoefficients, Tag("regression-coefficients")]
    | Annotated[RegressionError, Tag("regression-mae")]
    | Annotated[LogisticCoefficients, Tag("logistic-coefficients")]
    | Annotated[Faithfulness, Tag("faithfulness")]
    | Annotated[RangesAbsolute, Tag("ranges-absolute")]
    | Annotated[TotalVariationDistance, Tag("total-variation")]
    | Annotated[MarginalsTail, Tag("marginals-tail")]
    | Annotated[Quantile, Tag("quantile")]
    | Annotated[Correlation, Tag("correlation")]
    | Annotated[NamedQuery, Tag("query")],
    Discriminator(_kind),
]

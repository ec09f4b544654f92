"""The specification of a release: one file that an epidemiologist can read and a lawyer can sign."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field

from facsimile.spec.calibration import Calibration
from facsimile.spec.choices import Algorithm, Published, SchemeName, Statistic
from facsimile.spec.columns import DROP, Axis, Column, Constant
from facsimile.spec.constraints import (
    Atom,
    Compare,
    Condition,
    Constraint,
    Judged,
    Missing,
    atoms,
    connected,
    holds,
    names,
)
from facsimile.spec.criteria import (
    Criterion,
    Faithfulness,
    LogisticCoefficients,
    MarginalsAbsolute,
    MarginalsRelative,
    NamedQuery,
    Proportion,
    RegressionCoefficients,
    RegressionError,
)
from facsimile.spec.decimals import Count, Epsilon, Exact, parse_decimal
from facsimile.spec.families import Grid, family_of
from facsimile.spec.formula import Formula
from facsimile.spec.mistakes import Mistake, Place, Unknown, cut, every, nearest, unclear, unknown_name
from facsimile.spec.model import TEXT, Key, Model, Prose, Reference, is_name, optional, written
from facsimile.spec.people import Governance, Sourced
from facsimile.spec.prior import Prior
from facsimile.spec.publisher import Publisher
from facsimile.spec.space import MOST_LISTED, Configuration, Listed, Space
from facsimile.spec.witnesses import cases

MOST_PARTS = 500
MOST_RULES = 200
MOST_CLAMP_CASES = 250_000
MOST_CASES = 1_000_000
UNKNOWN = "\0"
SMALLEST_CHANCE = 1e-300
C = TypeVar("C")
Record = Mapping[str, Fraction | str | None]


class Records(Model):
    """How many records the original has; the number is published, so it is declared with its reason."""

    count: Count
    public_because: Prose

    def mistakes(self) -> Iterator[Mistake]:
        """A release needs two records."""
        if self.count < 2:
            yield Mistake(("count",), "", "E151")


class Constraints(Model):
    """What is implausible in the original and in the release.

    `declared`: implausible records are left out and the protected population is the rest, whose number is
    `records.count`; whether a left-out record exists is not protected. A record is judged as it is written and
    again as it is encoded. `clamp`: each implausible record is
    mapped to a plausible one by a rule that reads this record only, so every record is protected.
    """

    policy: Literal["declared", "clamp"]
    raw: tuple[Constraint, ...] = Field(default=(), max_length=MOST_RULES)
    synthetic: tuple[Constraint, ...] = Field(default=(), max_length=MOST_RULES)


class Projection(Model):
    """How rare rows are removed from a candidate."""

    algorithm: tuple[Algorithm, ...] = ("paper",)
    min_count: tuple[Count, ...] = (2,)
    source: Sourced | None = optional("Who asked for it, and why.")

    def mistakes(self) -> Iterator[Mistake]:
        """A projection has an algorithm and minimal counts from 1."""
        yield from every(self._listed("algorithm"), self._listed("min_count"), self._positive())

    def _listed(self, name: str) -> Iterator[Mistake]:
        if not getattr(self, name):
            yield Mistake((name,), f"a projection needs `{name}`: it lists nothing")

    def _positive(self) -> Iterator[Mistake]:
        for i, count in enumerate(self.min_count):
            if count < 1:
                yield Mistake(("min_count", i), "a projection needs minimal counts of at least 1")


class Selection(Model):
    """How the loop over configurations ends.

    `paper`: until success. `coin`: after each failure halt with probability `gamma`. `capped-coin`: the same
    with at most `cap` iterations. `rising-coin`: after the j-th failure halt with probability `a`/j.
    `single`: one iteration.
    """

    mode: Literal["paper", "coin", "capped-coin", "rising-coin", "single"]
    gamma: Exact = Field(default=Fraction(0), ge=0, le=1)
    cap: Count | None = Field(default=None, ge=1)
    epsilon_0: Epsilon | None = None
    a: Exact | None = Field(default=None, gt=0, le=1)
    false_accept: Exact = optional(
        "Probability that the run releases a table that misses a criterion.", Fraction(1, 20), gt=0, lt=1
    )
    source: Sourced | None = optional("Who chose it, and why.")

    def mistakes(self) -> Iterator[Mistake]:
        """A mode has the parameters it takes, and a guarantee."""
        yield from every(self._guaranteed(), self._small())

    def _guaranteed(self) -> Iterator[Mistake]:
        needs = {"coin": ("gamma",), "capped-coin": ("gamma", "cap", "epsilon_0"), "rising-coin": ("a",)}
        given = {name for name in ("gamma", "cap", "epsilon_0", "a") if getattr(self, name) not in (None, 0)}
        wanted = set(needs.get(self.mode, ()))
        if self.cap is not None and self.gamma == 0:
            choice = {"choice": "mode: capped-coin with gamma: 0.05, epsilon_0: 0.1 and cap: 60"}
            yield Mistake(("cap",), "a cap without a coin has no privacy guarantee", "E204", choice)
        elif self.mode in ("coin", "capped-coin") and self.gamma == 0:
            choice = {"choice": "gamma: 0.05, or mode: paper"}
            yield Mistake(("gamma",), "a coin needs gamma above zero", "E204", choice)
        elif given != wanted:
            takes = f"selection mode {self.mode} takes {', '.join(sorted(wanted)) or 'no parameter'}"
            for name in sorted(given - wanted):
                yield Mistake((name,), f"{takes}: {name} does not belong there")
            if wanted - given:
                yield Mistake(("mode",), f"{takes}: {', '.join(sorted(wanted - given))} is missing")

    def _small(self) -> Iterator[Mistake]:
        if self.epsilon_0 is not None and self.epsilon_0 > 1:
            yield Mistake(("epsilon_0",), "epsilon_0 is at most 1", "E204", {"choice": "epsilon_0: 0.1"})
        if self.a is not None and float(self.false_accept) ** (1 / float(self.a)) < SMALLEST_CHANCE:
            problem = "so slow a rising coin with so small a false_accept leaves a test no chance to pass"
            yield Mistake(("a",), problem, "E204", {"choice": "a: 0.1 or more"})


class Budget(Model):
    """The total and what generator, test and one-time fits may spend; criteria carry their own shares."""

    total: Epsilon
    generator: Epsilon = Field(description="For one fit of the generator.")
    test: Epsilon | None = optional("For one noisy number that tests a candidate.")
    once: Epsilon | None = optional("For a regression fitted once before the loop.")
    delta: Exact = optional(
        "0: pure differential privacy. Above: generators ask with Gaussian noise.", Fraction(0), ge=0, lt=1
    )
    source: Sourced | None = optional("Who agreed to it, and why.")


class Spread(Model):
    """The mean and deviation of a column's numbers that planning assumes."""

    mean: Exact
    deviation: Exact = Field(gt=0)


class Planning(Model):
    """What planning assumes about a release that does not exist yet, from public reports.

    A release uses `numbers` only, to scale the regression fitted once.
    """

    groups: dict[Reference, Count] = Field(
        default_factory=dict, description="Records in the smallest group of a column, or of `a*b` crossed."
    )
    numbers: dict[Reference, Spread] = Field(default_factory=dict)


def _said(criterion: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """The formula of a regression, as it is written."""
    return criterion["target"], criterion.get("on"), criterion.get("indicators")


_LANGUAGE_RULE = "a language is its short name in small letters, such as en or he"
LanguageCode = Annotated[str, written(re.compile("[a-z]{2,3}").fullmatch, _LANGUAGE_RULE), TEXT]


def _replace_one(value: Any) -> Any:
    if value != "replace-one":
        raise ValueError("neighbours must be replace-one: every theorem here is proved for it")
    return value


class Specification(Model):
    """A release: what is promised, in public, before a confidential record is read."""

    facsimile: Literal["1"] = Field(description="Version of this language.")
    title: Prose
    description: Prose | None = None
    contact: Prose | None = optional("Where people write about the release.")
    publisher: Publisher | None = optional("Who publishes it, and its terms.")
    governance: Governance | None = optional("Who is behind it, and who approved it.")
    languages: tuple[LanguageCode, ...] | None = optional(
        "The languages of its documents, the main one first; default: en.", min_length=1, max_length=MOST_PARTS
    )
    unit: Prose = Field(description="Whom one record stands for: the unit of privacy.")
    neighbours: Annotated[Literal["replace-one"], BeforeValidator(_replace_one)]
    records: Records
    columns: tuple[Column, ...] = Field(min_length=1, max_length=MOST_PARTS)
    constraints: Constraints
    families: tuple[Grid, ...] = Field(min_length=1, max_length=MOST_PARTS)
    prior: Prior | None = optional("A public table that generators may lean on.")
    projection: Projection
    configurations: tuple[Listed, ...] | None = optional(
        "The configurations that may be drawn; default: all that the file allows.",
        min_length=1,
        max_length=MOST_LISTED,
    )
    statistic: Statistic = "sharp"
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=MOST_PARTS)
    scheme: SchemeName = "test-then-measure"
    selection: Selection
    budget: Budget
    calibration: Calibration | None = optional("How far intervals by replicates reach, found on public data.")
    planning: Planning = Planning()
    publish: tuple[Published, ...] | None = optional(
        "What the bundle holds beside the data and their documents."
    )

    @classmethod
    def filled(cls, data: Any) -> Any:
        """Coefficients that compare with the regression paid once have its epsilon."""
        with suppress(AttributeError, KeyError, TypeError):
            once, form = data["budget"]["once"], data.get("statistic")
            errors = [_said(c) for c in data["criteria"] if c.get("criterion") == "regression-mae"]
            criteria = [
                {**c, "epsilon": once}
                if c.get("criterion") == "regression-coefficients"
                and "epsilon" not in c
                and (c.get("statistic") or form) == "paper"
                and errors in ([], [_said(c)])
                else c
                for c in data["criteria"]
            ]
            return {**data, "criteria": criteria}
        return data

    def mistakes(self) -> Iterator[Mistake]:
        """What parts say about each other."""
        yield from every(
            self._check_contact(),
            self._check_languages(),
            self._check_twice("columns"),
            self._check_twice("criteria"),
            self._check_listed(),
            self._check_criteria(),
            self._check_rules("raw"),
            self._check_rules("synthetic"),
            self._check_drops(),
            self._check_clamps(),
            self._check_test(),
            self._check_epsilons(),
            self._check_forms(),
            self._check_shared(),
            self._check_planning("groups"),
            self._check_planning("numbers"),
            self._check_fits(),
            self._check_publish(),
        )

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        found: dict[str, Column] = {}
        for column in self.columns:
            with suppress(Unknown):
                found.setdefault(column.name, column)
        return found

    @cached_property
    def _badly_named(self) -> bool:
        return len(self.columns) > len(self._by_name) or not all(is_name(name) for name in self._by_name)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in the order of the release."""
        return tuple(self._by_name)

    def column(self, name: str) -> Column:
        """The column of this name."""
        return self._by_name[name]

    @property
    def n(self) -> int:
        """The declared number of records."""
        return self.records.count

    def sized(self, n: int) -> Specification:
        """The same promise for another number of records: public data of the same form."""
        return self.model_copy(update={"records": self.records.model_copy(update={"count": n})})

    def finest(self) -> tuple[Axis, ...]:
        """Every column at the finest common refinement of its alternatives."""
        return tuple(column.finest for column in self.columns)

    def axes(self, alternatives: Mapping[str, str]) -> tuple[Axis, ...]:
        """Every column under the chosen alternative."""
        return tuple(column.axis(alternatives[column.name]) for column in self.columns)

    def recodings(self, alternatives: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
        """For every column the code under the chosen alternative of each code at the finest refinement."""
        return {column.name: column.recoding(alternatives[column.name]) for column in self.columns}

    @cached_property
    def space(self) -> Space:
        """All configurations that may be drawn, approximate families included."""
        listed = self.configurations
        return replace(self._grid, listed=None if listed is None else tuple(map(self._chosen, listed)))

    @cached_property
    def drawable(self) -> Space:
        """What is drawn from: all of the space where δ is declared, else its families without δ."""
        return self.space if self.budget.delta else self.space.pure()

    def made(self) -> Iterator[tuple[Place, Iterator[Configuration]]]:
        """What generators have to be made of, and where it is said."""
        return self.space.made(delta=bool(self.budget.delta))

    @property
    def owned(self) -> bool:
        """Whether a family that may be drawn has an (ε, δ) of its own accounting."""
        if not self.budget.delta:
            return False
        named = {one.family for one in self.configurations or self.families}
        return any(family_of(name).law == "delta" for name in named)

    @cached_property
    def _grid(self) -> Space:
        """All that columns, families and projection allow."""
        return Space(
            {column.name: column.used for column in self.columns},
            self.families,
            {
                "algorithm": tuple(self.projection.algorithm),
                "min_count": tuple(str(count) for count in self.projection.min_count),
            },
        )

    @property
    def first(self) -> dict[str, str]:
        """The first choice of alternatives that a release may have."""
        return next(self.space.choices(self.names))

    def _chosen(self, listed: Listed) -> Configuration:
        """A listed configuration, with what need not be said."""
        given = {k: str(v) for k, v in listed.projection if v is not None}
        return Configuration(
            {name: listed.alternatives.get(name, used[0]) for name, used in self._grid.alternatives.items()},
            listed.family,
            dict(sorted(listed.hyperparameters.items())),
            {key: given.get(key, values[0]) for key, values in self._grid.projections.items()},
        )

    @cached_property
    def raw_conditions(self) -> tuple[Condition, ...]:
        """What no plausible raw record satisfies."""
        return tuple(c.condition(self.names) for c in self.constraints.raw)

    @cached_property
    def synthetic_conditions(self) -> tuple[Judged, ...]:
        """What no row of the release satisfies."""
        return tuple(c.judged(self.names) for c in self.constraints.synthetic)

    def statistic_of(self, criterion: Criterion) -> Statistic:
        """The form a criterion is measured in."""
        return criterion.statistic or self.statistic

    def criteria_of(self, sort: type[C]) -> tuple[C, ...]:
        """Its criteria of one class."""
        return tuple(criterion for criterion in self.criteria if isinstance(criterion, sort))

    @property
    def once_formula(self) -> Formula | None:
        """The regression that `budget.once` pays for; None where nothing compares with one."""
        if self.budget.once is None:
            return None
        wanted = [c.formula for c in self.criteria_of(RegressionError)]
        wanted += [c.formula for c in self.criteria_of(RegressionCoefficients) if self._refits(c)]
        return wanted[0] if wanted else None

    def shares_once(self, criterion: Criterion) -> bool:
        """Whether a criterion compares with the regression paid once, and so costs nothing itself."""
        if not isinstance(criterion, RegressionCoefficients) or not self._refits(criterion):
            return False
        return criterion.formula == self.once_formula

    def nominal(self, name: str, formula: Formula) -> bool:
        """Whether a predictor enters by its bins: a category without numbers, or one that is to."""
        column = self.column(name)
        return name in formula.indicators or (column.is_category and column.numbers is None)

    def tested_together(self, criterion: Criterion) -> bool:
        """Whether the noisy number of a joint test, that of `budget.test`, speaks of it."""
        return self.scheme != "measured" or not criterion.epsilon

    def epsilon_of(self, criterion: Criterion) -> Fraction:
        """The epsilon of the noise behind what is published of a criterion: its own, or that of the number it
        shares."""
        return criterion.epsilon or self.budget.test or Fraction(0)

    def _refits(self, criterion: RegressionCoefficients) -> bool:
        return self.statistic_of(criterion) == "paper"

    @property
    def slack(self) -> Fraction:
        """How far a group's share may be off: the threshold of `marginals-absolute`, else 0."""
        return next((c.threshold for c in self.criteria_of(MarginalsAbsolute)), Fraction(0))

    def publishes(self, part: Published) -> bool:
        """Whether the bundle holds it."""
        return part in (self.publish or ())

    def canonical(self) -> str:
        """The specification as one canonical text: same promise, same text."""
        plain = self.model_dump(mode="json", exclude_none=True)
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def digest(self) -> str:
        """The SHA-256 of the canonical text."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def _check_contact(self) -> Iterator[Mistake]:
        if self.contact is not None and self.governance is not None and self.governance.contact is not None:
            yield Mistake(("contact",), "there are two contacts: keep the one in `governance`")

    def _check_languages(self) -> Iterator[Mistake]:
        for i, code in enumerate(self.languages or ()):
            if code in (self.languages or ())[:i]:
                yield Mistake(("languages", i), f"two languages are the same: {code}")

    def _check_twice(self, place: str) -> Iterator[Mistake]:
        seen = set[str]()
        for i, part in enumerate(getattr(self, place)):
            with suppress(Unknown):
                if part.name in seen:
                    where = (place, i, "name" if place == "columns" else "criterion")
                    yield Mistake(where, f"two {place} have the same name: {part.name}")
                seen.add(part.name)

    def _check_listed(self) -> Iterator[Mistake]:
        """Each listed configuration is one that the rest of the file allows, and none stands twice."""
        seen = set[str]()
        for i, listed in enumerate(self.configurations or ()):
            checks = (self._check_alternatives(listed), self._check_family(listed), self._check_shaping(listed))
            wrong = list(every(*checks, at=("configurations", i)))
            yield from wrong
            with suppress(Unknown):
                name = "" if wrong else self._chosen(listed).identifier
                if name in seen:
                    problem = "`configurations` lists a configuration twice"
                    yield Mistake(("configurations", i), problem, hides=False)
                seen.update({name} - {""})

    def _check_alternatives(self, listed: Listed) -> Iterator[Mistake]:
        for name, chosen in listed.alternatives.items():
            place = ("alternatives", name)
            yield from self._check_name(name, place, "a configuration")
            if name in self._by_name and chosen not in self.column(name).used:
                problem = f"column {name} uses no alternative {cut(chosen)}"
                yield unknown_name(place, problem, chosen, self.column(name).used)
        for name in self.names:
            if name not in listed.alternatives and len(self.column(name).used) > 1:
                yield Mistake(("alternatives",), f"a configuration chooses one of the alternatives of {name}")

    def _check_family(self, listed: Listed) -> Iterator[Mistake]:
        """The family with its hyperparameters is of a grid; what is told is about the grid that is nearest."""
        own = [grid for grid in self.families if grid.family == listed.family]
        if not own:
            known = tuple(dict.fromkeys(grid.family for grid in self.families))
            problem = f"`families` has no {cut(listed.family)}"
            yield unknown_name(("family",), problem, listed.family, known)
            return
        for mistake in min((list(grid.misfits(listed.hyperparameters)) for grid in own), key=len):
            yield mistake.within(("hyperparameters",))

    def _check_shaping(self, listed: Listed) -> Iterator[Mistake]:
        for key, values in self._grid.projections.items():
            given = getattr(listed.projection, key)
            if given is None and len(values) > 1:
                yield Mistake(("projection",), f"a configuration chooses one `{key}` of `projection`")
            elif given is not None and str(given) not in values:
                problem = f"`projection` has no {key} {given}"
                yield unknown_name(("projection", key), problem, str(given), values)

    def _check_name(self, name: str, place: Place, who: str) -> Iterator[Mistake]:
        """A name is that of a column; one whose own name is hidden or wrong may be the one that is meant."""
        if name in self._by_name:
            return
        if self._badly_named:
            close = nearest(name, self.names)
            if close is None or not is_name(close):
                yield unclear(place)
                return
        yield unknown_name(place, f"{who} speaks of the unknown column {cut(name)}", name, self.names)

    def _check_criteria(self) -> Iterator[Mistake]:
        for i, criterion in enumerate(self.criteria):
            yield from every(
                self._check_references(criterion),
                self._check_groups(criterion),
                self._check_numbers(criterion),
                self._check_formula(criterion),
                self._check_clip(criterion),
                self._check_event(criterion),
                self._check_reference(criterion),
                at=("criteria", i),
            )

    def _check_references(self, criterion: Criterion) -> Iterator[Mistake]:
        for place, name in criterion.references():
            yield from self._check_name(name, place, f"criterion {criterion.kind}")

    def _check_groups(self, criterion: Criterion) -> Iterator[Mistake]:
        for place, name in criterion.references():
            if place[0] == "by" and name in self._by_name:
                with suppress(Unknown):
                    if self.column(name).groups is None:
                        problem = f"criterion {criterion.kind}: column {name} declares no groups"
                        yield Mistake(place, problem, hides=False)

    def _check_numbers(self, criterion: Criterion) -> Iterator[Mistake]:
        for place, name in criterion.references():
            if place[0] == criterion.numbers_of and name in self._by_name:
                yield from self._check_numbered(criterion, place, name)

    def _check_numbered(
        self, criterion: Criterion, place: Place, name: str, instead: str = ""
    ) -> Iterator[Mistake]:
        with suppress(Unknown):
            if self.column(name).finest.numbers is None:
                problem = f"criterion {criterion.kind} needs a number for every bin of {name}{instead}"
                yield Mistake(place, problem, hides=False)

    def _check_formula(self, criterion: Criterion) -> Iterator[Mistake]:
        """Predictors have numbers or are indicators; none is predicted from itself or squared for nothing."""
        if not isinstance(criterion, RegressionCoefficients | RegressionError | LogisticCoefficients):
            return
        formula, kind = criterion.formula, criterion.kind
        if isinstance(criterion, LogisticCoefficients):
            predicted = names(criterion.condition(self.names))
        else:
            predicted = (formula.target,)
            if formula.target in self._by_name:
                yield from self._check_numbered(criterion, ("target",), formula.target)
        places = {name: place for place, name in criterion.references() if place[0] == "on"}
        others = tuple(name for name in self.names if name not in predicted)
        columns = set(formula.columns(others))
        for name in sorted(columns & {*predicted}):
            yield Mistake(places[name], f"criterion {kind} predicts {name} from itself", hides=False)
        for name in (name for name in self.names if name in columns - {*predicted}):
            with suppress(Unknown):
                if not self.nominal(name, formula):
                    place, instead = places.get(name, ("criterion",)), f", or `indicators: [{name}]`"
                    yield from self._check_numbered(criterion, place, name, instead)
                elif (name, name) in formula.terms(others):
                    problem = f"an indicator times itself is itself: {name} has no square"
                    yield Mistake(places[name], problem, hides=False)
        for i, name in enumerate(formula.indicators):
            if name in self._by_name and name not in columns:
                yield Mistake(("indicators", i), f"criterion {kind}: {name} is no predictor", hides=False)

    def _check_fits(self) -> Iterator[Mistake]:
        """One regression of the original is published; the one paid once has bins that do not change."""
        every_ = list(enumerate(self.criteria))
        errors = [(i, c) for i, c in every_ if isinstance(c, RegressionError)]
        refits = [(i, c) for i, c in every_ if isinstance(c, RegressionCoefficients) and self._refits(c)]
        for i, criterion in (*errors[1:], *refits[1:]):
            problem = f"a release compares with one noisy regression: {criterion.kind} has two of them"
            yield Mistake(("criteria", i, "criterion"), problem, hides=False)
        formula = self.once_formula
        if formula is None:
            return
        first = next(i for i, c in (*errors, *refits) if c.formula == formula)
        others = tuple(name for name in self.names if name != formula.target)
        for name in (name for name in self.names if name in set(formula.columns(others))):
            if self.nominal(name, formula) and len(self.column(name).used) > 1:
                problem = (
                    f"the regression that budget.once pays for has indicators of {name}: let it `use` one "
                )
                yield Mistake(("criteria", first, "criterion"), f"{problem}of its alternatives", hides=False)

    def _check_publish(self) -> Iterator[Mistake]:
        for i, part in enumerate(self.publish or ()):
            if part in (self.publish or ())[:i]:
                yield Mistake(("publish", i), f"`publish` names {part} twice")

    def _check_clip(self, criterion: Criterion) -> Iterator[Mistake]:
        if not isinstance(criterion, MarginalsRelative) or self.statistic_of(criterion) != "paper":
            return
        if criterion.threshold > criterion.clip:
            problem = f"criterion {criterion.kind}: a ratio clipped below its threshold always passes"
            yield Mistake(("threshold",), problem)

    def _check_event(self, criterion: Criterion) -> Iterator[Mistake]:
        if isinstance(criterion, NamedQuery | Proportion):
            yield from self._check_condition(criterion, "where")
        elif isinstance(criterion, LogisticCoefficients):
            yield from self._check_condition(criterion, "event")

    def _check_reference(self, criterion: Criterion) -> Iterator[Mistake]:
        """The reference of a matching is an alternative of every column that it compares."""
        if not isinstance(criterion, Faithfulness):
            return
        for name in self.names:
            with suppress(Unknown):
                alternatives = self.column(name).alternatives
                if name not in criterion.match and criterion.reference not in alternatives:
                    problem = f"criterion faithfulness: {name} has no alternative {cut(criterion.reference)}"
                    yield unknown_name(("reference",), problem, criterion.reference, tuple(alternatives))
                    return

    def _check_rules(self, kind: Literal["raw", "synthetic"]) -> Iterator[Mistake]:
        for i, rule in enumerate(getattr(self.constraints, kind)):
            yield from every(
                self._check_condition(rule, "never"),
                self._check_constants(rule) if kind == "raw" else iter(()),
                self._check_clamp(rule, kind),
                self._check_bins(rule, kind),
                at=("constraints", kind, i),
            )

    def _check_constants(self, rule: Constraint) -> Iterator[Mistake]:
        if any(len(atom.names) > 1 for atom in atoms(rule.condition(self.names))):
            problem = "a raw constraint compares a column with constants, not with another column"
            yield Mistake(("never",), problem)

    def _check_condition(
        self, part: Constraint | NamedQuery | Proportion | LogisticCoefficients, key: str
    ) -> Iterator[Mistake]:
        text = f"`{cut(getattr(part, key))}`"  # a mistake hides it
        for atom in dict.fromkeys(atoms(part.condition(self.names))):
            yield from every(self._check_atom(atom, (key,), text))

    def _check_atom(self, atom: Atom, place: Place, text: str) -> Iterator[Mistake]:
        for name in atom.names:
            yield from self._check_name(name, place, text)
        if isinstance(atom, Missing) or not set(atom.names) <= set(self._by_name):
            return
        column = self.column(atom.name)
        if isinstance(atom, Compare) and atom.other_is_name:
            other = self.column(str(atom.other))
            if other.is_category is not column.is_category:
                yield Mistake(place, f"{text} compares a number with a category")
            elif other.decimals != column.decimals:
                yield Mistake(place, f"{text} compares columns with different decimals")
        if not column.is_category:
            for constant in atom.constants:
                if isinstance(constant, str):
                    problem = f"{text} compares the number {atom.name} with the text {cut(constant)}"
                    yield unknown_name(place, problem, constant, self.names)
        elif isinstance(atom, Compare) and atom.sign not in ("=", "!="):
            yield Mistake(place, f"{text} orders the categories of {atom.name}")
        else:
            for constant in atom.constants:
                if str(constant) not in column.categories:
                    problem = f"{text}: {cut(str(constant))} is not a value of {atom.name}"
                    yield unknown_name(place, problem, str(constant), column.values or ())

    def _check_clamp(self, rule: Constraint, kind: str) -> Iterator[Mistake]:
        """A rule has a clamp where the policy asks for one, into the domain of a column."""
        clamping = self.constraints.policy == "clamp"
        if kind == "synthetic":
            if rule.clamp is not None:
                problem = "synthetic constraints take no clamp: implausible candidates are not drawn"
                yield Mistake(("clamp",), problem)
        elif clamping and rule.clamp is None:
            yield Mistake((), f"policy clamp: `{cut(rule.never)}` needs a `clamp` rule")
        elif not clamping and rule.clamp is not None:
            yield Mistake(("clamp",), f"policy declared: `{cut(rule.never)}` may have no `clamp` rule")
        else:
            for name, value in (rule.clamp or {}).items():
                yield from self._check_name(name, ("clamp", name), "the clamp")
                with suppress(Unknown):
                    if name in self._by_name and not self.column(name).holds(value):
                        yield Mistake(("clamp", name), f"the clamp leads outside the domain of {name}")

    def _check_bins(self, rule: Constraint, kind: str) -> Iterator[Mistake]:
        """Only a synthetic rule may read bins by any record, if that can be decided."""
        if rule.bins == "any":
            condition = rule.condition(self.names)
            axes = {name: self._by_name[name].finest for name in names(condition) if name in self._by_name}
            if kind == "raw":
                problem = (
                    "a raw rule may not have `bins: any`: write it under `synthetic` too, and `bins` there"
                )
                yield Mistake(("bins",), problem)
            elif len(axes) == len(names(condition)) and cases(condition, axes) > MOST_CASES:
                problem = f"`{cut(rule.never)}` ties too many bins together to be read with `bins: any`"
                yield Mistake(("bins",), problem)

    def _check_drops(self) -> Iterator[Mistake]:
        if self.constraints.policy != "clamp":
            return
        for i, column in enumerate(self.columns):
            for key in ("missing", "malformed", "outside"):
                with suppress(Unknown):
                    if getattr(column, key) == DROP:
                        problem = f"policy clamp keeps every record: column {column.name} may not drop any"
                        yield Mistake(("columns", i, key), problem)

    def clamped(self, record: Record, rules: Iterable[int] | None = None) -> Record:
        """A record after clamp rules (all, unless some are named), in their order.

        Each reads this record and the specification only.
        """
        found = dict(record)
        for i in range(len(self.raw_conditions)) if rules is None else rules:
            if holds(self.raw_conditions[i], found):
                for name, value in (self.constraints.raw[i].clamp or {}).items():
                    found[name] = value if self.column(name).is_category else parse_decimal(value)
        return found

    def _check_clamps(self) -> Iterator[Mistake]:
        """Every clamped record is plausible.

        Conditions compare values with constants, so a record's truth values depend only on where each value
        lies between the constants that occur: one representative from each gap and each constant itself
        decide for all values. Rules that share no column, not even through others, do not touch each other:
        each bundle of rules is decided by its own columns.
        """
        if self.constraints.policy != "clamp":
            return
        rules = zip(self.constraints.raw, self.raw_conditions, strict=True)
        spoken = [{*names(condition), *(rule.clamp or {})} for rule, condition in rules]
        for bundle in connected(spoken):
            yield from self._check_bundle(bundle, sorted(set().union(*(spoken[i] for i in bundle))))

    def _check_bundle(self, bundle: list[int], columns: list[str]) -> Iterator[Mistake]:
        choices = [self._representatives(name, bundle) for name in columns]
        if prod(len(values) for values in choices) * len(bundle) > MOST_CLAMP_CASES:
            problem = "the clamp rules have too many cases to check: split them or use policy declared"
            yield Mistake(("constraints", "policy"), problem)
            return
        for values in product(*choices):
            after = self.clamped(dict(zip(columns, values, strict=True)), bundle)
            for i in bundle:
                if holds(self.raw_conditions[i], after):
                    rule = cut(self.constraints.raw[i].never)
                    problem = f"after all clamps a record can still satisfy `{rule}`"
                    yield Mistake(("constraints", "raw", i, "clamp"), problem)
                    return

    def _representatives(self, name: str, bundle: list[int]) -> list[Fraction | str | None]:
        """A value for each answer that rules can give, an unknown category and a missing value among them."""
        column = self.column(name)
        blank: list[Fraction | str | None] = [] if isinstance(column.missing, Constant) else [None]
        if column.values is not None:
            other = [] if column.outside in column.values else [UNKNOWN]
            return [*column.values, *other, *blank]
        spoken = (atom for i in bundle for atom in atoms(self.raw_conditions[i]) if atom.name == name)
        clamps = (self.constraints.raw[i].clamp or {} for i in bundle)
        edges = {Fraction(0), *(number for atom in spoken for number in atom.numbers)}
        edges |= {parse_decimal(clamp[name]) for clamp in clamps if name in clamp}
        return [*sorted({edge + shift * column.step for edge in edges for shift in (-1, 0, 1)}), *blank]

    def _check_test(self) -> Iterator[Mistake]:
        if self.scheme == "paper":
            if self.budget.test is not None:
                problem = "scheme paper tests each criterion with its own epsilon: remove budget.test"
                yield Mistake(("budget", "test"), problem)
        elif self.scheme == "measured":
            if self.budget.test is not None and all(criterion.epsilon for criterion in self.criteria):
                problem = "every criterion has an epsilon of its own: remove budget.test, or some of theirs"
                yield Mistake(("budget", "test"), problem)
        elif self.budget.test is None:
            yield Mistake(("budget",), f"scheme {self.scheme} needs budget.test: the epsilon of one test")

    def _check_epsilons(self) -> Iterator[Mistake]:
        """A criterion has an epsilon, or shares that of `budget.test`."""
        for i, criterion in enumerate(self.criteria):
            with suppress(Unknown):
                if criterion.epsilon:
                    continue
                if self.scheme != "measured":
                    problem = f"The key `epsilon` is missing in criterion {criterion.kind}"
                    yield Mistake(("criteria", i), problem, "E214", hides=False)
                elif self.budget.test is None:
                    problem = f"criterion {criterion.kind} has no epsilon and there is no budget.test to share"
                    yield Mistake(("criteria", i, "criterion"), problem, hides=False)

    def _check_forms(self) -> Iterator[Mistake]:
        """In scheme measured a value plus noise is tested, in a search that may halt: else no bound holds."""
        if self.scheme != "measured":
            return
        for i, criterion in enumerate(self.criteria):
            with suppress(Unknown):
                if isinstance(criterion, RegressionCoefficients) and self._refits(criterion):
                    problem = (
                        "scheme measured cannot test coefficients by a noisy regression: use statistic sharp"
                    )
                    yield Mistake(("criteria", i, "criterion"), problem, hides=False)
        if self.selection.mode == "paper":
            choice = {"choice": "mode: single, or mode: coin with gamma: 0.05"}
            problem = "scheme measured has no bounds in a search until success"
            yield Mistake(("selection", "mode"), problem, "E204", choice)

    def _check_shared(self) -> Iterator[Mistake]:
        """What compares with the regression paid once is paid by it."""
        for i, criterion in enumerate(self.criteria):
            with suppress(Unknown):
                if self.shares_once(criterion) and criterion.epsilon != self.budget.once:
                    problem = (
                        f"criterion {criterion.kind} compares with the regression that budget.once pays for: "
                        "leave its epsilon out, or make the two equal"
                    )
                    yield Mistake(("criteria", i, "epsilon"), problem, hides=False)

    def _check_planning(self, place: str) -> Iterator[Mistake]:
        for name in getattr(self.planning, place):
            for part in name.split("*") if place == "groups" else [name]:
                yield from self._check_name(part, ("planning", place, name), "planning")

    def __repr__(self) -> str:
        """Short: a notebook shows it."""
        return f"<Specification: {self.title}; {self.n:,} records, {len(self.columns)} columns>"

    def alternatives_named(self, name: Key) -> dict[str, str]:
        """The alternative of this name in every column; columns without it use their first."""
        return {c.name: name if name in c.alternatives else c.used[0] for c in self.columns}

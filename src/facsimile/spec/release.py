"""The specification of a release: one file that an epidemiologist can read and a lawyer can sign."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from facsimile.spec.choices import Scheme, Statistic
from facsimile.spec.columns import DROP, Axis, Column, Constant
from facsimile.spec.constraints import (
    Among,
    Atom,
    Compare,
    Condition,
    Constraint,
    Missing,
    atoms,
    holds,
)
from facsimile.spec.criteria import (
    ConditionalMean,
    Correlation,
    Criterion,
    Faithfulness,
    MarginalsAbsolute,
    MarginalsRelative,
    NamedQuery,
    Quantile,
)
from facsimile.spec.decimals import Count, Epsilon, Exact, parse_decimal
from facsimile.spec.families import Grid
from facsimile.spec.model import Key, Model, Name, Prose
from facsimile.spec.publisher import Publisher
from facsimile.spec.space import Space

MOST_CLAMP_CASES = 1_000_000
UNKNOWN = "\0"
SMALLEST_CHANCE = 1e-300


class Records(Model):
    """How many records the original has; the number is published, so it is declared with its reason."""

    count: Count
    public_because: Prose

    @model_validator(mode="after")
    def _enough(self) -> Records:
        if self.count < 2:
            raise PydanticCustomError("E151", "A release needs at least two records.")
        return self


class Constraints(Model):
    """What is implausible in the original and in the release.

    `declared`: implausible records are left out and the protected population is the rest, whose number is
    `records.count`; whether a left-out record exists is not protected. A record is judged as it is written and
    again as it is encoded. `clamp`: each implausible record is
    mapped to a plausible one by a rule that reads this record only, so every record is protected.
    """

    policy: Literal["declared", "clamp"]
    raw: tuple[Constraint, ...] = ()
    synthetic: tuple[Constraint, ...] = ()


class Projection(Model):
    """How rare rows are removed from a candidate."""

    algorithm: tuple[Literal["paper", "implementation", "margins"], ...] = ("paper",)
    min_count: tuple[Count, ...] = (2,)

    @model_validator(mode="after")
    def _positive(self) -> Projection:
        if not self.min_count or min(self.min_count) < 1 or not self.algorithm:
            raise ValueError("a projection needs an algorithm and minimal counts of at least 1")
        return self


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
    false_accept: Exact = Field(
        default=Fraction(1, 20),
        gt=0,
        lt=1,
        description="Probability that the run releases a table that misses a criterion.",
    )

    @model_validator(mode="after")
    def _guaranteed(self) -> Selection:
        needs = {"coin": ("gamma",), "capped-coin": ("gamma", "cap", "epsilon_0"), "rising-coin": ("a",)}
        given = {name for name in ("gamma", "cap", "epsilon_0", "a") if getattr(self, name) not in (None, 0)}
        wanted = set(needs.get(self.mode, ()))
        if self.cap is not None and self.gamma == 0:
            raise PydanticCustomError(
                "E204",
                "A cap without a coin has no privacy guarantee.",
                {"choice": "mode: capped-coin with gamma: 0.05, epsilon_0: 0.1 and cap: 60"},
            )
        if self.mode in ("coin", "capped-coin") and self.gamma == 0:
            raise PydanticCustomError(
                "E204", "A coin needs gamma above zero.", {"choice": "gamma: 0.05, or mode: paper"}
            )
        if given != wanted:
            keys = ", ".join(sorted(given ^ wanted))
            raise ValueError(
                f"selection mode {self.mode} takes {', '.join(sorted(wanted)) or 'no parameter'}: {keys}"
            )
        if self.a is not None and float(self.false_accept) ** (1 / float(self.a)) < SMALLEST_CHANCE:
            raise PydanticCustomError(
                "E204",
                "So slow a rising coin with so small a false_accept leaves a test no chance to pass.",
                {"choice": "a: 0.1 or more"},
            )
        if self.epsilon_0 is not None and self.epsilon_0 > 1:
            raise PydanticCustomError("E204", "epsilon_0 is at most 1.", {"choice": "epsilon_0: 0.1"})
        return self


class Budget(Model):
    """The total and what generator, test and one-time fits may spend; criteria carry their own shares."""

    total: Epsilon
    generator: Epsilon = Field(description="For one fit of the generator.")
    test: Epsilon | None = Field(default=None, description="For one test of a candidate.")
    once: Epsilon | None = Field(default=None, description="For a regression fitted once before the loop.")
    delta: Exact = Field(default=Fraction(0), ge=0, lt=1, description="0: pure differential privacy.")


class Spread(Model):
    """The mean and deviation of a column's numbers that planning assumes."""

    mean: Exact
    deviation: Exact = Field(gt=0)


class Planning(Model):
    """What planning assumes about a release that does not exist yet, from public reports.

    A release uses `numbers` only, to scale the regression fitted once.
    """

    groups: dict[Name, Count] = Field(
        default_factory=dict, description="Records in the smallest group of a column."
    )
    numbers: dict[Name, Spread] = Field(default_factory=dict)


def _replace_one(value: Any) -> Any:
    if value != "replace-one":
        raise ValueError("neighbours must be replace-one: every theorem here is proved for it")
    return value


class Specification(Model):
    """A release: what is promised, in public, before a confidential record is read."""

    facsimile: Literal["1"] = Field(description="Version of this language.")
    title: Prose
    description: Prose | None = None
    contact: Prose | None = Field(default=None, description="Where people write about the release.")
    publisher: Publisher | None = Field(default=None, description="Who publishes it, and its terms.")
    unit: Prose = Field(description="Whom one record stands for: the unit of privacy.")
    neighbours: Annotated[Literal["replace-one"], BeforeValidator(_replace_one)]
    records: Records
    columns: tuple[Column, ...] = Field(min_length=1)
    constraints: Constraints
    families: tuple[Grid, ...] = Field(min_length=1)
    projection: Projection
    statistic: Statistic = "sharp"
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    scheme: Scheme = "test-then-measure"
    selection: Selection
    budget: Budget
    planning: Planning = Planning()

    @model_validator(mode="before")
    @classmethod
    def _without_seed(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "seed" in data:
            raise PydanticCustomError("E206", "A production run takes no seed.")
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Specification:
        if len(self._by_name) < len(self.columns):
            raise ValueError("two columns have the same name")
        if len({c.name for c in self.criteria}) < len(self.criteria):
            raise ValueError("two criteria have the same name")
        for criterion in self.criteria:
            self._check_criterion(criterion)
        for place in ("raw", "synthetic"):
            for constraint in getattr(self.constraints, place):
                for atom in atoms(constraint.condition(self.names)):
                    self._check_atom(atom, constraint.never)
        if any(len(atom.names) > 1 for atom in self._raw_atoms()):
            raise ValueError("a raw constraint compares a column with constants, not with another column")
        self._check_policy()
        self._check_scheme()
        unknown = set(self.planning.groups) | set(self.planning.numbers)
        if not unknown <= set(self.names):
            raise ValueError(
                f"planning speaks of unknown columns: {', '.join(sorted(unknown - set(self.names)))}"
            )
        return self

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in the order of the release."""
        return tuple(column.name for column in self.columns)

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

    @cached_property
    def space(self) -> Space:
        """All configurations, approximate families included."""
        return Space(
            {column.name: column.used for column in self.columns},
            self.families,
            {
                "algorithm": tuple(self.projection.algorithm),
                "min_count": tuple(str(count) for count in self.projection.min_count),
            },
        )

    def raw_conditions(self) -> tuple[Condition, ...]:
        """What no plausible raw record satisfies."""
        return tuple(c.condition(self.names) for c in self.constraints.raw)

    def synthetic_conditions(self) -> tuple[Condition, ...]:
        """What no row of the release satisfies."""
        return tuple(c.condition(self.names) for c in self.constraints.synthetic)

    def statistic_of(self, criterion: Criterion) -> Statistic:
        """The form a criterion is measured in."""
        return criterion.statistic or self.statistic

    @property
    def slack(self) -> Fraction:
        """How far a group's share may be off: the threshold of `marginals-absolute`, else 0."""
        return next((c.threshold for c in self.criteria if isinstance(c, MarginalsAbsolute)), Fraction(0))

    def canonical(self) -> str:
        """The specification as one canonical text: same promise, same text."""
        plain = self.model_dump(mode="json", exclude_none=True)
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def digest(self) -> str:
        """The SHA-256 of the canonical text."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def _check_criterion(self, criterion: Criterion) -> None:
        for name in criterion.columns:
            if name not in self._by_name:
                raise ValueError(f"criterion {criterion.name} speaks of the unknown column {name}")
        ungrouped = [name for name in getattr(criterion, "by", ()) if self.column(name).groups is None]
        if ungrouped:
            raise ValueError(f"criterion {criterion.name}: column {ungrouped[0]} declares no groups")
        if isinstance(criterion, ConditionalMean | Quantile | Correlation | NamedQuery):
            for name in (criterion.of,) if isinstance(criterion.of, str) else criterion.of or ():
                self._check_numeric(name, criterion.name)
        clip = criterion.clip if isinstance(criterion, MarginalsRelative) else criterion.threshold
        if criterion.threshold > clip and self.statistic_of(criterion) == "paper":
            raise ValueError(f"criterion {criterion.name}: a ratio clipped below its threshold always passes")
        if isinstance(criterion, NamedQuery):
            for atom in atoms(criterion.condition(self.names)):
                self._check_atom(atom, criterion.where)
        if criterion.criterion in ("regression-coefficients", "regression-mae"):
            for name in self.names:
                self._check_numeric(name, criterion.name)
        if isinstance(criterion, Faithfulness):
            others = [name for name in self.names if name not in criterion.match]
            for name in others:
                if criterion.reference not in self.column(name).alternatives:
                    raise ValueError(f"criterion faithfulness: {name} has no alternative {criterion.reference}")

    def _check_numeric(self, name: str, criterion: str) -> None:
        if self.column(name).finest.numbers is None:
            raise ValueError(f"criterion {criterion} needs a number for every bin of {name}")

    def _check_atom(self, atom: Atom, text: str) -> None:
        for name in atom.names:
            if name not in self._by_name:
                raise ValueError(f"`{text}` speaks of the unknown column {name}")
        if isinstance(atom, Missing):
            return
        column = self.column(atom.name)
        constants = atom.values if isinstance(atom, Among) else () if atom.other_is_name else (atom.other,)
        if isinstance(atom, Compare) and atom.other_is_name:
            if self.column(str(atom.other)).is_category is not column.is_category:
                raise ValueError(f"`{text}` compares a number with a category")
            if self.column(str(atom.other)).decimals != column.decimals:
                raise ValueError(f"`{text}` compares columns with different decimals")
        if column.is_category:
            if isinstance(atom, Compare) and atom.sign not in ("=", "!="):
                raise ValueError(f"`{text}` orders the categories of {atom.name}")
            for constant in constants:
                if not isinstance(constant, str):
                    constant = str(constant)
                if constant not in (column.values or ()):
                    raise ValueError(f"`{text}`: {constant} is not a value of {atom.name}")
        elif any(isinstance(constant, str) for constant in constants):
            raise ValueError(f"`{text}` compares the number {atom.name} with a text")

    def _check_policy(self) -> None:
        clamping = self.constraints.policy == "clamp"
        for constraint in self.constraints.raw:
            if clamping and constraint.clamp is None:
                raise ValueError(f"policy clamp: `{constraint.never}` needs a `clamp` rule")
            if not clamping and constraint.clamp is not None:
                raise ValueError(f"policy declared: `{constraint.never}` may have no `clamp` rule")
            for name, value in (constraint.clamp or {}).items():
                if name not in self._by_name or self.column(name)._bin_of(value) is None:
                    raise ValueError(f"the clamp of `{constraint.never}` leads outside the domain of {name}")
        if any(constraint.clamp is not None for constraint in self.constraints.synthetic):
            raise ValueError("synthetic constraints take no clamp: implausible candidates are not drawn")
        if clamping:
            for column in self.columns:
                if DROP in (column.missing, column.malformed, column.outside):
                    raise ValueError(f"policy clamp keeps every record: column {column.name} may not drop any")
            self._check_clamps()

    def clamped(self, record: Mapping[str, Fraction | str | None]) -> dict[str, Fraction | str | None]:
        """A record after the clamp rules, in their order; each reads this record and the specification only."""
        found = dict(record)
        for constraint in self.constraints.raw:
            if holds(constraint.condition(self.names), found):
                for name, value in (constraint.clamp or {}).items():
                    found[name] = value if self.column(name).is_category else parse_decimal(value)
        return found

    def _check_clamps(self) -> None:
        """Every clamped record is plausible.

        Conditions compare values with constants, so a record's truth values depend only on where each value
        lies between the constants that occur: one representative from each gap and each constant itself
        decide for all values.
        """
        conditions = self.raw_conditions()
        spoken = {name for atom in self._raw_atoms() for name in atom.names}
        touched = {name for c in self.constraints.raw for name in (c.clamp or {})}
        free = [name for name in self.names if name not in spoken and name not in touched]
        names = [name for name in self.names if name not in free]
        choices = [self._representatives(name) for name in names]
        if prod(len(values) for values in choices) > MOST_CLAMP_CASES:
            raise ValueError("the clamp rules have too many cases to check: split them or use policy declared")
        for values in product(*choices):
            record = dict.fromkeys(free, None) | dict(zip(names, values, strict=True))
            after = self.clamped(record)
            broken = next((c for c in conditions if holds(c, after)), None)
            if broken is not None:
                raise ValueError(f"after all clamps a record can still satisfy `{broken}`")

    def _representatives(self, name: str) -> list[Fraction | str | None]:
        """A value for each answer that rules can give, an unknown category and a missing value among them."""
        column = self.column(name)
        blank: list[Fraction | str | None] = [] if isinstance(column.missing, Constant) else [None]
        if column.values is not None:
            other = [] if column.outside in column.values else [UNKNOWN]
            return [*column.values, *other, *blank]
        edges = {Fraction(0)} | {
            constant
            for atom in self._raw_atoms()
            if atom.names[0] == name and not isinstance(atom, Missing)
            for constant in (atom.values if isinstance(atom, Among) else (atom.other,))
            if isinstance(constant, Fraction)
        }
        edges |= {
            parse_decimal(constraint.clamp[name])
            for constraint in self.constraints.raw
            if constraint.clamp and name in constraint.clamp
        }
        return [*sorted({edge + shift * column.step for edge in edges for shift in (-1, 0, 1)}), *blank]

    def _raw_atoms(self) -> list[Atom]:
        return [atom for condition in self.raw_conditions() for atom in atoms(condition)]

    def _check_scheme(self) -> None:
        if self.scheme == "paper":
            if self.budget.test is not None:
                raise ValueError("scheme paper tests each criterion with its own epsilon: remove budget.test")
        elif self.budget.test is None:
            raise ValueError(f"scheme {self.scheme} needs budget.test: the epsilon of one test")
        if self.budget.delta > 0:
            raise PydanticCustomError(
                "E204",
                "Approximate differential privacy (budget.delta above 0) is not built yet.",
                {"choice": "delta: 0, or leave it out"},
            )

    def alternatives_named(self, name: Key) -> dict[str, str]:
        """The alternative of this name in every column; columns without it use their first."""
        return {c.name: name if name in c.alternatives else c.used[0] for c in self.columns}

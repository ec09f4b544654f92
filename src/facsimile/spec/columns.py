"""Columns: what a raw field means, the public values it may take, and what happens to any other value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from facsimile.spec.bins import (
    Bin,
    CategoryBin,
    MissingBin,
    NumberBin,
    Span,
    labelled_bins,
    parse_bins,
    refine,
)
from facsimile.spec.decimals import Count, Exact, parse_decimal, show_decimal
from facsimile.spec.model import Key, Label, Model, Name, Prose

REFUSE: Final = "refuse"
DROP: Final = "drop"
CLIP: Final = "clip"
MISSING: Final = "missing"
MOST_DECIMALS: Final = 6
TRUE_TEXTS = ("true", "True", "TRUE", "t", "T", "1")
FALSE_TEXTS = ("false", "False", "FALSE", "f", "F", "0")


@dataclass(frozen=True)
class Axis:
    """One column of a table: its name and its bins, in the order of their codes.

    >>> Axis("parity", parse_bins(["1", "2-3", "3<"], Fraction(1))).labels
    ('1', '2-3', '3<')
    """

    name: str
    bins: tuple[Bin, ...]

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.bins)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels as they appear in a release."""
        return tuple(b.label for b in self.bins)

    @cached_property
    def numbers(self) -> tuple[Fraction, ...] | None:
        """The bins' numbers for means and regressions; None where a bin has none."""
        found = tuple(b.number for b in self.bins if b.number is not None)
        return found if len(found) == len(self.bins) else None


class MissingCode(Model):
    """Missing values are released under a label; a number only where means or regressions need one."""

    code: Label
    number: Exact | None = None


class Constant(Model):
    """Missing values are read as a constant that is known in public."""

    value: Label


def _no_automatic_bounds(value: Any) -> Any:
    if isinstance(value, str):
        raise PydanticCustomError("E211", "Bounds must be declared, not taken from the data.")
    return value


def _boolean_keys(value: Any) -> Any:
    """`true` and `false` stand for every way files write them; other keys are the text itself."""
    if not isinstance(value, Mapping):
        return value
    texts: dict[Any, Any] = {}
    for key, label in value.items():
        spelled = (TRUE_TEXTS if key else FALSE_TEXTS) if isinstance(key, bool) else (str(key),)
        texts |= dict.fromkeys(spelled, label)
    return texts


Bounds = Annotated[tuple[Exact, Exact], BeforeValidator(_no_automatic_bounds)]
RawMap = Annotated[dict[str, Label], BeforeValidator(_boolean_keys)]
Partition = list[Label] | dict[Label, list[Label] | Label]


class Column(Model):
    """A column of the release.

    A column is a number (bins over a grid of `decimals` digits) unless it lists `values`; then it is a
    category. Every alternative covers the same values, so that a record fits all of them or none.
    """

    name: Name = Field(description="Name in the release.")
    description: Prose = Field(description="What the column holds, in the words of its users.")
    source: str = Field(
        default="", max_length=128, description="Name in the confidential file; default: `name`."
    )
    part: Literal["year", "quarter", "month", "day"] | None = Field(
        default=None, description="The part of a date that is kept."
    )
    map: RawMap | None = Field(default=None, description="Raw text to category, e.g. {true: F, false: M}.")
    decimals: Count = Field(
        default=0, ge=0, le=MOST_DECIMALS, description="Digits after the point of a number."
    )
    round: Literal["down"] | None = Field(
        default=None, description="`down` accepts numbers with more digits; otherwise they are malformed."
    )
    bounds: Bounds | None = Field(
        default=None, description="Declared range [L, U] of the bins' numbers, known in public."
    )
    values: tuple[Label, ...] | None = Field(default=None, description="The categories of a category column.")
    numbers: dict[Label, Exact] | None = Field(
        default=None, description="A number for each category; or for bins that shall not have their default."
    )
    alternatives: dict[Key, Partition] = Field(description="Named binnings; a configuration uses one.")
    use: tuple[Key, ...] | None = Field(
        default=None, description="The alternatives that a configuration may use; default: all of them."
    )
    groups: Partition | None = Field(default=None, description="Coarse groups for conditional means.")
    hierarchy: dict[Key, Partition] | None = Field(
        default=None, description="Named coarser versions, from fine to coarse."
    )
    missing: Literal["refuse", "drop"] | MissingCode | Constant = Field(
        default=REFUSE, description="What happens to a blank."
    )
    malformed: Literal["refuse", "drop", "missing"] = Field(
        default=REFUSE, description="What happens to text where a number or a date belongs."
    )
    outside: Label = Field(
        default=REFUSE, description="What happens to a value of no bin: refuse, drop, clip, or a category."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Column:
        if not self.alternatives:
            raise ValueError(f"column {self.name} needs at least one alternative")
        if self.use is not None and (not self.use or len(set(self.use)) < len(self.use)):
            raise ValueError(f"column {self.name}: `use` lists no alternative or one twice")
        for name in self.use or ():
            if name not in self.alternatives:
                raise ValueError(f"column {self.name} has no alternative {name} to use")
        if self.values is None and self.map:
            raise ValueError(f"column {self.name} has `map` but no `values`")
        if self.values is None and self.bounds is None:
            raise ValueError(f"column {self.name} needs `bounds`: the range of its numbers, known in public")
        if self.values is not None and (self.part or self.bounds or self.decimals or self.round):
            raise ValueError(f"column {self.name} lists `values`, so it has no part, bounds, decimals or round")
        if self.part and self.decimals:
            raise ValueError(f"column {self.name} keeps a part of a date, a whole number: it has no decimals")
        self._check_rules()
        if self.values is not None:
            self._check_categories(self.values)
        self._check_partitions()
        self._check_bounds()
        return self

    def _check_rules(self) -> None:
        allowed = (REFUSE, DROP, *(self.values if self.values is not None else (CLIP,)))
        if self.outside not in allowed:
            raise ValueError(
                f"column {self.name}: `outside` is {', '.join(allowed[:3])}{' …' * (len(allowed) > 3)}"
            )
        if isinstance(self.missing, Constant) and self._bin_of(self.missing.value) is None:
            raise ValueError(f"column {self.name}: the constant for missing values is not in its domain")

    def _check_categories(self, values: tuple[str, ...]) -> None:
        if not values or len(set(values)) < len(values):
            raise ValueError(f"column {self.name} lists no value or one value twice")
        if self.map and not set(self.map.values()) <= set(values):
            raise ValueError(f"column {self.name}: `map` leads to a label that is not among `values`")
        if self.numbers and set(self.numbers) != set(values):
            raise ValueError(f"column {self.name}: `numbers` must give one number to each value")

    def _check_partitions(self) -> None:
        for bins in self._partitions.values():
            if self.missing_bin and self.missing_bin.label in {b.label for b in bins}:
                raise ValueError(f"column {self.name}: the missing code is the label of a bin")
            first, reference = bins, next(iter(self._partitions.values()))
            if isinstance(first[0], NumberBin) and isinstance(reference[0], NumberBin):
                ends = (first[0].low, first[-1].high), (reference[0].low, reference[-1].high)
                if ends[0] != ends[1]:
                    raise ValueError(f"column {self.name}: its alternatives cover different values")
        coarser = dict(self.hierarchy or {})
        levels = [("groups", self.groups)] if self.groups is not None else []
        for level, partition in [*levels, *coarser.items()]:
            groups = self._parse(partition)
            for name, bins in self._partitions.items():
                for b in bins:
                    if not any(b.within(g) for g in groups):  # type: ignore[arg-type]
                        raise ValueError(f"column {self.name}: {level} cut the bin {b.label} of {name}")

    def _check_bounds(self) -> None:
        if self.bounds is None:
            return
        low, high = self.bounds
        for name, bins in self._partitions.items():
            for b in bins:
                if b.number is None:
                    raise ValueError(
                        f"column {self.name}: bounds leave nothing of bin {b.label} of {name}: "
                        "widen them, or declare its number"
                    )
                if not low <= b.number <= high:
                    raise ValueError(
                        f"column {self.name}: bin {b.label} of {name} stands for {show_decimal(b.number)}, "
                        "outside its bounds"
                    )

    @property
    def used(self) -> tuple[str, ...]:
        """The alternatives that a configuration may use."""
        return self.use or tuple(self.alternatives)

    @property
    def is_category(self) -> bool:
        """Whether the column holds categories rather than numbers."""
        return self.values is not None

    @property
    def raw_name(self) -> str:
        """The column's name in the confidential file."""
        return self.source or self.name

    @property
    def step(self) -> Fraction:
        """The distance between two values of a number column."""
        return Fraction(1, 10**self.decimals)

    @property
    def missing_bin(self) -> MissingBin | None:
        """The code of missing values, where they have one."""
        if isinstance(self.missing, MissingCode):
            return MissingBin(self.missing.code, self.missing.number)
        return None

    @cached_property
    def _partitions(self) -> dict[str, tuple[NumberBin, ...] | tuple[CategoryBin, ...]]:
        return {name: self._numbered(bins) for name, bins in self._unnumbered.items()}

    @cached_property
    def _unnumbered(self) -> dict[str, tuple[NumberBin, ...] | tuple[CategoryBin, ...]]:
        return {name: self._parse(partition) for name, partition in self.alternatives.items()}

    def _numbered(
        self, bins: tuple[NumberBin, ...] | tuple[CategoryBin, ...]
    ) -> tuple[NumberBin, ...] | tuple[CategoryBin, ...]:
        """Bins of numbers with the number that is declared for each, or the middle that bounds leave."""
        bounds = self.bounds
        if bounds is None:
            return bins
        return tuple(
            replace(b, number=self._declared[b.span] if b.span in self._declared else b.middle(bounds))
            for b in bins
            if isinstance(b, NumberBin)
        )

    @cached_property
    def _declared(self) -> dict[Span, Fraction]:
        """The declared numbers of bins, by what each holds: a bin has the same number in every alternative."""
        found: dict[Span, Fraction] = {}
        every = [b for bins in self._unnumbered.values() for b in bins if isinstance(b, NumberBin)]
        for label, number in (self.numbers or {}).items():
            named = {b.span: b for b in every if b.label == label}
            if len(named) != 1:
                which = "two different bins" if named else "no bin"
                raise ValueError(f"column {self.name}: `numbers` speaks of {label}, the label of {which}")
            span, b = named.popitem()
            if not b.suits(number, self.step):
                raise ValueError(f"column {self.name}: {show_decimal(number)} lies outside the bin {label}")
            if found.setdefault(span, number) != number:
                raise ValueError(f"column {self.name}: `numbers` gives the bin {label} two numbers")
        return found

    def _parse(self, partition: Partition) -> tuple[NumberBin, ...] | tuple[CategoryBin, ...]:
        if self.values is not None:
            return self._categories(partition)
        if isinstance(partition, Mapping):
            texts = {label: text for label, text in partition.items() if isinstance(text, str)}
            if len(texts) < len(partition):
                raise ValueError(f"column {self.name}: a number's bins are texts such as 18-19")
            return labelled_bins(texts, self.step)
        return parse_bins(partition, self.step)

    def _categories(self, partition: Partition) -> tuple[CategoryBin, ...]:
        assert self.values is not None
        if isinstance(partition, Mapping):
            sets = {label: [v] if isinstance(v, str) else list(v) for label, v in partition.items()}
        else:
            sets = {label: [label] for label in partition}
        listed = [value for values in sets.values() for value in values]
        if sorted(listed) != sorted(self.values):
            raise ValueError(f"column {self.name}: an alternative must place each value exactly once")
        return tuple(CategoryBin(label, frozenset(v), self._mean(v)) for label, v in sets.items())

    def _mean(self, values: list[str]) -> Fraction | None:
        if self.numbers is None or not values:
            return None
        return sum((self.numbers[v] for v in values), Fraction(0)) / len(values)

    def _with_missing(self, bins: tuple[Bin, ...]) -> tuple[Bin, ...]:
        return (*bins, self.missing_bin) if self.missing_bin else bins

    def axis(self, alternative: str) -> Axis:
        """The column under one of its alternatives."""
        return Axis(self.name, self._with_missing(self._partitions[alternative]))

    @cached_property
    def finest(self) -> Axis:
        """The column at the finest common refinement of its alternatives: what one read provides."""
        partitions = list(self._partitions.values())
        if self.values is None:
            numbers = [tuple(b for b in bins if isinstance(b, NumberBin)) for bins in partitions]
            return Axis(self.name, self._with_missing(refine(numbers, self.step)))
        together: dict[tuple[str, ...], list[str]] = {}
        for value in self.values:
            labels = tuple(_label_of(value, bins) for bins in partitions)
            together.setdefault(labels, []).append(value)
        shown = {b.values: b for bins in partitions for b in bins if isinstance(b, CategoryBin)}
        bins = tuple(
            shown.get(frozenset(v)) or CategoryBin(" / ".join(v), frozenset(v), self._mean(v))
            for v in together.values()
        )
        return Axis(self.name, self._with_missing(bins))

    def coarsening(self, axis: Axis, partition: str | None = None) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Labels of a coarser partition (`groups`, or a level of the hierarchy) and each bin's place in it."""
        chosen = self.groups if partition is None else (self.hierarchy or {})[partition]
        if chosen is None:
            raise KeyError("groups")
        groups = self._parse(chosen)
        labels = tuple(g.label for g in groups) + ((self.missing_bin.label,) if self.missing_bin else ())
        return labels, _places(axis.bins, groups)

    def recoding(self, alternative: str) -> tuple[int, ...]:
        """For each code of the finest refinement, its code under the alternative."""
        return _places(self.finest.bins, self._partitions[alternative])

    def holders(self, axis: Axis, alternative: str) -> tuple[int | None, ...]:
        """For each bin, the alternative's bin that holds it; None where an edge lies strictly inside."""
        return tuple(_holder(b, self._partitions[alternative]) for b in axis.bins)

    def _bin_of(self, text: str) -> Bin | None:
        if self.values is not None:
            return next((CategoryBin(v, frozenset([v])) for v in self.values if v == text), None)
        try:
            value = parse_decimal(text)
        except ValueError:
            return None
        if (value / self.step).denominator != 1:
            return None
        bins = next(iter(self._partitions.values()))
        return next((b for b in bins if isinstance(b, NumberBin) and b.contains(value)), None)


def _label_of(value: str, bins: tuple[NumberBin, ...] | tuple[CategoryBin, ...]) -> str:
    return next(b.label for b in bins if isinstance(b, CategoryBin) and value in b.values)


def _holder(b: Bin, partition: tuple[NumberBin, ...] | tuple[CategoryBin, ...]) -> int | None:
    """The position of the partition's bin that holds `b`, a missing code last; None where an edge cuts it."""
    if isinstance(b, MissingBin):
        return len(partition)
    return next((i for i, p in enumerate(partition) if b.within(p)), None)  # type: ignore[arg-type]


def _places(bins: Iterable[Bin], partition: tuple[NumberBin, ...] | tuple[CategoryBin, ...]) -> tuple[int, ...]:
    """The same for bins that no edge of the partition cuts."""
    holders = [_holder(b, partition) for b in bins]
    if None in holders:
        raise ValueError("a bin lies in two bins of a coarser partition")
    return tuple(holder for holder in holders if holder is not None)

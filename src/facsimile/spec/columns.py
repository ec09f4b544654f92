"""Columns: what a raw field means, the public values it may take, and what happens to any other value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from facsimile.spec.bins import (
    Bin,
    CategoryBin,
    MissingBin,
    NumberBin,
    Span,
    broken,
    holders,
    labelled_bins,
    parse_bins,
    refine,
)
from facsimile.spec.decimals import Count, Exact, parse_decimal, show_decimal
from facsimile.spec.labels import EACH, Labelled, Labels, numbers_of, written_out
from facsimile.spec.labels import places as labelled_places
from facsimile.spec.mistakes import Mistake, Place, Unknown, cut, every, listed, unclear, unknown_name
from facsimile.spec.model import NAME_RULE, Key, Label, Model, Prose, Reference, is_name, optional

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

    `step` is the distance between two values of a number.

    >>> Axis("parity", parse_bins(["1", "2-3", "3<"], Fraction(1))).labels
    ('1', '2-3', '3<')
    """

    name: str
    bins: tuple[Bin, ...]
    step: Fraction = Fraction(1)

    def __hash__(self) -> int:
        """By the words alone: numbers are slow to hash, and what is looked up is compared as a whole."""
        return hash((self.name, self.labels))

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


def _no_shorthand(value: Any) -> Any:
    """`each` was replaced by the values of a category column, if it is one."""
    if value == EACH:
        raise ValueError("`each` stands for the values of a category column, which lists `values` or `labels`")
    if isinstance(value, str):
        raise ValueError("a list of bins is expected, or labels with their bins")
    return value


Bounds = Annotated[tuple[Exact, Exact], BeforeValidator(_no_automatic_bounds)]
RawMap = Annotated[dict[str, Label], BeforeValidator(_boolean_keys)]
_LABEL = {"type": ["string", "number", "boolean"]}
_LISTED = {"type": "array", "items": _LABEL}
Partition = Annotated[
    list[Label] | dict[Label, list[Label] | Label],
    BeforeValidator(_no_shorthand),
    WithJsonSchema(
        {
            "anyOf": [
                _LISTED,
                {"type": "object", "additionalProperties": {"anyOf": [_LISTED, _LABEL]}},
                {"const": EACH, "description": "Every value of a category column by itself."},
            ]
        }
    ),
]
Bins = tuple[NumberBin, ...] | tuple[CategoryBin, ...]


class Column(Model):
    """A column of the release.

    A column is a number (bins over a grid of `decimals` digits) unless it lists `values`; then it is a
    category. Every alternative covers the same values, so that a record fits all of them or none.
    """

    name: Reference = Field(description="Name in the release.")
    description: Prose = Field(description="What the column holds, in the words of its users.")
    source: str = optional("Name in the confidential file; default: `name`.", "", max_length=128)
    part: Literal["year", "quarter", "month", "day"] | None = optional("The part of a date that is kept.")
    labels: Labels | None = optional(
        "Raw text to category, e.g. {1: male, 2: female} or {1: {label: male, number: 0}, …}: "
        "in place of `map`, `values` and `numbers`."
    )
    map: RawMap | None = optional("Raw text to category, e.g. {true: F, false: M}.")
    decimals: Count = optional("Digits after the point of a number.", 0, ge=0, le=MOST_DECIMALS)
    round: Literal["down"] | None = optional(
        "`down` accepts numbers with more digits; otherwise they are malformed."
    )
    bounds: Bounds | None = optional("Declared range [L, U] of the bins' numbers, known in public.")
    values: tuple[Label, ...] | None = optional("The categories of a category column.")
    numbers: dict[Label, Exact] | None = optional(
        "A number for each category; or for bins that shall not have their default."
    )
    alternatives: dict[Key, Partition] = Field(description="Named binnings; a configuration uses one.")
    use: tuple[Key, ...] | None = optional(
        "The alternatives that a configuration may use; default: all of them."
    )
    groups: Partition | None = optional("Coarse groups for conditional means.")
    hierarchy: dict[Key, Partition] | None = optional("Named coarser versions, from fine to coarse.")
    missing: Literal["refuse", "drop"] | MissingCode | Constant = optional("What happens to a blank.", REFUSE)
    malformed: Literal["refuse", "drop", "missing"] = optional(
        "What happens to text where a number or a date belongs.", REFUSE
    )
    outside: Label = optional("What happens to a value of no bin: refuse, drop, clip, or a category.", REFUSE)

    def mistakes(self) -> Iterator[Mistake]:
        """What the column's own keys say about each other."""
        yield from every(
            self._check_labels(),
            self._check_name(),
            self._check_use(),
            self._check_kind(),
            self._check_values(),
            self._check_map(),
            self._check_outside(),
            self._check_alternatives(),
            self._check_numbers(),
            self._check_missing(),
            self._check_covers(),
            self._check_coarser(),
            self._check_bounds(),
        )

    @classmethod
    def filled(cls, data: Any) -> Any:
        """The column with its labels, and `each`, written out."""
        return written_out(data) if isinstance(data, Mapping) else data

    @classmethod
    def written_at(cls, data: Any) -> Mapping[Place, Place]:
        """What `labels` stands for is written there."""
        return labelled_places(data) if isinstance(data, Mapping) else {}

    @property
    def _called(self) -> str:
        try:
            return f"column {cut(self.name)}"
        except Unknown:
            return "a column"

    def _check_labels(self) -> Iterator[Mistake]:
        """What is wrong with labels that were not written out; then nothing is known of the column's values."""
        labels: Mapping[str, str | Labelled] | None = None
        try:
            labels = self.labels
            if labels is None:
                return
            if any(not isinstance(given, str | Labelled) for given in labels.values()):
                raise Unknown("labels")
            numbers = numbers_of(labels)
            written = [key for key in ("map", "values", "numbers") if getattr(self, key) is not None]
        except Unknown:
            written, numbers = [], {}
        if written:
            problem = f"has `labels` beside `{written[0]}`, which they take the place of: keep one"
            yield Mistake(("labels",), f"{self._called} {problem}")
        elif labels == {}:
            yield Mistake(("labels",), f"{self._called}: `labels` lists no label")
        elif numbers is None:
            problem = "`labels` gives one number to each label, or none to any"
            yield Mistake(("labels",), f"{self._called}: {problem}")
        yield from (unclear((key,)) for key in ("values", "map", "numbers"))

    def _check_name(self) -> Iterator[Mistake]:
        if not is_name(self.name):
            yield Mistake(("name",), f"{self._called}: {NAME_RULE}", hides=False)

    def _check_use(self) -> Iterator[Mistake]:
        if not self.alternatives:
            yield Mistake(("alternatives",), f"{self._called} needs at least one alternative")
        if self.use is not None and (not self.use or len(set(self.use)) < len(self.use)):
            yield Mistake(("use",), f"{self._called}: `use` lists no alternative or one twice", hides=False)
        for i, name in enumerate(self.use or ()):
            if name not in self.alternatives:
                problem = f"{self._called} has no alternative {name} to use"
                yield unknown_name(("use", i), problem, name, tuple(self.alternatives))

    def _check_kind(self) -> Iterator[Mistake]:
        """A column is a number or a category, and has the keys of its kind."""
        if self.values is None:
            if self.map:
                yield Mistake(("map",), f"{self._called} has `map` but no `values`")
            if self.bounds is None:
                needs = f"{self._called} needs `bounds`: the range of its numbers, known in public"
                place = () if self._looks_numeric() else ("alternatives",)
                yield Mistake(
                    place, f"{needs}; or `values` or `labels`, if it is a category" if place else needs
                )
            if self.part and self.decimals:
                problem = f"{self._called} keeps a part of a date, a whole number: it has no decimals"
                yield Mistake(("decimals",), problem)
            return
        for key in ("part", "bounds", "decimals", "round"):
            if getattr(self, key):
                problem = f"{self._called} lists `values`, so it has no part, bounds, decimals or round"
                yield Mistake((key,), problem, hides=False)

    def _looks_numeric(self) -> bool:
        """Whether any word of the alternatives can be read as bins of numbers."""
        for partition in self.alternatives.values():
            for _, text in _items(partition):
                with suppress(ValueError):
                    parse_bins([str(text)], self.step)
                    return True
        return False

    def _check_values(self) -> Iterator[Mistake]:
        if self.values is not None and (not self.values or len(set(self.values)) < len(self.values)):
            yield Mistake(("values",), f"{self._called} lists no value or one value twice")

    def _check_map(self) -> Iterator[Mistake]:
        for key, label in (self.map or {}).items():
            if self.values is not None and label not in self.categories:
                problem = f"{self._called}: `map` leads to {label}, which is not among `values`"
                yield unknown_name(("map", _given(key, self.map or {})), problem, label, self.values)

    def _check_numbers(self) -> Iterator[Mistake]:
        """Categories have all a number or none; of bins, some may have one that lies in them."""
        if self.values is not None:
            if self.numbers and set(self.numbers) != set(self.values):
                yield Mistake(("numbers",), f"{self._called}: `numbers` must give one number to each value")
            return
        spans: dict[Span, Fraction] = {}
        for label, number in (self.numbers or {}).items():
            place, named = ("numbers", label), self._labelled.get(label, {})
            if len(named) != 1:
                which = "two different bins" if named else "no bin"
                problem = f"{self._called}: `numbers` speaks of {label}, the label of {which}"
                yield unknown_name(place, problem, label, () if named else tuple(self._labelled))
                continue
            ((span, b),) = named.items()
            if not b.suits(number, self.step):
                yield Mistake(place, f"{self._called}: {show_decimal(number)} lies outside the bin {label}")
            elif spans.setdefault(span, number) != number:
                yield Mistake(place, f"{self._called}: `numbers` gives the bin {label} two numbers")

    def _check_outside(self) -> Iterator[Mistake]:
        allowed = (REFUSE, DROP, *(self.values if self.values is not None else (CLIP,)))
        if self.outside not in allowed:
            problem = f"{self._called}: `outside` may not be {self.outside}"
            yield unknown_name(("outside",), problem, self.outside, allowed)

    def _check_alternatives(self) -> Iterator[Mistake]:
        for name, partition in self.alternatives.items():
            yield from self._unreadable(partition, ("alternatives", name))

    def _check_missing(self) -> Iterator[Mistake]:
        if isinstance(self.missing, Constant) and not self.holds(self.missing.value):
            problem = f"{self._called}: the constant for missing values is not in its domain"
            yield Mistake(("missing", "value"), problem)
        for bins in self._partitions.values() if self.missing_bin else ():
            if self.missing_bin and self.missing_bin.label in {b.label for b in bins}:
                yield Mistake(("missing", "code"), f"{self._called}: the missing code is the label of a bin")
                return

    def _check_covers(self) -> Iterator[Mistake]:
        ends = {name: (bins[0].low, bins[-1].high) for name, bins in self._numeric.items() if bins}
        problem = f"{self._called}: its alternatives cover different values"
        first = next(iter(ends.values()), None)
        yield from (Mistake(("alternatives", name), problem) for name, end in ends.items() if end != first)

    def _check_coarser(self) -> Iterator[Mistake]:
        """Groups and levels of a hierarchy are unions of bins."""
        levels: list[tuple[Place, Partition]] = [(("groups",), self.groups)] if self.groups is not None else []
        levels += [(("hierarchy", name), partition) for name, partition in (self.hierarchy or {}).items()]
        for place, partition in levels:
            unreadable = list(self._unreadable(partition, place))
            yield from unreadable
            yield from () if unreadable else every(self._check_cuts(place, partition))

    def _check_cuts(self, place: Place, partition: Partition) -> Iterator[Mistake]:
        groups = self._parse(partition)
        for name, bins in self._partitions.items():
            found = holders(bins, groups)
            if None in found:
                problem = f"{self._called}: {place[-1]} cut the bin {bins[found.index(None)].label} of {name}"
                yield Mistake(place, problem, hides=False)
                return

    def _check_bounds(self) -> Iterator[Mistake]:
        if self.values is not None or self.bounds is None:
            return
        low, high = self.bounds
        for name, bins in self._partitions.items():
            for b in bins:
                if b.number is None:
                    problem = f"{self._called}: bounds leave nothing of bin {b.label} of {name}"
                    yield Mistake(("bounds",), f"{problem}: widen them, or declare its number", hides=False)
                    return
                if not low <= b.number <= high:
                    problem = f"{self._called}: bin {b.label} of {name} stands for {show_decimal(b.number)}"
                    yield Mistake(("bounds",), f"{problem}, outside its bounds", hides=False)
                    return

    def _unreadable(self, partition: Partition, place: Place) -> Iterator[Mistake]:
        """What is wrong with a list of bins, each mistake at its bin."""
        if self.values is not None:
            yield from self._misplaced(partition, self.values, place)
            return
        try:
            self._parse(partition)
        except ValueError as error:
            bins: list[tuple[str | int, NumberBin]] = []
            readable = True
            for key, text in _items(partition):
                try:
                    found = self._parse({key: text} if isinstance(key, str) else [text])
                    bins += [(key, b) for b in found if isinstance(b, NumberBin)]
                except ValueError as own:
                    readable = False
                    yield Mistake((*place, key), f"{self._called}: {own}")
            if readable:
                first = broken([b for _, b in bins], self.step)
                where = () if first is None else (bins[first][0],)
                yield Mistake((*place, *where), f"{self._called}: {error}")

    def _misplaced(self, partition: Partition, values: tuple[str, ...], place: Place) -> Iterator[Mistake]:
        """A partition of categories places each value exactly once."""
        rule = f"{self._called}: an alternative must place each value exactly once"
        seen = set[str]()
        for where, value in _placed(partition):
            if value not in self.categories:
                problem = f"{rule}: {value} is not among `values`"
                yield unknown_name((*place, *where), problem, value, values)
            elif value in seen:
                yield Mistake((*place, *where), f"{rule}: {value} stands twice")
            seen.add(value)
        lost = [value for value in values if value not in seen]
        if lost and seen <= self.categories:
            yield Mistake(place, f"{rule}: {listed(lost)} is missing")

    @property
    def used(self) -> tuple[str, ...]:
        """The alternatives that a configuration may use."""
        return self.use or tuple(self.alternatives)

    @cached_property
    def categories(self) -> frozenset[str]:
        """The values of a category column."""
        return frozenset(self.values or ())

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
    def _partitions(self) -> dict[str, Bins]:
        return {name: self._numbered(bins) for name, bins in self._unnumbered.items()}

    @cached_property
    def _numeric(self) -> dict[str, tuple[NumberBin, ...]]:
        """The bins of numbers of each alternative."""
        parts = self._partitions.items()
        return {name: tuple(b for b in bins if isinstance(b, NumberBin)) for name, bins in parts}

    @cached_property
    def _unnumbered(self) -> dict[str, Bins]:
        return {name: self._parse(partition) for name, partition in self.alternatives.items()}

    def _numbered(self, bins: Bins) -> Bins:
        """Bins of numbers with the number that is declared for each, or the middle that bounds leave."""
        bounds = self.bounds
        if bounds is None or self.values is not None:
            return bins
        declared = self._declared
        return tuple(
            replace(b, number=declared.get(b.span, b.middle(bounds)))
            if b.number is None or b.span in declared
            else b
            for b in bins
            if isinstance(b, NumberBin)
        )

    @cached_property
    def _labelled(self) -> dict[str, dict[Span, NumberBin]]:
        """The bins of numbers by their label and what they hold."""
        found: dict[str, dict[Span, NumberBin]] = {}
        for bins in self._unnumbered.values():
            for b in bins:
                if isinstance(b, NumberBin):
                    found.setdefault(b.label, {})[b.span] = b
        return found

    @cached_property
    def _declared(self) -> dict[Span, Fraction]:
        """The declared numbers of bins, by what each holds: a bin has the same number in every alternative."""
        return {
            span: number for label, number in (self.numbers or {}).items() for span in self._labelled[label]
        }

    @cached_property
    def _read(self) -> dict[int, tuple[Partition, Bins]]:
        return {}

    def bins_of(self, partition: Partition) -> Bins:
        """The bins of a partition of the column, without missing values."""
        return self._parse(partition)

    def _parse(self, partition: Partition) -> Bins:
        """The bins of a partition, read once."""
        if id(partition) not in self._read:
            self._read[id(partition)] = partition, self._parsed(partition)
        return self._read[id(partition)][1]

    def _parsed(self, partition: Partition) -> Bins:
        if self.values is not None:
            return self._categories(partition)
        if isinstance(partition, Mapping):
            texts = {label: text for label, text in partition.items() if isinstance(text, str)}
            if len(texts) < len(partition):
                raise ValueError("a number's bins are texts such as 18-19")
            return labelled_bins(texts, self.step)
        return parse_bins(partition, self.step)

    def _categories(self, partition: Partition) -> tuple[CategoryBin, ...]:
        assert self.values is not None
        if isinstance(partition, Mapping):
            sets = {label: [v] if isinstance(v, str) else list(v) for label, v in partition.items()}
        else:
            sets = {label: [label] for label in partition}
        return tuple(CategoryBin(label, frozenset(v), self._mean(v)) for label, v in sets.items())

    def _mean(self, values: list[str]) -> Fraction | None:
        if self.numbers is None or not values:
            return None
        return sum((self.numbers[v] for v in values), Fraction(0)) / len(values)

    def _with_missing(self, bins: tuple[Bin, ...]) -> tuple[Bin, ...]:
        return (*bins, self.missing_bin) if self.missing_bin else bins

    def axis(self, alternative: str) -> Axis:
        """The column under one of its alternatives."""
        return self._axes[alternative]

    @cached_property
    def _axes(self) -> dict[str, Axis]:
        return {
            name: Axis(self.name, self._with_missing(bins), self.step)
            for name, bins in self._partitions.items()
        }

    @cached_property
    def finest(self) -> Axis:
        """The column at the finest common refinement of its alternatives: what one read provides."""
        if self.values is None:
            return Axis(self.name, self._with_missing(refine(self._numeric.values(), self.step)), self.step)
        partitions = self._partitions.values()
        single = [CategoryBin(value, frozenset([value])) for value in self.values]
        places = zip(*(holders(single, bins) for bins in partitions), strict=True)
        together: dict[tuple[int | None, ...], list[str]] = {}
        for value, place in zip(self.values, places, strict=True):
            together.setdefault(place, []).append(value)
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
        return tuple(holders(axis.bins, self._partitions[alternative]))

    def holds(self, text: str) -> bool:
        """Whether a constant of the specification is a value of the domain."""
        if self.values is not None:
            return text in self.values
        try:
            value = parse_decimal(text)
        except ValueError:
            return False
        on_grid = (value / self.step).denominator == 1
        return on_grid and any(b.contains(value) for b in next(iter(self._numeric.values())))


def _given(text: str, texts: Mapping[str, str]) -> str:
    """The key that a text of a map was given by: true and false stand for several."""
    for word, several in (("True", TRUE_TEXTS), ("False", FALSE_TEXTS)):
        if text in several and set(several) <= set(texts):
            return word
    return text


def _items(partition: Partition) -> Iterable[tuple[str | int, Any]]:
    """What a partition says of each bin, by its label or its place in a list."""
    return partition.items() if isinstance(partition, Mapping) else enumerate(partition)


def _placed(partition: Partition) -> Iterator[tuple[Place, str]]:
    """The categories of a partition, each with its place."""
    for key, item in _items(partition):
        if isinstance(item, str):
            yield (key,), item
        else:
            yield from (((key, i), value) for i, value in enumerate(item))


def _places(bins: Iterable[Bin], partition: Bins) -> tuple[int, ...]:
    """The place of the partition's bin that holds each of these bins, which no edge cuts."""
    found = holders(bins, partition)
    if None in found:
        raise ValueError("a bin lies in two bins of a coarser partition")
    return tuple(place for place in found if place is not None)

"""Comparison: the same figures of several configurations, each over several of its released tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, inf, isfinite
from statistics import median
from typing import Any

from facsimile.acceptance.candidate import exact_error
from facsimile.acceptance.kind import titles
from facsimile.explore.report.contenders import Contender, contenders
from facsimile.explore.report.figures import Figure, Named, Theme, figures
from facsimile.explore.report.findings import Findings
from facsimile.explore.setup import Remembered
from facsimile.explore.trials import candidate_of
from facsimile.spec.criteria import Criterion
from facsimile.spec.decimals import parse_decimal

Tell = Callable[[str], None]
LUCK = 0.01
LARGEST: Mapping[Theme, str] = {
    "means": "Means within groups, in standard deviations",
    "medians": "Medians within groups, in standard deviations",
    "pearson": "Correlations",
    "spearman": "Rank correlations",
    "coefficients": "Regression coefficients, in standard deviations of the target",
}


@dataclass(frozen=True)
class Shown:
    """One figure over the released tables of one contender, a Figure for each table."""

    tables: tuple[Figure, ...]

    @property
    def original(self) -> float | None:
        """The public table's; where it depends on the released table (coefficients), the median of them."""
        known = [figure.original for figure in self.tables if figure.original is not None]
        return median(known) if known else None

    @property
    def released(self) -> float | None:
        """The median of the released tables; None where one of them has no such figure."""
        known = [figure.released for figure in self.tables if figure.released is not None]
        return median(known) if len(known) == len(self.tables) else None

    @cached_property
    def differences(self) -> tuple[float, ...]:
        """Released less original of each table; infinite where one of the two is not defined."""
        return tuple(0.0 if f.difference is None else f.difference for f in self.tables)

    @property
    def unit(self) -> float:
        """What a difference is told in beside those of other columns."""
        return self.tables[0].unit

    @property
    def worst(self) -> float:
        """The difference that is furthest from 0, with its sign."""
        return max(self.differences, key=abs)


@dataclass(frozen=True)
class Compared:
    """A figure of every contender that has it, by letter."""

    key: Named
    shown: Mapping[str, Shown]

    @property
    def figure(self) -> Figure:
        """One of its figures, for what they have in common."""
        return next(iter(self.shown.values())).tables[0]

    def as_json(self) -> dict[str, Any]:
        """Every number, exactly; None for what is not defined."""
        topic, of, among = self.key
        found: dict[str, Any] = {"topic": topic, "of": of, "among": among}
        for name in ("original", "unit", "released", "error"):
            found[name] = {}
        for letter, shown in self.shown.items():
            typical = median(map(abs, shown.differences))
            found["original"][letter], found["unit"][letter] = shown.original, shown.unit
            found["released"][letter] = [figure.released for figure in shown.tables]
            found["error"][letter] = {"median": finite(typical), "worst": finite(abs(shown.worst))}
        return found


@dataclass(frozen=True)
class Score:
    """A line of the summary: an error, the smaller the better, of each contender in each of its tables.

    Infinite where it is not defined. `kind`: how it is written.
    """

    words: str
    kind: str
    values: Mapping[str, tuple[float, ...]]
    threshold: float | None = None

    def typical(self, letter: str) -> float:
        """The median of the contender's tables."""
        return median(self.values[letter])

    def worst(self, letter: str) -> float:
        """The largest of them."""
        return max(self.values[letter])

    @property
    def best(self) -> frozenset[str]:
        """The contenders with the smallest median; none where all have the same."""
        middles = {letter: self.typical(letter) for letter in self.values}
        if len(set(middles.values())) < 2:
            return frozenset()
        return frozenset(letter for letter, value in middles.items() if value == min(middles.values()))

    @property
    def telling(self) -> bool:
        """Whether there are enough tables for `clearly` to be luck in fewer than one line of a hundred.

        If all N tables were alike, the n of one contender would be the best n with probability 1/C(N, n).
        """
        sizes = [len(values) for values in self.values.values()]
        return sum(1 / comb(sum(sizes), size) for size in sizes) <= LUCK

    @property
    def clearly(self) -> str | None:
        """The contender whose every table is better than every table of the others, unless that may be luck."""
        if not self.telling:
            return None
        for letter in self.values:
            others = [min(values) for other, values in self.values.items() if other != letter]
            if others and self.worst(letter) < min(others):
                return letter
        return None

    def as_json(self) -> dict[str, Any]:
        """Plain data; None for what is not defined."""
        return {
            "what": self.words,
            "threshold": self.threshold,
            "median": {letter: finite(self.typical(letter)) for letter in self.values},
            "worst": {letter: finite(self.worst(letter)) for letter in self.values},
            "tables": {letter: [finite(value) for value in values] for letter, values in self.values.items()},
            "best": sorted(self.best),
            "clearly": self.clearly,
        }


@dataclass(frozen=True)
class Comparison:
    """Contenders and their figures; `errors`: of each criterion, by letter, one for each table."""

    contenders: tuple[Contender, ...]
    lines: tuple[Compared, ...]
    criteria: tuple[Criterion, ...]
    errors: Mapping[str, Mapping[str, tuple[float, ...]]]

    def of(self, *topics: Theme) -> list[Compared]:
        """The lines of some topics."""
        return [line for line in self.lines if line.key[0] in topics]

    @cached_property
    def judged(self) -> tuple[Score, ...]:
        """Each criterion's exact error beside its threshold."""
        said, found = titles(self.criteria), [(c, self.errors.get(c.name)) for c in self.criteria]
        return tuple(Score(said[c.name], "number", own, float(c.threshold)) for c, own in found if own)

    @cached_property
    def beyond(self) -> tuple[Score, ...]:
        """What the criteria do not ask for, each topic by its largest error."""
        counts = {f"Counts of {line.key[1]}: largest error": line for line in self.of("counts")[:3]}
        strange = {line.key[1].capitalize(): line for line in self.of("strange")}
        topics = {f"{said}: largest error": self.of(topic) for topic, said in LARGEST.items()}
        return (
            *(Score(said, "percent", _largest([line])) for said, line in (counts | strange).items()),
            *(Score(said, "fixed", _largest(lines)) for said, lines in topics.items() if lines),
        )

    def as_json(self) -> dict[str, Any]:
        """Every number, exactly; None for what is not defined."""
        return {
            "configurations": [contender.as_json() for contender in self.contenders],
            "summary": [score.as_json() for score in (*self.judged, *self.beyond)],
            "figures": [line.as_json() for line in self.lines],
        }


def compare(findings: Findings, names: Sequence[str], tables: int, tell: Tell) -> Comparison:
    """Choose, make every released table again, and compute its figures; tables are not kept."""
    specification = findings.study.setup.specification
    tell("Choosing released tables")
    chosen = contenders(findings, names, tables)
    found: dict[Named, dict[str, list[Figure]]] = {}
    errors: dict[str, dict[str, tuple[float, ...]]] = {}
    for contender in chosen:
        for told, noted in _tables(findings, contender, tell):
            for figure in told:
                found.setdefault(figure.key, {}).setdefault(contender.letter, []).append(figure)
            for name, error in noted.items():
                own = errors.setdefault(name, {})
                own[contender.letter] = (*own.get(contender.letter, ()), inf if error is None else error)
    lines = (Compared(key, {k: Shown(tuple(s)) for k, s in by.items()}) for key, by in found.items())
    return Comparison(chosen, tuple(lines), specification.criteria, errors)


def _tables(
    findings: Findings, contender: Contender, tell: Tell
) -> Iterator[tuple[list[Figure], dict[str, float | None]]]:
    """Of each released table its figures, and the exact error of each criterion.

    An error is what the trial noted, and computed where the trial ended before it.
    """
    setup, configuration = findings.study.setup, contender.tried.configuration
    specification, original = setup.specification, setup.real(configuration)
    for place, trial in enumerate(contender.trials, 1):
        tell(f"Comparing {contender.letter}, table {place} of {len(contender.trials)}")
        made = candidate_of(setup, configuration, parse_decimal(trial.generator), trial.number)
        errors = {reading.criterion: reading.error for reading in trial.readings}
        for c in specification.criteria:
            if c.name not in errors:
                errors[c.name] = exact_error(specification, c, original, made)
        remembered = Remembered(made.domain, made.codes, made.counts)
        yield list(figures(specification, original, remembered)), errors


def _largest(lines: Sequence[Compared]) -> dict[str, tuple[float, ...]]:
    """For each contender and table the largest difference of any line, each in its unit."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for line in lines:
        for letter, shown in line.shown.items():
            found.setdefault(letter, []).append(tuple(abs(d) / shown.unit for d in shown.differences))
    return {letter: tuple(map(max, zip(*every, strict=True))) for letter, every in found.items()}


def finite(value: float | None) -> float | None:
    """A number, or None for what is not defined."""
    return value if value is not None and isfinite(value) else None

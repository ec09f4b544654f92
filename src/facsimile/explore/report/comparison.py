"""Comparison: the same figures of several configurations, each over several of its released tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from statistics import median
from typing import Any

from facsimile.acceptance.candidate import exact_error
from facsimile.acceptance.kind import titles
from facsimile.explore.report.contenders import Contender, contenders
from facsimile.explore.report.figures import Figure, Key, Topic, figures
from facsimile.explore.report.findings import Findings
from facsimile.explore.report.score import Score, finite
from facsimile.explore.setup import Remembered
from facsimile.explore.trials import Trial, candidate_of
from facsimile.spec.criteria import Criterion
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.release import Specification
from facsimile.table.table import Table

Tell = Callable[[str], None]


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
    def typical(self) -> float:
        """The median of the differences without their sign."""
        return median(map(abs, self.differences))

    @property
    def worst(self) -> float:
        """The difference that is furthest from 0, with its sign."""
        return max(self.differences, key=abs)


@dataclass(frozen=True)
class Line:
    """A figure of every contender that has it, by letter."""

    key: Key
    shown: Mapping[str, Shown]

    @property
    def figure(self) -> Figure:
        """One of its figures, for what they have in common."""
        return next(iter(self.shown.values())).tables[0]


@dataclass(frozen=True)
class Comparison:
    """Contenders and their figures; `errors`: of each criterion, by letter, one for each table."""

    contenders: tuple[Contender, ...]
    lines: tuple[Line, ...]
    criteria: tuple[Criterion, ...]
    errors: Mapping[str, Mapping[str, tuple[float, ...]]]

    def of(self, *topics: Topic) -> list[Line]:
        """The lines of some topics."""
        return [line for line in self.lines if line.key[0] in topics]

    @cached_property
    def judged(self) -> tuple[Score, ...]:
        """Each criterion's exact error beside its threshold."""
        said = titles(self.criteria)
        scores = ((c, self.errors.get(c.name, {})) for c in self.criteria)
        return tuple(
            Score(said[c.name], "number", values, float(c.threshold)) for c, values in scores if values
        )

    @cached_property
    def beyond(self) -> tuple[Score, ...]:
        """What the criteria do not ask for, each topic by its largest error."""
        return tuple(self._beyond())

    def _beyond(self) -> Iterator[Score]:
        for line in (*self.of("counts")[:3], *self.of("strange")):
            said = (
                f"Counts of {line.key[1]}: largest error"
                if line.key[0] == "counts"
                else line.key[1].capitalize()
            )
            yield Score(said, "percent", {k: tuple(map(abs, s.differences)) for k, s in line.shown.items()})
        for topic, said in _LARGEST.items():
            lines = self.of(topic)
            if lines:
                yield Score(f"{said}: largest error", "fixed", _largest(lines))

    def as_json(self) -> dict[str, Any]:
        """Every number, exactly; None for what is not defined."""
        return {
            "configurations": [
                {
                    "letter": c.letter,
                    "identifier": c.line.identifier,
                    **c.line.configuration.as_json(),
                    "accepted": c.line.estimate.accepted,
                    "trials": c.line.estimate.trials,
                    "released": c.accepted,
                    "tables": [trial.number for trial in c.trials],
                }
                for c in self.contenders
            ],
            "summary": [score.as_json() for score in (*self.judged, *self.beyond)],
            "figures": [_line_as_json(line) for line in self.lines],
        }


_LARGEST: Mapping[Topic, str] = {
    "means": "Means within groups, in standard deviations",
    "medians": "Medians within groups, in standard deviations",
    "pearson": "Correlations",
    "spearman": "Rank correlations",
    "coefficients": "Regression coefficients, in standard deviations of the target",
}


def compare(findings: Findings, names: Sequence[str], tables: int, tell: Tell) -> Comparison:
    """Choose, make every released table again, and compute its figures; tables are not kept."""
    setup = findings.study.setup
    specification = setup.specification
    tell("Choosing released tables")
    chosen = contenders(findings, names, tables)
    found: dict[Key, dict[str, list[Figure]]] = {}
    errors: dict[str, dict[str, tuple[float, ...]]] = {}
    for contender in chosen:
        configuration = contender.line.configuration
        original = setup.real(configuration)
        for place, trial in enumerate(contender.trials, 1):
            tell(f"Comparing {contender.letter}, table {place} of {len(contender.trials)}")
            made = candidate_of(setup, configuration, parse_decimal(trial.generator), trial.number)
            for figure in figures(specification, original, Remembered(made.domain, made.codes, made.counts)):
                found.setdefault(figure.key, {}).setdefault(contender.letter, []).append(figure)
            for criterion in specification.criteria:
                own = errors.setdefault(criterion.name, {})
                error = _error(specification, criterion, trial, original, made)
                own[contender.letter] = (*own.get(contender.letter, ()), inf if error is None else error)
    lines = (Line(key, {k: Shown(tuple(s)) for k, s in by.items()}) for key, by in found.items())
    return Comparison(chosen, tuple(lines), specification.criteria, errors)


def _error(
    specification: Specification, criterion: Criterion, trial: Trial, original: Table, made: Table
) -> float | None:
    """A criterion's exact error as the trial noted it; computed where the trial ended before it."""
    for reading in trial.readings:
        if reading.criterion == criterion.name:
            return reading.error
    return exact_error(specification, criterion, original, made)


def _largest(lines: Sequence[Line]) -> dict[str, tuple[float, ...]]:
    """For each contender and table the largest difference of any line, each in its unit."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for line in lines:
        for letter, shown in line.shown.items():
            found.setdefault(letter, []).append(tuple(abs(d) / shown.unit for d in shown.differences))
    return {letter: tuple(map(max, zip(*every, strict=True))) for letter, every in found.items()}


def _line_as_json(line: Line) -> dict[str, Any]:
    topic, of, among = line.key
    return {
        "topic": topic,
        "of": of,
        "among": among,
        "original": {letter: shown.original for letter, shown in line.shown.items()},
        "unit": {letter: shown.unit for letter, shown in line.shown.items()},
        "released": {letter: [f.released for f in shown.tables] for letter, shown in line.shown.items()},
        "error": {
            letter: {"median": finite(shown.typical), "worst": finite(abs(shown.worst))}
            for letter, shown in line.shown.items()
        },
    }

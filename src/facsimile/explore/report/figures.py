"""Figures: every statistic that experts compare, of one released table beside the public one it was made from.

Both tables are public, so every figure is exact. A figure is known by its topic and its words, which do not
depend on the configuration: so the same figure of several candidates stands on one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, inf, sqrt
from typing import Literal

import numpy as np

from facsimile.acceptance.model import model_of
from facsimile.explore.report.subgroups import centres, numeric
from facsimile.spec.constraints import Condition
from facsimile.spec.criteria import LogisticCoefficients, RegressionCoefficients, RegressionError
from facsimile.spec.formula import Formula
from facsimile.spec.release import Specification
from facsimile.table.differences import by_ways
from facsimile.table.domain import LARGEST_INDEX
from facsimile.table.numbers import correlation, variance
from facsimile.table.ranks import rank_correlation
from facsimile.table.regression import Scaling, least_squares, most_likely
from facsimile.table.table import Codes, Table

Theme = Literal[
    "counts", "moved", "means", "medians", "pearson", "spearman", "coefficients", "rows", "rare", "strange"
]
Named = tuple[Theme, str, str]
"""What a figure is: the statistic, what it is of, and among whom."""
MOST_TABLES = 500
"""Tables of so many columns are looked at as long as there are no more than this."""
RARE = 5


@dataclass(frozen=True)
class Figure:
    """One statistic of both tables; None where it is not defined.

    `unit`: what a difference is told in where figures of several columns are compared: the deviation of the
    column in the public table. `threshold`: that of the criterion about this very figure.
    """

    topic: Theme
    of: str
    among: str
    original: float | None
    released: float | None
    unit: float = 1.0
    threshold: float | None = None

    @property
    def key(self) -> Named:
        """What it is."""
        return self.topic, self.of, self.among

    @property
    def difference(self) -> float | None:
        """Released less original; None where neither is defined, infinite where one of them is not."""
        if self.original is None or self.released is None:
            return None if self.original is self.released else inf
        return self.released - self.original


def figures(specification: Specification, original: Table, released: Table) -> Iterator[Figure]:
    """Every figure, topic by topic; what the columns do not allow is left out."""
    yield from _counts(original, released)
    yield from _centres(specification, original, released)
    yield from correlations(original, released)
    for one, other in combinations(numeric(original.domain), 2):
        before, after = (rank_correlation(table, one, other) for table in (original, released))
        yield Figure("spearman", one, other, before, after)
    for name in regressed(specification):
        yield from coefficients(specification, name, original, released)
    yield from _rows(original, released)


def ways(columns: int) -> range:
    """The numbers of columns whose tables are few enough to look at all of them.

    >>> list(ways(6)), list(ways(14))
    ([1, 2, 3, 4, 5, 6], [1, 2, 3])
    """
    few = [k for k in range(1, columns + 1) if all(comb(columns, j) <= MOST_TABLES for j in range(k + 1))]
    return range(1, len(few) + 1)


def _counts(original: Table, released: Table) -> Iterator[Figure]:
    """Errors of counts by the number of columns: an error's original is 0."""
    found = [(k, *by_ways(original, released, k)) for k in ways(len(original.domain.names))]
    for k, largest, _ in found:
        yield Figure("counts", _tables(k), "", 0.0, largest / original.n)
    for k, _, moved in found:
        yield Figure("moved", _tables(k), "", 0.0, moved / 2 / original.n)


def _tables(k: int) -> str:
    return {1: "single columns", 2: "pairs of columns"}.get(k, f"{k} columns together")


def _centres(specification: Specification, original: Table, released: Table) -> Iterator[Figure]:
    found = list(centres(specification, original, released))
    whole = {row["of"]: row["original"] for row in reversed(found)}
    units = {
        of: _deviation(original, of) if of in original.domain.names else sqrt(share * (1 - share)) or 1.0
        for of, share in whole.items()
    }
    for row in found:
        of, both = row["of"], (row["original"], row["released"])
        yield Figure("means", of, row["label"], *both, units[of], row["threshold"])
    for row in (row for row in found if row["of"] in original.domain.names):
        of, both = row["of"], (row["original_median"], row["released_median"])
        yield Figure("medians", of, row["label"], *both, units[of])


def _deviation(table: Table, name: str) -> float:
    """The population deviation; a constant column counts in its own unit."""
    return sqrt(variance(table, name)) or 1.0


def correlations(original: Table, released: Table) -> Iterator[Figure]:
    """The ordinary correlation of every pair of columns with numbers; None where one of them is constant."""
    for one, other in combinations(numeric(original.domain), 2):
        before, after = (correlation(table, one, other) for table in (original, released))
        yield Figure("pearson", one, other, before, after)


def regressed(specification: Specification) -> dict[str, tuple[Formula, Condition | None]]:
    """The regressions that criteria compare, each once, by what is predicted from what."""
    found: dict[str, tuple[Formula, Condition | None]] = {}
    for criterion in specification.criteria:
        if isinstance(criterion, LogisticCoefficients):
            event = criterion.condition(specification.names)
            found[f"{criterion.event}{_on(criterion.formula)}"] = (criterion.formula, event)
        elif isinstance(criterion, RegressionCoefficients | RegressionError):
            found[f"{criterion.target}{_on(criterion.formula)}"] = (criterion.formula, None)
    return found


def _on(formula: Formula) -> str:
    return "" if formula.on is None else f" on {', '.join(formula.on)}"


def coefficients(specification: Specification, name: str, original: Table, released: Table) -> Iterator[Figure]:
    """The coefficients of a regression, by its name: a constant, which comes first, and its features.

    Features are standardised by the released table in both regressions, as the criterion does, so that a
    coefficient is what one deviation of the feature adds to the target, or to the log odds of an event. None
    where they are not determined.
    """
    formula, event = regressed(specification)[name]
    model = model_of(specification, formula, released.domain, event)
    scaling = Scaling.by(model.of(released), model.target)
    unit = 1.0 if event is not None else _deviation(original, model.target)
    fit = least_squares if event is None else most_likely
    one, other = (fit(model.of(table), scaling) for table in (original, released))
    for place, feature in enumerate(("constant", *scaling.features)):
        before, after = (None if found is None else float(found[place]) for found in (one, other))
        yield Figure("coefficients", feature, name, before, after, unit)


def _rows(original: Table, released: Table) -> Iterator[Figure]:
    """How whole rows fare: how many there are, how many are rare, and how many are in one table only."""
    both = (original, released)
    yield Figure("rows", "different rows", "", *(float(table.distinct) for table in both))
    yield Figure("rows", "rows that only one record has", "", *(float((t.counts == 1).sum()) for t in both))
    rare = f"records whose row fewer than {RARE} records have"
    yield Figure("rare", rare, "", *(int(t.counts[t.counts < RARE].sum()) / t.n for t in both))
    first, second = _names(original, released)
    for words, table, alone in (
        ("released records whose row no original record has", released, ~np.isin(second, first)),
        ("original records whose row no released record has", original, ~np.isin(first, second)),
    ):
        yield Figure("strange", words, "", 0.0, int(table.counts[alone].sum()) / table.n)


def _names(one: Table, other: Table) -> tuple[Codes, Codes]:
    """A number for each row of two tables: equal rows have equal numbers."""
    if one.domain.cells <= LARGEST_INDEX:
        first, second = (np.ravel_multi_index(tuple(t.codes.T), t.domain.shape) for t in (one, other))
        return first, second
    _, place = np.unique(np.concatenate([one.codes, other.codes]), axis=0, return_inverse=True)
    return place.ravel()[: one.distinct], place.ravel()[one.distinct :]

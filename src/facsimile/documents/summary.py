"""Summary: what one page can say of a release. Three numbers with how far each can be off, and what one guess
about a person may gain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from math import ceil, exp, floor

from facsimile.documents.report import ColumnEntry, CriterionEntry, Report

NUMBERS = 3


@dataclass(frozen=True)
class Headline:
    """A number of the released table, and where that of the confidential file lies; None where no bound says.

    `of`: a count of rows with `label` in `column`, a mean of `column`, or a share of the rows `where` …
    """

    of: str
    value: float
    between: tuple[float, float] | None
    column: ColumnEntry | None = None
    label: int = 0
    where: str = ""


def headlines(report: Report) -> tuple[Headline, ...]:
    """Three numbers with a bound: a count, a mean and a share in turn.

    Where a release has fewer bounds, counts without one fill the list, and the page says that they have none.
    """
    in_turn = chain.from_iterable(zip_longest(_counts(report), _means(report), _shares(report)))
    sure = (one for one in in_turn if one is not None and one.between)
    unsure = (one for one in _counts(report) if not one.between)
    return tuple(islice(chain(sure, unsure), NUMBERS))


def guesses(epsilon: float, delta: float = 0.0) -> int:
    """How many of 100 guesses of a fair yes or no, in one record, can be right: at most.

    Theorem.  For (ε, δ)-neighbours P and Q, who must tell them apart by one draw is right with probability at
      most (e^ε + δ)/(e^ε + 1).
    Proof.    Let the guess be P on A. It is right with (P(A) + Q(Aᶜ))/2. With p = P(A) and q = Q(A), p is at
      most e^ε q + δ and 1−q ≤ e^ε (1−p) + δ. Their sum is (1 + e^ε)(p − q) ≤ e^ε − 1 + 2δ, so (1 + p − q)/2
      is at most (e^ε + δ)/(e^ε + 1).  QED

    >>> guesses(0.0), guesses(1.95), guesses(20.0)
    (50, 88, 100)
    """
    return min(100, ceil(round(100 * (1 + delta * exp(-epsilon)) / (1 + exp(-epsilon)), 9)))


def _counts(report: Report) -> Iterator[Headline]:
    """The most frequent value of each column, then the next ones; but for the blanks."""
    known = {c.name: [i for i, label in enumerate(c.labels) if label != c.missing] for c in report.columns}
    for rank in range(NUMBERS):
        for column in report.columns:
            counts, often = column.counts, sorted(known[column.name], key=lambda i: (-column.counts[i], i))
            if rank < len(often) > 1:
                count = counts[often[rank]]
                yield Headline("count", count, _counted(report, count), column, often[rank])


def _counted(report: Report, count: int) -> tuple[float, float] | None:
    """Between which counts that of the confidential file lies, by the bounds of all one-way counts."""
    found = [_by_difference(report, c, count) for c in _bounded(report, "marginals-absolute")]
    found += [_by_ratio(report, c, count) for c in _bounded(report, "marginals-relative")]
    return min(found, key=lambda pair: pair[1] - pair[0], default=None)


def _by_difference(report: Report, criterion: CriterionEntry, count: int) -> tuple[float, float]:
    """Counts differ by at most the bound, as a share of all records."""
    most = floor((criterion.bound or 0) * report.records + 1e-9)
    return max(0, count - most), min(report.records, count + most)


def _by_ratio(report: Report, criterion: CriterionEntry, count: int) -> tuple[float, float]:
    """Counts plus one are at most so many times each other."""
    ratio = max(1.0, criterion.bound or 1.0)
    return max(0, ceil((count + 1) / ratio - 1 - 1e-9)), min(
        report.records, floor((count + 1) * ratio - 1 + 1e-9)
    )


def _means(report: Report) -> Iterator[Headline]:
    columns = {column.name: column for column in report.columns}
    for criterion in _bounded(report, "mean"):
        column = columns.get(criterion.columns[0])
        if column is None or not column.numbers:
            continue
        numbers = column.numbers
        mean = sum(n * x for n, x in zip(column.counts, numbers, strict=True)) / (sum(column.counts) or 1)
        low, high = min(numbers), max(numbers)
        bound = criterion.bound or 0.0
        yield Headline("mean", mean, (max(low, mean - bound), min(high, mean + bound)), column)


def _shares(report: Report) -> Iterator[Headline]:
    for criterion in _bounded(report, "proportion"):
        share = criterion.subgroups[0].value if criterion.subgroups else None
        if share is not None:
            bound = criterion.bound or 0.0
            where = criterion.title.removeprefix("Share where ")
            yield Headline("share", share, (max(0, share - bound), min(1, share + bound)), where=where)


def _bounded(report: Report, kind: str) -> Iterator[CriterionEntry]:
    """The criteria of a kind whose bound speaks of all records: not of some that were drawn from them."""
    for criterion in report.criteria:
        if criterion.kind == kind and criterion.stands != "resized" and criterion.bound is not None:
            yield criterion

"""Answers: open a release and ask it; every number comes with how far it can be from the original's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.api.given import refuse_unless_whole
from facsimile.errors import refusal
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.analysis.answers import Found
    from facsimile.analysis.asking import Answer, Pair
    from facsimile.analysis.basis import Basis
    from facsimile.analysis.questions import Question
    from facsimile.release.reporting import Release
    from facsimile.table.domain import Domain

Confidence = str | float | Fraction | Decimal
WARNING = (
    "Synthetic records. No row is a person. Figures differ from the confidential table's: ask with "
    "facsimile.open(...).ask(...) how far."
)
REHEARSAL = "A REHEARSAL on public data: not a release."
MOST_SHOWN = 400


def open(bundle: Path | str, replicates: int = 0, prior: Path | str | None = None) -> Opened:  # noqa: A001
    """Open the folder of a release and ask it; no confidential data is needed.

    Hashes and signature are checked, not that every figure follows from the rest: `facsimile.verify` does that.
    Where no rule guarantees a figure, `replicates` estimate it: so many are made when they are first needed.
    `prior` is the public file that the release leans on, if it does.

    >>> births = facsimile.open("bundle")  # doctest: +SKIP
    >>> births.count("mother_age = '<18' and parity = 1")  # doctest: +SKIP
    """
    from facsimile.release.opened import open_bundle

    refuse_unless_whole("facsimile.open", replicates=(replicates, 0))
    found = open_bundle(Path(bundle))
    release = found.release
    more = cache(lambda: _replicated(release, replicates, None if prior is None else Path(prior)))
    return Opened(release.specification.title, release.basis, release.rehearsal, found.said, more)


def _replicated(release: Release, number: int, prior: Path | None) -> Sequence[Pair]:
    """Pairs of the release drawn again and what its scheme made of that."""
    from facsimile.explore.priors import named_prior
    from facsimile.release.replicates import SEED, Replication

    if not number:
        return ()
    leaning = named_prior(release.specification, release.configuration, prior)
    scheme = Replication.of(release.specification, release.configuration, release.table, leaning)
    return tuple((one.resampled, one.table) for one in scheme.replicates(number, SEED))


def answer(
    bundle: Path | str,
    question: str,
    *,
    confidence: Confidence = "0.95",
    together: int = 1,
    replicates: int = 0,
    prior: Path | str | None = None,
) -> Answered:
    """Ask a release one question in words, as the command does.

    >>> facsimile.answer("bundle", "count where mother_age = '<18'")  # doctest: +SKIP
    """
    return open(bundle, replicates, prior).ask(question, confidence=confidence, together=together)


@dataclass(frozen=True, eq=False, repr=False)
class Opened(Result, Tabular):
    """A release that answers questions; as a table: its records, ordered, with numbers and its bounds.

    Each question takes a `confidence` and the number of questions that shall hold `together`.
    """

    title: str
    basis: Basis
    rehearsal: bool = False
    report: Mapping[str, Any] = field(default_factory=dict)
    replicates: Callable[[], Sequence[Pair]] = tuple

    def ask(self, question: Question | str, *, confidence: Confidence = "0.95", together: int = 1) -> Answered:
        """A question in words: `count where …`, `mean … where …`, `table a by b`, and the others."""
        from facsimile.analysis.answers import Analyst
        from facsimile.analysis.asking import ask

        analyst = Analyst(self.basis, confidence_of(confidence), together)
        return Answered(ask(analyst, question, self.replicates), self.title, self.basis.n, self.rehearsal)

    def count(self, where: str | None = None, **how: Any) -> Answered:
        """How many records satisfy a condition."""
        from facsimile.analysis.questions import Count

        return self.ask(Count(where), **how)

    def proportion(self, of: str, given: str | None = None, **how: Any) -> Answered:
        """The share of records that satisfy a condition, among all or among those that satisfy another."""
        from facsimile.analysis.questions import Proportion

        return self.ask(Proportion(of, given), **how)

    def mean(self, of: str, where: str | None = None, **how: Any) -> Answered:
        """The mean of a column's numbers."""
        from facsimile.analysis.questions import Mean

        return self.ask(Mean(of, where), **how)

    def median(self, of: str, where: str | None = None, **how: Any) -> Answered:
        """The median of a column's numbers."""
        return self.quantile(of, "0.5", where, **how)

    def quantile(self, of: str, at: Confidence, where: str | None = None, **how: Any) -> Answered:
        """A quantile of a column's numbers."""
        from facsimile.analysis.questions import Quantile, share_of

        return self.ask(
            Quantile(of, share_of(str(at) if not isinstance(at, Fraction) else str(float(at))), where), **how
        )

    def table(self, *by: str, where: str | None = None, **how: Any) -> Answered:
        """The count of every combination of the bins of up to three columns."""
        from facsimile.analysis.questions import Crossing, several

        return self.ask(Crossing(several(by), where), **how)

    def regress(self, target: str, on: str, where: str | None = None, **how: Any) -> Answered:
        """A linear regression: `regress("birth_weight", "parity c(birth_month)")`."""
        from facsimile.analysis.questions import Regression, formula_of

        return self.ask(Regression(formula_of(target, on), None, where), **how)

    def logit(self, event: str, on: str, where: str | None = None, **how: Any) -> Answered:
        """A logistic regression of whether a condition holds."""
        from facsimile.analysis.questions import Regression, formula_of
        from facsimile.spec.criteria import EVENT

        return self.ask(Regression(formula_of(EVENT, on), event, where), **how)

    # The records

    @property
    def metadata(self) -> dict[str, str]:
        """What goes with the records wherever they go: title, warning, bounds."""
        import json

        said = {
            "facsimile_title": self.title,
            "facsimile_warning": WARNING,
            "facsimile_records": f"{self.basis.n}",
        }
        if self.rehearsal:
            said["facsimile_rehearsal"] = REHEARSAL
        bounds = {c["name"]: c["bound"] for c in self.report.get("criteria", ())}
        return {**said, "facsimile_bounds": json.dumps(bounds), **self._promise}

    @cached_property
    def _promise(self) -> dict[str, str]:
        sure = self.report.get("confidence")
        if not sure:
            return {}
        of = "of the search" if sure["of_search"] else "given this release"
        return {"facsimile_confidence": f"{sure['together']} for all bounds together, {of}"}

    def to_arrow(self) -> pa.Table:
        """The records: ordered dictionaries, and a column `NAME_number` for each column with numbers."""
        import pyarrow as pa

        table, columns = self.basis.table, dict[str, Any]()
        records = table.records()
        for place, axis in enumerate(table.domain.axes):
            codes = pa.array(records[:, place], pa.int32())
            columns[axis.name] = pa.DictionaryArray.from_arrays(
                codes, pa.array(axis.labels, pa.string()), ordered=True
            )
        for place, axis in enumerate(table.domain.axes):
            if axis.numbers is not None:
                numbers = pa.array([float(number) for number in axis.numbers], pa.float64())
                columns[_companion(axis.name, table.domain)] = numbers.take(pa.array(records[:, place]))
        return pa.table(columns).replace_schema_metadata(self.metadata)

    def to_pandas(self) -> Any:
        """As a pandas frame: ordered categoricals, and `attrs` with the warning and the bounds."""
        frame = super().to_pandas()
        frame.attrs.update(self.metadata)
        return frame

    def to_polars(self) -> Any:
        """As a Polars frame: enums in the order of the bins."""
        frame = super().to_polars()
        pl = import_module("polars")
        kinds = {axis.name: pl.Enum(list(axis.labels)) for axis in self.basis.table.domain.axes}
        return frame.with_columns(pl.col(name).cast(pl.String).cast(kind) for name, kind in kinds.items())

    def as_json(self) -> dict[str, Any]:
        columns = {axis.name: list(axis.labels) for axis in self.basis.table.domain.axes}
        said = {"title": self.title, "records": self.basis.n, "rehearsal": self.rehearsal, "columns": columns}
        return {**said, "noisy_tables": len(self.basis.tables)}

    def page(self) -> Page:
        page = Page(self.title)
        page.line(f"{self.basis.n:,} synthetic records. Ask, and every figure says how far it can be off.")
        rows = [
            (axis.name, f"{axis.size}", f"{axis.labels[0]} … {axis.labels[-1]}")
            for axis in self.basis.table.domain.axes
        ]
        page.table("Columns", "column|>values|from … to", rows)
        page.line('\nAsk like this: .ask("count where …"), .mean(…), .median(…), .table(…), .regress(…).')
        if self.rehearsal:
            page.line(REHEARSAL)
        return page


def _companion(name: str, domain: Domain) -> str:
    """The name of a column's numbers, one that no column has."""
    found = f"{name}_number"
    while found in domain.names:
        found += "_"
    return found


def confidence_of(given: Confidence) -> Fraction:
    """A confidence as the exact number that was written."""
    try:
        found = Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found < 1:
        raise refusal("E435", problem="A confidence lies between 0 and 1.")
    return found


@dataclass(frozen=True, repr=False)
class Answered(Result, Tabular):
    """An answer: the release's figure, what the original's lies between, by which rule, how sure that is."""

    answer: Answer
    title: str
    records: int
    rehearsal: bool = False

    @property
    def value(self) -> float | None:
        """The release's figure."""
        return self.answer.found.value

    @property
    def low(self) -> float | None:
        """What the original's figure is at least."""
        return self.answer.as_json().get("low")

    @property
    def high(self) -> float | None:
        """What the original's figure is at most."""
        return self.answer.as_json().get("high")

    @property
    def status(self) -> str:
        """`guaranteed`, `estimated` or `none`; of several figures the weakest."""
        order = ("none", "estimated", "guaranteed")
        return min((row.found.status for row in self.answer.rows), key=order.index)

    def as_json(self) -> dict[str, Any]:
        return {
            **self.answer.as_json(),
            "release": self.title,
            "records": self.records,
            "rehearsal": self.rehearsal,
        }

    def to_arrow(self) -> pa.Table:
        """A row for each figure."""
        import pyarrow as pa

        heads, rows = self.answer.heads, self.answer.rows
        columns: dict[str, Any] = {head: [row.labels[i] for row in rows] for i, head in enumerate(heads)}
        columns["value"] = [row.found.value for row in rows]
        columns["low"] = [None if row.found.interval is None else float(row.found.interval.low) for row in rows]
        columns["high"] = [
            None if row.found.interval is None else float(row.found.interval.high) for row in rows
        ]
        columns["status"] = [row.found.status for row in rows]
        columns["rule"] = [", ".join(claim.rule for claim in row.found.rules) for row in rows]
        return pa.table(columns)

    def page(self) -> Page:
        answer, page = self.answer, Page(self.answer.question)
        if answer.heads:
            self._listed(page)
        else:
            page.line(spoken(answer.kind, answer.found, answer.confidence))
        for line in self._caveats():
            page.line(line)
        return page

    def _listed(self, page: Page) -> None:
        answer = self.answer
        number = _count if answer.kind == "crossing" else _number
        shown = [
            (*row.labels, number(row.found.value), *_ends(row.found, number), _why(row.found))
            for row in answer.rows[:MOST_SHOWN]
        ]
        sure = f"{float(answer.confidence):.6g}".rstrip("0")
        title = f"The release's figures, and what the original's lie between (confidence {sure})"
        page.table(title, "|".join((*answer.heads, ">release", ">from", ">to", "by")), shown)
        if len(answer.rows) > MOST_SHOWN:
            page.line(f"\n{len(answer.rows) - MOST_SHOWN:,} more rows: --json, or to_pandas(), has them all.")

    def _caveats(self) -> list[str]:
        """Rules, what the statement is about, and what it is not."""
        found = [row.found for row in self.answer.rows]
        rules = {claim.rule: claim.why for one in found for claim in one.rules}
        lines = [f"\nRule: {rule}. {why}" for rule, why in rules.items()]
        known = [one for one in found if one.status == "guaranteed"]
        if known:
            lines.append(f"\n{_promised(known, self.answer)}")
        if any(one.status == "estimated" for one in found):
            lines.append("\nESTIMATED: no guarantee. Replicates do not see what the model cannot express.")
        if any(one.status == "none" for one in found):
            lines.append(
                "\nNO GUARANTEE where no interval is given: nothing that was measured bounds the figure."
            )
        lines.append(
            "The original is the confidential table as this release encodes it, after the declared rules."
        )
        if self.rehearsal:
            lines.append(REHEARSAL)
        return lines


def _promised(found: Sequence[Found], answer: Answer) -> str:
    """For what the intervals hold together, and whether given the release or of the search."""
    alone = "this question alone" if len(found) == 1 else "each figure by itself"
    holds = "all cells at once" if any("cells" in one.holds for one in found) else alone
    if answer.together > 1:
        holds = f"{answer.together:,} such questions together"
    sure, rest = (f"{float(100 * share):.6g} %" for share in (answer.confidence, 1 - answer.confidence))
    if any(one.promise == "of the search" for one in found):
        event = "a table is released and its interval misses"
        return f"The {sure} hold for {holds}, of the search: {event} with a probability of at most {rest}."
    return f"The {sure} hold for {holds}, given this release."


def spoken(kind: str, found: Found, confidence: Fraction) -> str:
    """An answer in one sentence.

    >>> from facsimile.analysis.answers import Found, Interval
    >>> spoken("count", Found(1204, Interval(1150, 1260), "guaranteed"), Fraction(19, 20))
    'About 1,204 records; with 95 % confidence between 1,150 and 1,260 in the original.'
    """
    number = {"count": _count, "proportion": _share}.get(kind, _number)
    unit = " records" if kind == "count" else ""
    sure = f"{float(confidence * 100):.6g} %"
    if found.value is None and found.interval is None:
        return "The release has no such record, so it has no figure; no guarantee is given."
    if found.value is None and found.interval is not None:
        low, high = number(found.interval.low), number(found.interval.high)
        between = f"with {sure} confidence between {low} and {high} in the original"
        return f"The release has no such record, so it has no figure; {between}."
    value = number(found.value)
    if found.labels is not None and found.interval is not None:
        own, low, high = found.labels
        between = f"in the bin {low}" if low == high else f"between the bins {low} and {high}"
        return f"The bin {own} (about {value}); with {sure} confidence {between} in the original."
    if found.interval is None:
        return f"About {value}{unit} in the release; NO GUARANTEE for the original."
    low, high = number(found.interval.low), number(found.interval.high)
    if found.interval.low == found.interval.high:
        return (
            f"{value}{unit}; for certain {low} in the original."
            if _certain(found)
            else _point(value, unit, sure, low)
        )
    how = "with" if found.status == "guaranteed" else "by an ESTIMATE without guarantee, with"
    return f"About {value}{unit}; {how} {sure} confidence between {low} and {high} in the original."


def _certain(found: Found) -> bool:
    return {claim.rule for claim in found.rules} <= {"rules", "number of records"}


def _point(value: str, unit: str, sure: str, end: str) -> str:
    return f"About {value}{unit}; with {sure} confidence {end} in the original."


def _count(number: float | None) -> str:
    return "none" if number is None else f"{number:,.0f}"


def _share(number: float | None) -> str:
    return "none" if number is None else f"{100 * number:.2f} %"


def _number(number: float | None) -> str:
    return "none" if number is None else f"{number:,.5g}" if abs(number) < 1e5 else f"{number:,.0f}"


def _ends(found: Found, number: Any) -> tuple[str, str]:
    return ("", "") if found.interval is None else (number(found.interval.low), number(found.interval.high))


def _why(found: Found) -> str:
    rules = ", ".join(claim.rule for claim in found.rules)
    return {"none": "no guarantee", "estimated": f"estimated: {rules}"}.get(found.status, rules)

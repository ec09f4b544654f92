"""Public data: simulate some, fit one generator, measure a synthetic table, design a workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from facsimile.api.given import (
    ExactNumber,
    alternatives_of,
    exact,
    refuse_unless,
    refuse_unless_whole,
    source,
    specified,
    text_of,
)
from facsimile.api.releases import figure
from facsimile.errors import refusal
from facsimile.results import Page, Result, Tabular
from facsimile.spec.choices import Statistic

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.explore.design import Designed
    from facsimile.release.evaluate import Evaluation
    from facsimile.release.microdata import Microdata
    from facsimile.release.synthesize import Fitted
    from facsimile.spec.release import Specification

WORST = 3
"""Groups of a criterion that are shown."""


def simulate(facts: Path | str, n: int, *, seed: int = 1) -> Microdata:
    """Stand-in microdata from published facts alone; no confidential data is involved.

    >>> facsimile.simulate("examples/births/facts.yaml", 1000, seed=1).to_pandas()  # doctest: +SKIP
    """
    from facsimile.explore.facts import load_facts
    from facsimile.explore.simulate import simulate
    from facsimile.release.microdata import Microdata

    refuse_unless_whole("facsimile.simulate", n=(n, 1), seed=(seed, 0))
    known = load_facts(Path(facts))
    return Microdata(known.title, simulate(known, n, seed), {"seed": seed})


def fit(
    specification: Specification | Path | str,
    data: Any,
    *,
    public: bool = False,
    family: str | None = None,
    epsilon: ExactNumber = "1",
    seed: int = 1,
    hyperparameters: Mapping[str, str] | None = None,
    alternatives: str | None = None,
    prior: Any = None,
) -> Fitted:
    """Fit one generator to public data: a source, or a pandas, Polars or Arrow table of raw values.

    The noise is seeded, so nothing is protected, whatever epsilon is: without `public=True` the call is refused
    before anything is read. Confidential data go to `facsimile.release`.

    The generator is the specification's first configuration, or its first of a `family`; one that the
    specification does not name has defaults. `alternatives` names another alternative for every column;
    `hyperparameters`, written as in a specification, stand for its own, and `measurements` for its `weights`
    too; `prior` is another public table for families that take one.

    >>> fitted = facsimile.fit("release.yaml", frame, public=True, epsilon="0.5")  # doctest: +SKIP
    >>> fitted.sample(1000, seed=2).to_pandas()  # doctest: +SKIP
    """
    from facsimile.explore.priors import other_prior
    from facsimile.release.synthesize import fit

    refuse_unless(public, "facsimile.fit")
    refuse_unless_whole("facsimile.fit", seed=(seed, 0))
    spent, start = exact(epsilon), None if prior is None else source(prior)
    spec, records = specified(specification), source(data)
    choice = alternatives_of(spec, alternatives)
    if prior is not None and prior is data:
        raise refusal("E219")
    return fit(spec, records, family, spent, seed, hyperparameters, choice, other_prior(spec, start, records))


def evaluate(
    specification: Specification | Path | str,
    real: Any,
    synthetic: Any,
    *,
    public: bool = False,
    statistic: Statistic | None = None,
) -> Evaluated:
    """Measure every criterion exactly between two public tables; for public data only.

    With a `statistic` each criterion is shown in that form too, as a release tests it.

    >>> facsimile.evaluate("release.yaml", "a.csv", frame, public=True).accepted  # doctest: +SKIP
    """
    from facsimile.release.evaluate import evaluate

    refuse_unless(public, "facsimile.evaluate")
    if statistic not in (None, *get_args(Statistic)):
        problem = f"statistic is None or one of {', '.join(get_args(Statistic))}."
        raise refusal("E003", problem=problem, call="facsimile.evaluate")
    spec = specified(specification)
    return Evaluated(spec.title, statistic, evaluate(spec, source(real), source(synthetic), form=statistic))


@dataclass(frozen=True, repr=False)
class Evaluated(Result, Tabular):
    """What `evaluate` found; as a table: a line for each criterion."""

    title: str
    statistic: Statistic | None
    found: Evaluation

    @property
    def accepted(self) -> bool:
        """Whether every criterion is met."""
        return self.found.accepted

    def to_arrow(self) -> pa.Table:
        """A line for each criterion: its error, its threshold, whether it is met."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.as_json()["criteria"])

    def as_json(self) -> dict[str, Any]:
        return self.found.as_json()

    def page(self) -> Page:
        found, page = self.found, Page(self.title)
        page.line(f"{found.n:,} records, exact figures without any protection")
        rows = [
            (v.name, figure(v.value), f"{float(v.threshold):g}", "met" if v.met else "not met")
            for v in found.verdicts
        ]
        page.table("Criteria", "criterion|>error|>threshold|_", rows)
        if found.tested is not None:
            parts = [(v, t and astuple(t)[1:]) for v, t in zip(found.verdicts, found.tested, strict=True)]
            tested = [(v.name, *([figure(x, "") for x in t] if t else ["none"] * 4)) for v, t in parts]
            heads = "criterion|>value|>limit|>sensitivity|>noise"
            page.table(f"As tested, form {self.statistic}", heads, tested)
        if found.groups:
            page.table(
                f"Groups that are farthest off, {WORST} of each criterion",
                "criterion|group|>real records|>synthetic|>real|>synthetic",
                (
                    (name, g.group, *(f"{n:,}" for n in g.records), figure(g.real), figure(g.synthetic))
                    for name, lines in found.groups.items()
                    for g in sorted(lines, key=lambda line: -line.difference)[:WORST]
                ),
            )
        faces = found.faces
        page.line(
            f"\nRows: every one occurs at least {faces.min_count:,} times, {faces.unique_rows:,} are unique."
        )
        page.line(f"Any {faces.b} columns: the rarest combination occurs {faces.smallest_group:,} times.")
        page.line("Accepted." if found.accepted else "Not accepted.")
        return page


def design(
    specification: Specification | Path | str,
    data: Any,
    *,
    public: bool = False,
    epsilon: ExactNumber | None = None,
    margin: float | None = None,
    scores: bool = True,
    alternatives: str | None = None,
    seed: int = 1,
    trials: int | None = None,
    tell: Callable[[str], None] = lambda doing: None,
) -> DesignedWorkload:
    """Compute tables and weights of the workload generator from public data and the criteria.

    `epsilon` is what the generator may spend (default: `budget.generator`), `margin` how many scales of its
    noise each criterion should be met by, `trials` how many drafts are tried. The result follows from the seed.

    >>> facsimile.design("release.yaml", frame, public=True).save("designed.yaml")  # doctest: +SKIP
    """
    from facsimile.explore.design import MARGIN, TRIALS, design
    from facsimile.privacy.reader import read_public

    refuse_unless(public, "facsimile.design")
    refuse_unless_whole("facsimile.design", seed=(seed, 0))
    given: Fraction | None = None if epsilon is None else exact(epsilon)
    spec = specified(specification)
    choice = spec.alternatives_named(alternatives_of(spec, alternatives) or "")
    spent, table = given or spec.budget.generator, read_public(source(data), spec)
    found = design(
        spec,
        table,
        spent,
        alternatives=choice,
        margin=MARGIN if margin is None else margin,
        scores=scores,
        seed=seed,
        trials=trials or TRIALS,
        progress=tell,
    )
    return DesignedWorkload(spec, text_of(specification), choice, table.n, found)


@dataclass(frozen=True, repr=False)
class DesignedWorkload(Result):
    """Measurements that were designed for a specification, and what they are worth."""

    specification: Specification
    source: str
    alternatives: Mapping[str, str]
    records: int
    found: Designed

    def text(self) -> str:
        """The specification with the design in it; the rest and its comments stay."""
        from facsimile.explore.narrowed import designed
        from facsimile.release.recipe import Recipe

        own = Recipe.alone(self.specification, self.alternatives, "workload", self.found.own).configuration
        return designed(self.source, own, self.notes())

    def notes(self) -> list[str]:
        """What stands at the head of the specification."""
        chance = self.found.confirmed
        return [
            f"Measurements designed on {self.records:,} public records, for {self._spent()}.",
            f"There {chance.met} of {chance.of} candidates met every criterion, with room for its test.",
        ]

    def save(self, out: Path | str) -> None:
        """Write the specification to a new file."""
        from facsimile.release.writing import write_text

        write_text(Path(out), self.text())

    def as_json(self) -> dict[str, Any]:
        from facsimile.spec.decimals import show_decimal

        found = self.found
        sides = {
            name: {**asdict(c), "share": c.share, "low": c.bounds[0], "high": c.bounds[1]}
            for name, c in (("confirmed", found.confirmed), ("auto", found.before))
        }
        left = ("confirmed", "before", *(["laws"] if found.laws is None else []))
        plain = {k: v for k, v in asdict(found).items() if k not in left}
        return plain | sides | {"epsilon": show_decimal(found.epsilon), "records": self.records}

    def page(self) -> Page:
        """The tables and shares, what was predicted and confirmed, and which criteria fail first."""
        found, page = self.found, Page(self.specification.title)
        page.line(f"{self.records:,} public records; nothing here is protected")
        names = {
            "design": "the design",
            "auto": "`auto`: nothing better was found",
            "specification": "what the specification had",
        }
        page.line(f"Taken for {self._spent()}: {names[found.taken]}")
        currency = "epsilon" if found.laws is None else "rho"
        page.table("Measurements", f"what|>per cent of {currency}", self._rows())
        rows = (
            [("predicted", _percent(found.predicted), "criteria with a linear view")]
            if found.predicted is not None
            else []
        )
        for name, chance in ((found.taken, found.confirmed), ("auto", found.before)):
            low, high = chance.bounds
            rows.append(
                (
                    name,
                    f"{chance.share:.0%}",
                    f"{chance.met} of {chance.of} candidates, {low:.0%} to {high:.0%}",
                )
            )
        page.table("Chance that every criterion is met, with room for its test", "_|>chance|_", rows)
        if found.laws is not None:
            from facsimile.spec.decimals import show_decimal

            page.line(found.laws.words(show_decimal(self.specification.budget.delta)))
        if found.failing:
            failing = sorted(found.failing.items(), key=lambda one: -one[1])
            page.table(
                "What fails first",
                "criterion|>candidates|>predicted",
                [(name, f"{share:.0%}", _percent(found.predictions.get(name), 1)) for name, share in failing],
            )
        page.line(
            f"\n{found.tried:,} drafts predicted, {found.candidates:,} candidates made, "
            f"{found.seconds:.0f} seconds."
        )
        return page

    def _spent(self) -> str:
        """What the measurements are for."""
        from facsimile.spec.decimals import show_decimal

        delta = self.specification.budget.delta
        beside = f", delta {show_decimal(delta)}" if delta else ""
        return f"a generator epsilon of {show_decimal(self.found.epsilon)}{beside}"

    def _rows(self) -> list[tuple[str, str]]:
        own = self.found.own
        weights = own.get("weights", "auto").split(";")
        items = own.get("measurements", "auto").split(";")
        if len(weights) != len(items):
            weights = [", ".join(weights)] * len(items)
        rows = [
            (item.strip(), weight.strip().replace(",", ", "))
            for item, weight in zip(items, weights, strict=True)
        ]
        scores = own.get("scores", "none")
        for part in scores.split(";") if scores != "none" else ():
            name, _, share = part.strip().rpartition(" ")
            rows.append((f"score of {name}", share))
        return rows


def _percent(chance: float | None, of: int = 0) -> str:
    """A chance, or how often it fails."""
    return "" if chance is None else f"{abs(of - chance):.0%}"

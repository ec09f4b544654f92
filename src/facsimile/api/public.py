"""Public data: simulate some, fit one generator, measure a synthetic table, learn a workload."""

from __future__ import annotations

from collections.abc import Mapping
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
)
from facsimile.api.releases import figure
from facsimile.errors import refusal
from facsimile.results import Page, Result, Tabular
from facsimile.spec.choices import Statistic

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.explore.learning import Learned
    from facsimile.release.evaluate import Evaluation
    from facsimile.release.microdata import Microdata
    from facsimile.release.synthesize import Fitted
    from facsimile.spec.release import Specification


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
    family: str = "workload",
    epsilon: ExactNumber = "1",
    seed: int = 1,
    hyperparameters: Mapping[str, str] | None = None,
    alternatives: str | None = None,
    prior: Any = None,
) -> Fitted:
    """Fit one generator to public data: a source, or a pandas, Polars or Arrow table of raw values.

    The noise is seeded, so nothing is protected, whatever epsilon is: without `public=True` the call is refused
    before anything is read. Confidential data go to `facsimile.release`.

    `alternatives` names the alternative of every column (default: each column's first); `hyperparameters` are
    written as in a specification; `prior` is another public table for families that lean on one, in
    place of the specification's own.

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
        faces = found.faces
        page.line(
            f"\nRows: every one occurs at least {faces.min_count:,} times, {faces.unique_rows:,} are unique."
        )
        page.line(f"Any {faces.b} columns: the rarest combination occurs {faces.smallest_group:,} times.")
        page.line("Accepted." if found.accepted else "Not accepted.")
        return page


def learn(
    specification: Specification | Path | str,
    data: Any,
    *,
    public: bool = False,
    epsilon: ExactNumber | None = None,
    seconds: float = 600,
    alternatives: str | None = None,
    seed: int = 1,
    evaluations: int | None = None,
) -> LearnedWorkload:
    """Choose tables and weights of the workload generator on public data: a ready `families` block.

    `epsilon` is what the generator may spend (default: `budget.generator`). With `evaluations` the result
    follows from the seed, as long as the seconds suffice.

    >>> print(facsimile.learn("release.yaml", frame, public=True, seconds=60).block())  # doctest: +SKIP
    """
    from facsimile.explore.learning import learn
    from facsimile.privacy.reader import read_public

    refuse_unless(public, "facsimile.learn")
    refuse_unless_whole("facsimile.learn", seed=(seed, 0))
    given: Fraction | None = None if epsilon is None else exact(epsilon)
    spec = specified(specification)
    choice = spec.alternatives_named(alternatives_of(spec, alternatives) or "")
    spent, table = given or spec.budget.generator, read_public(source(data), spec)
    limits: dict[str, Any] = {"seconds": seconds, "evaluations": evaluations}
    return LearnedWorkload(learn(spec.sized(table.n), table, spent, alternatives=choice, seed=seed, **limits))


@dataclass(frozen=True, repr=False)
class LearnedWorkload(Result):
    """A workload that was learned, and what it is worth."""

    found: Learned

    def block(self) -> str:
        """The `families` block as YAML, to be pasted into a specification."""
        return self.found.block()

    def as_json(self) -> dict[str, Any]:
        from facsimile.spec.decimals import show_decimal

        found = self.found
        return {**asdict(found), "epsilon": show_decimal(found.epsilon), "families": found.families()}

    def page(self) -> Page:
        """What `learn` prints after the block."""
        page = Page()
        page.line(
            f"Slack of the worst criterion on fresh seeds: {self.found.slack:.2f}, with `auto` "
            f"{self.found.before:.2f}; above 0 it is met."
        )
        page.line(f"{self.found.evaluations:,} candidates were made.")
        return page

"""Studies: try every configuration on public data, and write a page about what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.api.given import path_of, refuse_unless, refuse_unless_whole, source
from facsimile.api.specifications import show_attainable
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.explore.attainable import Attainable
    from facsimile.explore.pool import Pool
    from facsimile.explore.race import RaceRule
    from facsimile.explore.report import Written
    from facsimile.explore.run import Summary, Watch
    from facsimile.explore.study import Study
    from facsimile.spec.release import Specification


def explore(
    specification: Specification | Path | str,
    data: Any,
    out: Path | str,
    *,
    public: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    seconds: float | None = None,
    seed: int = 1,
    watch: Watch | None = None,
    **rule: Any,
) -> Explored:
    """Try every configuration on public data and find those that pass; the same call goes on after a stop.

    `out` is the study, one file. `workers` are processes of this machine (one for each core), `scheduler` the
    address of a Dask cluster. `seconds`: start no trial after them. `rule`: `wanted`, `trials`, `finalists`,
    `fresh`, `steps` and `most`, as the command explains them.

    >>> facsimile.explore("ours.yaml", frame, "births.study", public=True, trials=8)  # doctest: +SKIP
    """
    from facsimile.explore.race import RaceRule

    refuse_unless(public, "facsimile.explore")
    refuse_unless_whole("facsimile.explore", seed=(seed, 0))
    study = begun(specification, data, out, RaceRule(**rule), seed)
    return ran(study, started(study, workers, scheduler), watch, seconds)


def begun(
    specification: Specification | Path | str, data: Any, out: Path | str, rule: RaceRule, seed: int
) -> Study:
    """A new study, or the one that is there if it is of the same specification, data, rule and seed."""
    from facsimile.explore.run import begin
    from facsimile.spec.release import Specification

    given = specification if isinstance(specification, Specification) else path_of(specification)
    return begin(given, source(data), Path(out), rule, seed)


def started(study: Study, workers: int | None = None, scheduler: str | None = None) -> Pool:
    """Workers for a study: processes of this machine, or those of a cluster."""
    from facsimile.explore.pool import Cluster, Local

    return Cluster(study.setup, scheduler) if scheduler else Local(study.setup, workers)


def ran(study: Study, pool: Pool, watch: Watch | None = None, seconds: float | None = None) -> Explored:
    """Run what is missing, and let the workers go."""
    from facsimile.explore.run import explore

    try:
        return Explored(study, explore(study, pool, watch or (lambda news: None), seconds))
    finally:
        pool.close()


def study_of(study: Study | Explored | Path | str) -> Study:
    """A study, or the one in a file."""
    from facsimile.explore.study import Study

    if isinstance(study, Explored):
        return study.study
    return study if isinstance(study, Study) else Study.open(Path(study))


@dataclass(frozen=True, repr=False)
class Explored(Result, Tabular):
    """Where a study stands; as a table: a line for each trial."""

    study: Study
    found: Summary

    def to_arrow(self) -> pa.Table:
        """A line for each trial: configuration, generator's epsilon, number, whether it was accepted."""
        import pyarrow as pa

        names = ("configuration", "generator", "number", "accepted", "refused", "fit_seconds", "seconds")
        return pa.Table.from_pylist([{n: getattr(trial, n) for n in names} for trial in self.study.trials()])

    @cached_property
    def attainable(self) -> tuple[Attainable, ...]:
        """What each criterion can reach on the public file, and what its threshold costs."""
        from facsimile.explore.attainable import attainable

        return attainable(self.study.declared, self.study.setup.table)

    def as_json(self) -> dict[str, Any]:
        from facsimile.spec.decimals import show_decimal

        delta = self.study.declared.budget.delta
        declared = {"delta": show_decimal(delta)} if delta else {}
        return asdict(self.found) | declared | {"attainable": [asdict(line) for line in self.attainable]}

    def page(self) -> Page:
        from facsimile.spec.decimals import show_decimal

        study, found, page = self.study, self.found, Page(self.study.declared.title)
        page.line(f"{study.setup.table.n:,} public records in {study.data}; nothing here is protected")
        page.line(
            f"{found.trials:,} trials of {found.configurations:,} configurations, "
            f"{found.cpu_seconds / 3600:.2f} hours of CPU"
        )
        audited = f"{found.audited} audited, {found.wrongly_dropped} of them wrongly"
        rows = [
            ("survive", f"{len(found.survivors):,}", f"acceptance {study.rule.wanted:.0%} or more"),
            ("dropped", f"{found.dropped:,}", audited),
            ("undecided", f"{found.undecided:,}", "after the last trial, with too few successes to go on"),
            ("still running", f"{found.running:,}", "" if found.finished else "the same command goes on"),
            ("all", f"{found.configurations:,}", ""),
        ]
        delta = study.declared.budget.delta
        beside = f", delta {show_decimal(delta)}" if delta else ""
        page.table(f"The race at epsilon {found.level}{beside}", "_|>number|_", rows)
        show_attainable(page, self.attainable, study.declared.budget.generator)
        if found.finalists:
            finals = [(level, ", ".join(names)) for level, names in found.finalists.items()]
            page.table("Finalists by the generator's epsilon", "epsilon|configurations", finals)
            page.line(f"\nNext: facsimile plan {study.path}")
        elif not found.running:
            page.line("\nNo configuration was shown to reach the wanted acceptance.")
        return page


def report(
    study: Study | Explored | Path | str,
    out: Path | str,
    *,
    compare: Sequence[str] = (),
    tables: int = 5,
    risk: Path | str | None = None,
    tell: Callable[[str], None] = lambda doing: None,
) -> Reported:
    """Write one page about a study, for everyone who has a say; it opens in any browser, without a network.

    `compare` names configurations to lay side by side, by how their identifiers begin; `tables` is how many
    released tables of each are compared; `risk` is a risk report as data, which becomes a part of the
    page: `facsimile.risk(…).save("risk.json")`.

    >>> facsimile.report("births.study", "report.html")  # doctest: +SKIP
    """
    from facsimile.api.risks import Risks
    from facsimile.explore.report import write_report

    attacked = None if risk is None else Risks.load(risk).found
    return Reported(Path(out), write_report(study_of(study), Path(out), compare, tables, tell, attacked))


@dataclass(frozen=True, repr=False)
class Reported(Result):
    """A page that was written, and what it says first."""

    out: Path
    found: Written

    def as_json(self) -> dict[str, Any]:
        found = {name: part for name, part in asdict(self.found).items() if (name, part) != ("delta", "0")}
        return found | {"page": self.out.name}

    def page(self) -> Page:
        found, page = self.found, Page(self.found.title)
        page.line(f"{found.records:,} public records in {found.file}; nothing here is protected")
        reached = f"{found.survivors:,} of {found.configurations:,} configurations reach"
        page.line(f"{reached} an acceptance of {found.wanted:.0%}")
        if found.best is not None:
            kind = "fresh trials" if found.fresh else "trials that also chose it"
            page.line(
                f"First in the race: {found.best}, accepted in {found.accepted:,} of {found.tried:,} {kind} "
                f"(95 % interval {found.low:.2f} to {found.high:.2f})"
            )
        sides = found.comparison["configurations"]
        if sides:
            rows = [
                (c["letter"], c["identifier"], f"{len(c['tables'])} {'' if c['released'] else 'not '}accepted")
                for c in sides
            ]
            page.table("Side by side", "_|configuration|tables", rows)
        page.line(f"\nThe page to read: {self.out}")
        return page

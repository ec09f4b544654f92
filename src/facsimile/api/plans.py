"""Plans: the smallest total epsilon that will do, or what passes often enough, from a study."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from facsimile.api.given import ExactNumber, exact
from facsimile.api.studies import Explored, study_of
from facsimile.errors import refusal
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.explore.curve import Point
    from facsimile.explore.planner import Planned
    from facsimile.explore.study import Study
    from facsimile.explore.survivors import Survivor, Survivors
    from facsimile.spec.calibration import Calibration
    from facsimile.spec.choices import SchemeName
    from facsimile.spec.release import Specification
    from facsimile.spec.space import Configuration

PlanRule = Literal["cheapest", "paper"]
ACCEPT, KEEP, NOISE = 0.5, 0.1, 0.1
RUNGS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
MOST_SHOWN = 20
REASONS = {
    "paper": "every criterion is measured for every candidate, with no margin against luck",
    "test-then-measure": "a candidate costs one cheap test, and the criteria are measured once",
    "train-once": "one fit serves every candidate, so that another try is cheap",
    "measured": "the measurement is the test, so that nothing is paid twice",
}


def plan(
    study: Study | Explored | Path | str,
    *,
    accept: float = ACCEPT,
    keep: float = KEEP,
    noise: float = NOISE,
    scheme: SchemeName | None = None,
    total: ExactNumber | None = None,
    values: bool = False,
    rule: PlanRule = "cheapest",
) -> PlannedRelease | Kept:
    """The smallest total epsilon at which a release comes out often enough, from a study.

    `accept`: the probability of a release to reach; `keep`: configurations with at least this acceptance stay;
    `noise` of a measured criterion, as a part of its threshold; `total`: plan within it (default: the declared
    one); `values`: every criterion is published with a value, not only a bound. The rule `paper` keeps what
    passes often and changes nothing else: it takes `keep` alone.

    >>> facsimile.plan("births.study", accept=0.5).save("release.yaml")  # doctest: +SKIP
    """
    from facsimile.explore.planner import BOUNDED, plan
    from facsimile.explore.survivors import survivors

    found, limit = study_of(study), None if total is None else exact(total)
    if rule == "cheapest":
        schemes = BOUNDED if scheme is None else (scheme,)
        return PlannedRelease(found, plan(found, accept, keep, noise, schemes, limit, values))
    if (accept, noise, scheme, total, values) != (ACCEPT, NOISE, None, None, False):
        problem = "The paper's rule changes no budget: give it --keep and --write only."
        raise refusal("E001", problem=problem, command="facsimile plan")
    return Kept(found, survivors(found, keep), keep)


class Narrowing(Result):
    """The specification that a study leads to."""

    study: Study

    @property
    @abstractmethod
    def text(self) -> str:
        """The specification's own text, changed, with notes at its head."""

    @property
    def specification(self) -> Specification:
        """The same, loaded."""
        from facsimile.spec.load import loads

        return loads(self.text)

    def save(self, path: Path | str, calibration: Calibration | None = None) -> None:
        """Write it to a new file, with a calibration if one is given."""
        from facsimile.explore.narrowed import with_calibration
        from facsimile.release.writing import write_text

        text = self.text if calibration is None else with_calibration(self.text, calibration)
        write_text(Path(path), text)

    def calibration(self, *, seed: int = 1, tell: Callable[[str], None] = lambda now: None) -> Calibration:
        """Factors for intervals by replicates of this release, from rehearsals of it on the study's data.

        >>> planned.save("release.yaml", planned.calibration())  # doctest: +SKIP
        """
        from facsimile.explore.calibration import calibrated

        def watch(done: int, every: int) -> None:
            tell(f"Calibrating: {done} of {every} rehearsals")

        setup = self.study.setup
        return calibrated(self.specification, setup.table, self.study.data, seed, setup.prior, watch)

    def about(self) -> dict[str, Any]:
        """Which public data the study stands on."""
        return {"file": self.study.data, "records": self.study.setup.table.n, "declared": self.study.declared.n}

    def _origin(self, made: str) -> str:
        """The first line of the notes at the specification's head."""
        return f"{made} by facsimile from the study {self.study.path.name} on public data ({self.study.data}),"

    def caution(self) -> str:
        """How far what was found on public data goes."""
        public, declared = self.study.setup.table.n, self.study.declared.n
        if abs(public - declared) > declared / 10:
            return (
                f"The public file has {public:,} records, the release {declared:,}: noise weighs more in the "
                "smaller of the two, so explore a file of the size of the release."
            )
        return "The intervals hold for data like the public file; how like yours is, you must judge."


@dataclass(frozen=True, repr=False)
class PlannedRelease(Narrowing, Tabular):
    """A planned release; as a table: every point of the curve of totals and chances."""

    study: Study
    found: Planned

    @cached_property
    def text(self) -> str:
        """The specification of the planned release."""
        from facsimile.explore.narrowed import narrowed

        study = self.study
        notes = [
            self._origin("Planned"),
            f"{study.setup.table.n:,} records: on such data a release comes out with probability "
            f"{self.found.point.span}.",
            *self._doubts(),
        ]
        return narrowed(study.source, self.found.option, notes)

    @cached_property
    def loud(self) -> tuple[str, ...]:
        """Criteria whose noise can hide the published answer."""
        from facsimile.release.check import check

        return check(self.specification).loud

    def to_arrow(self) -> pa.Table:
        """Every point of the curve: scheme, total, the chance of a release."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.as_json()["curve"])

    def as_json(self) -> dict[str, Any]:
        from facsimile.spec.decimals import show_decimal

        found, option, point = self.found, self.found.option, self.found.point
        return {
            "public": self.about(),
            "accept": found.accept,
            "total": show_decimal(option.total),
            **({"delta": show_decimal(option.delta)} if option.delta else {}),
            "scheme": option.scheme,
            "selection": option.selection.model_dump(mode="json", exclude_none=True),
            "generator": show_decimal(option.generator),
            "test": None if option.test is None else show_decimal(option.test),
            "once": None if option.once is None else show_decimal(option.once),
            "criteria": {name: show_decimal(epsilon) for name, epsilon in option.measured},
            "release": {
                "probability": point.release,
                "low": point.low,
                "high": point.high,
                "trials": len(option.stated),
                "fresh_to_tell": found.fresh,
            },
            "candidates": option.iterations(),
            "seconds": option.iterations() * option.seconds,
            "configurations": [c.as_json() | {"identifier": c.identifier} for c in option.configurations],
            "schemes": {name: each and _point(each) for name, each in found.compared.items()},
            "reason": self.reason,
            "curve": [_point(each) for each in found.curve.points],
            "within": {
                "total": show_decimal(found.limit),
                "buys": _point(found.bought),
                "surely": None if found.sure is None else _point(found.sure),
                "thresholds_could_be": found.tighter,
            },
            "loud": list(self.loud),
        }

    def page(self) -> Page:
        from facsimile.explore.options import VARIANTS
        from facsimile.release.check import show_upper
        from facsimile.spec.decimals import show_decimal

        study, found, option = self.study, self.found, self.found.option
        declared, every = study.declared.budget.total, self.found.option.configurations
        page = Page(study.declared.title)
        delta = f", delta {show_decimal(option.delta)}" if option.delta else ""
        total = f"Total epsilon {show_upper(option.total)}{delta}"
        page.line(f"{total}: a release with probability {found.point.span}")
        for line in self._doubts():
            page.line(line)
        page.line(
            f"Scheme {option.scheme}, selection {option.mode.name}; {option.iterations():.1f} candidates "
            f"expected, {option.iterations() * option.seconds:.1f} s of CPU."
        )
        page.line(self.reason)
        rows = [(name, show_upper(value), note) for name, value, note in self._split()]
        composed = f"composed{delta}" if option.delta else ""
        page.table("Budget", "part|>epsilon|_", [*rows, ("total", show_upper(option.total), composed)])
        kept = [
            (c.identifier, differing(c, every) or _worded(c.hyperparameters) or "as it comes") for c in every
        ]
        page.table("Configurations", "name|" + ("what differs" if len(every) > 1 else "hyperparameters"), kept)
        page.table(
            "The smallest total epsilon for a probability of release",
            ">probability|" + "|".join(f">{variant}" for variant in VARIANTS),
            [
                (f"{rung:g}", *map(_total, found.curve.compared(rung).values()))
                for rung in sorted({*RUNGS, found.accept})
            ],
        )
        page.line(f"\nA total of {show_upper(found.limit)} buys a release with probability {found.bought.span}")
        if found.tighter is not None:
            page.line(f"or, at the wanted probability, thresholds of {found.tighter:.0%} of the declared ones.")
        if option.total > declared:
            page.line(f"\nThis plan costs more than the declared {show_upper(declared)}: agree on it.")
        if self.loud:
            page.line(
                f"\nNoise can hide the published answer of {', '.join(self.loud)}: see `facsimile check`."
            )
        page.line(f"\n{self.caution()}")
        return page

    def _split(self) -> Iterator[tuple[str, Fraction, str]]:
        option = self.found.option
        yield "generator", option.generator, "for each candidate" if option.scheme != "train-once" else "once"
        if option.test is not None:
            alone = "" if option.valued else "; one number for all criteria, and nothing after it"
            yield "test", option.test, f"for each candidate{alone}"
        if option.once is not None:
            yield "regression", option.once, "once"
        looped = option.scheme in ("paper", "measured")
        note = "for each candidate" if looped else "once, after acceptance"
        for name, epsilon in option.measured:
            yield name, epsilon, note

    def _doubts(self) -> Iterator[str]:
        """What to say where the trials do not show that the wish is reached."""
        from facsimile.explore.curve import MOST_FRESH
        from facsimile.release.check import show_upper

        found, wish = self.found, f"{self.found.accept:g}"
        if found.option.predicted:
            tried = f"{show_upper(found.option.generator)} was not tried"
            yield f"The generator's epsilon {tried}: this is predicted from trials above and below it."
        if found.fresh is None:
            return
        few = f"{len(found.option.stated):,} trials are too few to tell whether that is {wish} or more"
        if found.fresh < MOST_FRESH:
            yield f"{few}: explore again with --fresh {found.fresh} and another --out to be told."
        else:
            yield f"{few}, and it is so near that no affordable number would tell."
        if found.sure is not None:
            yield f"A total of {show_upper(found.sure.total)} is shown to reach {wish}."

    @property
    def reason(self) -> str:
        """Why this scheme, and what the best of each other would cost."""
        own, wish = self.found.option.variant, f"{self.found.accept:g}"
        others = [f"{name} {_total(point)}" for name, point in self.found.compared.items() if name != own]
        why = REASONS[self.found.option.scheme]
        return f"Why {own}: {why}. For {wish} the others need: {', '.join(others)}."


def _total(point: Point | None) -> str:
    from facsimile.release.check import show_upper

    return "not reached" if point is None else show_upper(point.total)


def _point(point: Point) -> dict[str, Any]:
    from facsimile.spec.decimals import show_decimal

    return {
        "scheme": point.scheme,
        "variant": point.variant,
        "values": point.option.valued,
        "total": show_decimal(point.total),
        "release": point.release,
        "low": point.low,
        "high": point.high,
        "generator": show_decimal(point.option.generator),
        "predicted": point.option.predicted,
        "mode": point.option.mode.name,
    }


def _worded(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def differing(one: Configuration, every: Sequence[Configuration]) -> str:
    """What a configuration chooses where some of them choose differently."""

    def chosen(configuration: Configuration) -> dict[str, str]:
        return {**configuration.hyperparameters, **configuration.alternatives, **configuration.projection}

    others = [chosen(other) for other in every]
    return _worded({k: v for k, v in chosen(one).items() if any(other.get(k) != v for other in others)})


@dataclass(frozen=True, repr=False)
class Kept(Narrowing, Tabular):
    """What the paper's rule keeps; as a table: a line for each configuration."""

    study: Study
    found: Survivors
    keep: float

    @cached_property
    def text(self) -> str:
        """The specification of the same release with these configurations only."""
        from facsimile.explore.narrowed import restricted

        study = self.study
        notes = [
            self._origin("Narrowed"),
            f"{study.setup.table.n:,} records: {self._kept()}.",
            f"There a candidate is accepted with probability {self._span()}.",
            *self._doubts(),
        ]
        return restricted(study.source, [survivor.configuration for survivor in self.found.kept], notes)

    def to_arrow(self) -> pa.Table:
        """A line for each configuration: how often it was accepted, and the interval."""
        import pyarrow as pa

        return pa.Table.from_pylist(
            [{"identifier": s.configuration.identifier, **_stated(s)["stated"]} for s in self.found.kept]
        )

    def as_json(self) -> dict[str, Any]:
        found, (low, high) = self.found, self.found.span
        return {
            "rule": "paper",
            "public": self.about(),
            "keep": self.keep,
            "raced": found.raced,
            "running": found.running,
            "acceptance": {"probability": found.acceptance, "low": low, "high": high, "fresh": found.fresh},
            "candidates": found.expected,
            "configurations": [
                s.configuration.as_json() | {"identifier": s.configuration.identifier} | _stated(s)
                for s in found.kept
            ],
        }

    def page(self) -> Page:
        found, page = self.found, Page(self.study.declared.title)
        page.line(self._kept())
        expected = "" if found.expected is None else f"; {found.expected:.1f} candidates expected"
        page.line(f"A candidate is accepted with probability {self._span()}{expected}")
        for doubt in self._doubts():
            page.line(doubt)
        shown, every = found.kept[:MOST_SHOWN], [survivor.configuration for survivor in found.kept]
        rows = [
            (
                s.configuration.identifier,
                f"{s.accepted}/{s.trials}",
                f"{s.stating[0]}/{s.stating[1]}",
                f"{s.span[0]:.2f}–{s.span[1]:.2f}",
                differing(s.configuration, every),
            )
            for s in shown
        ]
        page.table("Configurations", "name|>race|>stated|>95 %|what differs", rows)
        if len(shown) < len(found.kept):
            page.line(f"and {len(found.kept) - len(shown):,} more; --json and --write have all of them")
        page.line(f"\n{self.caution()}")
        return page

    def _kept(self) -> str:
        what = f"{len(self.found.kept):,} of {self.found.raced:,} configurations"
        return f"{what} were accepted in {self.keep:.0%} or more of their trials"

    def _span(self) -> str:
        low, high = self.found.span
        return f"{self.found.acceptance:.3f} (95 %: {low:.3f} to {high:.3f})"

    def _doubts(self) -> Iterator[str]:
        """Why the figures may be too good, or some configurations missing."""
        if not self.found.fresh:
            yield (
                "The trials that state this also chose the configurations, which flatters them: explore again "
                f"with --finalists {len(self.found.kept)} and another --out to be told."
            )
        if self.found.running:
            yield f"{self.found.running:,} configurations have not ended their race: explore on."


def _stated(survivor: Survivor) -> dict[str, Any]:
    (accepted, trials), (low, high) = survivor.stating, survivor.span
    return {
        "race": {"accepted": survivor.accepted, "trials": survivor.trials},
        "stated": {"accepted": accepted, "trials": trials, "low": low, "high": high},
    }

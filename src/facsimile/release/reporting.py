"""Reporting: a release's own figures, from the specification, the released table and noisy answers alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from facsimile import __version__
from facsimile.acceptance.bounds import CONFIDENCE, Sharing, deviation, quoted
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import SHARED, Measured, margin
from facsimile.acceptance.kind import Kind, kind_of, kinds_of
from facsimile.acceptance.regression import Fit
from facsimile.analysis.basis import Basis
from facsimile.documents.numerals import spoken_day
from facsimile.documents.report import (
    ORIGINAL,
    RELEASE,
    BudgetEntry,
    ColumnEntry,
    Confidence,
    CriterionEntry,
    FitEntry,
    LedgerPlace,
    PriorEntry,
    Regression,
    Report,
    RuleEntry,
    SharedNumber,
    SubgroupEntry,
    TableEntry,
)
from facsimile.privacy.budget import Rho
from facsimile.privacy.modes import mode_of
from facsimile.release import tables
from facsimile.release.check import budget_lines, show_small, show_upper
from facsimile.release.plan import FORMAT, plan_hash, share_of
from facsimile.release.recipe import Recipe
from facsimile.release.scheme import Accepted
from facsimile.release.writing import digest
from facsimile.spec import people
from facsimile.spec.columns import CLIP, DROP, Constant
from facsimile.spec.decimals import parse_exact, show_decimal
from facsimile.spec.families import family_of
from facsimile.spec.meanings import coarse, meaning
from facsimile.spec.release import Specification
from facsimile.table.faces import face_privacy
from facsimile.table.regression import Scaling
from facsimile.table.table import Table

K = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class Release(Accepted):
    """An accepted candidate, what was promised of it, and its place in a ledger; a rehearsal has none."""

    specification: Specification
    ledger: LedgerPlace | None = None

    @classmethod
    def of(cls, accepted: Accepted, specification: Specification, ledger: LedgerPlace | None = None) -> Release:
        """What was made of an accepted candidate."""
        return cls(**vars(accepted), specification=specification, ledger=ledger)

    @property
    def rehearsal(self) -> bool:
        """Whether nothing was charged for it."""
        return self.ledger is None

    @property
    def recipe(self) -> Recipe:
        """What its table was made by, without a prior."""
        return Recipe(self.specification, self.configuration)

    @property
    def basis(self) -> Basis:
        """What data users' answers follow from."""
        found = self.specification, self.table, self.measured, self.fit, self.refit
        if self.heard is None:
            return Basis(*found)
        foreseen = self.recipe.foreseen()
        return Basis(*found, tuple(self.heard.tables(foreseen)), foreseen.planned, foreseen.more)


def report(release: Release, day: date) -> Report:
    """Everything the release says about itself."""
    spec, configuration = release.specification, release.configuration
    mode = mode_of(spec.selection)
    lines, total = budget_lines(spec)
    sharing = Sharing.of(spec, release.measured)
    predicted = any(kind.needs for kind in kinds_of(spec))
    return Report(
        format=FORMAT,
        rehearsal=release.rehearsal,
        title=spec.title,
        description=spec.description,
        unit=spec.unit,
        records=release.table.n,
        public_because=spec.records.public_because,
        day=day.isoformat(),
        version=__version__,
        epsilon=show_upper(total),
        scheme=spec.scheme,
        mode=mode.name,
        selection=str(mode),
        false_accept=show_decimal(spec.selection.false_accept),
        configurations=spec.drawable.size,
        confidence=Confidence(
            show_decimal(CONFIDENCE), show_decimal(sharing.each), sharing.numbers, sharing.of_search
        ),
        budget=tuple(BudgetEntry(line.part, show_upper(line.epsilon), line.note) for line in lines),
        criteria=tuple(criterion(spec, release.table, m, sharing) for m in release.measured),
        columns=tuple(_column(spec, release.table, axis.name) for axis in release.table.domain.axes),
        rules=tuple(_rules(spec)),
        policy=spec.constraints.policy,
        family=configuration.family,
        hyperparameters=dict(sorted(configuration.hyperparameters.items())),
        alternatives={name: configuration.alternatives[name] for name in spec.names},
        projection=dict(sorted(configuration.projection.items())),
        faces=face_privacy(release.table, K, min(K, len(spec.columns) - 1)),
        plan_hash=plan_hash(spec),
        data_hash=digest(release.table).hex(),
        ledger=release.ledger,
        shared=shared_number(spec, release.measured),
        regression=regression(release.fit) if predicted else None,
        refit=regression(release.refit),
        contact=spec.contact,
        publisher=spec.publisher,
        governance=spec.governance,
        sources=_sources(spec),
        prior=_prior(spec, configuration.family),
        delta=show_decimal(spec.budget.delta) if spec.budget.delta else None,
        fit=_fit(spec, configuration.family),
        tables=_tables(release),
        publish=spec.publish,
    )


def _tables(release: Release) -> tuple[TableEntry, ...] | None:
    """The noisy tables, where they are published."""
    if release.heard is None:
        return None
    found = []
    for name, table in tables.named(release.basis.tables):
        law = tables.law(table.share)
        share = str(Fraction(table.share))
        size = int(table.counts.size)
        found.append(TableEntry(name, table.columns, size, law["law"], share, law["deviation"]))
    return tuple(found)


def regression(fit: Fit | None) -> Regression | None:
    """A public fit as plain data, its numbers exact."""
    if fit is None:
        return None
    scaling = fit.scaling
    numbers = ([str(x) for x in xs] for xs in (scaling.means, scaling.deviations, fit.coefficients))
    return Regression(scaling.target, scaling.features, *(tuple(xs) for xs in numbers))


def fit_of(said: Mapping[str, Any] | None) -> Fit | None:
    """The fit that plain data stand for."""
    if said is None:
        return None
    means, deviations, coefficients = (
        tuple(map(parse_exact, said[key])) for key in ("means", "deviations", "coefficients")
    )
    return Fit(Scaling(said["target"], tuple(said["features"]), means, deviations), coefficients)


def criterion(
    specification: Specification, table: Table, measured: Measured, sharing: Sharing
) -> CriterionEntry:
    """One measured criterion as it is published, with the bound that it shares with others."""
    kind = kind_of(measured.criterion, measured.form)
    chosen, said = measured.criterion, kind.told
    delta, bounds, epsilon = measured.sensitivity, measured.bounds, specification.epsilon_of(chosen)
    noise = deviation(measured.noise_units, epsilon) / measured.grid
    if measured.mechanism == SHARED:
        noise *= float(delta or 0)
    luck = kind.luck(specification, measured)
    limit, candidate = quoted(specification, measured, sharing), Candidate(specification, table)
    return CriterionEntry(
        name=chosen.name,
        kind=chosen.criterion,
        title=said.title,
        words=said.words,
        topic=said.topic,
        columns=said.columns,
        stands=kind.stands,
        threshold=float(chosen.threshold),
        tested_at=float(measured.tested_at),
        value=None if measured.value is None else float(measured.value),
        bound=limit,
        statistic=measured.form,
        mechanism=measured.mechanism,
        epsilon=float(epsilon),
        sensitivity=None if delta is None else float(delta),
        sigma=None if delta is None else noise,
        grid=measured.grid,
        units=measured.units,
        bounds=None if bounds is None else (float(bounds[0]), float(bounds[1])),
        smallest_group=measured.smallest_group,
        source=said_of(chosen.source),
        threshold_source=said_of(chosen.threshold_source),
        spread=kind.spread(candidate),
        clip=None if luck is None else luck.clip,
        luck=None if luck is None else luck.chance,
        expected=None if luck is None else luck.expected,
        shared=measured.mechanism == SHARED,
        subgroups=tuple(_subgroups(kind, candidate, limit)),
    )


def shared_number(specification: Specification, measured: Iterable[Measured]) -> SharedNumber | None:
    """The number that several criteria share, if there is one."""
    sharing = [m for m in measured if m.mechanism == SHARED]
    if not sharing:
        return None
    one, epsilon = sharing[0], specification.epsilon_of(sharing[0].criterion)
    last = -margin(mode_of(specification.selection).luck, epsilon, one.grid)
    return SharedNumber(
        criteria=tuple(m.criterion.name for m in sharing),
        epsilon=float(epsilon),
        value=one.units / one.grid,
        limit=last / one.grid,
        sigma=deviation(one.grid, epsilon) / one.grid,
        grid=one.grid,
        units=one.units,
    )


def _subgroups(kind: Kind[Any], candidate: Candidate, bound: float | None) -> Iterator[SubgroupEntry]:
    """The groups of a criterion that has some, all records first.

    One bound holds for all of them: the largest error was measured. Where records were drawn from a group it
    speaks of these alone.
    """
    within = None if kind.stands == "resized" else bound
    if getattr(kind.criterion, "by", ()):
        for one in kind.subgroups(candidate):
            yield SubgroupEntry(one.words, one.records, one.value, within, one.counted)


def _column(specification: Specification, table: Table, name: str) -> ColumnEntry:
    column, axis = specification.column(name), table.domain.axis(name)
    numbers = None if axis.numbers is None else tuple(float(number) for number in axis.numbers)
    constant = column.missing.value if isinstance(column.missing, Constant) else None
    return ColumnEntry(
        name=name,
        description=column.description,
        labels=axis.labels,
        meanings=tuple(meaning(b, column.step) for b in axis.bins),
        numbers=numbers,
        missing=None if column.missing_bin is None else column.missing_bin.label,
        counts=tuple(int(count) for count in table.marginal((name,))),
        coarse=any(coarse(b) for b in axis.bins),
        blanks=constant,
        others=column.outside if column.outside in (column.values or ()) else None,
        clipped=column.outside == CLIP and not column.is_category,
        left_out=DROP in (column.missing, column.malformed, column.outside),
    )


def _prior(specification: Specification, family: str) -> PriorEntry | None:
    prior = specification.prior
    if prior is None:
        return None
    return PriorEntry(
        name=prior.name,
        facts=prior.facts is not None,
        sha256=prior.sha256 or "",
        records=prior.size,
        description=prior.description,
        source=said_of(prior.source),
        used=family_of(family).leans,
    )


def _fit(specification: Specification, family: str) -> FitEntry | None:
    """What one fit of this family spends where δ is declared."""
    delta, epsilon = specification.budget.delta, specification.budget.generator
    if not delta:
        return None
    share, own = share_of(specification, family, epsilon)
    spent = show_decimal(epsilon), show_small(own) if own else show_decimal(delta)
    return FitEntry(*spent, show_decimal(share) if isinstance(share, Rho) else None)


def _rules(specification: Specification) -> list[RuleEntry]:
    constraints = specification.constraints
    raw = [RuleEntry(c.never, said_of(c.source) or "", ORIGINAL) for c in constraints.raw]
    return raw + [RuleEntry(c.never, said_of(c.source) or "", RELEASE, c.bins) for c in constraints.synthetic]


def said_of(source: str | people.Source | None) -> str | None:
    """A source as one text: its own words, or who set it, when and why.

    >>> said_of(people.Source(by="A board", why="Half of it is noise.", when="2024-02"))
    'A board, February 2024: Half of it is noise.'
    """
    if not isinstance(source, people.Source):
        return source
    who = source.by if source.when is None else f"{source.by}, {spoken_day(source.when)}"
    return who if source.why is None else f"{who}: {source.why}"


def _sources(specification: Specification) -> dict[str, str]:
    """Who set the budget, the selection and the projection, where the specification says so."""
    parts = {name: getattr(specification, name).source for name in ("budget", "selection", "projection")}
    return {name: words for name, source in parts.items() if (words := said_of(source)) is not None}

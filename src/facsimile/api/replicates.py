"""Replicates of a release, and what a statistic of the user's own says with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.api.given import refuse_unless_whole
from facsimile.errors import refusal
from facsimile.results import Page, Result

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.analysis.combining import Combined, Target
    from facsimile.release.opened import Opened
    from facsimile.release.replicates import Ending, Replicate
    from facsimile.spec.calibration import Kind

CALL = "facsimile.replicate"


def replicate(
    bundle: Path | str,
    replicates: int = 20,
    *,
    seed: int = 1,
    workers: int = 1,
    prior: Path | str | None = None,
    watch: Callable[[int], None] = lambda done: None,
) -> Replicated:
    """Run the scheme of a release again, that many times, with the release in the place of the original.

    It reads the bundle and nothing confidential, and costs no epsilon. `workers` is a number of processes,
    `watch` is told how many replicates there are, `prior` is the public file that the release leans on, if any.

    >>> made = facsimile.replicate("bundle")  # doctest: +SKIP
    >>> made.estimate(lambda records: (records["parity"] == "1").mean())  # doctest: +SKIP
    """
    from facsimile.explore.priors import named_prior
    from facsimile.release.opened import open_bundle
    from facsimile.release.replicates import Replication

    refuse_unless_whole(CALL, replicates=(replicates, 2), seed=(seed, 0), workers=(workers, 1))
    held = open_bundle(Path(bundle))
    found = held.release
    public = None if prior is None else Path(prior)
    leaning = named_prior(found.specification, found.configuration, public)
    replication = Replication.of(found.specification, found.configuration, found.table, leaning)
    return Replicated(held, tuple(replication.replicates(replicates, seed, workers, watch)), seed)


@dataclass(frozen=True, repr=False, eq=False)
class Replicated(Result):
    """A release and its replicates; `estimate` gives any statistic a standard error."""

    opened: Opened
    made: tuple[Replicate, ...]
    seed: int

    @property
    def release(self) -> pa.Table:
        """The released records."""
        return _labelled(self.opened.release.table)

    @property
    def replicates(self) -> Iterator[pa.Table]:
        """The records of each replicate, one table after the other."""
        return (_labelled(one.table) for one in self.made)

    @property
    def resampled(self) -> Iterator[pa.Table]:
        """The records that each replicate was made from: the release, drawn again with replacement."""
        return (_labelled(one.resampled) for one in self.made)

    def estimate(
        self,
        statistic: Callable[[Any], Any],
        *,
        target: Target = "confidential",
        confidence: float = 0.95,
        kappa: float | Kind | None = None,
    ) -> Combined:
        """A statistic of a pandas frame of records, a number or an array, with its standard error.

        `kappa` is a factor of your own, or the kind of statistic whose factor the release's calibration has.

        >>> made.estimate(lambda records: len(records[records.parity == "1"]))  # doctest: +SKIP
        """
        from facsimile.analysis.combining import combine

        def each(tables: Iterable[pa.Table]) -> list[Any]:
            return [statistic(_frame(table)) for table in tables]

        found, replicates = statistic(_frame(self.release)), each(self.replicates)
        resampled = each(self.resampled) if target == "confidential" else None
        factor = self._factor(kappa) if isinstance(kappa, str) else kappa
        return combine(found, replicates, resampled, target=target, confidence=confidence, kappa=factor)

    def _factor(self, kind: Kind) -> float:
        """The calibrated factor of a kind of statistic."""
        calibration = self.opened.release.specification.calibration
        if calibration is None or kind not in calibration.kappa:
            raise refusal("E003", problem=f"The release has no calibration for {kind}.", call=CALL)
        return float(calibration.kappa[kind])

    def save(self, out: Path | str, ending: Ending = "parquet") -> None:
        """Write two files for each replicate, and replicates.json, to a new folder."""
        from facsimile.release import bundle
        from facsimile.release.replicates import files_of

        if ending not in ("csv", "parquet"):
            raise refusal("E003", problem="Replicates are written as csv or parquet.", call=CALL)
        bundle.write(files_of(self.made, self.as_json(), ending), Path(out))

    def as_json(self) -> dict[str, Any]:
        from facsimile.release.replicates import about

        said = self.opened.said
        of = {"title": said["title"], "rehearsal": said["rehearsal"], "plan_hash": said["plan_hash"]}
        return {"of": of, **about(self.opened.release.specification, self.made, self.seed)}

    def page(self) -> Page:
        page, untested = Page(self.opened.said["title"]), sum(not one.accepted for one in self.made)
        n = self.opened.release.table.n
        page.line(f"{len(self.made)} replicates of {n:,} records, seed {self.seed}: no epsilon")
        calibration = self.opened.release.specification.calibration
        if calibration is not None:
            page.line(f"Factors for intervals are calibrated on {calibration.data}.")
        page.line("They give a statistic a standard error, and no guarantee: docs/replicates.md says how.")
        if untested:
            page.line(f"{untested} of them passed no test: none of the candidates tried for them did.")
        return page


def _labelled(table: Any) -> pa.Table:
    from facsimile.release.writing import labelled

    return labelled(table)


def _frame(table: pa.Table) -> Any:
    try:
        return table.to_pandas()
    except ImportError:
        raise refusal("E002", package="pandas") from None

"""The noise of each criterion at the births paper's epsilons: the paper's form against the sharp one."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from benchmarks.criteria import BIRTHS, pair, public_births
from benchmarks.registry import Figure, Report, benchmark, interleaved
from facsimile.acceptance.candidate import Candidate, as_tested
from facsimile.acceptance.kinds.regression import CoefficientsKind
from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import read_public, rehearse
from facsimile.spec.criteria import MarginalsRelative, RegressionCoefficients
from facsimile.spec.load import load
from facsimile.table.table import Table

FITS = 101


@benchmark(rows=158_500)
def noise(rows: int, folder: Path) -> Report:
    """Noise as a share of the room between no error and the limit; the median error for the paper's fit."""
    specification = load(BIRTHS / "nvss.yaml")
    data = public_births(rows)
    choice = specification.alternatives_named("released")
    real, synthetic = pair(specification, read_public(data, specification), choice)
    timings = interleaved(
        {
            "all eight, paper": lambda: as_tested(specification, real, synthetic, "paper"),
            "all eight, sharp": lambda: as_tested(specification, real, synthetic, "sharp"),
        }
    )
    forms = [
        as_tested(specification, real, synthetic, "paper"),
        as_tested(specification, real, synthetic, "sharp"),
    ]
    figures = []
    for criterion, *tested in zip(specification.criteria, *forms, strict=True):
        for one in tested:
            if one is None:
                continue
            scale = one.scale
            if isinstance(criterion, RegressionCoefficients) and one.form == "paper":
                scale = _median_error(Candidate(specification, synthetic), criterion, real)
            clipped = isinstance(criterion, MarginalsRelative) and one.form == "paper"
            room = one.limit - 1 if clipped else one.limit
            figures.append(
                Figure(f"{criterion.name}, {one.form}", 100 * scale / room, "%", f"{scale:.2g} of {room:g}")
            )
    return Report("noise", real.n, timings, figures)


def _median_error(candidate: Candidate, criterion: RegressionCoefficients, real: Table) -> float:
    """How far a noisy fit lies from the candidate's, where the exact distance is small beside it."""
    values = []
    for seed in range(FITS):
        curator = Curator.rehearsal(rehearse(real), seed)
        found, _ = CoefficientsKind(criterion, "paper").measure(candidate, curator)
        assert found is not None
        values.append(float(found.value or 0))
    return median(values)

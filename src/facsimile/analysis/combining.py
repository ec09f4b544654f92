"""Combining: a statistic on a release and on its replicates becomes an estimate with a standard error.

T is any statistic, a number or an array of them: the user's own model. It is computed on the release S, on each
replicate S*ᵣ, and for the first of two targets on each table R*ᵣ that a replicate was made from: the release,
drawn again with replacement (release/replicates.py).

    confidential    T(R), the value of the confidential table. The error is the synthesis alone.
                    eᵣ = T(S*ᵣ) − T(R*ᵣ)
    population      θ, the value behind it, of which R is one sample: what a model's usual standard error speaks
                    of. The error is sampling and synthesis together.
                    eᵣ = T(S*ᵣ) − T(S)

Estimate.     e₁ … e_R stand for draws from the law of the error e of T(S). With s² = Σeᵣ²/R the standard error
  is s and the interval T(S) ± κs. If e and all eᵣ were independent and normal around 0 with one variance, e/s
  would have Student's law with R degrees of freedom: κ is its quantile, unless a calibration gives one.
Bias.         b = Σeᵣ/R is shown and not subtracted. s² is b² plus the variance of the eᵣ, so a bias that
  replicates see makes the interval wider. Subtracted, it covered less often in nearly every kind of question
  that was measured (docs/benchmarks.md, Replicates): replicates see it in part, and b is noisy itself.
Calibration.  Replicates do not see what the model cannot express. On public data P, where T(P) is known, κ is
  the 0.95-quantile of |T(S) − T(P)|/s over many statistics of a class; κs is then "calibrated on P". That is no
  guarantee either.
Own variance. For `population` no variance U of the model is needed: R*ᵣ is a sample of S, so eᵣ holds the
  sampling too. √(U + s²), with the s of `confidential`, counts twice what a generator smooths away of R.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from facsimile.errors import refusal
from facsimile.results import Page, Result

Target = Literal["confidential", "population"]
FEWEST = 2
CALIBRATED = 0.95
WORDS = {
    "confidential": "the value of the confidential table",
    "population": "the value of the population behind the confidential table",
}


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Result):
    """An estimate of `target`, its standard error and interval: numbers, or arrays of the statistic's shape.

    `bias` is the mean error of the replicates. `calibrated`: κ comes from public data.
    """

    estimate: Any
    standard_error: Any
    bias: Any
    low: Any
    high: Any
    kappa: float
    target: Target
    confidence: float
    replicates: int
    calibrated: bool

    def as_json(self) -> dict[str, Any]:
        figures = ("estimate", "standard_error", "bias", "low", "high")
        said = {name: np.asarray(getattr(self, name)).tolist() for name in figures}
        names = ("kappa", "target", "confidence", "replicates", "calibrated")
        return {**said, **{name: getattr(self, name) for name in names}, "guaranteed": False}

    def page(self) -> Page:
        page = Page("Estimate by replicates")
        page.line(
            f"Of {WORDS[self.target]}, at {self.confidence:.0%} by {self.replicates} replicates: no guarantee"
        )
        columns = (np.ravel(x) for x in (self.estimate, self.standard_error, self.bias, self.low, self.high))
        rows = [tuple(f"{x:.6g}" for x in row) for row in zip(*columns, strict=True)]
        page.table("Estimates", ">estimate|>standard error|>bias seen|>from|>to", rows)
        return page


def combine(
    release: npt.ArrayLike,
    replicates: npt.ArrayLike,
    resampled: npt.ArrayLike | None = None,
    *,
    target: Target = "confidential",
    confidence: float = 0.95,
    kappa: float | None = None,
) -> Combined:
    """A statistic with its standard error.

    `release`: T(S). `replicates`: T(S*ᵣ), one entry (or row) for each. `resampled`: T(R*ᵣ), in the same order;
    needed for the target `confidential`. `kappa`: a calibrated factor in place of Student's.

    >>> import facsimile
    >>> found = facsimile.combine(10.0, [12, 9, 11, 8], [11, 10, 10, 9])
    >>> float(found.standard_error), round(float(found.low), 2), round(float(found.high), 2)
    (1.0, 7.22, 12.78)
    """
    estimate, made = np.asarray(release, np.float64), np.asarray(replicates, np.float64)
    if target not in get_args(Target) or not 0 < confidence < 1 or not (kappa is None or kappa > 0):
        raise _refused(
            "A target is confidential or population, a confidence lies between 0 and 1, kappa above 0."
        )
    if made.ndim == 0 or len(made) < FEWEST or made.shape[1:] != estimate.shape:
        raise _refused("Two replicates or more are needed, each with a statistic of the release's shape.")
    if target == "population":
        origin = estimate
    elif resampled is None or np.shape(resampled) != made.shape:
        raise _refused("For the confidential table, `resampled` has one statistic for each replicate.")
    else:
        origin = np.asarray(resampled, np.float64)
    errors = made - origin
    spread = np.sqrt(np.mean(errors**2, axis=0))
    factor = float(stdtrit(len(made), (1 + confidence) / 2)) if kappa is None else float(kappa)
    return Combined(
        estimate[()],
        spread[()],
        errors.mean(axis=0)[()],
        (estimate - factor * spread)[()],
        (estimate + factor * spread)[()],
        factor,
        target,
        confidence,
        len(made),
        kappa is not None,
    )


def scaled(kappa: float, replicates: int, confidence: float) -> float:
    """A factor that was calibrated at 95 %, at another confidence: by Student's quantiles.

    >>> scaled(3.0, 20, 0.95)
    3.0
    """
    return kappa * float(stdtrit(replicates, (1 + confidence) / 2) / stdtrit(replicates, (1 + CALIBRATED) / 2))


def _refused(problem: str) -> Exception:
    return refusal("E003", problem=problem, call="facsimile.combine")

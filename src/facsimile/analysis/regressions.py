"""Regressions on a released table, and how far the original's coefficients can be from them.

Coefficients are of the features as they are (years, grams, 0 or 1), the constant first. A guarantee follows
where the criterion `regression-coefficients` was measured of the same formula, and counts are close enough:

Theorem.  Let w_S and w_R be the least-squares coefficients of standardised features, G = X'X/n, δ the one step
  G_S⁻¹(X'y/n)_R − G_S⁻¹G_R·w_S, which the criterion bounds by ‖δ‖₁ ≤ u, and κ ≥ ‖G_S⁻¹(G_R − G_S)‖₁→₁, κ < 1.
  Then G_R is regular and ‖w_R − w_S‖₁ ≤ u/(1 − κ).
Proof.    With D = G_S⁻¹(G_R − G_S): (I + D)(w_R − w_S) = G_S⁻¹G_R(w_R − w_S) = δ, and I + D has an inverse of
  norm at most 1/(1 − κ), by its series.  QED
  An entry of G_R − G_S is Σ f(c)(R(c) − S(c))/n over the cells c of the columns that two features read, f their
  product. Where every |R(c) − S(c)| ≤ U, and as they add up to 0, it is at most U·Σ|f(c) − m|/n for every m;
  the median is the best. Column sums of |G_S⁻¹| times these bound κ.
  What the criterion sums is rounded: each of k terms by 2⁻¹¹, G_S⁻¹ and w_S by 2⁻²¹. The first adds k·2⁻¹⁰ to
  u, the second at most a part k²·2⁻²⁰·max|G_S| of it [A].
Both bounds are of measured criteria, so they hold together at half of the level each. A logistic regression has
no such theorem here, nor has one among some of the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from facsimile.acceptance.decision import Measured
from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.model import Model
from facsimile.analysis.answers import GIVEN, GUARANTEED, NONE, OF_SEARCH, Analyst, Found
from facsimile.analysis.basis import Basis
from facsimile.analysis.criteria import error_bound, records
from facsimile.analysis.events import axis_of, event_of
from facsimile.analysis.intervals import Claim, Interval
from facsimile.analysis.questions import Regression
from facsimile.errors import refusal
from facsimile.spec.constraints import names, parse_condition, resolve
from facsimile.spec.criteria import MarginalsAbsolute, RegressionCoefficients
from facsimile.spec.formula import factors
from facsimile.table.exact import Floats
from facsimile.table.numbers import floats
from facsimile.table.regression import Scaling, curvature, least_squares, most_likely
from facsimile.table.table import Table

CONSTANT = "constant"
WHY = "One step towards the original's coefficients was measured, and all counts are close enough."


@dataclass(frozen=True)
class Coefficient:
    """A coefficient by its name."""

    name: str
    found: Found


def regressed(analyst: Analyst, question: Regression) -> list[Coefficient]:
    """The coefficients of a regression; refused where they are not determined."""
    basis = analyst.basis
    domain, formula, odds = basis.table.domain, question.formula, question.event is not None
    used = [name for term in formula.on or () for name in factors(term)]
    for name in (*used, *(() if odds else (formula.target,))):
        axis = axis_of(name, domain)
        if axis.numbers is None and (name == formula.target or not basis.specification.nominal(name, formula)):
            raise refusal("E434", problem=f"A bin of {name} has no number; c({name}) takes it by its bins.")
    condition = None
    if question.event is not None:
        event_of(question.event, domain)
        condition = resolve(parse_condition(question.event), domain.names)
        if set(used) & set(names(condition)):
            raise refusal("E434", problem="A column of the event is among its predictors.")
    elif formula.target in used:
        raise refusal("E434", problem=f"{formula.target} is among its own predictors.")
    where = event_of(question.where, domain)
    table = basis.table
    if where.columns:
        table = table.filter(where.mask[tuple(table.column(name) for name in where.columns)])
    if not table.n:
        raise refusal("E434", problem="No record of the release satisfies the condition.")
    model = basis.candidate.model(formula, condition)
    seen = model.of(table)
    scaling = Scaling.by(seen, model.target)
    slopes = most_likely(seen, scaling) if odds else least_squares(seen, scaling)
    if slopes is None:
        raise refusal("E434", problem="The predictors do not determine the coefficients on the released table.")
    reach = None if odds or where.columns else _reach(analyst, question, model, seen, scaling)
    return list(_coefficients(scaling, slopes, reach))


def _coefficients(scaling: Scaling, slopes: Floats, reach: tuple[float, bool] | None) -> list[Coefficient]:
    """Back from standardised features: b/d for a slope, and the constant less Σ b·m/d.

    A slope is off by 1/d of the distance, the constant by its largest weight in that sum.
    """
    means = np.array([float(m) for m in scaling.means])
    spreads = np.array([float(d) for d in scaling.deviations])
    own = [float(slopes[0] - (slopes[1:] * means / spreads).sum()), *(slopes[1:] / spreads).tolist()]
    per = [max([1.0, *(abs(means) / spreads).tolist()]), *(1 / spreads).tolist()]
    found = []
    for name, value, scale in zip((CONSTANT, *scaling.features), own, per, strict=True):
        if reach is None:
            found.append(Coefficient(name, Found(value, None, NONE)))
        else:
            interval = Interval(value - scale * reach[0], value + scale * reach[0])
            claim = Claim("coefficients", WHY, interval)
            promise = OF_SEARCH if reach[1] else GIVEN
            found.append(Coefficient(name, Found(value, interval, GUARANTEED, (claim,), promise)))
    return found


def _reach(
    analyst: Analyst, question: Regression, model: Model, seen: Table, scaling: Scaling
) -> tuple[float, bool] | None:
    """‖w_R − w_S‖₁ is at most this, and whether of the search; None where no criterion or no κ says so."""
    basis, levels = analyst.basis, analyst.shared(Fraction(0))
    step = _measured(basis, RegressionCoefficients, question)
    counts = _measured(basis, MarginalsAbsolute, None)
    if step is None or counts is None:
        return None
    u = error_bound(basis, step, levels, 2)
    share = error_bound(basis, counts, levels, 2)
    if u is None or share is None:
        return None
    ways = getattr(counts.criterion, "ways", None)
    kappa = contraction(basis, model, seen, scaling, records(basis.n, share), ways)
    if kappa is None or kappa >= 1:
        return None
    k, largest = model.size, float(np.abs(curvature(seen, scaling)).max())
    return (u + k * 2.0**-10) * (1 + k * k * 2.0**-20 * largest) / (1 - kappa), levels.of_search  # [A]


def _measured(basis: Basis, sort: type[Any], question: Regression | None) -> Measured | None:
    """The measured criterion of a sort: of the formula asked, where it has one, and by one step."""
    for measured in basis.measured:
        criterion = measured.criterion
        if not isinstance(criterion, sort):
            continue
        stepped = kind_of(criterion, measured.form).stands == "step"
        if question is None or (stepped and _same(basis, criterion, question)):
            return measured
    return None


def _same(basis: Basis, criterion: RegressionCoefficients, question: Regression) -> bool:
    own, asked, columns = criterion.formula, question.formula, basis.table.domain.names
    if own.target != asked.target:
        return False
    others = tuple(name for name in columns if name != own.target)
    nominal = basis.specification.nominal
    return set(own.terms(others)) == set(asked.terms(others)) and all(
        nominal(name, own) == nominal(name, asked) for name in own.columns(others)
    )


def contraction(
    basis: Basis, model: Model, seen: Table, scaling: Scaling, off: int, ways: int | None
) -> float | None:
    """κ, where every count of up to `ways` columns is off by at most so many records; None where more are."""
    features = [np.ones(())] + [
        (floats(model.features.column(name).axis) - float(m)) / float(d)
        for name, m, d in zip(scaling.features, scaling.means, scaling.deviations, strict=True)
    ]
    cliques: list[tuple[str, ...]] = [()] + [model.features.column(name).clique for name in scaling.features]
    codes = [None, *(model.features.column(name).codes for name in scaling.features)]
    size = len(features)
    moved = np.zeros((size, size))
    for i, j in combinations_with_replacement(range(size), 2):
        columns = tuple(dict.fromkeys((*cliques[i], *cliques[j])))
        if ways is not None and len(columns) > ways:
            return None
        if not columns:
            continue
        shape = [model.reads.domain.axis(name).size for name in columns]
        product = np.ones(shape)
        for place in (i, j):
            if cliques[place]:
                numbers = features[place][codes[place]]
                product = product * _spread(numbers, cliques[place], columns)
        entries = np.abs(product - np.median(product)).sum()
        moved[i, j] = moved[j, i] = off * float(entries) / basis.n
    inverse = np.abs(np.linalg.inv(curvature(seen, scaling)))
    return float((inverse @ moved).sum(axis=0).max())


def _spread(numbers: Floats, clique: Sequence[str], columns: Sequence[str]) -> Floats:
    order = sorted(range(len(clique)), key=lambda place: columns.index(clique[place]))
    sizes = dict(zip(clique, numbers.shape, strict=True))
    return np.transpose(numbers, order).reshape([sizes.get(name, 1) for name in columns])

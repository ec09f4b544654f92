"""Regression: the coefficients of a linear or a logistic model, and how well a linear one predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
from scipy.special import expit

from facsimile.acceptance import planned, regression
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import FUNCTIONAL, Measured
from facsimile.acceptance.influence import Influences, features, numbers
from facsimile.acceptance.kind import Kind, Tested, listed
from facsimile.acceptance.model import Model, extent, model_of
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import Assumed, NoiseLine, PlannedSensitivity, number_range, planned_range
from facsimile.privacy.modes import mode_of
from facsimile.privacy.queries import OneStep, PredictionGap, Query
from facsimile.privacy.queries.sensitivity import Range, prediction_error
from facsimile.privacy.queries.view import seen
from facsimile.spec.constraints import Condition
from facsimile.spec.constraints import names as spoken_of
from facsimile.spec.criteria import LogisticCoefficients, RegressionCoefficients, RegressionError
from facsimile.spec.formula import Formula
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats
from facsimile.table.linear import newton_terms, predictable
from facsimile.table.regression import (
    Scaling,
    curvature,
    design,
    least_squares,
    mean_absolute_error,
    most_likely,
)
from facsimile.table.scores import Factor, RowScores, units
from facsimile.table.table import Codes, Table

SIMULATED = "simulated: how far a noisy fit lies from the exact one, on average"
FIRST = "it has the numbers of each column's first alternative"
EXPLAINED = 0.5
"""How much of a target's variance its features explain, in equal parts, where planning tells no correlation."""
MOST_CELLS = 2**20
FIT_GRID = 2**20


class CoefficientsKind(Kind[RegressionCoefficients]):
    """The L1 distance of coefficients: one step towards the original's, or a noisy fit of the original.

    The paper's form takes the fit. Where it was paid once, that fit is the one, and nothing is asked: it is
    public, and so is its distance from the candidate. It took the numbers of each column's first alternative; a
    candidate under another has other numbers, and what that changes is part of the distance.
    """

    expense = 1
    regresses = refits = scored = True
    stand = ("step", "fit")
    topic, about, title = "regression", "target", "Regression of {columns}{short}: its coefficients"
    sentence = (
        "The sum of absolute differences of the coefficients of a linear regression of {columns} "
        "on {predictors}, each standardised."
    )

    def query(self, candidate: Candidate) -> Query | None:
        """One step; in the paper's form it is what a joint test asks."""
        model = candidate.model(self.criterion.formula)
        known = self.sharp or candidate.specification.shares_once(self.criterion)
        if not (known or regression.refitting(candidate.table, model, self.criterion.epsilon)):
            return None
        return _one_step(candidate, model)

    def slow(self, domain: Domain) -> bool:
        return _slow(self.criterion.formula, domain)

    def terms(self, specification: Specification, domain: Domain) -> int:
        formula = self.criterion.formula
        return extent(specification, formula, domain, [formula.target])

    def words(self) -> dict[str, str]:
        return _predictors(self.criterion.formula)

    def measure(self, candidate: Candidate, answers: Answers) -> tuple[Measured | None, Candidate]:
        """In the paper's form a noisy fit, standardised by the candidate; it is public from then on."""
        if self.sharp:
            return super().measure(candidate, answers)
        fit = self._fitted(candidate, answers)
        if fit is None:
            return None, candidate
        return self.compared(candidate, fit), replace(candidate, fit=candidate.fit or fit, refit=fit)

    def _fitted(self, candidate: Candidate, answers: Answers) -> regression.Fit | None:
        """None where the candidate decides: see refitting."""
        table, formula = candidate.table, self.criterion.formula
        if candidate.specification.shares_once(self.criterion):
            return None if candidate.own_fit(formula) is None else candidate.fit
        asked = regression.refitting(table, candidate.model(formula), self.criterion.epsilon)
        if asked is None:
            return None
        centring, question = asked
        return centring.solved(question, answers.run(question), table.n)

    def compared(self, candidate: Candidate, fit: regression.Fit) -> Measured:
        """What a noisy fit says about the candidate's coefficients: a function of public numbers."""
        own, threshold = candidate.own_fit(self.criterion.formula), self.criterion.threshold
        if own is None:
            raise ValueError("the candidate's coefficients are not determined")
        pairs = zip(fit.standardised(own.scaling).coefficients, own.coefficients, strict=True)
        value = sum((abs(a - b) for a, b in pairs), Fraction(0))
        units = value * FIT_GRID
        assert units.denominator == 1, "coefficients lie on the grid"
        met = value < threshold
        return Measured(
            self.criterion, self.form, FUNCTIONAL, value, met, threshold, None, FIT_GRID, units.numerator
        )

    def again(self, candidate: Candidate, units: int) -> Measured:
        """In the paper's form from the published fit."""
        if self.sharp:
            return super().again(candidate, units)
        if candidate.refit is None:
            raise ValueError("the coefficients need the regression they were compared with")
        shared = candidate.specification.shares_once(self.criterion)
        if shared and candidate.fit not in (None, candidate.refit):
            raise ValueError("one regression was paid for, and two are published")
        return self.compared(candidate, candidate.refit)

    def spread(self, candidate: Candidate) -> float | None:
        """In the paper's form: simulated with the candidate's own moments."""
        if self.sharp:
            return None
        spec, table, c = candidate.specification, candidate.table, self.criterion
        model = candidate.model(c.formula)
        seen_ = model.of(table)
        if spec.shares_once(c):
            centring = regression.in_public(spec, c.formula)
            question = regression.fit_question(spec, c.formula, c.epsilon)
        else:
            centring = regression.Centring.by_candidate(seen_, c.target)
            question = centring.moments(model.features, c.epsilon)
        return centring.distance(seen_, regression.noise_of(question, table.n))

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """In L1, the constant included."""
        found = _both(candidate, original, candidate.model(self.criterion.formula))
        return None if found is None else float(np.abs(found[1] - found[2]).sum())

    def influences(self, specification: Specification, table: Table) -> Influences | None:
        """G⁻¹·x·(y − x·w): one for each coefficient, w and G the table's own."""
        return _steps(
            model_of(specification, self.criterion.formula, table.domain), table, self.criterion.threshold
        )

    def scores(self, specification: Specification, table: Table) -> RowScores | None:
        """Of the regression's own features and residuals."""
        return _scores(model_of(specification, self.criterion.formula, table.domain), table)

    def tested(self, candidate: Candidate, original: Original) -> Tested | None:
        """The paper's form: noise is on each mean product of standardised columns, not on the distance."""
        if self.sharp:
            return super().tested(candidate, original)
        value, c = self.exact(candidate, original), self.criterion
        if (
            value is None
            or regression.refitting(candidate.table, candidate.model(c.formula), c.epsilon) is None
        ):
            return None
        return Tested(self.form, value, float(c.threshold), None, self.spread(candidate) or 0.0)

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """One step from the release's coefficients: x·(y − mean), a constant among the x."""
        target, declared = self.criterion.target, self.criterion.planning_sensitivity
        if self.sharp and declared is not None:
            return declared, "planned"
        columns = _plain(specification, self.criterion.formula)
        if columns is None:
            return None, planned.UNKNOWN
        missing = assumed.unknown(columns)
        if missing or not self.sharp:
            return None, missing
        features, goal = _features(specification, columns, target, assumed)
        moved = sum((planned.product(x, goal) for x in features), Fraction(0))
        return moved * assumed.spreads[target][1] / specification.n, planned.APART

    def noise(self, specification: Specification, assumed: Assumed) -> NoiseLine:
        """In the paper's form the mean distance of a noisy fit from the exact one: it has no sensitivity."""
        line = super().noise(specification, assumed)
        if self.sharp or line.note:
            return line
        scale, note = self._simulated(specification, assumed)
        return replace(line, scale=scale, note=note)

    def _simulated(self, specification: Specification, assumed: Assumed) -> tuple[float | None, str]:
        target, epsilon, n = self.criterion.target, self.criterion.epsilon, specification.n
        shared, formula = specification.shares_once(self.criterion), self.criterion.formula
        columns = _plain(specification, formula) or ()
        order = [*(name for name in columns if name != target), target]
        spreads = [assumed.spreads[name] for name in order]
        if shared:
            try:
                question = regression.fit_question(specification, formula, epsilon)
            except ValueError:
                return None, planned.UNKNOWN
            public, noise = regression.in_public(specification, formula), regression.noise_of(question, n)
            constants = [*zip(public.scaling.means, public.scaling.deviations, strict=True)]
            constants.append((public.centre, public.spread))
        else:
            constants = spreads
            noise = float(planned.moments(*_features(specification, columns, target, assumed)) / epsilon / n)
        pairs = list(zip(spreads, constants, strict=True))
        means = np.array([1.0, *(float((mean - c) / d) for (mean, _), (c, d) in pairs)])
        deviations = np.array([0.0, *(float(spread / d) for (_, spread), (_, d) in pairs)])
        correlations = np.zeros((len(means), len(means)))
        correlations[1:, 1:] = _correlations([specification.names.index(name) for name in order], assumed)
        second = correlations * np.outer(deviations, deviations) + np.outer(means, means)
        found = regression.distances(second, noise) * float(constants[-1][1])
        note = SIMULATED
        if shared:
            note += f"; {FIRST}" * any(len(column.used) > 1 for column in specification.columns)
            beyond = float((found >= float(self.criterion.threshold)).mean())
            note += f"; {beyond:.0%} of such fits lie beyond the threshold by noise alone"
            mode = mode_of(specification.selection)
            note += "" if mode.halting else f", and then a search in mode {mode.name} does not end"
        return float(found.mean()), note


class PredictionsKind(Kind[RegressionError]):
    """The difference of mean absolute errors: of a public fit of the original, and of the candidate's own."""

    expense = 3
    regresses = needs_fit = True
    stand = ("fit", "fit")
    topic, about, title = "regression", "target", "Regression of {columns}{short}: its predictions"
    sentence = (
        "The difference of mean absolute errors when {columns} is predicted from {predictors} "
        "by a regression trained on the release and by one trained on the original."
    )

    def query(self, candidate: Candidate) -> Query | None:
        """None as well where predictions are too large for integers."""
        model, own = candidate.model(self.criterion.formula), candidate.own_fit(self.criterion.formula)
        if own is None or candidate.fit is None:
            return None
        lines = candidate.fit.on(model), own.on(model)
        if not all(map(predictable, lines)):
            return None
        cells = candidate.cells(model.reads, 1) if self.sharp else None
        gap = PredictionGap(*lines, self._bounds(candidate.specification), cells, candidate.table.n)
        return seen(model.reads, gap)

    def terms(self, specification: Specification, domain: Domain) -> int:
        formula = self.criterion.formula
        return extent(specification, formula, domain, [formula.target])

    def words(self) -> dict[str, str]:
        return _predictors(self.criterion.formula)

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """Of both when they predict the original."""
        model = candidate.model(self.criterion.formula)
        found = _both(candidate, original, model)
        if found is None:
            return None
        low, high = self._bounds(candidate.specification)
        clip, scaling = (float(low), float(high)), found[0]
        predicted = model.of(original.table)
        one, other = (mean_absolute_error(predicted, scaling, fit, clip) for fit in found[1:])
        return abs(one - other)

    def _bounds(self, specification: Specification) -> Range:
        column = specification.column(self.criterion.target)
        return number_range(column, column.finest, sharp=False)

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """Twice the range of the target."""
        bounds = planned_range(specification, self.criterion.target, self.sharp)
        return prediction_error(bounds, specification.n), "2(U − L)/n" + ", at most" * self.sharp


class LogisticKind(Kind[LogisticCoefficients]):
    """The L1 distance of the coefficients of a logistic regression, by one step from the candidate's.

    Where likelihood has no maximum on one side, because the predictors tell the event apart, the error is not
    defined, and the criterion is not met.
    """

    expense = 1
    regresses = scored = True
    stand = ("step", "step")
    topic, title = "regression", "Logistic regression of {event}{short}"
    sentence = (
        "The sum of absolute differences of the coefficients of a logistic regression of {event} "
        "on {predictors}, each standardised."
    )

    def query(self, candidate: Candidate) -> Query | None:
        return _one_step(candidate, self._model(candidate), odds=True)

    def _model(self, candidate: Candidate) -> Model:
        return candidate.model(self.criterion.formula, self._event(candidate.specification))

    def _event(self, specification: Specification) -> Condition:
        return self.criterion.condition(specification.names)

    def slow(self, domain: Domain) -> bool:
        return _slow(self.criterion.formula, domain)

    def terms(self, specification: Specification, domain: Domain) -> int:
        spoken = spoken_of(self._event(specification))
        return max(domain.size(spoken), extent(specification, self.criterion.formula, domain, spoken))

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """In L1, the constant included."""
        found = _both(candidate, original, self._model(candidate), odds=True)
        return None if found is None else float(np.abs(found[1] - found[2]).sum())

    def influences(self, specification: Specification, table: Table) -> Influences | None:
        """I⁻¹·x·(y − σ(x·w)): one for each coefficient, w and the Fisher information I the table's own."""
        model = model_of(specification, self.criterion.formula, table.domain, self._event(specification))
        return _steps(model, table, self.criterion.threshold, odds=True)

    def scores(self, specification: Specification, table: Table) -> RowScores | None:
        """Those of a linear regression of the event: both follow from the means of x·y beside those of x."""
        model = model_of(specification, self.criterion.formula, table.domain, self._event(specification))
        return _scores(model, table)

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        declared = self.criterion.planning_sensitivity
        return (None, planned.UNKNOWN) if declared is None else (declared, "planned")

    def words(self) -> dict[str, str]:
        return {"event": self.criterion.event, **_predictors(self.criterion.formula)}


def _one_step(candidate: Candidate, model: Model, odds: bool = False) -> Query | None:
    """One step from the candidate's coefficients; None where they are not determined, or too steep."""
    terms = newton_terms(model.reads.of(candidate.table), model.target, model.features, odds)
    if terms is None:
        return None
    return seen(model.reads, OneStep(terms, candidate.cells(model.reads, model.size), candidate.table.n))


def _slow(formula: Formula, domain: Domain) -> bool:
    """A step has a number for each cell of the columns that are read."""
    every = domain.names if formula.on is None else set(formula.columns(())) & set(domain.names)
    return domain.size(every) > MOST_CELLS


def _predictors(formula: Formula) -> dict[str, str]:
    """What a regression is on, in words, and in short where predictors are chosen."""
    if formula.on is None:
        said = "all other columns"
        short = ""
    else:
        said = listed(tuple(" × ".join(term) for term in formula.terms(())))
        short = f" on {', '.join(formula.on)}"
    if formula.indicators:
        said += f" (by their bins: {listed(formula.indicators)})"
    return {"predictors": said, "short": short}


def _both(
    candidate: Candidate, original: Original, model: Model, odds: bool = False
) -> tuple[Scaling, Floats, Floats] | None:
    """The exact fits of a public original and of a candidate, both standardised by the candidate."""
    fit = most_likely if odds else least_squares
    own = model.of(candidate.table)
    scaling = Scaling.by(own, model.target)
    one, other = fit(model.of(original.table), scaling), fit(own, scaling)
    return None if one is None or other is None else (scaling, one, other)


def _steps(model: Model, table: Table, threshold: Fraction, odds: bool = False) -> Influences | None:
    """A·x·(y − prediction), the prediction by the table's own coefficients, A its inverse curvature."""
    domain, target, own = model.domain, model.target, model.of(table)
    scaling = Scaling.by(own, target)
    w = (most_likely if odds else least_squares)(own, scaling)
    if w is None:
        return None
    inverse = np.linalg.inv(curvature(own, scaling, w if odds else None))

    def of(codes: Codes) -> Floats:
        rows = model.rows(codes)
        x = features(domain, scaling, rows)
        predicted = expit(x @ w) if odds else x @ w
        found: Floats = (x * (numbers(domain, target, rows) - predicted)[:, None]) @ inverse
        return found

    return Influences.summed(of, len(w), float(threshold))


def _scores(model: Model, table: Table) -> RowScores | None:
    """x·(y − x·w) for each feature, w least squares of the table; features and residuals standardised.

    None for the constant: the residuals' mean is that of the columns. So a regression on a constant alone (no
    other column, or one of a single bin) has nothing to ask.
    """
    own, reads = model.of(table), model.reads
    scaling = Scaling.by(own, model.target)
    w = least_squares(own, scaling)
    if w is None:
        return None
    x, y = design(own, scaling)
    spread = float(np.sqrt((y - x @ w) ** 2 @ own.counts / own.n)) or 1.0
    last = reads.column(model.target)
    singles, terms = [], [(last.clique, units(float(y) / spread for y in last.axis.numbers or ())[last.codes])]
    for name, centre, by, slope in zip(
        scaling.features, scaling.means, scaling.deviations, w[1:].tolist(), strict=True
    ):
        column = model.features.column(name)
        away = [(number - centre) / by for number in column.axis.numbers or ()]
        singles.append(Factor(0, ((column.clique, units(away)[column.codes]),)))
        terms.append((column.clique, units(-slope * float(number) / spread for number in away)[column.codes]))
    (constant,) = units([-float(w[0]) / spread]).tolist()
    residual = Factor(constant, tuple(terms))
    return RowScores(table.domain, tuple((single, residual) for single in singles)) if singles else None


def _plain(specification: Specification, formula: Formula) -> tuple[str, ...] | None:
    """The columns of a regression on numbers alone, its target among them, in the specification's order."""
    others = tuple(name for name in specification.names if name != formula.target)
    terms = formula.terms(others)
    if any(len(term) > 1 or specification.nominal(term[0], formula) for term in terms):
        return None
    return tuple(name for name in specification.names if (name,) in terms or name == formula.target)


def _features(
    specification: Specification, columns: Sequence[str], target: str, assumed: Assumed
) -> tuple[list[Range], Range]:
    """The ranges of a constant and the standardised features, and of the target."""
    ranges = {name: assumed.standardised(specification, name, sharp=True) for name in columns}
    goal = ranges.pop(target)
    return [(Fraction(1), Fraction(1)), *ranges.values()], goal


def _correlations(places: Sequence[int], assumed: Assumed) -> Floats:
    """Of the columns at these places, the target last.

    Where none are known, features explain a part of the target and nothing of each other.
    """
    if assumed.correlations is not None:
        known: Floats = assumed.correlations[np.ix_(places, places)]
        return known
    found = np.eye(len(places))
    found[:-1, -1] = found[-1, :-1] = sqrt(EXPLAINED / max(1, len(places) - 1))
    return found

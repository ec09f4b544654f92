"""Regression: the coefficients of a linear model, and how well it predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np

from facsimile.acceptance import planned, regression
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import FUNCTIONAL, Measured
from facsimile.acceptance.influence import Influences, features, numbers
from facsimile.acceptance.kind import Kind, Tested
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import Assumed, NoiseLine, PlannedSensitivity, number_range, planned_range
from facsimile.privacy.modes import mode_of
from facsimile.privacy.queries import OneStep, PredictionGap, Query
from facsimile.privacy.queries.sensitivity import Range, prediction_error
from facsimile.spec.criteria import RegressionCoefficients, RegressionError
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats
from facsimile.table.linear import newton_terms, predictable
from facsimile.table.regression import Scaling, design, least_squares, mean_absolute_error
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
    refits = True
    scored = True
    stand = ("step", "fit")
    topic, about, title = "regression", "target", "Regression of {columns}: its coefficients"
    sentence = (
        "The sum of absolute differences of the coefficients of a linear regression of {columns} "
        "on all other columns, each standardised."
    )

    def query(self, candidate: Candidate) -> Query | None:
        """One step; in the paper's form it is what a joint test asks."""
        terms, target = newton_terms(candidate.table, self.criterion.target), self.criterion.target
        known = self.sharp or candidate.specification.shares_once(self.criterion)
        if terms is None or not (
            known or regression.refitting(candidate.table, target, self.criterion.epsilon)
        ):
            return None
        return OneStep(terms, candidate.cells, candidate.table.n)

    def slow(self, domain: Domain) -> bool:
        """A step has a number for each cell."""
        return domain.cells > MOST_CELLS

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
        table, target = candidate.table, self.criterion.target
        if candidate.specification.shares_once(self.criterion):
            return None if candidate.own_fit(target) is None else candidate.fit
        asked = regression.refitting(table, target, self.criterion.epsilon)
        if asked is None:
            return None
        centring, question = asked
        return centring.solved(question, answers.run(question), table.n)

    def compared(self, candidate: Candidate, fit: regression.Fit) -> Measured:
        """What a noisy fit says about the candidate's coefficients: a function of public numbers."""
        own, threshold = candidate.own_fit(self.criterion.target), self.criterion.threshold
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
        if spec.shares_once(c):
            centring = regression.in_public(spec, c.target)
            question = regression.fit_question(spec, c.target, c.epsilon)
        else:
            centring = regression.Centring.by_candidate(table, c.target)
            question = centring.moments(table.domain, c.epsilon)
        return centring.distance(table, regression.noise_of(question, table.n))

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """In L1, the constant included."""
        found = _both(candidate, original, self.criterion.target)
        return None if found is None else float(np.abs(found[1] - found[2]).sum())

    def influences(self, specification: Specification, table: Table) -> Influences | None:
        """G⁻¹·x·(y − x·w): one for each coefficient, w and G the table's own."""
        target, domain = self.criterion.target, table.domain
        scaling = Scaling.by(table, target)
        w = least_squares(table, scaling)
        if w is None:
            return None
        x = features(domain, scaling, table.codes)
        inverse = np.linalg.inv(x.T @ (x * table.counts[:, None]) / table.n)

        def of(codes: Codes) -> Floats:
            x = features(domain, scaling, codes)
            found: Floats = (x * (numbers(domain, target, codes) - x @ w)[:, None]) @ inverse
            return found

        return Influences.summed(of, len(w), float(self.criterion.threshold))

    def scores(self, specification: Specification, table: Table) -> RowScores | None:
        """x·(y − x·w) for each feature, w the table's own coefficients; features and residuals standardised.

        None for the constant: the residuals' mean is that of the columns.
        """
        domain, target = table.domain, self.criterion.target
        scaling = Scaling.by(table, target)
        w = least_squares(table, scaling)
        if w is None:
            return None
        x, y = design(table, scaling)
        spread = float(np.sqrt((y - x @ w) ** 2 @ table.counts / table.n)) or 1.0
        singles, terms = [], [((target,), units(float(y) / spread for y in domain.axis(target).numbers or ()))]
        for name, centre, by, slope in zip(
            scaling.features, scaling.means, scaling.deviations, w[1:].tolist(), strict=True
        ):
            away = [(number - centre) / by for number in domain.axis(name).numbers or ()]
            singles.append(Factor(0, (((name,), units(away)),)))
            terms.append(((name,), units(-slope * float(number) / spread for number in away)))
        (constant,) = units([-float(w[0]) / spread]).tolist()
        residual = Factor(constant, tuple(terms))
        return RowScores(domain, tuple((single, residual) for single in singles))

    def tested(self, candidate: Candidate, original: Original) -> Tested | None:
        """The paper's form: noise is on each mean product of standardised columns, not on the distance."""
        if self.sharp:
            return super().tested(candidate, original)
        value, c = self.exact(candidate, original), self.criterion
        if value is None or regression.refitting(candidate.table, c.target, c.epsilon) is None:
            return None
        return Tested(self.form, value, float(c.threshold), None, self.spread(candidate) or 0.0)

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """One step from the release's coefficients: x·(y − mean), a constant among the x."""
        target, declared = self.criterion.target, self.criterion.planning_sensitivity
        if self.sharp and declared is not None:
            return declared, "planned"
        missing = assumed.unknown(specification.names)
        if missing or not self.sharp:
            return None, missing
        features, goal = _features(specification, target, assumed)
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
        shared = specification.shares_once(self.criterion)
        order = [*(name for name in specification.names if name != target), target]
        spreads = [assumed.spreads[name] for name in order]
        if shared:
            try:
                question = regression.fit_question(specification, target, epsilon)
            except ValueError:
                return None, planned.UNKNOWN
            public, noise = regression.in_public(specification, target), regression.noise_of(question, n)
            constants = [*zip(public.scaling.means, public.scaling.deviations, strict=True)]
            constants.append((public.centre, public.spread))
        else:
            constants = spreads
            noise = float(planned.moments(*_features(specification, target, assumed)) / epsilon / n)
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
    needs_fit = True
    stand = ("fit", "fit")
    topic, about, title = "regression", "target", "Regression of {columns}: its predictions"
    sentence = (
        "The difference of mean absolute errors when {columns} is predicted from all other "
        "columns by a regression trained on the release and by one trained on the original."
    )

    def query(self, candidate: Candidate) -> Query | None:
        """None as well where predictions are too large for integers."""
        own, domain = candidate.own_fit(self.criterion.target), candidate.table.domain
        if own is None or candidate.fit is None:
            return None
        models = candidate.fit.on(domain), own.on(domain)
        if not all(map(predictable, models)):
            return None
        bounds = self._bounds(candidate.specification)
        return PredictionGap(*models, bounds, candidate.cells if self.sharp else None, candidate.table.n)

    def exact(self, candidate: Candidate, original: Original) -> float | None:
        """Of both when they predict the original."""
        found = _both(candidate, original, self.criterion.target)
        if found is None:
            return None
        low, high = self._bounds(candidate.specification)
        clip, scaling = (float(low), float(high)), found[0]
        one, other = (mean_absolute_error(original.table, scaling, fit, clip) for fit in found[1:])
        return abs(one - other)

    def _bounds(self, specification: Specification) -> Range:
        column = specification.column(self.criterion.target)
        return number_range(column, column.finest, sharp=False)

    def planned(self, specification: Specification, assumed: Assumed) -> PlannedSensitivity:
        """Twice the range of the target."""
        bounds = planned_range(specification, self.criterion.target, self.sharp)
        return prediction_error(bounds, specification.n), "2(U − L)/n" + ", at most" * self.sharp


def _both(candidate: Candidate, original: Original, target: str) -> tuple[Scaling, Floats, Floats] | None:
    """The exact fits of a public original and of a candidate, both standardised by the candidate."""
    scaling = Scaling.by(candidate.table, target)
    one, other = least_squares(original.table, scaling), least_squares(candidate.table, scaling)
    return None if one is None or other is None else (scaling, one, other)


def _features(specification: Specification, target: str, assumed: Assumed) -> tuple[list[Range], Range]:
    """The ranges of a constant and the standardised features, and of the target."""
    ranges = {name: assumed.standardised(specification, name, sharp=True) for name in specification.names}
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

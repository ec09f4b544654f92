"""A regression of the original from noisy moments: everything after the moments is post-processing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.acceptance.model import Model, model_of
from facsimile.acceptance.planned import declared
from facsimile.privacy.mechanisms.training import NoisyMoments
from facsimile.spec.columns import Axis
from facsimile.spec.formula import Formula
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats, Ints, integers
from facsimile.table.linear import Linear, fitted
from facsimile.table.numbers import deviation, floats, grid, mean
from facsimile.table.regression import Scaling
from facsimile.table.table import Table
from facsimile.table.view import Shown, View

UNIT = 1024
LOUD = 2
SMALLEST = 0.05
DRAWS, SEED = 400, 15
"""Of a simulated spread: how many fits are drawn, and from which seed."""
Spreads = Mapping[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Centring:
    """How features and target are centred and scaled before their moments are taken: public constants."""

    scaling: Scaling
    centre: Fraction
    spread: Fraction

    @classmethod
    def in_public(cls, domain: Domain, target: str, known: Spreads) -> Centring:
        """By means and deviations that are known in public, or else by the range of a column's numbers."""
        spreads = {axis.name: known.get(axis.name) or _by_range(axis) for axis in domain.axes}
        features = tuple(name for name in domain.names if name != target)
        scaling = Scaling(
            target, features, tuple(spreads[f][0] for f in features), tuple(spreads[f][1] for f in features)
        )
        return cls(scaling, *spreads[target])

    @classmethod
    def by_candidate(cls, candidate: Table, target: str) -> Centring:
        """By the means and deviations of a candidate: public, and free of budget."""
        scaling = Scaling.by(candidate, target)
        return cls(scaling, grid(mean(candidate, target)), deviation(candidate, target))

    def moments(self, view: View, epsilon: Fraction) -> NoisyMoments:
        """The question to ask; ValueError where the numbers are too large for integer noise."""
        features = tuple(_units(view.column(name), c, s) for name, c, s in self._constants())
        target = _units(view.column(self.scaling.target), self.centre, self.spread)
        return NoisyMoments(features, target, UNIT, epsilon)

    def solved(self, question: NoisyMoments, answer: Ints, n: int) -> Fit:
        """The fit from noisy moments."""
        size = len(question.features) + 2
        moments = np.zeros((size, size))
        for (i, j), value in zip(question.monomials, answer.tolist(), strict=True):
            moments[i, j] = moments[j, i] = value / (UNIT * UNIT * n)
        means, slopes = moments[0, 1:], _slopes(moments, noise_of(question, n))
        constant = (means[-1] - slopes @ means[:-1]) * float(self.spread) + float(self.centre)
        found = [constant, *(slopes * float(self.spread))]
        return Fit(self.scaling, tuple(grid(Fraction(float(slope))) for slope in found))

    def distance(self, table: Table, noise: float) -> float:
        """How far noise alone moves the coefficients of a public table, on average: see `distances`."""
        columns = [*self._constants(), (self.scaling.target, self.centre, self.spread)]
        rows = [np.ones(table.distinct)]
        for name, centre, spread in columns:
            numbers = (floats(table.domain.axis(name)) - float(centre)) / float(spread)
            rows.append(numbers[table.column(name)])
        x = np.column_stack(rows)
        found = distances(x.T @ (x * table.counts[:, None]) / table.n, noise)
        return float(found.mean()) * float(self.spread)

    def _constants(self) -> Iterator[tuple[str, Fraction, Fraction]]:
        """Each feature, what is taken off its numbers, and what they are divided by."""
        return zip(self.scaling.features, self.scaling.means, self.scaling.deviations, strict=True)


@dataclass(frozen=True)
class Fit:
    """Public coefficients of standardised features, the constant first."""

    scaling: Scaling
    coefficients: tuple[Fraction, ...]

    @classmethod
    def of(cls, table: Table, target: str) -> Fit | None:
        """A public table's own least squares, its columns the features; None where they are not determined."""
        scaling = Scaling.by(table, target)
        coefficients = fitted(table, scaling)
        return None if coefficients is None else cls(scaling, coefficients)

    def standardised(self, by: Scaling) -> Fit:
        """The same prediction with its features standardised in another way, on the grid of 2^−20.

        b·(x − m)/d = b·(d'/d)·(x − m')/d' + b·(m' − m)/d: post-processing of public numbers.
        """
        constant, slopes = self.coefficients[0], []
        own = zip(self.coefficients[1:], self.scaling.means, self.scaling.deviations, strict=True)
        for (slope, m, d), mean_, deviation_ in zip(own, by.means, by.deviations, strict=True):
            slopes.append(grid(slope * deviation_ / d))
            constant += slope * (mean_ - m) / d
        return Fit(by, (grid(constant), *slopes))

    def on(self, model: Model) -> Linear:
        """The prediction on the rows that a regression reads."""
        return Linear.scaled(model.reads.domain, self.scaling, self.coefficients, model.features)


def refitting(candidate: Table, model: Model, epsilon: Fraction) -> tuple[Centring, NoisyMoments] | None:
    """How to refit the original, standardised by a candidate.

    None where the candidate's coefficients are not determined, or its numbers are too steep for integer noise.
    """
    seen = model.of(candidate)
    if Fit.of(seen, model.target) is None:
        return None
    centring = Centring.by_candidate(seen, model.target)
    try:
        return centring, centring.moments(model.features, epsilon)
    except ValueError:
        return None


def fit_question(specification: Specification, formula: Formula, epsilon: Fraction) -> NoisyMoments:
    """What `fit_once` asks, from the specification alone; ValueError where its numbers are too large."""
    model = model_of(specification, formula, _first(specification))
    return in_public(specification, formula).moments(model.features, epsilon)


def fit_once(answers: Answers, specification: Specification, formula: Formula, epsilon: Fraction) -> Fit:
    """A regression of the original under the first alternatives, scaled by public constants: paid once."""
    question = fit_question(specification, formula, epsilon)
    recoded = answers.recoded(_first(specification), specification.recodings(specification.first))
    answer = recoded.run(question)
    return in_public(specification, formula).solved(question, answer, specification.n)


def in_public(specification: Specification, formula: Formula) -> Centring:
    """How the regression paid once is scaled: by what planning knows."""
    domain = model_of(specification, formula, _first(specification)).domain
    return Centring.in_public(domain, formula.target, declared(specification).spreads)


def _first(specification: Specification) -> Domain:
    """The first choice of alternatives that a release may have."""
    return Domain(specification.axes(specification.first))


def noise_of(question: NoisyMoments, n: int) -> float:
    """The scale of the noise on each mean product."""
    return question.units / float(question.epsilon) / (UNIT * UNIT * n)


def distances(moments: Floats, noise: float) -> Floats:
    """Simulated ‖w' − w‖₁: w from the mean products of public columns, w' from the same with noise.

    `moments` has a line for the constant, for each feature and, last, for the target. Features count in their
    own deviations and the constant at their means, as coefficients are compared; the unit is the target's. The
    mean absolute noise of a Laplace answer is its scale, so the two are comparable. The draws are the same for
    everybody: PCG64's raw numbers from SEED, DRAWS fits.
    """
    means, size = moments[0, 1:], len(moments)
    covariance = moments[1:, 1:] - np.outer(means, means)
    deviations = np.sqrt(np.maximum(np.diag(covariance)[:-1], 0.0))
    own = np.linalg.pinv(covariance[:-1, :-1], hermitian=True) @ covariance[:-1, -1]
    drawn = np.random.PCG64(SEED).random_raw(DRAWS * size * size)
    halves = (np.asarray(drawn >> np.uint64(11), np.float64) + 0.5) / 2**53 - 0.5
    noises = noise * -np.sign(halves) * np.log1p(-2 * np.abs(halves))
    found = []
    for each in noises.reshape(DRAWS, size, size):
        noisy = moments + np.triu(each) + np.triu(each, 1).T
        slopes = _slopes(noisy, noise)
        constant = noisy[0, -1] + slopes @ (means[:-1] - noisy[0, 1:-1])
        found.append(float(abs(constant - means[-1]) + np.abs(slopes - own) @ deviations))
    return np.array(found)


def _units(column: Shown, centre: Fraction, spread: Fraction) -> tuple[Clique, Ints]:
    numbers = column.axis.numbers or ()
    return column.clique, integers(round((x - centre) / spread * UNIT) for x in numbers)[column.codes]


def _by_range(axis: Axis) -> tuple[Fraction, Fraction]:
    """The middle and half the range of a column's numbers: they become [−1, 1]."""
    low, high = min(axis.numbers or ()), max(axis.numbers or ())
    return grid((low + high) / 2), grid((high - low) / 2) or Fraction(1)


def _slopes(moments: Floats, noise: float) -> Floats:
    """Least-squares slopes from noisy second moments.

    What noise may have made is taken as nothing: a covariance below twice the noise, a feature whose variance
    is below four times the noise. Eigenvalues of the correlations are kept away from zero.
    """
    means = moments[0, 1:]
    covariance = moments[1:, 1:] - np.outer(means, means)
    covariance[np.abs(covariance) < LOUD * noise] = 0.0
    variances = np.diag(covariance)[:-1]
    heard = variances > 2 * LOUD * noise
    deviations = np.sqrt(np.where(heard, variances, 1.0))
    correlations = np.clip(covariance[:-1, :-1] / np.outer(deviations, deviations), -1, 1)
    correlations[~heard, :] = correlations[:, ~heard] = 0.0
    np.fill_diagonal(correlations, 1.0)
    right = np.where(heard, covariance[:-1, -1] / deviations, 0.0)
    values, vectors = np.linalg.eigh(correlations)
    slopes: Floats = vectors @ ((vectors.T @ right) / np.maximum(values, SMALLEST)) / deviations
    return slopes

"""Prediction: how often the noise of given tables leaves every criterion met, without making a candidate.

Near the public table a fit moves by p·h, h in the span of what is asked for: effects of tables, and scores. Let
B be an orthonormal basis of that span in L₂(p), and w the precision of each number that is asked for. Weighted
least squares is off by x in this basis, and the mean of a function c of a record by <c, B>·x:

    L = n·<asked, B>,   I = Lᵀ·diag(w)·L,   x = I⁻¹·Lᵀ·√w·ζ,   ζ noise of variance 1

With A the rows that are asked for and C the functions, the covariance of the errors is K(M V⁻¹ M)⁺Kᵀ for M =
A·diag(p)·Aᵀ, K = C·diag(p)·Aᵀ, V = diag(1/w). Around it stands the bias of the noise-free fit. To first order
it is the mean that the start gives to the part of c outside of the span; where real fits are known, they
correct it (`bias`).

Chances are shares of fixed draws of ζ, so designs are compared on the same luck. Noise of single columns has
its own law, since few cells of it decide about rare codes; sums of many cells are Gaussian.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpstrf

from facsimile.explore.design.effects import Asked, Moments, Sizes, contrasts, effects
from facsimile.explore.design.law import LAPLACE, Law
from facsimile.explore.design.linear import LinearCriteria
from facsimile.table.exact import Floats

DRAWS = 1000
FAR = 0.05
"""How much the logarithm of what is beyond its limit counts beside a smooth chance."""
FAINT = 1e-9
MIXED = 0.1
"""The share of the start in the mixture that a bias is projected over."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """Of the tables and scores of a design; how the budget is shared among them is told later.

    `start` is over what a fit starts from: the columns of the public table, independent as far as rules allow.
    `diameters` are those of the scores, in the norm of the law.
    """

    moments: Moments
    start: Moments
    criteria: LinearCriteria
    tables: tuple[Sizes, ...]
    diameters: Mapping[str, float]
    law: Law = LAPLACE
    seed: int = 0
    draws: int = DRAWS

    @cached_property
    def parts(self) -> dict[Asked, dict[int, float]]:
        """What is asked for: for each place among tables and scores, its precision at a share of 1."""
        found: dict[Asked, dict[int, float]] = {}
        for place, table in enumerate(self.tables):
            for effect, summed in effects(table).items():
                found.setdefault(effect, {})[place] = 1 / (self.law.cell * summed)
        for place, (name, diameter) in enumerate(self.diameters.items(), len(self.tables)):
            found[name] = {place: 1 / (self.law.score * diameter**2)}
        return found

    @cached_property
    def _units(self) -> Floats:
        """Precision of each number at a share of 1 of each table or score: a line for each number."""
        found = np.zeros((len(self.parts), len(self.tables) + len(self.diameters)))
        for line, shares in zip(found, self.parts.values(), strict=True):
            line[list(shares)] = list(shares.values())
        return np.repeat(found, self._sizes, axis=0)

    @cached_property
    def _sizes(self) -> list[int]:
        return [len(self.moments.with_functions(asked)) for asked in self.parts]

    @cached_property
    def _basis(self) -> tuple[Floats, Floats]:
        """L and <C, B>; B by Cholesky's root, pivoted, of what does not depend."""
        both, along = self._joint(self.moments)
        size = _sizes(both)
        root, order, rank, _ = dpstrf(both / np.outer(size, size), tol=FAINT)
        first, root = order[:rank] - 1, np.triu(root)[:rank]
        left = np.zeros((len(both), rank))
        left[order - 1] = root.T
        found = solve_triangular(root[:, :rank], along[first] / size[first, None], trans="T").T
        return self.moments.table.n * size[:, None] * left, found

    @cached_property
    def first_bias(self) -> Floats:
        """Of the noise-free fit, to first order: see above.

        c is projected on what is asked for over a mixture of the table and the start, so that tables which
        agree on all public rows, and nowhere else, are told apart.
        """
        (here, along), (there, beyond) = self._joint(self.moments), self._joint(self.start)
        apart = np.concatenate([self.start.mean(one) - self.moments.mean(one) for one in self.parts])
        both, with_functions = (1 - MIXED) * here + MIXED * there, (1 - MIXED) * along + MIXED * beyond
        size = _sizes(both)
        factor = cho_factor(both / np.outer(size, size) + FAINT * np.eye(len(both)), check_finite=False)
        inside = with_functions.T / size @ cho_solve(factor, apart / size, check_finite=False)
        found: Floats = self.start.mean(None) - self.moments.mean(None) - inside
        return found

    def _joint(self, moments: Moments) -> tuple[Floats, Floats]:
        """Covariances of all that is asked for, with itself and with the functions."""
        asked = list(self.parts)
        both = np.block([[moments.covariance(one, other) for other in asked] for one in asked])
        return both, np.concatenate([moments.with_functions(one) for one in asked])

    @cached_property
    def _noise(self) -> Floats:
        """ζ, the same for whatever asks for the same."""
        found = [
            _noise(one, size, self.draws, self.seed, self.law)
            for one, size in zip(self.parts, self._sizes, strict=True)
        ]
        return np.concatenate(found)

    def errors(self, shares: Floats, bias: Floats) -> Floats:
        """The error of each function in each draw, with so much ε or ρ for each table and score."""
        return self._moved(shares)[0] + bias[:, None]

    def chance(self, shares: Floats, bias: Floats) -> float:
        """The share of draws in which every criterion is met."""
        return float((self.criteria.worst(self.errors(shares, bias)).max(axis=0) < 1).mean())

    def chances(self, shares: Floats, bias: Floats) -> dict[str, float]:
        """The same for each criterion by itself."""
        met = (self.criteria.worst(self.errors(shares, bias)) < 1).mean(axis=1)
        return dict(zip(self.criteria.names, met.tolist(), strict=True))

    def promise(self, shares: Floats, bias: Floats) -> tuple[float, Floats]:
        """A smooth chance, and its derivatives by the logarithm of the share of each table and score.

        With S the powers of all errors beside their limits (`LinearCriteria.powers`) a draw counts 1/(1 + S),
        less FAR·ln(1 + S): so a design that is still hopeless is drawn in the right direction.
        """
        errors, moved, factor, w = self._moved(shares)
        far, slopes = self.criteria.powers(errors + bias[:, None])
        chance = 1 / (1 + far)
        slopes *= -chance * (chance + FAR) / self.draws
        left, along = self._basis
        back = left @ cho_solve(factor, along.T @ slopes, check_finite=False)
        by_precision = np.einsum("ij,ij->i", back, self._noise / (2 * np.sqrt(w))[:, None] - left @ moved)
        value = float((chance + FAR * np.log(chance)).mean())
        return value, self.law.power * self.law.precision(shares) * (by_precision @ self._units)

    def _moved(self, shares: Floats) -> tuple[Floats, Floats, tuple[Floats, bool], Floats]:
        left, along = self._basis
        w = self._units @ self.law.precision(shares)
        factor = cho_factor(left.T @ (w[:, None] * left), check_finite=False)
        moved = cho_solve(factor, left.T @ (np.sqrt(w)[:, None] * self._noise), check_finite=False)
        return along @ moved, moved, factor, w


def _sizes(both: Floats) -> Floats:
    """Deviations; 1 where there is none."""
    variances = np.diag(both)
    found: Floats = np.sqrt(np.where(variances > FAINT * variances.max(initial=FAINT), variances, 1.0))
    return found


def _noise(asked: Asked, size: int, draws: int, seed: int, law: Law) -> Floats:
    if isinstance(asked, str):
        name = [ord(letter) for letter in asked]
        return np.random.default_rng([seed, 1, *name]).standard_normal((size, draws))
    random = np.random.default_rng([seed, 0, *(number for column in asked for number in column)])
    if len(asked) > 1:
        return random.standard_normal((size, draws))
    found: Floats = contrasts(size + 1) @ law.noise(random, (size + 1, draws))
    return found

"""Distances: how far a model is from the table on each of several marginals, or in each of several boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.privacy.queries import checks
from facsimile.privacy.queries.base import Scores
from facsimile.table.boxes import Boxes
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import total
from facsimile.table.table import Counts, Table


@dataclass(frozen=True, eq=False)
class MarginalDistances(Scores):
    """wᵣ(‖Mᵣ(R) − modelᵣ‖₁ − biasᵣ) for each candidate marginal r, the model's answers rounded to integers.

    Theorem.  Δ = 2·max w.
    Proof.    A replaced record moves one cell of Mᵣ down and one up by 1, the model and the bias are public,
      so the L1 distance of integer vectors moves by at most 2; a weight multiplies it. Counts and model lie
      within ±2^53 [A] and their distance is an exact sum [B], so nothing wraps.  QED
    """

    models: tuple[tuple[Clique, Counts], ...]
    weights: tuple[Fraction, ...] | None = None
    biases: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        if any(not np.issubdtype(model.dtype, np.integer) for _, model in self.models):
            raise TypeError("a model's answers are rounded to integers before they enter a score")
        if any(weight <= 0 for weight in self.weights or ()):
            raise ValueError("weights are positive")

    def check(self, domain: Domain, n: int) -> None:
        """Models shaped like their marginals, as many weights and biases."""
        checks.records(n)
        checks.require(len(self.models) > 0, "a candidate")
        for clique, model in self.models:
            checks.columns(domain, clique)
            checks.integral(model, domain.project(clique).shape, checks.MOST_RECORDS)  # [A]
        for given in (self.weights or (), self.biases or ()):
            checks.require(len(given) in (0, len(self.models)) and checks.exact(given), "a weight or a bias")

    def values(self, table: Table) -> Sequence[int | Fraction]:
        weights = self.weights or (Fraction(1),) * len(self.models)
        biases = self.biases or (Fraction(0),) * len(self.models)
        distances = [total(np.abs(table.marginal(clique) - model)) for clique, model in self.models]  # [B]
        return [w * (d - b) for w, d, b in zip(weights, distances, biases, strict=True)]

    def sensitivity(self) -> Fraction:
        return 2 * max(self.weights or (Fraction(1),))


@dataclass(frozen=True, eq=False)
class BoxDistances(Scores):
    """|cᵢ(R) − modelᵢ| for each of some boxes, cᵢ the number of records in it, the model's answers integers.

    Theorem.  Δ = 1.
    Proof.    A box is a fixed set of rows of the public domain [A]. A replaced record leaves it, enters it, or
      neither, so cᵢ moves by at most 1, and its distance to a public number no more. cᵢ is an exact sum
      (Boxes.sums) of at most n < 2^53 [B], and Python's integers take the difference [C].  QED
    """

    boxes: Boxes
    model: Counts

    def check(self, domain: Domain, n: int) -> None:
        """Boxes inside a domain whose rows can be counted, and an answer for each."""
        checks.records(n)  # [B]
        checks.columns(domain, domain.names)
        checks.require(type(self.boxes) is Boxes and self.boxes.inside(domain.shape), "boxes of rows")  # [A]
        checks.integral(self.model, (len(self.boxes),), checks.MOST_RECORDS)

    def values(self, table: Table) -> Sequence[int | Fraction]:
        counts = self.boxes.sums(table.marginal(table.domain.names))  # [B]
        return [abs(c - m) for c, m in zip(counts.tolist(), self.model.tolist(), strict=True)]  # [C]

    def sensitivity(self) -> Fraction:
        return Fraction(1)

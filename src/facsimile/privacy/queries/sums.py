"""Worst sums: how far sums over records are from where the candidate says they should be.

A record contributes an integer that depends on its cell and on public numbers only. Ranges, quantiles,
correlations and named queries are all of this form.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks
from facsimile.privacy.queries.base import Query, worst_excess
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Ints, dot, frozen
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class Sums:
    """Some sums over one marginal: a line of `terms` for each, shaped like the marginal; where each should be;
    and what makes one of its units."""

    clique: Clique
    terms: Ints
    centres: tuple[int, ...]
    units: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", frozen(self.terms))

    def check(self, domain: Domain) -> None:
        """Lines of terms shaped like the marginal; as many centres and units."""
        checks.columns(domain, self.clique)
        checks.integral(self.terms, (len(self.centres), *domain.project(self.clique).shape))
        checks.require(all(type(centre) is int for centre in self.centres), "a centre")
        checks.require(len(self.units) == len(self.centres) and checks.exact(self.units), "a unit for each sum")
        checks.require(min(self.units) > 0, "a unit")

    def errors(self, table: Table) -> list[Fraction]:
        """How far each sum lies above its centre."""
        sums = dot(self.terms.reshape(len(self.terms), -1), table.marginal(self.clique).ravel())  # [B]
        return [
            (int(s) - centre) / unit for s, centre, unit in zip(sums, self.centres, self.units, strict=True)
        ]

    def ranges(self) -> list[Fraction]:
        """How far one record can move each: its largest term minus its smallest."""
        flat = self.terms.reshape(len(self.terms), -1)
        return [(int(t.max()) - int(t.min())) / unit for t, unit in zip(flat, self.units, strict=True)]


@dataclass(frozen=True, eq=False)
class WorstSum(Query):
    """max over sums of (Σ_R t − centre)/unit, and at least 0.

    Theorem.  Δ = max over sums of (max t − min t)/unit.
    Proof.    A replacement takes one term out of each sum and puts another in, so a sum moves by at most the
      range of its terms over the public domain [A]; a maximum moves no more than its terms. Sums are exact
      however large the terms are [B].  QED
    """

    parts: tuple[Sums, ...]

    def check(self, domain: Domain, n: int) -> None:
        checks.records(n)
        checks.require(len(self.parts) > 0 and all(type(part) is Sums for part in self.parts), "a sum")
        for part in self.parts:
            part.check(domain)

    def value(self, table: Table, noise: Noise) -> Fraction:
        return max(Fraction(0), *(error for part in self.parts for error in part.errors(table)))

    def sensitivity(self) -> Fraction:
        return max(self._moves)

    def steps(self, threshold: Fraction) -> list[Fraction]:
        return self._moves

    @cached_property
    def _moves(self) -> list[Fraction]:
        return [move for part in self.parts for move in part.ranges()]  # [A]

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        errors = (error for part in self.parts for error in part.errors(table))
        return worst_excess(zip(errors, self._moves, strict=True), threshold)

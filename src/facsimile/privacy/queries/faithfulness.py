"""Faithfulness: the share of released records without a partner of their own in the confidential table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks
from facsimile.privacy.queries.base import Share
from facsimile.table.domain import Domain
from facsimile.table.matching import MOST_FLOW, Likeness, matched
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class Unmatched(Share):
    """(n − maximum matching)/n between R and S; the matching itself never leaves the process.

    Theorem.  Δ = 1/n.
    Proof.    Take a maximum matching of R and S. Replacing one record of R unmatches at most one pair, and what
      is left is a matching of R' and S; so maxima differ by at most 1. The maximum is exact (a flow), without
      heuristic or time-out.  QED
    """

    likeness: Likeness

    def check(self, domain: Domain, n: int) -> None:
        """A candidate of n records, few enough for a flow; a rule for every column."""
        checks.sized(self.candidate, domain, n)
        checks.require(n <= MOST_FLOW, "a matching of too many records")
        checks.like(self.likeness, domain)

    def value(self, table: Table, noise: Noise) -> Fraction:
        return 1 - Fraction(matched(table, self.candidate, self.likeness), self.candidate.n)

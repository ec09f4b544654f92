"""Information: how strongly each of several columns depends on candidate parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from facsimile.privacy.queries import checks
from facsimile.privacy.queries.base import Scores
from facsimile.table.domain import Domain, Versions, columns_of
from facsimile.table.table import Table


@dataclass(frozen=True, eq=False)
class Dependences(Scores):
    """Σ|D|, D(x,π) = n·c(x,π) − c(x)·c(π), for each candidate (x, π): 2n² times the R score of PrivBayes.

    A parent is a column, or a coarser version of it: the group of every code. c counts records.

    Theorem.  Δ = 6n; Δ = 4n where every candidate has a side, x or all of π, with at most two values. R has n
      records (by check); D is exact: each product is at most n², in Python's integers where n ≥ 2^30 [C].
    Proof.    Replacing a record moves n·c(x,π) by at most 2n in L1 [A]. It moves the outer product by
      (a' − a)b'ᵀ + a(b' − b)ᵀ, a and b the two sides' counts, each of sum n: by at most 2n + 2n [B]. In all 6n.
      Two values 0, 1 of a side, the other side y: rows and columns of D add up to 0, so Σ|D| = 2Σ|D(0,y)| with
      D(0,y) = (n−k)c(0,y) − k·c(1,y), k = c(0). A record that stays at 0 moves it by at most 2(n−k), at 1 by
      2k. One that goes from (0,y) to (1,z) moves it by c(·) − (n−k+1)e_y − (k−1)e_z, in L1 at most 2n.  QED
    """

    domain: Domain
    candidates: tuple[tuple[str, Versions], ...]
    n: int

    def check(self, domain: Domain, n: int) -> None:
        """Candidates over this domain, a group for each code of a coarser version."""
        checks.records(self.n)
        checks.require(self.domain == domain and self.n == n, "another domain or size")
        checks.require(len(self.candidates) > 0, "a candidate")
        for x, parents in self.candidates:
            checks.columns(domain, (*columns_of(parents), x), parents)

    def values(self, table: Table) -> Sequence[int | Fraction]:
        return [self._score(table, *candidate) for candidate in self.candidates]

    def sensitivity(self) -> Fraction:
        size = self.domain.size
        sides = [min(size((x,)), size(columns_of(pi), pi)) for x, pi in self.candidates]
        return Fraction((4 if max(sides) <= 2 else 6) * self.n)

    def _score(self, table: Table, x: str, parents: Versions) -> int:
        counts = table.marginal((*columns_of(parents), x), parents).reshape(-1, self.domain.size((x,)))
        exact = counts.astype(np.int64 if self.n < 2**30 else object)  # [C]
        return int(np.abs(self.n * exact - exact.sum(1)[:, None] * exact.sum(0)).sum())  # [A] [B]

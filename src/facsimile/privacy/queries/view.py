"""Views: a query about what is read of each record by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from facsimile.privacy.noise import Noise
from facsimile.privacy.queries import checks
from facsimile.privacy.queries.base import Query
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from facsimile.table.view import View


@dataclass(frozen=True, eq=False)
class Viewed(Query):
    """A listed query, asked about the view of the confidential table: an event, crossed groups, fewer columns.

    Theorem.  Δ is that of the query.
    Proof.    A view gives every record of R, by its own cell and public tables only, one record of V(R) [A]. So
      V(R) has n records, and if R' differs from R in one record, V(R') differs from V(R) in that record's view
      or not at all. By check the query has a value and its Δ for every table of n records over the view's
      domain [B], whichever of its cells a view can reach. The same holds for the excess and its steps.  QED
    """

    view: View
    query: Query

    def check(self, domain: Domain, n: int) -> None:
        """A view of the domain; a query of another listed kind that fits what it shows."""
        from facsimile.privacy.queries import QUERIES, WorstExcess

        checks.view(self.view, domain)
        checks.require(type(self.query) in QUERIES, "a query of the listed kinds")
        checks.require(type(self.query) not in (Viewed, WorstExcess), "a view of a view, or of several queries")
        self.query.check(self.view.domain, n)  # [B]

    def value(self, table: Table, noise: Noise) -> int | Fraction:
        return self.query.value(self.view.of(table), noise)  # [A]

    def sensitivity(self) -> Fraction:
        return self.query.sensitivity()

    def steps(self, threshold: Fraction) -> Sequence[Fraction]:
        return self.query.steps(threshold)

    def excess(self, table: Table, threshold: Fraction, noise: Noise) -> Fraction:
        return self.query.excess(self.view.of(table), threshold, noise)


def seen(view: View, query: Query) -> Query:
    """The query behind a view; itself where the view shows everything as it is."""
    return query if view.trivial else Viewed(view, query)

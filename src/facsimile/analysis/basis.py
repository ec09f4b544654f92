"""Basis: everything a release says about the original. Answers follow from it, and nothing else is needed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import Measured
from facsimile.acceptance.regression import Fit
from facsimile.privacy.budget import Rho
from facsimile.spec.release import Specification
from facsimile.table.domain import Clique
from facsimile.table.exact import Ints
from facsimile.table.table import Table

Form = Literal["fixed", "planned", "chosen"]


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Counts of some columns of the original, each with integer noise of its own.

    `groups[i]` is the group of each code of column i, and `counts` has a cell for each combination of groups.
    The noise is discrete Laplace of ratio exp(−share/2) where the share is an ε, discrete Gaussian of variance
    1/share where it is a ρ.

    `form` says what was known of it before any noise was drawn: all of it (`fixed`), its columns, but not their
    groups, which follow from earlier answers (`planned`), or nothing (`chosen`, by earlier answers).
    """

    columns: Clique
    groups: tuple[Ints, ...]
    counts: Ints
    share: Fraction
    form: Form = "chosen"

    @property
    def gaussian(self) -> bool:
        """Whether the noise is a discrete Gaussian's."""
        return isinstance(self.share, Rho)


@dataclass(frozen=True, eq=False)
class Basis:
    """A released table, what was measured of it, and the noisy tables that it was made from.

    `planned`: the columns of every table of that form, whether its groups let it say anything or not. `more`:
    there may be tables that were chosen by earlier answers. `specification` is the one of as many records as
    the table has.
    """

    specification: Specification
    table: Table
    measured: tuple[Measured, ...]
    fit: Fit | None = None
    refit: Fit | None = None
    tables: tuple[NoisyTable, ...] = ()
    planned: tuple[Clique, ...] = ()
    more: bool = True

    @property
    def n(self) -> int:
        """The number of records, of the original and of the release."""
        return self.table.n

    @property
    def candidate(self) -> Candidate:
        """The released table with its questions."""
        return Candidate(self.specification, self.table, self.fit, self.refit)

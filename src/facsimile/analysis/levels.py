"""Levels: how sure every part of an answer must be, so that the answer is as sure as it says.

Noise of the tables helped to make the release, so acceptance may favour some of it. An event that one index has
with probability β is released with at most Λ(β) by the whole search (modes.py); β = luck(α) makes that α. Where
the fit came before the search (train-once) an event of its noise has probability α once, whatever the search
does. Where a search goes on until it succeeds, there is no such bound, and tables claim nothing.

Noise of the criteria is drawn for a candidate that is fixed. Measured after acceptance, or with its own law cut
at the threshold (scheme `paper`, `upper_if_accepted`), a bound holds given the release. In scheme `measured`
the noise decides in the index: its events share β = luck(α) with those of the tables.

Theorem.  Let the tables have the part w of α, and the criteria the rest. Outside scheme `measured` let the
  tables' intervals miss in an index with probability at most luck(wα), and the criteria's given the release
  with at most (1−w)α; in scheme `measured`, in an index with at most w·luck(α) and (1−w)·luck(α). The
  probability that a table is released and one of them misses is at most α. The same holds for K questions
  together where each has the K-th part of every level.
Proof.    Outside `measured`: Λ(luck(wα)) ≤ wα, and what misses given a release with at most (1−w)α is released
  with at most that. In `measured`: an index misses with at most luck(α) in all, which is released with at most
  α. For K questions of one w the events of each source add up to its level. Λ is linear
  in `measured`, which adds up before it, in `train-once` and where one index is tried. Elsewhere questions of
  different w would not add up to α: there K questions have w = ½, whatever each of them asks.  QED
Where w is 0 and the criteria's bounds hold given the release, so does the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from facsimile.privacy.modes import Mode, mode_of
from facsimile.spec.release import Specification

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Levels:
    """What the tables' noise and the criteria's may miss with; None where they claim nothing.

    `of_search`: what is promised is about the whole search, not given its release. `selective`: the criteria's
    noise was cut by acceptance. `trusted`: thresholds hold as well as bounds do.
    """

    tables: float | None
    criteria: Fraction | None
    of_search: bool
    selective: bool
    trusted: bool


@dataclass(frozen=True)
class Confidence:
    """How sure an answer is, and with how many others it holds together."""

    specification: Specification
    alpha: Fraction
    together: int = 1

    @property
    def mode(self) -> Mode:
        """How the search may end."""
        return mode_of(self.specification.selection)

    @property
    def tables_speak(self) -> bool:
        """Whether the noise of tables has a bound over the search."""
        return self.specification.scheme == "train-once" or self.mode.halting

    @property
    def joint(self) -> bool:
        """Whether the criteria's noise decided in the index; only a search that may halt has that."""
        return self.specification.scheme == "measured"

    def shared(self, tables: Fraction) -> Levels:
        """The levels where the tables have this part of what may be missed."""
        k, rest = self.together, 1 - tables
        luck, trusted, own = self.alpha, False, tables * self.alpha
        part = rest
        if self.joint:
            luck = self._luck(self.alpha)
            trusted, own = self.mode.luck <= rest * luck / k, tables * luck
        elif self.specification.scheme != "train-once" and self.tables_speak:
            common = tables if k == 1 or not self.mode.repeats else HALF
            own, part = self._luck(common * self.alpha), 1 - common
        return Levels(
            float(own / k) if tables else None,
            part * luck / k if rest else None,
            bool(tables) or self.joint,
            self.specification.scheme == "paper",
            trusted,
        )

    def _luck(self, alpha: Fraction) -> Fraction:
        return replace(self.mode, false_accept=alpha).luck if alpha else Fraction(0)

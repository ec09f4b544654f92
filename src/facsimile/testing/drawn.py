"""What a mechanism draws: the law of its noise, its grid, and that no draw tells of another.

Each test fails honest code with probability at most α = 1e-6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from facsimile.privacy.mechanisms import Mechanism
from facsimile.privacy.noise import Integers, Noise, RehearsalNoise, SystemNoise
from facsimile.table.table import Table
from facsimile.testing.contract import require
from facsimile.testing.laws import counted, fits, likely
from facsimile.testing.overheard import CHOICES, Call, Overheard, numbers

OTHERS = (0.7, 1.3)
"""Scales that a law must not fit."""
APART = 250
"""How far, in units of the chi-square test, the laws of other scales lie from what is drawn: with it they are
rejected all but surely."""
DRAWS = 3_000
MOST_DRAWS = 60_000


@dataclass(frozen=True, eq=False)
class Drawn:
    """Many draws of one call of the sampler on one table: a line for each run, noise alone; or places."""

    call: Call
    draws: Integers

    @property
    def scale(self) -> tuple[float, float]:
        """The mean size that noise of the call's scale has, and the one that was seen; of a choice, the chance
        of the likeliest place."""
        law = self.call.law()
        if self.call.name in CHOICES:
            place = int(np.argmax(law))
            return float(law[place]), float(np.mean(self.draws == place))
        reach = self.call.reach
        sizes = np.abs(np.arange(-reach, reach + 1))
        return float(law @ sizes), float(np.abs(np.clip(self.draws, -reach, reach)).mean())

    def fits(self, times: float = 1.0) -> bool:
        """Whether the draws have the law of so many times the scale."""
        return fits(self.frequencies, self.call.law(times))

    @property
    def frequencies(self) -> Any:
        """How often each integer, or each place, was drawn."""
        if self.call.name in CHOICES:
            return np.bincount(self.draws.ravel(), minlength=self.call.values.size)
        return counted(self.draws.ravel(), self.call.reach)

    @property
    def atoms(self) -> bool:
        """Whether the exact value comes out as often as the law has it, of a number and of all numbers of a run
        at once; a choice has none."""
        if self.call.name in CHOICES:
            return True
        chance, exact = float(self.call.law()[self.call.reach]), self.draws == 0
        every = likely(int(exact.all(axis=1).sum()), len(exact), chance ** exact.shape[1])
        return every and likely(int(exact.sum()), exact.size, chance)

    @property
    def independent(self) -> bool:
        """Whether neighbouring cells, and the same cell of the next run, agree as often as by chance."""
        agree = float(np.sum(self.call.law() ** 2))
        beside = (
            self.draws[:, 1:] == self.draws[:, :-1],
            self.draws[1::2] == self.draws[: len(self.draws) // 2 * 2 : 2],
        )
        return all(_agreeing(pairs, agree) for pairs in beside if pairs.size)


def _agreeing(pairs: Any, chance: float) -> bool:
    """Of neighbouring pairs every other one is taken: they share no draw."""
    taken = pairs[:, ::2]
    return likely(int(taken.sum()), taken.size, chance)


def needed(mechanism: Mechanism[Any], table: Table) -> int:
    """How often it must be run on a table until no law fits another scale; a choice among equal scores never
    tells its noise."""
    heard = Overheard(RehearsalNoise(0))
    mechanism._sample(table, heard)
    require(bool(heard.calls), "it asks for no noise")
    return max(_runs(call, times) for call in heard.calls for times in OTHERS)


def _runs(call: Call, times: float) -> int:
    one, other = call.law(), call.law(times)
    distance = float(np.sum((one - other) ** 2 / np.maximum(other, 1e-12)))
    return ceil(max(DRAWS, min(10 * MOST_DRAWS, APART / max(distance, 1e-9))) / call.drawn.size)


def drawn(mechanism: Mechanism[Any], table: Table, runs: int, noise: Noise | None = None) -> list[Drawn]:
    """Run it so often; what comes out is what was drawn, number by number."""
    found, source = list[list[Call]](), noise or SystemNoise()
    for _ in range(runs):
        heard = Overheard(source)
        answer = mechanism._sample(table, heard)
        told = [int(number) for call in heard.calls for number in call.drawn.ravel()]
        require(numbers(answer) == told, "its answer is not what the sampler drew")
        found.append(heard.calls)
    require(len({len(calls) for calls in found}) == 1, "how often it asks for noise depends on the noise")
    return [_joined(calls) for calls in zip(*found, strict=True)]


def _joined(calls: Sequence[Call]) -> Drawn:
    first = calls[0]
    if first.name in CHOICES:
        return Drawn(first, np.array([call.drawn for call in calls]))
    return Drawn(first, np.array([(call.drawn - call.values).ravel() for call in calls]))


def check_noise(mechanism: Mechanism[Any], tables: Iterable[Table], noise: Noise | None = None) -> list[Drawn]:
    """The noise of a mechanism has the law that it is charged for, and of no other scale; answers are integers
    on their grid; the exact value is not drawn too often; no draw is used twice.

    Of the tables that one is taken on which the noise shows soonest.
    """
    runs, table = min(((needed(mechanism, table), table) for table in tables), key=lambda pair: pair[0])
    require(runs <= MOST_DRAWS, "no table shows the scale of its noise")
    found = drawn(mechanism, table, runs, noise)
    for one in found:
        require(one.fits(), "its noise has another law than it is charged for")
        require(not any(map(one.fits, OTHERS)), "its noise fits another scale too")
        require(one.atoms, "the exact value is drawn more or less often than by chance")
        require(one.independent, "draws repeat each other")
    return found

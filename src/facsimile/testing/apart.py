"""Apart: a lower bound on the privacy loss of a mechanism, from draws on two neighbouring tables.

    1  every draw gets a score: the log ratio that its answer would have if the noise were what is claimed
    2  on one half of the draws a threshold is chosen; the event is that a score lies beyond it
    3  on the other half the event is counted; Clopper and Pearson bound its two chances p and q, at α together
    4  ε is at least ln(p/q); with a δ at least ln((p − δ)/q); ρ is at least D_λ(p‖q)/λ for every order λ > 1

The bound holds for whatever was drawn, whether or not the scores are right: a score only chooses an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, log
from typing import Any

import numpy as np

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms import Mechanism, NoisyAnswer
from facsimile.privacy.noise import Integers, Noise, RehearsalNoise, SystemNoise
from facsimile.table.exact import Floats, integers
from facsimile.table.table import Table
from facsimile.testing.contract import require
from facsimile.testing.laws import ALPHA, at_least, at_most
from facsimile.testing.neighbours import Neighbours
from facsimile.testing.overheard import CHOICES, Call, Overheard, Retold

SHARE = Fraction(3, 2)
"""The ε that mechanisms are tried with: large enough to be seen in ten thousand draws."""
DRAWS = 10_000
BATCH = 250
ALIVE = 0.6
"""What a test of a tight pair finds at least: a harness that finds less is dead."""
ORDERS = (1.01, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)


class Bulk(SystemNoise):
    """Real noise, drawn for many runs at a time where the same numbers are asked about again and again."""

    def __init__(self) -> None:
        self._left: dict[Any, list[Integers]] = {}

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        return self._next(super().laplace, np.asarray(values), sensitivity, epsilon)

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        return self._next(super().gaussian, np.asarray(values), square, rho)

    def _next(self, draw: Callable[..., Integers], values: Integers, moved: int, share: Fraction) -> Integers:
        left = self._left.setdefault((draw.__name__, values.tobytes(), values.shape, moved, share), [])
        if not left:
            left.extend(draw(np.broadcast_to(values, (BATCH, *values.shape)), moved, share))
        return left.pop()


@dataclass(frozen=True)
class Apart:
    """What was claimed and the lower bound that was found, both as an ε; of a ρ as √(2ρ), which is the ε of an
    answer of that ρ at small ε and moves with the noise as ε does."""

    declared: float
    found: float

    @property
    def holds(self) -> bool:
        """Whether nothing was found against the claim."""
        return self.found <= self.declared

    @property
    def alive(self) -> bool:
        """Whether the test would have seen a loss that is much larger."""
        return self.found >= ALIVE * self.declared


def check_apart(
    mechanism: Mechanism[Any],
    pair: Neighbours,
    *,
    tight: bool = True,
    draws: int = DRAWS,
    noise: Noise | None = None,
) -> Apart:
    """Two neighbours are told apart no better than is charged, and on a tight pair not much worse."""
    found = apart(mechanism, pair, draws=draws, noise=noise)
    require(found.holds, "neighbours are told apart better than it is charged for")
    require(found.alive or not tight, "a tight pair is hardly told apart: the test is dead")
    return found


def apart(
    mechanism: Mechanism[Any], pair: Neighbours, *, draws: int = DRAWS, noise: Noise | None = None
) -> Apart:
    """What so many draws on each of two tables show about a mechanism."""
    source = noise or Bulk()
    sample = _sampler(mechanism, pair)
    scores = [_scores(sample, pair, side, source, draws) for side in (0, 1)]
    return of_scores(scores[0], -scores[1], mechanism.cost())


def _sampler(mechanism: Mechanism[Any], pair: Neighbours) -> Callable[[Table, Noise], Any]:
    """How it is sampled; an answer is drawn around its exact value, computed once, unless records are drawn."""
    if not isinstance(mechanism, NoisyAnswer):
        return mechanism._sample
    known: dict[int, Fraction] = {}
    for table in pair:
        heard = Overheard(SystemNoise())
        known[id(table)] = Fraction(mechanism.query.value(table, heard))
        if heard.below_drawn:
            return mechanism._sample
    return lambda table, noise: mechanism.around(known[id(table)], noise)


def _scores(
    sample: Callable[[Table, Noise], Any], pair: Neighbours, side: int, noise: Noise, draws: int
) -> Floats:
    """The log ratio of each of so many draws on a table: large where it makes them likelier than the other.

    What the other table has in the place of the numbers is found once, unless records are drawn.
    """
    found, others = np.empty(draws), list[Any]()
    for place in range(draws):
        heard = Overheard(noise)
        sample(pair[side], heard)
        if not others or heard.below_drawn:
            again = Retold(heard)
            sample(pair[1 - side], again)
            others = again.values
        found[place] = sum(ratio_of(call, other) for call, other in zip(heard.calls, others, strict=True))
    return found


def ratio_of(call: Call, other: Any) -> float:
    """ln P[drawn | values] − ln P[drawn | others], by the law that the call asks for."""
    if call.name in CHOICES:
        place = int(call.drawn[0])
        return float(log_law(call, call.values)[place] - log_law(call, other)[place])
    near, far = (np.abs(call.drawn - centre).astype(float) for centre in (call.values, other))
    if call.name == "laplace":
        return float((far - near).sum() / call.scale)
    return float((far**2 - near**2).sum() / (2 * call.scale**2))


def log_law(call: Call, scores: Any) -> Floats:
    """The logarithm of each place's chance where these are the scores."""
    return _chances(call.name, tuple(scores.tolist()), call.sensitivity, call.share)


@lru_cache(maxsize=1024)
def _chances(name: Any, scores: tuple[int, ...], sensitivity: int, share: Fraction) -> Floats:
    call = Call(name, integers(scores), sensitivity, share, np.zeros(1, np.int64))
    return np.log(np.maximum(1e-300, call.law()))


def of_scores(one: Floats, other: Floats, cost: Cost, alpha: float = ALPHA) -> Apart:
    """The bound from scores on two tables: half of them choose an event, that a score is large or small and
    likelier on the one or the other table, and the other half counts it."""
    chosen, counted = zip(*(np.array_split(scores, 2) for scores in (one, other)), strict=True)
    loss = loss_of(cost)

    def bound(halves: Sequence[Floats], place: int, sign: int, threshold: float) -> float:
        likelier, less = (sign * halves[side] for side in (place, 1 - place))
        return loss(_low(likelier, threshold, alpha), _high(less, threshold, alpha))

    cuts = np.unique(np.quantile(np.concatenate(chosen), np.linspace(0.005, 0.995, 199)))
    events = [(place, sign, float(sign * cut)) for place in (0, 1) for sign in (1, -1) for cut in cuts]
    best = max(events, key=lambda event: bound(chosen, *event))
    return Apart(_declared(cost), max(0.0, bound(counted, *best)))


def _low(scores: Floats, threshold: float, alpha: float) -> float:
    return at_least(int(np.sum(scores >= threshold)), len(scores), alpha / 2)


def _high(scores: Floats, threshold: float, alpha: float) -> float:
    return at_most(int(np.sum(scores >= threshold)), len(scores), alpha / 2)


def loss_of(cost: Cost) -> Callable[[float, float], float]:
    """From the least chance of an event on one table and the largest on the other, the least loss there is."""
    if cost.rho:
        return lambda p, q: (2 * max(0.0, divergence(p, q))) ** 0.5
    return lambda p, q: log((p - float(cost.delta)) / q) if p - float(cost.delta) > 0 < q else -inf


def _declared(cost: Cost) -> float:
    return (2 * float(cost.rho)) ** 0.5 if cost.rho else float(cost.epsilon)


def divergence(p: float, q: float) -> float:
    """The largest D_λ/λ of an event of chances p and q, over some orders; 0 where p ≤ q. D_λ grows with p and
    falls with q there, so bounds of them bound it."""
    if p <= q:
        return 0.0
    if q >= 1 or p >= 1:
        p, q = min(p, 1 - 1e-12), min(q, 1 - 1e-12)
    return max(
        log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1) / order
        for order in ORDERS
    )


def tightest(mechanism: Mechanism[Any], pairs: Iterable[Neighbours]) -> Neighbours:
    """The pair on which a record moves what noise is asked for furthest, in units of the noise."""
    return max(pairs, key=lambda pair: _moved(mechanism, pair))


def _moved(mechanism: Mechanism[Any], pair: Neighbours) -> float:
    heard = Overheard(RehearsalNoise(0))
    mechanism._sample(pair[0], heard)
    again = Retold(heard)
    mechanism._sample(pair[1], again)
    return sum(distance(call, other) for call, other in zip(heard.calls, again.values, strict=True))


def distance(call: Call, other: Any) -> float:
    """How far apart the laws of a call on two tables are: the largest log ratio; of Gaussian noise √(2ρ)."""
    if call.name in CHOICES:
        here, there = (log_law(call, scores) for scores in (call.values, other))
        return float(np.abs(here - there).max())
    moved = np.abs(call.values - other).astype(float)
    return float(moved.sum() if call.name == "laplace" else np.sqrt((moved**2).sum())) / call.scale

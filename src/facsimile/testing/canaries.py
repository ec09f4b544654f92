"""Canaries: one strange record, and how much the answers to a synthesizer's questions tell about it, exactly.

A table of n − 1 equal records has one more of the same, or one that differs in every column. A synthesizer is
fitted to one of the two, with real noise. For each call of the sampler it is known what the other table would
have in the place of the numbers, so the log ratio of what was drawn is known exactly, not estimated. Each part
is held against its own share: whether it exceeds it does not depend on luck.

    laplace           |Σ(|y − v'| − |y − v|)| ≤ Δ, in integers                                     ε
    gaussian          ‖v − v'‖² ≤ Δ², in integers; of steps on random batches (2Δ)²                ρ
    argmax            |ln P[i] − ln P'[i]| ≤ ε for every place i, by the law of permute-and-flip   ε
    gumbel            D_λ ≤ λρ for several orders, by the law of the exponential mechanism         ρ
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms import Mechanism, NoisySteps
from facsimile.privacy.noise import Noise, RehearsalNoise
from facsimile.synthesizers.base import Known, Synthesizer
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from facsimile.testing.apart import ALIVE, ORDERS, distance, log_law, ratio_of
from facsimile.testing.contract import require
from facsimile.testing.neighbours import Neighbours, small_domain
from facsimile.testing.overheard import Call, Overheard, Retold

T = TypeVar("T")
TRANSCRIPTS = 25
ROUNDED = 1e-9
"""Laws of choices are floats; what is compared with a share may be off by so much."""


def canary(columns: int = 3, n: int = 4, size: int = 3, alike: int = 0) -> Neighbours:
    """n − 1 records (0, …, 0), and one that is 1 in all columns but the last `alike`, or one more of them."""
    domain = small_domain(*(size,) * columns)
    rest, strange = [[0] * columns] * (n - 1), [1] * (columns - alike) + [0] * alike
    return Table.from_rows(domain, [*rest, strange]), Table.from_rows(domain, [*rest, [0] * columns])


@dataclass(frozen=True)
class Part:
    """One call: which mechanism made it, by which noise, and how much of its share the laws on the two tables
    are apart; of a pure share also how much of it this draw told."""

    mechanism: str
    noise: str
    apart: float
    told: float | None


class Witness:
    """Answers on one table, and knows what the other would have been asked."""

    def __init__(self, pair: Neighbours, noise: Noise, parts: list[Part]) -> None:
        self.domain, self._pair, self._noise, self.parts = pair[0].domain, pair, noise, parts

    def run(self, mechanism: Mechanism[T]) -> T:
        """The answer on the first table."""
        heard = Overheard(self._noise)
        answer = mechanism._sample(self._pair[0], heard)
        asked = sum((Cost.of(call.share) for call in heard.calls), Cost())
        learns = isinstance(mechanism, NoisySteps)
        require(learns or mechanism.cost() == asked, "it asks the sampler for more than it is charged")
        again = Retold(heard)
        mechanism._sample(self._pair[1], again)
        for call, other in zip(heard.calls, again.values, strict=True):
            self.parts.append(_part(mechanism, call, other))
        return answer

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Witness:
        """The same for both tables under other axes."""
        one, other = (table.recode(domain, maps) for table in self._pair)
        return Witness((one, other), self._noise, self.parts)


def _part(mechanism: Mechanism[Any], call: Call, other: Any) -> Part:
    name, share = type(mechanism).__name__, float(call.share)
    if call.name == "gumbel":
        return Part(name, call.name, _divergence(call, other) / share, None)
    if call.name == "gaussian":
        most = (4 if isinstance(mechanism, NoisySteps) else 1) * call.sensitivity
        return Part(name, call.name, sum(gap * gap for gap in _gaps(call.values, other)) / most, None)
    if call.name == "argmax":
        return Part(name, call.name, distance(call, other) / share, abs(ratio_of(call, other)) / share)
    told = sum(_gaps(call.drawn, other)) - sum(_gaps(call.drawn, call.values))
    return Part(
        name, call.name, sum(_gaps(call.values, other)) / call.sensitivity, abs(told) / call.sensitivity
    )


def _gaps(one: Any, other: Any) -> list[int]:
    """How far numbers are from others, in integers."""
    return [abs(int(a) - int(b)) for a, b in zip(one.ravel(), other.ravel(), strict=True)]


def _divergence(call: Call, other: Any) -> float:
    """The largest D_λ/λ of the two laws, either way round."""
    one, two = log_law(call, call.values), log_law(call, other)
    orders = [(p, q, order) for p, q in ((one, two), (two, one)) for order in ORDERS]
    return max(float(np.log(np.exp(o * p + (1 - o) * q).sum())) / (o - 1) / o for p, q, o in orders)


def witnessed(
    synthesizer: Synthesizer, known: Known, share: Fraction, pair: Neighbours, noise: Noise, seed: int = 1
) -> list[Part]:
    """Every call of one fit."""
    witness = Witness(pair, noise, [])
    synthesizer.fit(witness, known, share, np.random.default_rng(seed))
    return witness.parts


def witness_of(
    synthesizer: Synthesizer,
    known: Known,
    share: Fraction,
    *,
    columns: int = 3,
    transcripts: int = TRANSCRIPTS,
    noise: Noise | None = None,
) -> list[Part]:
    """Every call of many fits. Either table is the one that is fitted; the strange record differs in every
    column, or in all but one, so that it breaks ties between what is selected."""
    pairs = [turned for alike in (0, 1) for turned in _both_ways(canary(columns, alike=alike))]
    parts: list[Part] = []
    for seed in range(transcripts):
        pair = pairs[seed % len(pairs)]
        parts += witnessed(synthesizer, known, share, pair, noise or RehearsalNoise(seed), seed)
    return parts


def check_canary(
    synthesizer: Synthesizer,
    known: Known,
    share: Fraction,
    *,
    transcripts: int = TRANSCRIPTS,
    least: float = ALIVE,
) -> list[Part]:
    """In many fits no answer tells more about the strange record than the share it was charged for; and some
    part may tell `least` of its share, or the test is dead."""
    parts = witness_of(synthesizer, known, share, transcripts=transcripts)
    require(bool(parts), "it asks nothing")
    for part in parts:
        require(part.apart <= 1 + ROUNDED, f"{part.mechanism} tells more about one record than its share")
        require(part.told is None or part.told <= 1 + ROUNDED, "an answer tells more than its share")
    require(max(part.apart for part in parts) >= least, "the strange record is hardly seen: the test is dead")
    return parts


def _both_ways(pair: Neighbours) -> tuple[Neighbours, Neighbours]:
    return pair, (pair[1], pair[0])

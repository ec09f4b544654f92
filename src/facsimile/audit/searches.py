"""Searches: what the modes of a search cost, worked out from their coins, and seen in real searches.

An index accepts x with probability Q(x). Among neighbours the worst pair has one outcome x whose Q falls by e^ε
while all that is accepted rises as far as it may: then P[x] = Q(x)·h(π) moves by e^ε·h(π)/h(π').
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import exp, inf, log

import numpy as np

from facsimile.documents.evidence import Evidence
from facsimile.privacy.budget import Cost
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.mechanisms import NoisyAnswer
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import CappedCoin, Coin, Mode, RisingCoin, Single, UntilSuccess
from facsimile.privacy.noise import SystemNoise
from facsimile.privacy.queries import WorstSum
from facsimile.privacy.queries.sums import Sums
from facsimile.privacy.reader import rehearse
from facsimile.table.table import Table
from facsimile.testing import small_domain
from facsimile.testing.apart import ALIVE, SHARE, Apart, Bulk, of_scores

DRAWS = 8_000
GRAIN = 10**9
LONGEST = 4_000
"""Indices after which what is left of a series is bounded, not summed."""
LUCK = Fraction(1, 20)
MODES: tuple[tuple[str, Mode], ...] = (
    ("modes.Coin", Single(false_accept=LUCK)),
    ("modes.Coin", UntilSuccess(false_accept=LUCK)),
    ("modes.Coin", Coin(gamma=LUCK, false_accept=LUCK)),
    (
        "modes.CappedCoin",
        CappedCoin(gamma=Fraction(1, 20), cap=60, epsilon_0=Fraction(1, 5), false_accept=LUCK),
    ),
    ("modes.RisingCoin", RisingCoin(a=Fraction(1, 2), false_accept=LUCK)),
)


def tried(mode: Mode, chance: float) -> float:
    """The expected number of indices, summed from the coins themselves: each with the probability that all
    before it failed and went on."""
    going, found = 1.0, 0.0
    for index in range(1, LONGEST):
        found += going
        going *= (1 - chance) * (1 - float(mode.halts_after(index)))
        if going < 1e-15:
            break
    return found


def worst(mode: Mode, one: float) -> float:
    """The largest log ratio of an outcome between neighbours, over a grid of what an index may do."""
    found = 0.0
    for chance in np.concatenate([np.linspace(0.02, 0.98, 49), [1 / (1 + exp(one))]]):
        more = min(exp(one) * chance, 1 - exp(-one) * (1 - chance))
        here, there = tried(mode, float(chance)), tried(mode, float(more))
        found = max(found, one + log(here / there), _nothing(mode, chance * here, more * there))
    return found


def _nothing(mode: Mode, released: float, other: float) -> float:
    """The log ratio of ending without a release."""
    if not mode.halting or 1 - released < 1e-9:
        return 0.0
    return log((1 - released) / (1 - other)) if other < 1 else inf


def costs() -> Iterator[Evidence]:
    """What each mode costs, against the worst neighbours by its own coins."""
    for theorem, mode in MODES:
        declared, found = float(mode.cost(SHARE)), worst(mode, float(SHARE))
        holds = ALIVE * declared <= found <= declared * (1 + 1e-9)
        said = "the worst outcome of a search, worked out from its coins"
        yield Evidence(
            theorem, "distinguished", f"mode {mode.name}", said, declared, found, holds, ALIVE * declared
        )


def seen(mode: Mode, draws: int = DRAWS) -> Apart:
    """Real searches with coins from the system, on neighbours that are nearly the worst there are: an outcome
    that falls from 2 % by e^ε, while all that is accepted rises as far as it may."""
    one, noise = float(SHARE), SystemNoise()
    strange, every = 0.02, 1 / (1 + exp(one))
    fewer = strange * exp(-one)
    more = fewer + min(exp(one) * (every - strange), 1 - exp(-one) * (1 - every) - fewer)
    plan, scores = Plan(Fraction(0), SHARE, Fraction(0), mode), []
    for odd, accepted in ((strange, every), (fewer, more)):
        ends = int(odd * GRAIN), int(accepted * GRAIN)

        def index(number: int, ends: tuple[int, int] = ends) -> bool | None:
            drawn = noise.below(GRAIN)
            return None if drawn >= ends[1] else drawn < ends[0]

        scores.append(np.array([plan.search(index, noise) is True for _ in range(draws)], float))
    return of_scores(scores[0], scores[1], Cost(plan.total().epsilon))


def planned(draws: int = DRAWS) -> Apart:
    """A whole plan through the curator: a charge, an allowance, one index that a noisy count decides."""
    domain = small_domain(2)
    count = NoisyAnswer(WorstSum((Sums(("a",), np.array([[0, 1]]), (0,), (Fraction(1),)),)), SHARE)
    plan, scores = Plan(Fraction(0), SHARE, Fraction(0), MODES[0][1]), []
    for rows in ([[0], [0], [1]], [[0], [1], [1]]):
        sealed, noise = rehearse(Table.from_rows(domain, rows)), Bulk()
        scores.append(
            np.array([_outcome(Curator(sealed, MemoryLedger(), noise), plan, count) for _ in range(draws)])
        )
    return of_scores(scores[0], scores[1], plan.total())


def _outcome(curator: Curator, plan: Plan, count: NoisyAnswer) -> float:
    """One search as a number: the fewer records it finds, the more it speaks for the first table."""
    with curator.search(plan, "audit") as search:
        found = search.find(lambda answers, _: answers.run(count).units)
    return -float(found or 0)


def searches() -> Iterator[Evidence]:
    """Real searches with every mode: nothing is found against what they are charged."""
    for theorem, mode in MODES:
        said = "outcomes of real searches on two neighbours, told apart"
        yield _found(theorem, f"mode {mode.name}, real coins", said, seen(mode))
    said = "a whole plan on two neighbours, through the curator, told apart"
    yield _found("mechanisms.search.Plan", "one index", said, planned(), ALIVE)


def _found(theorem: str, case: str, said: str, seen: Apart, share: float | None = None) -> Evidence:
    return Evidence.bounded(theorem, "distinguished", case, said, seen.declared, seen.found, share)

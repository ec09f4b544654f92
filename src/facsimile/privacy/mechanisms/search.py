"""Private search: repeat a private index until it succeeds or a coin halts it. The index is a callback.

An index has one outcome: success, halt or neither; its coin is drawn before it runs, and success precedes halt.
What is never shown: how many indices ran, how long they took, and what they found before the last one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from facsimile.privacy.budget import Cost
from facsimile.privacy.modes import Mode
from facsimile.privacy.noise import Noise
from facsimile.privacy.renyi import Curve, epsilon_of, rho_of
from facsimile.privacy.transcript import INDEX

T = TypeVar("T")


@dataclass(frozen=True)
class Approximate:
    """What a generator may spend where δ is declared, beside the pure parts of a plan: ρ; or, where the space
    has a family without ρ, an (ε, δ) of its own, at which ρ holds too. `once`: before the search, not in it.
    """

    delta: Fraction
    rho: Fraction
    own: Cost | None = None
    once: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1 or self.rho <= 0:
            raise ValueError("delta lies between 0 and 1, and rho is positive")
        if self.own is not None and epsilon_of(self.rho, self.own.delta) > self.own.epsilon:
            raise ValueError("rho does not hold at the epsilon and delta of its own")

    @classmethod
    def of(
        cls, epsilon: Fraction, delta: Fraction, own: Fraction | None = None, once: bool = False
    ) -> Approximate:
        """A fit with this ε at the declared δ; or, where a family has an (ε, δ) of its own, at that δ."""
        if own is None:
            return cls(delta, rho_of(epsilon, delta), None, once)
        return cls(delta, rho_of(epsilon, own), Cost(epsilon, own), once)

    @property
    def options(self) -> tuple[Cost, ...]:
        """What a fit may spend: one of these."""
        return (Cost(rho=self.rho), *(() if self.own is None else (self.own,)))


@dataclass(frozen=True)
class Plan:
    """What a release spends: once before the search, in each index, and once after success; all of it pure but
    for what a generator may spend where δ is declared.

    Neighbours.  Replace one record; n is public.
    Theorem.     The release is (once + SEL(index) + after)-DP, SEL as modes.py proves it; with δ declared it is
      (ε, δ)-DP with the ε of `total`.
    Needs.       Indices are independent, each `index`-DP; coins and configurations come from a public law [A];
      the lowest index that succeeds, fails or halts decides [B]; one process works under a charge
      (ledger.begin); a decision is on disk before anything depends on it and is never drawn again
      (release/journal.py).
    Proof.       The first part does not depend on the search; the search is a private selection; the last part
      sees one selected candidate. The three compose. An exception that leaves an index is an outcome like a
      success: it ends the search [B], its probability is part of Q, and nothing is released under the charge
      afterwards. A crash discards whole indices and what came before them, unseen; what runs again does so
      with fresh randomness, so the law of the decision is that of a search without a crash. A rising or capped
      coin counts its indices, which a crash forgets: such a search is not resumed and releases nothing.
      With δ: a family of ρ and pure parts compose as a `Curve`, one whose index has ρ in the form of Coin's
      second theorem [C]; before the search ρ leaves the index pure, and SEL of it is one more pure part [D].
      Where a family has an (ε, δ) of its own, every family is that: ρ holds there too (Approximate), and pure
      parts add to its ε [E]; an index of it goes through Coin's second theorem [F]. All parts are fixed in
      advance, so either ends in the ε of the declared δ.  QED

    Theorem.     The law of the outcome is the same for every number of workers.
    Needs.       What an index does follows from its own draws and from `once`; also its failure is its own
      (curator.Search).
    Proof.       Index j and its coin draw for themselves, whatever runs beside them; the outcome is that of the
      lowest j that succeeds, raises or halts [B], a function of these draws. More workers run some indices
      beyond it, whose results and exceptions nobody asks for [G].  QED
    """

    once: Fraction
    index: Fraction
    after: Fraction
    mode: Mode
    approximate: Approximate | None = None

    def total(self) -> Cost:
        """The one charge, taken before a record is seen."""
        beside = self.approximate
        if beside is None:
            return Cost(self.once + self.mode.cost(self.index) + self.after)
        if beside.own is not None:
            first, own = (self.once + self.after, beside.own)
            if beside.once:
                return self._within(first + own.epsilon + self.mode.cost(self.index), own.delta)  # [E]
            one = own.epsilon + self.index
            return self._within(first + self.mode.cost(one), self.mode.delta(one, own.delta))  # [F]
        if beside.once:
            pure = (self.once, self.mode.cost(self.index), self.after)
            return Cost(Curve(beside.rho, pure).epsilon(beside.delta), beside.delta)  # [D]
        pull, inside = self.mode.pull(), Curve(beside.rho, (self.index,))
        every = Curve(beside.rho, (self.once, self.index, self.after))
        return Cost(every.epsilon(beside.delta, inside.kept(pull), pull), beside.delta)  # [C]

    def _within(self, epsilon: Fraction, delta: Fraction) -> Cost:
        if self.approximate is None or delta > self.approximate.delta:
            raise ValueError("the parts exceed the declared delta")
        return Cost(epsilon, self.approximate.delta)

    def spendable(self, part: Fraction, first: bool) -> tuple[Cost, ...]:
        """What may be spent before the search (`first`), or in an index: a pure part, and beside it what a
        generator may spend there."""
        beside = self.approximate
        if beside is None or beside.once is not first:
            return (Cost(part),)
        return tuple(Cost(part) + option for option in beside.options)

    def search(self, index: Callable[[int], T | None], noise: Noise, workers: int = 1) -> T | None:
        """The success of the lowest index that succeeds or halts, or None, after every lower one has finished.

        Indices run in parallel; those beyond the deciding one are thrown away whole.
        """
        running: deque[tuple[bool, Future[T | None]]] = deque()
        started, last = 0, False
        with ThreadPoolExecutor(max(1, workers)) as pool:
            while True:
                while len(running) < max(1, workers) and not last:
                    started += 1
                    context = copy_context()
                    context.run(INDEX.set, started)
                    last = context.run(noise.coin, self.mode.halts_after(started))  # [A]
                    running.append((last, pool.submit(context.run, index, started)))
                halts, lowest = running.popleft()
                found = lowest.result()  # [B] [G]
                if found is not None or halts:
                    return found

"""Private search: repeat a private index until it succeeds or a coin halts it. The index is a callback.

An index has one outcome: success, halt or neither; its coin is drawn before it runs, and success precedes halt.
What is never shown: how many indices ran, how long they took, and what they found before the last one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from facsimile.privacy import budget
from facsimile.privacy.budget import Cost
from facsimile.privacy.noise import Noise
from facsimile.spec.release import Selection

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """What a release spends: once before the search, in each index, and once after success.

    Neighbours.  Replace one record; n is public.
    Theorem.     The release is (once + SEL(index) + after)-DP, SEL as budget.py proves it.
    Proof.       The first part does not depend on the search; the search is a private selection whose indices
      are independent, each `index`-DP, with coins and configurations drawn from a public law; the last part
      sees one selected candidate. The three compose.  QED
    """

    once: Fraction
    index: Fraction
    after: Fraction
    selection: Selection

    def searched(self) -> Fraction:
        """SEL(index): what the whole search costs."""
        chosen, one = self.selection, self.index
        if chosen.mode == "paper":
            return budget.selection_until_success(one)
        if chosen.mode == "coin":
            return budget.selection_coin(one, chosen.gamma)
        if chosen.mode == "rising-coin":
            return budget.selection_rising(one, chosen.a or Fraction(1))
        if chosen.mode == "capped-coin":
            return budget.selection_capped(one, chosen.gamma, chosen.epsilon_0 or Fraction(1), chosen.cap or 0)
        return one

    def total(self) -> Cost:
        """The one charge, taken before a record is seen."""
        return Cost(self.once + self.searched() + self.after)

    def parts(self) -> tuple[Cost, Cost, Cost]:
        """What may be spent once, in an index, and afterwards."""
        return Cost(self.once), Cost(self.index), Cost(self.after)

    def halts_after(self, index: int) -> Fraction:
        """The probability that a search halts after its j-th failure."""
        chosen = self.selection
        if chosen.mode == "rising-coin":
            return (chosen.a or Fraction(1)) / index
        if chosen.mode == "single" or (chosen.mode == "capped-coin" and index >= (chosen.cap or 0)):
            return Fraction(1)
        return chosen.gamma

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
                    last = noise.coin(self.halts_after(started))
                    running.append((last, pool.submit(index, started)))
                halts, lowest = running.popleft()
                found = lowest.result()
                if found is not None or halts:
                    return found

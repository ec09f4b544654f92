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
from facsimile.privacy.transcript import INDEX

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """What a release spends: once before the search, in each index, and once after success.

    Neighbours.  Replace one record; n is public.
    Theorem.     The release is (once + SEL(index) + after)-DP, SEL as modes.py proves it.
    Needs.       Indices are independent, each `index`-DP; coins and configurations come from a public law [A];
      the lowest index that succeeds or halts decides [B]; one process works under a charge (ledger.begin); a
      decision is on disk before anything depends on it and is never drawn again (release/journal.py).
    Proof.       The first part does not depend on the search; the search is a private selection; the last part
      sees one selected candidate. The three compose. An exception that leaves an index is an outcome like a
      success: it ends the search [B], its probability is part of Q, and nothing is released under the charge
      afterwards. A crash discards whole indices and what came before them, unseen; what runs again does so
      with fresh randomness, so the law of the decision is that of a search without a crash. A rising or capped
      coin counts its indices, which a crash forgets: such a search is not resumed and releases nothing.  QED
    """

    once: Fraction
    index: Fraction
    after: Fraction
    mode: Mode

    def total(self) -> Cost:
        """The one charge, taken before a record is seen."""
        return Cost(self.once + self.mode.cost(self.index) + self.after)

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
                found = lowest.result()  # [B]
                if found is not None or halts:
                    return found

"""A search: climbs from draft to draft by races between a draft and a change of it.

A move is compared with the draft it starts from on the same seeds, so that both meet the same luck, in an order
drawn for each race. A race ends as soon as the move is clearly better, or hardly worth another look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean

import numpy as np

from facsimile.explore.learning.draft import Draft, Texts
from facsimile.explore.learning.proposals import Move
from facsimile.explore.learning.slack import FURTHEST, Lost, Overshoots, badness, not_lost

STEPS = ((2.0, 0.04), (1.5, 0.02), (1.25, 0.01))
"""By how much a weight is multiplied, and which gain is looked for; less when no move helps any more."""
HOPE, PROOF, LOOKS = 0.5, 2.2, 6
"""A race is lost when the gain is HOPE deviations away, and won, after LOOKS seeds, when zero is PROOF away."""
CREDIT = (0.1, 5)
"""The gain and the candidates that every kind of move begins with."""
SPREAD, SPREAD_SEEDS = 0.1, 2
"""The deviation of a difference before anything is known, and how many seeds that is worth."""


@dataclass(eq=False)
class DraftSearch:
    """Climbs from draft to draft by races.

    `evaluate` makes one candidate and measures it; `over` says whether so many evaluations are enough.
    """

    evaluate: Callable[[Texts, int, Lost], Overshoots]
    seeds: Sequence[int]
    random: np.random.Generator
    over: Callable[[int], bool]
    progress: Callable[[str], None]
    evaluations: int = 0
    known: dict[tuple[Texts, int], Overshoots] = field(default_factory=dict)

    def overshoots(self, texts: Texts, seed: int, lost: Lost = not_lost) -> Overshoots:
        """Of one candidate, made once."""
        if (texts, seed) not in self.known:
            self.evaluations += 1
            self.known[texts, seed] = self.evaluate(texts, seed, lost)
        return self.known[texts, seed]

    def slack(self, texts: Texts, seeds: Sequence[int]) -> float:
        """The mean over some seeds."""
        return -fmean(badness(self.overshoots(texts, seed)) for seed in seeds)

    def mean(self, texts: Texts) -> Overshoots:
        """Each criterion's mean over the seeds that were looked at, at least one."""
        self.overshoots(texts, self.seeds[0])
        rows = [row for (known, _), row in self.known.items() if known == texts]
        return tuple(np.maximum(rows, -FURTHEST).mean(axis=0).tolist())

    def gain(self, challenger: Texts, holder: Texts, wanted: float) -> float:
        """What a race on common seeds gained: 0 where it was lost, or could not be finished."""
        gaps: list[float] = []
        for seed in self.random.permutation(np.array(self.seeds)).tolist():
            if self.over(self.evaluations):
                return 0.0
            bar = badness(self.overshoots(holder, seed))

            def hopeless(bad: float, bar: float = bar) -> bool:
                return lost([*gaps, bad - bar], wanted)

            gaps.append(badness(self.overshoots(challenger, seed, hopeless)) - bar)
            if lost(gaps, wanted):
                del self.known[challenger, seed]  # it may be incomplete
                return 0.0
            if won(gaps):
                break
        return max(0.0, -fmean(gaps))

    def best(self, texts: Iterable[Texts], number: int, over: Callable[[int], bool]) -> Texts:
        """All on so many seeds, the better half on twice as many, and so on; the first if it is over before."""
        left = list(dict.fromkeys(texts))
        while len(left) > 1:
            for one, seed in product(left, self.seeds[:number]):
                if over(self.evaluations):
                    return left[0]
                self.overshoots(one, seed)
            left.sort(key=lambda one: -self.slack(one, self.seeds[:number]))
            left, number = left[: (len(left) + 1) // 2], min(2 * number, len(self.seeds))
        return left[0]

    def climb(self, draft: Draft, moves: Callable[[Draft, Overshoots, float], list[Move]]) -> list[Draft]:
        """Moves until none helps at the smallest step, or until it is over; every draft on the way.

        The kind of move that gained most for each candidate so far is next; every kind begins with some credit.
        Of its moves the most promising one that was never tried, else the one tried longest ago.
        """
        path = [draft]
        gains: dict[str, float] = defaultdict(float)
        costs: dict[str, int] = defaultdict(int)
        turns: dict[str, int] = {}
        for step, wanted in STEPS:
            stale: set[str] = set()
            again, choice = "", list[Move]()
            chosen_for: Draft | None = None
            while not self.over(self.evaluations):
                if chosen_for is not draft:
                    choice, chosen_for = moves(draft, self.mean(draft.texts), step), draft
                    self.evaluations += 1  # moves look at a candidate
                left = [move for move in choice if move.name not in stale]
                if not left:
                    break
                worth = {m.kind: (gains[m.kind] + CREDIT[0]) / (costs[m.kind] + CREDIT[1]) for m in left}
                move = min(left, key=lambda m: (m.name != again, -worth[m.kind], turns.get(m.name, 0)))
                turns[move.name] = len(turns) + self.evaluations + 1
                before = self.evaluations
                gained = self.gain(move.draft.texts, draft.texts, wanted)
                gains[move.kind] += gained
                costs[move.kind] += self.evaluations - before
                stale.add(move.name)
                again = ""
                if gained:
                    draft, again, stale = move.draft, move.name, set()
                    path.append(draft)
                    self.progress(f"{self.evaluations} candidates, {move.name}: gain {gained:.3f}")
        return path


def lost(gaps: Sequence[float], wanted: float) -> bool:
    """Whether a challenger with these differences of badness would need luck to be better by what is wanted."""
    return fmean(gaps) - HOPE * _deviation(gaps) > -wanted


def won(gaps: Sequence[float]) -> bool:
    """Whether it is clearly better."""
    return len(gaps) >= LOOKS and fmean(gaps) + PROOF * _deviation(gaps) < 0


def _deviation(gaps: Sequence[float]) -> float:
    """Of the mean: from the spread seen and the one assumed before."""
    mean = fmean(gaps)
    square = SPREAD**2 * SPREAD_SEEDS + sum((gap - mean) ** 2 for gap in gaps)
    return float((square / (SPREAD_SEEDS + len(gaps) - 1) / len(gaps)) ** 0.5)

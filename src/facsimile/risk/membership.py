"""Membership: was this person in the table? Shadow runs of the whole scheme, with a coin for each person.

In each run a fair coin decides for every watched person whether it is in the table or its stand-in is. The
attack learns from half of the runs what a release looks like with and without a person, and guesses the coins
of the other half. It sees the release, the person, and what other runs on nearly the same table look like.

The coins are independent of everything, so without any knowledge right guesses are binomial with 1/2, whatever
the releases of one run share. Under ε-differential privacy they are at most as many as those of a binomial with
e^ε/(1 + e^ε) (Steinke, Nasr and Jagielski 2023), so the advantage 2s − 1 is at most (e^ε − 1)/(e^ε + 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp, expm1

import numpy as np
import numpy.typing as npt

from facsimile.risk.people import People
from facsimile.risk.rates import Guessed, Rate
from facsimile.table.table import Codes, Table

EXPOSED, ORDINARY = "the rarest people", "people at random"
STATISTICS = ("equal rows", "rows with one column different", "pairs of columns", "single columns")
FALSE_ALARMS = 0.05
Floats = npt.NDArray[np.float64]
Coins = npt.NDArray[np.bool_]
Publish = Callable[[Table, int], tuple[Table, Codes] | None]
"""What is published of a table in a run of this number, and the watched people under its alternatives."""


def bound(epsilon: Fraction, delta: Fraction) -> float:
    """The largest advantage that (ε, δ) allows: (e^ε − 1 + 2δ)/(e^ε + 1).

    >>> round(bound(Fraction(1), Fraction(0)), 3)
    0.462
    """
    return min(1.0, (expm1(float(epsilon)) + 2 * float(delta)) / (exp(float(epsilon)) + 1))


@dataclass(frozen=True, eq=False)
class Watched:
    """The people that coins decide about: the rarest of the targets, and others at random.

    Rare by a public rule: the product of the shares that a person's values have in the rest of the file. An
    average over people at random would hide them.
    """

    places: npt.NDArray[np.int64]
    exposed: int

    @classmethod
    def of(cls, people: People, wanted: int, random: np.random.Generator) -> Watched:
        """Half of them the rarest, half at random."""
        rest, size = people.rest, min(wanted, len(people.targets))
        shares = np.zeros(len(people.targets))
        for place, name in enumerate(rest.domain.names):
            counts = rest.marginal((name,)) + 1.0
            shares += np.log(counts)[people.targets[:, place]]
        order = np.lexsort((random.random(len(shares)), shares))
        rarest = order[: size // 2]
        others = random.permutation(order[size // 2 :])[: size - len(rarest)]
        return cls(np.concatenate([rarest, others]), len(rarest))

    def tables(self, people: People, coins: Coins) -> Table:
        """The table of one run."""
        inside = np.ones(len(people.targets), bool)
        inside[self.places] = coins
        return people.table(inside)


@dataclass(frozen=True)
class Membership:
    """Right guesses in the second half of the runs; and, at few false alarms, how many inside are found.

    Runs that ended without a release count: all their guesses are the same. `released` is how many did not.
    """

    parts: dict[str, Guessed]
    found: Rate
    alarms: Rate
    statistic: str
    released: int


def shadow_seeds(seed: int, part: int, runs: int) -> list[int]:
    """A seed of its own for each run: noise that two runs share would cancel out."""
    return [int(x) for x in np.random.SeedSequence((seed, part)).generate_state(runs, np.uint32)]


def statistics(published: Table, watched: Codes) -> Floats:
    """What a release says of each person: a line for each, a number for each of STATISTICS."""
    domain, codes, counts = published.domain, published.codes, published.counts
    found = np.zeros((len(watched), len(STATISTICS)))
    for line, person in enumerate(watched):
        different = (codes != person).sum(axis=1)
        found[line, 0] = counts[different == 0].sum()
        found[line, 1] = counts[different <= 1].sum()
    places = range(len(domain.names))
    for number, size in ((2, 2), (3, 1)):
        for chosen in combinations(places, size):
            cells = published.marginal(tuple(domain.names[p] for p in chosen))
            found[:, number] += np.log1p(cells[tuple(watched[:, p] for p in chosen)])
    return found


def shadowed(
    people: People,
    watched: Watched,
    runs: int,
    publish: Publish,
    random: np.random.Generator,
    tell: Callable[[str], None],
) -> Membership:
    """Run the shadows, learn from the first half of them and guess the coins of the second."""
    coins = random.integers(2, size=(runs, len(watched.places))).astype(bool)
    seen = np.full((runs, len(watched.places), len(STATISTICS)), np.nan)
    for run in range(runs):
        tell(f"Shadow run {run + 1} of {runs}")
        made = publish(watched.tables(people, coins[run]), run)
        if made is not None:
            seen[run] = statistics(*made)
    return judged(seen, coins, watched.exposed)


def judged(seen: Floats, coins: Coins, exposed: int) -> Membership:
    """The attack on what was seen: a line for each run, a person in it, and its statistics."""
    half = len(seen) // 2
    released: Coins = np.asarray(~np.isnan(seen).any(axis=(1, 2)))
    scores = _standard(seen, released, half)
    parts, chosen = {}, 0
    groups = {EXPOSED: slice(0, exposed), ORDINARY: slice(exposed, None)}
    for name, group in groups.items():
        learned, told = scores[:half, group], coins[:half, group]
        chosen, limit = _best(learned, told)
        right = (scores[half:, group, chosen] > limit) == coins[half:, group]
        parts[name] = Guessed(Rate(int(right.sum()), right.size))
        if name == EXPOSED:
            statistic, found, alarms = (
                STATISTICS[chosen],
                *_few_alarms(scores[:, group, chosen], coins[:, group]),
            )
    return Membership(parts, found, alarms, statistic, int(released.sum()))


def _standard(seen: Floats, released: Coins, half: int) -> Floats:
    """Each person's numbers in units of how they vary among the releases learned from; 0 without one."""
    known = seen[:half][released[:half]]
    if not len(known):
        return np.zeros_like(seen)
    spread = known.std(axis=0)
    scores: Floats = (seen - known.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.where(released[:, None, None], scores, 0.0)


def _best(scores: Floats, coins: Coins) -> tuple[int, float]:
    """The statistic and the limit above which "inside" is right most often."""
    found = (-1, 0, 0.0)
    for number in range(scores.shape[2]):
        values, told = scores[:, :, number].ravel(), coins.ravel()
        order = np.argsort(values, kind="stable")
        values, told = values[order], told[order]
        right = np.concatenate([[0], np.cumsum(np.where(told, -1, 1))])
        ends = np.concatenate([[True], values[1:] > values[:-1], [True]])
        place = int(np.argmax(np.where(ends, right, right.min() - 1)))
        limit = -np.inf if place == 0 else float(values[place - 1])
        found = max(found, (int(right[place]), -number, limit))
    return -found[1], found[2]


def _few_alarms(scores: Floats, coins: Coins) -> tuple[Rate, Rate]:
    """Above a limit that few of those outside exceed where it is learned: how many on the other side do."""
    half = len(scores) // 2
    outside = np.sort(scores[:half][~coins[:half]])
    limit = outside[int(np.ceil((1 - FALSE_ALARMS) * len(outside))) - 1] if len(outside) else np.inf
    over, told = scores[half:] > limit, coins[half:]
    found = Rate(int((over & told).sum()), int(told.sum()))
    return found, Rate(int((over & ~told).sum()), int((~told).sum()))

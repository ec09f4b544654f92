"""The contract of a mechanism: what it asks noise for covers how far one record can move it.

With the noise off, the numbers that reach the sampler are compared between neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from facsimile.privacy.budget import Cost
from facsimile.privacy.mechanisms import Mechanism
from facsimile.privacy.noise import Integers
from facsimile.table.domain import Domain
from facsimile.table.exact import integers
from facsimile.table.table import Table
from facsimile.testing.apart import check_apart, tightest
from facsimile.testing.contract import Broken, require, require_fit, require_proof
from facsimile.testing.drawn import check_noise
from facsimile.testing.learners import coupled
from facsimile.testing.neighbours import Neighbours, content, every_pair
from facsimile.testing.neighbours import tables as distinct

Call = tuple[str, Integers, int, Fraction]
"""What the sampler is asked for: a norm, the numbers, their sensitivity (in L2 its square) and the share."""


class NoNoise:
    """Noise that adds none, remembers what it was asked for, and says whether records were drawn."""

    def __init__(self) -> None:
        self.asked: list[Call] = []
        self.drew = False
        self.ended = ""

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        """The values themselves."""
        self.asked.append(("l1", np.asarray(values).ravel(), sensitivity, epsilon))
        return values

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """The first of the largest."""
        self.asked.append(("linf", integers(scores), sensitivity, epsilon))
        return scores.index(max(scores))

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        """The values themselves."""
        self.asked.append(("l2", np.asarray(values).ravel(), square, rho))
        return values

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        """The first of the largest."""
        self.asked.append(("linf", integers(scores), sensitivity, rho))
        return scores.index(max(scores))

    def coin(self, probability: Fraction) -> bool:
        """Coins belong to the search."""
        raise Broken("a mechanism flips no coin")

    def below(self, n: int) -> int:
        """A drawn record: always the first."""
        self.drew = True
        return 0


def check_mechanism(
    mechanism: Mechanism[Any],
    domain: Domain,
    n: int,
    *,
    reach: float = 0.9,
    pairs: Iterable[Neighbours] | None = None,
    draws: bool = True,
) -> None:
    """Measure a mechanism on neighbours, all of a tiny domain unless others are given.

    Each call of the sampler moves by at most its sensitivity, and on some pair by at least `reach` of it; the
    cost is the sum of what is asked for; every table asks for the same noise, an empty cell included. Unless
    `draws` is false, which saves seconds: real noise has the law that is charged for, each number stands by
    itself (`check_noise`), and two neighbours are told apart no better than is charged (`check_apart`; of what
    has an ε and a ρ there is no one number to compare with).
    """
    require_fit(mechanism, domain, n)
    every = list(every_pair(domain, n) if pairs is None else pairs)
    calls = [asked(mechanism, one).asked for one, _ in every]
    forms = {tuple((norm, len(x), delta, epsilon) for norm, x, delta, epsilon in call) for call in calls}
    require(len(forms) == 1, "what it asks noise for depends on the table")
    largest, smallest = moves(mechanism, every)
    require(largest <= 1, "one record moves it by more than it asks noise for")
    require(smallest >= reach, f"no record moves it by {reach} of what it asks noise for")
    spent = sum((Cost.of(share) for *_, share in calls[0]), Cost())
    require(mechanism.cost() == spent, "its cost is not the sum of what it asks noise for")
    require_proof(type(mechanism), "Replace one record", "[A]", "[B]")
    if draws:
        check_noise(mechanism, distinct(every))
        if not (spent.epsilon and spent.rho):
            check_apart(mechanism, tightest(mechanism, every), tight=False)


def asked(mechanism: Mechanism[Any], table: Table) -> NoNoise:
    """What one table asks the sampler for. Whoever learns from a mechanism may end it, before a record is seen:
    `ended` then says by what."""
    noise = NoNoise()
    try:
        mechanism._sample(table, noise)
    except Exception as error:
        if coupled(mechanism) is None:
            raise Broken("it fails on a table that its check let pass") from error
        noise.ended = type(error).__name__
    return noise


def moves(mechanism: Mechanism[Any], pairs: Iterable[Neighbours]) -> tuple[float, float]:
    """The largest and, over calls, the smallest-of-largest share of the declared sensitivity that is used.

    Pairs on which records are drawn are left out: they share no keys. What somebody learns from draws for every
    table; it is measured where all tables share the draw (`coupled`).
    """
    shares: dict[int, float] = {}
    shared, squares = coupled(mechanism) or (None, 1)
    answers: dict[bytes, NoNoise] = {}
    for pair in pairs:
        for table in pair:
            if content(table) not in answers:
                answers[content(table)] = asked(shared or mechanism, table)
        one, other = (answers[content(table)] for table in pair)
        ends = [(noise.ended, len(noise.asked)) for noise in (one, other)]
        require(ends[0] == ends[1], "where it ends depends on the table")
        if shared is None and (one.drew or other.drew):
            continue
        for call, ((norm, x, delta, _), (_, y, again, _)) in enumerate(
            zip(one.asked, other.asked, strict=True)
        ):
            require(delta == again, "its sensitivity depends on the table")
            gap = [abs(a - b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
            moved = {"l1": sum(gap), "l2": sum(one * one for one in gap), "linf": max(gap)}[norm]
            shares[call] = max(shares.get(call, 0.0), moved / (squares * delta))
    return max(shares.values(), default=0.0), min(shares.values(), default=0.0)

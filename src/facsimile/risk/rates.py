"""Rates: how often an attack succeeds, and by how much more on those who were in the table."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import betaincinv


@dataclass(frozen=True)
class Rate:
    """Successes of so many attacks."""

    successes: int
    attacks: int

    @property
    def share(self) -> float:
        """The share that succeeded; nothing was tried: nothing succeeded."""
        return self.successes / self.attacks if self.attacks else 0.0

    def __add__(self, other: Rate) -> Rate:
        return Rate(self.successes + other.successes, self.attacks + other.attacks)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Clopper and Pearson's interval: it misses the probability of success with a chance of at most α.

        >>> low, high = Rate(0, 100).bounds(0.05)
        >>> low, round(high, 3)
        (0.0, 0.036)
        """
        k, n = self.successes, self.attacks
        low = float(betaincinv(k, n - k + 1, alpha / 2)) if k else 0.0
        high = float(betaincinv(k + 1, n - k, 1 - alpha / 2)) if k < n else 1.0
        return low, high


@dataclass(frozen=True)
class Excess:
    """How much more an attack learns about people in the table than about people who are not.

    r = (s − c) / (1 − c), s the share of successes on members and c that on controls (Giomi et al. 2023): of
    what an attack on a stranger leaves unknown, the part that being in the table gave away.
    """

    members: Rate
    controls: Rate

    def __add__(self, other: Excess) -> Excess:
        return Excess(self.members + other.members, self.controls + other.controls)

    @property
    def risk(self) -> float:
        """The estimate."""
        return excess(self.members.share, self.controls.share)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """An interval for r that misses with a chance of at most α.

        Proof. Each of two Clopper–Pearson intervals misses with a chance of at most α/2, so both hold with
        1 − α. r grows with s and falls with c: ∂r/∂c = (s − 1)/(1 − c)² ≤ 0. So its extremes over the
        rectangle are at two corners.
        """
        (low, high), (least, most) = (rate.bounds(alpha / 2) for rate in (self.members, self.controls))
        return excess(low, most), excess(high, least)


NONE = Excess(Rate(0, 0), Rate(0, 0))


@dataclass(frozen=True)
class Guessed:
    """Right guesses of fair coins: r = 2s − 1, since a guess without any knowledge is right half the time."""

    members: Rate

    @property
    def controls(self) -> Rate:
        """What knowing nothing gives, exactly."""
        return Rate(1, 2)

    @property
    def risk(self) -> float:
        """The advantage over a coin."""
        return excess(self.members.share, 0.5)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """An interval for the advantage that misses with a chance of at most α."""
        low, high = self.members.bounds(alpha)
        return excess(low, 0.5), excess(high, 0.5)


def excess(members: float, controls: float) -> float:
    """(s − c) / (1 − c), at least −1.

    >>> excess(1.0, 0.2), excess(0.2, 0.2), excess(0.0, 1.0)
    (1.0, 0.0, -1.0)
    """
    return -1.0 if controls >= 1 else max(-1.0, (members - controls) / (1 - controls))

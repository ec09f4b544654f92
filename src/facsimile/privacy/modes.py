"""Selection modes: how a search over private indices may end. One class for each, with all that depends on it.

An index is ε-DP and independent of the others. Q(x) is the probability that it accepts with x, π = ΣQ(x). After
the j-th failure the search halts with probability cⱼ (`halts_after`), by a coin of its own. So index j is tried
with probability Π_{i<j} (1−π)(1−cᵢ), and the sum of these, h(π) = `tried`, falls in π.

Release.     P[out = x] = Σⱼ P[index j is tried]·Q(x) = Q(x)·h(π), in all π·h(π) = `released`. It rises with π:
  what succeeds at π succeeds at a larger one too, decided by the same uniform number.
Bad tables.  Where a test accepts one with probability at most β, the search releases one with at most β·h(β):
  with b·h(π) ≤ b·h(b), since b ≤ π, and b ≤ β. `luck` is the inverse: with it this is at most `false_accept`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from facsimile.privacy.budget import WIDE, as_decimal, log_upper, upper
from facsimile.spec.decimals import show_decimal
from facsimile.spec.mistakes import Mistake
from facsimile.spec.release import Selection
from facsimile.table.exact import Floats

Chance = Floats | float
STEEP = 1000
"""Above it e^ε is not computed."""


@dataclass(frozen=True, kw_only=True)
class Mode(ABC):
    """A mode and its settings, which are keys of a specification's `selection`.

    `ending`: what happens after a failure, for people. `halting`: whether anything but a success ends a search;
    if not, nothing bounds its bad tables, and `false_accept` holds for each test. `resumable`: whether its law
    survives a crash, which forgets how many indices failed. `approximates`: whether there is a theorem for an
    index with δ > 0. There is none where a search may try ever more indices: one that accepts with probability
    δ and then shows a record is (0, δ)-DP, and repeated until it succeeds it shows it for certain.
    `offered`: the settings that a planner tries.
    """

    name: ClassVar[str]
    ending: ClassVar[str]
    repeats: ClassVar[bool] = True
    halting: ClassVar[bool] = True
    resumable: ClassVar[bool] = True
    approximates: ClassVar[bool] = False
    offered: ClassVar[tuple[Mapping[str, Fraction], ...]] = ({},)
    false_accept: Fraction

    @classmethod
    def settings(cls) -> list[str]:
        """The keys that a specification gives it."""
        return [given.name for given in fields(cls) if given.init]

    def __str__(self) -> str:
        given = {name: Fraction(getattr(self, name)) for name in self.settings() if name != "false_accept"}
        return " ".join([self.name, *(f"{name} {show_decimal(value)}" for name, value in given.items())])

    def mistakes(self) -> Iterator[Mistake]:
        """Why there is no theorem for these settings."""
        yield from ()

    @abstractmethod
    def cost(self, one: Fraction) -> Fraction:
        """What the search costs when an index costs `one`."""

    def proved(self, delta: Fraction) -> bool:
        """Whether there is a theorem for an index with this δ."""
        return self.approximates or not delta

    def delta(self, one: Fraction, delta: Fraction) -> Fraction:
        """The δ of the search, at an ε of cost(one), when an index is (one, δ)-DP."""
        raise ValueError(f"no theorem for mode {self.name} with delta")

    def pull(self) -> Fraction:
        """L: what a search adds to the divergence of its index, see `Coin`."""
        raise ValueError(f"no theorem for mode {self.name} with rho")

    @abstractmethod
    def halts_after(self, index: int) -> Fraction:
        """The probability that the search halts after its j-th failure."""

    @property
    @abstractmethod
    def luck(self) -> Fraction:
        """How likely one test may accept a bad table, so that the search releases one with `false_accept`."""

    @abstractmethod
    def tried(self, q: Chance) -> Chance:
        """The expected number of indices when each succeeds with probability q > 0."""

    def released(self, q: Chance) -> Floats:
        """The probability of a release when each index succeeds with probability q."""
        return np.where(q > 0, q * self.tried(np.maximum(q, 1e-300)), 0.0)


@dataclass(frozen=True, kw_only=True)
class Coin(Mode):
    """After each failure halt with probability γ.

    Theorem.  (ε + ln((e^ε + γ)/(1 + γe^ε)))-DP for 0 ≤ γ ≤ 1, and this is tight.
    Proof.    With p = γ + (1−γ)π: h(π) = 1/p, P[out = x] = Q(x)/p, P[none] = γ(1−π)/p. A neighbour changes Q(x)
      and 1−π by at most e^ε, and π' ≤ min(e^ε π, 1 − e^−ε (1−π)); p'/p is largest at the kink π = 1/(1+e^ε),
      where it is (e^ε + γ)/(1 + γe^ε), at most 1/γ.  QED

    Theorem.  Where an index is (ε, δ)-DP and γ > 0, the search is (the ε above, (1 + (1−γ)e^ε)δ/γ)-DP. Where an
      index has Rényi divergence ε(λ), the search has ε(λ) + min over λ̂ > 1 of [(1−1/λ̂)ε(λ̂) + L/λ̂] + L/(λ−1),
      L = ln(1/γ).
    Proof.    The output law is gQ/p with Q the law of one index, g = 1 where it accepts and γ where not, and
      p = E_Q g ≥ γ. With r the largest p'/p above: p' ≤ rp + (1−γ)δ [A], so 1/p ≤ (r + (1−γ)δ/p)/p'; with
      E_Q[g; A] ≤ e^ε E_Q'[g; A] + δ, and E_Q'[g; A] ≤ p', δ/p ≤ δ/γ. For the divergence: as g ≤ 1 it is at most
      ε(λ) + ln(p'/p) + ln(1/p)/(λ−1), with ln(1/p) ≤ L; by Hölder p' ≤ e^((1−1/λ̂)ε(λ̂)) p^(1−1/λ̂), so
      ln(p'/p) ≤ (1−1/λ̂)ε(λ̂) + L/λ̂ for every λ̂ [B].  QED
    """

    name, approximates = "coin", True
    ending = "After each failure a coin decided whether to give up without a release."
    offered = tuple({"gamma": Fraction(text)} for text in ("0.02", "0.05", "0.1", "0.2", "0.3", "0.5"))
    gamma: Fraction

    def __post_init__(self) -> None:
        if self.halting and not 0 < self.gamma <= 1:
            raise ValueError("the coin is between 0 (excluded) and 1")

    def cost(self, one: Fraction) -> Fraction:
        """ε + ln((e^ε + γ)/(1 + γe^ε)), rounded up; exact where γ is 0 or 1."""
        if self.gamma in (0, 1):
            return (2 - self.gamma) * one
        if one > STEEP:
            return one + log_upper(1 / self.gamma)
        growth, gamma = WIDE.exp(as_decimal(one)), as_decimal(self.gamma)
        ratio = WIDE.divide(WIDE.add(growth, gamma), WIDE.add(Decimal(1), WIDE.multiply(gamma, growth)))
        return one + max(Fraction(0), upper(WIDE.ln(ratio)))

    def delta(self, one: Fraction, delta: Fraction) -> Fraction:
        """(1 + (1−γ)e^ε)δ/γ, rounded up; ValueError where that is beyond all numbers."""
        if not self.approximates:
            return super().delta(one, delta)
        if one > STEEP:
            raise ValueError("no delta is left for an index with so large an epsilon")
        growth = upper(WIDE.exp(as_decimal(one)))
        return (1 + (1 - self.gamma) * growth) * delta / self.gamma  # [A]

    def pull(self) -> Fraction:
        """L = ln(1/γ), rounded up."""
        if not self.approximates:
            return super().pull()
        return log_upper(1 / self.gamma) if self.gamma < 1 else Fraction(0)  # [B]

    def halts_after(self, index: int) -> Fraction:
        return self.gamma

    @property
    def luck(self) -> Fraction:
        """The β with β/(γ + (1−γ)β) = α: αγ/(1 − α(1−γ))."""
        return self.false_accept * self.gamma / (1 - self.false_accept * (1 - self.gamma))

    def tried(self, q: Chance) -> Chance:
        return 1 / (float(self.gamma) + float(1 - self.gamma) * q)


@dataclass(frozen=True, kw_only=True)
class Single(Coin):
    """One index: the coin that halts for certain."""

    name, repeats, offered = "single", False, ({},)
    ending = "There was one try: had it failed, nothing would have been released."
    gamma: Fraction = field(default=Fraction(1), init=False)


@dataclass(frozen=True, kw_only=True)
class UntilSuccess(Coin):
    """Until success: the coin that never halts, at 2ε."""

    name, halting, approximates, offered = "paper", False, False, ({},)
    ending = "The search went on until a table passed."
    gamma: Fraction = field(default=Fraction(0), init=False)

    @property
    def luck(self) -> Fraction:
        """α, for each test by itself."""
        return self.false_accept


@dataclass(frozen=True, kw_only=True)
class CappedCoin(Coin):
    """The coin with at most T indices, T the cap. Its `luck` is the coin's: h(π) is no larger than without one.

    Theorem.  (coin + ε₀/2)-DP for 0 < ε₀ ≤ 1, T ≥ max{ln(2/ε₀)/γ, 1 + 1/(eγ)}. (Liu and Talwar have 2ε + ε₀.)
    Proof.    With p = γ + (1−γ)π and r = (1−γ)(1−π) = 1−p: P[out = x] = Q(x)(1 + r + … + r^(T−1)) =
      Q(x)(1−r^T)/p. The sum falls in π, so a neighbour raises it only by π' > π, that is r' < r: by p'/p ·
      (1−r^T)/(1−r'^T) ≤ p'/p, as without a cap. P[none] = 1 − π(1−r^T)/p = γ(1−π)/p · (1 + πr^T/(γ(1−π))): the
      coin's, times 1 + e(π) with 0 ≤ e(π) = (1−γ)^T/γ · π(1−π)^(T−1). That product is largest at π = 1/T,
      where (1−1/T)^T ≤ 1/e makes it at most 1/(e(T−1)); so e(π) ≤ (1−γ)^T/(eγ(T−1)) ≤ (1−γ)^T ≤ e^(−γT) ≤
      ε₀/2, by both bounds on T. Two neighbours' P[none] then differ by the coin's ratio times at most 1 + ε₀/2
      ≤ e^(ε₀/2).  QED
    A planner is not offered it: it costs more than the coin and releases no more often.
    """

    name, resumable, approximates, offered = "capped-coin", False, False, ()
    ending = f"{Coin.ending[:-1]}; the number of tries was limited in advance."
    cap: int
    epsilon_0: Fraction

    @property
    def smallest_cap(self) -> int:
        """The smallest cap that the theorem allows."""
        first = log_upper(2 / self.epsilon_0) / self.gamma
        second = 1 + 1 / (self.gamma * Fraction(WIDE.exp(Decimal(1))))
        return int(-(-max(first, second) // 1))

    def mistakes(self) -> Iterator[Mistake]:
        if self.cap < self.smallest_cap:
            choice = {"choice": f"cap: {self.smallest_cap}"}
            yield Mistake(("selection", "cap"), "the cap is too small for its coin", "E204", choice)

    def cost(self, one: Fraction) -> Fraction:
        if not 0 < self.epsilon_0 <= 1 or self.cap < self.smallest_cap:
            raise ValueError("the cap is too small for this coin")
        return super().cost(one) + self.epsilon_0 / 2

    def halts_after(self, index: int) -> Fraction:
        """γ, and for certain at the cap."""
        return Fraction(1) if index >= self.cap else self.gamma

    def tried(self, q: Chance) -> Chance:
        """(1−r^T)/p."""
        return super().tried(q) * (1 - (float(1 - self.gamma) * (1 - q)) ** self.cap)


@dataclass(frozen=True, kw_only=True)
class RisingCoin(Mode):
    """After the j-th failure halt with probability a/j.

    Theorem.  ((2−a)ε)-DP for 0 < a ≤ 1.
    Proof.    h(π) = π^(a−1), a binomial series: P[out = x] = Q(x)·π^(a−1), ratio at most e^ε·e^((1−a)ε).
      P[none] = 1 − π^a = (1−π)∫₀¹ a(1−u(1−π))^(a−1) du: the first factor moves by e^ε, the integrand by
      e^((1−a)ε).  QED
    """

    name, resumable = "rising-coin", False
    ending = f"{Coin.ending[:-1]}, less and less likely to do so."
    offered = tuple({"a": Fraction(k, 10)} for k in range(1, 10))
    a: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.a <= 1:
            raise ValueError("a is between 0 (excluded) and 1")

    def cost(self, one: Fraction) -> Fraction:
        return (2 - self.a) * one

    def halts_after(self, index: int) -> Fraction:
        return self.a / index

    @property
    def luck(self) -> Fraction:
        """A little less than α^(1/a), where β·h(β) = β^a is α."""
        power = WIDE.exp(WIDE.divide(WIDE.ln(as_decimal(self.false_accept)), as_decimal(self.a)))
        return Fraction(power) * Fraction(999_999, 1_000_000)

    def tried(self, q: Chance) -> Chance:
        return q ** (float(self.a) - 1)


MODES = {mode.name: mode for mode in (Single, RisingCoin, Coin, CappedCoin, UntilSuccess)}


def mode_of(selection: Selection) -> Mode:
    """The mode that a specification selects by, with its settings."""
    mode = MODES[selection.mode]
    return mode(**{name: getattr(selection, name) for name in mode.settings()})

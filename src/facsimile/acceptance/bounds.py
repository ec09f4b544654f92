"""Bounds: how large the exact values can be, given noisy ones. Integer noise Z of ratio a = exp(−ε/units).

A release quotes its bounds together, so they hold together: all of them with probability 95 %.

Theorem.  Let k criteria be measured with discrete Laplace noise, and each bound be taken at level
  α_k = 1 − 0.95^(1/k). Then all exact values are at most their bounds with probability at least 95 %.
Proof.    Condition on the released table S, on the noisy fits that are published with it, and on every earlier
  iteration of the search. The questions are then fixed, and so are their exact values x₁, …, x_k. Each is
  answered with noise of its own, drawn for this answer alone: Z₁, …, Z_k are independent.
  Measured after acceptance (every scheme but `paper`), no Zᵢ has met a decision. Bound i fails on an event of
  Zᵢ alone, of probability at most α_k (`upper`); none of k independent events happens with probability at least
  (1 − α_k)^k ≥ 0.95.
  Measured in the loop (scheme `paper`), S is published because Zᵢ ≤ lastᵢ − xᵢ for every i, and whatever else
  was asked of it depends on the fits only. The event is a product, so given it the Zᵢ are still independent,
  each with its own law cut off at lastᵢ − xᵢ. Bound i fails with probability at most α_k under that law
  (`upper_if_accepted`), and the product is as before.
  k counts every criterion with such noise, whether its bound turns out finite or not: it is known before the
  noise is. A bound that is not given cannot fail. What holds given every condition holds.  QED

In scheme `measured` the noise that is published is the noise that decided, one number may speak of several
criteria, and what is promised is of the whole search, before it begins:

Theorem.  In scheme `measured`, let m noisy numbers test a candidate, each bound be taken at level β/m, β the
  luck at which a search releases with probability at most 5 % what one index accepts with probability at most
  β (Mode.luck), and let no bound exceed its threshold if `false_accept` is at most 5 %. The probability that a
  table is released and one of its bounds fails is at most 5 %.
Proof.    Fix one index, its candidate S, the regression paid once and the records that a definition draws. The
  noises Z₁, …, Z_m are drawn for these numbers alone. If S meets every criterion, a bound fails only if some
  number lies too low, Zᵢ ≤ −tᵢ with tᵢ the margin of β/m: one of m events, with probability at most m·β/m = β.
  A number that several criteria share is one event: all their bounds follow from it (Query.excess). If S misses
  a criterion, it is accepted with probability at most luck(false_accept) (decision.py), which is at most β
  where thresholds are used as bounds; where they are not, the first case is the only one. Either way the index
  accepts with a failing bound with probability at most β. So the search releases such a table with probability
  at most 5 % (modes.py).  QED
It is no statement given that there is a release: that probability may be up to 5 % over the chance of one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from facsimile.acceptance.decision import LAPLACE, SHARED, Measured, margin
from facsimile.acceptance.kind import kind_of
from facsimile.privacy.modes import mode_of
from facsimile.spec.release import Specification

CONFIDENCE = Fraction(19, 20)
"""How sure a reader may be of all bounds of a release together."""
ALPHA = 1 - CONFIDENCE
DIGITS = 9


def shared_by(measured: Iterable[Measured]) -> int:
    """How many bounds share the level: the criteria with discrete Laplace noise, known before it is drawn."""
    return sum(m.mechanism == LAPLACE for m in measured)


def level(bounds: int) -> Fraction:
    """α_k = 1 − 0.95^(1/k), rounded down to nine digits: k independent bounds at this level hold together.

    >>> [f"{float(level(bounds)):.5f}" for bounds in (1, 2, 8)]
    ['0.05000', '0.02532', '0.00639']
    """
    if bounds < 2:
        return ALPHA
    return Fraction(math.floor(-math.expm1(math.log(float(CONFIDENCE)) / bounds) * 10**DIGITS), 10**DIGITS)


@dataclass(frozen=True)
class Sharing:
    """How the bounds of a release share what may fail: `numbers` noisy ones, each bound at one level.

    `each` is what one bound by itself has. `of_search`: the promise is about a release with a failing bound
    coming out of the search, not about bounds given a release.
    """

    numbers: int
    level: Fraction
    each: Fraction
    of_search: bool

    @classmethod
    def of(cls, specification: Specification, measured: Iterable[Measured]) -> Sharing:
        """What holds for the bounds of these measurements."""
        measured = tuple(measured)
        if specification.scheme != "measured":
            numbers = shared_by(measured)
            return cls(numbers, level(numbers), 1 - level(numbers), False)
        mode = replace(mode_of(specification.selection), false_accept=ALPHA)
        numbers = shared_by(measured) + any(m.mechanism == SHARED for m in measured)
        one = mode.luck / numbers
        failing = math.ceil(float(mode.released(float(one))) * 10**DIGITS - 1e-3)
        return cls(numbers, one, 1 - Fraction(failing, 10**DIGITS), True)


def deviation(units: int, epsilon: Fraction) -> float:
    """The standard deviation of discrete Laplace noise: √(2a)/(1 − a)."""
    a = math.exp(-float(epsilon) / units)
    return math.sqrt(2 * a) / (-math.expm1(-float(epsilon) / units))


def upper(noisy: int, units: int, epsilon: Fraction, alpha: Fraction = ALPHA) -> int:
    """U with P[exact ≤ U] ≥ 1 − α for a fresh measurement.

    exact > U means Z < noisy − U = −t, so P ≤ P[Z ≤ −t − 1] = a^(t+1)/(1+a): t + 1 is the margin of α.
    """
    return noisy + max(0, margin(alpha, epsilon, units) - 1)


def upper_if_accepted(
    noisy: int, units: int, epsilon: Fraction, last: int, alpha: Fraction = ALPHA
) -> int | None:
    """The same for a value that was published because it is at most `last`; None where no bound is finite.

    Given acceptance, P[Z ≤ noisy − exact | Z ≤ last − exact] ≤ α. With c = a^(last − noisy) and
    y = 2/(α(1 + a + √((1+a)² − 4ac/α))) this holds for every exact above U = noisy + ⌈ln y/ln(1/a)⌉ − 1.
    """
    a = math.exp(-float(epsilon) / units)
    c = a ** max(0, last - noisy)
    if c > float(alpha):
        return None
    root = math.sqrt(max(0.0, (1 + a) ** 2 - 4 * a * c / float(alpha)))
    y = 2 / (float(alpha) * (1 + a + root))
    return noisy + max(0, math.ceil(math.log(y) * units / float(epsilon) + 1e-9) - 1)


def quoted(specification: Specification, measured: Measured, sharing: Sharing) -> float | None:
    """The bound that a release quotes; None where none is finite."""
    paper, epsilon = specification.scheme == "paper", specification.epsilon_of(measured.criterion)
    found, threshold = bound(measured, epsilon, paper, sharing.level), float(measured.criterion.threshold)
    if sharing.of_search and specification.selection.false_accept <= ALPHA:
        return threshold if found is None else min(found, threshold)
    return found


def bound(measured: Measured, epsilon: Fraction, in_loop: bool, alpha: Fraction) -> float | None:
    """The criterion's error is at most this but for probability α; None where no bound is finite.

    From a number that is shared: M < u bounds each part of the criterion by T + u·Δ in units of its own.

    A bound is max(least, measured) + margin, least the smallest value that the exact x can have (`Kind.least`).
    Noise that takes the measured m below it says no more than m = least, and the margin stays.

    Theorem.  P[x > m + margin] ≤ α implies P[x > max(least, m) + margin] ≤ α, under the same condition.
    Proof.    max(least, m) ≥ m at every outcome, so the second event lies in the first. Neither the margin,
      which may depend on m, nor what was asked, charged or decided (`Measured.met`) is touched.  QED
    """
    kind, units, noisy = kind_of(measured.criterion, measured.form), measured.noise_units, measured.units
    if measured.mechanism not in (LAPLACE, SHARED):
        return None
    if measured.mechanism == LAPLACE and in_loop:
        last = math.ceil(measured.tested_at * measured.grid) - 1
        found = upper_if_accepted(noisy, units, epsilon, last, alpha)
    else:
        found = upper(noisy, units, epsilon, alpha)
    if found is None:
        return None
    value, most = (_value(measured, Fraction(number, measured.grid)) for number in (noisy, found + 1))
    return kind.bound(float(max(Fraction(kind.least), value) + most - value))


def _value(measured: Measured, number: Fraction) -> Fraction:
    """What a number says at most of the query's value: itself, or T + u·Δ where it is shared."""
    if measured.mechanism != SHARED:
        return number
    assert measured.sensitivity is not None and measured.finest is not None, "a joint test has units"
    return measured.tested_at + max(number * measured.finest, number * measured.sensitivity)

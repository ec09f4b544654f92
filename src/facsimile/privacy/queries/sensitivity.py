"""How far one record can move each criterion: the sensitivities, from public numbers only.

Neighbours: replace one record, n public. S is the candidate table, fixed and public when it is measured
against; R is the confidential one. Every value is an exact Fraction.
"""

from __future__ import annotations

from fractions import Fraction

Range = tuple[Fraction, Fraction]


def counts_share(n: int) -> Fraction:
    """The largest difference of counts, as a share of n.

    Theorem.  Δ = 1/n.
    Proof.    A replacement changes any count by at most 1; a maximum moves no more than its terms.  QED
    """
    return Fraction(1, n)


def ratio_clipped(clip: Fraction, smallest: int) -> Fraction:
    """The largest ratio of two one-way counts plus one, clipped to [1, λ]; s = smallest count of S.

    Theorem.  Δ = λ²/(ŝ + λ) with ŝ = s + 1, for every λ > 1.
    Proof.    Write r for the smaller of R's two counts plus one. ŝ/r falls most where it meets the clip, at
      r = ŝ/λ: by λ − ŝ/(ŝ/λ + 1) = λ²/(ŝ + λ). r/ŝ rises by at most min(1/ŝ, λ − 1), which is no more:
      where ŝ(λ²−1) ≥ λ, 1/ŝ ≤ λ²/(ŝ+λ); otherwise (λ−1)(ŝ+λ) < λ/(λ+1) + λ² − λ ≤ λ². The bound falls
      in ŝ, so the smallest cell decides, empty cells included; a maximum moves no more than its terms.  QED
    """
    return clip * clip / (smallest + 1 + clip)


def ratio_sharp(smallest: int) -> Fraction:
    """ρ = min over cells of min(r̂/ŝ, ŝ/r̂), r̂ and ŝ the counts of R and S plus one.

    Theorem.  Δ = 1/(s + 1), s the smallest one-way count of S.
    Proof.    r̂ < ŝ: one step moves r̂/ŝ by 1/ŝ. r̂ ≥ ŝ: ŝ/r̂ − ŝ/(r̂+1) = ŝ/(r̂(r̂+1)) ≤ 1/(ŝ+1).  QED
    """
    return Fraction(1, smallest + 1)


def group_mean(bounds: Range, size: int) -> Fraction:
    """The mean of at least m numbers in [L, U], m public: a resized mean, or one with a floor under it.

    Resized: the mean of exactly m numbers. With a floor: f = (Σx + max(0, m − k)·c)/max(k, m), the sum over the
    k records of a group, k not public, c in [L, U].

    Theorem.  Δ = (U − L)/m for both.
    Proof.    Resized: a replacement changes one of the m terms. With a floor: f is the mean of d = max(k, m)
      terms, k records and fillers c. (1) A record is replaced inside the group, or enters or leaves while
      k ≤ m before and after: one of d terms changes, d stays: (U − L)/d ≤ (U − L)/m. (2) It enters at k ≥ m:
      f' = (d·f + x)/(d + 1), so f' − f = (x − f)/(d + 1), and f, x ∈ [L, U]: at most (U − L)/(m + 1). (3) It
      leaves: (2) read backwards.  QED
    """
    return (bounds[1] - bounds[0]) / max(1, size)


def smallest_group(size: int, n: int, threshold: Fraction) -> int:
    """m = max(1, ⌊q(S) − n·T⌋): what is left of a group of S when every count may be off by n·T."""
    return max(1, int((size - n * threshold) // 1))


def prediction_error(bounds: Range, n: int) -> Fraction:
    """The difference of two mean absolute errors, predictions clipped to [L, U], both models public.

    Theorem.  Δ = 2(U − L)/n.
    Proof.    A record's term is |y − f_R(x)| − |y − f_S(x)|, between −(U−L) and U−L.  QED
    """
    return 2 * (bounds[1] - bounds[0]) / n

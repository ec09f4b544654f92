"""Critic: a network with one hidden layer that judges rows, and its gradient at a row, in exact integers.

    h = bias + Σ weights[code of the row],   φ = h where h > 0, else ⌊h/4⌋,   score = level + out·φ

Weights are integers in units of 2^−10, scores in units of 2^−20. What a row says is a function of the row and
the public weights alone: sums of floats that hold integers below 2^53 are exact in any order, so no row can
touch another's last digit, however rows are put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from facsimile.table.domain import Domain
from facsimile.table.exact import Floats, Ints, frozen, largest
from facsimile.table.logistic import logistic
from facsimile.table.table import Codes, Counts

Loss = Literal["cross_entropy", "wasserstein"]
BITS = 10
LARGEST = 1 << 15
"""No weight is larger, in units of 2^−10."""
STEEP = 12
"""A slope is at most 2^12, that is 1."""
UNIT = 1 << (STEEP + BITS)
"""A gradient's unit is 2^−22."""
EXACT = 2**53
BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class Critic:
    """Public weights: of every code (a line each) for every hidden unit, the units' biases, their weights in
    the score, and the score's level."""

    domain: Domain
    weights: Ints
    bias: Ints
    out: Ints
    level: int
    loss: Loss = "cross_entropy"

    def __post_init__(self) -> None:
        for name in ("weights", "bias", "out"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        units, codes = len(self.out), sum(self.domain.shape)
        arrays = self.weights, self.bias, self.out
        shaped = [array.shape for array in arrays] == [(codes, units), (units,), (units,)]
        whole = all(array.dtype == np.int64 for array in arrays) and type(self.level) is int
        if not (shaped and whole and units and self.loss in ("cross_entropy", "wasserstein")):
            raise ValueError("a critic has integers for every code and unit")
        if max(abs(self.level) >> BITS, *map(largest, arrays)) > LARGEST:
            raise ValueError("a critic's weights are small")
        columns = len(self.domain.shape)
        if units * (columns + 1) * (columns + 2) * LARGEST**2 >= EXACT:  # [A]
            raise ValueError("a critic has few units")

    @cached_property
    def size(self) -> int:
        """The number of parameters."""
        return self.weights.size + 2 * len(self.out) + 1

    @cached_property
    def _floats(self) -> tuple[Floats, Floats]:
        return self.weights.astype(np.float64), self.out.astype(np.float64)

    def scores(self, codes: Codes) -> Ints:
        """The score of each row."""
        found = [self._judged(block)[1] for block, _ in _blocks(codes, codes)]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def summed(self, codes: Codes, counts: Counts, real: bool, most: int) -> Ints:
        """The sum over rows, each as often as its count says, of a row's clipped gradient, in units of 2^−22.

        A row's gradient is that of its log likelihood, as a real or as a made one (`cross_entropy`), or of its
        score or the score's opposite (`wasserstein`), by weights, bias, out and level, in this order.

        Theorem.  No row's gradient is longer than `most` in L2, and the sum is exact if Σ counts·most < 2^53.
        Proof.    A gradient is t·u with u = (φ, 1) for out and level and (out∘φ', out∘φ') for the bias and each
          of the row's codes: ‖u‖² = ‖φ‖² + 1 + (columns + 1)·‖out∘φ'‖² =: N. In integers, with C columns, no
          weight above L in size and 1 in units of 2^−20, |φ| ≤ (C + 1)·L and |out∘φ'| ≤ L, so N is at most
          units·((C + 1)²·L² + (C + 1)·L²) + 2^20 < 2^53, L² = 2^30, and exact [A]. The integer |t| is at most
          √⌊most²/N⌋ [B], so ‖t·u‖² ≤ most². Every number of t·u is thus at most `most`, and so is every
          partial sum at most Σ counts·most < 2^53, where floats hold every integer [C].  QED
        """
        units = len(self.out)
        total = np.zeros(self.size, np.int64)
        for block, times in _blocks(codes, counts):
            rows, score, active, back = self._judged(block)
            norm = (
                (active**2).sum(axis=1) + (1 << 2 * BITS) + (back**2).sum(axis=1) * (block.shape[1] + 1)
            )  # [A]
            slope = self._slopes(score, real)
            room = most**2 // norm.astype(np.int64)
            root = np.sqrt(room.astype(np.float64)).astype(np.int64)
            root -= root * root > room
            held = np.minimum(slope, root)  # [B]
            scaled = (held * times * (1 if real else -1)).astype(np.float64)
            pulled = back * scaled[:, None]
            parts = (rows.T @ pulled).ravel(), pulled.sum(axis=0), scaled @ active, scaled.sum(keepdims=True)
            total[: -units - 1] += np.concatenate(parts[:2]).astype(np.int64)
            total[-units - 1 :] += np.concatenate([parts[2], parts[3] * (1 << BITS)]).astype(np.int64)  # [C]
        return total

    def _judged(self, codes: Codes) -> tuple[Any, Ints, Floats, Floats]:
        """Rows as indicators of codes, their scores, activations φ, and out∘φ'; floats that hold integers."""
        weights, out = self._floats
        rows = indicators(self.domain, codes)
        before = rows @ weights + self.bias
        active = np.where(before > 0, before, np.floor(before / 4))
        score = (active @ out).astype(np.int64) + self.level
        return rows, score, active, np.where(before > 0, out, np.floor(out / 4))

    def _slopes(self, score: Ints, real: bool) -> Ints:
        """How fast the loss changes with the score, from 0 to 2^12."""
        if self.loss == "wasserstein":
            return np.full(len(score), 1 << STEEP, np.int64)
        return (logistic(-score if real else score, 2 * BITS) + 128) >> (2 * BITS - STEEP)


def indicators(domain: Domain, codes: Codes) -> Any:
    """Rows as a sparse matrix: a place for each code of each column."""
    starts = np.cumsum((0, *domain.shape))
    places = (codes + starts[:-1]).ravel()
    ends = np.arange(len(codes) + 1) * len(domain.shape)
    return csr_array((np.ones(len(places)), places, ends), shape=(len(codes), int(starts[-1])))


def _blocks(codes: Codes, counts: Counts) -> Iterator[tuple[Codes, Counts]]:
    """Some rows at a time."""
    for start in range(0, len(codes), BLOCK):
        yield codes[start : start + BLOCK], counts[start : start + BLOCK]

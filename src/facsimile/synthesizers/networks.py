"""Networks: a generator of rows, a judge, and what trains them, in plain arrays; all public, or noisy.

The generator turns a latent (standard normal numbers, and the indicator of one code of the public domain drawn
uniformly: the conditional vector) into a law for each column. Given the latent, columns are independent. So the
gradient of E[f(row)] by a column's logits is p·(f(code) − Σ p·f) with f at every code of the column, the other
columns as drawn: unbiased, and no relaxation of the codes is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from facsimile.table.critic import BITS, LARGEST, Critic, Loss, indicators
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats
from facsimile.table.table import Codes

Weights = list[Floats]
MOMENTS = (0.5, 0.9)
TINY = 1e-8
SLOPE = 0.25


class Adam:
    """Steps downhill, each weight by its own gradient's size (Kingma and Ba 2015), with weight decay."""

    def __init__(self, weights: Sequence[Floats], rate: float, decay: float) -> None:
        self.rate, self.decay, self.time = rate, decay, 0
        self.first = [np.zeros_like(w) for w in weights]
        self.second = [np.zeros_like(w) for w in weights]

    def step(self, weights: Weights, gradients: Sequence[Floats]) -> None:
        """Change the weights."""
        self.time += 1
        one, two = MOMENTS
        rate = self.rate * np.sqrt(1 - two**self.time) / (1 - one**self.time)
        for w, g, m, v in zip(weights, gradients, self.first, self.second, strict=True):
            pull = g + self.decay * w
            m *= one
            m += (1 - one) * pull
            v *= two
            v += (1 - two) * pull**2
            w -= rate * m / (np.sqrt(v) + TINY)


@dataclass(frozen=True, eq=False)
class Generator:
    """Two hidden layers, and a law for each column."""

    domain: Domain
    latent: int
    weights: Weights

    @classmethod
    def started(cls, domain: Domain, latent: int, units: int, random: np.random.Generator) -> Generator:
        """Random weights; every column's law is nearly uniform."""
        codes = sum(domain.shape)
        sizes = [(latent + codes, units), (units, units), (units, codes)]
        weights: Weights = []
        for before, after in sizes:
            weights += [random.normal(0, np.sqrt(2 / (1 + before)), (before, after)), np.zeros(after)]
        weights[4] *= 0.3
        return cls(domain, latent, weights)

    def latents(self, n: int, random: np.random.Generator) -> Floats:
        """Random numbers and conditional vectors, both public."""
        codes = sum(self.domain.shape)
        drawn = np.zeros((n, self.latent + codes))
        drawn[:, : self.latent] = random.standard_normal((n, self.latent))
        drawn[np.arange(n), self.latent + random.integers(0, codes, n)] = 1
        return drawn

    def layers(self, latents: Floats) -> tuple[Floats, Floats, Floats]:
        """Both hidden layers and the columns' laws."""
        a, b, c, d, e, f = self.weights
        first = latents @ a + b
        first = np.where(first > 0, first, SLOPE * first)
        second = first @ c + d
        second = np.where(second > 0, second, SLOPE * second)
        return first, second, softmax(self.domain, second @ e + f)

    def gradients(self, latents: Floats, first: Floats, second: Floats, by_logits: Floats) -> Weights:
        """By every weight, from those by the logits."""
        _, _, c, _, e, _ = self.weights
        by_second = by_logits @ e.T * np.where(second > 0, 1, SLOPE)
        by_first = by_second @ c.T * np.where(first > 0, 1, SLOPE)
        return [
            latents.T @ by_first, by_first.sum(axis=0), first.T @ by_second, by_second.sum(axis=0),
            second.T @ by_logits, by_logits.sum(axis=0),
        ]  # fmt: skip


def softmax(domain: Domain, logits: Floats) -> Floats:
    """Each column's logits as a law."""
    starts = np.cumsum((0, *domain.shape))[:-1]
    top = np.maximum.reduceat(logits, starts, axis=1)
    odds = np.exp(logits - np.repeat(top, domain.shape, axis=1))
    return np.asarray(odds / np.repeat(np.add.reduceat(odds, starts, axis=1), domain.shape, axis=1))


def drawn(domain: Domain, laws: Floats, random: np.random.Generator) -> Codes:
    """A row from each line of laws."""
    codes = np.empty((len(laws), len(domain.shape)), np.int64)
    start = 0
    for place, size in enumerate(domain.shape):
        edges = np.cumsum(laws[:, start : start + size], axis=1)
        codes[:, place] = (random.random((len(laws), 1)) * edges[:, -1:] >= edges[:, :-1]).sum(axis=1)
        start += size
    return codes


@dataclass(frozen=True, eq=False)
class Judge:
    """A critic's weights as floats, while they are learned."""

    domain: Domain
    weights: Weights

    @classmethod
    def started(cls, domain: Domain, units: int, random: np.random.Generator) -> Judge:
        """Random weights."""
        columns, codes = len(domain.shape), sum(domain.shape)
        weights = random.normal(0, 1 / np.sqrt(columns), (codes, units))
        return cls(domain, [weights, np.zeros(units), random.normal(0, 1 / np.sqrt(units), units), np.zeros(1)])

    def critic(self, loss: Loss) -> Critic:
        """The same in integers."""
        unit = 1 << BITS
        weights, bias, out = (
            np.clip(np.rint(w * unit), -LARGEST, LARGEST).astype(np.int64) for w in self.weights[:3]
        )
        level = int(np.clip(np.rint(self.weights[3][0] * unit**2), -LARGEST * unit, LARGEST * unit))
        return Critic(self.domain, weights, bias, out, level, loss)

    def split(self, flat: Floats) -> Weights:
        """One number for each weight, in the order of a critic's gradients, shaped like the weights."""
        ends = np.cumsum([w.size for w in self.weights])[:-1]
        return [part.reshape(w.shape) for part, w in zip(np.split(flat, ends), self.weights, strict=True)]

    def scores(self, codes: Codes) -> Floats:
        """The score of each row."""
        a, b, c, d = self.weights
        hidden = indicators(self.domain, codes) @ a + b
        return np.asarray(np.maximum(hidden, SLOPE * hidden) @ c + d[0])

    def alternatives(self, codes: Codes) -> Floats:
        """For each row and each code of each column, the score of the row with that code instead of its own."""
        a, b, c, d = self.weights
        hidden = indicators(self.domain, codes) @ a + b
        found, start = np.empty((len(codes), len(a))), 0
        for place, size in enumerate(self.domain.shape):
            own = hidden - a[start + codes[:, place]]
            for code in range(start, start + size):
                changed = own + a[code]
                found[:, code] = np.maximum(changed, SLOPE * changed) @ c
            start += size
        return np.asarray(found + d[0])

    def gradients(self, codes: Codes, by_score: Floats) -> Weights:
        """By every weight, from those by the scores of rows."""
        a, b, c, _ = self.weights
        rows = indicators(self.domain, codes)
        hidden = rows @ a + b
        back = np.where(hidden > 0, c, SLOPE * c) * by_score[:, None]
        active = np.maximum(hidden, SLOPE * hidden)
        return [rows.T @ back, back.sum(axis=0), by_score @ active, by_score.sum(keepdims=True)]

    def penalty(self, codes: Codes, weight: float, random: np.random.Generator) -> Weights:
        """Gradients of weight·mean (‖∇ score‖ − 1)² at rows whose indicators are moved a little (DRAGAN)."""
        a, b, c, d = self.weights
        rows = indicators(self.domain, codes).toarray()
        slopes = np.where((rows + 0.5 * rows.std() * random.random(rows.shape)) @ a + b > 0, 1, SLOPE)
        found = (slopes * c) @ a.T
        norm = np.maximum(TINY, np.sqrt((found**2).sum(axis=1, keepdims=True)))
        pull = 2 * weight * (norm - 1) * found / norm / len(codes)
        return [pull.T @ (slopes * c), np.zeros_like(b), (slopes * (pull @ a)).sum(axis=0), np.zeros_like(d)]

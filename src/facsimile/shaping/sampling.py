"""Sampling: exactly n records of a law, drawn independently or with counts close to their expectations.

    iid           each record by itself: every count has its binomial spread
    systematic    records are shared out by halving: of m records, ⌊m·p⌋ or ⌈m·p⌉ go to the half of the codes
                  that holds a share p of the mass, and so on down to single codes

A number is rounded up with a probability equal to its fraction, so the expectation of every count is exactly
n·p. Which numbers are rounded up is settled between neighbours (`halved`), for every column and every line
anew. One draw for all of them would be cheaper and wrong: columns that are rounded in the same order would
share their luck.

Theorem. Let a model draw bags of columns one after the other, each given its line (a cell of earlier columns),
and let what comes later depend on a bag's columns through bag and line alone: a tree of pairs or a junction
tree. With `DrawnRecords`, the count N of every cell of every table has E φ(N) ≤ E φ(B) for all convex φ, where
B is the count in n independent draws. So the mean distance of any table of the sample to any given one, be it
the original's or the model's own, is at most that of independent draws.

Proof. Replace halvings by independent choices of the records, from the last halving to the first; we show that
no step lowers E φ(N). After all steps the records are independent, and N is B. Fix what was decided before the
halving at hand, and let all that comes after it be independent. It concerns the records of one line and one
range of codes, as halvings of other lines and ranges are independent of it. Each of them goes up or not, with
the same probability. Record r ends in the cell with probability v_r if it goes down and w_r if it goes up, and
v_r = α_r·v, w_r = α_r·w: line, range and half decide v and w, and α_r ≥ 0 is the chance that its other columns
fit. As a function of the choices, E φ(N) has the mixed differences

    (w_r − v_r)·(w_s − v_s)·E[φ(S + 2) − 2·φ(S + 1) + φ(S)] ≥ 0,    S the number of others in the cell,

since all w_r − v_r have the sign of w − v. So it is supermodular, and its mean over negatively associated
choices is at most that over independent ones of the same probabilities (Christofides and Vaggelatou 2004). They
are negatively associated because their law is strongly Rayleigh (Borcea, Brändén and Liggett 2009): that of the
groups' roundings is (`halved`), and to choose k records of a group at random turns y^k of the generating
polynomial into the elementary symmetric mean of degree k, which keeps it stable (Grace, Walsh and Szegő). ∎

Only measured (docs/benchmarks.md) are what the theorem leaves out: networks with parents that are not each
other's parents, rows that are drawn again because a rule excludes them, and `systematic` on a dense array,
where boxes are rounded together. There a cell may gain from one record going up and from another going down, as
with an exclusive or, and their roundings add up. The variance of a halving is then at most twice that of
independent roundings: no two of them are positively correlated and their sum, with the last one's remainder, is
fixed, hence Σ_{j≠i} |Cov(i, j)| ≤ Var(i).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from facsimile.table.conditions import Mask
from facsimile.table.exact import Floats, Ints

Sampling = Literal["iid", "systematic"]
GROUP = 16
"""So many neighbouring records are shared out together."""


def independent(p: Floats, n: int, random: np.random.Generator) -> Ints:
    """Counts of n independent draws from a dense array."""
    mass = _mass(p).ravel()
    counts: Ints = random.multinomial(n, mass / mass.sum()).reshape(p.shape)
    return counts


def systematic(p: Floats, n: int, random: np.random.Generator) -> Ints:
    """Counts of a dense array: its axes are halved in turn, into boxes that each have an integer count.

    Boxes at the same place of the axis that is halved are rounded together, so that one-way counts are nearly
    exact; among them neighbours duel first, so that larger tables are close.

    >>> systematic(np.array([[0.5, 0.0], [0.25, 0.25]]), 8, np.random.default_rng(1)).tolist()
    [[4, 0], [2, 2]]
    """
    mass, halvings = _mass(p), list[tuple[int, Floats]]()
    times = [(size - 1).bit_length() for size in p.shape]
    for depth in reversed(range(max(times))):
        for axis in reversed([axis for axis, most in enumerate(times) if depth < most]):
            halvings.append((axis, mass))
            mass = np.add.reduceat(mass, np.arange(0, mass.shape[axis], 2), axis=axis)
    boxes, counts = np.zeros((1, p.ndim), np.int64), np.array([n], np.int64)
    for axis, mass in reversed(halvings):
        order = _sorting(boxes[:, axis], mass.shape[axis])
        boxes, counts = boxes[order], counts[order]
        place = boxes[:, axis].copy()
        halves = boxes.repeat(2, axis=0).reshape(len(boxes), 2, p.ndim)
        halves[:, :, axis] = 2 * place[:, None] + [0, 1]
        inside = halves[:, 1, axis] < mass.shape[axis]
        high = np.zeros(len(boxes))
        high[inside] = mass[tuple(halves[inside, 1].T)]
        up = _going_up(counts, mass[tuple(halves[:, 0].T)], high, place, random)
        both = np.column_stack([counts - up, up])
        boxes, counts = halves[both > 0], both[both > 0]
    table = np.zeros(p.shape, np.int64)
    table[tuple(boxes.T)] = counts
    return table


class DrawnRecords:
    """n records that get their columns one after the other, each given its line: a cell of earlier columns.

    Systematic: the records of a line are lined up by their latest codes, then by earlier ones, and cut into
    groups. Groups are shared out over the codes by halving, each record of a group is as good as the other.
    """

    def __init__(self, n: int, random: np.random.Generator, sampling: Sampling) -> None:
        self.random, self.sampling = random, sampling
        self.order = np.arange(n)

    def draw(self, laws: Floats, line: Ints) -> Ints:
        """A code for each record; `laws` holds the mass of every line and code. None without mass is drawn."""
        if self.sampling == "iid":
            return _inverse(laws, line, self.random.random(len(line)))
        by_line = self.order[_sorting(line[self.order], len(laws))]
        sizes = np.bincount(line, minlength=len(laws))
        groups = -(-sizes // GROUP)
        records = np.full(int(groups.sum()), GROUP)
        records[np.cumsum(groups)[groups > 0] - 1] -= (groups * GROUP - sizes)[groups > 0]
        drawn = shared_out(laws, np.repeat(np.arange(len(laws)), groups), records, self.random)
        drawn = drawn[_shuffling(records, self.random)]
        codes = np.empty(len(line), np.int64)
        codes[by_line] = drawn
        self.order = by_line[_sorting(drawn, laws.shape[1])]
        return codes


def shared_out(laws: Floats, line: Ints, counts: Ints, random: np.random.Generator) -> Ints:
    """The codes of all records of groups, group after group; the groups' lines are in ascending order.

    >>> laws, line, counts = np.array([[1.0, 2.0, 1.0]]), np.array([0]), np.array([8])
    >>> np.bincount(shared_out(laws, line, counts, np.random.default_rng(0))).tolist()
    [2, 4, 2]
    """
    width = 1 << (laws.shape[1] - 1).bit_length()
    steps = np.zeros((len(laws), width + 1))
    steps[:, 1 : laws.shape[1] + 1] = np.cumsum(laws, axis=1)
    steps[:, laws.shape[1] + 1 :] = steps[:, laws.shape[1], None]
    mass, number = steps.ravel(), width + 1
    group, at = np.arange(len(counts)), line * number
    low, high = mass[at], mass[at + width]
    while width > 1:
        width //= 2
        middle = mass[at + width]
        up = _going_up(counts, middle - low, high - middle, at, random)
        down = counts - up
        lower, upper = np.flatnonzero(down), np.flatnonzero(up)
        group = np.concatenate([group[lower], group[upper]])
        low = np.concatenate([low[lower], middle[upper]])
        high = np.concatenate([middle[lower], high[upper]])
        at = np.concatenate([at[lower], at[upper] + width])
        counts = np.concatenate([down[lower], up[upper]])
    order = _sorting(group, len(group))
    return np.repeat((at % number)[order], counts[order])


def halved(fractions: Floats, sizes: Ints, random: np.random.Generator) -> Mask:
    """Which fractions become 1: each with its own probability, and of each block ⌊sum⌋ or ⌈sum⌉ of them.

    The blocks follow each other, `sizes` long. In a block neighbours duel for their sum s = a + b. If s ≤ 1,
    one falls to 0, and the other has s: a with probability a/s. Else one rises to 1, and the other has s − 1: a
    with probability (1 − b)/(2 − s) (pivotal sampling, Deville and Tillé 1998). Who is not settled goes on,
    half as many in every round, so that neighbourhoods of 2, 4, 8, … have their sums rounded too. The last one
    rises with its own probability.

    Theorem. Every choice has its probability, and the law of all choices is strongly Rayleigh.

    Proof. A duel keeps each one's mean: a/s·s = a; and (1 − b + (1 − a)·(s − 1))/(2 − s) = a. From the last one
    backwards: 1 − v + v·y is stable. Let A + B·y be the generating polynomial in the variable of who goes on.
    Before the duel it was, with q the probability above and m = q·y + (1 − q)·z, A + B·m for s ≤ 1, and
    A·m + B·y·z else. If y and z have positive imaginary parts, so have m and y·z/m, the inverse of
    q/z + (1 − q)/y; so neither polynomial is 0 there. ∎
    """
    chosen = np.zeros(len(fractions), np.bool_)
    who, value = np.arange(len(fractions)), fractions
    while len(who):
        last = np.repeat(sizes == 1, sizes)
        chosen[who[last]] = random.random(int(last.sum())) < value[last]
        who, value, sizes = who[~last], value[~last], sizes[sizes > 1]
        alone = sizes % 2
        places = np.arange(len(who)) + np.repeat(np.cumsum(alone) - alone, sizes)
        (one, other), (a, b) = (_paired(x, places, int(alone.sum())) for x in (who, value))
        both = a + b
        rises = both > 1
        with np.errstate(invalid="ignore", divide="ignore"):
            first = random.random(len(a)) < np.where(rises, (1 - b) / (2 - both), a / both)
        chosen[np.where(first, one, other)[rises]] = True
        who, value, sizes = np.where(first ^ rises, one, other), both - rises, (sizes + 1) // 2
    return chosen


def rounded(weights: Floats, n: int, random: np.random.Generator) -> Ints:
    """n shared out by weight with one random start: each count is its share rounded up or down.

    >>> rounded(np.array([1.0, 2.0, 1.0]), 8, np.random.default_rng(0)).tolist()
    [2, 4, 2]
    """
    share = np.cumsum(weights)
    edges = np.floor(share / share[-1] * n + random.random()).astype(np.int64)
    edges[np.flatnonzero(weights)[-1] :] = n
    counts: Ints = np.diff(np.minimum(edges, n), prepend=0)
    return counts


def _going_up(counts: Ints, low: Floats, high: Floats, blocks: Ints, random: np.random.Generator) -> Ints:
    """How many of each count go to the half with mass `high`; runs of equal `blocks` are rounded together."""
    both = low + high
    expected = counts * np.divide(high, both, out=np.zeros_like(both), where=both > 0)
    up = expected.astype(np.int64)
    fractions = np.asarray(expected - up, np.float64)
    open_ = np.flatnonzero(fractions)
    if len(open_):
        ends = np.append(np.flatnonzero(np.diff(blocks[open_])), len(open_) - 1)
        up[open_] += halved(fractions[open_], np.diff(ends, prepend=-1), random)
    return up


def _paired(values: npt.NDArray[Any], places: Ints, alone: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Values at their places, zeros between them: those at even places and those at odd ones."""
    padded = np.zeros(len(values) + alone, values.dtype)
    padded[places] = values
    return padded[::2], padded[1::2]


def _inverse(laws: Floats, line: Ints, u: Floats) -> Ints:
    """The place of each u in the cumulative law of its line, found in one sorted array."""
    steps = np.cumsum(laws, axis=1)
    whole = steps[:, -1:]
    edges = np.divide(steps, whole, out=np.zeros_like(steps), where=whole > 0) + np.arange(len(laws))[:, None]
    found = np.searchsorted(edges.ravel(), line + u, side="right") - line * laws.shape[1]
    last = laws.shape[1] - 1 - np.argmax(laws[:, ::-1] > 0, axis=1)
    codes: Ints = np.minimum(found, last[line])
    return codes


def _shuffling(sizes: Ints, random: np.random.Generator) -> Ints:
    """Places of groups that follow each other, in random order within each; no group has more than GROUP."""
    starts = np.cumsum(sizes) - sizes
    inside = np.arange(GROUP) < sizes[:, None]
    keys = np.where(inside, random.random(inside.shape), 1.0)
    return np.asarray((starts[:, None] + np.argsort(keys, axis=1))[inside])


def _sorting(codes: Ints, size: int) -> Ints:
    """The stable order of codes below a size; short codes are sorted in linear time."""
    return np.argsort(codes.astype(np.uint16) if size <= 2**16 else codes, kind="stable")


def _mass(p: Floats) -> Floats:
    """The mass of every cell; where none has any, all have the same."""
    return p if p.any() else np.ones_like(p)

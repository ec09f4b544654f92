"""The logistic function in exact integers: an event's chance from its log odds."""

from __future__ import annotations

from decimal import Context, Decimal
from functools import cache

import numpy as np

from facsimile.table.exact import Ints

FAR = 16
"""Beyond these log odds a chance counts as that at the end: within 2^−23 of 0 or 1."""
KNOTS = 7
"""A chance is computed for every 2^−7, and on a line between."""
DIGITS = 40


def logistic(odds: Ints, bits: int) -> Ints:
    """1/(1 + e^−x) for x = odds/2^bits, in units of 2^−bits: between 0 and 1, rising, the same on any machine.

    The knots are decimals, correctly rounded; lines between them are integers. It is within 2^−19 of the
    function: h²/8·max|σ''| for knots h apart, and two roundings.

    >>> logistic(np.array([-(40 << 20), 0, 1 << 20, 40 << 20]), 20).tolist()
    [0, 524288, 766570, 1048576]
    """
    knots = _knots(bits)
    width = bits - KNOTS
    held = np.clip(odds, -(FAR << bits), FAR << bits).astype(np.int64) + (FAR << bits)
    place = np.minimum(held >> width, len(knots) - 2)
    along = held - (place << width)
    found: Ints = (
        knots[place] * ((1 << width) - along) + knots[place + 1] * along + (1 << width >> 1)
    ) >> width
    return found


@cache
def _knots(bits: int) -> Ints:
    """The chances at the knots, in units."""
    context = Context(prec=DIGITS)
    places = range(-(FAR << KNOTS), (FAR << KNOTS) + 1)
    powers = (context.exp(context.divide(Decimal(-place), 1 << KNOTS)) for place in places)
    found = [int((context.divide(1 << bits, context.add(1, power))).to_integral_value()) for power in powers]
    array = np.array(found, np.int64)
    array.setflags(write=False)
    return array

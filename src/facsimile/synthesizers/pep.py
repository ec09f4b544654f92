"""PEP: private entropy projection. The flattest model that agrees with what was measured, up to its noise.

Rounds of selecting and measuring are those of MWEM, over the marginals of exactly `marginal` columns. What was
measured is learnt by projections: a measured marginal y with noise of scale b allows every count between y − b
and y + b; the model moves to the closest distribution, in relative entropy, whose counts lie there.

On a domain that cannot be held the model is the graphical one that MWEM has there: the two then differ in the
questions alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from facsimile.synthesizers.cells import ratio
from facsimile.synthesizers.learners import Measured
from facsimile.synthesizers.mwem import SMALLEST, QueryBased

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PEP(QueryBased):
    """Questions of `marginal` columns, learnt by entropy projection."""

    marginal: int = 3

    def ways(self, columns: int) -> Sequence[int]:
        """As many as the hyperparameter says, or all there are."""
        return (min(self.marginal, columns),)

    def factor(self, found: Floats, measured: Measured) -> Floats:
        """Counts outside the interval are scaled to its nearer end, none below the smallest count."""
        y, b = measured.counts, measured.scale
        return ratio(np.maximum(np.clip(found, y - b, y + b), np.minimum(found, SMALLEST)), found)

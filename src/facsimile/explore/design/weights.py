"""Weights: the shares of a budget, ε or ρ, with the best predicted chance, by its derivatives."""

from __future__ import annotations

import numpy as np

from facsimile.explore.design.draft import LEAST, Draft
from facsimile.explore.design.prediction import Prediction
from facsimile.table.exact import Floats


def weighted(
    draft: Draft, prediction: Prediction, budget: float, bias: Floats, steps: int
) -> tuple[Draft, float]:
    """The draft with better shares, and its promise.

    Shares are exp(θ)/Σexp(θ), so θ is free: the derivative by θ is g − share·Σg, g that by the
    logarithms of the shares.
    """
    from scipy.optimize import minimize  # slow to import, and seldom needed

    def loss(theta: Floats) -> tuple[float, Floats]:
        shares = np.exp(theta - theta.max())
        shares /= shares.sum()
        value, slope = prediction.promise(budget * shares, bias)
        return -value, shares * slope.sum() - slope

    start = np.log(draft.shares)
    found = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(np.log(LEAST), 3.0)] * len(start),
        options={"maxiter": steps, "maxfun": 2 * steps},
    )
    return draft.shared(np.exp(found.x - found.x.max()).tolist()), -float(found.fun)

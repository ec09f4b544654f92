"""Others' word: torch and Opacus say the same as our gradients, clips and accounting (make test-neural)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.privacy.sampled import ORDERS, Steps
from facsimile.table.critic import BITS, UNIT
from facsimile.testing import small_domain
from facsimile.testing.learners import critic

DOMAIN = small_domain(4, 3, 2)
ROWS = np.array([[a, b, c] for a in range(4) for b in range(3) for c in range(2)])
pytestmark = [pytest.mark.neural, pytest.mark.filterwarnings("ignore")]


def per_record(seed: int) -> list[Any]:
    """Each row's gradient of its log likelihood as a real one, by Opacus' GradSampleModule, in our order."""
    import torch
    from opacus import GradSampleModule

    made, unit = critic(DOMAIN, 5, seed), 1 << BITS
    net = torch.nn.Sequential(torch.nn.Linear(9, 5), torch.nn.LeakyReLU(0.25), torch.nn.Linear(5, 1)).double()
    values = made.weights.T / unit, made.bias / unit, made.out[None] / unit, np.array([made.level / unit**2])
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), values, strict=True):
            parameter.copy_(torch.tensor(value))
    model = GradSampleModule(net, loss_reduction="sum")
    inputs = torch.tensor(np.eye(9)[ROWS + np.array([0, 4, 7])].sum(axis=1))
    torch.nn.functional.logsigmoid(model(inputs)).sum().backward()
    weights, bias, out, level = (p.grad_sample.numpy() for p in model.parameters())
    parts = weights.transpose(0, 2, 1).reshape(len(ROWS), -1), bias, out[:, 0], level
    return list(np.concatenate(parts, axis=1))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("clip", [0.5, 3.0, 100.0])
def test_clipped_gradients_are_those_of_opacus(seed: int, clip: float) -> None:
    made = critic(DOMAIN, 5, seed)
    for row, plain in zip(ROWS, per_record(seed), strict=True):
        clipped = plain * min(1.0, clip / np.linalg.norm(plain))
        found = made.summed(row[None], np.ones(1, np.int64), True, int(clip * UNIT)) / UNIT
        assert np.linalg.norm(found - clipped) <= 0.01 * (1 + np.linalg.norm(clipped))


@pytest.mark.parametrize("share", [Fraction(1, 1000), Fraction(1, 50), Fraction(1, 5), Fraction(1)])
@pytest.mark.parametrize("multiplier", [Fraction(1), Fraction(4), Fraction(40)])
@pytest.mark.parametrize("steps", [1, 100, 5000])
def test_a_cost_is_never_below_that_of_opacus(share: Fraction, multiplier: Fraction, steps: int) -> None:
    from opacus.accountants.analysis import rdp

    orders = [order for order in ORDERS if order <= 2048]
    found = rdp.compute_rdp(q=float(share), noise_multiplier=float(multiplier), steps=steps, orders=orders)
    theirs = float(rdp.get_privacy_spent(orders=orders, rdp=found, delta=1e-9)[0])
    ours = Steps(steps, share, multiplier**2, Fraction(1, 10**9))
    assert float(ours.epsilon) <= theirs * (1 + 1e-6) + 1e-9
    if theirs > 0.05:  # below, our orders go further than those that are compared
        assert float(ours.epsilon) >= theirs * (1 - 1e-6)
    assert ours.replaced[0] == 2 * ours.epsilon


def test_the_prv_accountant_agrees_that_it_is_enough() -> None:
    """Opacus' tightest accountant finds no more than what is charged."""
    from opacus.accountants import PRVAccountant

    made = Steps.within(300, Fraction(1, 10), Fraction(1), Fraction(1, 10**9))
    accountant = PRVAccountant()
    accountant.history = [(float(made.variance) ** 0.5, 0.1, 300)]
    theirs = accountant.get_epsilon(delta=float(made.delta), eps_error=0.01)
    assert theirs <= float(made.epsilon) <= 1.3 * theirs

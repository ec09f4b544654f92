from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import Mechanism, NoisyScores
from facsimile.privacy.reader import rehearse
from facsimile.shaping.sampling import Sampling
from facsimile.synthesizers.base import Answers, Known, RowModel
from facsimile.synthesizers.dense import Dense
from facsimile.synthesizers.tilt import CLIPPED, Tilted, corrected
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats
from facsimile.table.scores import ONE, Factor, RowScores
from facsimile.table.table import Table
from facsimile.testing import small_domain
from facsimile.testing.laws import ALPHA

DOMAIN = small_domain(3, 4, 2)
N = 60_000
CELLS = np.argwhere(np.ones(DOMAIN.shape, bool))
STEPS = {name: Factor(0, (((name,), ONE * np.array(steps)),)) for name, steps in (
    ("a", [-1, 0, 1]), ("b", [-2, -1, 1, 2]), ("c", [-1, 1])
)}  # fmt: skip
BOTH = Factor(ONE, ((("b", "a"), ONE * np.eye(4, 3, dtype=np.int64)),))
PRODUCT = RowScores(DOMAIN, ((STEPS["a"], STEPS["b"]), (STEPS["c"], BOTH)))
SHARE = {"shape": Fraction(1, 10)}


@dataclass(frozen=True, eq=False)
class Hidden(RowModel):
    """A dense model that nobody sees through."""

    model: Dense
    domain: Domain = DOMAIN

    def sample(self, n: int, random: np.random.Generator, sampling: Sampling = "systematic") -> Table:
        return self.model.sample(n, random, sampling)


@dataclass
class Without:
    """Answers without noise, or moved by some multiple of the clip."""

    table: Table
    moved: int = 0
    domain: Domain = DOMAIN

    def run(self, mechanism: Mechanism[Any]) -> Any:
        assert isinstance(mechanism, NoisyScores)
        mechanism.check(self.domain, self.table.n)
        rows = mechanism.scores.clipped(self.table.codes, mechanism.most)
        return self.table.counts @ rows + self.moved * mechanism.most

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Answers:
        raise AssertionError


def mass_of(seed: int) -> Floats:
    return np.random.default_rng(seed).dirichlet(np.full(DOMAIN.cells, 2.0)).reshape(DOMAIN.shape) * N


def table_of(mass: Floats) -> Table:
    return Dense(DOMAIN, mass).sample(N, np.random.default_rng(1))


def independent(mass: Floats) -> Floats:
    """The one-way tables of a mass, and nothing else."""
    a, b, c = (mass.sum(axis=axes) / N for axes in ((1, 2), (0, 2), (0, 1)))
    joint: Floats = N * a[:, None, None] * b[:, None] * c
    return joint


def near_independent(seed: int) -> Floats:
    mass = mass_of(seed)
    return 0.7 * independent(mass) + 0.3 * mass


def asked(model: RowModel, answers: Answers, scores: RowScores | None = PRODUCT) -> RowModel:
    known = Known(N, scores=lambda name, table: scores if name == "shape" else None)
    return corrected(model, answers, known, SHARE, np.random.default_rng(3))


def sums_of(mass: Floats, most: int) -> Floats:
    return np.asarray(mass.ravel() @ PRODUCT.clipped(CELLS, most), np.float64)


def clip_of(mass: Floats) -> int:
    norms = np.abs(PRODUCT.of(CELLS)).sum(axis=1)
    return int(np.quantile(np.repeat(norms, np.rint(mass).astype(int).ravel()), 1 - CLIPPED, method="lower"))


@pytest.mark.parametrize("seed", range(5))
def test_a_model_moves_to_what_it_heard_and_keeps_its_one_way_tables(seed: int) -> None:
    """The sums come to within the tolerance of the noise that would have been there."""
    truth = table_of(near_independent(seed))
    before = independent(truth.marginal(DOMAIN.names).astype(float))
    after = asked(Dense(DOMAIN, before), Without(truth))
    assert isinstance(after, Dense)
    for axes in ((1, 2), (0, 2), (0, 1)):
        assert after.mass.sum(axis=axes) == pytest.approx(before.sum(axis=axes), rel=2e-3)
    most = clip_of(before)
    wanted = sums_of(truth.marginal(DOMAIN.names).astype(float), most)
    noise = 2**0.5 * 2 * most / float(SHARE["shape"])
    assert sums_of(after.mass, most) == pytest.approx(wanted, abs=0.25 * noise)


def test_a_hidden_model_is_moved_by_weights_of_its_rows_to_the_same_place() -> None:
    truth = table_of(near_independent(7))
    before = independent(truth.marginal(DOMAIN.names).astype(float))
    dense, tilted = (asked(m, Without(truth)) for m in (Dense(DOMAIN, before), Hidden(Dense(DOMAIN, before))))
    assert isinstance(dense, Dense) and isinstance(tilted, Tilted)
    moved = before.ravel() * tilted.weights(CELLS)
    assert np.abs(moved - dense.mass.ravel()).sum() < 0.1 * np.abs(before - dense.mass).sum()
    drawn = tilted.sample(N, np.random.default_rng(0)).marginal(DOMAIN.names)
    assert np.abs(drawn - dense.mass).sum() < 0.01 * N


@pytest.mark.parametrize("n", [1, 7, 500])
@pytest.mark.parametrize("sampling", ["iid", "systematic"])
def test_a_tilted_model_draws_as_many_records_as_are_asked_for(n: int, sampling: Sampling) -> None:
    tilted = asked(Hidden(Dense(DOMAIN, mass_of(2))), Without(table_of(mass_of(3))))
    assert tilted.sample(n, np.random.default_rng(1), sampling).n == n


def test_independent_draws_of_a_tilted_model_follow_its_weights() -> None:
    """χ² at level 10⁻⁶."""
    tilted = asked(Hidden(Dense(DOMAIN, mass_of(2))), Without(table_of(mass_of(3))))
    assert isinstance(tilted, Tilted)
    law = mass_of(2).ravel() * tilted.weights(CELLS)
    drawn = tilted.sample(20_000, np.random.default_rng(5), "iid").marginal(DOMAIN.names).ravel()
    assert chisquare(drawn, law / law.sum() * 20_000).pvalue > ALPHA


@pytest.mark.parametrize("moved", [-(10**9), -N, N, 10**9])
@pytest.mark.parametrize("dense", [True, False])
def test_whatever_noise_made_of_the_sums_there_is_a_model(moved: int, dense: bool) -> None:
    model = Dense(DOMAIN, mass_of(4))
    after = asked(model if dense else Hidden(model), Without(table_of(mass_of(4)), moved))
    if isinstance(after, Dense):
        assert np.isfinite(after.mass).all() and (after.mass >= 0).all()
        assert after.mass.sum() == pytest.approx(N)
    assert after.sample(100, np.random.default_rng(0)).n == 100


def test_nothing_is_asked_where_there_is_nothing_to_ask() -> None:
    model, curator = Dense(DOMAIN, mass_of(1)), Curator.rehearsal(rehearse(table_of(mass_of(1))), 1)
    assert asked(model, curator, None) is model
    known = Known(N)
    assert corrected(model, curator, known, {}, np.random.default_rng(1)) is model
    assert corrected(model, curator, known, SHARE, np.random.default_rng(1)) is model


def test_rows_without_a_score_leave_the_model_as_it_is() -> None:
    """A score that is nothing everywhere has nothing to say, and its clip is still one."""
    nothing = RowScores(DOMAIN, ((Factor(0),),))
    model = Dense(DOMAIN, mass_of(1))
    after = asked(model, Curator.rehearsal(rehearse(table_of(mass_of(1))), 1), nothing)
    assert isinstance(after, Dense)
    assert after.mass == pytest.approx(model.mass, rel=1e-6)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.synthesizers.interactions import composed, interactions
from facsimile.table.domain import Clique, Domain
from facsimile.table.exact import Floats
from facsimile.table.measurement import Measurement
from synthesizers.test_junction import domain_of, quick

DOMAIN = domain_of((2, 3, 2), ("a", "b", "c"))
CLIQUES: list[Clique] = [("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]
SOME = st.lists(st.sampled_from(CLIQUES), min_size=1, max_size=5, unique=True)
TOTAL = 50.0


def answers_of(domain: Domain, cliques: list[Clique], seed: int) -> list[Measurement]:
    random = np.random.default_rng(seed)
    return [
        Measurement.fine(clique, random.normal(5, 9, domain.sizes(clique)), float(random.uniform(0.5, 800)))
        for clique in cliques
    ]


def summing(domain: Domain, clique: Clique) -> Floats:
    """The matrix that takes a full table to its marginal."""
    others = tuple(place for place, name in enumerate(domain.names) if name not in clique)
    units = np.eye(domain.cells).reshape(domain.cells, *domain.shape)
    return np.asarray(units.sum(axis=tuple(place + 1 for place in others)).reshape(domain.cells, -1).T)


@quick
@given(SOME, st.integers(0, 10_000))
def test_composed_marginals_are_the_weighted_least_squares_estimate(cliques: list[Clique], seed: int) -> None:
    answers = answers_of(DOMAIN, cliques, seed)
    rows = [summing(DOMAIN, answer.columns) / answer.scale for answer in answers]
    values = [answer.counts.ravel() / answer.scale for answer in answers]
    design = np.vstack([*rows, 1e6 * np.ones((1, DOMAIN.cells))])
    table = np.linalg.lstsq(design, np.concatenate([*values, [1e6 * TOTAL]]), rcond=1e-12)[0]
    components = interactions(DOMAIN, answers, TOTAL)
    for answer in answers:
        expected = (summing(DOMAIN, answer.columns) @ table).reshape(answer.counts.shape)
        assert composed(DOMAIN, components, answer.columns) == pytest.approx(expected, abs=1e-3)


@quick
@given(SOME, st.integers(0, 10_000))
def test_composed_marginals_agree_where_they_overlap(cliques: list[Clique], seed: int) -> None:
    components = interactions(DOMAIN, answers_of(DOMAIN, cliques, seed), TOTAL)
    for clique in cliques:
        found = composed(DOMAIN, components, clique)
        assert found.sum() == pytest.approx(TOTAL)
        for axis, name in enumerate(clique):
            others = tuple(other for other in range(len(clique)) if other != axis)
            assert found.sum(axis=others) == pytest.approx(composed(DOMAIN, components, (name,)))

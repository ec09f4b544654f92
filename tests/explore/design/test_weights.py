"""Weights: shares go where the criteria need them."""

from __future__ import annotations

from facsimile.explore.design import searched
from facsimile.explore.design.draft import LEAST, Draft
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.explore.design.weights import weighted
from workloads import EPSILON, small


def test_a_column_that_no_criterion_needs_gets_little() -> None:
    specification, table = small()
    mean_only = specification.model_copy(update={"criteria": specification.criteria[:1]})
    rehearsals = Rehearsals(mean_only, table, specification.alternatives_named(""), EPSILON)
    structures = searched(rehearsals, False, 10, lambda _: None)
    assert structures is not None
    draft = Draft.of(table.domain, [(4, 5, 1)])
    prediction = structures.predicted(draft)
    better, _ = weighted(draft, prediction, 0.02, prediction.first_bias, 30)
    assert better.shares[2] < 3 * LEAST < better.shares[3]

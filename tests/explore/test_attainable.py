"""Attainable thresholds: another sample, the prediction, and what a threshold costs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from facsimile.acceptance.candidate import exact_errors
from facsimile.explore.attainable import PAIRS, Attainable, attainable, costliest, foreseen
from facsimile.privacy.renyi import rho_of
from facsimile.release.questions import made_up
from facsimile.spec.families import Grid
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.table.table import Table
from specs import SMALL
from workloads import DELTA, small

OWN = {"measurements": "each; a*b", "weights": "3; 2"}


def specified(
    own: dict[str, str], generator: str = "1", delta: Fraction = Fraction(0)
) -> tuple[Specification, Table]:
    specification, table = small(delta)
    grid = Grid(family="workload", grid={name: [text] for name, text in own.items()})
    budget = specification.budget.model_copy(update={"generator": Fraction(generator)})
    return specification.model_copy(update={"families": (grid,), "budget": budget}), table


@pytest.fixture(scope="module")
def lines() -> tuple[Attainable, ...]:
    return attainable(*specified(OWN))


def test_every_criterion_has_a_line_and_its_threshold(lines: tuple[Attainable, ...]) -> None:
    specification, _ = specified(OWN)
    assert [(line.criterion, line.threshold) for line in lines] == [
        (criterion.name, float(criterion.threshold)) for criterion in specification.criteria
    ]
    assert all(line.wider == pytest.approx(1.5 * line.threshold) for line in lines)


def test_another_sample_is_as_far_as_pairs_of_samples_are(lines: tuple[Attainable, ...]) -> None:
    """The ninth of ten errors lies between the middle and the largest of many, but for chance 1e-6: 21 of 40
    errors below it, and not one of ten above all of 200."""
    specification, table = specified(OWN)
    spec, random = specification.sized(table.n), np.random.default_rng(5)
    errors = []
    for _ in range(200):
        pair = random.multinomial(table.n, table.counts / table.n, size=2)
        both = [Table.from_rows(table.domain, table.codes, counts) for counts in pair]
        errors.append([verdict.value or 0.0 for verdict in exact_errors(spec, *both)])
    for line, found in zip(lines, np.array(errors).T, strict=True):
        assert line.fresh is not None
        assert np.median(found) < line.fresh < 1.5 * found.max(), PAIRS


def test_what_is_predicted_falls_with_epsilon(lines: tuple[Attainable, ...]) -> None:
    """To the bias of the fit without noise: what real candidates do is tested with the prediction itself."""
    less = attainable(*specified(OWN, "0.25"))
    for one, four in zip(lines, less, strict=True):
        assert one.predicted is not None and four.predicted is not None
        assert 2 < four.predicted / one.predicted < 8


def test_a_wider_threshold_never_costs_more(lines: tuple[Attainable, ...]) -> None:
    assert all(line.saved >= 0 for line in lines)
    best = costliest(lines)
    assert best is not None and best.saved == max(line.saved for line in lines)


def test_what_is_needed_does_not_depend_on_the_declared_epsilon(lines: tuple[Attainable, ...]) -> None:
    """Up to a rung of the ladder, an eighth of an octave; but for what groups and biases change."""
    other = attainable(*specified(OWN, "2"))
    for one, two in zip(lines, other, strict=True):
        assert one.needed is not None and two.needed is not None
        assert abs(np.log2(one.needed / two.needed)) <= 0.26


def test_with_delta_noise_and_the_epsilon_that_is_needed_are_those_of_rho() -> None:
    """At a great δ noise is far from 1/ε: the epsilon that is needed is needed where it is declared, too."""
    great = Fraction(1, 50)
    told = attainable(*specified(OWN, "0.02", great))[0].needed
    assert told is not None and told < 0.01
    again = attainable(*specified(OWN, str(told), great))[0].needed
    assert again is not None and abs(np.log2(again / told)) <= 0.26
    found = [attainable(*specified(OWN, generator, DELTA)) for generator in ("1", "2")]
    pure = attainable(*specified(OWN))
    assert all(
        delta.predicted is not None and without.predicted is not None and delta.predicted > without.predicted
        for delta, without in zip(found[0], pure, strict=True)
    )
    lines, less = found[0], attainable(*specified(OWN, "0.5", DELTA))
    quieter = float(rho_of(Fraction(1), DELTA) / rho_of(Fraction(1, 2), DELTA)) ** 0.5
    for line, other in zip(lines, less, strict=True):
        assert line.predicted is not None and other.predicted is not None
        assert other.predicted / line.predicted == pytest.approx(quieter, rel=0.3)


def test_a_workload_that_cannot_be_read_predicts_nothing() -> None:
    specification, table = specified({"measurements": "auto", "weights": "auto"})
    assert foreseen(specification, table, Fraction(1)) is None
    assert all(
        line.predicted is line.needed is None and line.saved == 0 for line in attainable(specification, table)
    )


def test_columns_of_one_bin_leave_nothing_to_predict() -> None:
    """Once `check --public` failed on such a table: a design had no table to measure."""
    spec = validated(
        SMALL
        | {
            "columns": [{"name": "a", "description": "A", "values": ["x"], "alternatives": {"all": ["x"]}}],
            "constraints": {"policy": "declared", "raw": []},
            "families": [{"family": "workload", "grid": {"measurements": ["each"]}}],
        }
    )
    (line,) = attainable(spec, made_up(spec, spec.first))
    assert line.fresh == 0 and line.predicted is None

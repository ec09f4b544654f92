"""Sums from noisy tables: exact without noise, as precise as the theory says, and covered as they say."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bases import domain_of, noisy_table, plausible_rows, specification, tables
from facsimile.analysis.basis import NoisyTable
from facsimile.analysis.noisy import NoisyCounts, Sum
from facsimile.analysis.tails import law_of
from facsimile.privacy.budget import Rho
from facsimile.table.exact import Floats
from facsimile.table.table import Table

SPEC = specification()
DOMAIN = domain_of(SPEC)
ONE = Table.from_rows(DOMAIN, [plausible_rows(SPEC)[i % 16] for i in range(SPEC.n)])
SHARE = Fraction(1)


def counts(*given: NoisyTable, rules: bool = False) -> NoisyCounts:
    return NoisyCounts(DOMAIN, SPEC.n, given, never=SPEC.raw_conditions if rules else ())


def mask(shape: tuple[int, ...], *cells: tuple[int, ...]) -> Floats:
    found = np.zeros((1, *shape))
    for cell in cells:
        found[(0, *cell)] = 1
    return found


def only(noisy: NoisyCounts, columns: tuple[str, ...], queries: Floats) -> Sum:
    ((_, (found,)),) = noisy.told(columns, queries).every
    assert found is not None
    return found


@pytest.mark.parametrize("chosen", [1, 2, 3, 5, 8])
def test_knowing_n_leaves_the_variance_of_the_closed_form(chosen: int) -> None:
    """J of K cells: J(1 − J/K)·2a/(1 − a)²."""
    cells = list(product(range(3), range(3)))
    noisy = counts(noisy_table(ONE, ("age", "sex"), SHARE))
    found = only(noisy, ("age", "sex"), mask((3, 3), *cells[:chosen]))
    a = exp(-0.5)
    assert found.variance == pytest.approx(chosen * (1 - chosen / 9) * 2 * a / (1 - a) ** 2, rel=1e-6)


def test_cells_that_rules_forbid_are_known_to_be_empty() -> None:
    """Eight cells are left of nine, so one of them has 7/8 of the variance instead of 8/9."""
    noisy = counts(noisy_table(ONE, ("age", "sex"), SHARE), rules=True)
    one = law_of(SHARE).variance
    assert only(noisy, ("age", "sex"), mask((3, 3), (0, 0))).variance == pytest.approx(one * 7 / 8)
    assert only(noisy, ("age", "sex"), mask((3, 3), (2, 0))).variance == pytest.approx(0, abs=1e-12)


def test_two_tables_of_the_same_columns_are_weighted_by_their_precision() -> None:
    noisy = counts(noisy_table(ONE, ("age",), SHARE), noisy_table(ONE, ("age",), Rho(1, 4)))
    own = 1 / (1 / law_of(SHARE).variance + 1 / law_of(Rho(1, 4)).variance)
    assert only(noisy, ("age",), mask((3,), (1,))).variance == pytest.approx(own * 2 / 3)


def test_a_table_is_summed_over_its_other_columns_and_its_noise_with_it() -> None:
    noisy = counts(noisy_table(ONE, ("sex", "colour", "age"), SHARE))
    found = only(noisy, ("age",), mask((3,), (1,)))
    assert found.variance == pytest.approx(6 * law_of(SHARE).variance * 2 / 3)
    assert found.half_width(0.05) > 1.9 * sqrt(found.variance), "each of the summed cells counts"


@settings(max_examples=40)
@given(
    tables(SPEC), st.integers(0, 2**9 - 1), st.booleans(), st.sampled_from([("age", "sex"), ("age",), ("sex",)])
)
def test_without_noise_every_estimate_is_exact(
    real: Table, cells: int, rules: bool, columns: tuple[str, ...]
) -> None:
    given_tables = (
        noisy_table(real, ("colour", "age"), SHARE),
        noisy_table(real, ("sex", "age"), SHARE, age=[0, 0, 1]),
        noisy_table(real, ("age", "sex"), Rho(1, 3)),
        noisy_table(real, ("sex",), SHARE, sex=[0, 1, 1]),
    )
    shape = tuple(DOMAIN.axis(name).size for name in columns)
    query = np.array([cells >> i & 1 for i in range(int(np.prod(shape)))], np.float64).reshape((1, *shape))
    found = only(counts(*given_tables, rules=rules), columns, query)
    assert found.value(given_tables) == pytest.approx(
        float((real.marginal(columns) * query[0]).sum()), abs=1e-6
    )
    assert found.slip < 1e-5


def test_what_tables_do_not_determine_they_do_not_tell() -> None:
    noisy = counts(noisy_table(ONE, ("age",), SHARE), noisy_table(ONE, ("sex",), SHARE))
    assert not noisy.told(("age", "sex"), mask((3, 3), (0, 0))).every
    grouped = counts(noisy_table(ONE, ("age",), SHARE, age=[0, 0, 1]))
    assert not grouped.told(("age",), mask((3,), (0,))).every
    assert grouped.told(("age",), mask((3,), (0,), (1,))).every


def test_groups_of_one_table_and_bins_of_another_are_solved_together() -> None:
    """The group of ages 0 and 1 tells a little more of age 1 than its own cell does."""
    fine, coarse = noisy_table(ONE, ("age",), SHARE), noisy_table(ONE, ("age",), SHARE, age=[0, 0, 1])
    alone = only(counts(fine), ("age",), mask((3,), (0,), (1,))).variance
    assert only(counts(fine, coarse), ("age",), mask((3,), (0,), (1,))).variance < alone


def test_equal_cells_have_equal_weights_in_floats_too() -> None:
    noisy = counts(noisy_table(ONE, ("age", "sex", "colour"), SHARE), noisy_table(ONE, ("age",), SHARE))
    found = only(noisy, ("age", "sex", "colour"), mask((3, 3, 2), (0, 0, 0)))
    assert len(np.unique(np.abs(found.weights))) <= 6


def test_planned_and_chosen_tables_speak_alone_at_parts_that_noise_has_no_say_in() -> None:
    def told(*forms: NoisyTable) -> list[float]:
        noisy = NoisyCounts(DOMAIN, SPEC.n, forms, (("age", "sex"), ("age", "colour")), more=True)
        return [part for part, _ in noisy.told(("age",), mask((3,), (0,))).every]

    fixed = noisy_table(ONE, ("age",), SHARE)
    planned = noisy_table(ONE, ("age", "sex"), SHARE, form="planned")
    useless = noisy_table(ONE, ("age", "sex"), SHARE, form="planned", age=[0, 0, 1])
    chosen = noisy_table(ONE, ("age", "sex"), SHARE, form="chosen")
    other = noisy_table(ONE, ("sex",), SHARE, form="chosen")
    assert told(fixed)[0] == told(fixed, useless)[0] == told(fixed, planned)[0] == pytest.approx(1 / 4)
    everyone = told(fixed, planned, planned, *[chosen] * 400)
    assert sum(everyone) <= 1 and everyone[3:5] == pytest.approx([6 / np.pi**2 / 4, 6 / np.pi**2 / 16])
    assert told(other, chosen)[0] == pytest.approx(6 / np.pi**2 / 4 / 3)


def test_too_many_atoms_fall_back_to_the_best_single_table() -> None:
    from facsimile.analysis import noisy as module

    tables_ = (noisy_table(ONE, ("age",), SHARE), noisy_table(ONE, ("age", "sex"), SHARE))
    query = mask((3, 3), (0, 0), (1, 1), (2, 0))
    before, module.MOST_ATOMS = module.MOST_ATOMS, 2
    try:
        assert not counts(*tables_).told(("age", "sex"), query).every
    finally:
        module.MOST_ATOMS = before
    assert counts(*tables_).told(("age", "sex"), query).every


@pytest.mark.parametrize("beta", [0.3, 0.05])
def test_estimates_are_covered_by_exact_enumeration_of_all_noise(beta: float) -> None:
    """A table of three cells and one of two groups: every outcome of five noises that weighs more than 10⁻⁹."""
    share, reach = Fraction(3), 9
    real = (
        noisy_table(ONE, ("sex",), share),
        noisy_table(ONE, ("sex",), share, sex=[0, 0, 1]),
    )
    found = only(counts(*real), ("sex",), mask((3,), (1,)))
    a, z = exp(-1.5), np.arange(-reach, reach + 1)
    law = (1 - a) / (1 + a) * a ** np.abs(z)
    width, error, chance = found.half_width(beta), np.zeros(1), np.ones(1)
    for weight in found.weights.tolist():
        error = np.add.outer(error, weight * z).ravel()
        chance = np.multiply.outer(chance, law).ravel()
        kept = chance > 1e-9
        error, chance = error[kept], chance[kept]
    missed = chance[np.abs(error) > width].sum()
    assert missed <= beta
    assert missed > beta / 8, "and not much wider than it must be"

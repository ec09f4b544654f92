"""Designs for wide tables: found on one table, worth something on another."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.explore.design import wide
from facsimile.explore.design.law import GAUSSIAN, LAPLACE
from facsimile.explore.design.wide import Draft, StandIn, Trial, designed
from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.workload import Workload
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from synthesizers.test_junction import domain_of

NAMES = ("a", "b", "c", "d", "e")
EPSILON = Fraction(2)


def chain(n: int = 2000, codes: int = 4, seed: int = 1) -> Table:
    """Each column follows the one before it, most of the time."""
    random = np.random.default_rng(seed)
    columns = [random.integers(codes, size=n)]
    for _ in NAMES[1:]:
        columns.append(np.where(random.random(n) < 0.8, columns[-1], random.integers(codes, size=n)))
    return Table.from_rows(domain_of((codes,) * 5, NAMES), np.column_stack(columns))


@pytest.fixture(scope="module")
def design() -> Draft:
    return designed(chain(), Known(2000), EPSILON, rounds=1)


def test_a_design_on_one_table_lowers_the_distance_on_another(design: Draft) -> None:
    other = chain(seed=2)
    trial = Trial(other, Known(2000), EPSILON, seed=7)
    alone = Draft({(name,): 1.0 for name in NAMES}, {})
    assert trial.value(design) < trial.value(alone) / 2


def test_a_design_is_a_text_that_the_workload_reads(design: Draft) -> None:
    Workload(design.measurements, design.weights).check(chain().domain, 2000, EPSILON)
    assert {name for clique in design.tables for name in clique} == set(NAMES)


def test_the_links_of_a_chain_are_found(design: Draft) -> None:
    for link in pairwise(NAMES):
        assert any({*link} <= {*clique} for clique in design.tables), design.measurements


def test_a_table_keeps_its_noise_when_others_come_and_go() -> None:
    answers = StandIn(chain(), 3)
    few = answers.run(NoisyMarginals(((("a", "b"), Fraction(1)),)))
    many = answers.run(NoisyMarginals(((("c",), Fraction(1)), (("a", "b"), Fraction(1, 2)))))
    true = chain().marginal(("a", "b"))
    assert many[1].counts - true == pytest.approx(2 * (few[0].counts - true), abs=2)
    assert np.abs(few[0].counts - true).max() > 0


def test_fewer_public_records_are_made_up_for_by_epsilon() -> None:
    """The noise of a table, as a share of the records, is what it would be in the release."""
    seen: list[tuple[Fraction, int]] = []

    def noted(trial: Trial, draft: Draft) -> float:
        seen.append((trial.budget, trial.known.n))
        return 0.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trial, "value", noted)
        designed(chain(500), Known(2000), Fraction(1), rounds=1)
    assert set(seen) == {(Fraction(4), 500)}


def test_of_a_rho_the_noise_is_gaussian_and_twice_as_large_at_a_quarter() -> None:
    """2,000 cells: the fourth moment over the squared second is 3, not the 6 of Laplace noise."""
    wide_one = Table.from_rows(domain_of((2000,), ("a",)), np.zeros((10, 1), np.int64))
    few, many = (
        StandIn(wide_one, 3).run(NoisyMarginals(((("a",), rho),)))[0] for rho in (Rho(1, 900), Rho(1, 3600))
    )
    noise = few.counts - wide_one.marginal(("a",))
    assert many.counts - wide_one.marginal(("a",)) == pytest.approx(2 * noise, abs=2)
    assert few.variance == pytest.approx(900) and noise.var() == pytest.approx(900, rel=0.3)
    assert (noise**4).mean() / noise.var() ** 2 == pytest.approx(3, abs=1)


def test_fewer_public_records_are_made_up_for_by_the_square_of_rho() -> None:
    seen: set[Fraction] = set()

    def noted(trial: Trial, draft: Draft) -> float:
        seen.add(trial.budget)
        return 0.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trial, "value", noted)
        designed(chain(500), Known(2000), Rho(1, 100), rounds=1)
    assert seen == {Rho(16, 100)}


def test_a_design_for_a_rho_lowers_the_distance_on_another_and_begins_where_it_is_told(design: Draft) -> None:
    budget = Rho(1, 20)
    begun = designed(chain(), Known(2000), budget, rounds=1, begin=design.under(GAUSSIAN))
    trial = Trial(chain(seed=2), Known(2000), budget, seed=7)
    alone = Draft({(name,): 1.0 for name in NAMES}, {}, GAUSSIAN)
    assert begun.law == GAUSSIAN and trial.value(begun) < trial.value(alone) / 2


@given(st.lists(st.floats(0.1, 20), min_size=5, max_size=5))
def test_weights_under_the_other_law_and_back_are_the_same(weights: list[float]) -> None:
    draft = Draft({(name,): weight for name, weight in zip(NAMES, weights, strict=True)}, {})
    back = draft.under(GAUSSIAN).under(LAPLACE)
    assert [*back.tables.values()] == pytest.approx(weights)
    assert draft.under(GAUSSIAN).tables[("a",)] == pytest.approx(weights[0] ** (4 / 3))


def test_numbers_of_many_codes_are_measured_alone_and_in_groups() -> None:
    number = Axis("number", parse_bins(["0..39"], Fraction(1)))
    domain = Domain((number, *domain_of((30, 3), ("name", "sex")).axes))
    rows = np.random.default_rng(1).integers((40, 30, 3), size=(500, 3))
    groups = wide._groups(Table.from_rows(domain, rows))
    assert list(groups) == ["number"], "codes without an order are not grouped"
    draft = Draft({("number", "sex"): 2.0, ("number",): 1.0, ("name", "sex"): 0.5}, {"number": 7})
    assert draft.measurements == "number; number@7*sex; name*sex"
    assert draft.weights == "1.000; 2.000; 0.500"
    assert draft.cells(domain, ("number", "sex")) == 21


def test_a_text_longer_than_a_specification_takes_is_worth_nothing() -> None:
    trial = Trial(chain(), Known(2000), EPSILON)
    cliques: dict[tuple[str, ...], float] = {(*NAMES[:2], f"{place}"): 1.0 for place in range(200)}
    assert trial.value(Draft(cliques, {})) == 1.0


TABLES = st.dictionaries(
    st.sets(st.sampled_from(NAMES), min_size=1, max_size=3).map(lambda names: tuple(sorted(names))),
    st.floats(0.1, 9),
    min_size=1,
)


@settings(deadline=None, max_examples=25)
@given(TABLES, st.sets(st.sampled_from(NAMES)))
def test_no_step_loses_a_column_or_a_weight(tables: dict[tuple[str, ...], float], cut: set[str]) -> None:
    singles: dict[tuple[str, ...], float] = {(name,): 1.0 for name in NAMES}
    draft = Draft(tables | singles, dict.fromkeys(cut, 2))
    trial = Trial(chain(), Known(2000), EPSILON)
    for step in wide._dropping(trial, draft):
        tried = step(draft)
        if tried is not None:
            fine = {name for one in tried.tables for name in one if len(one) == 1 or name not in cut}
            assert fine == set(NAMES)
            draft = tried
    total = sum(draft.tables.values())
    for step in wide._joining(trial, draft):
        tried = step(draft)
        if tried is not None:
            assert sum(tried.tables.values()) == pytest.approx(total)
            draft = tried

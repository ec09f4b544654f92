"""Decisions: margins against the exact tail, tests against simulated noise, free rejections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from facsimile.acceptance.bounds import bound
from facsimile.acceptance.candidate import Candidate, exact_errors
from facsimile.acceptance.decision import (
    GRID,
    Asked,
    JointTest,
    Measured,
    fine_grid,
    margin,
)
from facsimile.acceptance.kind import kind_of
from facsimile.acceptance.kinds.marginals import RelativeKind
from facsimile.acceptance.regression import DRAWS, Fit, fit_once
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import Answer
from facsimile.privacy.modes import Coin
from facsimile.privacy.noise import SystemNoise
from facsimile.privacy.queries import LargestDifference
from facsimile.privacy.reader import read_public, rehearse
from facsimile.spec.criteria import Criterion, MarginalsRelative, RegressionCoefficients, RegressionError
from facsimile.spec.formula import Formula
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.table import Table
from facsimile.testing.laws import ALPHA
from specs import small

Pair = tuple[Specification, Table, Table]


@pytest.fixture(scope="module")
def pair(births: Path) -> Pair:
    """A simulated births table, and one in which every tenth record is another."""
    specification = load(births / "released.yaml")
    specification = specification.sized(20_000)
    facts = load_facts(births / "facts.yaml")
    first = specification.alternatives_named("released")
    one, other = (
        recode(specification, read_public(simulate(facts, 20_000, seed), specification), first)
        for seed in (1, 2)
    )
    rows = np.where(np.arange(20_000)[:, None] % 10 == 0, other.records(), one.records())
    return specification, one, Table.from_rows(one.domain, rows)


def rehearsal(table: Table, seed: int = 0) -> Curator:
    return Curator.rehearsal(rehearse(table), seed)


def joint_test(
    candidate: Candidate, criteria: Sequence[Criterion], epsilon: Fraction, p: Fraction
) -> JointTest | None:
    """The test of some criteria, with a chance of its own."""
    only = candidate.specification.model_copy(update={"criteria": tuple(criteria)})
    found = replace(candidate, specification=only).joint_test(epsilon)
    return None if found is None else replace(found, luck=p)


def measure(asked: Asked, curator: Curator, epsilon: Fraction) -> Measured:
    return asked.measured(curator.run(asked.question(epsilon)))


def refit(candidate: Candidate, criterion: RegressionCoefficients, answers: Any) -> tuple[Measured, Fit] | None:
    measured, found = kind_of(criterion, "paper").measure(candidate, answers)
    assert found.refit is not None or measured is None
    return None if measured is None or found.refit is None else (measured, found.refit)


def tail(t: int, epsilon: Fraction, units: int) -> float:
    a = math.exp(-float(epsilon) / units)
    return a**t / (1 + a)


@given(
    st.fractions(Fraction(1, 10**6), Fraction(99, 100)),
    st.fractions(Fraction(1, 100), Fraction(20), max_denominator=1000),
    st.sampled_from([1, 7, 1024]),
)
def test_a_margin_is_the_smallest_that_the_exact_tail_allows(
    p: Fraction, epsilon: Fraction, units: int
) -> None:
    t = margin(p, epsilon, units)
    assert tail(t, epsilon, units) <= float(p) * (1 + 1e-9)
    if t > 1 and epsilon < units:
        assert tail(t - 2, epsilon, units) > float(p) * (1 - 1e-9)


@given(
    st.integers(2, 40),
    st.fractions(Fraction(1, 10), Fraction(1), max_denominator=97),
    st.fractions(Fraction(1, 2), Fraction(8), max_denominator=20),
    st.fractions(Fraction(1, 400), Fraction(1, 4), max_denominator=400),
)
def test_what_is_tested_by_its_own_noise_passes_by_luck_as_seldom_as_stated(
    n: int, limit: Fraction, epsilon: Fraction, luck: Fraction
) -> None:
    """A value of exactly the limit, or anything above it: ⌊K·T⌋, not ⌈K·T⌉, is what noise starts from."""
    kind = kind_of(small().criteria[0].model_copy(update={"epsilon": epsilon}))
    table = Table.from_rows(*_small_table(small().sized(n), [[0, 0]] * n))
    asked = Asked(kind, LargestDifference(table), limit, limit).guarded(luck)
    assert fine_grid(asked.sensitivity) == n
    last = math.ceil(n * asked.tested_at) - 1
    assert [asked.measured(Answer(z, n)).met for z in (last, last + 1)] == [True, False]
    t = math.floor(n * limit) - last
    assert tail(t, epsilon, 1) <= float(luck) * (1 + 1e-9)
    if t > 1 and epsilon < 1:
        assert tail(t - 2, epsilon, 1) > float(luck) * (1 - 1e-9)


@pytest.mark.parametrize("luck", [Fraction(1, 20), Fraction(1, 400)])
def test_its_margin_is_that_of_the_noise_that_is_drawn(pair: Pair, luck: Fraction) -> None:
    """Sensitivities of many units of their grid, and of one."""
    specification, _, synthetic = pair
    units = set()
    for criterion in specification.criteria:
        if not isinstance(criterion, RegressionError):
            plain = Candidate(specification, synthetic).asked(criterion, "sharp")
            assert plain is not None
            question, asked = plain.question(), plain.guarded(luck)
            units.add(question.units)
            t = math.floor(question.grid * plain.limit) - (asked.tested_at * question.grid - 1)
            assert t.denominator == 1
            assert tail(int(t), question.epsilon, question.units) <= float(luck) * (1 + 1e-9)
            assert tail(int(t) - 2, question.epsilon, question.units) > float(luck) * (1 - 1e-9)
    assert min(units) == 1 and max(units) > 1_000


def test_the_check_values_of_a_coin() -> None:
    """α = γ = 0.05: luck 0.0026247, not αγ; at K = 1024 and ε = 0.2 a margin of 26,879, not 27,128."""
    luck = Coin(gamma=Fraction(1, 20), false_accept=Fraction(1, 20)).luck
    assert float(luck) == pytest.approx(0.0026247, abs=1e-7)
    assert margin(luck, Fraction(1, 5), GRID) == 26_879
    assert margin(Fraction(1, 400), Fraction(1, 5), GRID) == 27_128


def test_the_joint_test_accepts_a_bad_candidate_no_more_often_than_stated() -> None:
    specification = small()
    domain_rows = [[0, 0]] * 3 + [[1, 1]] * 3
    candidate = Table.from_rows(*_small_table(specification, domain_rows))
    bad = Table.from_rows(*_small_table(specification, [[2, 1], *domain_rows[1:]]))
    p = Fraction(1, 10)
    test = joint_test(Candidate(specification, candidate), specification.criteria, Fraction(1), p)
    assert test is not None
    question = test.question()
    assert question.query.value(bad, SystemNoise()) >= 0
    draws = 4_000
    curator = rehearsal(bad, 5)
    accepted = sum(test.accepts(curator.run(question)) for _ in range(draws))
    assert accepted <= binom.ppf(1 - ALPHA, draws, float(p))
    assert accepted > 0, "a test that never errs keeps too large a margin"


def _small_table(specification: Specification, rows: list[list[int]]) -> tuple[Any, list[list[int]]]:
    from facsimile.table.domain import Domain

    names = {c.name: next(iter(c.alternatives)) for c in specification.columns}
    return Domain(specification.axes(names)), rows


def test_a_boundary_answer_is_accepted_and_the_next_is_not() -> None:
    test = JointTest((), Fraction(1), Fraction(1, 20))
    assert test.accepts(Answer(-test.margin, GRID))
    assert not test.accepts(Answer(1 - test.margin, GRID))


@given(st.fractions(Fraction(1, 10**9), Fraction(1000)))
def test_rounding_a_sensitivity_up_to_the_grid_costs_less_than_a_thousandth(delta: Fraction) -> None:
    grid = fine_grid(delta)
    units = math.ceil(grid * delta)
    assert units >= grid * delta
    assert units <= grid * delta * (1 + Fraction(1, 1000))


def test_what_no_record_can_move_has_a_grid_too() -> None:
    assert fine_grid(Fraction(0)) == 1


def test_births_pass_the_joint_test_and_a_shuffled_table_does_not(pair: Pair) -> None:
    specification, real, synthetic = pair
    curator = rehearsal(real, 3)
    fit = fit_once(curator, specification, Formula("birth_weight"), Fraction(20))
    chance = Fraction(1, 400)
    good = joint_test(Candidate(specification, synthetic, fit), specification.criteria, Fraction(2), chance)
    assert good is not None
    assert not good.hopeless()
    assert good.accepts(curator.run(good.question()))
    columns = [np.random.default_rng(i).permutation(c) for i, c in enumerate(synthetic.records().T)]
    shuffled = Table.from_rows(real.domain, np.column_stack(columns))
    bad = joint_test(Candidate(specification, shuffled, fit), specification.criteria, Fraction(2), chance)
    assert bad is not None
    assert not bad.accepts(curator.run(bad.question()))


def test_what_the_candidate_alone_decides_costs_nothing(pair: Pair) -> None:
    specification, _, synthetic = pair
    constant = Table.from_rows(synthetic.domain, np.zeros((20_000, 6), int))
    weak = joint_test(
        Candidate(specification, synthetic), specification.criteria, Fraction(2), Fraction(1, 400)
    )
    assert weak is None, "without a regression of the original the gap of predictions cannot be asked"
    singular = joint_test(
        Candidate(specification, constant), specification.criteria[5:6], Fraction(1), Fraction(1, 9)
    )
    assert singular is None
    regressions = (RegressionError, RegressionCoefficients)
    without = [c for c in specification.criteria if not isinstance(c, regressions)]
    test = joint_test(Candidate(specification, constant), without, Fraction(1, 5), Fraction(1, 400))
    assert test is not None
    assert "marginals-relative" in test.hopeless()
    assert "mean-birth_weight" in test.hopeless()


@pytest.mark.parametrize("form", ["paper", "sharp"])
def test_with_plenty_of_budget_a_measurement_is_the_exact_error(pair: Pair, form: Any) -> None:
    specification, real, synthetic = pair
    curator = rehearsal(real)
    exact = {v.name: v for v in exact_errors(specification, real, synthetic)}
    fit = fit_once(curator, specification, Formula("birth_weight"), Fraction(10**6))
    for criterion in specification.criteria:
        asked = Candidate(specification, synthetic, fit).asked(criterion, form)
        assert asked is not None
        found = measure(asked, curator, Fraction(10**6))
        wanted = exact[criterion.name]
        assert wanted.value is not None and found.value is not None
        assert float(found.value) == pytest.approx(wanted.value, rel=0.1, abs=0.1 * float(criterion.threshold))
        assert found.met is wanted.met is True
        assert found.tested_at <= max(criterion.threshold, asked.limit) + Fraction(1, found.grid)


def test_a_ratio_is_tested_at_a_number_that_no_candidate_moves(pair: Pair) -> None:
    specification, real, synthetic = pair
    criterion = next(c for c in specification.criteria if isinstance(c, MarginalsRelative))
    lopsided = Table.from_rows(synthetic.domain, synthetic.codes[:1], [synthetic.n])
    for table in (synthetic, real, lopsided):
        asked = Candidate(specification, table).asked(criterion)
        assert asked is not None
        found = measure(asked, rehearsal(real), criterion.epsilon)
        assert found.tested_at == RelativeKind(criterion, "paper").lowered
    joint = specification.model_copy(update={"scheme": "test-then-measure"})
    asked = Candidate(joint, synthetic).asked(criterion)
    assert asked is not None and asked.tested_at == asked.limit == criterion.threshold


@pytest.mark.parametrize("at", ["1.3", "1.4", "2"])
def test_a_noisy_ratio_passes_strictly_below_what_it_is_tested_at(pair: Pair, at: str) -> None:
    specification, _, synthetic = pair
    found = next(c for c in specification.criteria if isinstance(c, MarginalsRelative))
    given = found.model_copy(update={"tested_at": Fraction(at)})
    asked = Candidate(specification, synthetic).asked(given)
    assert asked is not None and asked.tested_at == Fraction(at)
    grid = fine_grid(asked.sensitivity)
    for units in range(math.floor(Fraction(at) * grid) - 2, math.ceil(Fraction(at) * grid) + 3):
        assert asked.measured(Answer(units, grid)).met is (Fraction(units, grid) < Fraction(at))


def test_a_ratio_far_above_its_clip_is_not_accepted_whatever_the_threshold(pair: Pair) -> None:
    """Once a threshold above the clip accepted everything; and the published bound was below the truth."""
    specification, real, synthetic = pair
    found = next(c for c in specification.criteria if isinstance(c, MarginalsRelative))
    loose = found.model_copy(update={"threshold": Fraction(100)})
    lopsided = Table.from_rows(synthetic.domain, synthetic.codes[:1], [synthetic.n])
    asked = Candidate(specification, lopsided).asked(loose, "paper")
    assert asked is not None and asked.limit == found.clip
    test = JointTest((asked,), Fraction(2), Fraction(1, 400))
    curator = rehearsal(real)
    assert not any(test.accepts(curator.run(test.question())) for _ in range(50))
    measured = measure(asked, curator, Fraction(10))
    assert bound(measured, Fraction(10), in_loop=False, alpha=Fraction(1, 20)) is None
    assert not measured.met


def test_the_papers_coefficients_come_from_a_noisy_fit(pair: Pair) -> None:
    specification, real, synthetic = pair
    criterion = next(c for c in specification.criteria if isinstance(c, RegressionCoefficients))
    exact = next(v for v in exact_errors(specification, real, synthetic) if v.name == criterion.name)
    rich = criterion.model_copy(update={"epsilon": Fraction(10**5)})
    found = refit(Candidate(specification, synthetic), rich, rehearsal(real))
    assert found is not None and exact.value is not None
    measured, fit = found
    assert float(measured.value or 0) == pytest.approx(exact.value, abs=1.5)
    assert len(fit.coefficients) == 6
    constant = Table.from_rows(synthetic.domain, np.zeros((20_000, 6), int))
    assert refit(Candidate(specification, constant), criterion, rehearsal(real)) is None


class Silent:
    """Answers nothing: what is asked is an error."""

    domain = None

    def run(self, mechanism: Any) -> Any:
        raise AssertionError("something was asked")


def test_a_fit_paid_once_is_compared_without_a_question(pair: Pair) -> None:
    """Its distance is that of the same prediction, standardised by the candidate."""
    specification, real, synthetic = pair
    criterion = next(c for c in specification.criteria if isinstance(c, RegressionCoefficients))
    once = specification.model_copy(
        update={"budget": specification.budget.model_copy(update={"once": criterion.epsilon})}
    )
    assert once.shares_once(criterion) and not specification.shares_once(criterion)
    fit = fit_once(rehearsal(real), once, Formula("birth_weight"), Fraction(10**6))
    found = refit(Candidate(once, synthetic, fit), criterion, cast(Any, Silent()))
    exact = next(v for v in exact_errors(specification, real, synthetic) if v.name == criterion.name)
    assert found is not None and exact.value is not None
    measured, used = found
    assert used is fit
    assert float(measured.value or 0) == pytest.approx(exact.value, abs=1.5)
    assert Fraction(measured.units, measured.grid) == measured.value
    assert measured.sensitivity is None
    constant = Table.from_rows(synthetic.domain, np.zeros((20_000, 6), int))
    assert refit(Candidate(once, constant, fit), criterion, cast(Any, Silent())) is None
    with pytest.raises(AssertionError, match="something was asked"):
        refit(Candidate(specification, synthetic, fit), criterion, cast(Any, Silent()))


@pytest.mark.parametrize("paid_once", [False, True])
def test_the_simulated_spread_is_that_of_real_fits(pair: Pair, paid_once: bool) -> None:
    """The mean of 60 fits by the mechanism itself: within five of its standard errors."""
    specification, real, _ = pair
    specification = specification.sized(165_915)
    table = Table.from_rows(real.domain, real.codes, real.counts * 8 + (real.counts * 59 // 200))
    specification = specification.sized(table.n)
    criterion = next(c for c in specification.criteria if isinstance(c, RegressionCoefficients))
    if paid_once:
        budget = specification.budget.model_copy(update={"once": criterion.epsilon})
        specification = specification.model_copy(update={"budget": budget})
    distances = []
    for seed in range(60):
        curator = rehearsal(table, seed)
        fit = (
            fit_once(curator, specification, Formula("birth_weight"), criterion.epsilon) if paid_once else None
        )
        found = refit(Candidate(specification, table, fit), criterion, curator)
        assert found is not None
        distances.append(float(found[0].value or 0))
    error = float(np.std(distances)) * math.sqrt(1 / len(distances) + 1 / DRAWS)
    spread = kind_of(criterion, "paper").spread(Candidate(specification, table))
    assert spread == pytest.approx(float(np.mean(distances)), abs=5 * error)
    assert kind_of(criterion, "paper").spread(Candidate(specification, table)) == spread
    wider = {
        n: s.model_copy(update={"deviation": 2 * s.deviation})
        for n, s in specification.planning.numbers.items()
    }
    planning = specification.planning.model_copy(update={"numbers": wider})
    other = specification.model_copy(update={"planning": planning})
    assert (kind_of(criterion, "paper").spread(Candidate(other, table)) == spread) is not paid_once

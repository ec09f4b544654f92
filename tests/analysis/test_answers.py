"""Answers: they hold the truth, as often as they say, and say by which rule and for what."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from bases import basis, domain_of, noisy_table, specification, tables
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import Measured
from facsimile.analysis.answers import AT_ONCE, GIVEN, GUARANTEED, NONE, OF_SEARCH, Analyst
from facsimile.analysis.asking import ask
from facsimile.analysis.basis import Basis
from facsimile.analysis.events import event_of
from facsimile.analysis.intervals import Interval
from facsimile.analysis.noisy import Sum
from facsimile.analysis.questions import Count, Crossing, Mean, Proportion
from facsimile.errors import FacsimileError
from facsimile.privacy.mechanisms import Answer
from facsimile.spec.load import load
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from facsimile.testing.laws import ALPHA

SPEC = specification()
DOMAIN = domain_of(SPEC)
SHARE = Fraction(2)
REAL = Table.from_rows(DOMAIN, [[0, 1, 0]] * 5 + [[1, 0, 1]] * 4 + [[2, 1, 1]] * 2 + [[1, 2, 0]])
LARGE = specification(1200, [{"criterion": "quantile", "of": "age", "threshold": "0.9"}])
BIG = Table.from_rows(DOMAIN, REAL.codes, REAL.counts * 100)
QUESTIONS = [
    "count where age < 18",
    "count where age < 18 and sex = F",
    "count where sex = F or colour = cold",
    "proportion age < 18",
    "proportion age < 18 given sex = F",
    "proportion sex = F given age < 18",
    "mean age",
    "mean colour where age < 18",
    "mean age where sex = F",
    "median age",
    "quantile 0.9 age where colour = cold",
    "quantile 0.2 colour",
    "table age by sex",
    "table colour by age where sex = F",
]


def absolute(threshold: str) -> Specification:
    """Of counts alone, with many records."""
    return specification(1200, [{"criterion": "marginals-absolute", "threshold": threshold}])


def told(real: Table, released: Table, *columns: tuple[str, ...], spec: Specification = SPEC) -> Basis:
    return basis(spec, real, released, [noisy_table(real, clique, SHARE) for clique in columns])


@pytest.mark.parametrize("question", QUESTIONS)
@settings(max_examples=8)
@given(real=tables(SPEC), released=tables(SPEC), noisy=st.booleans())
def test_without_noise_every_interval_holds_the_original(
    question: str, real: Table, released: Table, noisy: bool
) -> None:
    found = told(real, released, *([("age", "sex"), ("colour", "age"), ("age",)] if noisy else []))
    truth = {row.labels: row.found.value for row in ask(Analyst(Basis(SPEC, real, ())), question).rows}
    for row in ask(Analyst(found), question).rows:
        ends, value = row.found.interval, truth[row.labels]
        assert (ends is None) == (row.found.status == NONE)
        if ends is not None and value is not None:
            assert ends.low - 1e-9 <= value <= ends.high + 1e-9, row


def test_a_cell_of_one_noisy_table_is_covered_by_exact_enumeration() -> None:
    """Mode single, so β = α. One cell of three has the error (2Z₁ − Z₀ − Z₂)/3: every outcome of that sum."""
    alpha, event = Fraction(1, 5), event_of("sex = F", DOMAIN)
    a, last = exp(-1), 60
    single = (1 - a) / (1 + a) * a ** np.abs(np.arange(-last, last + 1))
    twice = np.zeros(4 * last + 1)
    twice[::2] = single
    law, missed = np.convolve(np.convolve(twice, single), single), 0.0
    middle = len(law) // 2
    for k in range(-90, 91):
        noisy = noisy_table(BIG, ("sex",), SHARE, [-k, 0, 0])
        ends = Analyst(Basis(LARGE, BIG, (), tables=(noisy,), more=False), 1 - alpha).counted(event).interval
        assert ends is not None
        missed += float(law[middle + k]) * (not ends.low <= event.count(BIG) <= ends.high)
    assert float(alpha) / 3 < missed <= float(alpha)


def test_levels_are_shared_among_the_rules_that_are_asked() -> None:
    """Tables and criteria of like width have a half each, so each is as wide as at half of α."""
    spec, event = absolute("0.05"), event_of("sex = F", DOMAIN)
    noisy = noisy_table(BIG, ("sex",), Fraction(1, 4), [0, 12, 0])
    both = basis(spec, BIG, BIG, [noisy], noise=10)
    alone = {0: Basis(spec, BIG, both.measured), 1: Basis(spec, BIG, (), tables=(noisy,), more=False)}
    shared = Analyst(both, Fraction(4, 5))
    half = {key: Analyst(one, Fraction(9, 10)).counted(event) for key, one in alone.items()}
    found = shared.counted(event)
    assert half[0].interval is not None and half[1].interval is not None
    assert found.interval == half[0].interval.meet(half[1].interval)
    whole = {key: Analyst(one, Fraction(4, 5)).counted(event).interval for key, one in alone.items()}
    assert whole[0] is not None and whole[1] is not None
    assert found.interval != whole[0].meet(whole[1]), "a mutant that does not share is noticed"


def test_questions_that_shall_hold_together_have_wider_intervals() -> None:
    found, widths = told(BIG, BIG, ("sex",), spec=LARGE), []
    for together in (1, 10, 1000):
        ends = Analyst(found, together=together).count(Count("sex = F")).interval
        assert ends is not None
        widths.append(ends.width)
    assert widths[0] < widths[1] < widths[2]


def test_cells_of_a_table_hold_at_once_and_alone_they_are_narrower() -> None:
    found = told(REAL, REAL, ("age", "sex"))
    cells = {one.labels: one.found for one in Analyst(found).cells(Crossing(("age", "sex")))}
    alone = Analyst(found).count(Count("age < 18 and sex = F"))
    at_once = cells["<18", "F"]
    assert at_once.holds == AT_ONCE and alone.holds != AT_ONCE
    assert at_once.interval is not None and alone.interval is not None
    assert at_once.interval.width >= alone.interval.width
    none = cells["64<", "M"]
    assert none.interval is not None and none.interval.high == 0 and none.rules[0].rule == "rules"


def test_cells_at_once_are_as_wide_as_so_many_questions_together() -> None:
    found = Basis(LARGE, BIG, (), tables=(noisy_table(BIG, ("age",), Fraction(1, 4)),), more=False)
    cells = [cell.found.interval for cell in Analyst(found).cells(Crossing(("age",)))]
    where = ("age < 18", "age = '18-64'", "age > 64")
    assert cells == [Analyst(found, together=3).count(Count(one)).interval for one in where]
    assert cells != [Analyst(found).count(Count(one)).interval for one in where]


def test_a_criterion_alone_speaks_given_the_release_and_a_table_of_the_search() -> None:
    assert Analyst(told(BIG, BIG, spec=absolute("0.02"))).count(Count("sex = F")).promise == GIVEN
    assert Analyst(told(BIG, BIG, ("sex",), spec=absolute("0.02"))).count(Count("sex = F")).promise == OF_SEARCH


def test_who_would_be_twice_as_wide_is_not_asked() -> None:
    def rules(threshold: str, *columns: tuple[str, ...]) -> tuple[str, ...]:
        found = Analyst(told(BIG, BIG, *columns, spec=absolute(threshold))).count(Count("sex = F"))
        return tuple(claim.rule for claim in found.rules)

    assert rules("0.9", ("sex",)) == ("noisy table",)
    assert rules("0.001", ("sex",)) == ("cell",)


def test_all_records_and_none_are_known_for_certain() -> None:
    analyst = Analyst(told(REAL, REAL))
    everyone, nobody = analyst.count(Count()), analyst.count(Count("age > 64 and sex = M"))
    assert everyone.interval is not None and everyone.interval.low == everyone.interval.high == 12
    assert nobody.interval is not None and nobody.interval.low == nobody.interval.high == 0


def test_where_nothing_was_measured_nothing_is_guaranteed() -> None:
    analyst = Analyst(Basis(SPEC, REAL, ()))
    for question in ("count where sex = F", "mean age", "median age", "proportion sex = F given age < 18"):
        (row,) = ask(analyst, question).rows
        assert row.found.value is not None and row.found.status == NONE and row.found.interval is None


def test_the_births_papers_table_is_off_by_960_records_at_most_and_its_ratio_by_anything(
    births: Path,
) -> None:
    """As answers: a cell of the paper's release, and a count of one column, where the ratio could speak."""
    spec = load(births / "paper.yaml")
    domain = Domain(spec.axes(dict.fromkeys(spec.names, "released")))
    released = Table.from_rows(domain, [[0, 4, 1, 4, 0, 15], [1, 3, 1, 4, 1, 15]], [100_000, 65_915])
    candidate, measured = Candidate(spec, released), list[Measured]()
    for criterion, value in zip(spec.criteria, ("0.0044", "1.27"), strict=False):
        asked = candidate.asked(criterion)
        assert asked is not None
        grid = asked.question().grid
        measured.append(asked.measured(Answer(round(Fraction(value) * grid), grid)))
    analyst = Analyst(Basis(spec, released, tuple(measured)))
    found = analyst.count(Count("mother_age = '30-34' and parity = '2-3'"))
    assert found.status == GUARANTEED and found.promise == GIVEN and found.interval is not None
    assert found.value == 100_000
    assert found.interval.high - 100_000 == pytest.approx(960, abs=5)
    assert [claim.rule for claim in found.rules] == ["cell"]
    only_ratio = Analyst(Basis(spec, released, tuple(measured[1:])))
    assert only_ratio.count(Count("mother_age = '30-34'")).status == NONE


@pytest.mark.parametrize(("confidence", "together"), [("0", 1), ("1", 1), ("0.95", 0), ("0.95", 10**7)])
def test_a_confidence_that_is_none_is_refused(confidence: str, together: int) -> None:
    with pytest.raises(FacsimileError) as refused:
        Analyst(told(REAL, REAL), Fraction(confidence), together)
    assert refused.value.code == "E435"


def test_a_ratio_that_is_known_without_noise_ends() -> None:
    """Old men there are none: whatever the noise, their share among the old is 0."""
    found = Basis(LARGE, BIG, (), tables=(noisy_table(BIG, ("age", "sex"), SHARE, 3),), more=False)
    ends = Analyst(found).proportion(Proportion("sex = M", "age > 64")).interval
    assert ends is not None and ends.low <= 0 <= ends.high < 1e-6


def test_a_ratio_from_noisy_tables_is_covered_by_simulation() -> None:
    """A mean by two sums of one table at 80 %: too many misses, or nearly none, have probability below 10⁻⁶."""
    random, draws = np.random.default_rng(5), 40
    truth, p = Analyst(Basis(LARGE, BIG, ())).mean(Mean("age", "sex in [M, F]")).value, 1 - exp(-1)
    assert truth is not None
    missed = 0
    for _ in range(draws):
        noise = random.geometric(p, (3, 3)) - random.geometric(p, (3, 3))
        noisy = noisy_table(BIG, ("age", "sex"), SHARE, noise)
        analyst = Analyst(Basis(LARGE, BIG, (), tables=(noisy,), more=False), Fraction(4, 5))
        ends = analyst.mean(Mean("age", "sex in [M, F]")).interval
        assert ends is not None and ends.width < 1
        missed += not ends.low <= truth <= ends.high
    assert binom.ppf(ALPHA, draws, 0.1) <= missed <= binom.ppf(1 - ALPHA, draws, 0.2)


def test_a_ratio_whose_ends_are_a_last_place_apart_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum over itself is 1 whatever the noise: what is searched for lies between two neighbouring floats."""
    analyst = Analyst(told(BIG, BIG, ("age",), spec=LARGE))
    queries = np.array([[1.0, 1.0, 0.0]])
    fixed = analyst._noisy.told(("age",), queries).fixed
    assert fixed is not None and fixed[1][0] is not None
    tried, width = iter(range(200)), Sum.half_width

    def counted(self: Sum, beta: float) -> float:
        assert next(tried, None) is not None, "the search does not end"
        return width(self, beta)

    monkeypatch.setattr(Sum, "half_width", counted)
    found = analyst.divided(fixed[1][0], fixed[1][0], 0.05, Interval(0, 1))
    assert 1 - 1e-9 <= found.low <= found.high == 1

"""The scheme: what a rehearsal asks in each part of a search is what the plan charges for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from facsimile.acceptance.decision import SHARED
from facsimile.acceptance.regression import Fit, fit_once
from facsimile.privacy.curator import Allowance, Curator, Search
from facsimile.privacy.mechanisms import NoisyAnswer
from facsimile.privacy.queries import WorstExcess
from facsimile.privacy.reader import read_public, rehearse
from facsimile.release.plan import plan_of
from facsimile.release.scheme import Accepted, Prepared, Scheme
from facsimile.spec.formula import Formula
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.table import Table
from releases import N, specification, write_data
from specs import SMALL

SCHEMES = ("paper", "test-then-measure", "train-once")


@dataclass
class Spent:
    """What was really asked: before the search, in each index, and after it; and what came of it."""

    once: Fraction = Fraction(0)
    indices: list[Fraction] = field(default_factory=list)
    after: Fraction = Fraction(0)
    prepared: Prepared = field(default_factory=Prepared)
    accepted: Accepted | None = None


def regression(scheme: str, once: bool, kinds: tuple[str, ...] = ("coefficients", "mae")) -> Specification:
    """Regressions of age in the paper's form, with thresholds that every candidate meets."""
    common = {"target": "age", "threshold": "500"}
    criteria: list[dict[str, Any]] = [{"criterion": f"regression-{kind}", **common} for kind in kinds]
    criteria.append({"criterion": "marginals-absolute", "threshold": "0.9"})
    for place, criterion in enumerate(criteria):
        if not once or criterion["criterion"] != "regression-coefficients":
            criterion["epsilon"] = f"0.{place + 3}"
    budget = {"total": "60", "generator": "3"}
    budget |= {} if scheme == "paper" else {"test": "2"}
    budget |= {"once": "0.25"} if once else {}
    selection = {"mode": "coin", "gamma": "0.05"}
    return specification(
        criteria=criteria, budget=budget, scheme=scheme, statistic="paper", selection=selection
    )


def test_a_configuration_that_failed_is_drawn_again_like_any_other() -> None:
    """Indices are independent: what was drawn before changes nothing."""
    spec = specification(projection={"algorithm": ["margins"], "min_count": ["2", "3", "4"]})
    wanted = [0, 0, 1, 0, 1, 1, 2, 0]
    draws = iter(wanted)
    scheme = Scheme(spec, lambda n: next(draws))
    drawn = [scheme.drawn().configuration for _ in wanted]
    assert drawn == [spec.drawable.configuration(place) for place in wanted]
    assert drawn[0] != drawn[2] != drawn[6]


def spent(spec: Specification, table: Table, seed: int) -> Spent:
    """One rehearsal, with the spending of each of its parts."""
    found = Spent()

    @contextmanager
    def noted(search: Search, part: str) -> Iterator[Allowance]:
        allowance = getattr(search, part)()
        yield allowance
        setattr(found, part, allowance.spending.spent.epsilon)

    with Curator.rehearsal(rehearse(table), seed).search(plan_of(spec), "rehearsal") as search:
        scheme = Scheme(spec, search.draw)
        with noted(search, "once") as answers:
            found.prepared = scheme.prepare(answers, np.random.default_rng(seed))

        def index(answers: Allowance, number: int) -> Accepted | None:
            accepted = scheme.index(answers, found.prepared, np.random.default_rng((seed, number)))
            found.indices.append(answers.spending.spent.epsilon)
            return accepted

        accepted = search.find(index)
        if accepted is not None:
            with noted(search, "after") as answers:
                found.accepted = scheme.finish(accepted, answers)
    return found


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("people"))


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_plan_charges_for_what_is_asked_and_for_nothing_else(public: Path, scheme: str, once: bool) -> None:
    kinds = ("coefficients", "mae") if once or scheme == "paper" else ("coefficients",)
    spec = regression(scheme, once, kinds)
    plan = plan_of(spec)
    found = spent(spec, read_public(public, spec), seed=3)
    assert found.accepted is not None
    assert found.once == plan.once
    assert found.indices[-1] == plan.index
    assert found.after == plan.after
    assert (plan.once > 0) is (once or scheme == "train-once")


def by_measurement(shared: int, mode: str = "single", threshold: str = "0.1") -> Specification:
    """Scheme measured: four criteria, of which the first ones share one number."""
    criteria: list[dict[str, Any]] = [
        {"criterion": "marginals-absolute", "threshold": threshold},
        {"criterion": "total-variation", "ways": "2", "threshold": "0.9"},
        {"criterion": "regression-mae", "target": "age", "threshold": "500"},
        {"criterion": "mean", "of": "age", "by": ["age"], "threshold": "60"},
    ]
    for place, criterion in enumerate(criteria[shared:]):
        criterion["epsilon"] = f"0.{place + 3}"
    budget = {"total": "60", "generator": "3", "once": "0.25"} | ({"test": "2"} if shared else {})
    selection = {"mode": mode} | {"coin": {"gamma": "0.05"}, "single": {}}[mode]
    return specification(scheme="measured", criteria=criteria, budget=budget, selection=selection)


@dataclass
class Asked:
    """Answers of a curator, with every mechanism that was run."""

    answers: Any
    run_: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.domain = self.answers.domain

    def run(self, mechanism: Any) -> Any:
        self.run_.append(mechanism)
        return self.answers.run(mechanism)

    def recoded(self, domain: Any, maps: Any) -> Asked:
        return Asked(self.answers.recoded(domain, maps), self.run_)


@pytest.mark.parametrize("shared", range(5))
@pytest.mark.parametrize("mode", ["single", "coin"])
def test_in_scheme_measured_nothing_is_asked_twice_and_nothing_after_acceptance(
    public: Path, shared: int, mode: str
) -> None:
    spec = by_measurement(shared, mode)
    plan, table = plan_of(spec), read_public(public, spec)
    assert plan.after == 0
    assert plan.index == 3 + (2 if shared else 0) + sum(Fraction(k, 10) for k in range(3, 7 - shared))
    found = spent(spec, table, seed=3)
    assert found.accepted is not None
    assert (found.once, found.indices[-1]) == (plan.once, plan.index)
    assert found.after == 0
    measured = found.accepted.measured
    assert [m.criterion for m in measured] == list(spec.criteria) and all(m.met for m in measured)
    assert [m.mechanism == SHARED for m in measured] == [place < shared for place in range(4)]
    assert len({m.units for m in measured[:shared]}) <= 1
    scheme, curator = Scheme(spec, lambda n: 0), Curator.rehearsal(rehearse(table), 3)
    asked = Asked(curator)
    assert scheme.index(asked, found.prepared, np.random.default_rng(3)) is not None
    tests = [m for m in asked.run_ if isinstance(m, NoisyAnswer)]
    assert [isinstance(m.query, WorstExcess) for m in tests] == [True] * bool(shared) + [False] * (4 - shared)
    parts = [query for m in tests if isinstance(m.query, WorstExcess) for query, _ in m.query.parts]
    alone = [m.query for m in tests if not isinstance(m.query, WorstExcess)]
    assert len(parts) == shared and len({id(query) for query in parts + alone}) == 4


def test_what_only_luck_would_accept_is_not_asked(public: Path) -> None:
    """A margin as wide as the threshold: the index ends before a question about the candidate."""
    for shared in (0, 1):
        spec = by_measurement(shared, threshold="0.00001")
        asked = Asked(Curator.rehearsal(rehearse(read_public(public, spec)), 3))
        prepared = Scheme(spec, lambda n: 0).prepare(asked, np.random.default_rng(3))
        assert Scheme(spec, lambda n: 0).index(asked, prepared, np.random.default_rng(3)) is None
        assert not any(isinstance(m, NoisyAnswer) for m in asked.run_)


@pytest.mark.parametrize("kinds", [("coefficients", "mae"), ("coefficients",)])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_fit_serves_every_candidate(public: Path, scheme: str, kinds: tuple[str, ...]) -> None:
    """Coefficients are compared with the very regression that was paid once, whatever was drawn."""
    spec = regression(scheme, once=True, kinds=kinds)
    table = read_public(public, spec)
    for seed in range(3):
        found = spent(spec, table, seed)
        assert found.accepted is not None and found.prepared.fit is not None
        assert found.accepted.refit is found.accepted.fit is found.prepared.fit
        assert found.accepted.measured[0].sensitivity is None


def test_a_fit_of_another_target_is_paid_in_each_index(public: Path) -> None:
    spec = regression("paper", once=True)
    coefficients = spec.criteria[0].model_copy(update={"target": "sex", "epsilon": Fraction("0.7")})
    spec = spec.model_copy(update={"criteria": (coefficients, *spec.criteria[1:])})
    assert not spec.shares_once(coefficients)
    plan = plan_of(spec)
    found = spent(spec, read_public(public, spec), seed=3)
    assert found.accepted is not None and found.accepted.refit is not found.accepted.fit
    assert found.indices[-1] == plan.index == 3 + Fraction("0.7") + Fraction("0.4") + Fraction("0.5")


@pytest.mark.parametrize("first", ["coarse", "fine"])
def test_the_fit_paid_once_has_the_numbers_of_the_first_alternatives(tmp_path: Path, first: str) -> None:
    """At the finest refinement it would differ from what any candidate can have."""
    second = "coarse" if first == "fine" else "fine"
    cuts = {"coarse": ["<18", "18-64", "64<"], "fine": ["<18", "18-29", "30-64", "64<"]}
    age = SMALL["columns"][0] | {"alternatives": cuts, "use": [first, second]}
    data = regression("paper", once=True).model_dump(mode="json", exclude_none=True)
    spec = validated(data | {"columns": [age, SMALL["columns"][1]]})
    lines = [f"{(20, 25, 70)[i % 3]},{'true' if i % 2 else 'false'}" for i in range(N)]
    (tmp_path / "people.csv").write_text("\n".join(["age,is_female", *lines]))
    table = read_public(tmp_path / "people.csv", spec)
    coded = recode(spec, table, {"age": first, "sex": "coarse"})
    fit = fit_once(Curator.rehearsal(rehearse(table), 1), spec, Formula("age"), Fraction(10**7))
    own = Fit.of(coded, "age")
    assert own is not None
    wanted = [float(c) for c in own.coefficients]
    assert [float(c) for c in fit.standardised(own.scaling).coefficients] == pytest.approx(wanted, abs=0.1)
    other = Fit.of(recode(spec, table, {"age": second, "sex": "coarse"}), "age")
    assert other is not None and abs(other.coefficients[0] - own.coefficients[0]) > 1

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from facsimile.errors import FacsimileError
from facsimile.release.run import rehearsed
from facsimile.risk import run
from facsimile.risk.findings import QUESTIONS, TABLES, Risk
from facsimile.risk.rates import Excess, Rate
from facsimile.risk.run import Attacker, Rule, risk_of
from facsimile.table.encoding import Encoding, recode
from facsimile.table.table import Table
from releases import specification
from risk.towns import town

RULE = Rule(attacks=200, releases=2, shadows=6, watched=20)


def public(n: int = 1500) -> Table:
    random = np.random.default_rng(1)
    domain = Encoding(specification()).domain
    return Table.from_rows(domain, np.column_stack([random.integers(size, size=n) for size in domain.shape]))


@pytest.fixture(scope="module")
def found() -> Risk:
    return risk_of(specification(), public(), RULE)


def test_every_question_is_put_to_every_table(found: Risk) -> None:
    assert [(f.question, f.table) for f in found.attacks] == [(q, t) for q in QUESTIONS for t in TABLES]
    assert found.records == 1500 - 2 * 150 and found.parameters["people"] == 150
    assert Risk.of_json(found.as_json()) == found
    assert {f.attacks for f in found.attacks if f.question in ("linkability", "inference")} == {150}
    assert {p.name for p in found.finding("inference", "release").parts} == {"age", "sex"}


def test_the_same_seed_gives_the_same_figures_and_another_one_others(found: Risk) -> None:
    assert risk_of(specification(), public(), RULE).attacks == found.attacks
    assert risk_of(specification(), public(), replace(RULE, seed=2)).attacks != found.attacks


def test_all_intervals_share_what_may_be_missed() -> None:
    """α over 12 findings, over the parts of each, and over the two rates of a part."""
    parts = {"a": Excess(Rate(30, 100), Rate(20, 100)), "b": Excess(Rate(20, 100), Rate(20, 100))}
    rule = Rule(confidence=0.9)
    attacker = Attacker(specification(), town(), rule, None, lambda doing: None, plan="")
    first, second = attacker._parts(parts)
    alpha = 0.1 / 12 / 2
    assert (first.low, first.high) == pytest.approx(parts["a"].bounds(alpha))
    assert (second.low, second.high) == pytest.approx(parts["b"].bounds(alpha))


def test_targets_are_attacked_beside_as_many_controls() -> None:
    people = town()
    attacker = Attacker(specification(), people, Rule(attacks=7), None, lambda doing: None, plan="")
    targets, controls = attacker._groups(people, slice(1, None, 2))
    assert np.array_equal(targets, people.targets[1:7:2]) and np.array_equal(controls, people.controls[1:7:2])
    assert not np.array_equal(targets, controls)


def test_every_run_of_the_scheme_has_a_seed_and_a_table_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds, tables = list[int](), list[Table]()

    def watched(spec: Any, table: Table, seed: int, prior: Any = None) -> Any:
        seeds.append(seed)
        tables.append(table)
        return rehearsed(spec, table, seed, prior)

    monkeypatch.setattr(run, "rehearsed", watched)
    risk_of(specification(), public(), RULE)
    assert len(seeds) >= RULE.releases + RULE.shadows and len(set(seeds)) == len(seeds)
    shadows = tables[-RULE.shadows :]
    assert all(one != other for i, one in enumerate(shadows) for other in shadows[:i]), "coins differ"
    assert {table.n for table in tables} == {1200}


def test_no_release_is_nothing_to_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "rehearsed", lambda *given: (None, 1))
    with pytest.raises(FacsimileError, match=r"^E606 "):
        risk_of(specification(), public(), RULE)


def test_a_scheme_that_publishes_its_table_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness is alive: a release that is no release at all does as badly as the table itself."""
    spec = specification()

    def leaking(sized: Any, table: Table, seed: int, prior: Any = None) -> Any:
        accepted, tried = rehearsed(sized, table, seed, prior)
        assert accepted is not None
        honest = recode(sized, table, accepted.configuration.alternatives)
        return replace(accepted, table=honest), tried

    monkeypatch.setattr(run, "rehearsed", leaking)
    found = risk_of(spec, public(), replace(RULE, shadows=20))
    for question in QUESTIONS[1:3]:
        assert found.finding(question, "release").success == found.finding(question, "no-privacy").success

"""A census, neither births nor discharges and simulated here, walked from exploring to a plan."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from facsimile.spec.load import load
from programs import Program
from studies import Here

N = 6000
MEASURED = "each; education*income; age*marital; education*hours; hours*sex"
VALUES = {
    "workclass": ["private", "public", "self-employed", "none"],
    "education": ["school", "college", "bachelor", "higher"],
    "marital": ["never", "married", "was"],
    "sex": ["Female", "Male"],
    "income": ["low", "high"],
}


def census(path: Path) -> None:
    """People of working age: hours and income grow with education, marriage with age."""
    random = np.random.default_rng(11)
    age = random.integers(17, 91, N)
    education = random.choice(4, N, p=[0.4, 0.3, 0.2, 0.1])
    marital = np.where(random.random(N) < (age - 15) / 60, random.integers(1, 3, N), 0)
    workclass, sex = random.choice(4, N, p=[0.65, 0.15, 0.12, 0.08]), random.integers(0, 2, N)
    hours = np.clip(random.normal(34 + 3 * education + 4 * sex, 9), 1, 99).astype(int)
    income = (random.random(N) < 0.08 + 0.12 * education + 0.1 * (marital == 1)).astype(int)
    codes = {"workclass": workclass, "education": education, "marital": marital, "sex": sex, "income": income}
    named = [np.array(VALUES[name])[code] for name, code in codes.items()]
    lines = [",".join(map(str, row)) for row in zip(age, hours, *named, strict=True)]
    path.write_text("\n".join([",".join(["age", "hours", *codes]), *lines]) + "\n", encoding="utf-8")


def declared(threshold: str, total: str = "8") -> dict[str, Any]:
    words = [
        {"name": name, "description": name, "values": given, "alternatives": {"as-is": [*given]}}
        for name, given in VALUES.items()
    ]
    numbers = [
        {
            "name": name,
            "description": name,
            "bounds": bounds,
            "alternatives": {"bins": bins},
            "groups": groups,
            "outside": "clip",
        }
        for name, bounds, bins, groups in (
            ("age", ["17", "90"], ["<25", "25-34", "35-44", "45-54", "55-64", "64<"], ["<35", "34<"]),
            ("hours", ["1", "99"], ["<20", "20-34", "35-40", "41-50", "50<"], ["<35", "34<"]),
        )
    ]
    return {
        "facsimile": "1",
        "title": "A census of people of working age",
        "unit": "one person",
        "neighbours": "replace-one",
        "records": {"count": str(N), "public_because": "it is printed in the yearbook"},
        "columns": [*numbers, *words],
        "constraints": {"policy": "declared"},
        "families": [
            {
                "family": "workload",
                "grid": {"measurements": [MEASURED]},
            }
        ],
        "projection": {"algorithm": ["paper"], "min_count": ["1"]},
        "statistic": "sharp",
        "criteria": [
            {"criterion": "marginals-absolute", "ways": "2", "threshold": threshold, "epsilon": "0.1"},
            {"criterion": "mean", "of": "hours", "by": ["age"], "threshold": "4", "epsilon": "0.2"},
        ],
        "selection": {"mode": "coin", "gamma": "0.05"},
        "budget": {"total": total, "generator": "2", "test": "0.5"},
    }


@pytest.fixture
def explored(run: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> Path:
    """A study of the census with one threshold on its tables of two columns."""
    monkeypatch.setattr("facsimile.explore.pool.Local", lambda setup, workers: Here(setup))
    spec, data, study = (tmp_path / name for name in ("census.yaml", "census.csv", "census.study"))
    spec.write_text(yaml.safe_dump(declared(*request.param), sort_keys=False), encoding="utf-8")
    census(data)
    short = ("--trials", 3, "--fresh", 8, "--steps", 0, "--wanted", 0.01)
    found = run("explore", spec, "--data", data, "--public", "-o", study, *short)
    assert found.code == 0, found.err
    return study


@pytest.mark.parametrize("explored", [("0.026", "8")], indirect=True)
def test_a_census_gets_a_plan_within_its_total(run: Program, explored: Path) -> None:
    written = explored.with_name("planned.yaml")
    said = run("plan", explored, "--accept", "0.5", "--json").json
    shown = run("plan", explored, "--accept", "0.5", "--write", written)
    assert shown.code == 0, shown.err
    reached = [p for p in said["curve"] if p["release"] >= 0.5 and p["scheme"] != "paper"]
    assert Fraction(said["total"]) == min(Fraction(p["total"]) for p in reached) <= 8
    assert load(written).budget.total == Fraction(said["total"])
    assert run("check", written).code == 0
    assert said["release"]["probability"] >= 0.5


@pytest.mark.parametrize("explored", [("0.023", "4.92")], indirect=True)
def test_a_census_that_misses_the_wish_says_so(run: Program, explored: Path) -> None:
    """No plan looks like one that reaches the wish: it states so much, or nothing is written."""
    written = explored.with_name("planned.yaml")
    for wish in ("0.1", "0.5", "0.9", "0.999"):
        found = run("plan", explored, "--accept", wish, "--total", "2.25", "--json")
        if found.code:
            assert found.code == 2 and found.json["error"]["code"] in ("E416", "E417", "E418")
        else:
            assert found.json["release"]["probability"] >= float(wish)
            assert Fraction(found.json["total"]) <= Fraction("2.25")
    missed = run("plan", explored, "--accept", "0.999", "--total", "2.25", "--write", written)
    assert missed.code == 2 and not written.exists()
    assert "the best is 0." in missed.err or "buys a release with probability 0." in missed.err

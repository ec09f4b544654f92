from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from facsimile.risk.findings import QUESTIONS, TABLES, Finding, Part, Risk
from risk.samples import sample


@pytest.mark.parametrize("delta", [None, "0.000001"])
def test_a_report_comes_back_from_its_json(delta: str | None) -> None:
    told = sample(delta=delta)
    assert Risk.of_json(json.loads(json.dumps(told.as_json()))) == told


def test_its_json_has_the_shape_that_other_documents_read() -> None:
    told = sample().as_json()
    assert {"format", "version", "title", "plan_hash", "epsilon", "delta", "records", "day"} < {*told}
    assert {"confidence", "attacks", "says", "cannot"} < {*told} and told["format"] == 1
    assert [(a["question"], a["table"]) for a in told["attacks"]] == [(q, t) for q in QUESTIONS for t in TABLES]
    keys = {"question", "table", "risk", "low", "high", "success", "control", "attacks", "detail"}
    assert all({*attack} == keys | {"parts"} for attack in told["attacks"])


def spoiled(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    told = copy.deepcopy(sample().as_json())
    change(told)
    return told


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        "risk",
        spoiled(lambda t: t.update(format=2)),
        spoiled(lambda t: t.update(more=1)),
        spoiled(lambda t: t.pop("says")),
        spoiled(lambda t: t.update(title=3)),
        spoiled(lambda t: t.update(delta=0.1)),
        spoiled(lambda t: t.update(records="5")),
        spoiled(lambda t: t.update(confidence=2.0)),
        spoiled(lambda t: t.update(says=[1])),
        spoiled(lambda t: t.update(parameters={"seed": [1]})),
        spoiled(lambda t: t["attacks"].pop()),
        spoiled(lambda t: t["attacks"].reverse()),
        spoiled(lambda t: t["attacks"][0].update(risk=0.99)),
        spoiled(lambda t: t["attacks"][0].update(success=1.5)),
        spoiled(lambda t: t["attacks"][0].update(attacks=True)),
        spoiled(lambda t: t["attacks"][0].update(question="guessing")),
        spoiled(lambda t: t["attacks"][0].update(detail=None)),
        spoiled(lambda t: t["attacks"][0].update(parts=[])),
        spoiled(lambda t: t["attacks"][0]["parts"][0].update(name=1)),
        spoiled(lambda t: t["attacks"][0]["parts"][0].update(low=float("nan"))),
    ],
    ids=range(23),
)
def test_anything_else_is_no_report(told: Any) -> None:
    with pytest.raises(ValueError):
        Risk.of_json(told)


def test_the_worst_part_is_the_finding() -> None:
    parts = [Part("a", 0.1, 0.0, 0.2, 0.5, 0.4, 10), Part("b", 0.3, 0.1, 0.5, 0.6, 0.4, 10)]
    found = Finding.worst("inference", "release", parts, "Secret column {worst}")
    assert (found.risk, found.low, found.detail, found.clear) == (0.3, 0.1, "Secret column b", True)

"""Calibration: random questions are answered as records answer them, and factors cover what they say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest

from facsimile.explore import calibration
from facsimile.explore.calibration import COUNTS, asked, calibrated
from facsimile.explore.narrowed import with_calibration
from facsimile.release.replicates import seed_of
from facsimile.spec.calibration import Calibration, Kind
from facsimile.spec.load import dump, loads
from facsimile.table.exact import Floats
from facsimile.table.table import Table
from studies import public_table, specification


@pytest.fixture(scope="module")
def table() -> Table:
    return public_table(specification())


def test_questions_of_every_kind_are_asked_of_every_table(table: Table) -> None:
    found: dict[Kind, list[Floats]] = defaultdict(list)
    for kind, values in asked([table, table], 96, np.random.default_rng(1)):
        assert values.shape == (2,) and values[0] == pytest.approx(values[1])
        found[kind].append(values)
    assert set(found) == {*COUNTS, "means", "proportions", "medians", "coefficients"}
    assert all(len(values) >= 48 for values in found.values())


def test_answers_are_those_of_the_records(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer about columns is found among those that records give by their conditions."""
    conditions: list[Floats] = []
    real = calibration._condition

    def condition(size: int, random: np.random.Generator) -> Floats:
        conditions.append(real(size, random))
        return conditions[-1]

    monkeypatch.setattr(calibration, "_condition", condition)
    domain = table.domain.project(("height", "age", "sex"))
    counted = table.marginal(domain.names)[None].astype(np.float64)
    records = table.project(domain.names).records()
    random = np.random.default_rng(3)
    for _ in range(40):
        conditions.clear()
        answers = dict(calibration._of_triple(domain, counted, random))
        met = np.stack([mask[records[:, i]] > 0 for i, mask in enumerate(conditions)])
        for ways, kind in enumerate(COUNTS, 1):
            if kind in answers:
                assert answers[kind][0] == met[:ways].all(axis=0).sum()
        subsets = [np.ones(len(records), bool), met[1], met[2], met[1] & met[2]]
        heights = np.array([float(x) for x in domain.axes[0].numbers or ()])[records[:, 0]]
        _among(answers, "means", [heights[s].mean() for s in subsets if s.any()])
        _among(answers, "proportions", [met[0][s].mean() for s in subsets if s.any()])
        lower = [np.sort(heights[s])[(s.sum() - 1) // 2] for s in subsets if s.any()]
        _among(answers, "medians", lower)


def _among(answers: dict[Kind, Floats], kind: Kind, known: Sequence[float]) -> None:
    if kind in answers:
        assert np.isclose(answers[kind][0], known).any()


def test_slopes_are_those_of_least_squares(table: Table) -> None:
    """One column on another, among all records: up to the units, the slope of a straight line."""
    moments = calibration._moments([table], ["age", "height"], False, np.random.default_rng(1))[0]
    (x, y) = (
        calibration._standardised(_numbers(table, name))[table.column(name)] for name in ("age", "height")
    )
    line = np.polyfit(np.repeat(x, table.counts), np.repeat(y, table.counts), 1)
    assert np.linalg.solve(moments[:2, :2], moments[:2, 2])[::-1] == pytest.approx(line)


def _numbers(table: Table, name: str) -> Floats:
    return np.array([float(x) for x in table.domain.axis(name).numbers or ()])


def test_factors_are_found_and_written(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "REHEARSALS", 2)
    monkeypatch.setattr(calibration, "REPLICATES", 4)
    monkeypatch.setattr(calibration, "ASKED", 96)
    told: list[tuple[int, int]] = []
    found = calibrated(specification(), table, "people.csv", 1, watch=lambda *news: told.append(news))
    assert told == [(0, 2), (1, 2)] and found.replicates == 4
    assert {"one-way", "two-way", "means"} <= set(found.kappa)
    assert found == calibrated(specification(), table, "people.csv", 1)
    ratios = [ratio for place in range(2) for kind, ratio in _ratios(table, place) if kind == "one-way"]
    assert np.mean(np.array(ratios) <= float(found.kappa["one-way"])) == pytest.approx(0.95, abs=0.02)

    text = "# A note that stays.\n" + dump(specification())
    written = with_calibration(text, found)
    assert written.startswith("# A note that stays.\n") and loads(written).calibration == found


def _ratios(table: Table, place: int) -> list[tuple[Kind, float]]:
    spec = specification().sized(table.n)
    return list(calibration._ratios(spec, table, seed_of(1, place), None))


def test_a_factor_is_rounded_up() -> None:
    assert float(calibration._factor([1.234] * 5)) == 1.24
    assert Calibration(data="x", replicates=2, kappa={"means": calibration._factor([0.0])}).kappa["means"] > 0

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from facsimile.shaping.constraints import allowed, implausible, impossible, plausible
from facsimile.spec.constraints import holds, names, parse_condition, resolve
from facsimile.spec.load import load
from facsimile.table.domain import Domain
from facsimile.table.encoding import LEFT_OUT, Encoding
from facsimile.table.table import Table
from table.test_conditions import CONDITIONS, DOMAIN
from table.test_encoding import encoded

CELLS = np.array(list(product(*map(range, DOMAIN.shape))))


@pytest.mark.parametrize("text", CONDITIONS)
def test_rows_cells_and_masks_agree(text: str) -> None:
    condition = resolve(parse_condition(text), DOMAIN.names)
    rows = implausible([condition], DOMAIN, CELLS)
    clique, mask = impossible(condition, DOMAIN)
    assert clique == tuple(name for name in DOMAIN.names if name in names(condition))
    assert mask.shape == DOMAIN.project(clique).shape
    places = [DOMAIN.place(name) for name in clique]
    every = allowed([condition], DOMAIN)
    assert every.shape == DOMAIN.shape
    for cell, row in zip(CELLS, rows, strict=True):
        assert mask[tuple(cell[places])] == row
        assert every[tuple(cell)] != row


def test_several_conditions_rule_out_what_each_rules_out() -> None:
    conditions = [resolve(parse_condition(text), DOMAIN.names) for text in CONDITIONS[:3]]
    together = np.logical_or.reduce([implausible([c], DOMAIN, CELLS) for c in conditions])
    assert np.array_equal(implausible(conditions, DOMAIN, CELLS), together)
    assert np.array_equal(allowed(conditions, DOMAIN).ravel(), ~together)
    table = Table.from_rows(DOMAIN, CELLS)
    assert plausible(conditions, table) == Table.from_rows(DOMAIN, CELLS[~together])


def test_without_conditions_everything_is_allowed() -> None:
    assert allowed([], DOMAIN).all()
    assert not implausible([], DOMAIN, CELLS).any()


def test_no_plausible_birth_falls_into_an_impossible_cell(births: Path) -> None:
    """At every alternative: a cell is ruled out only if all raw records in it are."""
    specification = load(births / "nvss.yaml")
    encoding, raw = Encoding(specification), specification.raw_conditions()
    chance = random.Random(5)
    ages, parities = [14, 17, 18, 19, 20, 22, 23, 24, 29, 45], [1, 3, 4, 6, 7, 11]
    weeks = [22, 25, 26, 28, 29, 31, 32, 33, 34, 37, 44]
    weights = [500, 599, 600, 699, 700, 1499, 1500, 2999, 3000, 3999, 4000, 4500, 5500]
    records, broken = [], []
    for age, parity, week, weight in chance.sample(list(product(ages, parities, weeks, weights)), 1500):
        values: dict[str, Any] = {
            "mother_age": Fraction(age), "parity": Fraction(parity), "gestation_week": Fraction(week),
            "birth_weight": Fraction(weight), "birth_month": Fraction(3), "birth_sex": "F",
        }  # fmt: skip
        broken.append(any(holds(condition, values) for condition in raw))
        records.append({
            "mother_age": age, "parity": parity, "gestation_week": week, "birth_weight": weight,
            "date_of_birth": "2019-03-01", "is_female": True,
        })  # fmt: skip
    codes = encoded(encoding, records)
    assert broken == [LEFT_OUT in row for row in codes]
    kept = [row for row in codes if LEFT_OUT not in row]
    assert 300 < len(kept) < 1500
    table = Table.from_rows(encoding.domain, kept)
    conditions = (*raw, *specification.synthetic_conditions())
    for chosen in ("released", "years", "joined", "births", "weeks"):
        alternatives = specification.alternatives_named(chosen)
        maps = {c.name: c.recoding(alternatives[c.name]) for c in specification.columns}
        recoded = table.recode(Domain(specification.axes(alternatives)), maps)
        assert not implausible(conditions, recoded.domain, recoded.codes).any()
        for condition in conditions:
            clique, mask = impossible(condition, recoded.domain)
            assert not (recoded.marginal(clique)[mask] > 0).any()

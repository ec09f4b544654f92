from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from facsimile.shaping.constraints import allowed, implausible, impossible, plausible, without, zeros
from facsimile.spec.bins import Bin, NumberBin, parse_bins
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import Possible, holds, names, parse_condition, resolve
from facsimile.spec.load import load
from facsimile.table.domain import Domain
from facsimile.table.encoding import LEFT_OUT, Encoding
from facsimile.table.table import Table
from table.test_conditions import CONDITIONS, DOMAIN
from table.test_encoding import encoded

CELLS = np.array(list(product(*map(range, DOMAIN.shape))))


@pytest.mark.parametrize("possible", [False, True])
@pytest.mark.parametrize("text", CONDITIONS)
def test_rows_cells_and_masks_agree(text: str, possible: bool) -> None:
    plain = resolve(parse_condition(text), DOMAIN.names)
    condition = Possible(plain) if possible else plain
    rows = implausible([condition], DOMAIN, CELLS)
    clique, mask = impossible(condition, DOMAIN)
    assert clique == tuple(name for name in DOMAIN.names if name in names(condition))
    assert mask.shape == DOMAIN.project(clique).shape
    places = [DOMAIN.place(name) for name in clique]
    every = without(DOMAIN, zeros([condition], DOMAIN))
    assert every.shape == DOMAIN.shape
    for cell, row in zip(CELLS, rows, strict=True):
        assert mask[tuple(cell[places])] == row
        assert every[tuple(cell)] != row
    if not possible:
        assert np.array_equal(allowed([plain], DOMAIN), every)


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
    encoding, raw = Encoding(specification), specification.raw_conditions
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
    plain = [rule.condition(specification.names) for rule in specification.constraints.synthetic]
    conditions = (*raw, *plain)
    for chosen in ("released", "years", "joined", "births", "weeks"):
        alternatives = specification.alternatives_named(chosen)
        maps = {c.name: c.recoding(alternatives[c.name]) for c in specification.columns}
        recoded = table.recode(Domain(specification.axes(alternatives)), maps)
        assert not implausible(conditions, recoded.domain, recoded.codes).any()
        for condition in conditions:
            clique, mask = impossible(condition, recoded.domain)
            assert not (recoded.marginal(clique)[mask] > 0).any()


def left_edge(b: Bin) -> Fraction:
    """What the births paper's code compares: where a bin begins; one without a beginning lies below all."""
    assert isinstance(b, NumberBin)
    return Fraction(-(10**6)) if b.low is None else b.low


@pytest.mark.parametrize("name", ["release", "nvss", "released", "narrowed", "ours"])
def test_any_is_the_births_papers_reading_on_every_alternative(births: Path, name: str) -> None:
    """All four rules, every alternative of their columns, every pair of bins."""
    specification = load(births / f"{name}.yaml")
    rules = specification.constraints.synthetic
    assert [rule.never for rule in rules] == [
        "mother_age < 23 and parity > 6",
        "mother_age < 20 and parity > 3",
        "gestation_week < 29 and birth_weight > 2999",
        "gestation_week < 34 and birth_weight > 3999",
    ]
    assert all(rule.bins == "any" for rule in rules)
    cut = set()
    for rule, judged in zip(rules, specification.synthetic_conditions, strict=True):
        plain = rule.condition(specification.names)
        columns = [specification.column(name) for name in names(plain)]
        for chosen in product(*(column.alternatives for column in columns)):
            domain = Domain(tuple(c.axis(used) for c, used in zip(columns, chosen, strict=True)))
            assert impossible(judged, domain)[0] == domain.names
            found, certain = impossible(judged, domain)[1], impossible(plain, domain)[1]
            for cell in np.ndindex(*domain.shape):
                bins = {axis.name: axis.bins[code] for axis, code in zip(domain.axes, cell, strict=True)}
                edges = {column: left_edge(b) for column, b in bins.items()}
                assert found[cell] == holds(plain, edges), (rule.never, bins)
                if found[cell] != certain[cell]:
                    cut |= {tuple(b.label for b in bins.values())}
    assert {age for age, _ in cut} == {"20-24"}
    assert {"7-10", "10<"} <= {parity for _, parity in cut} <= {"7-10", "10<", "7", "8", "9", "10"}


def test_a_left_edge_reads_below_as_any_and_above_as_all() -> None:
    """Where the two differ: a bin that a `>` cuts. On the births' bins none does."""
    axis = Axis("parity", parse_bins(["1", "2-3", "4-6", "7-10", "10<"], Fraction(1)))
    for text, any_, left in [
        ("parity < 9", [0, 1, 2, 3], [0, 1, 2, 3]),
        ("parity > 8", [3, 4], [4]),
        ("parity > 4", [2, 3, 4], [3, 4]),
        ("parity = 3", [1], []),
    ]:
        condition = parse_condition(text)
        assert np.flatnonzero(impossible(Possible(condition), Domain((axis,)))[1]).tolist() == any_
        edges = [holds(condition, {"parity": left_edge(b)}) for b in axis.bins]
        assert np.flatnonzero(edges).tolist() == left


def test_each_alternative_of_an_or_is_a_zero_of_its_own_columns() -> None:
    text = "age < 3 and kind = B or births > 1 or age > 3"
    condition = Possible(resolve(parse_condition(text), DOMAIN.names))
    assert [clique for clique, _ in zeros([condition], DOMAIN)] == [("age", "kind"), ("births",), ("age",)]

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from facsimile.spec.bins import CategoryBin, MissingBin, NumberBin
from facsimile.spec.constraints import atoms, holds, parse_condition, resolve
from facsimile.table.conditions import evaluate, truth
from facsimile.table.domain import Domain
from table.oracle import specified

SPECIFICATION = specified(
    [
        {
            "name": "age", "bounds": ["0", "6"], "missing": {"code": "?"},
            "alternatives": {"fine": ["0-1", "2", "3-4", "5", "6<"][:4]},
        },
        {"name": "births", "bounds": ["0", "9"], "alternatives": {"fine": ["0", "1", "2-5"]}},
        {
            "name": "kind", "values": ["A", "B", "C"], "missing": {"code": "?"},
            "alternatives": {"fine": {"A": "A", "BC": ["B", "C"]}},
        },
    ]
)  # fmt: skip
DOMAIN = Domain(SPECIFICATION.finest())
CONDITIONS = [
    "age < 3", "age <= 2", "age > 2", "age >= 2", "age = 2", "age != 2", "age = 3", "age in [2, 5]",
    "age not in [3]",     "age is missing", "age is not missing", "kind = A", "kind != A", "kind = B",
    "kind in [B, C]", "kind not in [A, B]", "age < births", "births <= age", "age = births", "age != births",
    "births > births", "births = births",     "age < 3 and kind = A or births is missing",
    "not (age < 3 and kind = A)", "any column is missing",
]  # fmt: skip


def values_of(name: str, code: int) -> list[Fraction | str | None]:
    """Every value of a bin, None for a missing one."""
    found = DOMAIN.axis(name).bins[code]
    if isinstance(found, NumberBin):
        return [value for value in map(Fraction, range(10)) if found.contains(value)]
    return [None] if isinstance(found, MissingBin) else [*sorted(found.values)]


@pytest.mark.parametrize("text", CONDITIONS)
def test_an_atom_holds_on_bins_when_it_holds_on_all_their_values(text: str) -> None:
    condition = resolve(parse_condition(text), DOMAIN.names)
    for atom in atoms(condition):
        names = tuple(dict.fromkeys(atom.names))
        found = truth(atom, DOMAIN)
        for codes in product(*(range(DOMAIN.axis(name).size) for name in names)):
            choices = [values_of(name, code) for name, code in zip(names, codes, strict=True)]
            records = [dict(zip(names, values, strict=True)) for values in product(*choices)]
            place = tuple(codes[names.index(name)] for name in atom.names)
            if len(names) < len(atom.names):
                continue
            assert found[place] == all(holds(atom, record) for record in records), (text, codes)


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_is_decided_row_by_row(text: str) -> None:
    condition = resolve(parse_condition(text), DOMAIN.names)
    cells = np.array(list(product(*map(range, DOMAIN.shape))))
    codes = {name: cells[:, place] for place, name in enumerate(DOMAIN.names)}
    found = evaluate(condition, DOMAIN, codes)
    assert found.shape == (DOMAIN.cells,)
    for cell, holding in zip(cells.tolist(), found, strict=True):
        choices = [values_of(name, code) for name, code in zip(DOMAIN.names, cell, strict=True)]
        records = [dict(zip(DOMAIN.names, values, strict=True)) for values in product(*choices)]
        if holding:
            assert all(holds(condition, record) for record in records), (text, cell)
        if len(records) == 1:
            assert holding == holds(condition, records[0])


def test_bins_of_the_example() -> None:
    kinds = [type(b) for axis in DOMAIN.axes for b in axis.bins]
    assert {NumberBin, CategoryBin, MissingBin} == set(kinds)

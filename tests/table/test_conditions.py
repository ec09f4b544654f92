from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.spec.bins import Bin, CategoryBin, MissingBin, NumberBin
from facsimile.spec.columns import Axis
from facsimile.spec.constraints import Possible, atoms, holds, names, parse_condition, resolve
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


STEP = Fraction(1, 2)
EDGES = [Fraction(i) for i in range(5)]
GRID = [i * STEP for i in range(-8, 17)]
"""Every edge and constant lies in 0..4, and three values of the grid lie beyond it on either side."""
SETS = {"k": [["A"], ["B", "C"]], "m": [["A", "B"], ["C"]]}


@st.composite
def axes(draw: st.DrawFn) -> tuple[Axis, ...]:
    """Three numbers on one grid and two categories, in bins that may be open, some with a missing code."""
    found = []
    for name in "xyz":
        cuts = sorted(draw(st.sets(st.sampled_from(EDGES), min_size=2, max_size=3)))
        bins: list[Bin] = [NumberBin(f"{low}", low, high - STEP) for low, high in pairwise(cuts)]
        below, above = (draw(st.booleans()) for _ in range(2))
        bins = [NumberBin("<", None, cuts[0] - STEP)] * below + bins + [NumberBin(">", cuts[-1], None)] * above
        found.append((name, bins))
    for name, sets in SETS.items():
        found.append((name, [CategoryBin(str(s), frozenset(s)) for s in sets]))
    return tuple(
        Axis(name, (*bins, *([MissingBin("?")] if draw(st.booleans()) else [])), STEP) for name, bins in found
    )


constants = st.sampled_from(["0", "1", "2", "3", "4", "0.25", "2.75"])
signs = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])
numbers, kinds = st.sampled_from("xyz"), st.sampled_from("km")
comparisons = st.one_of(
    st.builds("{} {} {}".format, numbers, signs, constants),
    st.builds("{} {} {}".format, numbers, signs, numbers),
    st.builds("{} {} [{}, {}]".format, numbers, st.sampled_from(["in", "not in"]), constants, constants),
    st.builds("{} {} {}".format, kinds, st.sampled_from(["=", "!="]), st.sampled_from(["A", "B", "k", "m"])),
    st.builds("{} {} [{}]".format, kinds, st.sampled_from(["in", "not in"]), st.sampled_from("ABC")),
    st.builds("{} is {}missing".format, st.one_of(numbers, kinds), st.sampled_from(["", "not "])),
)
texts = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds("not ({})".format, inner),
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["and", "and", "or"]), inner),
    ),
    max_leaves=6,
)


def behind(b: Bin) -> list[Fraction | str | None]:
    """Every value of a bin on the grid."""
    if isinstance(b, NumberBin):
        return [value for value in GRID if b.contains(value)]
    return [None] if isinstance(b, MissingBin) else [*sorted(b.values)]


@settings(max_examples=150, deadline=None)
@given(axes(), texts)
def test_some_record_is_found_behind_bins_exactly_where_there_is_one(axes: tuple[Axis, ...], text: str) -> None:
    """Against all records behind each row, missing values and open ends among them."""
    domain = Domain(axes)
    condition = resolve(parse_condition(text), domain.names)
    clique = names(condition)
    cells = list(product(*(range(domain.axis(name).size) for name in clique)))
    codes = {name: np.array(column) for name, column in zip(clique, zip(*cells, strict=True), strict=True)}
    found = evaluate(Possible(condition), domain, codes)
    values = [[behind(b) for b in domain.axis(name).bins] for name in clique]
    every = evaluate(condition, domain, codes)
    for cell, possible, certain in zip(cells, found, every, strict=True):
        records = product(*(values[place][code] for place, code in enumerate(cell)))
        there = any(holds(condition, dict(zip(clique, record, strict=True))) for record in records)
        assert possible == there, (text, cell)
        assert possible or not certain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age < 4 and age > 3", [False, False, False, False, False]),
        ("age < 4 and age >= 3", [False, False, True, False, False]),
        ("age > 3.2 and age < 3.8", [False] * 5),
        ("age = 3 or age is missing", [False, False, True, False, True]),
        ("not (age = 3)", [True, True, True, True, False]),
        ("age not in [3, 4]", [True, True, False, True, False]),
    ],
)
def test_one_record_must_satisfy_all_of_a_condition(text: str, expected: list[bool]) -> None:
    condition = resolve(parse_condition(text), DOMAIN.names)
    codes = {"age": np.arange(5)}
    assert DOMAIN.axis("age").labels == ("0-1", "2", "3-4", "5", "?")
    assert evaluate(Possible(condition), DOMAIN, codes).tolist() == expected


@pytest.mark.parametrize(("low", "high"), [(None, -1), (3, None), (0, 2)])
def test_a_chain_of_three_needs_three_values_of_one_bin(low: int | None, high: int | None) -> None:
    def there(low: int | None, high: int | None) -> bool:
        ends = (None if end is None else Fraction(end) for end in (low, high))
        wide = NumberBin("wide", *ends)
        domain = Domain(tuple(Axis(name, (wide,)) for name in "xyz"))
        condition = resolve(parse_condition("x < y and y < z and z != x"), domain.names)
        return bool(evaluate(Possible(condition), domain, {name: np.array(0) for name in "xyz"}))

    assert there(low, high)
    assert not there(0, 1)


def test_truth_is_found_once_and_for_all() -> None:
    """For equal columns too, such as those of a specification read again; and nobody can write to it."""
    (atom,) = atoms(parse_condition("x < 3"))
    once, again = (
        truth(atom, Domain((Axis("x", tuple(NumberBin(str(i), Fraction(i), Fraction(i)) for i in range(5))),)))
        for _ in range(2)
    )
    assert once is again and once.tolist() == [True, True, True, False, False]
    with pytest.raises(ValueError, match="read-only"):
        once[0] = False
    other = Axis("x", tuple(NumberBin(str(i), Fraction(i + 9), Fraction(i + 9)) for i in range(5)))
    assert not truth(atom, Domain((other,))).any(), "labels alone do not make columns equal"

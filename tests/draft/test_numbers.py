"""Columns of numbers: what is written is a column that holds every public value."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from facsimile.draft.numbers import Numbers
from facsimile.spec.bins import NumberBin
from facsimile.spec.columns import Column
from facsimile.table.cleaning import clean_value

DECIMALS = st.decimals(-(10**6), 10**6, places=3, allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-1000, 1000).map(Decimal)
CODED = st.sampled_from([Decimal(text) for text in ("0", "1", "2", "3", "9", "99", "-9")])
COUNTS = st.one_of(
    st.dictionaries(WHOLE, st.integers(1, 300), min_size=2, max_size=40),
    st.dictionaries(DECIMALS, st.integers(1, 300), min_size=2, max_size=40),
    st.dictionaries(CODED, st.integers(1, 300), min_size=2),
)


def column(counts: dict[Decimal, int]) -> Column:
    found = Numbers.of(counts)
    assert found is not None
    return Column.model_validate({"name": "x", "description": "X", **found.keys()})


@given(COUNTS)
def test_every_public_value_has_a_bin_and_bins_are_nested(counts: dict[Decimal, int]) -> None:
    made = column(counts)
    for value in counts:
        tick = clean_value(made, str(value))
        assert tick is not None
        shown = Fraction(tick, 10**made.decimals)
        for name in made.alternatives:
            bins = made.axis(name).bins
            assert sum(b.contains(shown) for b in bins if isinstance(b, NumberBin)) == 1
    sizes = [made.axis(name).size for name in made.alternatives]
    assert sizes == sorted(set(sizes), reverse=True) and sizes[-1] >= 2
    assert made.finest.size == sizes[0], "coarser ones add no edge"


@given(COUNTS)
def test_numbers_of_bins_are_near_the_public_means(counts: dict[Decimal, int]) -> None:
    """A mean of bins' numbers is off by less than a bin in the middle of its deviation."""
    made, records = column(counts), sum(counts.values())
    if Numbers.of(counts).coded:  # type: ignore[union-attr]
        return
    mean = sum((Fraction(value) * n for value, n in counts.items()), Fraction(0)) / records
    squares = sum(((Fraction(value) - mean) ** 2 * n for value, n in counts.items()), Fraction(0)) / records
    numbers = Fraction(0)
    for value, n in counts.items():
        tick = Fraction(clean_value(made, str(value)) or 0, 10**made.decimals)
        (inside,) = (b for b in made.axis("released").bins if isinstance(b, NumberBin) and b.contains(tick))
        numbers += n * (inside.number or 0)
    unit = Fraction(1, 10**made.decimals)
    assert abs(numbers / records - mean) <= Fraction(1, 10) * Fraction(float(squares) ** 0.5) + 2 * unit


def test_a_code_is_set_apart_and_the_last_bin_is_called_by_what_is_in_it() -> None:
    counts = {Decimal(value): 50 for value in range(1, 6)} | {Decimal(99): 20}
    keys = Numbers.of(counts).keys()  # type: ignore[union-attr]
    assert keys["alternatives"]["released"] == {
        "1": "1",
        "2": "2",
        "3": "3",
        "4": "4",
        "5": "5-98",
        "code 99": "99≤",
    }
    below = {Decimal(value): 50 for value in range(40)} | {Decimal(-9): 20}
    assert "code -9" in Numbers.of(below).keys()["alternatives"]["released"]  # type: ignore[union-attr]


def test_numbers_that_only_end_in_nines_are_no_codes() -> None:
    ages = Numbers.of({Decimal(age): 10 for age in range(100)})
    assert ages is not None and not ages.coded


def test_a_said_code_counts_wherever_it_lies() -> None:
    found = Numbers.of({Decimal(value): 30 for value in (1, 2, 3, 4)}, [Decimal(4)])
    assert found is not None and found.coded


def test_numbers_beyond_any_grid_are_none() -> None:
    assert Numbers.of({Decimal("0.00000001"): 5, Decimal("0.00000002"): 5}) is None
    assert Numbers.of({Decimal(10**13): 5, Decimal(2): 5}) is None


def test_open_ends_have_numbers_near_their_means() -> None:
    made = column({Decimal(value): max(1, 400 - 4 * value) for value in range(100)} | {Decimal(10_000): 30})
    last = made.axis("released").bins[-1]
    assert last.high is None and last.number is not None  # type: ignore[union-attr]
    assert made.bounds is not None and made.bounds[0] == 0

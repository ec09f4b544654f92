import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.spec.bins import NumberBin, labelled_bins, parse_bin, parse_bins, refine

ONE = Fraction(1)


@pytest.mark.parametrize(
    ("text", "low", "high", "number"),
    [
        ("18", 18, 18, 18),
        ("2-3", 2, 3, Fraction(5, 2)),
        ("1500-1599", 1500, 1599, Fraction(3099, 2)),
        ("<18", None, 17, None),
        ("≤24", None, 24, None),
        ("<=24", None, 24, None),
        ("44<", 45, None, None),
        ("10<", 11, None, None),
        ("35≤", 35, None, None),
        ("-5–-1", -5, -1, -3),
    ],
)
def test_a_bin_reads_as_it_is_written(
    text: str, low: int | None, high: int | None, number: Fraction | int | None
) -> None:
    assert parse_bin(text, ONE) == NumberBin(
        text,
        None if low is None else Fraction(low),
        None if high is None else Fraction(high),
        None if number is None else Fraction(number),
    )


def test_shorthands_spell_out_bins() -> None:
    assert [b.label for b in parse_bins(["<1500", "1500..1799 by 100", "1799<"], ONE)] == [
        "<1500", "1500-1599", "1600-1699", "1700-1799", "1799<",
    ]  # fmt: skip
    assert [b.label for b in parse_bins(["18.5..18.7"], Fraction(1, 10))] == ["18.5", "18.6", "18.7"]


def test_labels_of_their_own() -> None:
    bins = labelled_bins({"minor": "<18", "adult": "17<"}, ONE)
    assert [(b.label, b.span) for b in bins] == [
        ("minor", (None, Fraction(17))),
        ("adult", (Fraction(18), None)),
    ]


@given(st.integers(-9, 9), st.integers(0, 5), st.integers(0, 5), st.sampled_from(["{}<", "{}≤", "<{}", "≤{}"]))
def test_the_middle_of_an_open_bin_is_as_far_from_its_first_value_as_from_the_bound(
    edge: int, below: int, above: int, form: str
) -> None:
    bounds = Fraction(edge - below), Fraction(edge + above)
    found = parse_bin(form.format(edge), ONE)
    middle = found.middle(bounds)
    inside = [Fraction(x) for x in range(edge - below, edge + above + 1) if found.contains(Fraction(x))]
    assert middle == ((inside[0] + inside[-1]) / 2 if inside else None)


def test_the_middle_of_a_closed_bin_is_its_own_whatever_the_bounds() -> None:
    assert parse_bin("2-8", ONE).middle((Fraction(4), Fraction(6))) == 5
    assert parse_bin("2-8", ONE).middle((Fraction(4), Fraction(99))) == 5
    assert parse_bin("2-8", ONE).middle((Fraction(0), Fraction(6))) == 5


@pytest.mark.parametrize("step", [ONE, Fraction(1, 10)])
def test_a_number_suits_a_bin_that_holds_it_and_the_edge_of_an_open_one(step: Fraction) -> None:
    low, high = 4 * step, 6 * step
    spans: list[tuple[Fraction | None, Fraction | None]] = [(low, high), (low, None), (None, high)]
    suited = {span: [k for k in range(12) if NumberBin("b", *span).suits(k * step, step)] for span in spans}
    assert suited == {(low, high): [4, 5, 6], (low, None): [*range(3, 12)], (None, high): [*range(8)]}


@pytest.mark.parametrize(
    "bins",
    [
        [], ["1", "3"], ["1-2", "2-3"], ["3", "2"], ["5-1"], ["a"], ["44<", "45"], ["1..10 by 3"],
        ["18.5"], ["1", "1"], ["1..9999999"], ["1..2 by 0"],
    ],
)  # fmt: skip
def test_bins_that_overlap_leave_gaps_or_make_no_sense_are_refused(bins: list[str]) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_bins(bins, ONE)


edges = st.lists(st.integers(-20, 20), min_size=1, max_size=8, unique=True).map(sorted)


def partition(cuts: list[int]) -> tuple[NumberBin, ...]:
    inner = [f"{a}-{b - 1}" if b - a > 1 else str(a) for a, b in itertools.pairwise(cuts)]
    return parse_bins([f"<{cuts[0]}", *inner, f"{cuts[-1] - 1}<"], ONE)


@given(st.lists(edges, min_size=1, max_size=3))
def test_refinement_is_common_and_coarsest(cuts: list[list[int]]) -> None:
    partitions = [partition(c) for c in cuts]
    finest = refine(partitions, ONE)
    assert all(sum(b.within(p) for p in bins) == 1 for b in finest for bins in partitions)
    assert len(finest) == len({edge for c in cuts for edge in c}) + 1
    for value in range(-25, 26):
        assert sum(b.contains(Fraction(value)) for b in finest) == 1

"""Checks: every limit at its edge, and kinds that only look like the right one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.privacy.budget import Rho
from facsimile.privacy.noise import LARGEST
from facsimile.privacy.queries import checks
from facsimile.table.domain import Domain
from facsimile.table.matching import EXACT, Likeness
from facsimile.table.table import Table
from facsimile.testing.neighbours import numbered_domain, small_domain

DOMAIN = small_domain(3, 2)


class Name(str):
    """A text that equals a column today."""

    __slots__ = ()


def refused(check: Any, *given: Any) -> bool:
    try:
        check(*given)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    ("value", "least", "most", "fits"),
    [(1, 1, None, True), (0, 1, None, False), (0, 0, 3, True), (3, 0, 3, True), (4, 0, 3, False),
     (-1, 0, 3, False), (True, 0, 3, False), (1.0, 0, 3, False), (np.int64(1), 0, 3, False),
     ("1", 0, 3, False)],
)  # fmt: skip
def test_whole_numbers_are_pythons_own_in_their_range(value: Any, least: int, most: Any, fits: bool) -> None:
    assert checks.whole(value, least, most) is fits


def test_exact_numbers_are_of_their_very_kind() -> None:
    assert checks.exact([1, Fraction(1, 2)]) and checks.exact([])
    assert not checks.exact([1, 0.5]) and not checks.exact([True]) and not checks.exact([Rho(1)])


@dataclass
class Open:
    """A dataclass whose fields can be set."""

    number: int = 1


@dataclass(frozen=True)
class Frozen:
    """A dataclass with code in two fields."""

    held: Any = 1
    begin: Any = print


class Own(int):
    """A number of a class of its own."""


def test_a_plain_value_is_what_it_is_however_often_it_is_looked_at() -> None:
    good: Any = (
        1,
        0.5,
        True,
        "a",
        Fraction(1, 2),
        Rho(1),
        None,
        np.ones(2),
        frozenset("a"),
        (),
        Frozen(DOMAIN),
    )
    assert not refused(checks.plain, good, DOMAIN)
    bad: Any = ([1], {1}, {}, Own(1), print, Open(), np.ma.ones(2), Frozen([1]), Frozen(print), Frozen, b"a")
    for value in bad:
        assert refused(checks.plain, value, DOMAIN), value
        assert refused(checks.plain, (1, (value,)), DOMAIN), value


def test_a_table_has_between_one_record_and_fewer_than_a_float_can_count() -> None:
    for n, bad in ((1, False), (0, True), (-1, True), (2**53 - 1, False), (2**53, True), (1.0, True)):
        assert refused(checks.records, n) is bad, n


def test_noise_can_be_drawn_for_a_positive_share_and_a_sensitivity_of_at_least_one() -> None:
    good = (Fraction(1, 10**9), Rho(1, 3), 1, Fraction(LARGEST) - 1)
    assert not any(refused(checks.spending, 1, share) for share in good)
    bad = (Fraction(0), Fraction(-1), Rho(0), 0.5, True, Fraction(LARGEST), None)
    assert all(refused(checks.spending, 1, share) for share in bad)
    assert all(refused(checks.spending, units, Fraction(1)) for units in (0, -1, 1.0, True))
    assert refused(checks.spending, 1, Fraction(1, LARGEST**8))
    assert not refused(checks.spending, 1, Fraction(2, LARGEST**8))


@pytest.mark.parametrize(
    "names", [["a"], ("a", "a"), ("z",), (Name("a"),), ("a", Name("b")), ("a", 1), ("a", "z"), "a", None]
)
def test_columns_are_named_once_each_in_a_tuple_of_texts(names: Any) -> None:
    assert refused(checks.named, DOMAIN, names)
    assert not refused(checks.named, DOMAIN, ("b", "a")) and not refused(checks.named, DOMAIN, ())


def test_a_marginal_has_no_more_cells_than_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_CELLS", 6)
    assert not refused(checks.columns, DOMAIN, ("a", "b"))
    monkeypatch.setattr(checks, "MOST_CELLS", 5)
    assert refused(checks.columns, DOMAIN, ("a", "b"))
    assert not refused(checks.columns, DOMAIN, ("a", "b"), (("a", (0, 1, 1)),))
    assert not refused(checks.columns, DOMAIN, ("a",), (("a", None),))


@pytest.mark.parametrize(
    ("array", "fits"),
    [(np.array([1, 2, 3]), True), (np.array([1, 2]), False), (np.array([1.0, 2, 3]), False), ([1, 2, 3], False),
     (np.array([1, 2, 3], object), True), (np.array([1, 2, 3.0], object), False), (np.array([1, 2, 4]), False),
     (np.array([-3, 0, 3]), True), (np.array([-4, 0, 3]), False), (np.array([1, 2, 3], np.int32), False)],
)  # fmt: skip
def test_an_array_holds_integers_of_its_shape_within_their_limit(array: Any, fits: bool) -> None:
    assert refused(checks.integral, array, (3,), 3) is not fits
    assert not refused(checks.integral, np.array([9, 9, 9]), (3,))
    assert refused(checks.integral, np.zeros((0,), np.int64), (0,))


@pytest.mark.parametrize(
    ("groups", "fits"),
    [((0, 1, 2**20), True), ((0, 1), False), ((0, 1, 1, 1), False), ((0, 1, -1), False),
     ((0, 1, 2**20 + 1), False), ((0, 1, True), False)],
)  # fmt: skip
def test_every_code_has_a_group_that_is_numbered_from_0(groups: Any, fits: bool) -> None:
    assert refused(checks.grouped, DOMAIN, "a", groups) is not fits
    assert refused(checks.grouped, DOMAIN, "z", (0, 1, 1))


def test_bounds_are_two_exact_numbers_in_order_around_all() -> None:
    for bounds, bad in (
        ((0, 1), False), ((1, 1), False), ((1, 0), True), ((0,), True), ((0, 1, 2), True),
        ((0.0, 1), True),
    ):  # fmt: skip
        assert refused(checks.bounded, bounds) is bad, bounds
    numbers = [Fraction(0), Fraction(1)]
    assert not refused(checks.bounded, (0, 1), numbers)
    assert refused(checks.bounded, (Fraction(1, 9), 1), numbers)
    assert refused(checks.bounded, (0, Fraction(8, 9)), numbers)


def test_a_column_with_numbers_gives_them() -> None:
    domain = numbered_domain([0, 5], [1, 2, 3])
    assert checks.numbered(domain, "a") == (Fraction(0), Fraction(5))
    assert refused(checks.numbered, domain, "z")


def test_a_public_table_is_of_its_domain_and_size_and_holds_codes_of_it() -> None:
    def table(codes: Any, counts: Any, domain: Domain = DOMAIN) -> Table:
        return Table(domain, np.array(codes), np.array(counts))

    good = table([[0, 0], [2, 1]], [1, 2])
    assert not refused(checks.sized, good, DOMAIN, 3)
    assert refused(checks.sized, good, DOMAIN, 2) and refused(checks.sized, good, small_domain(3, 3), 3)
    for bad in (
        table([[0, 0], [3, 1]], [1, 2]), table([[0, 0], [2, 2]], [1, 2]), table([[-1, 0], [2, 1]], [1, 2]),
        table([[0, 0], [2, 1]], [0, 3]), table([[0, 0], [2, 1]], [-1, 4]), table([[0.0, 0], [2, 1]], [1, 2]),
        table([[0, 0], [2, 1]], [1.0, 2]), table([[0, 0]], [1, 2]), table([[0], [2]], [1, 2]),
        table([[0, 0], [2, 1]], [[1], [2]]),
    ):  # fmt: skip
        assert refused(checks.sized, bad, DOMAIN, 3), bad


def test_a_rule_for_partners_speaks_of_every_column() -> None:
    near = (EXACT, EXACT + 1, EXACT + 2)
    assert not refused(checks.like, Likeness(("b",), (("a", near),), 1), DOMAIN)
    assert refused(checks.like, Likeness((), (("a", near),), 1), DOMAIN)
    assert refused(checks.like, Likeness(("b",), (("a", near[:2]),), 1), DOMAIN)
    assert refused(checks.like, Likeness(("b",), (("a", near),), -1), DOMAIN)


def test_a_check_that_fails_on_a_wrong_kind_refuses() -> None:
    for error in (TypeError, AttributeError, LookupError, ArithmeticError, KeyError, ZeroDivisionError):

        def check(question: object, domain: Domain, n: int, error: type[Exception] = error) -> None:
            raise error("a value of somebody")

        with pytest.raises(ValueError, match="another kind") as found:
            checks.refusing(check)(None, DOMAIN, 3)
        assert found.value.__suppress_context__ and "somebody" not in str(found.value)

"""Checks: every limit at its edge, and kinds that only look like the right one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from facsimile.privacy.budget import Rho
from facsimile.privacy.noise import LARGEST
from facsimile.privacy.queries import checks
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from facsimile.table.linear import Linear
from facsimile.table.matching import EXACT, Likeness
from facsimile.table.scores import Factor, RowScores
from facsimile.table.table import Table
from facsimile.table.view import Shown, View
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
    assert refused(checks.spending, LARGEST**8, 1) and not refused(checks.spending, LARGEST**8 - 1, 1)
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
    assert refused(checks.columns, DOMAIN, ("a",), (("a", (0, 1)),))
    assert refused(checks.columns, DOMAIN, ("z",)) and refused(checks.columns, DOMAIN, ("a", "a"))


def test_limits_are_those_that_proofs_speak_of() -> None:
    assert (checks.MOST_CELLS, checks.MOST_GROUPS, checks.MOST_RECORDS) == (2**28, 2**20, 2**53)


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
        ((0.0, 1), True), ((0, 1.0), True), ((0, 0, 1), True),
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
    nameless = Domain((Axis("a", (CategoryBin("x", frozenset("x")), CategoryBin("y", frozenset("y")))),))
    assert refused(checks.numbered, nameless, "a")


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
    assert refused(checks.sized, SimpleNamespace(**(vars(good) | {"n": 3})), DOMAIN, 3)
    assert refused(checks.sized, good, DOMAIN, 3.0)
    assert refused(checks.sized, table([[0, 0]], [2**53]), DOMAIN, 2**53)
    assert refused(checks.sized, table([[0, 0]], np.array([3], np.int32)), DOMAIN, 3)
    assert refused(checks.sized, table(np.zeros((1, 2), np.int32), [3]), DOMAIN, 3)


def line(domain: Domain = DOMAIN, **changed: Any) -> Linear:
    given: dict[str, Any] = {"target": "a", "constant": 3, "contributions": ((("b",), np.array([1, 2])),)}
    return Linear(domain, **(given | changed))


def test_a_linear_function_is_of_the_bins_of_the_domain() -> None:
    assert not refused(checks.linear, line(), DOMAIN)
    assert not refused(checks.linear, line(contributions=()), DOMAIN)
    assert refused(checks.linear, SimpleNamespace(**vars(line())), DOMAIN)
    for bad in (
        line(small_domain(3, 3)), line(target="z"), line(constant=True), line(constant=1.0),
        line(contributions=((("b",), np.array([1, 2, 3])),)), line(contributions=(((), np.array(1)),)),
        line(contributions=((("z",), np.array([1, 2])),)), line(contributions=((("b",), np.array([1.0, 2])),)),
        line(contributions=((("b",), np.array([1, 2])), (("b",), np.array([1])))),
    ):  # fmt: skip
        assert refused(checks.linear, bad, DOMAIN), bad


EVENT = Shown.numbers("e", ("a",), map(Fraction, (0, 1, 1)), (3,))


@dataclass(frozen=True, eq=False)
class OwnAxis(Axis):
    """An axis of the asker's own class."""


def test_a_view_shows_each_column_once_with_codes_of_its_axis() -> None:
    def shown(**changed: Any) -> View:
        return View(DOMAIN, (Shown.plain(DOMAIN.axes[1]), replace(EVENT, **changed)))

    assert not refused(checks.view, shown(), DOMAIN)
    assert refused(checks.view, SimpleNamespace(source=DOMAIN, columns=(EVENT,)), DOMAIN)
    assert refused(checks.view, View(DOMAIN, (SimpleNamespace(**vars(EVENT)),)), DOMAIN)  # type: ignore[arg-type]
    for bad in (
        View(small_domain(3, 3), (EVENT,)), View(DOMAIN, ()), View(DOMAIN, (EVENT, EVENT)),
        shown(codes=np.array([0, 2, 1])), shown(codes=np.array([-1, 1, 1])), shown(codes=np.array([0, 1])),
        shown(codes=np.array([0, 1, 1], object)), shown(clique=("z",)), shown(clique=()),
        shown(axis=OwnAxis("e", EVENT.axis.bins)),
    ):  # fmt: skip
        assert refused(checks.view, bad, DOMAIN), bad


@dataclass(frozen=True)
class OwnDomain(Domain):
    """A domain that says that it is any other."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = Domain.__hash__


def test_scores_are_tables_of_64_bit_integers_over_the_domain() -> None:
    def of(norm: Any = 1, constant: Any = 3, clique: Any = ("b",), table: Any = (1, 2)) -> RowScores:
        return RowScores(DOMAIN, ((), (Factor(1), Factor(constant, ((clique, np.array(table)),)))), norm)

    assert not any(refused(checks.scores, of(norm), DOMAIN) for norm in (1, 2))
    assert refused(checks.scores, SimpleNamespace(**vars(of()), fits=True), DOMAIN)
    assert refused(checks.scores, RowScores(OwnDomain(DOMAIN.axes), of().functions), DOMAIN)
    own = SimpleNamespace(constant=3, tables=(), reach=1)
    for bad in (
        RowScores(small_domain(3, 3), of().functions), RowScores(DOMAIN, ()), of(0), of(3), of(None),
        RowScores(DOMAIN, ((own,),)), of(constant=1.0), of(constant=True), of(constant=2**62), of(clique="b"),  # type: ignore[arg-type]
        of(clique=("z",)), of(table=(1, 2, 3)), of(table=(1.0, 2.0)), of(table=np.array([1, 2], object)),
    ):  # fmt: skip
        assert refused(checks.scores, bad, DOMAIN), bad


def test_a_rule_for_partners_speaks_of_every_column() -> None:
    near = (EXACT, EXACT + 1, EXACT + 2)
    assert not refused(checks.like, Likeness(("b",), (("a", near),), 1), DOMAIN)
    assert refused(checks.like, Likeness((), (("a", near),), 1), DOMAIN)
    assert refused(checks.like, Likeness(("b",), (("a", near[:2]),), 1), DOMAIN)
    assert refused(checks.like, Likeness(("b",), (("a", near),), -1), DOMAIN)
    assert not refused(checks.like, Likeness(("a", "b"), (), 0), DOMAIN)
    assert not refused(checks.like, Likeness(("b",), (("a", (EXACT, 5, 2**20 + EXACT)),), 1), DOMAIN)
    for bad in (
        Likeness(("b",), (("a", (EXACT, 5, 2**20)),), 1), Likeness(("b",), (("a", (EXACT - 1, 5, 6)),), 1),
        Likeness(("z",), (("a", near), ("b", (0, 1))), 1), Likeness(("b",), (("a", near),), 2**20 + 1),
        Likeness(("b", "b"), (("a", near),), 1),
    ):  # fmt: skip
        assert refused(checks.like, bad, DOMAIN), bad
    assert refused(checks.like, SimpleNamespace(match=("b",), steps=(("a", near),), within=1), DOMAIN)


def test_partners_are_within_no_more_bins_than_there_may_be_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_GROUPS", 4)
    for within in range(6):
        assert refused(checks.like, Likeness(("a", "b"), (), within), DOMAIN) is (within > 4)


def test_a_rule_for_partners_has_no_more_values_than_an_index_can_hold() -> None:
    """A column in steps of up to 2^20 takes 21 bits: two of them fit into 62, four do not."""
    wide = (0, 2**20 + EXACT)
    for columns, bad in ((2, False), (4, True)):
        domain = small_domain(*[2] * columns)
        rule = Likeness((), tuple((name, wide) for name in domain.names), 1)
        assert refused(checks.like, rule, domain) is bad


def test_a_check_that_fails_on_a_wrong_kind_refuses() -> None:
    for error in (TypeError, AttributeError, LookupError, ArithmeticError, KeyError, ZeroDivisionError):

        def check(question: object, domain: Domain, n: int, error: type[Exception] = error) -> None:
            raise error("a value of somebody")

        with pytest.raises(ValueError, match="another kind") as found:
            checks.refusing(check)(None, DOMAIN, 3)
        assert found.value.__suppress_context__ and "somebody" not in str(found.value)

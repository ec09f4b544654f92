"""Teachers: what they vote for, that parts do not touch each other, and that blocks change nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from facsimile.table import teachers
from facsimile.table.teachers import Layer, Lesson, votes
from facsimile.testing import small_domain
from facsimile.testing.learners import lesson

DOMAIN = small_domain(3, 4)


def test_teachers_call_rows_real_that_are_like_their_records() -> None:
    layer = Layer(small_domain(2), (((("a",)), np.array([1, -1])),))
    told = Lesson(layer, np.array([[0], [1]]), np.array([[0], [1]]))
    assert votes(told, np.array([[0], [0], [1]]), np.array([0, 1, 2]), 4).tolist() == [2, 1]


def test_a_teacher_without_records_calls_nothing_real() -> None:
    told = lesson(DOMAIN, 9)
    assert not votes(told, np.zeros((0, 2), np.int64), np.zeros(0, np.int64), 5).any()


def test_votes_are_those_of_each_teacher_alone() -> None:
    random = np.random.default_rng(1)
    told, records, teacher = (
        lesson(DOMAIN, 9),
        random.integers(0, DOMAIN.shape, (50, 2)),
        random.integers(0, 7, 50),
    )
    alone = [votes(told, records[teacher == k], np.zeros((teacher == k).sum(), np.int64), 1) for k in range(7)]
    assert (votes(told, records, teacher, 7) == sum(alone)).all()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    told, records, teacher = (
        lesson(DOMAIN, 9),
        random.integers(0, DOMAIN.shape, (90, 2)),
        random.integers(0, 20, 90),
    )
    whole = votes(told, records, teacher, 25)
    for block in (1, 4, 17):
        monkeypatch.setattr(teachers, "BLOCK", block)
        assert (votes(told, records, teacher, 25) == whole).all()


@pytest.mark.parametrize("table", [np.array([1, -1]), np.array([1, 0, -1]), np.array([1, 2, -1])])
def test_a_layer_has_a_sign_for_each_cell(table: np.ndarray) -> None:
    with pytest.raises(ValueError):
        Layer(DOMAIN, ((("a",), table),))


def test_a_layer_is_of_distinct_columns_and_of_no_more_signs_than_can_be_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ones = np.ones((3, 4), np.int64)
    good = Layer(DOMAIN, ((("a", "b"), ones), (("b",), ones[0])))
    ones[2, 3] = -1
    assert good.of(np.array([[2, 3]])).tolist() == [[1, 1]], "a later write changes nothing"
    ones[2, 3] = 1
    for signs in (
        (), (((), np.array(1)),),
        ((("a", "a"), np.ones((3, 3), np.int64)),), ((("a", "b"), ones.astype(float)),),
        ((("a", "b"), ones[:2]),), ((("a", "b"), ones), (("b",), ones[0] * 0)), ((("a",), ones[:, 0] * -2),),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            Layer(DOMAIN, signs)
    assert teachers.MOST_SIGNS == 2**24
    monkeypatch.setattr(teachers, "MOST_SIGNS", 12)
    Layer(DOMAIN, good.signs)
    monkeypatch.setattr(teachers, "MOST_SIGNS", 11)
    with pytest.raises(ValueError, match="each cell"):
        Layer(DOMAIN, good.signs)


@pytest.mark.parametrize("name", ["made", "asked"])
def test_a_lesson_has_rows_of_the_domain(name: str) -> None:
    told, last = lesson(DOMAIN, 5), np.array([[0, 0], [2, 3]])
    replace(told, **{name: last})  # type: ignore[arg-type]
    for rows in (
        last - 1, last + np.array([1, 0]), last + np.array([0, 1]), last[:0], last[0], last[:, :1],
        last.astype(float), last.astype(np.int32), last[None],
    ):  # fmt: skip
        with pytest.raises(ValueError, match="a lesson"):
            replace(told, **{name: rows})  # type: ignore[arg-type]


def test_votes_are_those_of_means_that_are_written_out() -> None:
    """A teacher calls a row real where the signs of its records lean its way, less those of the made rows."""
    random = np.random.default_rng(3)
    told, teacher = lesson(DOMAIN, 9), random.integers(0, 6, 40)
    records = random.integers(0, DOMAIN.shape, (40, 2))
    mean = told.layer.of(told.made).mean(axis=0)
    plain = [0] * len(told.asked)
    for k in range(7):
        own = sum((told.layer.of(row[None])[0] - mean for row in records[teacher == k]), 0 * mean)
        for place, row in enumerate(told.asked):
            plain[place] += bool(own @ (told.layer.of(row[None])[0] - mean) > 0)
    assert votes(told, records, teacher, 7).tolist() == plain

"""Comments: each is found, and what it speaks of."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from facsimile.agreement.comments import Comment, comments
from facsimile.spec.marked import Marked
from spec.yamls import MAPPINGS, RANDOM, Writer

PAGE = """\
# The file.

# The title.
title: "A # no comment"  # of the title
text: >  # of the text
  Words # no comment

  # no comment
columns:  # of the columns
  # of age
  - name: age  # of its name
    bounds: [0, 90]  # of the bounds
    values: [  # of the values
      # of a
      a,  # behind a
      b
      # at the end of the values
    ]  # of the values again
    # at the end of age
  # of sex
  - name: sex
  # at the end of the columns

# of the budget, apart

budget:
  total: 1
# at the end
"""


def test_what_each_comment_speaks_of() -> None:
    found = comments(Marked(PAGE))
    assert [(comment.words[2:], comment.place, comment.side) for comment in found] == [
        ("The file.", (), "head"),
        ("The title.", ("title",), "above"),
        ("of the title", ("title",), "behind"),
        ("of the text", ("text",), "behind"),
        ("of the columns", ("columns",), "behind"),
        ("of age", ("columns", 0), "above"),
        ("of its name", ("columns", 0, "name"), "behind"),
        ("of the bounds", ("columns", 0, "bounds"), "behind"),
        ("of the values", ("columns", 0, "values"), "behind"),
        ("of a", ("columns", 0, "values", 0), "above"),
        ("behind a", ("columns", 0, "values", 0), "behind"),
        ("at the end of the values", ("columns", 0, "values"), "tail"),
        ("of the values again", ("columns", 0, "values"), "behind"),
        ("at the end of age", ("columns", 0), "tail"),
        ("of sex", ("columns", 1), "above"),
        ("at the end of the columns", ("columns",), "tail"),
        ("of the budget, apart", ("budget",), "above"),
        ("at the end", (), "tail"),
    ]
    assert [comment.words[2:] for comment in found if comment.apart] == [
        "The file.",
        "at the end of the columns",
        "of the budget, apart",
    ]


@pytest.mark.parametrize(
    ("text", "place", "side"),
    [
        ("# c\na: 1\n", (), "head"),
        ("\n\n# c\na: 1\n", (), "head"),
        ("a: 1\n# c\nb: 2\n", ("b",), "above"),
        ("a:\n  # c\n  b: 1\n", ("a", "b"), "above"),
        ("a:\n- # c\n  b: 1\n", ("a", 0), "behind"),
        ("a:\n- b: 1\n  c: 2\n  # c\n- 3\n", ("a", 0), "tail"),
        ("a: {b: 1, # c\n  c: 2}\n", ("a", "b"), "behind"),
        ("a: [] # c\nb: 1\n", ("a",), "behind"),
        ("a: [ # c\n  ]\n", ("a",), "behind"),
        ("a: [[1, # c\n  2], 3]\n", ("a", 0), "behind"),
        ("a:  # c\nb: 1\n", ("a",), "behind"),
        ("a: |\n  # no\n# c\nb: 1\n", ("b",), "above"),
        ("a: 'x\n  # no'\n# c", (), "tail"),
    ],
)
def test_places_of_comments(text: str, place: tuple[Any, ...], side: str) -> None:
    (found,) = comments(Marked(text))
    assert (found.words, found.place, found.side) == ("# c", place, side)


@settings(max_examples=80)
@given(MAPPINGS, RANDOM)
def test_every_comment_is_found_once_and_nothing_else(data: dict[str, Any], random: Random) -> None:
    """Whatever the styles of values around it; number signs inside of values are none."""
    written = Writer(random)
    text = written.text(data).removeprefix("\ufeff")
    found = comments(Marked(text))
    assert [comment.words for comment in found] == list(written.comments)
    assert all(isinstance(comment, Comment) for comment in found)

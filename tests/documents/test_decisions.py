"""The log of decisions: what was written is read again, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.documents.decisions import LONGEST, Decisions, digest, now

WHEN = "2026-03-04T05:06:07Z"
texts = st.text("ab\n\r\u2028é#: ", max_size=40)


def log(*after: str) -> Decisions:
    found = Decisions().begun(after[0], when=WHEN)
    for text in after[1:]:
        found = found.changed(text, by="Ada", why="x", when=WHEN, words=["y"])
    return found


@given(st.lists(texts, min_size=1, max_size=6))
def test_every_text_follows_from_the_log(after: list[str]) -> None:
    found = log(*after)
    assert found.texts == tuple(after)
    assert Decisions.of(found.content) == found
    assert [entry.digest for entry in found.entries] == [digest(text) for text in after]


@given(st.lists(texts, min_size=2, max_size=5), st.data())
def test_a_line_that_is_changed_left_out_or_moved_is_seen(after: list[str], data: st.DataObject) -> None:
    found = log(*after).commented("budget", "why?", by="Bob", when=WHEN)
    lines = found.content.splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 2))
    told = json.loads(lines[place])
    others = [
        lines[:place] + lines[place + 1 :],
        [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]],
        [*lines[:place], lines[place], lines[place], *lines[place + 1 :]],
    ]
    for key in ("by", "why", "when", "digest", "before"):
        other = {**told, key: {"when": "2027-03-04T05:06:07Z"}.get(key, "somebody")}
        others.append(
            [*lines[:place], json.dumps(other, ensure_ascii=False).encode() + b"\n", *lines[place + 1 :]]
        )
    for one in others:
        with pytest.raises(ValueError):
            Decisions.of(b"".join(one))


KEYS = ["deed", "when", "edits", "words", "text", "digest", "by", "x"]
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
)


@given(plain)
def test_anything_else_is_no_log(told: Any) -> None:
    with pytest.raises(ValueError):
        Decisions.of(json.dumps(told).encode() + b"\n")


@pytest.mark.parametrize("content", [b"x", b"{}\n", b"\xff\n", b'{"deed": "begun"}', b"[" * 100_000 + b"\n"])
def test_bytes_that_are_no_log_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        Decisions.of(content)


def test_an_empty_file_is_an_empty_log() -> None:
    assert Decisions.of(b"") == Decisions() and Decisions().text == ""


def test_the_last_signature_of_each_name_and_role_counts() -> None:
    found = (
        log("a").signed("p1", by="Ada", role="lawyer", when=WHEN).signed("p1", by="Bob", role="x", when=WHEN)
    )
    found = found.signed("p2", by="Ada", role="lawyer", when=WHEN)
    assert [(one.by, one.plan) for one in found.signatures] == [("Ada", "p2"), ("Bob", "p1")]


def test_comments_belong_to_their_item() -> None:
    found = (
        log("a").commented("budget", "one", by="Ada", when=WHEN).commented("title", "two", by="Ada", when=WHEN)
    )
    assert [one.why for one in found.comments("budget")] == ["one"]


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError):
        log("a").commented("budget", "x" * (LONGEST + 1), by="Ada", when=WHEN)
    assert log("a").commented("budget", "x" * LONGEST, by="Ada", when=WHEN).entries[-1].why


def test_now_is_a_time_that_a_log_takes() -> None:
    assert Decisions.of(Decisions().begun("a", when=now()).content).text == "a"

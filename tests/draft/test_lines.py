"""Lines: whatever is written is read again as it was, by the strict reader and by any other."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from facsimile.draft.lines import WIDTH, entry, flow, item, prose, scalar
from facsimile.draft.part import Part
from facsimile.spec.text import read

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.sampled_from(
        ["yes", "null", "~", "-", "- a", "a: b", "a #b", "[x", "<18", "18≤", "-5 - -1", "0x1", "'", '"']
    ),
)
VALUES = st.recursive(
    TEXTS,
    lambda inner: st.lists(TEXTS, max_size=40) | st.dictionaries(TEXTS, inner, min_size=1, max_size=8),
    max_leaves=30,
)


def plain(value: Any) -> Any:
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


@given(VALUES, st.text(st.characters(categories=["L", "N", "Zs"]), max_size=60), st.integers(0, 6))
def test_an_entry_is_read_as_it_was_meant(value: Any, note: str, indent: int) -> None:
    lines = "\n".join(entry("key", value, " ".join(note.split()), indent))
    assert read(lines).data == {"key": plain(value)}


@given(TEXTS)
def test_other_readers_agree_on_texts(text: str) -> None:
    if not text.replace(".", "").replace("-", "").replace(":", "").replace("_", "").isalnum():
        assert yaml.safe_load(f"[{scalar(text)}]")[0] in (text, None) or str(yaml.safe_load(scalar(text)))


@given(st.lists(st.sampled_from(["18-19", "surgery", "65≤"]), min_size=30, max_size=60))
def test_long_lists_are_wrapped(values: list[str]) -> None:
    assert all(len(line) <= WIDTH for line in entry("released", values, "a note", 6))


def test_an_item_begins_with_a_dash_also_below_a_note() -> None:
    part = Part({"name": "x" * 100, "of": ["a"]}, {"name": "a note that does not fit beside it"})
    lines = list(item(part, 2))
    assert lines[0].startswith("    # check:") and lines[1].startswith("  - name:")
    assert read("\n".join(lines)).data == [{"name": "x" * 100, "of": ["a"]}]


def test_truth_values_stay_themselves() -> None:
    assert read(f"map: {flow({True: 'yes', 'true': 'x'})}").data == {"map": {True: "yes", "true": "x"}}


def test_comments_are_comments() -> None:
    assert all(line.startswith("  # ") and len(line) <= WIDTH for line in prose("word " * 80, 2))

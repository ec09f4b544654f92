"""Names and labels keep to the rules of the language, whatever a file calls its columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from facsimile.draft.names import column_name, described, is_label, label
from facsimile.spec.model import is_name


@given(st.lists(st.text(), max_size=6))
def test_names_are_names_and_differ(raws: list[str]) -> None:
    names: list[str] = []
    for place, raw in enumerate(raws):
        names.append(column_name(raw, place, names))
    assert all(map(is_name, names)) and len(set(names)) == len(names)


@given(st.lists(st.text(), max_size=6))
def test_labels_are_labels_and_differ(raws: list[str]) -> None:
    labels: list[str] = []
    for place, raw in enumerate(raws):
        labels.append(label(raw, place, labels))
    assert all(map(is_label, labels)) and len(set(labels)) == len(labels)


@given(st.text())
def test_descriptions_are_printable(raw: str) -> None:
    assert described(raw).isprintable() and described(raw)


@given(st.text())
def test_a_label_that_may_stand_as_it_is_stays(raw: str) -> None:
    assert not is_label(raw) or label(raw, 0, ()) == raw

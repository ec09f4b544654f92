"""What stands inside a page can neither end its element nor run unless the page's policy names it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.documents import inline


@given(st.text())
def test_no_text_ends_the_element_that_holds_the_data(text: str) -> None:
    found = inline.embedded({"text": text})
    assert not set("<>&\u2028\u2029") & set(found) and json.loads(found) == {"text": text}


def test_a_policy_names_a_script_by_its_hash() -> None:
    assert inline.policy_hash("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"


def test_a_part_that_would_end_its_element_is_refused() -> None:
    with pytest.raises(ValueError, match="end before its end"):
        inline.part("facsimile.documents", "page.html")

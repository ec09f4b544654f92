"""Random damage: texts of a specification and lines of a ledger are read or refused, never anything else."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.line import written
from facsimile.privacy.ledger import verify
from facsimile.spec.load import loads
from spec.test_text import LOANS

PIECES = st.text(max_size=12) | st.sampled_from(
    ["1e999999999", "{", "[", "- ", "~", "!!x", "&a", "\u202e", "0..9"]
)
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), st.lists, max_leaves=4)
FIRST = {"seq": 0, "prev": "", "kind": "open", "id": "a", "tag": "t", "cap": 10}


@settings(max_examples=60)
@given(st.integers(0, len(LOANS)), st.integers(0, 30), PIECES)
def test_a_damaged_specification_is_read_or_refused(place: int, cut: int, piece: str) -> None:
    with suppress(FacsimileError):
        loads((LOANS[:place] + piece + LOANS[place + cut :]).encode(errors="surrogatepass"))


@settings(max_examples=100)
@given(st.sampled_from([*FIRST, "most_delta", "micro", "rho", "before", "data"]), VALUES)
def test_a_ledger_with_odd_fields_is_read_or_refused(field: str, value: object) -> None:
    with suppress(FacsimileError):
        state = verify(written(FIRST | {field: value}))
        assert state.delta >= 0 and state.before >= 0 and state.spent >= 0

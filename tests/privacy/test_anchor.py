"""An anchor's file: what was written is read, and anything else is damage."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from facsimile.errors import FacsimileError
from facsimile.line import written
from facsimile.privacy.anchor import NOTHING, Anchor, Mark

MARK = Mark("ledger", 3, "head", 5, 7, "1/8", "1/9", "key")


def test_what_was_written_is_read_and_the_key_that_lies_there_stays(tmp_path: Path) -> None:
    anchor = Anchor(tmp_path / "anchor")
    assert anchor.read() is None
    for mark in (MARK, Mark("other", NOTHING, "", 0, key="another"), Mark("other", 0, "", 0)):
        anchor.write(mark)
        assert anchor.read() == Mark(**(asdict(mark) | {"key": "key"}))


@pytest.mark.parametrize(
    ("field", "value"),
    [("sequence", -2), ("spent", -1), ("before", -1), ("sequence", "3"), ("spent", 5.0), ("before", True),
     ("ledger", 1), ("head", None), ("key", []), ("delta", "-1/8"), ("before_delta", "-1/9"), ("delta", "much"),
     ("before_delta", ["1"]), ("unknown", 1)],
)  # fmt: skip
def test_a_mark_that_no_ledger_leaves_is_damage(tmp_path: Path, field: str, value: Any) -> None:
    """Its length and checksum hold: a hand wrote it, not a crash."""
    anchor = Anchor(tmp_path / "anchor")
    anchor.path.write_bytes(written(asdict(MARK) | {field: value}))
    before = anchor.path.read_bytes()
    for action in (anchor.read, lambda: anchor.write(MARK)):
        with pytest.raises(FacsimileError) as caught:
            action()
        assert caught.value.code == "E310"
    assert anchor.path.read_bytes() == before


@pytest.mark.parametrize("content", [written(asdict(MARK))[:-1], written(asdict(MARK)) * 2, b"", b"\n"])
def test_an_anchor_is_one_whole_line(content: bytes, tmp_path: Path) -> None:
    anchor = Anchor(tmp_path / "anchor")
    anchor.path.write_bytes(content)
    with pytest.raises(FacsimileError) as caught:
        anchor.read()
    assert caught.value.code == "E310"

"""The story of a specification with twelve mistakes: all are told at once, and it costs nothing."""

from __future__ import annotations

import re

from conftest import ROOT
from journeys.terminal import Terminal
from journeys.test_releases import RELEASE, untold

TWELVE = (ROOT / "tests" / "loans" / "twelve.yaml").read_text(encoding="utf-8")


def test_twelve_mistakes_are_told_at_once(desk: Terminal) -> None:
    (desk.folder / "wards.yaml").write_text(TWELVE, encoding="utf-8")
    marked = [
        (found[1], number)
        for number, line in enumerate(TWELVE.splitlines(), 1)
        if (found := re.search(r"# (E[0-9]{3})$", line))
    ]
    assert len(marked) == 12
    for line in ("facsimile check wards.yaml", RELEASE):
        told = desk(line)
        unwrapped = told.screen.replace("\n", " ")
        said = [(code, int(number)) for code, number in re.findall(r"(E[0-9]{3}) line ([0-9]+):", unwrapped)]
        assert (told.code, said) == (2, marked), told.screen
        assert unwrapped.count("Did you mean") == 7
        untold(desk, told)
    assert {path.name for path in desk.folder.iterdir() if path.is_file()} == {"wards.csv", "wards.yaml"}

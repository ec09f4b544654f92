"""Stories of machines that fail: a disk full at every write, a kill at any moment, then the same command."""

from __future__ import annotations

import random
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from facsimile.privacy.ledger import Ledger
from journeys import wards
from journeys.forking import Forked
from journeys.terminal import Terminal
from journeys.test_releases import RELEASE, charges, ledger, succeeded

PRICE = 5_900_000


def test_a_full_disk_at_every_write(tmp_path: Path, interactive: bool, forked: Forked) -> None:
    """What the command says is so, and the same command ends in the one release that was paid for.

    The terminal takes the odd writes, the pipe the even ones.
    """
    home = tmp_path / "home"
    home.mkdir()
    wards.write(home)
    (home / "wards.yaml").write_text(wards.specification(), encoding="utf-8")
    program = partial(forked, Terminal(tmp_path, interactive))
    assert program(_in("facsimile ledger new {}/wards.ledger --data {}/wards.csv --cap 12", home)).code == 0
    trial = shutil.copytree(home, tmp_path / "trial")
    last = program(_in(HERE, trial), count=True).code
    assert last > 10 and (trial / "bundle" / "README.html").exists()
    for write in range(1 if interactive else 2, last + 1, 2):
        place = shutil.copytree(home, tmp_path / f"full-{write}")
        told = program(_in(HERE, place), full=write)
        state = Ledger.at(place / "wards.ledger").state()
        assert told.code != 1 and wards.echoed(told.screen) == [], told.screen
        if told.code == 0:  # all was done when the disk filled up
            assert write > last - 4
        elif "nothing was charged" in told.screen:
            assert (told.code, state.spent) == (4, 0), told.screen
        elif told.error == "E332":
            assert (told.code, state.spent) == (4, PRICE), told.screen
        else:
            assert (told.code, state.spent) == (6, PRICE), told.screen
            assert "goes on at no further cost" in told.screen, (write, told.screen)
            assert not (place / "bundle").exists() or told.error == "E602"
        if told.code:
            again = program(_in(HERE, place))
            assert again.code == 0, again.screen
        assert (place / "bundle" / "README.html").exists()
        assert Ledger.at(place / "wards.ledger").state().spent == PRICE


HERE = "facsimile release {}/wards.yaml --data {}/wards.csv --ledger {}/wards.ledger -o {}/bundle"


def _in(line: str, folder: Path) -> str:
    return line.replace("{}", str(folder))


def test_killed_at_any_moment_and_typed_again(desk: Terminal) -> None:
    """However often it is killed: one charge, one release, and the command that ends it is the same."""
    desk = replace(desk, forked=None)  # a kill may come at any moment of the installed program
    succeeded(desk, "facsimile ledger new wards.ledger --data wards.csv --cap 12", r"anchor")
    begun = time.monotonic()
    succeeded(desk, RELEASE.replace("-o bundle", "-o first"), r"first/README\.html")
    whole = time.monotonic() - begun
    draw = random.Random(desk.interactive)
    for _ in range(4):
        desk.killed(RELEASE, after=whole * draw.uniform(0.4, 1.0))
    if not (desk.folder / "bundle" / "manifest.json").exists() or charges(desk) < 2:
        succeeded(desk, RELEASE, r"bundle/README\.html")
    assert charges(desk) == 2
    assert ledger(desk).spent == 2 * PRICE
    told = succeeded(desk, "facsimile verify bundle", r"who made it was not checked")
    assert "epsilon 5.9" in told.screen
    assert not [path.name for path in desk.folder.iterdir() if path.name.endswith((".decision", ".measured"))]

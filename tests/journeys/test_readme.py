"""The README's commands as printed, and the enclave's: on births, discharges and a table of our own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from conftest import EXAMPLES, ROOT
from journeys import wards
from journeys.terminal import Terminal, Told

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    [line for line in block.splitlines() if line.startswith("facsimile ")]
    for block in re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
]
BIRTHS, DISCHARGES = (block for block in BLOCKS if block)
ENCLAVE = re.search(r"`(facsimile release first\.yaml --data FILE --ledger\s+FILE -o first)`", README)
TRIES = 40  # a plan for half of the runs is missed by all of them with probability 1e-12
LAST = {
    "simulate": r"^\d[\d,]* simulated records in ",
    "explore": r"^Next: facsimile plan ",
    "plan": r"^Written: .* Next: facsimile check ",
    "release": r"^The page to read first: ",
    "verify": r"^A REHEARSAL: not a release\.",
}


def ours() -> list[str]:
    """The births' five commands, on the third table."""
    swapped = {
        "examples/births/facts.yaml -n 165915": f"facts.yaml -n {wards.RECORDS}",
        "examples/births/ours.yaml": "wards.yaml",
        "births.parquet": "stays.parquet",
    }
    lines = BIRTHS
    for old, new in swapped.items():
        lines = [line.replace(old, new) for line in lines]
    return lines


def walk(desk: Terminal, lines: list[str], data: str) -> None:
    """The five commands, then the sixth in the enclave; a plan for half of the runs may have to be repeated."""
    for line in lines:
        told = desk(line)
        command = line.split()[1]
        assert (told.code, told.error) == (0, None), told.screen
        assert re.search(LAST[command], told.last), told.screen
        assert "Traceback" not in told.screen
    assert ENCLAVE is not None
    name = lines[-1].split()[2]
    enclave = " ".join(ENCLAVE[1].split()).replace("first", name).replace("--data FILE", f"--data {data}")
    enclave = enclave.replace("--ledger FILE", "--ledger enclave.ledger").replace(f"-o {name}", "-o enclave")
    cap = desk("facsimile ledger new enclave.ledger --data " + data + " --cap 400")
    assert cap.code == 0, cap.screen
    for _ in range(TRIES):
        told = desk(enclave)
        if told.code != 6:
            break
        assert told.error == "E601", told.screen
    released(told, desk.folder)


def released(told: Told, folder: Path) -> None:
    assert (told.code, told.error) == (0, None), told.screen
    assert told.last == "The page to read first: enclave/README.html"
    assert (folder / "enclave" / "README.html").exists()


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A folder as README's reader has it."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    return tmp_path


def test_births_in_a_terminal(bench: Path) -> None:
    walk(Terminal(bench, interactive=True), BIRTHS, "births.parquet")


def test_discharges_in_a_script(bench: Path) -> None:
    walk(Terminal(bench, interactive=False), DISCHARGES, "discharges.parquet")


def test_stays_on_wards(tmp_path: Path, interactive: bool) -> None:
    (tmp_path / "facts.yaml").write_text(wards.FACTS, encoding="utf-8")
    text = wards.specification(selection="mode: coin, gamma: 0.05")
    (tmp_path / "wards.yaml").write_text(text, encoding="utf-8")
    walk(Terminal(tmp_path, interactive), ours(), "stays.parquet")


def test_readme_has_five_commands_twice() -> None:
    assert [line.split()[1] for line in BIRTHS] == list(LAST) == [line.split()[1] for line in DISCHARGES]

"""The script that draws the public sample: on made-up lines in the published layout."""

from __future__ import annotations

import csv
import importlib.util
import random
import subprocess
import sys
import zipfile
from collections import Counter
from itertools import combinations
from math import log, sqrt
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from conftest import EXAMPLES, ROOT
from facsimile.privacy.reader import read_public
from facsimile.sources.address import Address
from facsimile.spec.load import load

SCRIPT = EXAMPLES / "births" / "nvss.py"


def loaded() -> ModuleType:
    found = importlib.util.spec_from_file_location("nvss", SCRIPT)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


nvss = loaded()
BIRTH = {
    "DOB_YY": "2019",
    "DOB_MM": "07",
    "MAGER": "31",
    "PRIORLIVE": "02",
    "PRIORDEAD": "01",
    "DPLURAL": "1",
    "SEX": "F",
    "COMBGEST": "39",
    "DBWT": "3270",
}
PLACES = {
    "DOB_YY": 9,
    "DOB_MM": 13,
    "MAGER": 75,
    "PRIORLIVE": 171,
    "PRIORDEAD": 173,
    "DPLURAL": 454,
    "SEX": 475,
    "COMBGEST": 490,
    "DBWT": 504,
}


def line(**changes: str) -> bytes:
    """A birth in the published layout: every other place holds a mark that no field may pick up."""
    text = bytearray(b"#" * 1345)
    for name, value in (BIRTH | changes).items():
        text[PLACES[name] - 1 : PLACES[name] - 1 + len(value)] = value.encode()
    return bytes(text)


def written(path: Path, lines: list[bytes], end: bytes = b"\r\n") -> Path:
    path.write_bytes(b"".join(text + end for text in lines))
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_birth_is_read_at_its_places() -> None:
    assert dict(zip(nvss.COLUMNS, nvss.record(line()), strict=True)) == {
        "mother_age": "31",
        "parity": "4",
        "gestation_week": "39",
        "is_female": "True",
        "birth_weight": "3270",
        "date_of_birth": "2019-07-15",
    }
    assert nvss.record(line(SEX="M", DOB_MM="12"))[3::2] == ("False", "2019-12-15")


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"PRIORLIVE": "99"}, "parity"),
        ({"PRIORDEAD": "99"}, "parity"),
        ({"COMBGEST": "99"}, "gestation_week"),
        ({"DBWT": "9999"}, "birth_weight"),
        ({"MAGER": "  "}, "mother_age"),
        ({"SEX": " "}, "is_female"),
    ],
)
def test_an_unknown_value_is_empty_and_nothing_else_is(changes: dict[str, str], column: str) -> None:
    found = dict(zip(nvss.COLUMNS, nvss.record(line(**changes)), strict=True))
    assert [name for name, value in found.items() if value == ""] == [column]


@pytest.mark.parametrize(
    "changes", [{"DOB_MM": "13"}, {"DOB_YY": "##19"}, {"SEX": "3"}, {"DBWT": "3#70"}], ids=str
)
def test_another_layout_is_noticed(changes: dict[str, str]) -> None:
    with pytest.raises(nvss.Unreadable):
        nvss.record(line(**changes))


def test_plural_births_are_left_out(tmp_path: Path) -> None:
    lines = [line(DPLURAL=str(1 + i % 5), DBWT=f"{1000 + i}") for i in range(50)]
    assert nvss.draw(written(tmp_path / "a.txt", lines), 10, 1, tmp_path / "a.csv") == 10
    assert sorted(row["birth_weight"] for row in rows(tmp_path / "a.csv")) == [
        str(1000 + i) for i in range(0, 50, 5)
    ]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_sample_is_equally_likely(size: int) -> None:
    """By Hoeffding's inequality and the union bound this fails by chance with probability 10⁻⁶ at most."""
    births, draws = [bytes([i]) for i in range(5)], 20_000
    coin = random.Random(7)
    found = Counter(tuple(sorted(nvss.drawn(iter(births), size, coin))) for _ in range(draws))
    sets = list(combinations(births, size))
    most = sqrt(log(2 * len(sets) / 1e-6) / (2 * draws))
    assert all(abs(found[chosen] / draws - 1 / len(sets)) < most for chosen in sets)
    assert sum(found.values()) == sum(found[chosen] for chosen in sets)


def test_archive_and_text_give_the_same_and_another_seed_another(tmp_path: Path) -> None:
    lines = [line(DBWT=f"{1000 + i}") for i in range(200)]
    text = written(tmp_path / "births.txt", lines, b"\n")
    with zipfile.ZipFile(tmp_path / "births.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(text, "Nat2019PublicUS.txt")
        archive.writestr("guide.pdf", "x")
    for name, seed in (("txt", 3), ("zip", 3), ("txt", 4)):
        nvss.draw(tmp_path / f"births.{name}", 20, seed, tmp_path / f"{name}{seed}.csv")
    assert (tmp_path / "txt3.csv").read_bytes() == (tmp_path / "zip3.csv").read_bytes()
    assert (tmp_path / "txt3.csv").read_bytes() != (tmp_path / "txt4.csv").read_bytes()


def test_complete_births_alone_are_drawn_where_they_are_asked_for(tmp_path: Path) -> None:
    lines = [line(COMBGEST="99" if i % 2 else "40", DBWT=f"{1000 + i}") for i in range(40)]
    text = written(tmp_path / "a.txt", lines)
    nvss.draw(text, 20, 1, tmp_path / "a.csv", complete=True)
    assert {row["gestation_week"] for row in rows(tmp_path / "a.csv")} == {"40"}
    with pytest.raises(nvss.Unreadable, match="20 such births"):
        nvss.draw(text, 21, 1, tmp_path / "b.csv", complete=True)
    assert not (tmp_path / "b.csv").exists()


def test_the_command_draws_what_the_example_reads(tmp_path: Path) -> None:
    months = [f"{1 + i % 12:02d}" for i in range(60)]
    text = written(
        tmp_path / "Nat.txt", [line(DOB_MM=m, SEX="MF"[int(m) % 2]) for m in months] + [line(DBWT="9999")]
    )
    command = [
        sys.executable,
        str(SCRIPT),
        str(text),
        "-n",
        "61",
        "--seed",
        "1",
        "-o",
        str(tmp_path / "out.csv"),
    ]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.startswith("61 singleton births in ")
    specification = load(EXAMPLES / "births" / "nvss.yaml").sized(60)
    assert read_public(Address.of(str(tmp_path / "out.csv")), specification).n == 60
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, len(again.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"too short\n", "line 1 ends before place 507"),
        (line(DPLURAL="2") + b"\n", "0 such births"),
        (b"", "0 such births"),
    ],
)
def test_a_file_of_another_form_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    assert nvss.main([str(tmp_path / "a.txt"), "-n", "1", "--seed", "1", "-o", str(tmp_path / "b.csv")]) == 2
    assert words in capsys.readouterr().err


def test_an_archive_without_its_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("guide.pdf", "x")
    for name in ("a.zip", "none.zip"):
        assert nvss.main([str(tmp_path / name), "-n", "1", "--seed", "1", "-o", str(tmp_path / "b.csv")]) == 2
        assert capsys.readouterr().err.startswith(name)


def test_the_document_names_the_places_of_the_script() -> None:
    text = (ROOT / "docs" / "nvss.md").read_text(encoding="utf-8")
    for name, (first, last) in nvss.FIELDS.items():
        shown = str(first) if first == last else f"{first}-{last}"
        assert f"| `{name}` | {shown} |" in text
        assert (first, last - first + 1) == (PLACES[name], len(BIRTH[name]))
    columns = yaml.safe_load((EXAMPLES / "births" / "nvss.yaml").read_text(encoding="utf-8"))["columns"]
    assert {column.get("source", column["name"]) for column in columns} == set(nvss.COLUMNS)

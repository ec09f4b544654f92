"""Draw a sample of singleton births from a published natality file of the United States (NCHS, public use).

    python examples/births/nvss.py Nat2019us.zip -n 160000 --seed 1 -o births.csv

The file is the zip archive as it is published, or the text in it: one birth a line, fields at fixed places. It
is read once, line by line. Each singleton birth has the same chance to be in the sample, and so has each set of
them (reservoir sampling). The result has the columns that examples/births/nvss.yaml reads. More: docs/nvss.md.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

FIELDS = {
    "DOB_YY": (9, 12),
    "DOB_MM": (13, 14),
    "MAGER": (75, 76),
    "PRIORLIVE": (171, 172),
    "PRIORDEAD": (173, 174),
    "DPLURAL": (454, 454),
    "SEX": (475, 475),
    "COMBGEST": (490, 491),
    "DBWT": (504, 507),
}
"""First and last place of each field in a line, counted from 1, as in the record layout of the user guide."""
SHORTEST = max(last for _, last in FIELDS.values())
COLUMNS = ("mother_age", "parity", "gestation_week", "is_female", "birth_weight", "date_of_birth")
UNKNOWN = {"PRIORLIVE": 99, "PRIORDEAD": 99, "COMBGEST": 99, "DBWT": 9999}
SINGLE = "1"
SEXES = {"F": "True", "M": "False"}


class Unreadable(Exception):
    """A file that is not of the published form."""


def field(line: bytes, name: str) -> str:
    """The text of a field."""
    first, last = FIELDS[name]
    return line[first - 1 : last].decode("ascii", "replace").strip()


def number(line: bytes, name: str) -> int | None:
    """The number in a field; None where it is blank or stands for an unknown value."""
    text = field(line, name)
    if text and not text.isdecimal():
        raise Unreadable(f"{name} holds no number")
    return None if not text or int(text) == UNKNOWN.get(name) else int(text)


def record(line: bytes) -> tuple[str, ...]:
    """A birth in the columns of the sample; an unknown value is empty.

    The parity counts all live births so far: children now living, children who died, and this one. Of the date
    the month is published; the 15th stands for it.
    """
    living, dead = number(line, "PRIORLIVE"), number(line, "PRIORDEAD")
    parity = None if living is None or dead is None else living + dead + 1
    sex, year, month = field(line, "SEX"), field(line, "DOB_YY"), field(line, "DOB_MM")
    if not (year.isdecimal() and len(year) == 4 and month.isdecimal() and 1 <= int(month) <= 12):
        raise Unreadable("a birth has no year and month")
    if sex and sex not in SEXES:
        raise Unreadable("SEX is neither M nor F")
    numbers = (number(line, "MAGER"), parity, number(line, "COMBGEST"))
    shown = ["" if value is None else str(value) for value in (*numbers, number(line, "DBWT"))]
    return (*shown[:3], SEXES.get(sex, ""), shown[3], f"{year}-{int(month):02d}-15")


def singletons(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of births with one child."""
    for place, line in enumerate(lines, 1):
        text = line.rstrip(b"\r\n")
        if len(text) < SHORTEST:
            raise Unreadable(f"line {place} ends before place {SHORTEST}")
        if field(text, "DPLURAL") == SINGLE:
            yield text


def drawn(lines: Iterable[bytes], size: int, coin: random.Random) -> list[bytes]:
    """A sample of this size, every one equally likely; all lines where there are not more.

    The first lines fill the sample. A later one, the i-th, enters with probability size/i in the place of one
    that is drawn by lot: so by induction each set of `size` of the first i lines is equally likely to be it.
    """
    sample: list[bytes] = []
    for place, line in enumerate(lines):
        if place < size:
            sample.append(line)
        elif (chosen := coin.randrange(place + 1)) < size:
            sample[chosen] = line
    return sample


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The text of a published file, in its archive or by itself."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        texts = [name for name in archive.namelist() if name.lower().endswith(".txt")]
        if len(texts) != 1:
            raise Unreadable(f"the archive holds {len(texts)} texts, not one")
        with archive.open(texts[0]) as text:
            yield text


def draw(path: Path, size: int, seed: int, out: Path, complete: bool = False) -> int:
    """Write a sample of a file; with `complete` only births of which everything is known. Returns its size."""
    with opened(path) as file:
        lines = singletons(file)
        if complete:
            lines = (line for line in lines if "" not in record(line))
        sample = drawn(lines, size, random.Random(seed))
    if len(sample) < size:
        raise Unreadable(f"there are {len(sample):,} such births, fewer than {size:,}")
    rows = [record(line) for line in sample]
    with out.open("x", newline="", encoding="utf-8") as table:
        csv.writer(table, lineterminator="\n").writerows([COLUMNS, *rows])
    return len(rows)


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number from 1 is expected")
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Draw singleton births from a published natality file.")
    parser.add_argument("file", type=Path, help="the published zip archive, or the text in it")
    parser.add_argument("-n", "--size", type=positive, required=True, help="births to draw")
    parser.add_argument("--seed", type=int, required=True, help="the same seed draws the same births")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--complete", action="store_true", help="only births of which everything is known")
    given = parser.parse_args(arguments)
    try:
        count = draw(given.file, given.size, given.seed, given.out, given.complete)
    except (Unreadable, OSError, zipfile.BadZipFile) as error:
        print(f"{given.file.name}: {error}", file=sys.stderr)
        return 2
    print(f"{count:,} singleton births in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

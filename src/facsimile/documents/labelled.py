"""Labelled files: the released table for Stata, SPSS and R, with the words of its values and their order.

A column becomes a variable with the codes 1 to K, in the order of its labels; a column with numbers has a
companion `<name>_number` too. Both programs limit names and labels: what they do not take is shortened in one
fixed way, and NOTES.txt has every name and label in full. The same records and report give the same bytes.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from facsimile.documents.facts import bounds, printable, title, unbounded, warning, wording
from facsimile.documents.report import ColumnEntry, Report
from facsimile.documents.script import SUFFIX, companions, script

STATA, SPSS, R, NOTES = (f"labelled/{name}" for name in ("data.dta", "data.sav", "data.R", "NOTES.txt"))
MOST_NAME = 31
"""Characters of a name. Stata takes 32 and SPSS more, but the library gives a list of labels a longer one."""
MOST_STATA, MOST_SPSS = 80, 255
"""Length of a variable's label: characters in Stata, bytes in SPSS."""
MOST_STATA_VALUE, MOST_SPSS_VALUE = 32_000, 120
"""Bytes of a value's label."""
MOST_STATA_TITLE, MOST_SPSS_TITLE = 80, 64
"""Length of a file's label."""
MOST_SPSS_LINE = 80
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RESERVED = re.compile(
    "all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with|byte|double|float|if|in|int|long|str[0-9]+|strl|using"
)
"""Words of SPSS, then of Stata."""


def labelled_files(report: Report, records: pa.Table, folder: Path | None = None) -> dict[str, bytes]:
    """Every labelled file; `records` are those of data.csv, as labels and in that order.

    The library that writes Stata and SPSS wants a file: it lies in `folder` meanwhile, or in the system's own.
    """
    variables = _variables(report, records)
    with TemporaryDirectory(dir=folder, prefix=".labelled-") as place:
        return {
            STATA: _stata(report, variables, Path(place) / "data.dta"),
            SPSS: _spss(report, variables, Path(place) / "data.sav"),
            R: script(report).encode("ascii"),
            NOTES: _notes(report).encode(),
        }


def try_writing(folder: Path | None = None) -> None:
    """Write a file of each kind with one record: what cannot be written fails here, before a charge."""
    import pyreadstat

    one = pa.table({"one": [1]}).to_pandas()
    with TemporaryDirectory(dir=folder, prefix=".labelled-") as place:
        pyreadstat.write_dta(one, Path(place) / "data.dta", version=14)
        pyreadstat.write_sav(one, Path(place) / "data.sav")


@dataclass(frozen=True)
class Names:
    """What a column is called in Stata and SPSS, and its companion if it has numbers."""

    codes: str
    numbers: str | None


def names(columns: Iterable[ColumnEntry]) -> dict[str, Names]:
    """Names that both programs take, all different whatever the case: ASCII letters, digits and _.

    >>> from facsimile.documents.report import ColumnEntry
    >>> odd = [ColumnEntry(name, "", (), (), (), None, ()) for name in ("age", "with", "Ωmega", "a" * 40)]
    >>> [given.numbers for given in names(odd).values()]
    ['age_number', 'v_with_number', 'v_mega_number', 'aaaaaaaaaaaaaaaaaaaaaaaa_number']
    """
    every, taken = list(columns), set[str]()
    codes = {column.name: _free(_plain(column.name), "", taken) for column in every}
    return {
        c.name: Names(codes[c.name], None if c.numbers is None else _free(codes[c.name], SUFFIX, taken))
        for c in every
    }


def _plain(name: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9_]", "_", name).strip("_") or "column"
    found = kept if kept == name and kept[0].isalpha() else f"v_{kept}"
    return f"v_{found}" if _RESERVED.fullmatch(found.lower()) else found


def _free(name: str, suffix: str, taken: set[str]) -> str:
    """The name cut to size with its suffix, and with a number where another has it."""
    tried = suffix
    for again in range(2, len(taken) + 3):
        found = name[: MOST_NAME - len(tried)].rstrip("_") + tried
        if found.lower() not in taken:
            break
        tried = f"{suffix}_{again}"
    taken.add(found.lower())
    return found


@dataclass(frozen=True)
class Variable:
    """One variable of a labelled file. `values` are the words of the codes 1 to K; none for a companion."""

    name: str
    label: str
    content: npt.NDArray[Any]
    values: tuple[str, ...] = ()
    ordered: bool = False
    decimals: int = 0


def _variables(report: Report, records: pa.Table) -> list[Variable]:
    """Each column's codes, then its numbers."""
    found, called = [], names(report.columns)
    for column in report.columns:
        codes = pc.index_in(
            records.column(column.name), value_set=pa.array(column.labels, pa.string())
        ).to_numpy()
        words = tuple(map(wording, column.labels, column.meanings))
        given, label = called[column.name], printable(column.description)
        found.append(
            Variable(given.codes, label, codes.astype(np.int32) + 1, words, column.numbers is not None)
        )
        if column.numbers is not None and given.numbers is not None:
            numbers = np.array(column.numbers, np.float64)
            places = max(_decimals(number) for number in column.numbers)
            found.append(Variable(given.numbers, f"Number for {label}", numbers[codes], decimals=places))
    return found


def _decimals(number: float) -> int:
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return min(6, max(0, -exponent)) if isinstance(exponent, int) else 0


def _stata(report: Report, variables: list[Variable], path: Path) -> bytes:
    """A Stata file of release 118 (Stata 14 and later), the warning and the bounds among its notes."""
    import pyreadstat  # read when it is needed: it takes a tenth of a second

    pyreadstat.write_dta(
        _frame(variables),
        path,
        file_label=_cut(_headline(report), MOST_STATA_TITLE, len),
        column_labels=[_cut(v.label, MOST_STATA, len) for v in variables],
        version=14,
        variable_value_labels=_value_labels(variables, MOST_STATA_VALUE),
    )
    day = date.fromisoformat(report.day)
    stamp = f"{day.day:02d} {_MONTHS[day.month - 1]} {day.year:04d} 00:00"
    stamped = re.sub(
        rb"<timestamp>\x11.{17}</timestamp>",
        f"<timestamp>\x11{stamp}</timestamp>".encode(),
        path.read_bytes(),
        count=1,
    )
    return _with_notes(stamped, _told(report))


def _with_notes(content: bytes, notes: list[str]) -> bytes:
    """The Stata file with notes: they lie between `<characteristics>` and the data, whose places move on."""
    given = {"note0": str(len(notes)), **{f"note{place}": note for place, note in enumerate(notes, 1)}}
    added = b"".join(_characteristic(name, text) for name, text in given.items())
    start = content.index(b"<map>") + len(b"<map>")
    places = list(struct.unpack_from("<14Q", content, start))
    here = places[8] + len(b"<characteristics>")
    moved = struct.pack("<14Q", *places[:9], *(place + len(added) for place in places[9:]))
    return content[:start] + moved + content[start + len(moved) : here] + added + content[here:]


def _characteristic(name: str, text: str) -> bytes:
    content = b"_dta".ljust(129, b"\0") + name.encode().ljust(129, b"\0") + text.encode() + b"\0"
    return b"<ch>" + struct.pack("<I", len(content)) + content + b"</ch>"


def _spss(report: Report, variables: list[Variable], path: Path) -> bytes:
    """An SPSS file, the warning and the bounds among its documents."""
    import pyreadstat

    pyreadstat.write_sav(
        _frame(variables),
        path,
        file_label=_cut(_headline(report), MOST_SPSS_TITLE, _bytes),
        column_labels=[_cut(v.label, MOST_SPSS, _bytes) for v in variables],
        row_compress=True,
        note=[line for text in _told(report) for line in _lines(text)],
        variable_value_labels=_value_labels(variables, MOST_SPSS_VALUE),
        variable_measure={v.name: _measure(v) for v in variables},
        variable_format={v.name: _shown(v) for v in variables},
    )
    day = date.fromisoformat(report.day)
    stamp = f"{day.day:02d} {_MONTHS[day.month - 1]} {day.year % 100:02d}00:00:00".encode()
    content = path.read_bytes()
    return content[:92] + stamp + content[92 + len(stamp) :]


def _shown(variable: Variable) -> str:
    """How SPSS shows the numbers: as wide as the widest, with its decimals."""
    widest = len(f"{np.abs(variable.content).max(initial=1):.0f}") + variable.decimals + 2
    return f"F{min(40, max(8, widest))}.{variable.decimals}"


def _measure(variable: Variable) -> str:
    if not variable.values:
        return "scale"
    return "ordinal" if variable.ordered else "nominal"


def _frame(variables: list[Variable]) -> Any:
    return pa.table({v.name: pa.array(v.content) for v in variables}).to_pandas()


def _value_labels(variables: list[Variable], most: int) -> dict[str, dict[int, str]]:
    """The words of each code, different from one another after they are cut."""
    return {
        v.name: dict(
            enumerate(_different([_cut(words, most, _bytes) for words in v.values], v.values, most), 1)
        )
        for v in variables
        if v.values
    }


def _different(texts: list[str], whole: tuple[str, ...], most: int) -> list[str]:
    """Texts that were cut to the same words get the number of their code."""
    often = Counter(texts)
    return [
        text if often[text] == 1 else f"{_cut(words, most - 12, _bytes)} [{code}]"
        for code, (text, words) in enumerate(zip(texts, whole, strict=True), 1)
    ]


def _cut(text: str, most: int, size: Callable[[str], int]) -> str:
    """As much of a text as fits, on one line."""
    kept = printable(" ".join(text.split()))
    if size(kept) <= most:
        return kept
    while size(kept) > most - size("…"):
        kept = kept[: len(kept) - max(1, (size(kept) - most) // 4)]
    return f"{kept.rstrip()}…"


def _bytes(text: str) -> int:
    return len(text.encode())


def _lines(text: str) -> list[str]:
    """A text in lines that SPSS takes: a letter may have four bytes."""
    return [
        part
        for line in wrap(text, MOST_SPSS_LINE)
        for part in ([line] if _bytes(line) <= MOST_SPSS_LINE else wrap(line, MOST_SPSS_LINE // 4))
    ]


def _headline(report: Report) -> str:
    """The file's label: the warning first, as the title may be cut."""
    if report.rehearsal:
        return f"REHEARSAL, not for publication: {report.title}"
    return f"Synthetic (epsilon {report.epsilon}): {report.title}"


def _told(report: Report) -> list[str]:
    """The notes of a file."""
    said = [title(report), warning(report), *bounds(report), *unbounded(report)]
    return [printable(" ".join(text.split())) for text in said]


def _notes(report: Report) -> str:
    """Names, labels and codes in full, for people: nothing here is cut."""
    lines = [*_told(report), ""]
    lines += [
        "Each variable below: its name in Stata and SPSS, its name in data.csv and R, what it holds, its codes."
    ]
    called, in_r = names(report.columns), companions(report.columns)
    for column in report.columns:
        given = called[column.name]
        lines += ["", f"{given.codes} = {column.name}: {' '.join(column.description.split())}"]
        if given.numbers is not None:
            lines.append(
                f"{given.numbers} = {in_r[column.name]}: the number of each value in means and regressions"
            )
        numbers = column.numbers or (None,) * len(column.labels)
        rows = zip(column.labels, column.meanings, numbers, strict=True)
        for code, (label, meaning, number) in enumerate(rows, 1):
            lines.append(f"  {code}  {wording(label, meaning)}{'' if number is None else f' = {number!r}'}")
    return printable("\n".join(lines)) + "\n"

"""Script: R code that reads data.csv with base R alone, and gives it levels, numbers, warning and bounds.

Every text stands there as an ASCII literal with escapes, so that neither a quote nor a locale changes it.
"""

from __future__ import annotations

from collections.abc import Iterable

from facsimile.documents.facts import bounds, printable, title, unbounded, warning
from facsimile.documents.report import ColumnEntry, Report

SUFFIX = "_number"
_PLAIN = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HEAD = """\
# Made by facsimile {version} with the release it belongs to. In R: source("labelled/data.R")
# It makes `data`: one row for each record of data.csv, all labels as levels, numbers as <name>_number.
data <- local({{
sourced <- Filter(Negate(is.null), lapply(sys.frames(), function(frame) frame$ofile))
started <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
here <- dirname(c(rev(unlist(sourced)), started, "labelled/data.R")[1])
found <- read.csv(
  file.path(here, "..", "data.csv"),
  colClasses = "character", check.names = FALSE, na.strings = character(0), quote = "\\"", comment.char = "",
  strip.white = FALSE, blank.lines.skip = FALSE, encoding = "UTF-8"
)
columns <- {columns}
stopifnot(ncol(found) == length(columns), nrow(found) == {records}L)
names(found) <- columns
"""
_COLUMN = """\

labels <- {labels}
stopifnot(all(found[[{place}]] %in% labels))
found[[{place}]] <- factor(found[[{place}]], levels = labels, ordered = {ordered})
attr(found[[{place}]], "label") <- {label}
attr(found[[{place}]], "meanings") <- {meanings}
"""
_NUMBERS = """\
found[[{name}]] <- {numbers}[as.integer(found[[{place}]])]
attr(found[[{name}]], "label") <- {label}
"""
_TAIL = """\

attr(found, "title") <- {title}
attr(found, "warning") <- {warning}
attr(found, "bounds") <- {bounds}
attr(found, "epsilon") <- {epsilon}
{delta}found
}})
message(attr(data, "warning"))
"""


def script(report: Report) -> str:
    """The whole script."""
    delta = "" if report.delta is None else f'attr(found, "delta") <- {quoted(report.delta)}\n'
    head = _HEAD.format(
        version=report.version, columns=_vector(c.name for c in report.columns), records=report.records
    )
    called = companions(report.columns)
    parts = [_column(place, column, called[column.name]) for place, column in enumerate(report.columns, 1)]
    tail = _TAIL.format(
        title=quoted(title(report)),
        warning=quoted(warning(report)),
        bounds=_vector([*bounds(report), *unbounded(report)]),
        epsilon=quoted(report.epsilon),
        delta=delta,
    )
    return head + "".join(parts) + tail


def companions(columns: Iterable[ColumnEntry]) -> dict[str, str]:
    """What the numbers of each column are called in R: a name that no column has.

    >>> from facsimile.documents.report import ColumnEntry
    >>> both = [ColumnEntry(name, "", (), (), (), None, ()) for name in ("age", "age_number")]
    >>> list(companions(both).values())
    ['age_number_', 'age_number_number']
    """
    every, found = list(columns), dict[str, str]()
    taken = {column.name for column in every}
    for column in every:
        name = f"{column.name}{SUFFIX}"
        while name in taken:
            name += "_"
        taken.add(name)
        found[column.name] = name
    return found


def quoted(text: str) -> str:
    r"""A text as an R literal in ASCII.

    >>> print(quoted('say "hi" \\ שלום'))
    "say \"hi\" \\ \U000005e9\U000005dc\U000005d5\U000005dd"
    """
    return '"' + "".join(_PLAIN.get(sign) or _escaped(sign) for sign in printable(text)) + '"'


def _escaped(sign: str) -> str:
    return sign if " " <= sign <= "~" else f"\\U{ord(sign):08x}"


def _vector(texts: Iterable[str]) -> str:
    return f"c({', '.join(map(quoted, texts))})"


def _column(place: int, column: ColumnEntry, companion: str) -> str:
    factor = _COLUMN.format(
        place=place,
        labels=_vector(column.labels),
        ordered="FALSE" if column.numbers is None else "TRUE",
        label=quoted(column.description),
        meanings=_vector(column.meanings),
    )
    if column.numbers is None:
        return factor
    return factor + _NUMBERS.format(
        name=quoted(companion),
        numbers=f"c({', '.join(map(repr, column.numbers))})",
        place=place,
        label=quoted(f"Number for {column.description}"),
    )

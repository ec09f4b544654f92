"""Descriptions: what a public file says about its own columns, beside its values.

    people.sav  people.dta         labels, declared missing values and formats of the file itself
    datapackage.json  other.json   a Data Package of Frictionless (datapackage.py); `#NAME` is one of its tables
    a folder                       the datapackage.json in it, as every bundle has one
    codebook.xml                   a DDI-Codebook (codebook.py); `#NAME` is one of its files
    anything else                  says nothing

A description names its data by a path below its own folder; nothing else is opened. Either is refused where it
is confidential, before anything of it is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Literal

from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.dataset import refuse_confidential
from facsimile.privacy.reader import read_public_labels
from facsimile.sources.address import Address
from facsimile.sources.labelled import Header, Variable
from facsimile.spec.decimals import parse_decimal, show_decimal

Kind = Literal["number", "category", "date"]
DATAPACKAGE = "datapackage.json"
LARGEST = 20_000_000
"""Bytes of a description."""


@dataclass(frozen=True)
class Field:
    """What is said of one raw column; everything but the name may be left open.

    `labels` gives the label of a raw text, in the order in which they are listed; `missing` are raw texts that
    mean that there is no value. One that has a label and means that there is no value is in both.
    """

    name: str
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    kind: Kind | None = None
    bounds: tuple[str | None, str | None] = (None, None)


@dataclass(frozen=True)
class Description:
    """Where the records are, and what is said about them; `origin` names what said it, for people."""

    data: Address
    title: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)
    origin: str = ""


@dataclass(frozen=True)
class Resource:
    """One table that a file describes: how it may be called, where it is said to be, and whether it is meant
    where none is named."""

    names: tuple[str, ...]
    path: str
    title: str
    fields: Mapping[str, Field]
    meant: bool = True

    @property
    def stem(self) -> str:
        """The name of its file without endings."""
        return PurePosixPath(self.path).name.partition(".")[0]


class Malformed(Exception):
    """What a description lacks or has too much of, in words that complete `it cannot be read: …`."""


def described(public: Address) -> Description:
    """The description of a public source: its own labels, or those of the file that describes it."""
    from facsimile.draft import codebook, datapackage

    address = _document(public)
    readers = {".json": datapackage.resources, ".xml": codebook.resources}
    reader = readers.get(address.path.suffix.lower()) if address.scheme == "file" and address.path else None
    if reader is None:
        head = read_public_labels(address)
        return Description(public) if head is None else _of_labels(public, head)
    refuse_confidential(address)
    try:
        chosen = _chosen(reader(_content(address)), address.table)
    except Malformed as error:
        raise refusal("E125", file=address.name, problem=str(error)) from None
    data = _data(address, chosen.path)
    refuse_confidential(data)
    return Description(data, chosen.title, chosen.fields, address.name)


def bound(given: str) -> str | None:
    """A number as plain digits; None where it is none.

    >>> bound("1e2"), bound("0.50"), bound("1/3"), bound("n/a")
    ('100', '0.5', None, None)
    """
    try:
        found = show_decimal(parse_decimal(given))
    except ValueError:
        return None
    return None if "/" in found else found


def one_line(text: str | None) -> str:
    """A text without line ends and repeated blanks."""
    return " ".join((text or "").split())


def _document(public: Address) -> Address:
    """The file that describes a folder, or what was given."""
    place = public.place
    if public.scheme == "file" and place is not None and (place / DATAPACKAGE).is_file():
        return replace(public, path=place / DATAPACKAGE)
    return public


def _content(description: Address) -> bytes:
    if description.file is None:
        raise refusal("E101")
    try:
        with description.file.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError:
        raise Malformed("you may not read it") from None
    if len(content) > LARGEST:
        raise Malformed(f"it has more than {LARGEST // 1_000_000} MB")
    return content


def _chosen(resources: Sequence[Resource], name: str | None) -> Resource:
    """The table of that name, or the only one: `data.csv` and `data.parquet` with the same columns are one."""
    if not resources:
        raise Malformed("it describes no table with columns")
    fits = [each for each in resources if (each.meant if name is None else name in each.names)]
    if not fits:
        raise refusal("E108")
    first = fits[0]
    if any((each.stem, each.fields) != (first.stem, first.fields) for each in fits):
        raise refusal("E107")
    return first


def _data(description: Address, named: str) -> Address:
    """The data file, in the folder of the description or below it, whatever links there are."""
    home, path = Path(os.path.realpath(description.path or "")).parent, PurePosixPath(named)
    leads_out = path.is_absolute() or ".." in path.parts or PureWindowsPath(named).drive or "\\" in named
    if not named or "\0" in named or "://" in named or leads_out:
        raise _elsewhere(description, "it is no plain path below that folder")
    found = Path(os.path.realpath(home / path))
    if home not in found.parents:
        raise _elsewhere(description, "a link leads out of that folder")
    if not os.path.isfile(found):  # noqa: PTH113  Path.is_file fails on names that are too long
        raise _elsewhere(description, "there is no such file")
    return Address("file", home / path)


def _elsewhere(description: Address, problem: str) -> FacsimileError:
    return refusal("E126", file=description.name, problem=problem)


def _of_labels(public: Address, head: Header) -> Description:
    fields = {variable.name: _of_variable(variable) for variable in head.variables}
    return Description(public, one_line(head.title), fields, public.name)


def _of_variable(variable: Variable) -> Field:
    """What was said of a column on purpose; that a number has labels does not make it a category."""
    kinds: dict[str, Kind] = {"nominal": "category", "ordinal": "category", "scale": "number"}
    kind = "date" if variable.calendar else kinds.get(variable.measure)
    labels = {text: one_line(label) for text, label in variable.labels.items()}
    return Field(variable.name, one_line(variable.title), labels, variable.missing, kind)

"""Stored: a fitted model as one file, which runs no code when it is read.

The file is an archive of arrays beside one JSON text. The text says which of KINDS each object is and what its
fields are; nothing else can be made by reading it. Arrays of objects are neither written nor read.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from facsimile.errors import refusal
from facsimile.release.writing import write_bytes
from facsimile.spec.bins import CategoryBin, MissingBin, NumberBin
from facsimile.spec.columns import Axis
from facsimile.synthesizers.base import RowModel
from facsimile.synthesizers.dense import Dense
from facsimile.synthesizers.graphical import Graphical
from facsimile.synthesizers.junction import JunctionTree
from facsimile.synthesizers.network import Network, Node
from facsimile.synthesizers.tilt import Tilted
from facsimile.table.domain import Domain
from facsimile.table.scores import Factor, RowScores

FORMAT = "facsimile model 1"
BOMB_BYTES, BOMB_RATIO = 1 << 26, 200
KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Dense, Graphical, Network, Node, JunctionTree, Tilted, RowScores, Factor),
        *(Domain, Axis, NumberBin, CategoryBin, MissingBin),
    )
}


def write(path: Path, about: dict[str, Any], model: RowModel) -> None:
    """Write a model and what is said about it; a model of another kind than KINDS is refused."""
    arrays: list[np.ndarray[Any, Any]] = []
    try:
        text = json.dumps({"format": FORMAT, "about": about, "model": _plain(model, arrays)})
    except TypeError:
        raise refusal("E423") from None
    buffer = io.BytesIO()
    named = {f"array {place}": array for place, array in enumerate(arrays)}
    np.savez_compressed(buffer, text=np.frombuffer(text.encode(), np.uint8), **named)  # type: ignore[arg-type]
    write_bytes(path, buffer.getvalue())


def read(path: Path) -> tuple[dict[str, Any], RowModel]:
    """What `write` wrote; any other file is refused."""
    try:
        with archive(path.read_bytes()) as parts:
            said = json.loads(parts["text"].tobytes())
            arrays = [parts[f"array {place}"] for place in range(len(parts.files) - 1)]
        model = _made(said["model"], arrays)
        if said["format"] != FORMAT or not isinstance(model, RowModel):
            raise refusal("E422")
        return dict(said["about"]), model
    except Exception:  # archives, arrays and JSON each fail in ways of their own, too large ones among them
        raise refusal("E422") from None


def archive(content: bytes) -> Any:
    """The arrays of an archive, read when they are asked for; ValueError where it expands beyond reason."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        size = sum(part.file_size for part in packed.infolist())
    if size > BOMB_BYTES and size > BOMB_RATIO * len(content):
        raise ValueError("it expands beyond reason")
    return np.load(io.BytesIO(content), allow_pickle=False)


def _plain(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """A value as JSON; arrays are put aside. A TypeError where it is none of what models are made of."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, tuple):
        return {"tuple": [_plain(item, arrays) for item in value]}
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    if KINDS.get(type(value).__name__) is type(value):
        parts = {part.name: _plain(getattr(value, part.name), arrays) for part in fields(value)}
        return {"kind": type(value).__name__, "fields": parts}
    raise TypeError("no part of a model")


def _made(plain: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """The value again."""
    match plain:
        case {"array": int(place)}:
            return arrays[place]
        case {"fraction": str(text)}:
            return Fraction(text)
        case {"tuple": list(items)}:
            return tuple(_made(item, arrays) for item in items)
        case {"set": list(items)}:
            return frozenset(items)
        case {"kind": str(kind), "fields": dict(parts)}:
            return KINDS[kind](**{name: _made(part, arrays) for name, part in parts.items()})
        case dict() | list():
            raise ValueError("no part of a model")
    return plain

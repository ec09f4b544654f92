"""Hostile bundles: one good bundle, and what an enemy makes of a copy; hashes are made to fit again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from facsimile.release.run import rehearsal
from facsimile.release.signature import envelope
from releases import request, specification, write_data

Change = Callable[[Path], object]


def good(folder: Path) -> Path:
    """A bundle with noisy tables."""
    write_data(folder)
    rehearsal(request(folder, specification=specification(publish=["tables"])), 3)
    return folder / "bundle"


def rehashed(folder: Path) -> None:
    """Let the manifest name the files as they are."""
    place = folder / "manifest.json"
    said = json.loads(place.read_text("utf-8"))
    plain = [
        name
        for name in said["sha256"]
        if (folder / name).is_file() and (folder / name).stat().st_size < 1 << 29
    ]
    said["sha256"] |= {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in plain}
    place.write_text(json.dumps(said), "utf-8")


def raw(name: str, content: bytes | str) -> Change:
    return lambda folder: (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def told(*path: Any, value: Any) -> Change:
    """Another value in report.json."""

    def change(folder: Path) -> None:
        said = json.loads((folder / "report.json").read_text("utf-8"))
        part = said
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value
        (folder / "report.json").write_text(json.dumps(said), "utf-8")

    return change


def hole(name: str, size: int = 3 << 30) -> Change:
    """A file that is large and takes no room."""
    return lambda folder: os.truncate(folder / name, size)


def piped(name: str) -> Change:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return change


def packed(make: Callable[[list[str]], pa.Table], **how: Any) -> Change:
    """A Parquet file with the right columns."""

    def change(folder: Path) -> None:
        sink = BytesIO()
        pq.write_table(make(pq.read_schema(folder / "data.parquet").names), sink, store_schema=False, **how)
        (folder / "data.parquet").write_bytes(sink.getvalue())

    return change


def repeated(names: list[str]) -> pa.Table:
    """Twenty million rows in a few bytes."""
    codes = pa.array(np.zeros(20_000_000, np.int32))
    return pa.table({name: pa.DictionaryArray.from_arrays(codes, pa.array(["x"])) for name in names})


def of_columns(count: int) -> str:
    return ",".join(f"c{i}" for i in range(count)) + "\n" + "," * (count - 1) + "\n"


def fitted(**change: Any) -> Change:
    plain = {
        "target": "age",
        "features": ["f"],
        "means": ["1"],
        "deviations": ["1"],
        "coefficients": ["1", "1"],
    }
    return told("regression", value=plain | change)


def unnamed(folder: Path) -> None:
    """A signature that fits, by a key that it does not name; the caller makes hashes fit before."""
    rehashed(folder)
    manifest = (folder / "manifest.json").read_bytes()
    said = json.loads(envelope(manifest, Ed25519PrivateKey.generate()))
    del said["signatures"][0]["keyid"]
    (folder / "signature.dsse").write_text(json.dumps(said), "utf-8")


BUNDLES: dict[str, Change] = {
    "an answer beyond floats": told("criteria", 0, "units", value=-(10**400)),
    "an endless answer": told("criteria", 0, "units", value=float("inf")),
    "an answer that is true": told("criteria", 0, "units", value=True),
    "no criteria": told("criteria", value=None),
    "a mean with a huge exponent": fitted(means=["1e999999999"]),
    "a deviation of nothing": fitted(deviations=["1/0"]),
    "a report a million deep": raw("report.json", '{"a":' + "[" * 10**6),
    "a report nine hundred deep": raw("report.json", '{"criteria":' + "[" * 900 + "]" * 900 + "}"),
    "a number of 5000 digits": raw("report.json", '{"records":' + "9" * 5000 + "}"),
    "an index a million deep": raw("tables/index.json", "[" * 10**6),
    "a signature a million deep": raw("signature.dsse", "[" * 10**6),
    "a signature without a name": unnamed,
    "a YAML bomb": raw("release.yaml", "a: &a [x,x]\nb: [*a,*a]\n"),
    "a specification that is a word": raw("release.yaml", "x"),
    "data of half a million columns": raw("data.csv", of_columns(500_000)),
    "data with another encoding": raw("data.csv", b"\xff\xfe,\xff\n1,2\n"),
    "data that are packed": raw("data.csv", b"\x1f\x8b\x08\x00\xff"),
    "data with a hole": hole("data.csv"),
    "a document with a hole": hole("README.pdf"),
    "a Parquet file with a hole": hole("data.parquet"),
    "a pipe": piped("README.html"),
    "Parquet with many rows": packed(repeated),
    "Parquet with a long text": packed(lambda names: pa.table({n: ["a" * 100_000_000] for n in names})),
    "Parquet packed tightly": packed(
        lambda names: pa.table({n: ["x"] * 400 for n in names}), compression="zstd"
    ),
    "Parquet of numbers": packed(lambda names: pa.table({n: [1] * 400 for n in names})),
    "Parquet of lists": packed(lambda names: pa.table({n: [["x"]] * 400 for n in names})),
    "Parquet of nothing": packed(lambda names: pa.table({n: pa.array([], pa.string()) for n in names})),
    "no Parquet": raw("data.parquet", b"PAR1PAR1"),
}

"""The bundle: the folder that leaves the enclave. Fixed names, deterministic bytes, whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from facsimile import storage
from facsimile.documents import metadata, readme
from facsimile.documents.language import ENGLISH
from facsimile.documents.report import Report
from facsimile.errors import FacsimileError, refusal
from facsimile.release.plan import FORMAT
from facsimile.release.reporting import Release
from facsimile.release.signature import envelope
from facsimile.release.writing import labelled
from facsimile.spec.release import Specification
from facsimile.storage import append, reached, sync_folder

DATA, PARQUET, SPECIFICATION, REPORT = "data.csv", "data.parquet", "release.yaml", "report.json"
PACKAGE, PAGE, PDF, MANIFEST = "datapackage.json", "README.html", "README.pdf", "manifest.json"
SIGNATURE = "signature.dsse"
DOCUMENT_BYTES = 4 << 20
NAMES = (DATA, PARQUET, SPECIFICATION, REPORT, PACKAGE, PAGE, PDF)
OTHERS = re.compile(r"README\.[a-z]{2,3}\.(?:html|pdf)")
"""README in further languages."""


def files(release: Release, said: Report, key: Ed25519PrivateKey | None = None) -> dict[str, bytes]:
    """The content of every file of the bundle."""
    table = labelled(release.table)
    found = {DATA: _csv(table), PARQUET: _parquet(table), SPECIFICATION: _specification(release)}
    found[REPORT] = _json(said.as_json())
    sizes = {name: (len(found[name]), _sha256(found[name])) for name in (DATA, PARQUET)}
    found[PACKAGE] = _json(metadata.datapackage(said, sizes))
    found |= readme.documents(said, release.specification.languages or (ENGLISH,))
    found[MANIFEST] = manifest(found, release.rehearsal)
    if key is not None:
        found[SIGNATURE] = envelope(found[MANIFEST], key)
    return found


def manifest(found: Mapping[str, bytes], rehearsal: bool) -> bytes:
    """The SHA-256 of every other file."""
    hashes = {name: _sha256(found[name]) for name in (*NAMES, *filter(OTHERS.fullmatch, found))}
    return _json({"facsimile": FORMAT, "rehearsal": rehearsal, "sha256": hashes})


def write(found: Mapping[str, bytes], out: Path) -> None:
    """Write the folder under another name, sync it, and give it its name in one step.

    A folder that holds this very bundle was written by a run that a crash ended: it is left as it is.
    """
    if _holds(out, found):
        return
    refuse_output(out)
    part = _part(out)
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(mode=0o700)
        for name, content in found.items():
            append(part / name, content, create=True)
            (part / name).chmod(0o644)
        reached("bundle written")
        sync_folder(part)
        part.chmod(0o755)
        part.rename(out)
        reached("bundle named")
        sync_folder(out.parent)
    except (OSError, FacsimileError):
        shutil.rmtree(part, ignore_errors=True)
        raise refusal("E403") from None


def refuse_output(
    out: Path, data: Path | None = None, source: Path | None = None, resumed: bool = False
) -> None:
    """An output is new, no link, and not the folder of the data: it holds none of it, and lies in no source.

    A run that goes on after a crash may find its bundle there: a whole folder, compared when it is written.
    """
    if out.is_symlink() or (data is not None and data.resolve().is_relative_to(out.resolve())):
        raise refusal("E402")
    if source is not None and out.resolve().is_relative_to(source):
        raise refusal("E402")
    if out.exists() and not (resumed and (out / MANIFEST).is_file()):
        raise refusal("E401")
    part = _part(out)
    try:  # only what an earlier run left under that name may be removed: a folder of a bundle's files
        if data is not None and data.resolve().is_relative_to(part.resolve()):
            raise refusal("E402")
        known = {*NAMES, MANIFEST, SIGNATURE}
        left = {path.name for path in part.iterdir()} - known if part.exists() else set()
        if part.is_symlink() or not all(map(OTHERS.fullmatch, left)):
            raise refusal("E401")
    except OSError:  # not a folder, or a name that no disk takes
        raise refusal("E403") from None
    if not out.absolute().parent.is_dir():
        raise refusal("E403")


def _part(out: Path) -> Path:
    """The name that the folder has while it is written."""
    return out.with_name(f".{out.name}.part")


def refuse_without_room(out: Path, specification: Specification) -> None:
    """A bundle of these records must fit beside `out`: checked before anything is charged."""
    widest = sum(
        max(len(label.encode()) for name in c.used for label in c.axis(name).labels) + 3
        for c in specification.columns
    )
    storage.refuse_without_room(out.absolute().parent, 2 * specification.n * widest + DOCUMENT_BYTES, "E403")


def _holds(out: Path, found: Mapping[str, bytes]) -> bool:
    """Whether a folder holds these files and no others."""
    if out.is_symlink() or not out.is_dir() or {path.name for path in out.iterdir()} != set(found):
        return False
    return all((out / name).read_bytes() == content for name, content in found.items())


def _csv(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pa_csv.write_csv(table, sink, pa_csv.WriteOptions(quoting_style="needed"))
    return sink.getvalue()


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=False)
    return sink.getvalue()


def _specification(release: Release) -> bytes:
    content = {
        "configuration": release.configuration.as_json(),
        "specification": release.specification.model_dump(mode="json", exclude_none=True),
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100).encode()


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

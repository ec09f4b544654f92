"""The bundle: the folder that leaves the enclave. Fixed names, deterministic bytes, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from facsimile import storage
from facsimile.documents import metadata, readme
from facsimile.documents.catalogue import metadata_files
from facsimile.documents.decisions import Decisions
from facsimile.documents.evidence import Audit
from facsimile.documents.explorer import explorer
from facsimile.documents.labelled import labelled_files, try_writing
from facsimile.documents.language import ENGLISH
from facsimile.documents.report import Report
from facsimile.errors import FacsimileError, refusal
from facsimile.release import tables
from facsimile.release.plan import FORMAT
from facsimile.release.replicates import REPLICATES, replicate_files
from facsimile.release.reporting import Release
from facsimile.release.signature import envelope
from facsimile.release.writing import as_csv, as_parquet, labelled
from facsimile.spec.release import Specification
from facsimile.storage import append, reached, sync_folder
from facsimile.table.table import Table

DATA, PARQUET, SPECIFICATION, REPORT = "data.csv", "data.parquet", "release.yaml", "report.json"
PACKAGE, PAGE, PDF, MANIFEST = "datapackage.json", "README.html", "README.pdf", "manifest.json"
SIGNATURE, EXPLORER, AUDIT = "signature.dsse", "explore.html", "audit.json"
DECISIONS = "decisions.jsonl"
DOCUMENT_BYTES, TABLE_BYTES, LABELLED_BYTES = 8 << 20, 1 << 27, 48
"""Room for documents, for noisy tables, and for a field of a record in labelled files while they are made."""
NAMES = (DATA, PARQUET, SPECIFICATION, REPORT, PACKAGE, PAGE, PDF)
"""What every bundle holds, beside its manifest."""
FOLDERS = ("tables", "labelled", "metadata", "replicates")
"""Where a bundle may hold more, as its specification says."""
REPLICATED = "replicates/"
OTHERS = re.compile(r"(?:README\.[a-z]{2,3}\.html|README\.[a-z]{2,3}\.pdf|SUMMARY(?:\.[a-z]{2,3})?\.pdf)")
"""Documents in further languages, and the summary."""


def files(
    release: Release,
    said: Report,
    key: Ed25519PrivateKey | None = None,
    folder: Path | None = None,
    more: Mapping[str, bytes] | None = None,
) -> dict[str, bytes]:
    """The content of every file of the bundle; `folder` has room for what must be a file before it is one, and
    `more` are its replicates, an audit and a log of decisions that it carries."""
    records = labelled(release.table)
    found = {DATA: as_csv(records), PARQUET: as_parquet(records), SPECIFICATION: _specification(release)}
    found[REPORT] = _json(said.as_json())
    publishes = release.specification.publishes
    if release.heard is not None:
        found |= tables.files(release.heard, release.table.domain, release.recipe.foreseen())
    if publishes("labelled"):
        found |= labelled_files(said, records, folder)
    sizes = {name: (len(content), _sha256(content)) for name, content in found.items()}
    found[PACKAGE] = _json(metadata.datapackage(said, sizes))
    languages = release.specification.languages or (ENGLISH,)
    new = release.specification.publish is not None
    found |= readme.documents(said, languages, new, sizes if publishes("metadata") else None)
    if publishes("explorer"):
        found[EXPLORER] = explorer(release.basis, said)
    if publishes("metadata"):
        found |= metadata_files(said, sizes)
    found |= more or {}
    found[MANIFEST] = manifest(found, release.rehearsal)
    if key is not None:
        found[SIGNATURE] = envelope(found[MANIFEST], key)
    return found


def manifest(found: Mapping[str, bytes], rehearsal: bool) -> bytes:
    """The SHA-256 of every other file."""
    hashes = {name: _sha256(found[name]) for name in found if name not in (MANIFEST, SIGNATURE)}
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
        for folder in sorted({(part / name).parent for name in found} - {part}):
            folder.mkdir(mode=0o755)
        for name, content in found.items():
            append(part / name, content, create=True)
            (part / name).chmod(0o644)
        reached("bundle written")
        for folder in (*{(part / name).parent for name in found}, part):
            sync_folder(folder)
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
        if part.is_symlink() or (part.exists() and not all(map(ours, listed(part)))):
            raise refusal("E401")
    except OSError:  # not a folder, or a name that no disk takes
        raise refusal("E403") from None
    if not out.absolute().parent.is_dir():
        raise refusal("E403")


def listed(folder: Path) -> set[str]:
    """The names of the files of a folder, those in folders that a bundle may have included."""
    found = set[str]()
    for path in folder.iterdir():
        inside = path.name in FOLDERS and path.is_dir() and not path.is_symlink()
        found |= {f"{path.name}/{file.name}" for file in path.iterdir()} if inside else {path.name}
    return found


def ours(name: str) -> bool:
    """Whether a file has a name that bundles use."""
    inside = re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w.-]+", name) or OTHERS.fullmatch(name)
    return name in (*NAMES, EXPLORER, AUDIT, DECISIONS, MANIFEST, SIGNATURE) or inside is not None


def replicated(release: Release, prior: Table | None) -> dict[str, bytes]:
    """The replicates of a release, where they are published."""
    if not release.specification.publishes("replicates"):
        return {}
    found = replicate_files(release.specification, release.configuration, release.table, prior)
    return {f"{REPLICATED}{name}": content for name, content in found.items()}


def carried(audit: Audit | None, decisions: Decisions | None) -> dict[str, bytes]:
    """An audit and a log of decisions that go with a release, written anew: nothing else comes along."""
    found = {} if audit is None else {AUDIT: _json(audit.as_json())}
    return found | ({} if decisions is None else {DECISIONS: decisions.content})


def exact(name: str) -> bool:
    """Whether every version of this program makes the file of the same bytes: data and figures, no words."""
    return name in (DATA, SPECIFICATION, REPORT, PACKAGE) or name.startswith(tables.FOLDER)


def _part(out: Path) -> Path:
    """The name that the folder has while it is written."""
    return out.with_name(f".{out.name}.part")


def refuse_without_room(out: Path, specification: Specification) -> None:
    """A bundle of these records must fit beside `out`, and its files be written: before anything is charged."""
    widest = sum(
        max(len(label.encode()) for name in c.used for label in c.axis(name).labels) + 3
        for c in specification.columns
    )
    room, parent = 2 * specification.n * widest + DOCUMENT_BYTES, out.absolute().parent
    if specification.publishes("tables"):
        room += TABLE_BYTES
    if specification.publishes("labelled"):
        room += LABELLED_BYTES * specification.n * len(specification.columns)
    if specification.publishes("replicates"):
        room += 2 * REPLICATES * specification.n * len(specification.columns)
    storage.refuse_without_room(parent, room, "E403")
    if specification.publishes("labelled"):
        try:
            try_writing(parent)
        except OSError:
            raise refusal("E403") from None


def _holds(out: Path, found: Mapping[str, bytes]) -> bool:
    """Whether a folder holds these files and no others."""
    if out.is_symlink() or not out.is_dir() or listed(out) != set(found):
        return False
    return all((out / name).read_bytes() == content for name, content in found.items())


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

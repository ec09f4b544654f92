"""Opened: a bundle as it was read, without confidential data; what cannot be one is refused.

Hashes and signature hold, the specification holds by itself, the data are the dictionary's. Whether the figures
follow from each other is what `verify` finds out.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.kind import kinds_of
from facsimile.acceptance.model import model_of
from facsimile.acceptance.regression import Fit, in_public
from facsimile.documents.report import LedgerPlace
from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.ledger import MICRO, micro
from facsimile.release import bundle, tables
from facsimile.release.check import check
from facsimile.release.heard import Heard
from facsimile.release.plan import plan_of
from facsimile.release.recipe import Recipe
from facsimile.release.reporting import Release, fit_of
from facsimile.release.scheme import Accepted, presentable
from facsimile.release.signature import signed_by
from facsimile.release.writing import as_csv
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.load import parse, validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Domain
from facsimile.table.regression import Scaling
from facsimile.table.table import Table

Files = Mapping[str, bytes]
MOST_BYTES, MOST_BESIDE, MOST_TIMES = 1 << 34, 1 << 27, 64
"""How large data.csv may be, and all other files together: so much, and so many times as large as it."""
MOST_UNITS = 1 << 62
PIECE = 1 << 20
CODECS = {"UNCOMPRESSED", "SNAPPY"}
"""How a table is packed that we wrote: neither of them makes a gigabyte of a megabyte."""


@dataclass(frozen=True, eq=False)
class Opened:
    """The files of a bundle, its report as plain data, who signed it, and the release that they stand for."""

    files: Files
    said: Mapping[str, Any]
    signer: str | None
    release: Release
    day: date


def open_bundle(folder: Path) -> Opened:
    """Read a bundle; the first thing that does not hold is refused with the name of its file."""
    files = _read(folder)
    said = _json(files, bundle.REPORT)
    signer = _signer(files)
    specification, configuration = _promised(files)
    table = _data(files, specification, configuration)
    release = _release(files, said, specification, configuration, table)
    return Opened(files, said, signer, release, _day(said))


def _read(folder: Path) -> dict[str, bytes]:
    """Every file of the bundle, each as its manifest has it, and no other."""
    if not folder.is_dir():
        raise refusal("E508" if folder.exists() else "E507", file=folder.name or str(folder))
    names = bundle.listed(folder)
    if not names:
        raise refusal("E509", file=folder.name or str(folder))
    for name in (bundle.MANIFEST, *bundle.NAMES):
        if name not in names:
            raise refusal("E501", file=name)
    _refuse_too_large(folder, names)
    manifest = _json({bundle.MANIFEST: _content(folder, bundle.MANIFEST)}, bundle.MANIFEST)
    hashes = manifest.get("sha256")
    if (
        not isinstance(hashes, dict)
        or not set(hashes) >= set(bundle.NAMES)
        or not all(map(bundle.ours, hashes))
    ):
        raise refusal("E503", file=bundle.MANIFEST, problem="it does not name the files of a bundle")
    for name in hashes:
        if name not in names:
            raise refusal("E501", file=name)
    if names - {bundle.MANIFEST, bundle.SIGNATURE, *hashes}:
        raise refusal("E503", file=bundle.MANIFEST, problem="the folder holds a file that it does not name")
    files = {name: _content(folder, name) for name in sorted(names)}
    for name, found in hashes.items():
        if hashlib.sha256(files[name]).hexdigest() != found:
            raise refusal("E502", file=name)
    return files


def _content(folder: Path, name: str) -> bytes:
    """A file of the folder itself; the data are a text, so a hole in them is not read to its end."""
    try:
        if name == bundle.DATA:
            with (folder / name).open("rb") as file:
                if any(b"\0" in piece for piece in iter(lambda: file.read(PIECE), b"")):
                    raise refusal("E503", file=name, problem="it cannot be read")
        return (folder / name).read_bytes()
    except OSError:
        raise refusal("E501", file=name) from None


def _refuse_too_large(folder: Path, names: set[str]) -> None:
    """No link to another place, no pipe, and not more than a bundle of these data holds: before any is read."""
    sizes = {name: _size(folder / name, name) for name in sorted(names)}
    data = sizes.pop(bundle.DATA)
    if data > MOST_BYTES or sum(sizes.values()) > MOST_BESIDE + MOST_TIMES * data:
        name = bundle.DATA if data > MOST_BYTES else max(sizes, key=lambda name: sizes[name])
        raise refusal("E503", file=name, problem="it is too large for a file of a bundle")


def _size(path: Path, name: str) -> int:
    try:
        found = path.lstat()
    except OSError:
        raise refusal("E501", file=name) from None
    if not stat.S_ISREG(found.st_mode):
        raise refusal("E503", file=name, problem="it is no plain file")
    return found.st_size


def _json(files: Files, name: str) -> dict[str, Any]:
    try:
        found = json.loads(files[name])
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise refusal("E502", file=name)
    return found


def _signer(files: Files) -> str | None:
    """The fingerprint of the key that signed the manifest, if it is signed."""
    if bundle.SIGNATURE not in files:
        return None
    found = signed_by(files[bundle.SIGNATURE], files[bundle.MANIFEST])
    if found is None:
        raise refusal("E505", file=bundle.SIGNATURE)
    return found


def _promised(files: Files) -> tuple[Specification, Configuration]:
    """The specification, which must hold by itself, and a configuration that it allows."""
    name = bundle.SPECIFICATION
    try:
        content, _ = parse(files[name])
        specification = validated(content["specification"])
        check(specification)
        configuration = Configuration(**content["configuration"])
        allowed = specification.drawable.holds(configuration)
    except (FacsimileError, KeyError, TypeError, ValueError, AttributeError):
        raise refusal("E503", file=name, problem="the specification does not hold") from None
    if not allowed:
        raise refusal("E503", file=name, problem="the specification does not allow this configuration")
    return specification, configuration


def _data(files: Files, specification: Specification, configuration: Configuration) -> Table:
    """The released table: its labels are the dictionary's, its rows plausible and frequent enough."""
    domain = Domain(specification.axes(configuration.alternatives))
    table = _coded(bundle.DATA, _csv(files[bundle.DATA], domain.names), domain)
    if _coded(bundle.PARQUET, _parquet(files[bundle.PARQUET], domain.names, table.n), domain) != table:
        raise refusal("E503", file=bundle.PARQUET, problem="it holds other records than data.csv")
    if table.n < 2 or not presentable(Recipe(specification.sized(table.n), configuration), table):
        raise refusal("E503", file=bundle.DATA, problem="a row breaks a rule or is too rare")
    return table


def _csv(content: bytes, names: tuple[str, ...]) -> pa.Table:
    """The texts of data.csv; another header than ours may have a million names, and is not taken apart."""
    label = pa.dictionary(pa.int32(), pa.string())
    texts = pa_csv.ConvertOptions(strings_can_be_null=False, column_types=dict.fromkeys(names, label))
    if content.partition(b"\n")[0] != as_csv(pa.table({name: [""] for name in names})).partition(b"\n")[0]:
        raise _other_columns(bundle.DATA)
    try:
        return pa_csv.read_csv(pa.BufferReader(content), convert_options=texts)
    except (pa.ArrowException, OSError, ValueError):
        raise refusal("E503", file=bundle.DATA, problem="it cannot be read") from None


def _parquet(content: bytes, names: tuple[str, ...], n: int) -> pa.Table:
    """The texts of data.parquet, each once. What it says of itself is looked at before anything is unpacked."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=list(names))
        said = file.metadata
        if tuple(said.schema.to_arrow_schema().names) != names or not all(
            pa.types.is_string(kind) for kind in said.schema.to_arrow_schema().types
        ):
            raise _other_columns(bundle.PARQUET)
        groups = [said.row_group(place) for place in range(said.num_row_groups)]
        packed = {group.column(place).compression for group in groups for place in range(len(names))}
        if said.num_rows != n or sum(group.num_rows for group in groups) != n or not packed <= CODECS:
            raise refusal("E503", file=bundle.PARQUET, problem="it holds other records than data.csv")
        return file.read()
    except (pa.ArrowException, OSError, ValueError, LookupError):
        raise refusal("E503", file=bundle.PARQUET, problem="it cannot be read") from None


def _other_columns(name: str) -> FacsimileError:
    return refusal("E503", file=name, problem="its columns are not those of the dictionary")


def _coded(name: str, table: pa.Table, domain: Domain) -> Table:
    """Labels back to codes: each label is looked up once, however often it occurs."""
    codes = []
    for axis in domain.axes:
        labels, pieces = pa.array(axis.labels, pa.string()), table.column(axis.name).chunks
        found = [pc.index_in(piece.dictionary, labels).take(piece.indices) for piece in pieces]
        if any(piece.null_count for piece in found):
            raise refusal("E503", file=name, problem=f"a label of {axis.name} is not in the dictionary")
        codes.append(np.concatenate([np.zeros(0, np.int64), *(piece.to_numpy() for piece in found)]))
    return Table.from_rows(domain, np.column_stack(codes))


def _release(
    files: Files,
    said: Mapping[str, Any],
    specification: Specification,
    configuration: Configuration,
    table: Table,
) -> Release:
    """The release as it follows from the table and from what only the run could know: the noisy answers."""
    rehearsal = said.get("rehearsal")
    if rehearsal is not True and (rehearsal is not False or table.n != specification.n):
        raise refusal("E503", file=bundle.DATA, problem="the number of records is not the declared one")
    specification = specification.sized(table.n)
    try:
        fit, refit = fit_of(said["regression"]), fit_of(said["refit"])
        units = {line["name"]: _units(line["units"]) for line in said["criteria"]}
        place = None if rehearsal else LedgerPlace(**said["ledger"])
        measured = tuple(Candidate(specification, table, fit, refit).measured_again(units))
        _scaled(specification, table, fit, refit)
        paid = place is None or _paid(place, specification)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise refusal("E503", file=bundle.REPORT, problem="a figure is missing or is no number") from None
    if not paid:
        raise refusal("E503", file=bundle.REPORT, problem="its ledger had spent less than it costs")
    if specification.scheme in ("paper", "measured") and not all(found.met for found in measured):
        raise refusal("E503", file=bundle.REPORT, problem="a criterion is not met by what was measured")
    accepted = Accepted(table, configuration, measured, fit, refit, _heard(files, specification, table.domain))
    return Release.of(accepted, specification, place)


def _units(given: Any) -> int:
    """A whole number that noise can have made."""
    if type(given) is not int or abs(given) > MOST_UNITS:
        raise ValueError("no noisy answer")
    return given


def _heard(files: Files, specification: Specification, domain: Domain) -> Heard | None:
    """What the table was made from, where that is published."""
    if not specification.publishes("tables") or tables.INDEX not in files:
        return None
    try:
        return tables.heard(files, domain)
    except ValueError:
        raise refusal("E503", file=tables.INDEX, problem="a figure is missing or is no number") from None


def _paid(place: LedgerPlace, specification: Specification) -> bool:
    """Whether the ledger had spent what this release costs, ε and δ, or more."""
    total = plan_of(specification).total()
    spent, delta = parse_decimal(place.spent), parse_decimal(place.delta)
    return spent * MICRO >= micro(total.epsilon) and delta >= total.delta


def _scaled(specification: Specification, table: Table, fit: Fit | None, refit: Fit | None) -> None:
    """Regressions are scaled by the specification where they were paid once, otherwise by the table itself."""
    shared = any(map(specification.shares_once, specification.criteria))
    kinds = kinds_of(specification)
    needed = next((kind.needs for kind in kinds if kind.needs), None)
    left = next((kind.leaves for kind in kinds if kind.leaves), None)
    for found, formula, once in (
        (fit, needed, specification.budget.once is not None),
        (refit, left, shared),
    ):
        if found is not None and formula is not None:
            model = model_of(specification, formula, table.domain)
            own = Scaling.by(model.of(table), model.target)
            if found.scaling != (in_public(specification, formula).scaling if once else own):
                raise ValueError("a regression is scaled by other numbers")


def _day(said: Mapping[str, Any]) -> date:
    try:
        return date.fromisoformat(said["day"])
    except (KeyError, TypeError, ValueError):
        raise refusal("E503", file=bundle.REPORT, problem="it names no day") from None

"""Verify: a bundle against itself, without confidential data.

Hashes and signature; the plan's hash and total; the data against dictionary, rules and minimal count. Then
every published figure is computed again from the specification, the released table and the noisy answers, and
must be the same: sensitivities, group sizes, noise scales, bounds, documents.

All of this holds as well for a bundle that somebody made up with this program: a rehearsal can be rebuilt as a
release, and signed with a fresh key. Only what the reader knows from elsewhere tells them apart: the key of the
publisher, the hash of a plan that was registered before.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from facsimile import __version__
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.kind import kinds_of
from facsimile.acceptance.model import model_of
from facsimile.acceptance.regression import Fit, in_public
from facsimile.documents.report import LedgerPlace
from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.ledger import MICRO, micro
from facsimile.release import bundle
from facsimile.release.check import check
from facsimile.release.plan import plan_of
from facsimile.release.prior import fingerprint
from facsimile.release.recipe import Recipe
from facsimile.release.reporting import Release, fit_of, report
from facsimile.release.scheme import Accepted, presentable
from facsimile.release.signature import pinned, signed_by
from facsimile.sources.address import Address
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.load import parse, validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Domain
from facsimile.table.regression import Scaling
from facsimile.table.table import Table

Files = Mapping[str, bytes]
RENDERED = (bundle.PAGE, bundle.PDF)
LOOSE = {"spread": 1e-3}


@dataclass(frozen=True)
class Verified:
    """What was found to hold."""

    title: str
    records: int
    epsilon: str
    rehearsal: bool
    signed_by: str | None
    plan_hash: str
    bounds: int
    confidence: str
    of_search: bool
    standing_in: tuple[str, ...]
    rendered: bool
    signer_checked: bool
    plan_checked: bool
    prior: str | None = None
    prior_checked: bool = False
    delta: str | None = None


def verify(
    folder: Path,
    allow_rehearsal: bool = False,
    key: str | None = None,
    plan: str | None = None,
    prior: Path | None = None,
) -> Verified:
    """Check a bundle; the first thing that does not hold is refused with the name of its file.

    `key` names the only key that may have signed it, `plan` the hash of the only plan that it may keep,
    `prior` the file that its model may lean on.
    """
    wanted = None if key is None else pinned(key)
    if plan is not None and not re.fullmatch("[0-9a-fA-F]{64}", plan):
        problem = "--plan-hash takes the 64 hexadecimal digits that `facsimile plan-hash` prints."
        raise refusal("E001", problem=problem, command="facsimile verify")
    files = _read(folder)
    said = _json(files, bundle.REPORT)
    signer = _signer(files)
    if wanted is not None and signer != wanted:
        raise refusal("E506", problem="it is not signed" if signer is None else "another key signed it")
    specification, configuration = _promised(files)
    table = _data(files, specification, configuration)
    release = _release(said, specification, configuration, table)
    found = report(release, _day(said))
    again = bundle.files(release, found)
    for name in (bundle.DATA, bundle.SPECIFICATION, bundle.REPORT, bundle.PACKAGE):
        _same(name, files, again)
    rendered = said.get("version") == __version__
    others = {name for name in {*files, *again} if bundle.OTHERS.fullmatch(name)}
    if others - set(again) or others - set(files):
        raise refusal("E503", file=bundle.MANIFEST, problem="its languages are not those of its specification")
    for name in (*RENDERED, *sorted(others)) if rendered else ():
        _same(name, files, again)
    if release.rehearsal and not allow_rehearsal:
        raise refusal("E504", file=bundle.REPORT)
    if plan is not None and said["plan_hash"] != plan.lower():
        raise refusal("E506", problem="it keeps another plan")
    if prior is not None:
        _refuse_other_prior(specification, prior)
    return Verified(
        title=specification.title,
        records=table.n,
        epsilon=said["epsilon"],
        rehearsal=release.rehearsal,
        signed_by=signer,
        plan_hash=said["plan_hash"],
        bounds=sum(criterion.bound is not None for criterion in found.criteria),
        confidence=found.confidence.together,
        of_search=found.confidence.of_search,
        standing_in=tuple(c.name for c in found.criteria if c.bound is not None and c.stands != "itself"),
        rendered=rendered,
        signer_checked=wanted is not None,
        plan_checked=plan is not None,
        prior=None if specification.prior is None else specification.prior.name,
        prior_checked=prior is not None,
        delta=found.delta,
    )


def _refuse_other_prior(specification: Specification, prior: Path) -> None:
    """The plan names this very file to lean on."""
    found, named = fingerprint(Address.of(prior)), specification.prior
    if found is None:
        raise refusal("E212", file=prior.name)
    if named is None or named.sha256 != found:
        raise refusal("E506", problem="it names no prior" if named is None else "its prior is another file")


def _read(folder: Path) -> dict[str, bytes]:
    """Every file of the bundle, each as its manifest has it, and no other."""
    if not folder.is_dir():
        raise refusal("E508" if folder.exists() else "E507", file=folder.name or str(folder))
    names = {path.name for path in folder.iterdir()}
    if not names:
        raise refusal("E509", file=folder.name or str(folder))
    for name in (bundle.MANIFEST, *bundle.NAMES):
        if name not in names:
            raise refusal("E501", file=name)
    wanted = {*bundle.NAMES, *filter(bundle.OTHERS.fullmatch, names)}
    extra = sorted(names - {bundle.MANIFEST, bundle.SIGNATURE, *wanted})
    if extra:
        raise refusal("E503", file=bundle.MANIFEST, problem="the folder holds a file that it does not name")
    files = {name: (folder / name).read_bytes() for name in sorted(names)}
    manifest = _json(files, bundle.MANIFEST)
    hashes = manifest.get("sha256")
    if not isinstance(hashes, dict) or set(hashes) != wanted:
        raise refusal("E503", file=bundle.MANIFEST, problem="it does not name the files of a bundle")
    for name in sorted(wanted):
        if hashlib.sha256(files[name]).hexdigest() != hashes[name]:
            raise refusal("E502", file=name)
    return files


def _json(files: Files, name: str) -> dict[str, Any]:
    try:
        found = json.loads(files[name])
    except ValueError:
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
    tables = [_coded(name, table, domain) for name, table in _tables(files, domain.names).items()]
    if tables[0] != tables[1]:
        raise refusal("E503", file=bundle.PARQUET, problem="it holds other records than data.csv")
    if not presentable(Recipe(specification.sized(tables[0].n), configuration), tables[0]):
        raise refusal("E503", file=bundle.DATA, problem="a row breaks a rule or is too rare")
    return tables[0]


def _tables(files: Files, names: tuple[str, ...]) -> dict[str, pa.Table]:
    texts = pa_csv.ConvertOptions(strings_can_be_null=False, column_types=dict.fromkeys(names, pa.string()))
    try:
        csv = pa_csv.read_csv(pa.BufferReader(files[bundle.DATA]), convert_options=texts)
        parquet = pq.read_table(pa.BufferReader(files[bundle.PARQUET]))
    except (pa.ArrowInvalid, OSError):
        raise refusal("E503", file=bundle.DATA, problem="it cannot be read") from None
    return {bundle.DATA: csv, bundle.PARQUET: parquet}


def _coded(name: str, table: pa.Table, domain: Domain) -> Table:
    """Labels back to codes."""
    if tuple(table.column_names) != domain.names:
        raise refusal("E503", file=name, problem="its columns are not those of the dictionary")
    codes = []
    for axis in domain.axes:
        found = pc.index_in(table.column(axis.name), pa.array(axis.labels, pa.string()))
        if found.null_count:
            raise refusal("E503", file=name, problem=f"a label of {axis.name} is not in the dictionary")
        codes.append(found.to_numpy())
    return Table.from_rows(domain, np.column_stack(codes))


def _release(
    said: Mapping[str, Any], specification: Specification, configuration: Configuration, table: Table
) -> Release:
    """The release as it follows from the table and from what only the run could know: the noisy answers."""
    rehearsal = said.get("rehearsal")
    if rehearsal is not True and (rehearsal is not False or table.n != specification.n):
        raise refusal("E503", file=bundle.DATA, problem="the number of records is not the declared one")
    specification = specification.sized(table.n)
    try:
        fit, refit = fit_of(said["regression"]), fit_of(said["refit"])
        units = {line["name"]: int(line["units"]) for line in said["criteria"]}
        place = None if rehearsal else LedgerPlace(**said["ledger"])
        measured = tuple(Candidate(specification, table, fit, refit).measured_again(units))
        _scaled(specification, table, fit, refit)
        paid = place is None or _paid(place, specification)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise refusal("E503", file=bundle.REPORT, problem="a figure is missing or is no number") from None
    if not paid:
        raise refusal("E503", file=bundle.REPORT, problem="its ledger had spent less than it costs")
    if specification.scheme in ("paper", "measured") and not all(found.met for found in measured):
        raise refusal("E503", file=bundle.REPORT, problem="a criterion is not met by what was measured")
    return Release.of(Accepted(table, configuration, measured, fit, refit), specification, place)


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


def _same(name: str, files: Files, again: Files) -> None:
    """A file is what follows from the rest."""
    if files[name] == again[name]:
        return
    problem = "it is not what the specification, the data and the noisy answers give"
    if name == bundle.REPORT:
        said, found = json.loads(files[name]), json.loads(again[name])
        same = {key for key in said.keys() & found.keys() if _close(said[key], found[key])}
        keys = sorted({*said, *found} - {"version"} - same)
        if not keys:
            return
        problem = f"`{keys[0]}` is another"
    raise refusal("E503", file=name, problem=problem)


def _close(one: Any, other: Any, tolerance: float = 1e-9) -> bool:
    """The same; numbers up to the last digits, which another machine may round differently: of what was
    simulated by solving equations, more of them."""
    if isinstance(one, float) or isinstance(other, float):
        numbers = (one, other)
        return all(isinstance(x, int | float) for x in numbers) and isclose(one, other, rel_tol=tolerance)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[k], other[k], LOOSE.get(k, 1e-9)) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_close, one, other))
    return type(one) is type(other) and bool(one == other)

"""Verify: a bundle against itself, without confidential data.

Hashes and signature; the plan's hash and total; the data against dictionary, rules and minimal count. Then
every published figure is computed again from the specification, the released table and the noisy answers, and
must be the same: sensitivities, group sizes, noise scales, bounds, documents.

All of this holds as well for a bundle that somebody made up with this program: a rehearsal can be rebuilt as a
release, and signed with a fresh key. Only what the reader knows from elsewhere tells them apart: the key of the
publisher, the hash of a plan that was registered before.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any

from facsimile import __version__
from facsimile.documents.decisions import Decisions
from facsimile.documents.evidence import Audit
from facsimile.documents.explorer import unpacked
from facsimile.errors import FacsimileError, refusal
from facsimile.release import bundle
from facsimile.release.opened import Files, open_bundle
from facsimile.release.prior import fingerprint
from facsimile.release.remade import Remade, made_again
from facsimile.release.reporting import report
from facsimile.release.signature import pinned
from facsimile.sources.address import Address
from facsimile.spec.load import loads
from facsimile.spec.release import Specification

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
    remade: Remade | None = None
    audited: str | None = None
    """The day of the audit that it carries."""
    decisions: int | None = None
    """The number of lines of the log of decisions that it carries."""


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
    held = open_bundle(folder)
    files, said, signer, release = held.files, held.said, held.signer, held.release
    if wanted is not None and signer != wanted:
        raise refusal("E506", problem="it is not signed" if signer is None else "another key signed it")
    specification = release.specification
    found = report(release, held.day)
    audit, decisions = _audit(files), _decisions(files, specification)
    more = _replicates(files, specification) | bundle.carried(audit, decisions)
    again = bundle.files(release, found, more=more)
    if set(again) != {name for name in files if name != bundle.SIGNATURE}:
        raise refusal("E503", file=bundle.MANIFEST, problem="it names other files than the specification")
    rendered = said.get("version") == __version__
    for name in sorted(again.keys() - {bundle.MANIFEST}, key=bundle.exact, reverse=True):
        if rendered or bundle.exact(name):
            _same(name, files, again)
    if release.rehearsal and not allow_rehearsal:
        raise refusal("E504", file=bundle.REPORT)
    if plan is not None and said["plan_hash"] != plan.lower():
        raise refusal("E506", problem="it keeps another plan")
    if prior is not None:
        _refuse_other_prior(specification, prior)
    remade = made_again(release, None if prior is None else Address.of(prior))
    return Verified(
        title=specification.title,
        records=release.table.n,
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
        remade=remade,
        audited=None if audit is None else audit.day,
        decisions=None if decisions is None else len(decisions.entries),
    )


def _decisions(files: Files, specification: Specification) -> Decisions | None:
    """The log of decisions that it carries: a whole one, which ends with this specification."""
    if bundle.DECISIONS not in files:
        return None
    try:
        found = Decisions.of(files[bundle.DECISIONS])
    except ValueError:
        raise refusal("E503", file=bundle.DECISIONS, problem="it is no whole log") from None
    if not ends_with(found, specification):
        raise refusal("E503", file=bundle.DECISIONS, problem="it ends with another specification")
    return found


def ends_with(log: Decisions, specification: Specification) -> bool:
    """Whether the last text of a log is this specification, whatever its number of records."""
    try:
        return loads(log.text).sized(specification.n).canonical() == specification.canonical()
    except FacsimileError:
        return False


def _audit(files: Files) -> Audit | None:
    """The audit that it carries: one of the program that made it, which found nothing."""
    if bundle.AUDIT not in files:
        return None
    try:
        audit = Audit.of_json(json.loads(files[bundle.AUDIT]))
    except (ValueError, RecursionError):
        raise refusal("E503", file=bundle.AUDIT, problem="it is no audit") from None
    if not (audit.passed and audit.whole):
        raise refusal("E503", file=bundle.AUDIT, problem="it is not whole, or found something against a claim")
    if audit.version != json.loads(files[bundle.REPORT]).get("version"):
        raise refusal("E503", file=bundle.AUDIT, problem="it is of another version")
    return audit


def _replicates(files: Files, specification: Specification) -> dict[str, bytes]:
    """As they are: who wants to know makes them again, with the seed that they tell."""
    named = {name: files[name] for name in files if name.startswith(bundle.REPLICATED)}
    return named if specification.publishes("replicates") else {}


def _refuse_other_prior(specification: Specification, prior: Path) -> None:
    """The plan names this very file to lean on."""
    found, named = fingerprint(Address.of(prior)), specification.prior
    if found is None:
        raise refusal("E212", file=prior.name)
    if named is None or named.sha256 != found:
        raise refusal("E506", problem="it names no prior" if named is None else "its prior is another file")


def _same(name: str, files: Files, again: Files) -> None:
    """A file is what follows from the rest."""
    if files[name] == again[name] or (name == bundle.EXPLORER and _shows_the_same(files[name], again[name])):
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


def _shows_the_same(page: bytes, other: bytes) -> bool:
    """Whether two pages differ in how their data are packed alone: libraries pack differently."""
    try:
        return unpacked(page) == unpacked(other)
    except ValueError:
        return False


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

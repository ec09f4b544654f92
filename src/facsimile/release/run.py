"""The run: check → plan → read and validate → charge → search → measure → bundle.

    1  the specification is checked, its plan named by a hash; the output and the key are looked at
    2  the file is read by one query and boxed; a refusal tells an error code only
    3  the whole budget is charged once                                     from here on nothing is shown
    4  the search: configuration → recode → fit → sample → filter → project → test, until accepted or halted
    5  the decision is on disk before anything else happens
    6  the criteria are measured once more with fresh noise
    7  the bundle gets its name in one step

After a crash the same command goes on: under the same charge, with fresh randomness, never past a decision.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from facsimile.acceptance import Verdict, exact_errors
from facsimile.documents.report import LedgerPlace, Report
from facsimile.errors import refusal
from facsimile.privacy.curator import Curator, Search
from facsimile.privacy.dataset import dataset_key, dataset_tag
from facsimile.privacy.ledger import Ledger, Receipt
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.noise import RehearsalNoise, SystemNoise
from facsimile.privacy.reader import read, read_public, rehearse
from facsimile.privacy.transcript import Transcript
from facsimile.release import bundle
from facsimile.release.candidate import Recipe
from facsimile.release.check import check
from facsimile.release.evaluate import refuse_confidential
from facsimile.release.journal import Journal
from facsimile.release.plan import plan_hash, plan_of
from facsimile.release.reporting import Release, report
from facsimile.release.scheme import Accepted, Scheme
from facsimile.release.signature import private_key
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.storage import reached
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Table

RESUMED = ("paper", "coin", "single")


@dataclass(frozen=True)
class Request:
    """What a release is asked for."""

    specification: Specification
    data: Path
    out: Path
    ledger: Path | None = None
    anchor: Path | None = None
    key: Path | None = None
    workers: int = 1


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal shows and a release never does: the iterations and the exact errors."""

    report: Report | None
    iterations: int
    exact: tuple[Verdict, ...]


def release(request: Request) -> Report:
    """Make a release of a confidential file; a refusal says why there is none."""
    spec = request.specification
    plan, key = _ready(request)
    _without_core_dumps()
    book = Ledger.at(request.ledger or request.data.with_name("ledger"), request.anchor)
    tag = dataset_tag(request.data, dataset_key(request.data.with_name(request.data.name + ".key")))
    purpose = f"release {plan_hash(spec)}"
    unfinished = _opened(book, tag, spec, purpose)
    if not (unfinished and request.out.is_dir()):
        bundle.refuse_output(request.out, request.data)
    private = read(request.data, spec)
    domain = Domain(spec.finest())
    transcript = request.data.with_name(f"{request.data.name}.transcript-{secrets.token_hex(4)}")
    with Transcript(transcript) as record:
        curator = Curator.production(private, domain, book, record)
        with curator.search(plan.total(), purpose, unfinished) as search:
            journal = Journal.of(spec, book.path, search.sequence)
            accepted = _decided(spec, plan, search, journal, bool(unfinished), request.workers)
            if accepted is not None:
                finished = _finished(spec, plan, search, journal, accepted)
                made = _made(spec, finished, _place(book, search.sequence))
                said = report(made, date.today())
                if not request.out.is_dir():
                    bundle.write(bundle.files(made, said, key), request.out)
            journal.remove()
    if accepted is None:
        raise refusal("E601")
    return said


def rehearsal(request: Request, seed: int) -> Rehearsed:
    """The same on public data: seeded noise, nothing charged, every artefact marked, everything shown."""
    _, key = _ready(request)
    bundle.refuse_output(request.out, request.data)
    refuse_confidential(request.data)
    table = read_public(request.data, request.specification)
    spec = request.specification.sized(table.n)
    accepted, iterations = rehearsed(spec, table, seed)
    if accepted is None:
        return Rehearsed(None, iterations, ())
    made = _made(spec, accepted, None)
    said = report(made, date.today())
    bundle.write(bundle.files(made, said, key), request.out)
    real = recode(spec, table, accepted.configuration.alternatives)
    return Rehearsed(said, iterations, tuple(exact_errors(spec, real, accepted.table)))


def rehearsed(spec: Specification, table: Table, seed: int) -> tuple[Accepted | None, int]:
    """The search on a public table and what is measured after it; and how many candidates were tried."""
    plan, noise = plan_of(spec), RehearsalNoise(seed)
    curator = Curator.rehearsal(rehearse(table), table.domain, seed)
    with curator.search(plan.total(), "rehearsal") as search:
        scheme = Scheme(spec, noise.below)
        prepared = scheme.prepare(search.allowance(plan.parts()[0]), np.random.default_rng((seed, 0)))
        ran = 0

        def index(j: int) -> Accepted | None:
            nonlocal ran
            ran = j
            return scheme.index(search.allowance(plan.parts()[1]), prepared, np.random.default_rng((seed, j)))

        accepted = plan.search(index, noise)
        if accepted is not None:
            accepted = scheme.finish(accepted, search.allowance(plan.parts()[2]))
    return accepted, ran


def _without_core_dumps() -> None:
    """A crash leaves no image of the memory on the disk; Windows writes none by itself."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextlib.contextmanager
def patient() -> Iterator[None]:
    """The first Ctrl-C asks to wait: a stop would have no guarantee. The second stops, as an incident."""
    asked = False

    def answer(signal_: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        sys.stderr.write(
            "\nPlease wait: stopping now would spend the budget without a guarantee. "
            "Ctrl-C again stops, and is an incident in the ledger.\n"
        )

    before = signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _made(spec: Specification, accepted: Accepted, place: LedgerPlace | None) -> Release:
    """A release as it is reported; without a place in a ledger it is a rehearsal."""
    configuration, measured = accepted.configuration, accepted.measured
    return Release(spec, accepted.table, configuration, measured, place is None, place, accepted.fit)


def _finished(
    spec: Specification, plan: Plan, search: Search, journal: Journal, accepted: Accepted
) -> Accepted:
    """What is measured after acceptance, on disk before it is used."""
    known = journal.finished(accepted)
    if known is not None:
        return known
    found = Scheme(spec, SystemNoise().below).finish(accepted, search.allowance(plan.parts()[2]))
    reached("measured")
    journal.finish(found)
    return found


def _ready(request: Request) -> tuple[Plan, Ed25519PrivateKey | None]:
    """Everything that can be refused without the data."""
    spec = request.specification
    check(spec)
    if spec.budget.delta:
        raise refusal("E303")
    for grid in spec.space.pure().grids:
        first = {column.name: column.used[0] for column in spec.columns}
        projection = {name: values[0] for name, values in spec.space.projections.items()}
        for place in range(grid.size):
            chosen = Configuration(first, grid.family, grid.combination(place), projection)
            Recipe(spec, chosen).synthesizer(spec.budget.generator)
    return plan_of(spec), None if request.key is None else private_key(request.key)


def _opened(book: Ledger, tag: str, spec: Specification, purpose: str) -> Receipt | None:
    """The ledger of this dataset, made where there is none; and an unfinished charge of this very release."""
    if book.path.exists() and not book.path.stat().st_size and not book.anchor.exists():
        book.path.unlink()  # a crash fell into its creation: nothing was ever charged to it
    if not book.path.exists():
        book.create(tag, spec.budget.total)
    if book.state().tag != tag:
        raise refusal("E315")
    return book.unfinished(purpose)


def _decided(
    spec: Specification, plan: Plan, search: Search, journal: Journal, resumed: bool, workers: int
) -> Accepted | None:
    """The decision on disk, or a new one. A rising or capped coin does not survive a crash: no release."""
    known, accepted = journal.decided()
    if known:
        return accepted
    if not resumed or spec.selection.mode in RESUMED:
        noise = SystemNoise()
        scheme = Scheme(spec, noise.below)
        prepared = scheme.prepare(search.allowance(plan.parts()[0]), np.random.default_rng())

        def index(_: int) -> Accepted | None:
            return scheme.index(search.allowance(plan.parts()[1]), prepared, np.random.default_rng())

        accepted = plan.search(index, noise, workers)
    reached("searched")
    journal.decide(accepted)
    reached("decided")
    return accepted


def _place(book: Ledger, sequence: int) -> LedgerPlace:
    """Where the charge stands: the ledger's identity, the charge's number and the head after it."""
    state = book.state()
    return LedgerPlace(state.identifier, sequence, state.head)

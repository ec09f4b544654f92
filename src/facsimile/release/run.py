"""The run: check → plan → read and validate → charge → search → measure → bundle.

    1  the specification is checked, its plan named by a hash; the output, the key and what is left of the
       budget are looked at, and nothing is written
    2  the source is read by one query and boxed; a refusal tells an error code only. Now that it is known to be
       good, its key, claim and ledger are made where there are none
    3  the whole budget is charged once, or a charge that a crash left is taken up; then nothing is shown
    4  the search: configuration → recode → fit → sample → filter → project → test, until accepted or halted
    5  the decision is on disk before anything else happens
    6  where the scheme says so, the criteria are measured with fresh noise, and that is on disk too
    7  the bundle gets its name in one step
    8  the charge is closed; only then is the journal removed

After a crash the same command goes on: under the same charge, with fresh randomness, never past a decision.
From step 5 on, whatever fails leaves the charge open and the journal in place, so that the next run ends in
the outcome that was decided.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import secrets
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from facsimile.acceptance import Verdict, exact_errors
from facsimile.acceptance.regression import fit_question
from facsimile.documents.decisions import Decisions
from facsimile.documents.evidence import Audit
from facsimile.documents.report import LedgerPlace, Report
from facsimile.errors import FacsimileError, refusal
from facsimile.privacy.curator import Curator, Search
from facsimile.privacy.ledger import Ledger, shown
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.reader import read, read_public, rehearse
from facsimile.privacy.transcript import Transcript
from facsimile.release import bundle
from facsimile.release.check import check
from facsimile.release.feasible import refuse_infeasible
from facsimile.release.heard import Words
from facsimile.release.journal import Decision, Journal
from facsimile.release.opening import Opening
from facsimile.release.plan import plan_hash, plan_of
from facsimile.release.recipe import Recipe
from facsimile.release.reporting import Release, report
from facsimile.release.scheme import Accepted, Scheme
from facsimile.release.signature import private_key
from facsimile.sources.address import Address
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.storage import reached, refuse_without_room
from facsimile.synthesizers.base import Answers
from facsimile.table.encoding import recode
from facsimile.table.table import Table

TRANSCRIPT_ROOM = 1 << 26
SEED_WORDS = 8
SET_DUMPABLE = 4
"""As prctl(2) numbers it."""
Waiting = Callable[[], contextlib.AbstractContextManager[None]]


@dataclass(frozen=True)
class Request:
    """What a release is asked for."""

    specification: Specification
    data: Address
    out: Path
    ledger: Path | None = None
    anchor: Path | None = None
    key: Path | None = None
    workers: int = 1
    dataset_key: Path | None = None
    prior: Table | None = None
    """What `prior` of the specification names, read and found to be it."""
    audit: Audit | None = None
    """Evidence from this machine that the bundle carries."""
    decisions: Decisions | None = None
    """Who decided what about this very specification, for the bundle."""


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal shows and a release never does: the iterations and the exact errors."""

    report: Report | None
    iterations: int
    exact: tuple[Verdict, ...]


def release(request: Request, waiting: Waiting = contextlib.nullcontext) -> Report:
    """Make a release of confidential data; a refusal says why there is none.

    `waiting` surrounds everything from the charge on: what is stopped before it has cost nothing.
    """
    spec = request.specification
    plan, key = _ready(request)
    _without_core_dumps()
    purpose = f"release {plan_hash(spec)} {spec.title}"
    opening = Opening.of(request.data, request.ledger, request.anchor, request.dataset_key)
    beside = opening.key
    resumed = opening.ready(plan.total(), purpose)
    bundle.refuse_output(request.out, beside, request.data.place, resumed)
    bundle.refuse_without_room(request.out, spec)
    refuse_without_room(beside.parent, Journal(spec, beside).size + TRANSCRIPT_ROOM, "E330")
    sealed = read(request.data, spec)
    book = opening.ledger(spec.budget.total, spec.budget.delta)
    _swept(book, spec)
    transcript = beside.with_suffix(f".transcript-{secrets.token_hex(4)}")
    with Transcript(transcript) as record:
        curator = Curator.production(sealed, book, record)
        with waiting(), _truthful(book, plan, purpose) as searches, curator.search(plan, purpose) as search:
            searches.append(search)
            record.note("charge", np.array([search.charge.sequence], np.int64))
            journal, said = Journal(spec, search.charge.place, record), None
            decision = searched(spec, search, lambda _: words(search), journal, request.workers, request.prior)
            if decision.accepted is not None:
                made = Release.of(decision.accepted, spec, _place(book, search.charge.sequence))
                said = _written(made, decision.day, key, request)
            search.finished, search.halted = True, said is None
        reached("closed")
        journal.remove()
    if said is None:
        raise refusal("E601")
    return said


def rehearsal(request: Request, seed: int) -> Rehearsed:
    """The same on public data: seeded noise, nothing charged, every artefact marked, everything shown."""
    _, key = _ready(request)
    bundle.refuse_output(request.out, request.data.file, request.data.place)
    table = read_public(request.data, request.specification)
    spec = request.specification.sized(table.n)
    refuse_infeasible(spec)
    accepted, iterations = rehearsed(spec, table, seed, request.prior)
    if accepted is None:
        return Rehearsed(None, iterations, ())
    said = _written(Release.of(accepted, spec), date.today(), key, request)
    real = recode(spec, table, accepted.configuration.alternatives)
    return Rehearsed(said, iterations, tuple(exact_errors(spec, real, accepted.table)))


def rehearsed(
    spec: Specification, table: Table, seed: int, prior: Table | None = None
) -> tuple[Accepted | None, int]:
    """The search on a public table and what is measured after it; and how many candidates were tried."""
    numbers: list[int] = []

    def numbered(number: int) -> tuple[int, int]:
        numbers.append(number)
        return seed, number

    with Curator.rehearsal(rehearse(table), seed).search(plan_of(spec), "rehearsal") as search:
        accepted = searched(spec, search, numbered, prior=prior).accepted
    return accepted, max(numbers)


def searched(
    spec: Specification,
    search: Search,
    seed: Callable[[int], Words],
    journal: Journal | None = None,
    workers: int = 1,
    prior: Table | None = None,
) -> Decision:
    """The search and what is measured after it: each on disk before it is used, and never done again then.

    `seed` gives NumPy's for each index, 0 for what comes before them. A rehearsal has no journal.
    """
    scheme = Scheme(spec, search.draw, prior)
    decision = journal.decided() if journal else None
    if decision is None:
        if search.charge.decided:
            raise refusal("E319")
        before = seed(0)
        prepared = scheme.prepare(search.once(), np.random.default_rng(before))

        def index(answers: Answers, number: int) -> Accepted | None:
            own = seed(number)
            found = scheme.index(answers, prepared, np.random.default_rng(own))
            return None if found is None else _seeded(found, own, before if prepared.model else None)

        decision = Decision(search.find(index, workers), date.today())
        reached("searched")
        if journal:
            journal.decide(decision)
        reached("decided")
    search.decide()
    if decision.accepted is None:
        return decision
    finished = journal.finished(decision.accepted) if journal else None
    if finished is None:
        finished = scheme.finish(decision.accepted, search.after())
        reached("measured")
        if journal:
            journal.finish(finished)
    return Decision(finished, decision.day)


def words(search: Search) -> tuple[int, ...]:
    """The seed of an index in a release: made of draws that are kept like all other randomness, never given.

    It is their hash, since it is published with the noisy tables: what comes out of the source of noise is not.
    """
    drawn = np.array([search.draw(2**32) for _ in range(SEED_WORDS)], "<u4")
    return tuple(np.frombuffer(hashlib.sha256(drawn.tobytes()).digest(), "<u4").tolist())


def _seeded(found: Accepted, own: Words, before: Words | None) -> Accepted:
    """With the seeds of what it was made by, where that is published."""
    if found.heard is None:
        return found
    return replace(found, heard=found.heard.seeded(own, before))


def _written(made: Release, day: date, key: Ed25519PrivateKey | None, request: Request) -> Report:
    """The bundle, under its name; and its report."""
    said, out = report(made, day), request.out
    more = bundle.replicated(made, request.prior) | bundle.carried(request.audit, request.decisions)
    bundle.write(bundle.files(made, said, key, out.absolute().parent, more), out)
    return said


def _without_core_dumps() -> None:
    """A crash leaves no image of the memory on the disk; Windows writes none by itself.

    Linux asks no limit where it hands the image to a program, such as a crash reporter: there the process says
    that it is not to be dumped, which also keeps other programs of the same user from looking into it.
    """
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_DUMPABLE, 0, 0, 0, 0)


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


@contextlib.contextmanager
def _truthful(book: Ledger, plan: Plan, purpose: str) -> Iterator[list[Search]]:
    """From the charge on, a write that fails says what the next run finds: a decision to finish (E602), a
    charge to go on under (E604), or one that is spent (E603)."""
    begun: list[Search] = []
    try:
        yield begun
    except FacsimileError as error:
        if begun and begun[0].finished and error.code == "E332":
            return  # the end is on disk, and the next command advances the anchor
        if not begun or not error.code.startswith(("E33", "E4")):
            raise
        found = "E602" if begun[0].decided else "E603"
        with contextlib.suppress(FacsimileError):
            if found == "E603" and plan.mode.resumable and book.unfinished(purpose):
                found = "E604"
        raise refusal(found) from None


def _ready(request: Request) -> tuple[Plan, Ed25519PrivateKey | None]:
    """Everything that can be refused without the data."""
    spec = request.specification
    check(spec)
    assert (spec.prior is None) is (request.prior is None), "a prior is read before a run"
    for _, made in spec.made():
        for chosen in made:
            Recipe(spec, chosen).synthesizer(spec.budget.generator)
    if spec.budget.once is not None and spec.once_formula is not None:
        try:
            fit_question(spec, spec.once_formula, spec.budget.once)
        except ValueError:
            problem = "The regression before the loop has numbers that are too large for its scale."
            raise refusal("E200", problem=problem) from None
    return plan_of(spec), None if request.key is None else private_key(request.key)


def _swept(book: Ledger, spec: Specification) -> None:
    """Remove journals of ended charges: a crash between end and removal leaves one."""
    state = book.state()
    for sequence in state.ended():
        Journal(spec, book.place(state, sequence)).remove()


def _place(book: Ledger, sequence: int) -> LedgerPlace:
    """Where the charge stands: the ledger's identity, the charge's number, the head after it, and all that had
    been spent by then. It is the same whenever it is asked."""
    state = book.state()
    head, spent, delta = state.upto(sequence)
    deltas = show_decimal(delta), show_decimal(state.before_delta)
    return LedgerPlace(state.identifier, sequence, head, shown(spent), shown(state.before), *deltas)

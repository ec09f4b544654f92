"""Releases: make one, or rehearse it on public data, and verify the bundle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from facsimile.api.given import InMemory, checked, refuse_unless, source
from facsimile.errors import FacsimileError, refusal
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.documents.decisions import Decisions
    from facsimile.documents.evidence import Audit
    from facsimile.release.verify import Verified
    from facsimile.spec.release import Specification

T = TypeVar("T")
REMADE = {
    "same": "The noisy tables give the released table again, record for record.",
    "near": "The noisy tables give the released table again but for one or two records, as another machine's "
    "rounding allows.",
}


def release(
    specification: Specification | Path | str,
    data: Any,
    out: Path | str,
    *,
    ledger: Path | str | None = None,
    anchor: Path | str | None = None,
    dataset_key: Path | str | None = None,
    key: Path | str | None = None,
    workers: int = 1,
    rehearse: bool = False,
    seed: int | None = None,
    public: bool = False,
    audit: Path | str | None = None,
    decisions: Path | str | None = None,
) -> Released:
    """Make a release: search, test and measure under one charge, and write the bundle to a new folder.

    `data` is the path or the address of the confidential source. A frame has no place where its key could lie
    and no ledger could know it again, so it is refused. From the charge on the first Ctrl-C asks to wait, as in
    a terminal; the call belongs into the main thread, where that works.

    With `rehearse=True, seed=…` the same runs on public data, with seeded noise and without protection: nothing
    is charged and no ledger is touched. A public frame is taken there too, with `public=True`.

    `audit` is a file that `facsimile.audit().save` wrote as JSON, with this version and without a finding: the
    bundle carries it. `decisions` is the log that lies beside the specification: with it the bundle says who
    decided what, by name.

    >>> made = facsimile.release("release.yaml", "births.csv", "bundle", ledger="l")  # doctest: +SKIP
    >>> facsimile.release("release.yaml", "public.csv", "tried", rehearse=True, seed=1)  # doctest: +SKIP
    """
    from facsimile.explore.priors import prior_of
    from facsimile.release.run import Request, patient, rehearsal, release

    given = source(data)
    _refuse_unfit(isinstance(given, InMemory), ledger, rehearse, seed, public)
    places = [None if place is None else Path(place) for place in (ledger, anchor, key, dataset_key)]
    book, mark, signing, secret = places
    spec = checked(specification)
    prior = prior_of(spec, given)
    evidence = None if audit is None else _evidence(audit)
    log = None if decisions is None else _decided(Path(decisions), spec)
    request = Request(spec, given, Path(out), book, mark, signing, workers, secret, prior, evidence, log)
    if seed is None:
        return Released(request.out, _silently(lambda: release(request, patient)).as_json())
    tried = rehearsal(request, seed)
    if tried.report is None:
        raise refusal("E605")
    exact = [{"name": v.name, "value": v.value, "met": v.met} for v in tried.exact]
    shown = {"rehearsed": {"iterations": tried.iterations, "exact": exact}}
    return Released(request.out, tried.report.as_json() | shown)


def _evidence(path: Path | str) -> Audit:
    """An audit that a bundle may carry: of this version, and without a finding."""
    from facsimile import __version__
    from facsimile.api.audits import Audited

    found = Audited.load(path).found
    if not (found.passed and found.whole) or found.version != __version__:
        raise refusal("E425")
    return found


def _decided(path: Path, specification: Specification) -> Decisions:
    """A log that a bundle may carry: a whole one, which ends with this specification."""
    from facsimile import storage
    from facsimile.documents.decisions import MOST_BYTES, Decisions
    from facsimile.release.verify import ends_with

    try:
        found = Decisions.of(storage.read(path) if path.stat().st_size <= MOST_BYTES else b"too large")
    except OSError:
        raise refusal("E212", file=path.name) from None
    except ValueError:
        raise refusal("E441", file=path.name) from None
    if not ends_with(found, specification):
        raise refusal("E447", file=path.name)
    return found


def _silently(call: Callable[[], T]) -> T:
    """A failure that is no refusal tells nothing, as on the command line: its words could hold data.

    So could the variables of the frames on its way, which a notebook shows when it is asked to. What is raised
    is raised anew, after its origin is forgotten: no traceback refers to it.
    """
    found: BaseException
    try:
        return call()
    except FacsimileError as refused:
        found = refused
    except KeyboardInterrupt:
        found = KeyboardInterrupt()
    except Exception:
        found = refusal("E700")
    found.__cause__ = found.__context__ = None
    raise found.with_traceback(None)


def _refuse_unfit(frame: bool, ledger: object, rehearse: bool, seed: int | None, public: bool) -> None:
    """What makes no release, whatever the files hold."""
    call, main = "facsimile.release", threading.current_thread() is threading.main_thread()
    if seed is not None and not rehearse:
        raise refusal("E206")
    if frame and not rehearse:
        raise refusal("E124")
    if frame:
        refuse_unless(public, "A rehearsal")
    if rehearse and seed is None:
        raise refusal("E003", problem="A rehearsal needs a seed.", call=call)
    if not rehearse and ledger is None:
        raise refusal("E003", problem="A release needs a ledger.", call=call)
    if not rehearse and not main:
        raise refusal("E003", problem="A release runs in the main thread, where Ctrl-C is answered.", call=call)


@dataclass(frozen=True, repr=False)
class Released(Result, Tabular):
    """A bundle that was written and what its report says; as a table: the released records."""

    out: Path
    report: Mapping[str, Any]

    def to_arrow(self) -> pa.Table:
        """The released records, from the bundle."""
        import pyarrow.parquet as pq

        from facsimile.release.bundle import PARQUET

        return pq.read_table(self.out / PARQUET)

    def as_json(self) -> dict[str, Any]:
        return dict(self.report)

    def page(self) -> Page:
        from facsimile.documents.numerals import above, holding, standing_in

        said, page = self.report, Page(self.report["title"])
        kind = "rehearsed, without protection" if said["rehearsal"] else "released"
        made = f"{said['records']:,} synthetic records {kind}"
        page.line(f"{made}, {_loss(said['epsilon'], said.get('delta'))}, by {said['family']}")
        exact = {line["name"]: line["value"] for line in said.get("rehearsed", {}).get("exact", ())}
        rows = [
            (c["name"], figure(c["value"], "shared" if c["shared"] else "none"), above(c["bound"]), _limit(c))
            + ((figure(exact[c["name"]]),) if exact else ())
            for c in said["criteria"]
        ]
        page.table("Criteria", "criterion|>measured|>bound|>threshold" + ("|>exact" if exact else ""), rows)
        bounded = [c for c in said["criteria"] if c["bound"] is not None]
        if bounded:
            sure = said["confidence"]
            page.line(f"\n{holding(len(bounded), sure['together'], sure['of_search'])}")
            page.line(standing_in(c["name"] for c in bounded if c["stands"] != "itself"))
        if exact:
            page.line(f"\nCandidates tried: {said['rehearsed']['iterations']}")
        page.line(f"\nThe page to read first: {self.out / 'README.html'}")
        return page


def _loss(epsilon: str, delta: str | None) -> str:
    return f"epsilon {epsilon}" + ("" if delta is None else f", delta {delta}")


def _limit(criterion: Mapping[str, Any]) -> str:
    """The threshold; of a ratio that is tested below it, that value too."""
    tested = "" if criterion.get("luck") is None else f", tested at {criterion['tested_at']:g}"
    return f"{criterion['threshold']:g}{tested}"


def figure(value: float | None, otherwise: str = "none") -> str:
    """A measured number, or a word where there is none."""
    return otherwise if value is None else f"{value:.4g}"


def verify(
    bundle: Path | str,
    *,
    signed_by: str | None = None,
    plan_hash: str | None = None,
    prior: Path | str | None = None,
    allow_rehearsal: bool = False,
) -> Held:
    """Check a bundle against itself, a key, a plan and a prior that you name: no confidential data is needed.

    >>> facsimile.verify("bundle", signed_by="publisher.pem")  # doctest: +SKIP
    """
    from facsimile.release.verify import verify

    public = None if prior is None else Path(prior)
    return Held(verify(Path(bundle), allow_rehearsal, signed_by, plan_hash, public))


@dataclass(frozen=True, repr=False)
class Held(Result):
    """What was found to hold; a bundle for which it does not is refused instead."""

    found: Verified

    def as_json(self) -> dict[str, Any]:
        found = asdict(self.found)
        newer = ("delta", "remade", "audited", "decisions")
        return {"verified": True, **{k: v for k, v in found.items() if k not in newer or v is not None}}

    def page(self) -> Page:
        from facsimile.documents.numerals import holding, standing_in

        found, page = self.found, Page(self.found.title)
        loss = _loss(found.epsilon, found.delta)
        page.line(f"{found.records:,} records, {loss}, plan {found.plan_hash}")
        page.line("Signed by the key " + found.signed_by if found.signed_by else "Not signed.")
        if not found.rendered:
            page.line("Another version made the documents: their hashes fit, their words were not made again.")
        page.line("Every figure follows from the specification, the data and the noisy answers.")
        if found.remade is not None:
            page.line(REMADE[found.remade])
        if found.audited is not None:
            page.line(f"It carries an audit of {found.audited} that found nothing against a claim.")
        if found.decisions is not None:
            page.line(f"It carries the log of {found.decisions:,} decisions that led to this specification.")
        if found.bounds:
            page.line(holding(found.bounds, found.confidence, found.of_search))
            page.line(standing_in(found.standing_in))
        if found.plan_checked:
            page.line("The plan is the one you named.")
        if found.prior_checked:
            page.line("The plan leans on the public file you named.")
        elif found.prior is not None:
            page.line(f"It leans on the public file {found.prior}, which was not checked: --prior FILE does.")
        unknown = "Self-consistent; who made it was not checked."
        page.line("Verified: the key you named signed it." if found.signer_checked else unknown)
        if found.rehearsal:
            page.line("A REHEARSAL: not a release.")
        return page

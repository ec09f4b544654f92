"""The demonstration: simulate, rehearse the paper's release and ours, verify both. Nothing is confidential."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.release.run import Rehearsed, Request, rehearsal
from facsimile.release.verify import verify
from facsimile.release.writing import save
from facsimile.sources.address import Address
from facsimile.spec.load import load

SEED = 1
FACTS, PAPER, OURS = "facts.yaml", "narrowed.yaml", "ours.yaml"


@dataclass(frozen=True)
class Demonstrated:
    """Two rehearsed releases of the same simulated records."""

    paper: Rehearsed
    ours: Rehearsed
    pages: tuple[Path, Path]


def demonstrate(example: Path, out: Path, tell: Callable[[str], object]) -> Demonstrated:
    """Everything in one folder, from the facts and the two specifications of an example."""
    papers, own = load(example / PAPER), load(example / OURS)
    out.mkdir(parents=True, exist_ok=True)
    data = out / "records.parquet"
    if not data.exists():
        tell(f"Simulating {own.n:,} records from published facts")
        save(simulate(load_facts(example / FACTS), own.n, SEED), data)
    found = []
    for name, specification in (("paper", papers), ("ours", own)):
        tell(f"Rehearsing the release `{name}`, total epsilon at most {float(specification.budget.total):g}")
        found.append(rehearsal(Request(specification, Address.of(data), out / name), SEED))
        tell(f"Verifying the bundle `{name}`")
        verify(out / name, allow_rehearsal=True)
    return Demonstrated(found[0], found[1], (out / "paper" / "README.html", out / "ours" / "README.html"))

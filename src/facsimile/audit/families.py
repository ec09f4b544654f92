"""Families: a strange record among equal ones, and what each question of a synthesizer tells about it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from facsimile.audit.examples import RHO
from facsimile.documents.evidence import Evidence
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.testing.apart import ALIVE, SHARE
from facsimile.testing.canaries import TRANSCRIPTS, canary, witness_of
from facsimile.testing.synthesizers import known_of

QUICK = {"num_query": "10", "num_iterations": "4", "num_inner_updates": "3"}
SMALL: dict[str, dict[str, str]] = {
    "privbayes": {"flavour": "degree", "degree": "1"},
    "mwem": QUICK,
    "pep": {**QUICK, "marginal": "2"},
    "mwem-tables": QUICK,
    "pep-tables": {**QUICK, "marginal": "2"},
    "workload": {"scores": "wave 20"},
    "dpctgan": {"epochs": "1", "batch_size": "2"},
    "patectgan": {"epochs": "1", "batch_size": "4"},
}
"""Hyperparameters with which a fit is quick; the others have their own."""


def shares(family: str) -> tuple[Fraction, ...]:
    """What a family is tried with: an ε, a ρ, or both."""
    law = SYNTHESIZERS[family].law
    return {"either": (SHARE, RHO), "rho": (RHO,)}.get(law, (SHARE,))


def canaries() -> Iterator[Evidence]:
    """Every family with every noise: no part of a fit tells more about one record than the part's own share."""
    for family in SYNTHESIZERS:
        for share in shares(family):
            yield _tried(family, share)


def _tried(family: str, share: Fraction) -> Evidence:
    learns = SYNTHESIZERS[family].law != "either"
    transcripts, alive = (1, None) if learns else (TRANSCRIPTS, ALIVE)
    unit = "rho" if share is RHO else "epsilon"
    said = f"the most that a part of {transcripts} fits tells about a strange record, as a share of its own"
    known = known_of(canary()[0])
    made = SYNTHESIZERS[family].of(SMALL.get(family, {}))
    found = [part.apart for part in witness_of(made, known, share, transcripts=transcripts)]
    return Evidence.bounded(f"synthesizers.{family}", "canary", unit, said, 1.0, max(found), alive)

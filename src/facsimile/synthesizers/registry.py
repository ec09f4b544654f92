"""The registry: every family by the name that a specification gives it."""

from __future__ import annotations

from facsimile.errors import refusal
from facsimile.spec.families import provided
from facsimile.synthesizers.aim import AIM
from facsimile.synthesizers.base import Synthesizer
from facsimile.synthesizers.dpctgan import DPCTGAN
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.patectgan import PATECTGAN
from facsimile.synthesizers.pooled import MWEM, PEP
from facsimile.synthesizers.privbayes import PrivBayes
from facsimile.synthesizers.tables import MWEMTables, PEPTables
from facsimile.synthesizers.workload import Workload

SYNTHESIZERS: dict[str, type[Synthesizer]] = {
    "privbayes": PrivBayes,
    "mwem": MWEM,
    "pep": PEP,
    "mwem-tables": MWEMTables,
    "pep-tables": PEPTables,
    "mst": MST,
    "aim": AIM,
    "workload": Workload,
    "dpctgan": DPCTGAN,
    "patectgan": PATECTGAN,
}


def registered(family: str) -> type[Synthesizer]:
    """The class of a known family: ours, or another package's."""
    if family in SYNTHESIZERS:
        return SYNTHESIZERS[family]
    made: type = provided(family)
    if not issubclass(made, Synthesizer):
        raise refusal("E216", family=family, problem="it is no synthesizer")
    return made

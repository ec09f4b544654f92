"""The registry: every family by the name that a specification gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from facsimile.synthesizers.aim import AIM
from facsimile.synthesizers.base import Synthesizer
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.pooled import MWEM, PEP
from facsimile.synthesizers.privbayes import PrivBayes
from facsimile.synthesizers.tables import MWEMTables, PEPTables
from facsimile.synthesizers.workload import Workload


class Family(Protocol):
    """A class of synthesizers that can be made from the text of a configuration."""

    def of(self, hyperparameters: Mapping[str, str]) -> Synthesizer:
        """The synthesizer with these hyperparameters; those not named have their defaults."""


SYNTHESIZERS: dict[str, Family] = {
    "privbayes": PrivBayes,
    "mwem": MWEM,
    "pep": PEP,
    "mwem-tables": MWEMTables,
    "pep-tables": PEPTables,
    "mst": MST,
    "aim": AIM,
    "workload": Workload,
}

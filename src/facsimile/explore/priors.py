"""The prior as a table: a public file read like the data, or records simulated from published facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from facsimile.errors import DataRefused, SpecRefused, refusal
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.dataset import refuse_confidential
from facsimile.privacy.reader import read_public
from facsimile.release.prior import admitted, fingerprint, refuse_same
from facsimile.sources.address import Address
from facsimile.spec.families import family_of
from facsimile.spec.prior import RECORDS, Prior
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.table import Table

SEED = 0
"""Of what is simulated from facts: the same facts give the same prior."""


def prior_of(specification: Specification, data: Any = None) -> Table | None:
    """What `prior` of a specification names, at the finest refinement; refused where it is not what it says.

    `data`: the source that leans on it. It reads no record of the data, so it comes before any charge.
    """
    prior = specification.prior
    return None if prior is None else _read(specification, prior, admitted(prior, data), Path(prior.place))


def named_prior(specification: Specification, configuration: Configuration, file: Path | None) -> Table | None:
    """What the release of a bundle leans on, from the file that its reader names. Where the bundle says that it
    lies is not looked at: a bundle may come from anybody."""
    prior = specification.prior
    if prior is None or not family_of(configuration.family).leans:
        return None
    if file is None:
        problem = "The release leans on it, so the file has to be named: --prior FILE."
        raise refusal("E218", file=prior.name, problem=problem)
    place = Address.of(file)
    refuse_confidential(place)
    if fingerprint(place) != prior.sha256:
        raise refusal("E218", file=prior.name, problem="It is another file than the release leans on.")
    return _read(specification, prior, place, file)


def _read(specification: Specification, prior: Prior, place: Address, file: Path) -> Table:
    try:
        source: Any = place
        if prior.facts is not None:
            source = simulate(load_facts(file), prior.records or RECORDS, SEED)
        found = read_public(source, specification)
    except (DataRefused, SpecRefused) as refused:
        raise refusal("E218", file=prior.name, problem=refused.sentence) from None
    if prior.file is not None and prior.records not in (None, found.n):
        problem = "It has another number of records than `records` says."
        raise refusal("E218", file=prior.name, problem=problem)
    return found


def other_prior(specification: Specification, prior: Any, data: Any) -> Table | None:
    """A prior that a call names in place of the specification's own."""
    if prior is None:
        return prior_of(specification, data)
    refuse_confidential(prior)
    refuse_same(prior, data)
    return read_public(prior, specification)

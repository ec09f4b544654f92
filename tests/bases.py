"""Small originals and releases of one domain, with what a release would say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from hypothesis import strategies as st

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import fine_grid
from facsimile.acceptance.kind import kinds_of
from facsimile.analysis.basis import Basis, Form, NoisyTable
from facsimile.privacy.noise import RehearsalNoise
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.table.domain import Clique, Domain
from facsimile.table.table import Table
from specs import changed

N = 12
MANY: list[dict[str, Any]] = [
    {"criterion": "marginals-absolute", "ways": "2", "threshold": "0.5"},
    {"criterion": "marginals-relative", "threshold": "9"},
    {"criterion": "ranges-absolute", "of": ["age"], "by": ["sex"], "threshold": "0.6"},
    {"criterion": "total-variation", "of": [["age", "sex"]], "threshold": "0.9"},
    {"criterion": "total-variation", "ways": "1", "over": "average", "threshold": "0.9"},
    {"criterion": "faithfulness", "match": ["sex"], "reference": "coarse", "threshold": "0.9"},
    {"criterion": "query", "query": "girls", "where": "age < 18 and sex = F", "threshold": "0.7"},
    {"criterion": "proportion", "where": "sex = F", "by": ["age"], "threshold": "0.9"},
    {"criterion": "mean", "of": "age", "by": ["sex", "colour"], "threshold": "80"},
]
"""A criterion of every kind that speaks of counts or means."""


def specification(n: int = N, criteria: Sequence[Mapping[str, Any]] = MANY, **more: Any) -> Specification:
    """Ages in three bins, three sexes, two colours; old men of colour b there are none."""
    data = changed("records", {"count": str(n), "public_because": "it is printed on the door"})
    data["columns"][0]["alternatives"] = {"coarse": ["<18", "18-64", "64<"]}
    data["columns"][1]["groups"] = ["M", "F"]
    data["columns"].append(
        {
            "name": "colour",
            "description": "Colour",
            "values": ["red", "blue", "green"],
            "numbers": {"red": "1", "blue": "2", "green": "6"},
            "alternatives": {"coarse": {"warm": "red", "cold": ["blue", "green"]}},
            "groups": {"warm": "red", "cold": ["blue", "green"]},
        }
    )
    data["constraints"]["raw"].append({"never": "age > 64 and sex = M", "source": "a tale"})
    data["criteria"] = [{**criterion, "epsilon": "1"} for criterion in criteria]
    data["budget"] = {"total": "90", "generator": "1", "test": "1"}
    data["selection"] = {"mode": "single"}
    return validated(data | more)


def domain_of(spec: Specification) -> Domain:
    """The domain of its only alternatives."""
    return Domain(spec.axes(spec.first))


def plausible_rows(spec: Specification) -> list[tuple[int, ...]]:
    """Every row that a record may have: age 2 with sex 0 is ruled out."""
    return [row for row in np.ndindex(*domain_of(spec).shape) if row[:2] != (2, 0)]


def tables(spec: Specification) -> st.SearchStrategy[Table]:
    """Tables of n plausible records."""
    rows = st.lists(st.sampled_from(plausible_rows(spec)), min_size=spec.n, max_size=spec.n)
    return rows.map(lambda found: Table.from_rows(domain_of(spec), found))


def basis(
    spec: Specification,
    real: Table,
    released: Table,
    noisy: Sequence[NoisyTable] = (),
    noise: int = 0,
    planned: tuple[Clique, ...] = (),
    more: bool = False,
) -> Basis:
    """What a release says, every criterion measured with this noise, in units of its grid."""
    candidate, units = Candidate(spec, released), {}
    for kind in kinds_of(spec):
        asked = candidate.ask(kind)
        assert asked is not None
        value = Fraction(asked.query.value(real, RehearsalNoise(1)))
        units[kind.criterion.name] = floor(fine_grid(asked.sensitivity) * value) + noise
    measured = tuple(candidate.measured_again(units))
    return Basis(spec, released, measured, tables=tuple(noisy), planned=planned, more=more)


def noisy_table(
    real: Table, columns: Clique, share: Fraction, noise: Any = 0, form: Form = "fixed", **groups: Sequence[int]
) -> NoisyTable:
    """A table of the original, some columns in groups, with this noise on its cells."""
    versions = tuple((name, tuple(codes)) for name, codes in groups.items())
    counts = real.marginal(columns, versions)
    given = dict(versions)
    codes = tuple(np.array(given.get(name, range(real.domain.axis(name).size))) for name in columns)
    return NoisyTable(columns, codes, counts + np.asarray(noise), share, form)

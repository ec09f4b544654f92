"""Releases of every sort, without a search: a specification, a made-up table, made-up noisy answers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import GRID, LAPLACE, Measured, fine_grid
from facsimile.acceptance.regression import Fit
from facsimile.documents.report import LedgerPlace, Report
from facsimile.release.check import check
from facsimile.release.reporting import Release, report
from facsimile.release.scheme import Accepted
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from specs import SMALL

N = 60
DAY = date(2026, 2, 3)
AREA: dict[str, Any] = {
    "name": "area",
    "description": "Where it was",
    "values": ["north", "south", "sea"],
    "alternatives": {"coarse": {"land": ["north", "south"], "sea": "sea"}},
    "outside": "sea",
}
PLAIN: dict[str, Any] = {
    "name": "age",
    "description": "Age in years, of three",
    "bounds": ["16", "18"],
    "alternatives": {"coarse": ["16..18"]},
    "groups": ["16-17", "18"],
}
PUBLISHER = {
    "name": "An office",
    "homepage": "https://office.example/",
    "licence": "CC0-1.0",
    "doi": "10.1234/abc",
    "version": "3",
    "provenance": "The register of people.",
}
PARTNERS = [{"role": "A steward", "organisation": "An office"}, {"name": "Ada", "role": "A reader"}]
GOVERNANCE: tuple[dict[str, Any], ...] = (
    {},
    {"contact": "data@office.example"},
    {"feedback": "https://office.example/feedback", "partners": PARTNERS},
    {"legal_basis": "The law of statistics.", "requirements": {"Format": "A table of records."}},
    {"approvals": [{"by": "A board", "of": "The plan"}], "ethics_review": "A review took place."},
    {
        "partners": PARTNERS,
        "approvals": [{"by": "A board", "of": "The plan", "when": "2024-02"}, {"by": "Ada", "of": "The rest"}],
        "contact": "https://office.example/contact",
    },
)
SOURCES: tuple[Any, ...] = (None, "A survey of users", {"by": "A board", "why": "To be useful", "when": "2024"})
PRIORS: tuple[Any, ...] = (
    None,
    {"file": "elsewhere.csv", "sha256": "a" * 64, "description": "Births elsewhere.", "source": SOURCES[2]},
    {"facts": "facts.yaml", "sha256": "b" * 64, "records": "5000"},
)
KINDS: dict[str, dict[str, Any]] = {
    "marginals-absolute": {},
    "marginals-relative": {"threshold": "1.9"},
    "mean": {"of": "age", "by": ["age"]},
    "proportion": {"where": "sex = F", "by": ["age"], "fill_to": "20"},
    "regression-coefficients": {"target": "age"},
    "logistic-coefficients": {"event": "sex = F", "on": ["age"]},
    "regression-mae": {"target": "age"},
    "faithfulness": {"match": ["sex"], "reference": "coarse"},
    "ranges-absolute": {"of": ["age"]},
    "total-variation": {"ways": "2"},
    "marginals-tail": {"ways": "1", "beyond": "0.1"},
    "quantile": {"of": "age", "by": ["age"]},
    "correlation": {"of": ["age", "sex"]},
    "query": {"query": "young", "where": "age < 18"},
    "query-of": {"query": "old", "where": "age > 17", "of": "age"},
}
SELECTIONS: tuple[dict[str, str], ...] = (
    {"mode": "paper"},
    {"mode": "coin", "gamma": "0.05"},
    {"mode": "capped-coin", "gamma": "0.05", "epsilon_0": "0.1", "cap": "60"},
    {"mode": "rising-coin", "a": "0.5"},
    {"mode": "single"},
)
DELTAS = (None, None, "0.000000001", "0.001")
POLICIES: dict[str, dict[str, Any]] = {
    "declared": {"policy": "declared", "raw": [{"never": "age > 120", "source": "biology"}]},
    "declared without rules": {"policy": "declared"},
    "declared for the release": {"policy": "declared", "synthetic": [{"never": "age > 120", "source": "b"}]},
    "declared for any record": {
        "policy": "declared",
        "synthetic": [{"never": "age > 120 and sex = F", "source": "b", "bins": "any"}],
    },
    "clamp": {"policy": "clamp", "raw": [{"never": "age > 120", "clamp": {"age": "18"}, "source": "biology"}]},
    "clamp without rules": {"policy": "clamp"},
}


@dataclass(frozen=True, eq=False)
class Drawn:
    """A release, with what an oracle needs to judge its documents."""

    specification: Specification
    configuration: Configuration
    table: Table
    units: dict[str, int]
    rehearsal: bool

    @property
    def candidate(self) -> Candidate:
        return Candidate(self.specification, self.table, self.fits.get("fit"), self.fits.get("refit"))

    @property
    def possible(self) -> bool:
        """Whether a release can have this table: in scheme `measured` only luck would accept some."""
        return self.specification.scheme != "measured" or self.candidate._tests() is not None

    @cached_property
    def release(self) -> Release:
        spec, candidate = self.specification, self.candidate
        measured = tuple(candidate.measured_again(dict(self._units(candidate))))
        place = None if self.rehearsal else LedgerPlace("a ledger", 4, "c" * 64, "7.5", "0")
        accepted = Accepted(self.table, self.configuration, measured, candidate.fit, candidate.refit)
        return Release.of(accepted, spec, place)

    @cached_property
    def report(self) -> Report:
        return report(self.release, DAY)

    @property
    def in_loop(self) -> bool:
        return self.specification.scheme == "paper"

    @cached_property
    def fits(self) -> dict[str, Fit]:
        """A regression for each use, one for both: fitted in the loop or before it."""
        if not self.has("regression-coefficients", "regression-mae"):
            return {}
        own = Fit.of(self.table, "age")
        assert own
        other = Fit(own.scaling, tuple(c + 1 for c in own.coefficients))
        found = {}
        if self.has("regression-coefficients") and self._paper_form("regression-coefficients"):
            found["refit"] = own if self.specification.budget.once is None else other
        if self.has("regression-mae"):
            found["fit"] = own if self.specification.budget.once is None else other
        return found

    def has(self, *kinds: str) -> bool:
        """Whether a criterion is of one of these kinds."""
        return any(c.criterion in kinds for c in self.specification.criteria)

    def _paper_form(self, kind: str) -> bool:
        spec = self.specification
        return any(c.criterion == kind and spec.statistic_of(c) == "paper" for c in spec.criteria)

    def _units(self, candidate: Candidate) -> Iterator[tuple[str, int]]:
        """The made-up answers, on each criterion's own grid; a comparison with a fit has none."""
        for criterion in self.specification.criteria:
            asked = candidate.asked(criterion)
            grid = 1 if asked is None else fine_grid(asked.sensitivity)
            if not criterion.epsilon:  # one number for all of them
                yield criterion.name, -GRID * min(self.units.values())
            else:
                yield criterion.name, self.units[criterion.name] * grid // 1000


def criteria(kinds: list[str]) -> list[dict[str, Any]]:
    """One criterion of each kind."""
    common = {"threshold": "0.9", "epsilon": "0.5"}
    return [{"criterion": kind.removesuffix("-of"), **common, **KINDS[kind]} for kind in kinds]


@st.composite
def releases(draw: st.DrawFn, kinds: tuple[str, ...] = ()) -> Drawn:
    """A release with criteria of these kinds, or of any."""
    chosen = list(kinds) or draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5, unique=True))
    scheme = draw(st.sampled_from(["paper", "test-then-measure", "train-once", "measured"]))
    form = draw(st.sampled_from(["paper", "sharp"])) if scheme != "measured" else "sharp"
    data = copy.deepcopy(SMALL)
    data["records"]["count"] = str(N)
    data["criteria"] = criteria(chosen)
    data["statistic"] = form
    data["scheme"] = scheme
    data["selection"] = dict(draw(st.sampled_from(SELECTIONS[scheme == "measured" :])))
    data["constraints"] = POLICIES[draw(st.sampled_from(sorted(POLICIES)))]
    least = draw(st.sampled_from(["1", "2", "5"]))
    data["projection"] = {"min_count": [least]}
    data["families"] = [{"family": "mst"}] + [{"family": "workload"}] * draw(st.integers(0, 1))
    if draw(st.booleans()):
        data["columns"][0] = copy.deepcopy(PLAIN)
    elif draw(st.booleans()):
        data["columns"][0]["use"] = ["coarse"]
    if draw(st.booleans()) and not {"regression-coefficients", "regression-mae", "correlation"} & set(chosen):
        del data["columns"][1]["numbers"]
        data["columns"][1]["missing"] = {"code": "unknown"}
    data["columns"][0]["outside"] = draw(st.sampled_from(["clip", "refuse", "drop"]))
    if draw(st.booleans()):
        data["columns"][0]["missing"] = {"value": "18"}
    if draw(st.booleans()):
        data["columns"][1]["missing"] = "refuse"
    if draw(st.booleans()) and not {"regression-coefficients", "regression-mae", "faithfulness"} & set(chosen):
        data["columns"].append(AREA)
    if data["constraints"]["policy"] == "clamp" and data["columns"][0]["outside"] == "drop":
        data["columns"][0]["outside"] = "refuse"
    small = draw(st.booleans())
    data["budget"] = {"total": "90", "generator": "0.5" if small else "1.123457"}
    if scheme == "measured":
        shared = draw(st.integers(0, len(chosen)))
        for place, criterion in enumerate(data["criteria"]):
            criterion["epsilon"] = "50"
            if place < shared:
                del criterion["epsilon"]
        data["budget"] |= {"total": "9000"} | ({"test": "50"} if shared else {})
    elif scheme != "paper":
        data["budget"]["test"] = "0.1"
    if "regression-mae" in chosen and (
        scheme != "paper" or form == "sharp" or len(chosen) < 2 or draw(st.booleans())
    ):
        data["budget"]["once"] = "0.5"
    if "regression-mae" in chosen and "regression-coefficients" not in chosen:
        data["budget"]["once"] = "0.5"
    if "regression-coefficients" in chosen and draw(st.booleans()):
        data["budget"]["once"] = "0.5"
        if form == "paper" and draw(st.booleans()):
            next(c for c in data["criteria"] if c["criterion"] == "regression-coefficients").pop("epsilon")
    if "marginals-relative" in chosen and draw(st.booleans()):
        next(c for c in data["criteria"] if c["criterion"] == "marginals-relative")["tested_at"] = "1.3"
    if scheme == "train-once" or data["selection"]["mode"] in ("single", "coin"):
        data["budget"] |= {"delta": delta} if (delta := draw(st.sampled_from(DELTAS))) else {}
    if draw(st.booleans()):
        data["publisher"] = PUBLISHER if draw(st.booleans()) else {"name": "An office"}
    data["governance"] = draw(st.sampled_from([None, *GOVERNANCE]))
    for part in (data["criteria"][0], data["budget"], data["selection"], data["projection"]):
        part["source"] = draw(st.sampled_from(SOURCES))
    data["criteria"][0]["threshold_source"] = draw(st.sampled_from(SOURCES))
    if len(data["families"]) > 1:
        data["prior"] = draw(st.sampled_from(PRIORS))
    specification = validated(data)
    check(specification)
    units = {c.name: draw(st.sampled_from([-100, 20, 300, 800, 1400])) for c in specification.criteria}
    drawn = Drawn(specification, *_table(draw, specification, int(least)), units, draw(st.booleans()))
    assume(drawn.possible)
    return drawn


def _table(draw: st.DrawFn, specification: Specification, least: int) -> tuple[Configuration, Table]:
    """N rows, each at least so many times or once more: every age and sex occurs."""
    space = specification.drawable
    configuration = space.configuration(draw(st.integers(0, space.size - 1)))
    domain = Domain(specification.axes(configuration.alternatives))
    often = least + draw(st.integers(0, 1))
    codes = np.array(list(np.ndindex(*domain.shape)))[: N // max(often, 2) - 1]
    counts = np.full(len(codes), often)
    counts[0] += N - counts.sum()
    return configuration, Table.from_rows(domain, codes, counts)


def laplace(measured: Measured) -> bool:
    return measured.mechanism == LAPLACE

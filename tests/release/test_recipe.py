"""Candidates: whatever the model draws, n plausible records come out, none rarer than allowed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

import numpy as np
import pytest

from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.kind import kinds_of
from facsimile.errors import FacsimileError
from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import rehearse
from facsimile.release.recipe import Recipe, draw
from facsimile.release.scheme import presentable
from facsimile.shaping.constraints import implausible
from facsimile.shaping.sampling import Sampling
from facsimile.spec.constraints import parse_condition
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.synthesizers.base import RowModel
from facsimile.synthesizers.graphical import TreeTooLarge
from facsimile.synthesizers.mst import MST
from facsimile.table.domain import Domain
from facsimile.table.scores import RowScores
from facsimile.table.table import Table
from facsimile.table.view import View
from specs import changed

N = 600


class Fixed(RowModel):
    """Draws rows with given weights, i.i.d."""

    def __init__(self, domain: Domain, weights: list[float]) -> None:
        self.domain, self._weights = domain, np.array(weights) / sum(weights)

    def sample(self, n: int, random: np.random.Generator, sampling: Sampling = "systematic") -> Table:
        cells = np.argwhere(np.ones(self.domain.shape, bool))
        return Table.from_rows(self.domain, cells, random.multinomial(n, self._weights))


@pytest.fixture
def specification() -> Specification:
    data = changed("records", {"count": str(N), "public_because": "it is printed on the door"})
    data["constraints"]["synthetic"] = [{"never": "age < 18 and sex = F", "source": "a rule for the test"}]
    return validated(data)


def recipe(specification: Specification, family: str = "mst", **hyperparameters: str) -> Recipe:
    choice = specification.alternatives_named("coarse")
    projection = {"algorithm": "paper", "min_count": "3"}
    return Recipe(specification, Configuration(choice, family, hyperparameters, projection))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_implausible_records_are_drawn_again(specification: Specification, share: float) -> None:
    made = recipe(specification)
    cells = np.argwhere(np.ones(made.domain.shape, bool))
    bad = implausible(made.conditions, made.domain, cells)
    assert bad.sum() == 1
    weights = np.where(bad, share, (1 - share) / (~bad).sum()).tolist()
    found = draw(Fixed(made.domain, weights), made.conditions, N, np.random.default_rng(1), "iid")
    assert found.n == N
    assert not implausible(made.conditions, found.domain, found.codes).any()


def test_a_model_without_a_plausible_row_ends_too(specification: Specification) -> None:
    made = recipe(specification)
    never = [parse_condition("age < 18 or age > 17")]
    found = draw(Fixed(made.domain, [1.0] * made.domain.cells), never, N, np.random.default_rng(1), "iid")
    assert found.n == N


@pytest.mark.parametrize("family", ["mst", "workload", "privbayes", "aim", "mwem", "pep", "mwem-tables"])
def test_every_family_makes_a_candidate(specification: Specification, family: str) -> None:
    made = recipe(specification, family)
    random = np.random.default_rng(2)
    rows = np.column_stack([random.integers(0, 3, N), np.zeros(N, int)])
    table = Table.from_rows(made.domain, rows)
    curator = Curator.rehearsal(rehearse(table), 1)
    found = made.table(made.fit(curator, Fraction(3), random), random)
    assert found.n == N
    assert found.domain == made.domain
    assert int(found.counts.min()) >= 3
    assert not implausible(made.conditions, found.domain, found.codes).any()


def test_a_step_goes_on_where_the_one_before_it_left_off(specification: Specification) -> None:
    """A seed that starts again between fit and sample would tie the records to the noise of the fit."""
    made = recipe(specification, "privbayes", sampling="iid")
    often = {"algorithm": "paper", "min_count": "90"}
    made = replace(made, configuration=replace(made.configuration, projection=often))
    table = Table.from_rows(made.domain, np.column_stack([np.arange(N) % 3, np.arange(N) % 2]))

    def answers() -> Curator:
        return Curator.rehearsal(rehearse(table), 1)

    random = np.random.default_rng(7)
    model = made.fit(answers(), Fraction(3), random)
    assert random.bit_generator.state != np.random.default_rng(7).bit_generator.state
    after = random.bit_generator.state
    drawn = made.drawn(model, random)
    assert made.sampled(answers(), Fraction(3), 7) == drawn
    random.bit_generator.state = after
    found = made.table(model, random)
    end = random.bit_generator.state
    random.bit_generator.state = after
    assert found == made.projected(made.drawn(model, random), random) != drawn
    assert random.bit_generator.state == end


def test_known_tells_coarser_versions_and_zeros(specification: Specification) -> None:
    known = recipe(specification).known()
    assert known.n == N
    assert known.coarser["age"] == ((0, 1, 1),)
    assert known.coarser["sex"] == ()
    assert any(set(clique) == {"age", "sex"} and mask.sum() == 1 for clique, mask in known.zeros)


CUT = {"never": "age > 70 and sex = F", "source": "a rule that cuts the last bin", "bins": "any"}


@pytest.fixture
def cutting() -> Specification:
    data = changed("records", {"count": str(N), "public_because": "it is printed on the door"})
    data["constraints"]["synthetic"] = [CUT]
    return validated(data)


@pytest.mark.parametrize("family", ["mst", "workload", "privbayes", "aim", "mwem", "pep"])
def test_a_rule_that_reads_by_any_record_empties_cells_that_the_original_fills(
    cutting: Specification, family: str
) -> None:
    """Generators are told, samples are filtered, and a table with such a row cannot be presented."""
    made = recipe(cutting, family)
    assert [(clique, np.argwhere(mask).tolist()) for clique, mask in made.known().zeros] == [
        (("age", "sex"), [[2, 1]])
    ]
    real = Table.from_rows(
        made.domain,
        np.argwhere(np.ones(made.domain.shape, bool)),
        [N // 9 + 1] * 3 + [N // 9] * 5 + [N - 8 * (N // 9) - 3],
    )
    assert real.n == N and not presentable(made, real)
    random = np.random.default_rng(3)
    found = made.table(made.fit(Curator.rehearsal(rehearse(real), 1), Fraction(5), random), random)
    assert found.n == N and found.marginal(("age", "sex"))[2].tolist()[1] == 0
    assert presentable(made, found)


def test_what_a_synthetic_rule_rules_out_is_never_left_out_of_a_sensitivity(cutting: Specification) -> None:
    made = recipe(cutting)
    candidate = Candidate(cutting, Table.from_rows(made.domain, np.zeros((N, 2), np.int64)))
    view = View.of_columns(made.domain)
    cells = candidate.cells(view, 2)
    assert cells is not None and cells.allowed.all()
    raw = validated(changed("constraints.raw", [{"never": "age > 60 and sex = F", "source": "x"}]))
    ruled = Candidate(raw, candidate.table).cells(view, 2)
    assert ruled is not None and np.argwhere(~ruled.allowed).tolist() == [[2, 1]]


def test_rules_that_tie_too_many_columns_together_are_refused(
    specification: Specification, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tied(*_: object) -> NoReturn:
        raise TreeTooLarge("the cells that may not occur tie too many columns together")

    monkeypatch.setattr(MST, "fit", tied)
    made = recipe(specification)
    table = Table.from_rows(made.domain, np.zeros((N, 2), np.int64))
    curator = Curator.rehearsal(rehearse(table), 1)
    with pytest.raises(FacsimileError, match="too many cells for the generator mst") as caught:
        made.fit(curator, Fraction(1), np.random.default_rng(1))
    assert caught.value.code == "E160"


def test_what_cannot_be_made_is_refused(specification: Specification) -> None:
    for made in (recipe(specification, "dpctgan"), recipe(specification, "privbayes", flavour="blue")):
        with pytest.raises(FacsimileError, match=r"E20[04]"):
            made.synthesizer(Fraction(1))


def test_scores_are_those_of_the_criteria_and_other_names_are_refused() -> None:
    data = changed("records", {"count": str(N), "public_because": "it is printed on the door"})
    data["criteria"].append({"criterion": "regression-coefficients", "target": "age", "threshold": "9"})
    data["criteria"][1]["epsilon"] = "0.1"
    specification = validated(data)
    names = [kind.criterion.name for kind in kinds_of(specification) if kind.scored]
    assert names
    made = recipe(specification, "workload", scores=f"{names[0]} 10")
    table = Table.from_rows(made.domain, np.column_stack([np.arange(N) % 3, np.arange(N) % 2]))
    model = made.fit(Curator.rehearsal(rehearse(table), 1), Fraction(5), 2)
    found = made.known().scores(names[0], model.sample(N, np.random.default_rng(1)))
    assert isinstance(found, RowScores) and found.fits
    for wrong in ("marginals-absolute 5", "nobody 5", f"{names[0]} 100", "5"):
        with pytest.raises(FacsimileError, match="E200"):
            recipe(specification, "workload", scores=wrong).synthesizer(Fraction(1))

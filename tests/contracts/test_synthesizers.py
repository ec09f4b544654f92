"""The contract of every family: what it spends, what it returns, and that it knows noisy answers only."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from facsimile.errors import MechanismFailed
from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import rehearse
from facsimile.spec.families import DENSE_CELLS, FAMILIES
from facsimile.synthesizers.base import Answers, Known, RowModel, Synthesizer
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.table.table import Table
from facsimile.testing import Broken, check_only_answers, check_spending, check_synthesizer, small_domain
from facsimile.testing.synthesizers import SHAPES, SHARES, check_replay, fitted, table_of
from plans import plan

QUICK = {"num_query": "40", "num_iterations": "6", "num_inner_updates": "5"}
CASES: dict[str, tuple[str, dict[str, str]]] = {
    "privbayes theta": ("privbayes", {"flavour": "theta", "theta": "2", "epsilon_split": "0.25"}),
    "privbayes degree": ("privbayes", {"flavour": "degree", "degree": "2", "epsilon_split": "0.5"}),
    "mwem": ("mwem", QUICK),
    "pep": ("pep", {**QUICK, "marginal": "2"}),
    "mwem tables": ("mwem-tables", QUICK),
    "pep tables": ("pep-tables", {**QUICK, "marginal": "2"}),
    "mst": ("mst", {}),
    "aim": ("aim", {}),
    "workload": ("workload", {}),
    "workload with scores": ("workload", {"scores": "wave 20"}),
}
EVERY = pytest.mark.parametrize("case", CASES)
N = 300


def made(case: str) -> Synthesizer:
    family, hyperparameters = CASES[case]
    return SYNTHESIZERS[family].of(hyperparameters)


def test_every_pure_family_of_the_specification_is_here() -> None:
    pure = {name for name, family in FAMILIES.items() if family.pure}
    assert pure == {family for family, _ in CASES.values()}
    assert set(SYNTHESIZERS) == set(FAMILIES), "the others have tests of their own: tests/synthesizers"


@EVERY
@pytest.mark.parametrize("shape", [(1,), *SHAPES], ids=str)
def test_it_spends_what_it_is_given_and_returns_n_allowed_records(case: str, shape: tuple[int, ...]) -> None:
    check_spending(made(case), table_of(shape), Fraction(1))


WIDE = [case for case, (family, _) in CASES.items() if FAMILIES[family].wider is None]


@pytest.mark.parametrize("case", WIDE)
def test_a_domain_that_cannot_be_held_works_too(case: str) -> None:
    table = table_of((12, 2, 9) + (15,) * 5, 2_000)
    assert table.domain.cells > DENSE_CELLS
    check_replay(made(case), check_spending(made(case), table, Fraction(2)), table, Fraction(2))


@pytest.mark.parametrize("case", [case for case in CASES if case not in WIDE])
def test_or_is_refused_before_anything_is_asked_and_has_a_variant_that_works(case: str) -> None:
    with pytest.raises(ValueError, match="more than 10,000,000 rows"):
        made(case).check(small_domain(*(10,) * 7, 2), 2_000, Fraction(2))
    made(case).check(small_domain(*(10,) * 7), 2_000, Fraction(2))
    assert FAMILIES[CASES[case][0]].wider in {CASES[wide][0] for wide in WIDE}


@EVERY
@pytest.mark.parametrize("epsilon", SHARES, ids=str)
def test_any_epsilon_will_do(case: str, epsilon: Fraction) -> None:
    check_spending(made(case), table_of((4, 3, 2)), epsilon)


@EVERY
def test_it_is_a_function_of_noisy_answers_and_public_input(case: str) -> None:
    check_only_answers(made(case), table_of((4, 3, 2, 3)), Fraction(1))


@EVERY
def test_with_a_great_epsilon_it_comes_close_to_the_table(case: str) -> None:
    """Two columns that follow each other: half the L1 distance of their tables, of 3,000 records."""
    table = table_of((4, 4), 3_000)
    family, hyperparameters = CASES[case]
    more = {"num_iterations": "20", "num_inner_updates": "30"} if "num_query" in hyperparameters else {}
    if family == "mwem":  # its steps are small
        more = {"num_query": "100", "num_iterations": "300", "num_inner_updates": "1000"}
    synthesizer = SYNTHESIZERS[family].of({**hyperparameters, **more})
    model = fitted(synthesizer, table, Known(table.n), Fraction(100)).model
    drawn = model.sample(table.n, np.random.default_rng(1))
    assert np.abs(drawn.marginal(("a", "b")) - table.marginal(("a", "b"))).sum() / 2 <= 0.02 * table.n


@EVERY
def test_hyperparameters_are_those_of_the_specification(case: str) -> None:
    family, hyperparameters = CASES[case]
    assert set(hyperparameters) <= set(FAMILIES[family].hyperparameters)
    with pytest.raises((KeyError, TypeError, ValueError)):
        SYNTHESIZERS[family].of({"colour": "blue"})


class Overspender(MST):
    """Mutant: it asks all that it may, and once more."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        super().fit(answers, known, epsilon, random)
        return super().fit(answers, known, epsilon / 1000, random)


class OfItsOwn(MST):
    """Mutant: a budget of its own, whatever it is given."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        return super().fit(answers, known, Fraction(1), random)


class Peeking(MST):
    """Mutant: it opens the curator's box and keeps the records."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        super().fit(answers, known, epsilon, random)
        return Kept(answers.answers._private._open())  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Hoarding(MST):
    """Mutant: what it learned from one table it keeps for the next."""

    kept: list[RowModel] = field(default_factory=list)

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        found = super().fit(answers, known, epsilon, random)
        self.kept.append(found)
        return self.kept[0]


@dataclass(frozen=True)
class Remembering(Hoarding):
    """Mutant: it asks once and returns the same ever after."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        return self.kept[0] if self.kept else super().fit(answers, known, epsilon, random)


class Kept(RowModel):
    """A table as a model: it returns the records themselves."""

    def __init__(self, table: Table) -> None:
        self.table, self.domain = table, table.domain

    def sample(self, n: int, random: np.random.Generator, sampling: str = "systematic") -> Table:
        return Table.from_rows(self.table.domain, np.repeat(self.table.codes, self.table.counts, axis=0)[:n])


class Talking(MST):
    """Mutant: every fit prints a line, so that lines tell how many there were."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        print("fitting")
        return super().fit(answers, known, epsilon, random)


class Numbered(RowModel):
    """A model that counts its draws, and ends with records that tell their number."""

    def __init__(self, model: RowModel) -> None:
        self.model, self.domain, self.drawn = model, model.domain, 0

    def sample(self, n: int, random: np.random.Generator, sampling: Any = "systematic") -> Table:
        found = self.model.sample(n, random, sampling)
        self.drawn += 1
        rows = found.records().copy()
        rows[-min(self.drawn, n) :] = 0
        return Table.from_rows(found.domain, rows)


class Counting(MST):
    """Mutant: its model tells which draw it is."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        return Numbered(super().fit(answers, known, epsilon, random))


class Careless(MST):
    """Mutant: it forgets which cells may not occur."""

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        return super().fit(answers, Known(known.n), epsilon, random)


@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        (Overspender, "more than its share"),
        (OfItsOwn, "more than its share"),
        (Peeking, "more than noisy answers"),
        (Hoarding, "knows more than answers"),
        (Remembering, "knows more than answers"),
        (Talking, "it prints"),
        (Counting, "a draw leaves something behind"),
        (Careless, "may not occur"),
    ],
)
def test_a_synthesizer_that_breaks_the_contract_is_caught(mutant: type[MST], words: str) -> None:
    with pytest.raises(Broken, match=words):
        check_synthesizer(mutant(), shapes=[(3, 4)])


def test_a_synthesizer_that_keeps_the_contract_passes_the_whole_of_it() -> None:
    check_synthesizer(MST(), shapes=[(3, 4)])


def test_a_family_that_overspends_is_stopped_by_its_allowance() -> None:
    """In a release, where no contract is there to see it."""
    table = table_of((3, 4))
    curator = Curator.rehearsal(rehearse(table), 1)
    with (
        pytest.raises(MechanismFailed, match="E304"),
        curator.search(plan(Fraction(0), once=Fraction(1)), "contract") as search,
    ):
        Overspender().fit(search.once(), Known(N), Fraction(1), np.random.default_rng(1))

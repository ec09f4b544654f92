"""The contract of every family: what it spends, what it returns, and that it knows noisy answers only."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from facsimile.errors import MechanismFailed
from facsimile.privacy.budget import Rho
from facsimile.privacy.curator import Curator
from facsimile.privacy.reader import rehearse
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.spec.families import DENSE_CELLS, FAMILIES
from facsimile.synthesizers import aim, workload
from facsimile.synthesizers.base import Answers, Known, RowModel, Synthesizer
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from facsimile.testing import Broken, check_only_answers, check_spending, check_synthesizer, small_domain
from facsimile.testing.synthesizers import SHAPES, SHARES, check_columns, check_replay, fitted, table_of
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


COUNTED = {"privbayes", "mst", "aim", "workload"}
"""Families that count every column, alone or in tables."""
UNCOUNTED = dict.fromkeys(
    ("mwem", "pep", "mwem-tables", "pep-tables"),
    "a round counts what the model answers worst; a column that none chose is not counted",
) | dict.fromkeys(("dpctgan", "patectgan"), "nothing is counted: a generator learns from gradients or votes")


def test_every_family_counts_every_column_or_says_why_not() -> None:
    assert not COUNTED & UNCOUNTED.keys()
    assert COUNTED | UNCOUNTED.keys() == set(FAMILIES)


def skewed(shape: tuple[int, ...], seed: int, n: int = 20_000) -> Table:
    """Records whose columns are far from flat; each follows the one before a little; every other is ordered."""
    random = np.random.default_rng(seed)
    rows = np.column_stack([random.choice(size, n, p=random.dirichlet([0.4] * size)) for size in shape])
    follows = random.random((n, len(shape))) < 0.2
    for place in range(1, len(shape)):
        rows[:, place] = np.where(follows[:, place], rows[:, place - 1] % shape[place], rows[:, place])
    axes = list(small_domain(*shape).axes)
    for place in range(seed % 2, len(shape), 2):
        bins = tuple(CategoryBin(str(code), frozenset([str(code)])) for code in range(shape[place]))
        axes[place] = Axis(axes[place].name, bins)
    return Table.from_rows(Domain(tuple(axes)), rows)


def some_measurements(names: tuple[str, ...], random: np.random.Generator) -> str:
    """Items that name every column: alone, in a pair, or in groups in a pair; in any order."""
    found = []
    for name in names:
        other = str(random.choice([one for one in names if one != name]))
        groups = int(random.integers(2, 5))
        found.append(str(random.choice([name, f"{name}*{other}", f"{name}@{groups}*{other}"])))
    return "; ".join(random.permutation(list(dict.fromkeys(found))))


@pytest.mark.parametrize("share", [Fraction(1), Rho(1, 50)], ids=["epsilon", "rho"])
@pytest.mark.parametrize("held", [True, False], ids=["dense", "tree"])
@pytest.mark.parametrize("case", [case for case, (family, _) in CASES.items() if family in COUNTED])
def test_columns_are_no_farther_off_than_noise_explains(
    case: str, held: bool, share: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On random tables; a domain of one cell that could be held has a tree for each."""
    for module in (aim, workload) if not held else ():
        monkeypatch.setattr(module, "DENSE_CELLS", 1)
    for seed, shape in enumerate([(12, 2, 5, 2), (30, 3, 2), (2, 2, 2, 7)]):
        check_columns(made(case), skewed(shape, seed), share, seed)


@pytest.mark.parametrize("share", [Fraction(1), Rho(1, 50)], ids=["epsilon", "rho"])
@pytest.mark.parametrize("held", [True, False], ids=["dense", "tree"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), shape=st.lists(st.sampled_from([2, 3, 6, 30]), min_size=2, max_size=5))
def test_whatever_a_workload_names(
    seed: int, shape: list[int], held: bool, share: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not held:
        monkeypatch.setattr(workload, "DENSE_CELLS", 1)
    table, random = skewed(tuple(shape), seed), np.random.default_rng(seed)
    text = some_measurements(table.domain.names, random)
    check_columns(workload.Workload(text), table, share, seed)


@pytest.mark.parametrize("share", [Fraction(1), Rho(1, 50)], ids=["epsilon", "rho"])
@pytest.mark.parametrize("case", [case for case in WIDE if CASES[case][0] in COUNTED])
def test_and_on_a_wide_domain(case: str, share: Fraction) -> None:
    table = skewed((30, 12, 5, 2, 9, 8, 8, 6), 1)
    assert table.domain.cells > DENSE_CELLS
    family, own = CASES[case]
    random = np.random.default_rng(1)
    text = {"measurements": some_measurements(table.domain.names, random)} if family == "workload" else {}
    check_columns(SYNTHESIZERS[family].of(own | text), table, share)


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

"""The contract of every mechanism: what it asks noise for covers how far one record can move it.

The contract is `facsimile.testing.check_mechanism`; mutants that break it are each caught.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.mechanisms import (
    MECHANISMS,
    Mechanism,
    NoisyAnswer,
    NoisyMarginals,
    NoisyMoments,
    NoisyScores,
    NoisySelection,
)
from facsimile.privacy.noise import Noise, RehearsalNoise
from facsimile.privacy.queries import QUERIES, SCORES, BoxDistances, Dependences, MarginalDistances, WorstSum
from facsimile.privacy.queries.sums import Sums
from facsimile.table.domain import Domain
from facsimile.table.exact import LARGEST, Ints
from facsimile.table.measurement import Measurement
from facsimile.table.scores import ONE, Factor, RowScores
from facsimile.table.table import Codes, Table
from facsimile.testing import Broken, check_mechanism, every_pair, moves, random_pairs, small_domain
from facsimile.testing.contract import require_proof
from facsimile.testing.learners import learners
from facsimile.testing.neighbours import Neighbours
from table.test_boxes import every_box

DOMAIN = small_domain(2, 3)
WIDE = small_domain(4, 5, 3)


def count(clique: tuple[str, ...], cells: list[Any], unit: Fraction = Fraction(1)) -> WorstSum:
    """The number of records in some cells."""
    return WorstSum((Sums(clique, np.array([cells]), (0,), (unit,)),))


MODEL = np.array([[1, 0, 1], [0, 2, 0]])
HALF = Fraction(1, 2)
CASES: dict[str, Mechanism[Any]] = {
    "one marginal": NoisyMarginals(((("a",), HALF),)),
    "three marginals": NoisyMarginals(((("a",), HALF), (("b",), Fraction(1, 3)), (("a", "b"), Fraction(2)))),
    "evenly": NoisyMarginals.evenly([("a",), ("b", "a")], Fraction(3)),
    "marginals in groups": NoisyMarginals(
        ((("b",), HALF), (("a", "b"), HALF)), (("b", (1, 0, 1)), ("a", None))
    ),
    "count": NoisyAnswer(count(("a", "b"), [[1, 0, 0], [0, 0, 1]]), HALF),
    "count on a grid": NoisyAnswer(count(("b",), [0, 1, 0]), HALF, grid=7),
    "count off the grid": NoisyAnswer(count(("b",), [0, 3, 0], Fraction(2)), HALF),
    "count off a finer grid": NoisyAnswer(count(("b",), [0, 4, 0], Fraction(3)), HALF, grid=2),
    "distances": NoisySelection(
        MarginalDistances(((("a",), np.array([1, 2])), (("a", "b"), MODEL))), Fraction(1)
    ),
    "weighted distances": NoisySelection(
        MarginalDistances(
            ((("a",), np.array([3, 0])), (("b",), np.array([1, 1, 1]))),
            (HALF, Fraction(3, 2)),
            (Fraction(1, 3), HALF),
        ),
        Fraction(2),
        grid=12,
    ),
    "distances off the grid": NoisySelection(
        MarginalDistances(((("a",), np.array([3, 0])), (("b",), np.array([3, 0, 0]))), (Fraction(3, 4),) * 2),
        Fraction(2),
    ),
}
EVERY_BOX = every_box(DOMAIN.shape)
for number, model in enumerate(([0] * len(EVERY_BOX), [2] * len(EVERY_BOX), range(-9, len(EVERY_BOX) - 9))):
    CASES[f"boxes {number}"] = NoisySelection(BoxDistances(EVERY_BOX, np.array(model)), HALF)
CASES["a box"] = NoisySelection(BoxDistances(EVERY_BOX.some([1]), np.array([1])), HALF, grid=5)
PAIR = (("a", (("b", None),)),)
HALVED = (("a", (("c", None), ("b", (0, 0, 1)))), ("b", (("a", None),)))
SIZED: dict[str, Callable[[int], NoisySelection]] = {
    "dependences": lambda n: NoisySelection(Dependences(small_domain(3, 3), PAIR, n), HALF),
    "dependences of two values": lambda n: NoisySelection(Dependences(small_domain(2, 3), PAIR, n), HALF),
    "dependences on a coarse parent": lambda n: NoisySelection(
        Dependences(small_domain(2, 3, 4), HALVED, n), HALF
    ),
    "dependences of another size": lambda n: NoisySelection(
        Dependences(small_domain(3, 3, 4), (*PAIR, *HALVED), n), HALF
    ),
    "dependences of mixed sides": lambda n: NoisySelection(
        Dependences(small_domain(3, 3, 2), (*PAIR, ("c", (("a", None),)), ("a", ())), n), HALF
    ),
}
CASES["moments"] = NoisyMoments(((("a",), np.array([0, 3])),), (("b",), np.array([0, 1, 4])), 2, HALF)
CASES["moments with signs"] = NoisyMoments(
    ((("b",), np.array([-1, 0, 1])),), (("a",), np.array([0, 1])), 1, HALF
)
WAVES = RowScores(
    DOMAIN,
    (
        (Factor(0, ((("b",), np.array([-3, 1, 3])),)),),
        (
            Factor(ONE, ((("a", "b"), np.array([[0, 5, -7], [2, -9, 4]])),)),
            Factor(-2, ((("a",), np.array([5, 0])),)),
        ),
    ),
)
CASES["scores within their clip"] = NoisyScores(WAVES, 8, HALF)
CASES["scores beyond their clip"] = NoisyScores(WAVES, 4, HALF)
CASES["scores clipped to one"] = NoisyScores(RowScores(DOMAIN, WAVES.functions[:1]), 1, HALF)
LONG = RowScores(DOMAIN, WAVES.functions, norm=2)
CASES |= {
    f"{case}, with rho": replace(known, epsilon=Rho(1, 9))
    for case, known in CASES.items()
    if isinstance(known, NoisyAnswer | NoisySelection | NoisyScores)
}
CASES |= {
    "one marginal, with rho": NoisyMarginals(((("a",), Rho(1, 2)),)),
    "marginals with rho": NoisyMarginals.evenly([("a",), ("b", "a"), ("b",)], Rho(1, 50)),
    "groups with rho": NoisyMarginals(((("b",), Rho(1)),), (("b", (1, 0, 1)), ("a", None))),
    "marginals with both": NoisyMarginals(((("a",), Rho(1, 2)), (("b",), HALF), (("a", "b"), Rho(1, 3)))),
    "scores clipped in L2": NoisyScores(LONG, 4, Rho(1, 9)),
    "scores within their L2 clip": NoisyScores(LONG, 8, Rho(1, 9)),
    "a score clipped in L2": NoisyScores(RowScores(DOMAIN, WAVES.functions[:1], norm=2), 1, Rho(1, 9)),
}
LOOSE = {
    "moments with signs",
    "scores within their clip",
    "scores beyond their clip",
    "scores within their clip, with rho",
    "scores beyond their clip, with rho",
    "scores clipped in L2",
    "scores within their L2 clip",
}  # no pair moves every number by its whole range
DRAWN = {"count on a grid", "marginals with both"}
"""Real noise is drawn for these too; for one of each kind it is in tests/testing/test_apart.py."""
TIGHT = pytest.mark.parametrize("case", CASES)


def test_moments_of_indicators_and_products_keep_their_sensitivity() -> None:
    domain = small_domain(2, 3, 2)
    ones = [(("b",), np.array([0, 1, 0])), (("b",), np.array([0, 0, 1]))]
    products = (("b", "c"), np.array([[0, 0], [0, 1], [0, 2]]))
    moments = NoisyMoments((*ones, products), (("a",), np.array([0, 1])), 1, HALF)
    check_mechanism(moments, domain, 2, reach=0.5, draws=False)


def test_moments_of_one_column_are_read_in_one_cell() -> None:
    """x, x·x, y and x·y: the squares of −3 and 2 lie 5 apart; ends that were multiplied would lie 15 apart."""
    moments = NoisyMoments(((("a",), np.array([-3, 2])),), (("b",), np.array([0, 1])), 1, HALF)
    assert moments.units == 5 + 5 + 1 + 5


@TIGHT
def test_one_record_moves_it_by_the_declared_sensitivity_and_no_more(case: str) -> None:
    reach = 0.9 if case not in LOOSE else 0.5 if "L2" not in case and "rho" not in case else 0.1
    check_mechanism(CASES[case], DOMAIN, 3, reach=reach, draws=case in DRAWN)
    larger = DOMAIN if "box" in case else small_domain(2, 3, 4)
    assert moves(CASES[case], random_pairs(larger, 30, 60))[0] <= 1


def test_scores_of_boxes_are_distances_of_counts_and_every_box_but_the_whole_reaches_1() -> None:
    model = np.arange(len(EVERY_BOX)) % 3
    scores = BoxDistances(EVERY_BOX, model)
    moved = [0] * len(EVERY_BOX)
    for pair in every_pair(DOMAIN, 3):
        one, other = (scores.values(table) for table in pair)
        grid = pair[0].marginal(("a", "b"))
        plain = [abs(int(grid[EVERY_BOX.slices(i)].sum()) - int(m)) for i, m in enumerate(model)]
        assert one == plain
        moved = [max(m, abs(int(x) - int(y))) for m, x, y in zip(moved, one, other, strict=True)]
    assert moved == [int(EVERY_BOX.slices(i) != (slice(0, 2), slice(0, 3))) for i in range(len(EVERY_BOX))]


def tight_pairs(domain: Domain, n: int) -> Iterator[Neighbours]:
    """A record leaves a cell for an empty row and column.

    With two values, all others share one cell. With three, the cell that it leaves is rarer than independence
    has it, and its row and column are elsewhere more frequent.
    """
    few = 3 * int(n**0.5) // 2
    rest = {2: ([[0, 0]], [n - 1]), 3: ([[0, 2], [2, 0], [2, 2]], [few, few, n - 1 - 2 * few])}
    rows, counts = rest[domain.shape[0]]
    corner = [0] * (len(domain.shape) - 2)
    pair = [
        Table.from_rows(domain, [[*row, *corner] for row in (*rows, one)], [*counts, 1])
        for one in ((0, 0), (1, 1))
    ]
    yield pair[0], pair[1]


def dependences(case: str, n: int) -> Dependences:
    scores = SIZED[case](n).scores
    assert isinstance(scores, Dependences)
    return scores


@pytest.mark.parametrize("case", SIZED)
def test_a_score_that_knows_n_moves_by_the_declared_sensitivity_and_no_more(case: str) -> None:
    domain = dependences(case, 2).domain
    for n in (2, 3, 4):
        assert moves(SIZED[case](n), itertools.islice(every_pair(domain, n), 1000))[0] <= 1
    for n in (30, 1000):
        assert moves(SIZED[case](n), random_pairs(domain, n, 60))[0] <= 1
    assert 0.9 <= moves(SIZED[case](10_000), tight_pairs(domain, 10_000))[0] <= 1


@pytest.mark.parametrize("case", SIZED)
def test_scores_of_dependence_declare_6n_or_4n_where_every_candidate_has_a_side_of_two(case: str) -> None:
    two = case in ("dependences of two values", "dependences on a coarse parent")
    assert dependences(case, 100).sensitivity() == (400 if two else 600)


def test_a_score_of_dependence_is_exact_beyond_64_bits_and_zero_for_independent_columns() -> None:
    n = 2**40
    table = Table.from_rows(small_domain(2, 2), [[0, 0], [1, 1]], [n // 2, n // 2])
    assert Dependences(table.domain, PAIR, n).values(table) == [n * n]
    flat = Table.from_rows(small_domain(2, 2), [[0, 0], [0, 1], [1, 0], [1, 1]], [3, 6, 5, 10])
    assert Dependences(flat.domain, (*PAIR, ("a", ())), 24).values(flat) == [0, 0]
    with pytest.raises(ValueError):
        Dependences(flat.domain, PAIR, 23).check(flat.domain, 24)


def test_every_listed_mechanism_and_score_is_here() -> None:
    assert {type(case) for case in CASES.values()} == set(MECHANISMS) - set(learners(DOMAIN)), (
        "what somebody learns from has its contract in tests/privacy/mechanisms"
    )
    every = [*CASES.values(), *(case(2) for case in SIZED.values())]
    assert {type(c.scores) for c in every if isinstance(c, NoisySelection)} == set(SCORES)


@pytest.mark.parametrize("kind", [*MECHANISMS, *QUERIES, *SCORES])
def test_each_is_frozen_and_carries_its_proof(kind: type) -> None:
    mechanism = ("Replace one record", "[A]", "[B]") if issubclass(kind, Mechanism) else ()
    require_proof(kind, *mechanism)


@dataclass(frozen=True)
class HalfNoise(NoisyMarginals):
    """Mutant: noise for one changed cell, where a replacement changes two."""

    sensitivity: ClassVar[int] = 1


@dataclass(frozen=True)
class TwiceTheNoise(NoisyMarginals):
    """Mutant: noise for four changed cells."""

    sensitivity: ClassVar[int] = 4


@dataclass(frozen=True)
class Cheaper(NoisyMarginals):
    """Mutant: the largest ε in place of their sum."""

    def cost(self) -> Cost:
        return Cost(max(epsilon for _, epsilon in self.marginals))


@dataclass(frozen=True)
class SeenOnly(NoisyMarginals):
    """Mutant: no noise for empty cells, which tells that they are empty."""

    def _sample(self, table: Table, noise: Noise) -> tuple[Measurement, ...]:
        for clique, epsilon in self.marginals:
            counts = table.marginal(clique).ravel()
            noise.laplace(counts[counts > 0], self.sensitivity, epsilon)
        return ()


@dataclass(frozen=True)
class Trusting(NoisyMarginals):
    """Mutant: it does not look at the public domain."""

    def check(self, domain: Domain, n: int) -> None:
        pass


@dataclass(frozen=True)
class Unproved(NoisyMarginals):
    """Mutant: it works, but nobody says why."""


@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        (HalfNoise, "by more than it asks noise for"),
        (TwiceTheNoise, "no record moves it"),
        (Cheaper, "cost is not the sum"),
        (SeenOnly, "depends on the table"),
        (Trusting, "does not fit"),
        (Unproved, "no Theorem"),
    ],
)
def test_a_mechanism_that_breaks_the_contract_is_caught(mutant: type[NoisyMarginals], words: str) -> None:
    asked = mutant(((("a",), HALF), (("b",), Fraction(1, 3))))
    with pytest.raises(Broken, match=words):
        check_mechanism(asked, DOMAIN, 3)


@dataclass(frozen=True)
class HalfTheSquare(NoisyMarginals):
    """Mutant: Gaussian noise for one changed cell, where a replacement changes two."""

    square: ClassVar[int] = 1


@dataclass(frozen=True)
class TwiceTheSquare(NoisyMarginals):
    """Mutant: the L1 distance squared, where the L2 distance is meant."""

    square: ClassVar[int] = 4


@dataclass(frozen=True)
class RhoAsEpsilon(NoisyMarginals):
    """Mutant: Laplace noise at an ε of the size of ρ; the cost is that of the ρ."""

    def _sample(self, table: Table, noise: Noise) -> tuple[Measurement, ...]:
        for clique, share in self.marginals:
            noise.laplace(table.marginal(clique), self.sensitivity, Fraction(share))
        return ()


@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        (HalfTheSquare, "by more than it asks noise for"),
        (TwiceTheSquare, "no record moves it"),
        (RhoAsEpsilon, "cost is not the sum"),
    ],
)
def test_a_mutant_of_gaussian_marginals_is_caught(mutant: type[NoisyMarginals], words: str) -> None:
    with pytest.raises(Broken, match=words):
        check_mechanism(mutant(((("a",), Rho(1, 2)), (("b",), Rho(1, 3)))), DOMAIN, 3)


@dataclass(frozen=True)
class Flipped(NoisySelection):
    """Mutant: permute-and-flip at the ε whose ε²/8 is ρ: it is ε²/2-zCDP only."""

    def _sample(self, table: Table, noise: Noise) -> int:
        units = [int(self.grid * score) for score in self.scores.values(table)]
        return noise.argmax(units, self.units, Fraction((8 * float(self.epsilon)) ** 0.5))


def test_permute_and_flip_is_not_charged_as_the_exponential_mechanism() -> None:
    scores = MarginalDistances(((("a",), np.array([1, 2])), (("a", "b"), MODEL)))
    check_mechanism(NoisySelection(scores, Rho(1, 8)), DOMAIN, 3, draws=False)
    with pytest.raises(Broken, match="cost is not the sum"):
        check_mechanism(Flipped(scores, Rho(1, 8)), DOMAIN, 3)


def test_what_is_proved_for_an_epsilon_takes_no_rho_and_the_other_way_round() -> None:
    moments = CASES["moments"]
    assert isinstance(moments, NoisyMoments)
    for refused in (replace(moments, epsilon=Rho(1, 2)), NoisyScores(LONG, 4, HALF)):
        with pytest.raises(ValueError, match="does not fit"):
            refused.check(DOMAIN, 3)


def _unclipped(scores: RowScores, codes: Codes, most: int) -> Ints:
    """Mutant: rows as they are."""
    return scores.of(codes)


def _by_floor(scores: RowScores, codes: Codes, most: int) -> Ints:
    """Mutant: numbers are rounded down, so negative ones grow."""
    found = scores.of(codes)
    norm = np.maximum(1, np.abs(found).sum(axis=1, keepdims=True))
    return np.where(norm > most, found * most // norm, found)


def _by_ceiling(scores: RowScores, codes: Codes, most: int) -> Ints:
    """Mutant: sizes are rounded up."""
    found = scores.of(codes)
    norm = np.maximum(1, np.abs(found).sum(axis=1, keepdims=True))
    return np.where(norm > most, -np.sign(found) * (-np.abs(found) * most // norm), found)


def _each_alone(scores: RowScores, codes: Codes, most: int) -> Ints:
    """Mutant: each number of a row is clipped by itself."""
    return np.clip(scores.of(codes), -most, most)


@pytest.mark.parametrize("mutant", [_unclipped, _by_floor, _by_ceiling, _each_alone])
def test_scores_that_are_clipped_in_another_way_are_caught(
    mutant: Callable[..., Ints], monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = RowScores(DOMAIN, tuple((Factor(0, ((("b",), np.array([-s, s, 0])),)),) for s in (5, 5, 5)))
    long = NoisyScores(replace(deep, norm=2), 7, Rho(1, 2))
    check_mechanism(NoisyScores(deep, 7, HALF), DOMAIN, 2, reach=0.8, draws=False)
    check_mechanism(long, DOMAIN, 2, reach=0.5, draws=False)
    monkeypatch.setattr(RowScores, "clipped", mutant)
    with pytest.raises(Broken, match="by more than it asks noise for"):
        check_mechanism(NoisyScores(deep, 7, HALF), DOMAIN, 2, reach=0.8, draws=False)
    if mutant in (_unclipped, _each_alone):
        with pytest.raises(Broken, match="by more than it asks noise for"):
            check_mechanism(long, DOMAIN, 2, reach=0.5, draws=False)


def test_rows_whose_root_is_rounded_down_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """√75 = 8.66: by 8 in its place three scores of 5 stay 5, and their norm is above 8."""
    deep = RowScores(DOMAIN, tuple((Factor(0, ((("b",), np.array([-5, 5, 0])),)),) for _ in range(3)), norm=2)
    check_mechanism(NoisyScores(deep, 8, Rho(1, 2)), DOMAIN, 2, reach=0.5, draws=False)
    monkeypatch.setattr(RowScores, "norms", lambda _, found: np.sqrt((found**2).sum(axis=1)).astype(np.int64))
    with pytest.raises(Broken, match="by more than it asks noise for"):
        check_mechanism(NoisyScores(deep, 8, Rho(1, 2)), DOMAIN, 2, reach=0.5, draws=False)


@dataclass(frozen=True, eq=False)
class HalfTheClip(NoisyScores):
    """Mutant: noise for the record that comes, none for the one that goes."""

    @property
    def units(self) -> int:
        return self.most


@dataclass(frozen=True, eq=False)
class ClippedAtTheEnd(NoisyScores):
    """Mutant: sums are clipped, not rows."""

    def _sample(self, table: Table, noise: Noise) -> Ints:
        sums = table.counts @ self.scores.of(table.codes)
        return noise.laplace(np.clip(sums, -9 * self.most, 9 * self.most), self.units, self.epsilon)


@pytest.mark.parametrize("mutant", [HalfTheClip, ClippedAtTheEnd])
def test_a_mutant_of_noisy_scores_is_caught(mutant: type[NoisyScores]) -> None:
    with pytest.raises(Broken, match="by more than it asks noise for"):
        check_mechanism(mutant(RowScores(DOMAIN, WAVES.functions[:1]), 1, HALF), DOMAIN, 3)


class Blunt(WorstSum):
    """A query of a class of its own, with a sensitivity of its own."""

    def sensitivity(self) -> Fraction:
        return Fraction(1, 1000)


class BluntDistances(MarginalDistances):
    """The same of scores."""

    def sensitivity(self) -> Fraction:
        return Fraction(1, 1000)


@pytest.mark.parametrize(
    "broken",
    [
        lambda: NoisyScores(WAVES, 0, HALF),
        lambda: NoisyAnswer(Blunt(count(("a",), [1, 0]).parts), HALF),
        lambda: NoisySelection(BluntDistances(((("a",), np.array([1, 1])),)), HALF),
        lambda: NoisyScores(WAVES, 2**62, HALF),
        lambda: NoisyScores(WAVES, 1, Fraction(0)),
        lambda: NoisyMarginals(()),
        lambda: NoisyMarginals(((("a",), Fraction(0)),)),
        lambda: NoisyMarginals(((("a",), HALF), (("a",), HALF))),
        lambda: NoisyAnswer(count(("a",), [1, 0]), Fraction(0)),
        lambda: NoisyAnswer(count(("a",), [1, 0]), HALF, 0),
        lambda: NoisyAnswer(object(), HALF),  # type: ignore[arg-type]
        lambda: NoisySelection(object(), HALF),  # type: ignore[arg-type]
        lambda: NoisySelection(MarginalDistances(((("a",), np.array([1, 1])),)), Fraction(0)),
        lambda: NoisySelection(MarginalDistances(((("a",), np.array([1, 1])),)), HALF, 0),
        lambda: MarginalDistances(((("a",), np.array([0.5, 0.5])),)),
        lambda: MarginalDistances(((("a",), np.array([1, 1])),), weights=(Fraction(0),)),
    ],
)
def test_what_has_no_guarantee_cannot_be_built(broken: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        broken()


def test_a_selection_s_grid_is_as_fine_as_integers_allow() -> None:
    scores = MarginalDistances(((("a",), np.array([1, 1])),))
    most = int(LARGEST / (2 * scores.sensitivity()))
    NoisySelection(scores, HALF, most)
    with pytest.raises(ValueError):
        NoisySelection(scores, HALF, most + 1)


@pytest.mark.parametrize(("share", "scale"), [(HALF, 2 / 0.5**2), (Rho(1, 8), 1 / (2 / 8))])
def test_scores_say_the_variance_of_their_noise(share: Fraction, scale: float) -> None:
    asked = NoisyScores(WAVES, 3, share)
    assert asked.units > 2 and asked.variance == pytest.approx(float(asked.units) ** 2 * scale)


def test_outputs_are_integers_on_the_declared_grid() -> None:
    table = Table.from_rows(DOMAIN, [[0, 0], [1, 2]])
    noisy = CASES["evenly"]._sample(table, RehearsalNoise(1))
    assert all((one.counts == np.rint(one.counts)).all() for one in noisy)
    answer = CASES["count on a grid"]._sample(table, RehearsalNoise(1))
    assert isinstance(answer.units, int)
    assert answer.value == Fraction(answer.units, 7)

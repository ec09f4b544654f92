"""A search's outcome: the same for every number of workers, also where mechanisms fail at random."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy import curator as curator_module
from facsimile.privacy.budget import Cost
from facsimile.privacy.curator import Allowance, Curator
from facsimile.privacy.ledger import MemoryLedger, Receipt
from facsimile.privacy.mechanisms import Mechanism, search
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import Coin
from facsimile.privacy.noise import Noise, RehearsalNoise, SystemNoise
from facsimile.privacy.reader import rehearse
from facsimile.privacy.transcript import INDEX
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain

ONE = Fraction(1)
DOMAIN = small_domain(2)
TABLE = Table.from_rows(DOMAIN, [[0], [1]])
PLAN = Plan(ONE, ONE, ONE, Coin(false_accept=Fraction(1, 20), gamma=Fraction(1, 5)))
SIDES, SEEDS, SEARCHES = 4, 150, 1200
Index = Callable[[Allowance, int], int | None]


class Chancy(Mechanism[int]):
    """A number below four; instead of zero, a failure."""

    def cost(self) -> Cost:
        return Cost(ONE / 2)

    def check(self, domain: Domain, n: int) -> None:
        pass

    def _sample(self, table: Table, noise: Noise) -> int:
        drawn = noise.below(SIDES)
        return drawn // int(bool(drawn))


class Sure(Chancy):
    def _sample(self, table: Table, noise: Noise) -> int:
        return 1


class Failing(Chancy):
    def _sample(self, table: Table, noise: Noise) -> int:
        return 1 // 0


class Own:
    """Noise of which every index has its own, whatever runs beside it."""

    def __init__(self, seed: int) -> None:
        self.noises: dict[int, Noise] = defaultdict(lambda: RehearsalNoise(1000 * seed + INDEX.get()))

    def below(self, n: int) -> int:
        return self.noises[INDEX.get()].below(n)

    def coin(self, probability: Fraction) -> bool:
        return self.noises[INDEX.get()].coin(probability)


class Backwards:
    """A pool in which whatever was submitted later has ended before the lowest one begins."""

    def __init__(self, workers: int) -> None:
        self.pending: list[Lazy] = []

    def __enter__(self) -> Backwards:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, call: Callable[..., Any], *given: Any) -> Lazy:
        self.pending.append(Lazy(self, lambda: call(*given)))
        return self.pending[-1]


class Lazy:
    def __init__(self, pool: Backwards, call: Callable[[], Any]) -> None:
        self.pool, self.call = pool, call
        self.answer: Any = None

    def run(self) -> None:
        try:
            self.answer = self.call()
        except FacsimileError as error:
            self.answer = error

    def result(self) -> Any:
        while self.pool.pending:
            self.pool.pending.pop().run()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curator_module, "MECHANISMS", (Chancy, Sure, Failing))


class Ends(MemoryLedger):
    """A ledger that notes how charges end."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: list[str] = []

    def close(self, receipt: Receipt, kind: Any = "done") -> None:
        self.ends.append(kind)
        super().close(receipt, kind)


def curated(noise: Any, ledger: MemoryLedger | None = None) -> Curator:
    return Curator(rehearse(TABLE), ledger or MemoryLedger(), noise)


def twice(answers: Allowance, number: int) -> int | None:
    """Two questions, each of which may fail: accepted where both give three."""
    first, second = answers.run(Chancy()), answers.run(Chancy())
    return number if first == second == SIDES - 1 else None


def ended(noise: Any, workers: int, index: Index = twice) -> int | str | None:
    """The number of the accepted index, None for a halt, the code of a failure."""
    try:
        with curated(noise).search(PLAN, "search") as under:
            return under.find(index, workers)
    except FacsimileError as error:
        return error.code


@pytest.mark.parametrize("pool", ["threads", "backwards"])
def test_the_same_draws_end_in_the_same_outcome_for_every_number_of_workers(
    pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = [ended(Own(seed), 1) for seed in range(SEEDS)]
    kinds = Counter(type(outcome) for outcome in alone)
    assert min(kinds[int], kinds[str], kinds[type(None)]) > SEEDS // 25, "each outcome is among them"
    if pool == "backwards":
        monkeypatch.setattr(search, "ThreadPoolExecutor", Backwards)
    for workers in (2, 4):
        assert [ended(Own(seed), workers) for seed in range(SEEDS)] == alone


def test_as_many_searches_end_in_a_release_as_the_law_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four workers, and what runs beside the lowest index ends before it begins: fails once in 10⁶ runs.

    An index fails with probability 1 − (3/4)² = 7/16, succeeds with 3/16 and is rejected with 6/16. So
    P[release] = (3/16)/(1 − (1−γ)·6/16); by Hoeffding's bound the share is within √(ln(2·10⁶)/2N) of it.
    """

    def index(answers: Allowance, number: int) -> int | None:
        answers.run(Chancy())
        return number if answers.run(Chancy()) == 1 else None

    monkeypatch.setattr(search, "ThreadPoolExecutor", Backwards)
    released = sum(isinstance(ended(SystemNoise(), 4, index), int) for _ in range(SEARCHES)) / SEARCHES
    law = Fraction(3, 16) / (1 - Fraction(4, 5) * Fraction(6, 16))
    assert abs(released - float(law)) < math.sqrt(math.log(2e6) / (2 * SEARCHES))


def test_an_index_in_which_a_mechanism_failed_is_accepted_by_nobody() -> None:
    """Whoever catches the failure and goes on has failed all the same."""

    def index(answers: Allowance, number: int) -> int | None:
        with pytest.raises(FacsimileError, match="E701"):
            answers.run(Failing())
        with pytest.raises(FacsimileError, match="E701"):
            answers.recoded(DOMAIN, {}).run(Sure())
        return number

    assert ended(RehearsalNoise(1), 1, index) == "E701"


def test_an_index_that_fails_ends_all_answers_of_its_search() -> None:
    with pytest.raises(FacsimileError, match="E304"), curated(RehearsalNoise(1)).search(PLAN, "x") as under:
        with pytest.raises(FacsimileError, match="E701"):
            under.find(lambda answers, _: answers.run(Failing()))
        under.after()


def test_a_failure_before_the_search_ends_it() -> None:
    with pytest.raises(FacsimileError, match="E701"), curated(RehearsalNoise(1)).search(PLAN, "x") as under:
        with pytest.raises(FacsimileError, match="E701"):
            under.once().run(Failing())
        under.find(lambda answers, _: answers.run(Sure()))


def test_a_failure_after_the_decision_ends_the_charge_and_is_not_tried_again() -> None:
    """It is an outcome of what is measured; another try under the same charge would be an answer for free."""
    ledger = Ends()
    with (
        pytest.raises(FacsimileError, match="E701"),
        curated(RehearsalNoise(1), ledger).search(PLAN, "x") as under,
    ):
        under.find(lambda answers, _: answers.run(Sure()))
        under.decide()
        under.after().run(Failing())
    assert ledger.ends == ["stopped"]

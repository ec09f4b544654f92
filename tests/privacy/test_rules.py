"""Rules P1–P9 hold, and each check fails when its rule is broken."""

from __future__ import annotations

import copy
import pickle
import sys
from contextlib import nullcontext, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy import curator as curator_module
from facsimile.privacy.budget import Cost, Rho
from facsimile.privacy.curator import Allowance, Curator, Spending
from facsimile.privacy.ledger import MemoryLedger, Receipt
from facsimile.privacy.mechanisms import (
    MECHANISMS,
    Mechanism,
    NoisyAnswer,
    NoisyMarginals,
    NoisyMoments,
    NoisyScores,
)
from facsimile.privacy.mechanisms.search import Approximate
from facsimile.privacy.noise import Noise, RehearsalNoise
from facsimile.privacy.private import Private
from facsimile.privacy.queries import WorstSum
from facsimile.privacy.queries.sums import Sums
from facsimile.privacy.reader import rehearse
from facsimile.table.domain import Domain
from facsimile.table.scores import Factor, RowScores
from facsimile.table.table import Table
from facsimile.testing.neighbours import small_domain
from plans import plan
from rules import RULES, Sources, sources

SOURCE = Path(curator_module.__file__).parent.parent
DOMAIN = small_domain(2, 3)
TABLE = Table.from_rows(DOMAIN, [[0, 1], [1, 2], [1, 2]])
ONE = Fraction(1)

BREAKS: dict[str, list[tuple[str, str, str]]] = {
    "p1": [
        ("table/table.py", "import numpy as np", "import numpy as np\nPrivate(1)"),
        ("privacy/ledger.py", "import secrets", "import secrets\nx._open()"),
        ("privacy/curator.py", "def _check_maps(", "def f(x): x._open()\ndef _check_maps("),
        ("privacy/curator.py", "def _check_maps(", "def f(x): x._recoded(print)\ndef _check_maps("),
        ("acceptance/groups.py", "import numpy as np", "import numpy as np\nx._Private__value"),
    ],
    "p2": [
        ("privacy/mechanisms/marginals.py", "@dataclass(", "class New(Mechanism[int]): pass\n@dataclass("),
        ("acceptance/groups.py", "import numpy as np", "import numpy as np\nmechanism._sample(table, noise)"),
        ("table/fit.py", "def fit(", "class Peek(Mechanism[int]): pass\ndef fit("),
    ],
    "p3": [
        ("privacy/curator.py", ")\n        receipt =", "); self._sample(1)\n        receipt ="),
        ("privacy/curator.py", "            receipt.use()\n            return self", "            return self"),
    ],
    "p4": [
        ("privacy/mechanisms/marginals.py", "@dataclass(frozen=True)", "@dataclass"),
        ("privacy/mechanisms/marginals.py", "    def cost(self)", "    def price(self)"),
        ("acceptance/groups.py", "import numpy as np", "import numpy as np\nCost(1)"),
    ],
    "p5": [
        ("privacy/curator.py", "or mechanism.neighbours != NEIGHBOURS", ""),
        ("privacy/mechanisms/answers.py", "Replace one record", "Add or remove one record"),
    ],
    "p6": [
        ("privacy/mechanisms/marginals.py", "from dataclasses", "import random\nfrom dataclasses"),
        ("privacy/mechanisms/answers.py", "drawn = noisy", "np.random.default_rng(1); drawn = noisy"),
        ("privacy/reader.py", "def read(data: Any", "def read(seed: int, data: Any"),
        ("privacy/noise.py", "class SystemNoise(Noise):", "class SystemNoise(Noise):\n    seed: int"),
    ],
    "p7": [
        ("privacy/mechanisms/marginals.py", "Cost())", "Cost(0.5))"),
        ("privacy/modes.py", "return (2 - self.a) * one", "return float(2 - self.a) * one"),
        ("privacy/modes.py", "return self.a / index", "return 0.5 / index"),
        ("privacy/renyi.py", "order * Fraction(self.rho)", "order * float(self.rho)"),
    ],
    "p8": [
        ("privacy/reader.py", "return rehearse(table)", "print(table)"),
        ("privacy/curator.py", "import contextlib", "import contextlib, logging"),
        ("privacy/curator.py", "failed.append(type(", "raise refusal('E701', name=''); str(str("),
    ],
    "p9": [("privacy/private.py", "__repr__", "__show__"), ("privacy/private.py", "__len__ = ", "")],
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_holds(rule: str) -> None:
    assert RULES[rule](sources(SOURCE)) == []


@pytest.mark.parametrize(("rule", "case"), [(r, c) for r, cases in BREAKS.items() for c in range(len(cases))])
def test_the_check_fails_when_the_rule_is_broken(rule: str, case: int) -> None:
    path, old, new = BREAKS[rule][case]
    files: Sources = sources(SOURCE)
    assert old in files[path]
    files[path] = files[path].replace(old, new)
    assert RULES[rule](files) != []


class Watch(MemoryLedger):
    """A ledger that notes the order of events."""

    def __init__(self, events: list[str]) -> None:
        super().__init__(Fraction(3))
        self.events = events

    def charge(self, cost: Cost, purpose: str) -> Receipt:
        receipt = super().charge(cost, purpose)
        self.events.append("charged")
        return receipt

    def close(self, receipt: Receipt, kind: str = "done") -> None:
        self.events.append(kind)


class Failing(Mechanism[int]):
    """A mechanism whose failure would tell about the table."""

    def cost(self) -> Cost:
        return Cost(ONE)

    def check(self, domain: Domain, n: int) -> None:
        pass

    def _sample(self, table: Table, noise: Noise) -> int:
        raise ValueError(f"sentinel {table.n}")


class Elsewhere(Failing):
    """A mechanism proved for other neighbours."""

    neighbours = "add-remove"


def curated(events: list[str]) -> Curator:
    class Watching(RehearsalNoise):
        def laplace(self, values: Any, sensitivity: int, epsilon: Fraction) -> Any:
            events.append("sampled")
            return super().laplace(values, sensitivity, epsilon)

    return Curator(rehearse(TABLE), Watch(events), Watching(1))


def test_p3_the_charge_comes_before_the_table_is_opened() -> None:
    events: list[str] = []
    curated(events).run(NoisyMarginals(((("a",), ONE),)))
    assert events == ["charged", "sampled", "done"]


def test_p3_without_budget_the_table_stays_closed() -> None:
    events: list[str] = []
    with pytest.raises(FacsimileError) as refused:
        curated(events).run(NoisyMarginals(((("a",), Fraction(4)),)))
    assert (refused.value.code, refused.value.exit_code, events) == ("E301", 3, [])


def test_p2_a_mechanism_that_is_not_listed_is_refused() -> None:
    events: list[str] = []
    with pytest.raises(FacsimileError) as refused:
        curated(events).run(Failing())
    assert (refused.value.code, events) == ("E305", [])


class Quiet(NoisyMarginals):
    """A listed mechanism, but for its noise."""

    def _sample(self, table: Table, noise: Noise) -> Any:
        return table.marginal(("a",))


def test_p2_nor_is_a_class_of_its_own_that_inherits_from_a_listed_one() -> None:
    events: list[str] = []
    with pytest.raises(FacsimileError) as refused:
        curated(events).run(Quiet(((("a",), Fraction(1)),)))
    assert (refused.value.code, events) == ("E305", [])


def test_p5_a_mechanism_for_other_neighbours_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curator_module, "MECHANISMS", (Failing, Elsewhere))
    events: list[str] = []
    with pytest.raises(FacsimileError) as refused:
        curated(events).run(Elsewhere())
    assert (refused.value.code, events) == ("E305", [])


def test_p8_a_failure_says_only_which_mechanism_and_stays_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curator_module, "MECHANISMS", (Failing,))
    events: list[str] = []
    with pytest.raises(FacsimileError) as failed:
        curated(events).run(Failing())
    error = failed.value
    assert (error.code, error.exit_code, events) == ("E701", 1, ["charged", "stopped"])
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "sentinel" not in f"{error} {error!r}"


def test_p9_private_shows_nothing() -> None:
    box = rehearse(TABLE).private
    assert repr(box) == str(box) == "Private()"
    for look in (len, iter, bool, hash, pickle.dumps, copy.copy, copy.deepcopy, int, float, np.asarray, list):
        with pytest.raises(TypeError):
            look(box)
    looks: list[Any] = [lambda: box == box, lambda: box != 1, lambda: box < 1, lambda: 1 in box, lambda: box[0]]
    for look_again in looks:
        with pytest.raises(TypeError):
            look_again()
    with pytest.raises(TypeError):
        f"{box:5}"
    with pytest.raises(TypeError):
        type("Sub", (Private,), {})
    assert not hasattr(box, "__dict__")


def test_the_folder_stays_small_enough_to_read() -> None:
    lines = sum(len(text.splitlines()) for path, text in sources(SOURCE).items() if path.startswith("privacy/"))
    assert lines < 4400


def test_each_part_of_a_search_is_given_once_and_in_its_own_size() -> None:
    events: list[str] = []
    question = NoisyMarginals(((("a",), ONE),))
    with curated(events).search(plan(ONE, after=ONE), "search") as search:
        for part in (search.once(), search.after()):
            with (
                pytest.raises(FacsimileError, match="E304")
                if part.spending.options == (Cost(),)
                else nullcontext()
            ):
                part.run(question)
        assert search.find(lambda answers, _: answers.run(question)) is not None
        for again in (search.once, search.after, lambda: search.find(lambda *_: None)):
            with pytest.raises(FacsimileError, match="E304"):
                again()
    assert events == ["charged", "sampled", "sampled", "done"]


def test_an_index_with_delta_spends_one_of_its_options_and_no_mixture() -> None:
    """ρ and pure ε, or the (ε, δ) of a family with its own accounting: never more ρ, never both."""
    delta = Fraction(1, 10**6)
    beside = Approximate.of(ONE, delta, delta)
    rho, half = Rho(beside.rho), Rho(beside.rho) / 2
    chosen = replace(plan(ONE / 4), approximate=beside)
    own = Cost(ONE, delta)

    def tables(share: Fraction) -> NoisyMarginals:
        return NoisyMarginals(((("a",), share),))

    def index(answers: Allowance, _: int) -> str:
        answers.run(tables(half))
        answers.run(tables(ONE / 4))
        for more in (rho, Rho(half + Rho(1, 10**12)), Fraction(1, 10**9)):
            with pytest.raises(FacsimileError, match="E304"):
                answers.run(tables(more))
        with pytest.raises(FacsimileError, match="E304"):
            answers.spending.pay(own)
        answers.run(tables(half))
        return "found"

    with Curator.rehearsal(rehearse(TABLE), 1).search(chosen, "search") as search:
        with pytest.raises(FacsimileError, match="E304"):
            search.once().run(tables(half))
        assert search.find(index) == "found"
    spending = Spending(*chosen.spendable(chosen.index, first=False))
    spending.pay(own)
    for more in (Cost(delta=delta), Cost(rho=Fraction(1, 10**12)), Cost(ONE)):
        with pytest.raises(FacsimileError, match="E304"):
            spending.pay(more)
    spending.pay(Cost(ONE / 4))


def test_an_index_cannot_spend_what_belongs_to_another() -> None:
    """An allowance ends with its index, however long somebody keeps it."""
    kept: list[Allowance] = []
    question = NoisyMarginals(((("a",), ONE / 2),))

    def index(answers: Allowance, number: int) -> str | None:
        kept.append(answers)
        for earlier in kept[:-1]:
            with pytest.raises(FacsimileError, match="E304"):
                earlier.run(question)
        answers.run(question)
        return "found" if number == 3 else None

    with curated([]).search(plan(ONE, mode="paper"), "search") as search:
        assert search.find(index) == "found"
        with pytest.raises(FacsimileError, match="E304"):
            kept[-1].run(question)


def test_threads_of_one_index_cannot_overspend() -> None:
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            spending = Spending(Cost(ONE))
            paid: list[int] = []

            def pay(spending: Spending = spending, paid: list[int] = paid) -> None:
                with suppress(FacsimileError):
                    spending.pay(Cost(ONE))
                    paid.append(1)

            threads = [Thread(target=pay) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(paid) == 1
    finally:
        sys.setswitchinterval(switch)


def test_a_buffer_that_is_used_again_changes_no_question() -> None:
    """Δ is taken from the terms once; writing into the caller's array must not reach them."""
    terms = np.array([[0, 1]])
    question = NoisyAnswer(WorstSum((Sums(("a",), terms, (0,), (ONE,)),)), ONE)
    values = np.array([0, 1])
    moments = NoisyMoments(((("a",), values),), (("b",), np.array([0, 1, 2])), 1, ONE)
    entries = np.array([-1, 1])
    scores = NoisyScores(RowScores(DOMAIN, ((Factor(0, ((("a",), entries),)),),)), 9, ONE)
    before = question.units, moments.units
    terms *= 10**9
    values *= 10**9
    entries *= 10**9
    assert np.abs(scores._sample(TABLE, RehearsalNoise(1))).max() < 10**4
    assert (question.units, moments.units) == before
    assert question._sample(TABLE, RehearsalNoise(1)).units < 1000
    assert np.abs(moments._sample(TABLE, RehearsalNoise(1))).max() < 10**4


def test_nothing_is_answered_after_a_mechanism_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who catches the failure learns nothing more: not from the same table, not under other axes."""
    monkeypatch.setattr(curator_module, "MECHANISMS", (*MECHANISMS, Failing))
    question = NoisyMarginals(((("a",), ONE / 4),))
    with curated([]).search(plan(ONE / 2, once=2 * ONE), "search") as search:
        allowance = search.once()
        other = allowance.recoded(DOMAIN, {})
        allowance.run(question)
        with pytest.raises(FacsimileError, match="E701"):
            other.run(Failing())
        for closed in (allowance, other):
            with pytest.raises(FacsimileError, match="E701"):
                closed.run(question)


def test_a_curator_and_its_recodings_share_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    for fails_first in (True, False):
        curator = curated([])
        other = curator.recoded(DOMAIN, {})
        first, then = (curator, other) if fails_first else (other, curator)
        with monkeypatch.context() as broken:
            broken.setattr(NoisyMarginals, "_sample", lambda *_: 1 / 0)
            with pytest.raises(FacsimileError, match="E701"):
                first.run(NoisyMarginals(((("a",), ONE),)))
        with pytest.raises(FacsimileError, match="E701"):
            then.run(NoisyMarginals(((("a",), ONE),)))


@pytest.mark.parametrize(
    "maps",
    [
        {"a": [0]},
        {"a": [0, 1, 1]},
        {"a": [0, 2]},
        {"a": [0, -1]},
        {"b": [0, 0]},
        {"c": [0]},
        {"a": [0.5, 1]},
        {"a": []},
    ],
    ids=str,
)
def test_a_recoding_that_does_not_fit_is_refused_whatever_the_table_holds(maps: Any) -> None:
    """A short map once failed on the neighbour with the last code only, at no cost."""
    for rows in ([[0, 0], [0, 0]], [[0, 0], [1, 2]]):
        curator = Curator(rehearse(Table.from_rows(DOMAIN, rows)), MemoryLedger(), RehearsalNoise(1))
        with pytest.raises(FacsimileError, match="E306"):
            curator.recoded(DOMAIN, maps)
    with pytest.raises(FacsimileError, match="E306"):
        curator.recoded(small_domain(2), {})


def test_a_recoded_curator_has_no_ledger_of_its_own() -> None:
    events: list[str] = []
    curated(events).recoded(DOMAIN, {"a": [1, 0]}).run(NoisyMarginals(((("a",), ONE),)))
    assert events == ["charged", "sampled", "done"]


def test_a_question_that_does_not_fit_is_refused_before_the_charge() -> None:
    events: list[str] = []
    with pytest.raises(FacsimileError, match="E306"):
        curated(events).run(NoisyMarginals(((("stranger",), ONE),)))
    assert events == []

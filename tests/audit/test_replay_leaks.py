"""Leaks that were put in by hand: each is found by a replay, and by which part of it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from facsimile import errors
from facsimile.audit import replay, town
from facsimile.audit.replay import differences
from facsimile.audit.tape import longer
from facsimile.documents import readme
from facsimile.errors import FacsimileError
from facsimile.privacy import reader
from facsimile.privacy.curator import Search
from facsimile.privacy.mechanisms import Answer, NoisyAnswer, NoisyMarginals
from facsimile.privacy.noise import Noise
from facsimile.privacy.private import Sealed
from facsimile.privacy.queries.marginals import Unlikeness
from facsimile.release import bundle, run, writing
from facsimile.release.recipe import Recipe
from facsimile.release.scheme import Scheme
from facsimile.table.differences import smallest_one_way
from facsimile.table.table import Table
from replays import PAPER, family
from traces import CHANCY, HALT, TRACES, Planned, Twice, may_grow

pytestmark = pytest.mark.usefixtures("typeset_once")

Files = Callable[..., dict[str, bytes]]
COIN = TRACES["test-then-measure, coin"]
RATIOS = [{"criterion": "marginals-relative", "threshold": "30", "epsilon": "3"}]
RELATIVE = Planned(
    PAPER | {"statistic": "sharp", "criteria": RATIOS, "families": family("mst")},
    "the only one of its code gone",
    1,
)


def exact(table: Table) -> int:
    """A number that every replaced record moves."""
    return int(table.counts @ table.codes.sum(axis=1))


def found_in(folder: Path, plan: Planned) -> list[str]:
    """What a replay on the neighbour finds."""
    twice = Twice(folder, plan)
    return differences(twice.first, twice.again())


def found_after_one_more(folder: Path, plan: Planned) -> tuple[list[str], list[str]]:
    """What the neighbour shows, and what one more rejected candidate does."""
    twice = Twice(folder, plan)
    tracks = longer(twice.first.tape.tracks)
    assert tracks is not None
    return (
        differences(twice.first, twice.again()),
        differences(twice.first, twice.again(tracks=tracks), may_grow),
    )


@pytest.fixture(autouse=True)
def _no_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typesetting is a third of a release, and no leak below is in it."""
    monkeypatch.setattr(readme, "pdf", lambda *_, **__: b"")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """The confidential table, for leaks that look at it: the last one is that of the run."""
    found: list[Table] = []

    def read(*given: Any, really: Callable[..., Sealed] = reader.read) -> Sealed:
        sealed = really(*given)
        found.append(sealed.private._open())
        return sealed

    monkeypatch.setattr(run, "read", read)
    return found


def written(monkeypatch: pytest.MonkeyPatch, more: Callable[[], str]) -> None:
    """Something more in the report of every bundle."""

    def files(*given: Any, really: Files = bundle.files) -> dict[str, bytes]:
        found = really(*given)
        return found | {bundle.REPORT: found[bundle.REPORT] + more().encode()}

    monkeypatch.setattr(bundle, "files", files)


def test_the_honest_program_shows_nothing_where_leaks_are_put(tmp_path: Path) -> None:
    """The others' traces are clean by test_replay.py."""
    assert found_after_one_more(tmp_path, RELATIVE) == ([], [])


def test_the_number_of_iterations_in_the_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of noisy answers, so a neighbour cannot show it: one more rejected candidate does."""
    tried: list[int] = []

    def index(scheme: Scheme, *given: Any, really: Callable[..., Any] = Scheme.index) -> Any:
        tried.append(1)
        return really(scheme, *given)

    def told() -> str:
        count = len(tried)
        tried.clear()
        return f"{count} candidates"

    monkeypatch.setattr(Scheme, "index", index)
    written(monkeypatch, told)
    neighbour, one_more = found_after_one_more(tmp_path, CHANCY)
    assert neighbour == [] and one_more == ["another bundle/report.json"]


def test_an_exact_statistic_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: list[Table]
) -> None:
    written(monkeypatch, lambda: f'"exact": {exact(seen[-1])}')
    twice = Twice(tmp_path, COIN)
    assert differences(twice.first, twice.again()) == ["another bundle/report.json"]
    assert twice.first.opened == twice.first.tape.calls() + 1, "and the table was opened once too often"


def test_a_true_value_in_a_line_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sampled(
        mechanism: NoisyMarginals, table: Table, noise: Noise, really: Any = NoisyMarginals._sample
    ) -> Any:
        logging.getLogger(__name__).debug("rows: %s", table.counts.tolist())
        return really(mechanism, table, noise)

    monkeypatch.setattr(NoisyMarginals, "_sample", sampled)
    assert found_in(tmp_path, COIN) == ["another log"]


def test_an_order_of_rows_that_follows_the_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by the same table, its rows in another order."""

    def labelled(table: Table, really: Callable[[Table], pa.Table] = writing.labelled) -> pa.Table:
        seed = int.from_bytes(hashlib.sha256(Path("people.csv").read_bytes()).digest()[:8])
        return really(table).take(np.random.default_rng(seed).permutation(table.n))

    monkeypatch.setattr(bundle, "labelled", labelled)
    twice = Twice(tmp_path, COIN)
    found = differences(twice.first, twice.again(COIN.tables[0][::-1]))
    assert "another bundle/data.csv" in found and "another bundle/data.parquet" in found
    assert differences(twice.first, twice.again(COIN.tables[0])) == [], "the same rows in the same order"


def test_an_error_whose_words_follow_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: list[Table]
) -> None:
    def refusal(
        code: str, really: Callable[..., FacsimileError] = errors.refusal, **items: str
    ) -> FacsimileError:
        error = really(code, **items)
        error.sentence += f" ({exact(seen[-1])})"
        return error

    monkeypatch.setattr(run, "refusal", refusal)
    assert found_in(tmp_path, HALT) == ["another standard error"]


def test_an_exit_code_that_follows_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: list[Table]
) -> None:
    """The program breaks where a cell is empty."""

    def told() -> str:
        if not seen[-1].marginal(("sex",)).all():
            raise ValueError("no such record")
        return ""

    written(monkeypatch, told)
    found = found_in(tmp_path, CHANCY)
    assert "another exit code" in found and "another bundle/data.csv" in found


def test_configurations_that_are_dropped_after_they_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one is drawn from fewer: another question to chance than without the failure."""

    def drawn(scheme: Scheme) -> Recipe:
        space, failed = scheme.specification.space, vars(scheme).setdefault("failed", [])
        fresh = [place for place in range(space.size) if place not in failed]
        failed.append(fresh[scheme.below(len(fresh))])
        return Recipe(scheme.specification, space.configuration(failed[-1]))

    monkeypatch.setattr(Scheme, "drawn", drawn)
    neighbour, one_more = found_after_one_more(tmp_path, CHANCY)
    assert neighbour == []
    assert any("below is asked" in words for words in one_more)


def test_a_sensitivity_from_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: list[Table]
) -> None:
    """The smallest count of R in place of the candidate's: other noise is asked for."""

    def sensitivity(query: Unlikeness) -> Fraction:
        return Fraction(1, smallest_one_way(seen[-1] if seen else query.candidate) + 1)

    monkeypatch.setattr(Unlikeness, "sensitivity", sensitivity)
    found = found_in(tmp_path, RELATIVE)
    assert any("is asked, on the tape another" in words for words in found)


def test_an_answer_past_the_sampler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in so many answers is the truth: the tape knows what the sampler gave."""

    def sampled(mechanism: NoisyAnswer, table: Table, noise: Noise, really: Any = NoisyAnswer._sample) -> Any:
        answer = really(mechanism, table, noise)
        exact = mechanism.query.value(table, noise)
        return Answer(int(exact * answer.grid), answer.grid) if answer.units % 2 else answer

    monkeypatch.setattr(NoisyAnswer, "_sample", sampled)
    found = found_in(tmp_path, COIN)
    assert any("answered" in words for words in found)


def test_a_mechanism_that_fails_on_one_table_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What passes its check never fails: it would tell that a cell is empty."""

    def sampled(
        mechanism: NoisyMarginals, table: Table, noise: Noise, really: Any = NoisyMarginals._sample
    ) -> Any:
        if not table.marginal(("sex",)).all():
            raise ZeroDivisionError
        return really(mechanism, table, noise)

    monkeypatch.setattr(NoisyMarginals, "_sample", sampled)
    found = found_in(tmp_path, CHANCY)
    assert "another exit code" in found and "another standard error" in found


def test_the_evidence_of_an_audit_fails_with_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of the log that follows the table, and a look into the box that is no mechanism's."""

    def searched(spec: Any, search: Search, *given: Any) -> Any:
        table = search._curator._private._open()
        logging.getLogger(__name__).info("rows: %s", table.counts.tolist())
        return run.searched(spec, search, *given)

    case = "paper, until success"
    monkeypatch.setattr(town, "CASES", {case: town.CASES[case]})
    monkeypatch.setattr(replay, "searched", searched)
    found = {one.case.removeprefix(f"{case}: "): one for one in replay.evidence()}
    assert {name for name, one in found.items() if one.passed} == {replay.SHUFFLED, replay.FRESH}
    assert found[case].kind == "opened" and found[case].found == (found[case].declared or 0) + 1
    assert [one.found for one in found.values() if one.declared == 0 and not one.passed] == [1, 1]

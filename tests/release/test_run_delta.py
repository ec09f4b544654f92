"""A release with δ: every scheme and mode that has a theorem, charged once, and the others refused unread."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy.ledger import Ledger, State
from facsimile.release import bundle, run
from facsimile.release.check import check
from facsimile.release.opening import Opening
from facsimile.release.plan import plan_hash, plan_of
from facsimile.release.run import rehearsal, release
from facsimile.release.verify import verify
from facsimile.sources.address import Address
from releases import approximate, request, specification, write_data

pytestmark = pytest.mark.usefixtures("typeset_once")

DELTA = Fraction(1, 10**6)
UNPROVED: dict[str, dict[str, str]] = {
    "paper": {"mode": "paper"},
    "rising-coin": {"mode": "rising-coin", "a": "0.5"},
    "capped-coin": {"mode": "capped-coin", "gamma": "0.05", "epsilon_0": "0.1", "cap": "60"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    return tmp_path


def state(folder: Path) -> State:
    return Ledger.at(folder / "budget" / "people.ledger", key=folder / "people.csv.key").state()


def opened(folder: Path, delta: Fraction, again: bool = False, name: str = "people.ledger") -> None:
    opening = Opening.of(Address.of(folder / "people.csv"), folder / "budget" / name, None, None)
    opening.anew(Fraction(60), again, delta)


def refused(request: run.Request) -> str:
    with pytest.raises(FacsimileError) as caught:
        release(request)
    return caught.value.code


@pytest.mark.parametrize("mode", ["coin", "single"])
@pytest.mark.parametrize("scheme", ["test-then-measure", "train-once", "measured", "paper"])
def test_a_release_with_delta_is_charged_both_and_verifies(folder: Path, scheme: str, mode: str) -> None:
    """The ledger that it begins has room for its δ once: a second release is refused, and nothing is made."""
    spec = approximate(scheme, mode)
    said = release(request(folder, specification=spec))
    total = plan_of(spec).total()
    found = state(folder)
    assert [entry["kind"] for entry in found.entries] == ["open", "charge", "decided", "done"]
    charge = found.entries[1]
    assert (charge["delta"], Fraction(charge["micro"], 10**6)) == ("1/1000000", Fraction(said.epsilon))
    assert 0 <= Fraction(said.epsilon) - total.epsilon <= Fraction(1, 10**6) and total.delta == DELTA
    assert (found.delta, Fraction(found.cap, 10**6)) == (DELTA, spec.budget.total)
    assert said.ledger is not None and said.ledger.delta == said.delta == "0.000001"
    checked = verify(folder / "bundle")
    assert (checked.delta, checked.epsilon, checked.plan_hash) == ("0.000001", said.epsilon, plan_hash(spec))
    before = sorted(path.name for path in folder.rglob("*"))
    assert refused(request(folder, specification=spec, out=folder / "second")) == "E307"
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_a_delta_that_was_opened_for_two_releases_pays_for_two(folder: Path) -> None:
    opened(folder, 2 * DELTA)
    for name in ("first", "second"):
        said = release(request(folder, specification=approximate(), out=folder / name))
    assert said.ledger is not None and said.ledger.delta == "0.000002"
    assert refused(request(folder, specification=approximate(), out=folder / "third")) == "E307"
    pure = release(request(folder, specification=specification(), out=folder / "pure"))
    assert pure.delta is None and pure.ledger is not None and pure.ledger.delta == "0.000002"
    page = (folder / "pure" / bundle.PAGE).read_text(encoding="utf-8")
    assert "and δ 2 × 10⁻⁶ in all" in page and "What δ means" not in page
    verify(folder / "pure")


def test_a_delta_that_earlier_ledgers_had_spent_is_told(folder: Path) -> None:
    release(request(folder, specification=approximate(), out=folder / "first"))
    opened(folder, DELTA, again=True, name="second.ledger")
    said = release(request(folder, specification=approximate(), ledger=folder / "budget" / "second.ledger"))
    assert said.ledger is not None and (said.ledger.delta, said.ledger.before_delta) == ("0.000001",) * 2
    assert "and earlier ledgers of the same file" in (folder / "bundle" / bundle.PAGE).read_text()
    verify(folder / "bundle")


def test_a_ledger_without_delta_pays_for_none(folder: Path) -> None:
    opened(folder, Fraction(0))
    assert refused(request(folder, specification=approximate())) == "E307"
    assert [entry["kind"] for entry in state(folder).entries] == ["open"]


@pytest.mark.parametrize(
    ("scheme", "mode"),
    [
        pair
        for pair in product(("test-then-measure", "measured", "paper"), UNPROVED)
        if pair != ("measured", "paper")
    ],
)
def test_a_search_without_a_theorem_for_delta_is_refused_before_a_record_is_read(
    folder: Path, scheme: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = approximate(scheme, selection=UNPROVED[mode])
    with pytest.raises(FacsimileError, match="tried until it succeeds, shows it for certain") as caught:
        check(spec)
    assert caught.value.code == "E204"
    before = sorted(path.name for path in folder.rglob("*"))
    monkeypatch.setattr(run, "read", lambda *_: pytest.fail("a record was read"))
    assert refused(request(folder, specification=spec)) == "E204"
    assert sorted(path.name for path in folder.rglob("*")) == before


@pytest.mark.parametrize("mode", UNPROVED)
def test_where_the_fit_comes_before_the_search_every_mode_has_a_theorem(folder: Path, mode: str) -> None:
    spec = approximate("train-once", selection=UNPROVED[mode])
    found = {line.part: line for line in check(spec).budget}
    assert found["one iteration of the search"].epsilon == 2, "the search is pure"
    assert found["generator"].rho is not None
    assert release(request(folder, specification=spec)).delta == "0.000001"
    verify(folder / "bundle")


@pytest.mark.parametrize(
    ("family", "assumed"),
    [("dpctgan", "is an assumption, not a theorem"), ("patectgan", "through counts of votes alone")],
)
def test_a_neural_release_says_what_its_noise_assumes(folder: Path, family: str, assumed: str) -> None:
    own = {"batch_size": ["64"], "noise_multiplier": ["4"]} if family == "dpctgan" else {}
    spec = approximate(families=[{"family": family, "grid": {"epochs": ["2"], **own}}])
    notes = {line.family: line.note for line in check(spec).families}
    assert notes[family].startswith("accounts by itself: a fit has delta 0.0000000") is (family == "dpctgan")
    said = release(request(folder, specification=spec))
    assert said.fit is not None and (said.fit.rho is None) is (family == "dpctgan")
    assert state(folder).entries[1]["delta"] == "1/1000000"
    page = (folder / "bundle" / bundle.PAGE).read_text(encoding="utf-8")
    assert assumed in page and "no rounding has to be trusted" in page
    assert verify(folder / "bundle").delta == "0.000001"


@pytest.mark.parametrize("scheme", ["test-then-measure", "train-once", "measured", "paper"])
def test_a_rehearsal_with_delta_is_marked_and_the_same_for_its_seed(folder: Path, scheme: str) -> None:
    asked = request(folder, specification=approximate(scheme))
    made = [rehearsal(replace(asked, out=folder / name), 3).report for name in ("a", "b")]
    assert made[0] is not None and made[0] == made[1] and made[0].delta == "0.000001"
    assert verify(folder / "a", allow_rehearsal=True).rehearsal
    other = rehearsal(replace(asked, out=folder / "c", specification=_pure(scheme)), 3).report
    assert other is not None and other.data_hash != made[0].data_hash


def _pure(scheme: str) -> Any:
    spec = approximate(scheme)
    return spec.model_copy(update={"budget": spec.budget.model_copy(update={"delta": Fraction(0)})})


def test_the_plan_hash_names_the_delta(folder: Path) -> None:
    other = {"total": "30", "generator": "3", "test": "2", "delta": "0.0000001"}
    hashes = {plan_hash(s) for s in (approximate(), approximate(budget=other), _pure("test-then-measure"))}
    assert len(hashes) == 3
    release(request(folder, specification=approximate()))
    said = json.loads((folder / "bundle" / bundle.REPORT).read_text())
    assert said["plan_hash"] == plan_hash(approximate())

"""The commands for public data: what they print, what machines read, and what they refuse before any work."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from facsimile.cli import exploring
from facsimile.errors import refusal
from facsimile.explore import calibration
from facsimile.explore.setup import Setup
from facsimile.explore.study import Study
from facsimile.sources.address import Address
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import load
from programs import Program, Ran
from studies import Here, write_files

SHORT = ("--trials", 3, "--fresh", 8, "--steps", 1, "--finalists", 2)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_files(tmp_path_factory.mktemp("people"))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[Here]:
    """No processes: the pools that were made."""
    made: list[Here] = []

    def pool(setup: Setup, workers: int | None) -> Here:
        made.append(Here(setup, workers or 1))
        return made[-1]

    monkeypatch.setattr("facsimile.explore.pool.Local", pool)
    return made


@pytest.fixture(scope="module")
def study(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study."""
    spec, data = files
    path = tmp_path_factory.mktemp("study") / "people.study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("facsimile.explore.pool.Local", lambda setup, workers: Here(setup))
        exploring.explore_command(
            spec, Address.of(data), path, public=True, trials=3, fresh=8, steps=1, finalists=2, as_json=True
        )
    return path


def unwrapped(found: Ran) -> str:
    """What was printed, however wide the terminal is."""
    return " ".join(found.out.split())


def test_exploring_tells_what_survives_and_goes_on(
    run: Program, files: tuple[Path, Path], here: list[Here], tmp_path: Path
) -> None:
    spec, data = files
    command = ("explore", spec, "--data", data, "--public", "--out", tmp_path / "people.study", *SHORT)
    found = run(*command, "--json")
    assert (found.code, found.err) == (0, "")
    said = found.json
    assert said["finished"] and said["configurations"] == 12
    assert said["dropped"] + said["undecided"] + said["running"] + len(said["survivors"]) == 12
    assert run(*command, "--json").json == said, "nothing is run twice"
    shown = run(*command)
    assert shown.code == 0
    assert shown.out.splitlines()[0] == "People"
    assert "2,000 public records in people.csv; nothing here is protected" in shown.out
    assert f"{said['trials']:,} trials of 12 configurations" in shown.out
    assert f"Next: facsimile plan {tmp_path / 'people.study'}" in unwrapped(shown)
    assert len(here) == 3
    for changed in (("--seed", 2), ("--wanted", 0.2)):
        assert run(*command, *changed).complaints.startswith("E414 ")


def test_a_time_limit_leaves_something_for_the_next_time(
    run: Program, files: tuple[Path, Path], here: list[Here], tmp_path: Path
) -> None:
    spec, data = files
    command = ("explore", spec, "--data", data, "--public", "--out", tmp_path / "people.study", *SHORT)
    found = run(*command, "--time-limit", "0s")
    assert found.code == 0
    assert "still running" in found.out and "the same command goes on" in found.out
    assert "Next:" not in found.out
    assert run(*command, "--json").json["finished"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), "E208"),
        (("--public", "--time-limit", "soon"), "E001"),
        (("--public", "--time-limit", "-3s"), "E001"),
        (("--public", "--workers", "0"), "E001"),
        (("--public", "--wanted", "1"), "E001"),
        (("--public", "--trials", "2"), "E001"),
    ],
)
def test_what_is_refused_leaves_no_study(
    run: Program,
    files: tuple[Path, Path],
    here: list[Here],
    tmp_path: Path,
    arguments: tuple[str, ...],
    code: str,
) -> None:
    spec, data = files
    out = tmp_path / "people.study"
    found = run("explore", spec, "--data", data, "--out", out, *arguments)
    assert found.code == 2
    assert found.complaints.startswith(f"{code} ")
    assert found.err.count("\n") == 1
    assert not out.exists() and not here


def test_a_file_that_is_no_study_is_refused_and_kept(run: Program, files: tuple[Path, Path]) -> None:
    spec, data = files
    before = data.read_bytes()
    for command in (
        ("explore", spec, "--data", data, "--public", "--out", data),
        ("plan", data),
        ("report", data, "--out", data.with_name("page.html")),
    ):
        assert run(*command).complaints.startswith("E410 ")
    assert data.read_bytes() == before


def test_a_plan_for_people_and_for_machines(run: Program, study: Path, tmp_path: Path) -> None:
    written = tmp_path / "planned.yaml"
    found = run("plan", study, "--accept", "0.05", "--write", written, "--total", "9.98", "--json")
    assert (found.code, found.err) == (0, "")
    said = found.json
    spec = load(written)
    assert show_decimal(spec.budget.total) == said["total"]
    assert spec.scheme == said["scheme"]
    assert said["within"]["total"] == "9.98"
    assert {point["scheme"] for point in said["curve"]} == {
        "paper",
        "test-then-measure",
        "train-once",
        "measured",
    }
    chance = said["release"]
    assert 0 <= chance["low"] <= chance["probability"] <= chance["high"] <= 1
    shown = run("plan", study, "--accept", "0.05", "--total", "9.98")
    assert shown.code == 0
    assert "A total of 9.98 buys a release with probability" in shown.out
    assert "The intervals hold for data like the public file" in shown.out
    before = written.read_bytes()
    assert run("plan", study, "--accept", "0.05", "--write", written).complaints.startswith("E401 ")
    assert written.read_bytes() == before
    assert run("check", written).code == 0


def test_a_plan_is_calibrated_where_it_is_asked_to(
    run: Program, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, few in (("REHEARSALS", 1), ("REPLICATES", 2), ("ASKED", 240)):
        monkeypatch.setattr(calibration, name, few)
    written = tmp_path / "planned.yaml"
    wish = ("plan", study, "--accept", "0.05", "--total", "9.98", "--calibrate")
    assert run(*wish).complaints.startswith("E001 --calibrate needs --write")
    assert run(*wish, "--write", written, "--json").code == 0
    found = load(written).calibration
    assert found is not None and found.data == Study.open(study).data and "two-way" in found.kappa


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--total", "much"), "E001"), (("--total", "0"), "E001"), (("--accept", "0"), "E001")],
)
def test_a_plan_refuses_what_is_no_number(
    run: Program, study: Path, arguments: tuple[str, ...], code: str
) -> None:
    found = run("plan", study, *arguments)
    assert (found.code, found.out) == (2, "")
    assert found.complaints.startswith(f"{code} ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--accept", "0.999", "--scheme", "measured"), "E418"), (("--total", "0.1"), "E416")],
)
def test_a_wish_that_is_missed_is_refused_and_nothing_is_written(
    run: Program, study: Path, tmp_path: Path, arguments: tuple[str, ...], code: str
) -> None:
    written = tmp_path / "planned.yaml"
    found = run("plan", study, *arguments, "--write", written)
    assert (found.code, found.out) == (2, "")
    assert found.complaints.startswith(f"{code} ")
    assert not written.exists()


@pytest.mark.parametrize("wish", ["0.05", "0.3", "0.5", "0.7", "0.9"])
def test_a_plan_says_the_same_in_words_in_json_and_in_the_file(
    run: Program, study: Path, tmp_path: Path, wish: str
) -> None:
    """Total, probability, table, what is bought and what is written: all from one curve."""
    written = tmp_path / "planned.yaml"
    said = run("plan", study, "--accept", wish, "--json").json
    shown = run("plan", study, "--accept", wish, "--write", written)
    curve = [(point["variant"], Fraction(point["total"]), point["release"]) for point in said["curve"]]
    bounded = [total for scheme, total, release in curve if scheme != "paper" and release >= float(wish)]
    assert Fraction(said["total"]) == min(bounded) <= Fraction(said["within"]["total"]) == 60
    chance = said["release"]
    span = f"{chance['probability']:.3f} (95 %: {chance['low']:.3f} to {chance['high']:.3f})"
    assert chance["probability"] >= float(wish)
    lines = shown.out.splitlines()
    assert lines[1] == f"Total epsilon {said['total']}: a release with probability {span}"
    assert (chance["fresh_to_tell"] is None) == (chance["low"] >= float(wish))
    if chance["fresh_to_tell"] is not None:
        assert f"{chance['trials']} trials are too few to tell" in shown.out
        assert f"--fresh {chance['fresh_to_tell']} " in unwrapped(shown)
    start = next(place for place, line in enumerate(lines) if line.startswith("probability"))
    rungs = {line.split()[0]: re.split(r"  +", line.strip())[1:] for line in lines[start + 1 :] if line.strip()}
    for rung in ("0.1", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99", wish):
        for scheme, cell in zip(re.split(r"  +", lines[start])[1:], rungs[rung], strict=True):
            totals = [total for name, total, release in curve if name == scheme and release >= float(rung)]
            assert cell == (show_decimal(min(totals)) if totals else "not reached")
    bought = said["within"]["buys"]
    assert f"A total of 60 buys a release with probability {bought['release']:.3f} (" in shown.out
    assert bought["release"] == max(release for scheme, _, release in curve if scheme != "paper")
    assert run("check", written).code == 0
    assert show_decimal(load(written).budget.total) == said["total"]
    assert span in written.read_text(encoding="utf-8")


def test_the_papers_rule_for_people_and_for_machines(run: Program, study: Path, tmp_path: Path) -> None:
    """The same counts in words, in JSON and at the head of the file, the study's and a list."""
    written = tmp_path / "kept.yaml"
    command = ("plan", study, "--rule", "paper")
    found = run(*command, "--write", written, "--json")
    assert (found.code, found.err) == (0, "")
    said = found.json
    chance, kept = said["acceptance"], said["configurations"]
    assert said["raced"] == 12 and 0 < len(kept) < 12
    assert all(one["race"]["accepted"] >= 0.1 * one["race"]["trials"] for one in kept)
    assert chance["low"] < chance["probability"] < chance["high"]
    shares = [one["stated"]["accepted"] / one["stated"]["trials"] for one in kept]
    assert chance["probability"] == pytest.approx(sum(shares) / len(kept))
    spec, before = load(written), Study.open(study).declared
    assert spec.model_copy(update={"configurations": None}) == before
    assert {c.identifier for c in spec.space.listed or ()} == {one["identifier"] for one in kept}
    span = f"{chance['probability']:.3f} (95 %: {chance['low']:.3f} to {chance['high']:.3f})"
    shown = run(*command)
    assert f"{len(kept)} of 12 configurations were accepted in 10% or more of their trials" in shown.out
    assert f"A candidate is accepted with probability {span}; {said['candidates']:.1f} candidates" in unwrapped(
        shown
    )
    for one in kept:
        name, race = one["identifier"], one["race"]
        assert re.search(rf"^{name} +{race['accepted']}/{race['trials']} ", shown.out, re.MULTILINE)
    head = " ".join(written.read_text(encoding="utf-8").split("facsimile:")[0].replace("#", "").split())
    assert span in head and f"{len(kept)} of 12 configurations" in head
    flattered = f"--finalists {len(kept)} "
    assert chance["fresh"] == (flattered not in unwrapped(shown)) == (flattered not in head)
    checked = run("check", written)
    assert f"{len(kept)} of 12 configurations are listed" in checked.out
    assert run("check", written, "--json").json["configurations"]["allowed"] == 12
    assert run(*command, "--write", written).complaints.startswith("E401 ")


@pytest.mark.parametrize(
    "arguments",
    [("--accept", 0.9), ("--noise", 0.2), ("--scheme", "paper"), ("--total", 3), ("--keep", 0.05)],
    ids=lambda given: str(given[0]),
)
def test_the_papers_rule_changes_no_budget(
    run: Program, study: Path, tmp_path: Path, arguments: tuple[object, ...]
) -> None:
    written = tmp_path / "kept.yaml"
    found = run("plan", study, "--rule", "paper", *arguments, "--write", written)
    assert (found.code, found.out) == (2, "")
    assert found.complaints.startswith("E001 ") and not written.exists()


def test_a_report_says_where_it_is(run: Program, study: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    found = run("report", study, "--out", page)
    assert found.code == 0
    assert f"The page to read: {page}" in unwrapped(found)
    assert "2,000 public records in people.csv" in found.out
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert run("report", study, "--out", page).complaints.startswith("E401 ")


def test_a_report_compares_the_configurations_that_are_named(run: Program, study: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    names = list(Study.open(study).configurations())[:2]
    command = ("report", study, "--out", page, "--compare", names[1], "--compare", names[0][:-4], "--tables", 2)
    said = json.loads(run(*command, "--json").out)
    assert [(c["letter"], c["identifier"]) for c in said["comparison"]["configurations"]] == [
        ("A", names[1]),
        ("B", names[0]),
    ]
    assert all(1 <= len(c["tables"]) <= 2 for c in said["comparison"]["configurations"])
    assert {f["topic"] for f in said["comparison"]["figures"]} >= {"counts", "means", "medians", "spearman"}
    page.unlink()
    shown = run(*command).out
    assert "Side by side" in shown and shown.index(names[1]) < shown.index(names[0])
    page.unlink()
    for name in ("none", ""):
        refused = run("report", study, "--out", page, "--compare", name)
        assert refused.code == 2 and refused.complaints.startswith("E421 ") and not page.exists()


def test_a_design_is_written_into_the_specification(
    run: Program, files: tuple[Path, Path], tmp_path: Path
) -> None:
    spec, data = files
    out = tmp_path / "designed.yaml"
    command = ("design", spec, "--data", data, "--public", "--trials", "2", "--epsilon", "1")
    found = run(*command, "-o", out)
    assert found.code == 0
    assert f"Written: {out}" in unwrapped(found) and "candidates made" in found.out
    assert run("check", out).code == 0
    assert run(*command, "-o", out).complaints.startswith("E401 ")
    said = run(*command, "--json").json
    written = load(out)
    (grid,) = written.families
    assert (grid.family, grid.combination(0)) == ("workload", said["own"])
    assert [one.hyperparameters for one in written.space.listed or ()] in ([], [said["own"]])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [((), "E208"), (("--public", "--epsilon", "-1"), "E001"), (("--public", "--margin", "-1"), "E001")],
)
def test_a_design_refuses_before_it_begins(
    run: Program, files: tuple[Path, Path], arguments: tuple[str, ...], code: str
) -> None:
    spec, data = files
    found = run("design", spec, "--data", data, *arguments)
    assert (found.code, found.out) == (2, "")
    assert found.complaints.startswith(f"{code} ")


def test_the_study_of_the_command_is_the_study_of_the_library(study: Path) -> None:
    opened = Study.open(study)
    assert opened.data == "people.csv"
    assert (opened.rule.trials, opened.rule.fresh, opened.rule.steps) == (3, 8, 1)


def test_a_scheduler_needs_its_package(
    run: Program, files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(setup: Setup, address: str) -> Any:
        raise refusal("E412")

    monkeypatch.setattr("facsimile.explore.pool.Cluster", missing)
    spec, data = files
    out = tmp_path / "people.study"
    found = run("explore", spec, "--data", data, "--public", "--out", out, "--scheduler", "tcp://far:1")
    assert found.complaints.startswith("E412 ")

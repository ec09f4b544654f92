"""The report of a study: what it says, that it is harmless, and that it is there whatever the study holds."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path

import pytest

from facsimile.acceptance.kind import kind_of
from facsimile.errors import FacsimileError
from facsimile.explore.curve import curve_of
from facsimile.explore.planner import BOUNDED
from facsimile.explore.report import Written, page, write_report
from facsimile.explore.report.findings import Findings
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, candidate_of
from facsimile.spec.decimals import show_decimal
from reports import NASTY, Elements, nasty_study, said, study_of, told, trial
from risk.samples import sample
from studies import configurations


@pytest.fixture(scope="module")
def made(explored: Study, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Written]:
    out = tmp_path_factory.mktemp("page") / "report.html"
    return out, write_report(explored, out)


@pytest.fixture(scope="module")
def written(made: tuple[Path, Written]) -> Path:
    return made[0]


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    write_report(nasty_study(folder / "nasty.study"), folder / "report.html")
    return folder / "report.html"


def test_the_page_says_what_the_trials_say(explored: Study, written: Path) -> None:
    text = said(written.read_text())
    findings = Findings(explored)
    best = findings.best
    assert best is not None and best.estimate.fresh
    assert "Made on public data: nothing here is private or protected" in text
    assert f"{len(findings.survivors)} of {len(findings.lines)} configurations pass often enough" in text
    assert f"{best.estimate.accepted} of its {best.estimate.trials} fresh trials were accepted" in text
    assert "the fresh ones had no part in that" in text
    assert f"{len(findings.audited)} of the dropped, drawn at random" in text
    for heading in (
        "Single columns",
        "Pairs",
        "Means",
        "Correlations",
        "Regression",
        "within groups",
        "partner",
    ):
        assert heading in text
    charted = set(told(written.read_text())["charts"])
    assert {"acceptance", "criteria", "curve", "finalists", "time", "cells", "means", "regression-0"} <= charted
    assert {"correlation-difference", "worst", "unmatched", "column-0", "column-2"} <= charted


def test_what_is_written_is_what_was_told_and_the_same_each_time(
    explored: Study, made: tuple[Path, Written]
) -> None:
    out, found = made
    text = out.read_text(encoding="utf-8")
    assert text == page(explored)
    findings = Findings(explored)
    assert found.bytes == len(text.encode()) < 200_000
    assert (found.configurations, found.trials) == (len(findings.lines), len(findings.trials))
    assert findings.best is not None and found.best == findings.best.identifier
    assert json.loads(json.dumps(asdict(found)))["survivors"] == len(findings.survivors)


def test_criteria_are_told_in_words_and_never_by_their_names(explored: Study, written: Path) -> None:
    """The names stand once, beside what each criterion measures."""
    text, criteria = written.read_text(encoding="utf-8"), explored.setup.specification.criteria
    datasets = told(text)["datasets"]
    titles = [kind_of(c).told.title for c in criteria]
    assert datasets["criteria"]["label"]["texts"] == titles
    assert set(datasets["readings"]["title"]["texts"]) == set(titles)
    names = {c.name for c in criteria}
    assert not any(name in state for state in datasets["configurations"]["state"]["texts"] for name in names)
    assert all(said(text).count(f"In the specification: {name} .") == 1 for name in names)


def test_the_page_is_written_whole_or_not_at_all(explored: Study, written: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.html"
    link.symlink_to(tmp_path / "elsewhere.html")
    for out, code in ((written, "E401"), (link, "E402"), (tmp_path / "none" / "report.html", "E403")):
        with pytest.raises(FacsimileError) as caught:
            write_report(explored, out)
        assert caught.value.code == code
    assert [path.name for path in tmp_path.iterdir()] == ["link.html"]
    assert [path.name for path in written.parent.iterdir()] == ["report.html"]


def test_the_candidate_is_the_trial_that_is_named(explored: Study, written: Path) -> None:
    findings = Findings(explored)
    chosen = findings.chosen()
    assert chosen is not None and chosen.accepted and chosen.number >= FRESH
    earlier = [t for t in findings.of(chosen.configuration) if FRESH <= t.number < chosen.number]
    assert not any(t.accepted for t in earlier)
    made = candidate_of(
        explored.setup, findings.configurations[chosen.configuration], Fraction(4), chosen.number
    )
    rows = told(written.read_text())["datasets"]["columns"]
    of_age = [n for at, n in zip(rows["column"]["at"], rows["synthetic"], strict=True) if at == 0]
    assert of_age == made.marginal(("age",)).tolist()


@pytest.mark.parametrize("which", ["written", "nasty"])
def test_only_the_two_known_scripts_may_run_and_nothing_is_asked_for(
    which: str, request: pytest.FixtureRequest
) -> None:
    text = request.getfixturevalue(which).read_text()
    found = Elements(text)
    data, *scripts = found.scripts
    assert len(scripts) == 2 and found.names.count("script") == 3
    allowed = {
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    }
    policy = next(value for name, value in found.attributes if value and value.startswith("default-src"))
    rules = dict(rule.strip().split(" ", 1) for rule in str(policy).split(";"))
    assert rules["default-src"] == "'none'" and set(rules["script-src"].split()) == allowed
    assert not any(name.startswith("on") or name == "src" for name, _ in found.attributes)
    links = [value for name, value in found.attributes if name == "href" and value]
    assert all(link.startswith("#") or link == "data:," for link in links)
    assert "<" not in data and json.loads(data)


def test_markup_of_a_specification_stays_text(nasty: Path) -> None:
    text = nasty.read_text()
    found = Elements(text)
    assert not {"b", "img"} & set(found.names)
    assert NASTY.strip() in said(text)
    assert NASTY.strip() in told(text)["datasets"]["columns"]["label"]["texts"]


def test_a_study_without_success_groups_or_numbers_still_has_a_page(nasty: Path) -> None:
    text = said(nasty.read_text())
    assert "No configuration was shown to pass often enough." in text
    assert "not an accepted one" in text and "least far off" in text
    assert "were accepted" not in text and "likely too high" not in text, "none is not too high"
    assert "cannot be told yet" in text and "was tried at a smaller ε" in text
    charted = told(nasty.read_text())["charts"]
    assert not {"worst", "unmatched", "regression-0", "finalists", "curve"} & set(charted)
    assert {"column-0", "column-1", "column-2", "pairs", "means", "correlation-original"} <= set(charted)
    assert 'href="#partners"' not in nasty.read_text()


def test_a_study_without_trials_or_without_candidates_has_a_page(tmp_path: Path) -> None:
    study = study_of(tmp_path / "empty.study")
    text = page(study)
    assert "No trial has finished yet." in said(text) and not told(text)["charts"]
    refused = [replace(trial(study, i, 0, False), readings=(), refused="E160") for i in range(3)]
    study.add(configurations(study.setup.specification), refused)
    text = said(page(study))
    assert "no trial has made one" in text and "dropped: E160" in text
    assert Findings(study).best is None


def test_without_fresh_trials_the_page_warns_of_the_choice(tmp_path: Path) -> None:
    study = study_of(tmp_path / "race.study")
    trials = [trial(study, i, number, number % 2 == i % 2) for i in range(2) for number in range(4)]
    study.add(configurations(study.setup.specification), trials)
    findings = Findings(study)
    assert findings.best is not None and not findings.best.estimate.fresh
    assert "so the share is likely too high" in said(page(study))


@pytest.mark.parametrize(
    ("configurations_", "accepted", "sentence", "unsaid"),
    [
        (1, 0, "its only trial was not accepted, 0.0 %", "likely too high"),
        (1, 1, "its only trial was accepted, 100.0 %", "likely too high"),
        (2, 1, "its only trial was accepted, 100.0 %", "The only configuration"),
    ],
)
def test_the_first_sentence_says_what_the_trials_are(
    tmp_path: Path, configurations_: int, accepted: int, sentence: str, unsaid: str
) -> None:
    """A share of none is not too high, and where there is one configuration nothing was chosen."""
    study = study_of(tmp_path / "race.study")
    trials = [trial(study, place, 0, place < accepted) for place in range(configurations_)]
    study.add(configurations(study.setup.specification), trials)
    text = said(page(study)).replace("\u00a0", " ")
    assert sentence in text and unsaid not in text
    assert ("likely too high" in text) == (configurations_ > 1)
    assert "No configuration was dropped early." in text


def test_the_page_names_the_totals_that_a_plan_would_take(explored: Study, written: Path) -> None:
    text = said(written.read_text(encoding="utf-8")).replace("\u00a0", " ")
    for wish in (0.5, 0.9):
        point = curve_of(explored).cheapest(wish, BOUNDED)
        if point is None:
            assert f"No total that was tried states a chance of {wish:.0%}".replace("%", " %") in text
        else:
            assert f"ε = {show_decimal(point.total)} ({point.scheme}): it states" in text
            unsure = f"The {len(point.option.stated)} trials that state it are too few to be sure."
            assert point.tells(wish) or unsure in text


def test_what_attacks_found_is_a_part_of_the_page_where_it_is_given(explored: Study, written: Path) -> None:
    attacked = page(explored, risk=sample())
    assert 'href="#risk"' in attacked and "Can a person be singled out?" in attacked
    assert "An attack that fails proves nothing" in attacked and "In the release no attack told" in attacked
    assert 'href="#risk"' not in written.read_text("utf-8")

"""Contenders side by side: whose tables they are, and that the page and the JSON say what the tables say."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from importlib import import_module
from itertools import combinations
from math import comb, inf
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.acceptance.candidate import exact_error
from facsimile.errors import FacsimileError
from facsimile.explore.report import Written, write_report
from facsimile.explore.report.comparison import Comparison, Score, compare
from facsimile.explore.report.contenders import FURTHER, contenders
from facsimile.explore.report.findings import Findings
from facsimile.explore.run import explore
from facsimile.explore.study import Study
from facsimile.explore.trials import FRESH, Job, Trial, candidate_of
from facsimile.spec.decimals import parse_decimal
from facsimile.table.table import Table
from reports import NASTY, said, study_of, told, trial
from studies import RULE, Here, configurations, declared, timeless

pd: Any = import_module("pandas")
VOID = {"meta", "link", "br", "img", "input", "hr"}
Made = tuple[str, Written]


def quietly(study: Study, *names: str, tables: int = 3) -> Comparison:
    return compare(Findings(study), names, tables, lambda doing: None)


@pytest.fixture(scope="module")
def pair(explored: Study) -> tuple[str, str]:
    """Two finalists that make different tables, the second first in the order of the race."""
    first, second = (line.identifier for line in Findings(explored).finalists[:2])
    return second, first


@pytest.fixture(scope="module")
def made(explored: Study, pair: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Made:
    out = tmp_path_factory.mktemp("page") / "report.html"
    written = write_report(explored, out, pair, 3)
    return out.read_text(encoding="utf-8"), written


def tables(study: Study, contender: dict[str, Any]) -> tuple[Table, list[Table]]:
    """The original and the released tables of a configuration that the JSON names."""
    findings = Findings(study)
    configuration = findings.configurations[contender["identifier"]]
    level = parse_decimal(findings.first)
    made = [candidate_of(study.setup, configuration, level, number) for number in contender["tables"]]
    return study.setup.real(configuration), made


def frame(table: Table) -> Any:
    """Every record, as numbers."""
    numbers = [[float(x) for x in axis.numbers or ()] for axis in table.domain.axes]
    return pd.DataFrame(
        {
            name: [numbers[i][code] for code in table.records()[:, i]]
            for i, name in enumerate(table.domain.names)
        }
    )


def middle_record(values: Any) -> Any:
    return values.quantile(0.5, interpolation="lower")


def rows(page: str, dataset: str) -> list[dict[str, Any]]:
    columns = {
        name: found if isinstance(found, list) else [found["texts"][at] for at in found["at"]]
        for name, found in told(page)["datasets"][dataset].items()
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def test_the_page_and_the_json_say_what_the_tables_of_each_letter_say(
    explored: Study, pair: tuple[str, str], made: Made
) -> None:
    page, written = made
    comparison = json.loads(json.dumps(asdict(written)))["comparison"]
    assert [c["identifier"] for c in comparison["configurations"]] == list(pair)
    figures = {(f["topic"], f["of"], f["among"]): f for f in comparison["figures"]}
    centres = {(r["topic"], r["of"], r["among"]): r for r in rows(page, "beside-centres")}
    correlations = {(r["topic"], r["of"], r["among"]): r for r in rows(page, "beside-correlations")}
    different = False
    for contender in comparison["configurations"]:
        letter = contender["letter"]
        original, released = tables(explored, contender)
        before, after = frame(original), [frame(table) for table in released]
        for of, column, low, high, group in (
            ("height", "age", 30, 99, "age: more than 29"),
            ("age", "sex", 0, 0, "sex: M"),
        ):
            values = [f[of][f[column].between(low, high)] for f in (before, *after)]
            for topic, words in (("means", "Mean"), ("medians", "Median")):
                one, *others = (float(v.mean() if words == "Mean" else middle_record(v)) for v in values)
                figure, shown = figures[topic, of, group], centres[words, of, group]
                assert figure["original"][letter] == pytest.approx(one)
                assert figure["released"][letter] == pytest.approx(others)
                errors = [abs(value - one) for value in others]
                assert figure["error"][letter]["worst"] == pytest.approx(max(errors))
                assert figure["error"][letter]["median"] == pytest.approx(median(errors))
                assert shown[letter] == pytest.approx(median(others), rel=1e-3)
                worst = max((value - one for value in others), key=abs)
                assert shown[f"{letter}_worst"] == pytest.approx(worst, rel=1e-3, abs=1e-9)
        for method, words in (("pearson", "Correlation"), ("spearman", "Rank correlation")):
            one, *others = (float(f.corr(method=method).loc["age", "height"]) for f in (before, *after))
            figure, shown = figures[method, "age", "height"], correlations[words, "age", "height"]
            assert figure["original"][letter] == pytest.approx(one)
            assert figure["released"][letter] == pytest.approx(others)
            assert shown[letter] == pytest.approx(median(others), abs=6e-4)
            different |= others != figure["released"]["AB".replace(letter, "")]
    assert different, "letters that are swapped must be seen"


def test_the_charts_draw_the_figures_of_their_letter(made: Made) -> None:
    """Tiles in deviations of the column, ranges from the smallest to the largest difference."""
    page, written = made
    figures = {(f["topic"], f["of"], f["among"]): f for f in written.comparison["figures"]}
    for letter in "AB":
        for topic in ("means", "medians", "pearson", "spearman"):
            tiles = rows(page, f"beside-{topic}-{letter}-drawn")
            assert len(tiles) == sum(key[0] == topic for key in figures) * (1 if topic[0] == "m" else 2)
            for tile in tiles:
                of, among = tile["other"], tile["one"]
                figure = figures.get((topic, of, among)) or figures[topic, among, of]
                gaps = [released - figure["original"][letter] for released in figure["released"][letter]]
                unit = figure["unit"][letter] if topic[0] == "m" else 1.0
                assert tile["value"] == pytest.approx(median(gaps) / unit, abs=6e-4)
        drawn = {row["label"]: row for row in rows(page, "beside-criteria-drawn") if row["contender"] == letter}
        for score in written.comparison["summary"][: len(drawn)]:
            over = [value / score["threshold"] for value in score["tables"][letter]]
            row = drawn[score["what"]]
            told = (min(over), median(over), max(over))
            assert (row["low"], row["middle"], row["high"]) == pytest.approx(told, rel=1e-3)
        moved = {row["label"]: row for row in rows(page, "beside-counts-drawn") if row["contender"] == letter}
        assert moved["single columns"]["high"] == pytest.approx(
            max(figures["counts", "single columns", ""]["released"][letter]), rel=1e-3
        )
    first = {(tile["other"], tile["one"]): tile for tile in rows(page, "beside-pearson-original-drawn")}
    original = figures["pearson", "age", "height"]["original"]["A"]
    assert (
        first["age", "height"]["value"] == first["height", "age"]["value"] == pytest.approx(original, abs=6e-4)
    )
    chosen = next(row for row in rows(page, "beside-centres-drawn") if row["label"] == "sex: M")
    assert chosen["allowed"] == 6.0 and chosen["figure"] == "Mean of height", (
        "the band is the criterion's threshold"
    )


def test_the_summary_has_the_exact_error_of_every_criterion(explored: Study, made: Made) -> None:
    page, written = made
    spec, comparison = explored.setup.specification, written.comparison
    assert len(comparison["summary"]) > len(spec.criteria) + 6
    for contender in comparison["configurations"]:
        original, released = tables(explored, contender)
        for criterion, score in zip(spec.criteria, comparison["summary"], strict=False):
            errors = [exact_error(spec, criterion, original, table) for table in released]
            assert score["tables"][contender["letter"]] == pytest.approx(errors)
            assert score["threshold"] == float(criterion.threshold)
    words = said(page)
    assert "Regression of height: its predictions" in words and "Who is better at what" in words
    assert "Rank correlations: largest error" in words and "Medians within groups" in words


def test_other_letters_for_the_same_configurations_swap_their_figures(explored: Study, made: Made) -> None:
    one, other = (c["identifier"] for c in made[1].comparison["configurations"])
    swapped = quietly(explored, other, one).as_json()
    assert [c["identifier"] for c in swapped["configurations"]] == [other, one]
    for before, after in zip(made[1].comparison["figures"], swapped["figures"], strict=True):
        assert before["released"]["A"] == after["released"]["B"] and before["topic"] == after["topic"]
        assert before["released"]["B"] == after["released"]["A"]
    assert made[1].comparison["figures"] != swapped["figures"]


def test_every_table_would_have_been_released(explored: Study) -> None:
    """The fresh ones first; where the study has too few, further ones are made from further seeds."""
    findings = Findings(explored)
    found = contenders(findings, (), 12)
    assert [c.tried for c in found] == findings.finalists[:3] and [c.letter for c in found] == list("ABC")[
        : len(found)
    ]
    for contender in found:
        numbers = [t.number for t in contender.trials]
        assert contender.accepted and len(set(numbers)) == len(numbers) <= 12
        known = [t for t in findings.of(contender.tried.identifier) if t.accepted]
        assert set(known) <= set(contender.trials)
        assert numbers[: sum(t.number >= FRESH for t in known)] == [
            t.number for t in known if t.number >= FRESH
        ]
        assert all(n >= FURTHER for n in numbers[len(known) :]) and len(numbers) > len(known)
    again = contenders(findings, (), 12)
    assert [timeless(c.trials) for c in again] == [timeless(c.trials) for c in found]


def test_further_trials_that_are_rejected_are_no_released_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third is accepted here; no more than four are run for each table that is missing."""
    study, tried = study_of(tmp_path / "few.study"), []
    first = trial(study, 0, 0, True)
    study.add(configurations(study.setup.specification), [first])

    def run(setup: object, job: Job) -> list[Trial]:
        tried.append(job.number)
        return [replace(first, number=job.number, accepted=job.number % 3 == 0)]

    monkeypatch.setattr("facsimile.explore.report.contenders.run", run)
    (found,) = contenders(Findings(study), (), 3)
    assert [t.number for t in found.trials] == [0, FURTHER + 2, FURTHER + 5] and found.accepted
    assert tried == [*range(FURTHER, FURTHER + 6)]
    monkeypatch.setattr(
        "facsimile.explore.report.contenders.run", lambda setup, job: [replace(first, accepted=False)]
    )
    (found,) = contenders(Findings(study), (), 3)
    assert [t.number for t in found.trials] == [0]


def test_names_begin_identifiers(explored: Study) -> None:
    findings = Findings(explored)
    whole = findings.lines[-1].identifier
    for names in ((whole,), (whole[:-6],), (whole, whole[:-6])):
        assert [c.tried.identifier for c in contenders(findings, names, 1)] == [whole]
    for name in ("mst-", "none", "x" * 300):
        with pytest.raises(FacsimileError) as caught:
            contenders(findings, (name,), 1)
        assert caught.value.code == "E421"


def test_at_most_six_are_compared_and_the_study_decides_who_is_meant(tmp_path: Path) -> None:
    study = study_of(
        tmp_path / "many.study", projection={"algorithm": ["margins"], "min_count": ["2", "3", "4", "5"]}
    )
    every = configurations(study.setup.specification)
    study.add(every, [trial(study, i, 0, True) for i in range(7)])
    names = [c.identifier for c in every[:7]]
    assert len(contenders(Findings(study), names[:6], 1)) == 6
    with pytest.raises(FacsimileError) as caught:
        contenders(Findings(study), names, 1)
    assert caught.value.code == "E001"
    study.add(every, [replace(trial(study, 9, 0, False), readings=(), refused="E160")])
    for place, why in ((8, "it was never tried"), (9, "it made no table")):
        with pytest.raises(FacsimileError) as caught:
            contenders(Findings(study), [every[place].identifier], 1)
        assert caught.value.code == "E421", why


def test_without_an_accepted_trial_the_least_far_off_stands_in(tmp_path: Path) -> None:
    criteria = [declared()["criteria"][0] | {"threshold": "0.000001"}, *declared()["criteria"][1:]]
    study = study_of(tmp_path / "poor.study", criteria=criteria)
    assert explore(study, Here(study.setup)).finished
    found = quietly(study)
    assert all(len(c.trials) == 1 and not c.accepted for c in found.contenders)
    assert all(len(score.values) == len(found.contenders) for score in found.judged) and len(found.judged) == 3
    out = tmp_path / "report.html"
    write_report(study, out)
    text = said(out.read_text())
    assert "no accepted table" in text and "too few tables to rule out luck" in text


def test_letters_with_other_groups_of_values_have_originals_of_their_own(tmp_path: Path) -> None:
    study = study_of(tmp_path / "groups.study")
    every = configurations(study.setup.specification)
    coarse = next(i for i, c in enumerate(every) if c.alternatives["age"] == "coarse")
    fine = next(i for i, c in enumerate(every) if c.alternatives["age"] == "fine")
    study.add(every, [trial(study, i, 0, True) for i in (coarse, fine)])
    out = tmp_path / "report.html"
    found = write_report(study, out, (every[coarse].identifier, every[fine].identifier), 1).comparison
    mean = next(f for f in found["figures"] if f["topic"] == "means" and f["of"] == "age" and "M" in f["among"])
    assert mean["original"]["A"] != mean["original"]["B"]
    text = said(out.read_text())
    assert "The configurations group values differently" in text and "A, original" in text
    assert "groups of values: age coarse" in text and "groups of values: age fine" in text


def test_what_a_trial_did_not_come_to_is_computed(tmp_path: Path) -> None:
    """A trial of the race ends with the first criterion that is not met."""
    study = study_of(tmp_path / "short.study")
    short = trial(study, 0, 1, False, 1.5)
    study.add(configurations(study.setup.specification), [replace(short, readings=short.readings[:1])])
    found, spec = quietly(study), study.setup.specification
    original, (table,) = tables(study, found.as_json()["configurations"][0])
    noted, *computed = (score.values["A"] for score in found.judged)
    assert noted == (short.readings[0].error,)
    assert computed == [(exact_error(spec, c, original, table),) for c in spec.criteria[1:]]


class Balance(HTMLParser):
    """Every element ends, and in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()


def test_the_page_is_well_formed_and_names_no_place_of_the_machine(
    made: Made, explored: Study, tmp_path: Path
) -> None:
    Balance(made[0])
    assert str(explored.path.parent) not in made[0] and str(tmp_path.parent) not in made[0]
    anchors = re.findall(r'href="#([\w-]+)"', made[0])
    assert all(f'id="{anchor}"' in made[0] for anchor in anchors) and "beside-correlations" in anchors


def test_markup_in_groups_and_values_stays_text(tmp_path: Path) -> None:
    town = {
        "name": "town",
        "description": NASTY,
        "values": [NASTY.strip(), "elsewhere"],
        "alternatives": {"coarse": [NASTY.strip(), "elsewhere"]},
        "groups": [NASTY.strip(), "elsewhere"],
    }
    study = study_of(
        tmp_path / "nasty.study",
        RULE,
        columns=[declared()["columns"][0], town, declared()["columns"][2]],
        criteria=declared()["criteria"][:2],
    )
    every = configurations(study.setup.specification)
    study.add(every, [trial(study, i, 0, True) for i in range(2)])
    out = tmp_path / "report.html"
    write_report(study, out, (), 1)
    page = out.read_text()
    Balance(page)
    assert "<b>x" not in page
    assert any(NASTY.strip() in row["among"] for row in rows(page, "beside-centres"))


def test_a_filled_mark_is_luck_in_fewer_than_one_line_of_a_hundred() -> None:
    """Counted over all orders of tables that are alike."""
    for sizes in ((1, 1), (3, 3), (4, 4), (5, 5), (3, 3, 3), (4, 4, 4), (1, 9)):
        owners = [letter for letter, size in zip("ABC", sizes, strict=False) for _ in range(size)]
        total, luck = sum(sizes), 0.0
        for letter, size in zip("ABC", sizes, strict=False):
            places = combinations(range(total), owners.count(letter))
            luck += sum(max(place) < size for place in places) / comb(total, size)
        values = {letter: (0.0,) * size for letter, size in zip("ABC", sizes, strict=False)}
        assert Score("x", "number", values).telling == (luck <= 0.01)


VALUES = st.lists(st.floats(0, 10) | st.just(inf), min_size=1, max_size=5).map(tuple)


@given(st.dictionaries(st.sampled_from("ABCD"), VALUES, min_size=1))
def test_a_score_marks_who_is_best_and_who_is_so_in_every_table(values: dict[str, tuple[float, ...]]) -> None:
    score = Score("x", "number", values)
    middles = {letter: median(own) for letter, own in values.items()}
    if len(set(middles.values())) == 1:
        assert not score.best
    else:
        assert score.best == {letter for letter in values if middles[letter] == min(middles.values())}
    clear = [
        letter
        for letter, own in values.items()
        if len(values) > 1
        and all(mine < theirs for mine in own for k, o in values.items() if k != letter for theirs in o)
    ]
    assert score.clearly == (clear[0] if clear and score.telling else None)
    assert json.loads(json.dumps(score.as_json(), allow_nan=False))["worst"].keys() == values.keys()

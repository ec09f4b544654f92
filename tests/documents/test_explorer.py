"""The explorer page: what it holds, what its rules say, and what it does in a real browser, offline."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import binom

from axe import violations
from browser import Browser
from conftest import EXAMPLES
from documents.intervals import Box, Rules, counted, mean_of
from documents.sample import BIRTHS
from documents.town import HOSTILE, LAYOUT, NAMES, Town, noisy, specification, town
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.decision import fine_grid
from facsimile.analysis.basis import Basis, NoisyTable
from facsimile.documents import explorer
from facsimile.documents.inline import policy_hash
from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import Answer
from facsimile.spec.bins import CategoryBin
from facsimile.spec.columns import Axis
from facsimile.spec.load import load
from facsimile.table.domain import Domain
from facsimile.table.table import Table

PAGE_BYTES, VIEW_MILLISECONDS, DRAWS = 3_000_000, 200, 150
SCHEMES = [("test-then-measure", "coin"), ("measured", "single"), ("train-once", "paper"), ("paper", "paper")]


def domain_of(shape: tuple[int, ...]) -> Domain:
    bins = [CategoryBin(str(code), frozenset([str(code)])) for code in range(max(shape))]
    return Domain(tuple(Axis(f"c{place}", tuple(bins[:size])) for place, size in enumerate(shape)))


@given(st.lists(st.tuples(st.integers(0, 299), st.integers(0, 1), st.integers(1, 2**26)), max_size=30))
def test_the_table_is_packed_whole(rows: list[tuple[int, int, int]]) -> None:
    given_rows = np.array(rows, np.int64).reshape(-1, 3)
    table = Table.from_rows(domain_of((300, 2)), given_rows[:, :2], given_rows[:, 2])
    unpacked = zlib.decompress(base64.b64decode(explorer.packed(table)), -zlib.MAX_WBITS)
    m = table.distinct
    assert np.frombuffer(unpacked, "<u2", m).tolist() == table.column("c0").tolist()
    assert np.frombuffer(unpacked, "<u1", m, 2 * m).tolist() == table.column("c1").tolist()
    assert np.frombuffer(unpacked, "<u4", m, 3 * m).tolist() == table.counts.tolist()
    assert len(unpacked) == 7 * m


def test_the_same_release_gives_the_same_page() -> None:
    made = town()
    assert explorer.explorer(made.basis, made.report) == explorer.explorer(made.basis, made.report)


def test_only_the_page_s_own_script_and_style_may_run() -> None:
    page = explorer.explorer(town().basis, town().report).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert policy is not None and style is not None and len(scripts) == 3
    rules = dict(part.strip().split(" ", 1) for part in policy[1].split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert (rules["style-src"], rules["script-src"]) == (
        policy_hash(style[1]),
        " ".join(map(policy_hash, scripts)),
    )


def test_every_word_is_used_and_every_used_word_is_there() -> None:
    folder = files("facsimile.documents") / "templates"
    names = ("explorer.html", "explorer.js", "explorer.rules.js", "explorer.chart.js")
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    words: dict[str, Any] = json.loads((folder / "explorer.json").read_text(encoding="utf-8"))
    used = set(re.findall(r"\bwords\.(\w+)", text))
    assert used == set(words)
    for name in ("answer", "head", "where", "sure", "csv"):
        short = rf"\b(?:words\.{name}|{name})\.(\w+)"
        assert set(re.findall(short, text)) & set(words[name]) == set(words[name]), name
        assert set(re.findall(rf"words\.{name}\.(\w+)", text)) <= set(words[name])


def test_tables_chosen_by_noise_and_searches_without_end_claim_nothing() -> None:
    made = town()
    assert len(explorer.told(made.basis, made.report)["tables"]) == len(LAYOUT)
    later = tuple(replace(table, form="chosen") for table in made.basis.tables)
    assert explorer.told(replace(made.basis, tables=later), made.report)["tables"] == []
    endless = replace(made.basis, specification=specification(mode="paper"))
    assert explorer.told(endless, made.report)["tables"] == []
    once = replace(made.basis, specification=specification("train-once", "paper"))
    assert len(explorer.told(once, made.report)["tables"]) == len(LAYOUT)


def test_one_criterion_speaks_of_cells_that_of_most_columns() -> None:
    made = town()
    one = made.basis.measured[0]
    several = [replace(one, criterion=one.criterion.model_copy(update={"ways": ways})) for ways in (1, 2, 4)]
    ways = [
        [cell["ways"] for cell in explorer.told(replace(made.basis, measured=measured), made.report)["cells"]]
        for measured in (tuple(several), (one, *several), (*several[:2], one), ())
    ]
    assert ways == [[4], [4], [3], []]


def test_a_bound_that_more_rules_share_is_no_smaller() -> None:
    for scheme, mode in SCHEMES:
        data = explorer.told(town(scheme, mode).basis, town(scheme, mode).report)
        for one in [*data["cells"], *data["means"]]:
            known = [inf if within is None else within for within in one["within"]]
            assert known == sorted(known)


@pytest.mark.parametrize("share", [Fraction(1, 2), Rho(1, 20)], ids=["laplace", "gaussian"])
def test_intervals_from_noisy_tables_hold_as_often_as_they_say(share: Fraction) -> None:
    """Each of several counts in many draws of noise; more misses than allowed have probability below 10⁻⁶."""
    made = town()
    spec = specification(
        "train-once", "paper", criteria=[specification().criteria[1].model_dump(mode="json", exclude_none=True)]
    )
    boxes: list[Box] = [
        {"age": frozenset([0])},
        {"age": frozenset([0, 1]), "rooms": frozenset([1])},
        {"work": frozenset([0]), "garden": frozenset([1])},
        {"age": frozenset([2, 3]), "work": frozenset([1, 2])},
    ]
    missed = dict.fromkeys(range(len(boxes)), 0)
    for draw in range(DRAWS):
        tables = noisy(made.original, share, 1000 + draw)
        rules = Rules(replace(made.basis, specification=spec, measured=(), tables=tables))
        for place, box in enumerate(boxes):
            found = rules.count(box)
            assert found is not None
            missed[place] += not found[0] <= counted(made.original, box) <= found[1]
    assert max(missed.values()) <= binom.isf(1e-6 / len(boxes), DRAWS, 0.05)


class Opened:
    """A browser at a page."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self.browser, self.path = browser, path

    def at(self, width: int = 1280, address: str = "") -> Opened:
        """The page at this width, with a view in its address."""
        self.browser.open(self.path.as_uri() + address, width)
        self.browser.until("document.documentElement.dataset.shown")
        return self

    def spent(self) -> float:
        """Milliseconds of work by the page's own thread so far: not those that it waits for a busy machine."""
        self.browser.ask("Performance.enable", timeDomain="threadTicks")
        found = self.browser.ask("Performance.getMetrics")["metrics"]
        return 1000 * float(next(one["value"] for one in found if one["name"] == "TaskDuration"))

    def text(self, selector: str) -> str:
        found: str = self.browser.value(f"document.querySelector({json.dumps(selector)}).textContent")
        return re.sub("[\u2066-\u2069]", "", found)

    def quiet(self) -> None:
        """Nothing was asked for, and nothing went wrong."""
        assert {address.partition("#")[0] for address in self.browser.asked()} == {self.path.as_uri()}
        assert self.browser.troubles() == []


def opened(browser: Browser, folder: Path, made: Town) -> Opened:
    path = folder / "explore.html"
    path.write_bytes(explorer.explorer(made.basis, made.report))
    return Opened(browser, path)


def random_views(seed: int, number: int) -> Iterator[dict[str, Any]]:
    """States of the page: what to show, by which columns, among which records."""
    random = np.random.default_rng(seed)
    sizes = dict(zip(range(4), (6, 3, 4, 2), strict=True))
    grouped = (0, 2)
    for _ in range(number):
        split = [
            {"place": int(place), "grouped": bool(place in grouped and random.integers(2))}
            for place in random.permutation(4)[: random.integers(0, 4)]
        ]
        only = [
            [place, sorted(random.permutation(size)[: random.integers(1, size)].tolist())]
            for place, size in sizes.items()
            if random.random() < 0.4 and size > 1
        ]
        shows = ["count", "share", "mean-0", "mean-2", "mean-3"] + ["share-0", "share-1"] * (len(split) > 1)
        yield {"show": str(random.choice(shows)), "split": split, "only": only}


def reference(
    rules: Rules, state: dict[str, Any], line: dict[str, Any]
) -> tuple[float, Any, tuple[float, float]]:
    """The figure of a line, its interval, and all that is possible."""
    table = rules.basis.table

    def boxed(parts: list[dict[str, Any]]) -> Box:
        return {NAMES[part["place"]]: frozenset(part["codes"]) for part in parts}

    box, (kind, _, which) = boxed(line["parts"]), state["show"].partition("-")
    if kind == "count":
        return counted(table, box), rules.count(box), (0, rules.n)
    if kind == "mean":
        of = NAMES[int(which)]
        own = list(map(float, table.domain.axis(of).numbers or ()))
        numbers = [own[code] for code in box.get(of, range(len(own)))]
        return mean_of(table, box, of), rules.mean(box, of), (min(numbers), max(numbers))
    base = boxed(line["base"])
    whole = counted(table, base)
    return counted(table, box) / whole if whole else float("nan"), rules.share(box, base), (0, 1)


@pytest.mark.parametrize(("scheme", "mode"), SCHEMES, ids=[scheme for scheme, _ in SCHEMES])
def test_the_page_says_what_the_rules_say(browser: Browser, tmp_path: Path, scheme: str, mode: str) -> None:
    made = town(scheme, mode)
    page, rules, lines = opened(browser, tmp_path, made).at(), Rules(made.basis), 0
    sure = 0
    for state in random_views(7, 60):
        found = browser.value(f"explorer.view({json.dumps(state)})")
        for line in found["lines"]:
            value, interval, (least, most) = reference(rules, state, line)
            assert line["value"] == pytest.approx(value, nan_ok=True) or np.isnan(value)
            trivial = interval is None or (interval[0] <= least and interval[1] >= most and least < most)
            assert (line["status"] == "none") == trivial, (state, line, interval)
            if not trivial:
                assert (line["low"], line["high"]) == pytest.approx(interval, rel=1e-9, abs=1e-9), (state, line)
            lines, sure = lines + 1, sure + (not trivial)
    assert lines > 300 and sure > 50
    page.quiet()


def test_every_kind_of_rule_speaks(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, town()).at()
    seen = set()
    for state in [*random_views(7, 60), {"show": "count", "split": [{"place": 0}, {"place": 2}], "only": []}]:
        seen |= set(browser.value(f"explorer.view({json.dumps(state)}).lines.flatMap(({{ rule }}) => rule)"))
    assert {"cells", "table", "mean", "never"} <= seen


def test_replicates_estimate_what_nothing_guarantees(browser: Browser, tmp_path: Path) -> None:
    """T(S) ± κs, s² the mean of (T(S*) − T(R*))²: for the release and all others by the same slow counts."""
    made, random = town(), np.random.default_rng(5)
    release, finest = made.basis.table, made.original
    pairs = []
    for _ in range(5):
        drawn = random.multinomial(release.n, release.counts / release.n)
        again = Table.from_rows(release.domain, release.codes, drawn)
        others = random.multinomial(finest.n, finest.counts / finest.n)
        pairs.append((again, Table.from_rows(finest.domain, finest.codes, others)))
    path = tmp_path / "explore.html"
    basis = replace(made.basis, measured=(), tables=())
    path.write_bytes(explorer.explorer(basis, made.report, pairs))
    page, sure = Opened(browser, path).at(), 0
    for state in random_views(11, 15):
        for line in browser.value(f"explorer.view({json.dumps(state)})")["lines"]:
            value, _, (least, most) = reference(Rules(basis), state, line)
            figures = [
                [reference(Rules(replace(basis, table=table)), state, line)[0] for table in pair]
                for pair in pairs
            ]
            errors = [after - before for before, after in figures]
            reach = float(stdtrit(5, 0.975)) * float(np.sqrt(np.mean(np.square(errors))))
            if line["status"] == "estimated":
                expected = max(least, value - reach), min(most, value + reach)
                assert (line["low"], line["high"]) == pytest.approx(expected)
                sure += 1
            else:
                assert line["status"] == "guaranteed" or not reach > 0
    assert sure > 30
    page.at(1280, "#show=mean+rooms&by=work")
    assert page.text("#badge") == "Estimated" and "without a guarantee" in page.text("#interval")
    assert browser.value("document.querySelectorAll('.estimated .interval').length") == 3


def test_two_ticks_answer_a_question(browser: Browser, tmp_path: Path) -> None:
    made = town()
    page = opened(browser, tmp_path, made).at(390)
    for place, code in ((0, 0), (2, 1)):
        browser.value(f"document.querySelectorAll('details')[{place}].open = true")
        browser.do(f"document.querySelectorAll('details')[{place}].querySelectorAll('input')[{code}].click()")
    box: Box = {"age": frozenset([0]), "rooms": frozenset([1])}
    found, value = Rules(made.basis).count(box), counted(made.basis.table, box)
    assert found is not None
    assert page.text("#figure") == f"{value:,} of 3,000 records have age less than 18 and rooms 2."
    low, high = found
    assert f"between {low:,} and {high:,}, guaranteed at 95\u00a0%" in page.text("#interval")
    assert browser.value("document.querySelector('#answer').getAttribute('role')") == "status"
    top = browser.value("document.querySelector('#answer').getBoundingClientRect().top")
    assert 0 <= top < 844, "the answer is in sight where the boxes are ticked"


def test_a_view_is_in_its_address_and_in_its_file(browser: Browser, tmp_path: Path) -> None:
    made = town()
    opened(browser, tmp_path, made).at(1280, "#show=share-0&by=work&by=age*&only+garden=1")
    assert browser.value("document.querySelector('#columns').value") == "0g"
    assert "share-0" in browser.value("location.hash") and "only+garden=1" in browser.value("location.hash")
    text = browser.value("explorer.csv()")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert any("Synthetic records" in line for line in comments) and any(
        "REHEARSAL" in line for line in comments
    )
    rows = list(
        csv.DictReader(io.StringIO("\n".join(line for line in text.splitlines() if not line.startswith("#"))))
    )
    assert [(row["work"], row["age"]) for row in rows] == list(
        product(["none", "part", "full"], ["less than 18", "18 to 64", "more than 64"])
    )
    box: Box = {"work": frozenset([0]), "garden": frozenset([1]), "age": frozenset([0])}
    base: Box = {"work": frozenset([0]), "garden": frozenset([1])}
    found = Rules(made.basis).share(box, base)
    assert found == pytest.approx((float(rows[0]["low"]), float(rows[0]["high"])))
    assert rows[0]["status"] == "guaranteed" and rows[0]["rule"] in ("count rule", "count rule + noisy table")


def test_a_line_is_read_by_the_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, town()).at(1280, "#show=count&by=age")
    browser.do("document.querySelector('#link').focus()")
    browser.press("Tab")
    browser.press("Tab")
    assert browser.value("document.activeElement.className") == "pick"
    first = page.text("#figure")
    browser.press("ArrowDown")
    assert page.text("#figure") != first and "age 18 to 29" in page.text("#figure")
    assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("End")
    assert "age more than 79" in page.text("#figure")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_page_fits_the_screen_and_passes_axe(
    browser: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    page = opened(browser, tmp_path, town())
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    for address in (
        "",
        "#show=mean+rooms&by=age&by=garden&by=work",
        "#show=share-1&by=age&by=rooms&only+work=1",
    ):
        page.at(width, address)
        browser.value("document.querySelectorAll('details')[1].open = true")
        assert browser.value("document.documentElement.scrollWidth") <= width
        assert violations(browser) == []
    browser.ask("Emulation.setEmulatedMedia", features=[])


def test_hostile_labels_stay_text(browser: Browser, tmp_path: Path) -> None:
    made = town(hostile=True)
    page = opened(browser, tmp_path, made).at(1280, "#show=count&by=work")
    assert HOSTILE[0] in browser.value("document.title") and HOSTILE[0] == browser.value(
        "document.querySelector('h1').textContent"
    )
    assert browser.value("document.querySelectorAll('img, b').length") == 0
    assert browser.value("[...document.querySelectorAll('.pick')].map(({ textContent }) => textContent)") == [
        *HOSTILE
    ]
    written = browser.value("explorer.csv()").splitlines()
    rows = list(csv.reader(io.StringIO("\n".join(line for line in written if not line.startswith("#")))))
    assert [row[0] for row in rows[1:]] == [*HOSTILE]
    browser.do("document.querySelector('tbody tr:nth-child(2)').click()")
    assert f"have work \u2068{HOSTILE[1]}\u2069." in browser.value(
        "document.querySelector('#figure').textContent"
    ).replace("\u2068work\u2069", "work")
    assert violations(browser) == []
    page.quiet()


@pytest.fixture(scope="module")
def births() -> Town:
    """A table as large as that of the births, with as many different rows as so many records can have."""
    spec = load(EXAMPLES / "births" / "ours.yaml")
    domain = Domain(tuple(column.finest for column in spec.columns))
    random = np.random.default_rng(1)
    codes = np.column_stack([random.integers(0, size, spec.n) for size in domain.shape])
    table = Table.from_rows(domain, codes)
    candidate = Candidate(spec, table)
    asked = [candidate.asked(c) for c in spec.criteria if c.criterion in ("marginals-absolute", "mean")]
    measured = tuple(a.measured(Answer(1, fine_grid(a.sensitivity))) for a in asked if a is not None)
    pairs = [("mother_age", "parity"), ("gestation_week", "birth_weight"), *((name,) for name in domain.names)]
    plain = [tuple(np.arange(domain.axis(name).size) for name in columns) for columns in pairs]
    tables = (
        NoisyTable(c, g, table.marginal(c), Fraction(1, 10), "fixed") for c, g in zip(pairs, plain, strict=True)
    )
    return Town(table, Basis(spec, table, measured, tables=tuple(tables)), BIRTHS)


def test_a_page_of_births_is_small_and_fast(browser: Browser, tmp_path: Path, births: Town) -> None:
    assert births.basis.table.domain.cells == 230_400 and births.basis.table.distinct > 115_000
    page = opened(browser, tmp_path, births)
    assert page.path.stat().st_size < PAGE_BYTES
    page.at()
    changed = """{ const at = (id) => document.getElementById(id);
      [at("rows").value, at("columns").value, at("panels").value] = %s;
      at("controls").dispatchEvent(new Event("change"));
      at("measure").value = %s; }"""
    shown = 'document.getElementById("controls").dispatchEvent(new Event("change")); document.body.offsetHeight'
    for show, split in (
        ("count", ["1", "2", ""]),
        ("count", ["0", "1", "5"]),
        ("share-1", ["0", "1", "3"]),
        ("mean-5", ["1", "2", ""]),
        ("mean-5", ["0", "1", "3"]),
    ):
        browser.do(changed % (json.dumps(split), json.dumps(show)))
        before = page.spent()
        browser.value(shown)
        assert browser.value("document.getElementById('measure').value") == show
        assert page.spent() - before < VIEW_MILLISECONDS, (show, split)
    page.quiet()

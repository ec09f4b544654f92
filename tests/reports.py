"""Studies to report on, and ways to read a page."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

from facsimile.explore.judge import Reading
from facsimile.explore.race import RaceRule
from facsimile.explore.run import explore
from facsimile.explore.study import Study
from facsimile.explore.trials import Trial
from facsimile.spec.load import loads
from studies import EVERY_CRITERION, RULE, Here, configurations, declared, setup

NASTY = "</script><b>x</b> & <!-- "


def study_of(path: Path, rule: RaceRule = RULE, data: str = "people.csv", **changes: Any) -> Study:
    source = yaml.safe_dump(declared(**changes), sort_keys=False)
    return Study.create(path, source, setup(loads(source)), rule, data)


def explored_study(path: Path) -> Study:
    """A whole exploration of simulated people, every kind of exhibit among its results."""
    budget = {"total": "60", "generator": "4", "test": "8", "once": "8"}
    criteria = [{**EVERY_CRITERION[0], "threshold": "0.017"}, *EVERY_CRITERION[1:6]]
    rule = RaceRule(wanted=0.5, trials=6, audited=1.0, finalists=2, fresh=4, steps=1)
    study = study_of(path, rule, criteria=criteria, budget=budget)
    assert explore(study, Here(study.setup)).finished
    return study


def nasty_study(path: Path) -> Study:
    """Markup wherever a specification may hold text; no groups, no numbers for one column, nothing accepted."""
    town = {
        "name": "town",
        "description": NASTY,
        "values": [NASTY.strip(), "elsewhere"],
        "alternatives": {"coarse": [NASTY.strip(), "elsewhere"]},
    }
    age = {
        "name": "age",
        "description": "Age",
        "bounds": ["0", "89"],
        "alternatives": {"coarse": ["0..89 by 15"]},
    }
    height = declared()["columns"][2]
    study = study_of(
        path,
        RULE,
        NASTY,
        title=NASTY,
        description=NASTY,
        columns=[age, town, height],
        criteria=[{"criterion": "marginals-absolute", "threshold": "0.00001", "epsilon": "0.5"}],
    )
    explore(study, Here(study.setup))
    return study


class Elements(HTMLParser):
    """The elements of a page, and the texts of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts[-1] += data


def told(text: str) -> dict[str, Any]:
    """The data that a page holds."""
    found: dict[str, Any] = json.loads(Elements(text).scripts[0])
    return found


def said(text: str) -> str:
    """The words of a page."""
    body = re.sub(r"<script.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).replace("\u00a0", " ").split())


def trial(study: Study, place: int, number: int, accepted: bool, value: float = 0.5, level: str = "2") -> Trial:
    """A made-up trial of a configuration of the study."""
    name = configurations(study.setup.specification)[place].identifier
    readings = tuple(
        Reading(c.name, value * float(c.threshold), float(c.threshold), value < 1)
        for c in study.setup.specification.criteria
    )
    return Trial(name, level, number, accepted, readings, (), 0.5, 0.25)

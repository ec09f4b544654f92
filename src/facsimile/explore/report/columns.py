"""Columns: what each table of the page shows.

An entry is `Words|path|format`. The path leads to a figure of a row, by keys or attributes with points between
them, and its last part names the figure in the page. An interval has a second path, to its end. A column
without words is not shown: a chart draws it. Tables of contenders have columns for each letter (`beside.py`).
"""

from __future__ import annotations

from typing import NamedTuple


class Head(NamedTuple):
    """A column of a table: its words, the path to its figure, its format, and the path to an interval's end."""

    words: str
    path: str
    format: str = "text"
    end: str = ""

    @property
    def field(self) -> str:
        """Its name in the page."""
        return self.path.rpartition(".")[2]

    @property
    def ends(self) -> str:
        """The name of an interval's end."""
        return self.end.rpartition(".")[2]

    @property
    def look(self) -> str:
        """The class of its cells: figures stand to the right, prose gets room."""
        texts = {"prose": "prose", "settings": "prose", "text": "text", "decimal": "text", "verdict": "text"}
        return texts.get(self.format, "figure")

    def as_json(self) -> dict[str, str]:
        """What the script of the page reads: all texts are alike to it."""
        written = self.format if self.look == "figure" else "text"
        return {"field": self.field, "format": written, "look": self.look, "end": self.ends}


def heads(told: str) -> tuple[Head, ...]:
    """Columns from their entries, which semicolons keep apart.

    >>> heads("Scheme|scheme; Total ε|total|exact")[1]
    Head(words='Total ε', path='total', format='exact', end='')
    """
    return tuple(Head(*entry.strip().split("|")) for entry in told.split(";"))


_TRIED = """Trials|estimate.trials|count; Accepted|estimate.accepted|count; Share|estimate.share|share;
    95 % interval|estimate.low|interval|estimate.high; Counted in|estimate.counted"""
_BOTH = "Real|original|{0}; Synthetic|released|{0}; Difference|difference|{0}"
_GROUP = "Group|label; Real records|real|count; Synthetic records|synthetic|count"
SHEETS = {
    "configurations": f"""Configuration|identifier; Family|configuration.family; State|state; {_TRIED};
        CPU s|seconds|number; Settings|configuration.hyperparameters|settings;
        Alternatives|alternatives|settings; Projection|configuration.projection|settings; |label""",
    "criteria": """Criterion|label; Threshold|threshold|number; Trials|trials|count; Not met|missed|share;
        Median ÷ limit|q50|number; Median of those not met ÷ limit|overshoot|number;
        Without a value|undefined|count; |choice; |failed; |q05; |q25; |q75; |q95; |values""",
    "curve": """Scheme|variant; Total ε|total|exact; Chance of a release|release|share; Range|low|interval|high;
        Generator's ε|option.generator|decimal; Selection|option.mode.name""",
    "finalists": f"Configuration|configuration; Generator's ε|epsilon|number; {_TRIED}",
    "time": """Family|label; Trials|trials|count; Fit, mean|fit|number; Judge, mean|judge|number;
        Both, median|median|number; Both, 95 % below|late|number; Trials per hour and core|hour|count""",
    "readings": """Criterion|title; Error|reading.error|number; Threshold|reading.threshold|number;
        Tested|reading.noisy|number; Limit|reading.tested_at|number; Verdict|reading.met|verdict""",
    "columns": """Column|column; Value|label; Real|real|count; Synthetic|synthetic|count;
        Real, share|real_share|share; Synthetic, share|synthetic_share|share;
        Difference, points|points|points; Ratio|ratio|fixed""",
    "pairs": """Column|of; with|among; Combinations|cells|count; Largest difference, points|largest|fixed;
        Records moved|moved|share""",
    "cells": """Value of the first|one; Value of the second|other; Real|real|count; Synthetic|synthetic|count;
        Difference, points|points|points; |pair""",
    "means": """Of|of; Among|label; Real records|real_records|count; Synthetic records|synthetic_records|count;
        Real mean|original|number; Synthetic mean|released|number; Difference|difference|number;
        Threshold|threshold|number; Real median|original_median|number;
        Synthetic median|released_median|number""",
    "correlations": f"Column|of; with|among; {_BOTH.format('fixed')}",
    "regression": f"Feature|of; {_BOTH.format('number')}",
    "worst": f"""{_GROUP}; Largest difference, share of the group|absolute|share;
        where (real → synthetic)|at|prose; Largest ratio|ratio|number;
        where (real → synthetic)|ratio_at|prose""",
    "unmatched": f"{_GROUP}; Without a partner|share|share",
}

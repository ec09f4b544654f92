"""The tutorials: one for every reader, with steps and a refusal; journeys/test_tutorials.py walks them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tutorials import PAGES, Step, steps

READERS = {"curator", "stakeholder", "data-user", "reviewer"}


def test_every_reader_has_one() -> None:
    assert {page.stem.removeprefix("tutorial-") for page in PAGES} == READERS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_says_who_what_and_what_then(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert all(words in text for words in ("**You are**", "**You have**", "**You will**"))
    assert text.split("\n## ")[-1].startswith("When it is refused\n")
    assert len(steps(text)) >= 5
    assert any(step.refused for step in steps(text))
    kinds = {line for line in text.splitlines() if line.startswith("```")}
    assert kinds <= {"```", "```console", "```pycon", "```r", "```stata", "```spss"}, (
        "what is shown as run is run"
    )


@pytest.mark.parametrize("example", ["births", "discharges"])
def test_both_examples_are_walked(example: str) -> None:
    walked = [step.text for page in PAGES for step in steps(page.read_text(encoding="utf-8"))]
    assert any(f"examples/{example}/" in text for text in walked)


def test_what_is_not_printed_is_noticed() -> None:
    printed = "total  9.98\nof 10,\n0.02 remain"
    assert Step(False, "", "total 9.98 … 0.02\nremain").missing(printed) is None
    assert Step(False, "", "0.02 remain … total").missing(printed) == "total"
    assert Step(False, "", "total 9.99").missing(printed) == "total 9.99"


def test_a_refusal_is_known_by_its_code() -> None:
    (step, other) = steps("```console\n$ one\nE101 No. Do.\n$ two\ndone\n```\n")
    assert (step.text, step.refused, other.text, other.refused) == ("one", True, "two", False)

"""The command `answer`: a page that begins with the answer, JSON, and refusals in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from facsimile.cli.program import run
from facsimile.release.run import rehearsal
from releases import request, specification, write_data


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("answered")
    write_data(home)
    asked = request(home, specification=specification(), ledger=None, out=home / "bundle")
    assert rehearsal(asked, 1).report is not None
    return home / "bundle"


def typed(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["facsimile", "answer", *words])
    return run()


def test_the_first_line_after_the_question_is_the_answer(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, str(bundle), "count where sex = F") == 0
    question, answer, *_ = capsys.readouterr().out.splitlines()
    assert question == "count where sex = F" and answer.startswith("About ") and "95 % confidence" in answer


def test_machines_get_json(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        typed(monkeypatch, str(bundle), "table age by sex", "--confidence", "0.9", "--together", "2", "--json")
        == 0
    )
    said = json.loads(capsys.readouterr().out)
    assert said["confidence"] == 0.9 and said["together"] == 2 and said["rehearsal"] is True
    assert {row["status"] for row in said["rows"]} == {"guaranteed"}


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (("count where age < 20",), "E433", 2),
        (("how many",), "E430", 2),
        (("count", "--confidence", "2"), "E435", 2),
    ],
)
def test_a_question_without_an_answer_is_refused_in_one_line(
    words: tuple[str, ...],
    code: str,
    status: int,
    bundle: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert typed(monkeypatch, str(bundle), *words) == status
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith(code)


def test_a_folder_that_is_no_bundle_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, str(tmp_path), "count") == 5
    assert "E509" in capsys.readouterr().err

"""Replicates from Python and from a terminal: any statistic of a release gets a standard error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest

import facsimile
from facsimile.api.replicates import Replicated
from facsimile.errors import FacsimileError
from facsimile.release.run import rehearsal
from programs import Program
from releases import N, request, specification, write_data

FACTORS: dict[str, Any] = {"data": "people of last year", "replicates": "20", "kappa": {"means": "2.5"}}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rehearsed")
    write_data(folder)
    rehearsal(request(folder, specification=specification(calibration=FACTORS)), 3)
    return folder / "bundle"


@pytest.fixture(scope="module")
def made(bundle: Path) -> Replicated:
    return facsimile.replicate(bundle, 3, seed=2)


def share(records: Any) -> float:
    return float((records["sex"] == "F").mean())


def test_a_statistic_is_taken_on_every_table_and_combined(made: Replicated) -> None:
    frames = [[table.to_pandas() for table in tables] for tables in (made.replicates, made.resampled)]
    each = [[share(frame) for frame in tables] for tables in frames]
    release = share(made.release.to_pandas())
    for found, wanted in (
        (made.estimate(share), facsimile.combine(release, *each)),
        (made.estimate(share, target="population"), facsimile.combine(release, each[0], target="population")),
        (made.estimate(share, kappa="means"), facsimile.combine(release, *each, kappa=2.5)),
    ):
        assert found.as_json() == wanted.as_json()
    assert made.estimate(lambda records: [share(records), len(records)]).high[1] == N


def test_a_kind_without_a_factor_is_refused(made: Replicated) -> None:
    with pytest.raises(FacsimileError, match="no calibration for medians"):
        made.estimate(share, kappa="medians")


def test_what_makes_no_replicates_is_refused(made: Replicated, bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(FacsimileError, match="replicates is a whole number, 2 or more"):
        facsimile.replicate(bundle, 1)
    with pytest.raises(FacsimileError, match="csv or parquet"):
        made.save(tmp_path / "out", "xlsx")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_the_command_writes_what_the_call_gives(
    made: Replicated,
    bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program, out = Program(monkeypatch, capsys), tmp_path / "out"
    ran = program("replicate", bundle, "-R", 3, "--seed", 2, "--format", "csv", "-o", out, "--json")
    assert ran.code == 0 and ran.json == made.as_json() == json.loads((out / "replicates.json").read_text())
    assert len(list(out.iterdir())) == 7
    for place, (one, other) in enumerate(zip(made.replicates, made.resampled, strict=True), 1):
        assert pa_csv.read_csv(out / f"replicate-0{place}.csv") == one
        assert pa_csv.read_csv(out / f"resampled-0{place}.csv") == other
    assert "E401" in program("replicate", bundle, "-R", 3, "-o", out).err
    assert "E402" in program("replicate", bundle, "-R", 3, "-o", bundle / "replicates").err


def test_the_page_says_that_nothing_is_guaranteed(made: Replicated) -> None:
    text = made.page().html()
    assert "no guarantee" in text and "calibrated on people of last year" in text

"""Evaluation of public files: raw values or labels, exact figures, refused beside a ledger."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from facsimile.cli.program import app
from facsimile.errors import FacsimileError
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.dataset import dataset_key, key_path
from facsimile.privacy.reader import read_public
from facsimile.release.evaluate import evaluate
from facsimile.release.writing import save
from facsimile.sources.address import Address
from facsimile.spec.load import load
from facsimile.table.encoding import recode

NAMES = [
    "marginals-absolute", "marginals-relative", "mean-parity", "mean-birth_weight", "mean-gestation_week",
    "regression-coefficients", "regression-mae", "faithfulness",
]  # fmt: skip


@pytest.fixture(scope="module")
def files(births: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of raw values, and the second one again as labels of the released alternatives."""
    folder = tmp_path_factory.mktemp("public")
    facts = load_facts(births / "facts.yaml")
    for name, seed in (("a.csv", 1), ("b.csv", 2)):
        save(simulate(facts, 8_000, seed), folder / name)
    specification = load(births / "release.yaml")
    choice = specification.alternatives_named("released")
    table = recode(specification, read_public(folder / "b.csv", specification), choice)
    labels = [
        np.array(axis.labels)[column] for axis, column in zip(table.domain.axes, table.records().T, strict=True)
    ]
    lines = [",".join(table.domain.names), *(",".join(row) for row in zip(*labels, strict=True))]
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    return folder


at = Address.of


def test_labels_and_raw_values_give_the_same_figures(births: Path, files: Path) -> None:
    specification = load(births / "release.yaml")
    raw, labels = (
        evaluate(specification, at(files / "a.csv"), at(files / name)) for name in ("b.csv", "labels.csv")
    )
    assert raw == labels
    assert [v.name for v in raw.verdicts] == NAMES
    assert raw.n == 8_000


def test_a_file_equals_itself(births: Path, files: Path) -> None:
    found = evaluate(load(births / "released.yaml"), at(files / "b.csv"), at(files / "labels.csv"))
    values = {v.name: v.value for v in found.verdicts}
    assert values.pop("marginals-relative") == 1
    assert max(v for v in values.values() if v is not None) < 1e-6
    assert found.accepted


def test_the_command_prints_what_machines_read(births: Path, files: Path) -> None:
    arguments = ["evaluate", str(births / "released.yaml"), "--real", str(files / "a.csv")]
    arguments += ["--synthetic", str(files / "b.csv"), "--public", "--json"]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0
    data = json.loads(found.stdout)
    assert set(data) == {"private", "n", "criteria", "face_privacy", "accepted"}
    assert data["private"] is False
    assert [c["name"] for c in data["criteria"]] == NAMES
    assert all(set(c) - {"groups"} == {"name", "value", "threshold", "met"} for c in data["criteria"])
    grouped = {c["name"]: c["groups"] for c in data["criteria"] if "groups" in c}
    assert set(grouped) == {name for name in NAMES if name.startswith("mean")}
    assert all(groups[0]["real_records"] == data["n"] for groups in grouped.values())
    assert data["accepted"] is all(c["met"] for c in data["criteria"])


def test_a_file_with_its_key_beside_it_is_confidential_and_its_neighbours_are_not(
    births: Path, files: Path, tmp_path: Path
) -> None:
    real, other = tmp_path / "a.csv", tmp_path / "b.csv"
    for path in (real, other):
        path.write_bytes((files / path.name).read_bytes())
    dataset_key(key_path(at(real)))
    spec = load(births / "released.yaml")
    for one, two in ((real, other), (other, real)):
        with pytest.raises(FacsimileError, match=r"E207 a.csv has a dataset key"):
            evaluate(spec, at(one), at(two))
    evaluate(spec, at(other), at(files / "a.csv"))
    labels = tmp_path / "labels.csv"
    labels.write_bytes((files / "labels.csv").read_bytes())
    evaluate(spec, at(other), at(labels))
    dataset_key(key_path(at(labels)))
    with pytest.raises(FacsimileError, match=r"E207 labels.csv"):
        evaluate(spec, at(other), at(labels))


def test_exact_figures_need_the_word_public(births: Path, files: Path) -> None:
    arguments = ["evaluate", str(births / "released.yaml"), "--real", str(files / "a.csv")]
    found = CliRunner().invoke(app, [*arguments, "--synthetic", str(files / "b.csv")])
    assert isinstance(found.exception, FacsimileError)
    assert found.exception.code == "E208"


def test_files_of_different_sizes_are_not_compared(births: Path, files: Path, tmp_path: Path) -> None:
    save(simulate(load_facts(births / "facts.yaml"), 500, 3), tmp_path / "small.csv")
    with pytest.raises(FacsimileError) as refused:
        evaluate(load(births / "released.yaml"), at(files / "a.csv"), at(tmp_path / "small.csv"))
    assert refused.value.code == "E113"


def test_the_public_sample_against_a_resample_of_itself(births: Path, nvss: Path) -> None:
    from facsimile.acceptance import exact_errors
    from facsimile.table.table import Table

    specification = load(births / "nvss.yaml")
    table = recode(
        specification,
        read_public(nvss / "nvss2019_singleton_160k.csv.gz", specification),
        specification.alternatives_named("released"),
    )
    counts = np.random.default_rng(0).multinomial(table.n, table.counts / table.n)
    verdicts = exact_errors(specification, table, Table.from_rows(table.domain, table.codes, counts))
    assert all(v.met for v in verdicts)
    unmatched = next(v.value for v in verdicts if v.name == "faithfulness")
    assert unmatched == pytest.approx(0.018, abs=0.002)


@pytest.mark.parametrize("form", ["sharp", "paper"])
def test_the_command_shows_a_form_as_a_release_tests_it(births: Path, files: Path, form: str) -> None:
    arguments = ["evaluate", str(births / "released.yaml"), "--real", str(files / "a.csv")]
    arguments += ["--synthetic", str(files / "b.csv"), "--public", "--statistic", form]
    data = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert {c["tested"]["form"] for c in data["criteria"]} == {form}
    tested = {c["name"]: c["tested"] for c in data["criteria"]}
    fit = tested["regression-coefficients"]
    assert (fit["sensitivity"] is None) is (form == "paper"), "a distance of fits has none"
    assert all(t["scale"] > 0 and (t is fit or t["sensitivity"] > 0) for t in tested.values())
    shown = CliRunner().invoke(app, arguments)
    assert f"As tested, form {form}" in shown.stdout

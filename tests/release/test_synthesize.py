"""One generator alone: from a file or a frame, reproducible, within its budget, for public data only."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest
from typer.testing import CliRunner

import facsimile
from facsimile.cli.program import app
from facsimile.errors import FacsimileError
from facsimile.explore.facts import load_facts
from facsimile.explore.simulate import simulate
from facsimile.privacy.dataset import dataset_key
from facsimile.release.writing import save
from facsimile.spec.load import loads
from golden.rehearsals import declared, people

N = 3_000


@pytest.fixture(scope="module")
def data(births: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("public") / "births.csv"
    save(simulate(load_facts(births / "facts.yaml"), N, 1), path)
    return path


def arguments(births: Path, data: Path, out: Path, *more: str) -> list[str]:
    given = ["--data", str(data), "-o", str(out), "--family", "workload", *more]
    return ["synthesize", str(births / "released.yaml"), *given]


def test_the_command_writes_labels_and_says_what_it_spent(births: Path, data: Path, tmp_path: Path) -> None:
    outs = [tmp_path / name for name in ("a.csv", "b.csv", "c.parquet")]
    for out, seed in zip(outs, "112", strict=True):
        found = CliRunner().invoke(app, arguments(births, data, out, "--public", "--seed", seed, "--json"))
        assert found.exit_code == 0, found.output
        said = json.loads(found.stdout)
        assert said == {
            "rehearsal": True, "family": "workload", "records": N, "seed": int(seed), "file": out.name,
            "epsilon": 1.0,
        }  # fmt: skip
    assert outs[0].read_bytes() == outs[1].read_bytes()
    lines = outs[0].read_text().splitlines()
    assert len(lines) == N + 1
    assert lines[0].replace('"', "").split(",")[:2] == ["birth_month", "mother_age"]


def test_a_fit_with_delta_says_it_and_needs_something_to_spend(
    births: Path, data: Path, tmp_path: Path
) -> None:
    source = (births / "ours.yaml").read_text(encoding="utf-8")
    spec = tmp_path / "delta.yaml"
    spec.write_text(source.replace("budget:\n", "budget:\n  delta: 0.000000001\n"), encoding="utf-8")
    given = ["synthesize", str(spec), "--data", str(data), "--public", "--family", "mst"]
    found = CliRunner().invoke(app, [*given, "-o", str(tmp_path / "a.csv")])
    assert "mst, epsilon 1, delta 0.000000001. A rehearsal on public data." in found.stdout, found.output
    said = json.loads(CliRunner().invoke(app, [*given, "-o", str(tmp_path / "b.csv"), "--json"]).stdout)
    assert (said["epsilon"], said["delta"]) == (1.0, 1e-9)
    fitted = facsimile.fit(spec, data, public=True, family="mst")
    assert "epsilon 1, delta 0.000000001" in fitted._repr_html_()
    fitted.save(tmp_path / "model")
    assert facsimile.Fitted.load(tmp_path / "model").delta == Fraction(1, 10**9)
    nothing = CliRunner().invoke(app, [*given, "--epsilon", "0.00000001", "-o", str(tmp_path / "c.csv")])
    assert isinstance(nothing.exception, FacsimileError) and nothing.exception.code == "E204"


def test_frames_go_in_and_come_out(births: Path, data: Path) -> None:
    import polars as pl

    table = simulate(load_facts(births / "facts.yaml"), N, 1)
    spec = births / "released.yaml"
    made = [
        facsimile.fit(spec, given, public=True, family="mst", epsilon=Fraction(2), seed=3)
        for given in (table, table.to_pandas(), pl.from_arrow(table), data)
    ]
    samples = [fitted.sample() for fitted in made]
    assert all(sample == samples[0] for sample in samples)
    assert samples[0].to_pandas().shape == (N, 6)
    assert all(0 < fitted.spent <= 2 for fitted in made)


def test_a_prior_and_hyperparameters_are_passed_on(births: Path, data: Path, tmp_path: Path) -> None:
    prior = tmp_path / "prior.csv"
    save(simulate(load_facts(births / "facts.yaml"), 500, 7), prior)
    more = ["--public", "--prior", str(prior), "--set", "measurements=each", "--epsilon", "0.5"]
    found = CliRunner().invoke(app, arguments(births, data, tmp_path / "out.csv", *more))
    assert found.exit_code == 0, found.output
    assert "epsilon 0.5" in found.stdout


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ([], "E208"),
        (["--public", "--family", "oracle"], "E200"),
        (["--public", "--family", "dpctgan"], "E204"),
        (["--public", "--epsilon", "0"], "E200"),
        (["--public", "--epsilon", "much"], "E200"),
        (["--public", "--set", "measurements"], "E200"),
        (["--public", "--set", "colour=blue"], "E200"),
        (["--public", "--set", "sampling=blue"], "E200"),
        (["--public", "--family", "privbayes", "--set", "root=height"], "E200"),
        (["--public", "--set", "measurements=height"], "E200"),
        (["--public", "--family", "privbayes", "--set", "theta=-1"], "E200"),
    ],
)
def test_bad_input_is_refused(births: Path, data: Path, tmp_path: Path, more: list[str], code: str) -> None:
    found = CliRunner().invoke(app, arguments(births, data, tmp_path / "out.csv", *more))
    assert isinstance(found.exception, FacsimileError), found.output
    assert found.exception.code == code
    assert not (tmp_path / "out.csv").exists()


def test_a_file_with_a_key_beside_it_is_not_public(births: Path, data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "births.csv"
    copy.write_bytes(data.read_bytes())
    dataset_key(tmp_path / "births.csv.key")
    found = CliRunner().invoke(app, arguments(births, copy, tmp_path / "out.csv", "--public"))
    assert isinstance(found.exception, FacsimileError)
    assert found.exception.code == "E207"


OWN = {"measurements": "each; age*sex", "weights": "3; 1"}
LISTED = {"alternatives": {"age": "fine"}, "family": "mst", "projection": {"min_count": "2"}}


@pytest.mark.parametrize(
    ("families", "given", "used"),
    [
        (["workload", "mst"], {}, ("workload", OWN)),
        (["mst", "workload"], {}, ("mst", {})),
        (["mst", "workload"], {"family": "workload"}, ("workload", OWN)),
        (["workload"], {"family": "aim"}, ("aim", {})),
        (["workload"], {"hyperparameters": {"weights": "1; 1"}}, ("workload", OWN | {"weights": "1; 1"})),
        (["workload"], {"hyperparameters": {"measurements": "each"}}, ("workload", {"measurements": "each"})),
        (["workload"], {"hyperparameters": {"sampling": "iid"}}, ("workload", OWN | {"sampling": "iid"})),
        (["dpctgan", "workload"], {}, ("workload", OWN)),
    ],
)
def test_what_the_specification_says_is_used_unless_the_call_says_otherwise(
    families: list[str], given: dict[str, Any], used: tuple[str, dict[str, str]]
) -> None:
    """Its first family that it has the guarantee for, and of the family its first combination."""
    grids = {"workload": {key: [value, "auto"] for key, value in OWN.items()}}
    named: dict[str, Any] = {"families": [{"family": name, "grid": grids.get(name, {})} for name in families]}
    spec, table = loads(declared(named)), pa_csv.read_csv(io.BytesIO(people().encode()))
    found = facsimile.fit(spec, table, public=True, **given).recipe.configuration
    assert (found.family, found.hyperparameters) == used


def test_of_a_list_the_first_configuration_is_used() -> None:
    named = {"families": [{"family": "workload"}, {"family": "mst"}], "configurations": [LISTED]}
    columns = json.loads(declared({}))["columns"]
    spec = loads(declared(named | {"columns": [columns[0] | {"use": ["coarse", "fine"]}, *columns[1:]]}))
    table = pa_csv.read_csv(io.BytesIO(people().encode()))
    assert facsimile.fit(spec, table, public=True).recipe.configuration == spec.space.configuration(0)
    other = facsimile.fit(spec, table, public=True, alternatives="coarse").recipe.configuration
    assert (other.family, other.alternatives["age"]) == ("mst", "coarse")

"""A prior from top to bottom: read before a charge, used in every candidate, named in the bundle, verified."""

from __future__ import annotations

import hashlib
import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import yaml

import facsimile
from bad_inputs import LOANS
from facsimile.errors import FacsimileError
from facsimile.explore import trials
from facsimile.explore.priors import named_prior, prior_of
from facsimile.explore.race import RaceRule
from facsimile.explore.run import begin
from facsimile.explore.setup import Setup
from facsimile.privacy import reader
from facsimile.privacy.reader import read_public
from facsimile.release import run, scheme
from facsimile.release.journal import Decision
from facsimile.release.recipe import Recipe
from facsimile.sources.address import Address
from facsimile.spec.load import load, validated
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Known
from facsimile.synthesizers.workload import Workload
from facsimile.table.table import Table
from programs import Program
from releases import specification, write_data

FACTS = """\
facts: 1
title: People
source: A yearbook.
columns:
  - {name: age, bins: [0-44, 45-89]}
  - {name: is_female, values: ["true", "false"]}
tables:
  - {of: [age], percent: [60, 40]}
  - {of: [is_female], percent: [50, 50]}
"""


def write_prior(folder: Path, kind: str = "file", **more: str) -> Path:
    """A specification that names a prior beside it."""
    name = "facts.yaml" if kind == "facts" else "prior.csv"
    people = [f"{(11 * i) % 90},{'true' if i % 2 else 'false'}" for i in range(600)]
    (folder / name).write_text(FACTS if kind == "facts" else "\n".join(["age,is_female", *people]) + "\n")
    sha256 = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    data = specification(
        families=[{"family": "workload"}],
        prior={kind: name, "sha256": sha256, "description": "People elsewhere", **more},
    ).model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    (folder / "release.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    return folder / "release.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_data(tmp_path)
    write_prior(tmp_path)
    return tmp_path


def test_a_release_leans_on_it_names_it_and_is_verified_with_it(folder: Path, run: Program) -> None:
    made = ["release", folder / "release.yaml", "--data", folder / "people.csv", "--out", folder / "bundle"]
    tried = run(*made[:-1], folder / "tried", "--rehearse", "--seed", 1)
    assert tried.code == 0, tried.err
    said = json.loads((folder / "tried" / "report.json").read_text())["prior"]
    sha256 = hashlib.sha256((folder / "prior.csv").read_bytes()).hexdigest()
    assert said == {
        "name": "prior.csv", "facts": False, "records": None, "source": None, "used": True,
        "description": "People elsewhere", "sha256": sha256,
    }  # fmt: skip
    package = json.loads((folder / "tried" / "datapackage.json").read_text())
    assert package["facsimile"]["prior"]["sha256"] == said["sha256"]
    assert "People elsewhere" in (folder / "tried" / "README.html").read_text()
    verify = ["verify", folder / "tried", "--allow-rehearsal"]
    assert "prior.csv, which was not checked" in run(*verify).out
    assert "leans on the public file you named" in run(*verify, "--prior", folder / "prior.csv").out
    other = run(*verify, "--prior", folder / "people.csv")
    assert (other.code, other.err[:4]) == (5, "E506")
    assert run(*verify, "--prior", folder / "none.csv").err[:4] == "E212"
    found = run(*made, "--ledger", folder / "people.ledger")
    assert found.code in (0, 6), found.err


def test_it_is_read_before_the_charge_and_the_data_after_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is wrong with it leaves neither key nor ledger behind."""
    order: list[str] = []
    counted = reader._counted

    def noted(data: Any, specification: Specification) -> Table:
        order.append(data.name)
        return counted(data, specification)

    def searched(*_: object, **__: object) -> Decision:
        order.append("searched")
        return Decision(None, date.today())

    monkeypatch.setattr(reader, "_counted", noted)
    monkeypatch.setattr(run, "searched", searched)
    made: dict[str, Any] = {"ledger": folder / "people.ledger"}
    with pytest.raises(FacsimileError, match="E601"):
        facsimile.release(folder / "release.yaml", folder / "people.csv", folder / "bundle", **made)
    assert order == ["prior.csv", "people.csv", "searched"]


@pytest.mark.parametrize("broken", ["age,is_female\n", "age\n1\n2\n", "age,is_female\nx,true\ny,true\n"])
def test_a_broken_one_is_refused_before_anything_is_made(folder: Path, broken: str) -> None:
    (folder / "prior.csv").write_text(broken)
    spec = (folder / "release.yaml").read_text()
    old, new = load(folder / "release.yaml").prior, hashlib.sha256(broken.encode()).hexdigest()
    assert old is not None and old.sha256 is not None
    (folder / "release.yaml").write_text(spec.replace(old.sha256, new))
    before = sorted(folder.iterdir())
    with pytest.raises(FacsimileError, match="E218"):
        facsimile.release(folder / "release.yaml", folder / "people.csv", folder / "b", ledger=folder / "l")
    assert sorted(folder.iterdir()) == before


def test_every_candidate_is_told_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a rehearsal, of a study's trial and of `fit`: the same table, under the candidate's alternatives."""
    told: list[Table | None] = []
    fit = Workload.fit

    def noted(self: Workload, answers: Any, known: Known, *more: Any) -> Any:
        told.append(known.prior)
        return fit(self, answers, known, *more)

    monkeypatch.setattr(Workload, "fit", noted)
    spec, data = folder / "release.yaml", folder / "people.csv"
    facsimile.release(spec, data, folder / "tried", rehearse=True, seed=1)
    facsimile.fit(spec, data, public=True)
    study = begin(spec, Address.of(data), folder / "a.study", RaceRule(), 1)
    configuration = study.setup.specification.space.configuration(0)
    trials.run(study.setup, trials.Job((configuration,), Fraction(1), 0))
    recipe = study.setup.recipe(configuration)
    assert len(told) > 2 and all(table is not None and table.n == 600 for table in told)
    assert recipe.prior is not None and recipe.prior.domain == recipe.domain
    assert recipe.prior == Recipe.leaning(recipe.specification, configuration, prior_of(load(spec))).prior


def test_a_study_keeps_it(folder: Path) -> None:
    spec, table = load(folder / "release.yaml"), Table.from_rows
    prior = prior_of(spec)
    assert prior is not None
    one = Setup(spec, prior, 1, prior)
    again, without = Setup.unpacked(one.packed()), Setup(spec, prior, 1)
    assert again.same(one) and again.prior == prior and not again.same(without)
    other = table(prior.domain, prior.codes, prior.counts + 1)
    assert not one.same(Setup(spec, prior, 1, other))
    assert Setup.unpacked(without.packed()).prior is None


def test_facts_are_simulated_the_same_each_time(tmp_path: Path) -> None:
    path = write_prior(tmp_path, "facts", records="500")
    specs = [load(path), load(path)]
    one, other = map(prior_of, specs)
    assert one is not None and one.n == 500 and one == other
    assert np.isclose(one.marginal(("sex",))[0] / 500, 0.5, atol=0.01)


def test_a_file_has_the_number_of_records_that_is_said(tmp_path: Path) -> None:
    assert prior_of(load(write_prior(tmp_path, records="600"))) is not None
    with pytest.raises(FacsimileError, match="E218"):
        prior_of(load(write_prior(tmp_path, records="601")))


def test_a_study_is_not_made_of_the_prior_itself(folder: Path) -> None:
    for call in (
        lambda: facsimile.explore(folder / "release.yaml", folder / "prior.csv", folder / "s", public=True),
        lambda: facsimile.fit(folder / "release.yaml", folder / "prior.csv", public=True),
        lambda: facsimile.fit(
            folder / "release.yaml", folder / "people.csv", public=True, prior=folder / "people.csv"
        ),
        lambda: facsimile.check(folder / "release.yaml", folder / "prior.csv"),
    ):
        with pytest.raises(FacsimileError, match="E219"):
            call()


def test_a_family_that_does_not_lean_is_told_nothing(folder: Path) -> None:
    spec = load(folder / "release.yaml")
    prior = prior_of(spec)
    drawn = scheme.Scheme(spec, lambda most: 0, prior).drawn()
    assert drawn.prior is not None
    other = Recipe.leaning(spec, Recipe.alone(spec, spec.first, "mst", {}).configuration, prior)
    assert other.prior is None


def test_check_says_what_models_may_lean_on(folder: Path) -> None:
    found = facsimile.check(folder / "release.yaml")
    assert found.as_json()["prior"] == {"file": "prior.csv", "records": 600}
    assert "Models may lean on prior.csv, a public table of 600 records" in found.page().html()
    assert "prior" not in facsimile.check(specification()).as_json()


def test_a_frame_does_not_lean_on_itself(folder: Path) -> None:
    frame = pa.csv.read_csv(folder / "people.csv")
    with pytest.raises(FacsimileError, match="E219"):
        facsimile.fit(folder / "release.yaml", frame, public=True, prior=frame)


def test_a_prior_is_brought_under_each_configurations_alternatives() -> None:
    spec = load(LOANS)
    prior = read_public(
        pa.table({"age": [20, 50, 70], "branch_code": ["N", "S", "N"], "days": [1, 20, 30]}), spec
    )
    for used in ("coarse", "fine"):
        alternatives = spec.alternatives_named(used)
        configuration = Recipe.alone(spec, alternatives, "workload", {}).configuration
        found = Recipe.leaning(spec, configuration, prior)
        assert found.prior is not None and found.prior.domain == found.domain
        assert Setup(spec, prior, 1, prior).recipe(configuration).prior == found.prior


def test_a_bundle_does_not_say_which_local_file_is_read(tmp_path: Path) -> None:
    """A release that leans on a file: its reader names it, or it is refused without a look at any file."""
    secret, public = tmp_path / "secret.csv", tmp_path / "public.csv"
    secret.write_text("age,is_female\n3,true\n5,true\n")
    public.write_text("age,is_female\n3,true\n4,false\n")
    hashed = hashlib.sha256(public.read_bytes()).hexdigest()
    plain = specification(families=[{"family": "workload"}]).model_dump(mode="json", exclude_none=True)
    prior = {"file": str(secret), "sha256": hashed, "description": "x", "source": "y"}
    spec = validated(plain | {"prior": prior})
    configuration = next(next(spec.space.made())[1])
    for file in (None, secret):
        with pytest.raises(FacsimileError) as refused:
            named_prior(spec, configuration, file)
        assert refused.value.code == "E218"
        assert hashlib.sha256(secret.read_bytes()).hexdigest() not in str(refused.value)
    found = named_prior(spec, configuration, public)
    assert found is not None and found.n == 2

"""Families of other packages: named by an entry point, imported where they are used, and held like ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from facsimile.errors import FacsimileError
from facsimile.release import run as running
from facsimile.spec import families
from facsimile.spec.families import FAMILIES, family_of, others
from facsimile.spec.load import dump
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.registry import registered
from facsimile.testing.synthesizers import fitted, known_of, table_of
from programs import Program
from releases import request, specification, write_data

EVENLY = '''
from dataclasses import dataclass
from fractions import Fraction

from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.synthesizers.base import Synthesizer
from facsimile.synthesizers.consistency import consistent
from facsimile.synthesizers.network import Network, Node


@dataclass(frozen=True)
class Evenly(Synthesizer):
    """Independent columns."""

    part: Fraction = Fraction(1)

    def check(self, domain, n, epsilon):
        if not 0 < self.part <= 1:
            raise ValueError("part lies between 0 and 1")

    def fit(self, answers, known, epsilon, random):
        names = answers.domain.names
        found = answers.run(NoisyMarginals.evenly([(name,) for name in names], epsilon * self.part))
        laws = consistent(found, known.n, known.zeros)
        nodes = tuple(Node.of(name, (), law) for name, law in zip(names, laws, strict=True))
        return Network(answers.domain, nodes, known.zeros)


@dataclass(frozen=True)
class Approximate(Evenly):
    law = "delta"


@dataclass(frozen=True)
class Stranger:
    part: int = 1


def function():
    """No class."""
'''
BROKEN = "raise RuntimeError('a secret of the machine')\n"
Install = Callable[[str, dict[str, str], str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Another package, as an installer leaves it: a module, and the entry points of its distribution."""

    def installed(module: str, points: dict[str, str], code: str = EVENLY) -> None:
        place = tmp_path / f"site-{module}"
        about = place / f"{module}-1.0.dist-info"
        about.mkdir(parents=True)
        (place / f"{module}.py").write_text(code)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        lines = [f"{name} = {module}:{target}" for name, target in points.items()]
        (about / "entry_points.txt").write_text("\n".join([f"[{families.GROUP}]", *lines]) + "\n")
        monkeypatch.syspath_prepend(place)
        monkeypatch.delitem(sys.modules, module, raising=False)
        families.others.cache_clear()

    _forget()
    yield installed
    _forget()


def _forget() -> None:
    families.others.cache_clear()
    families._imported.cache_clear()


def written(folder: Path, *names: str, **grid: list[str]) -> Path:
    chosen = [{"family": name, "grid": grid if name != "mst" else {}} for name in names]
    path = folder / "release.yaml"
    path.write_text(dump(specification(families=chosen)), encoding="utf-8")
    return path


def test_it_goes_through_check_synthesize_and_rehearsal(install: Install, tmp_path: Path, run: Program) -> None:
    install("evenly_package", {"evenly": "Evenly"}, EVENLY)
    spec = written(tmp_path, "evenly", part=["1", "0.5"], sampling=["iid"])
    data, out, bundle = write_data(tmp_path), tmp_path / "made.csv", tmp_path / "bundle"
    checked = run("check", spec, "--json")
    assert checked.code == 0, checked
    assert checked.json["configurations"]["by_family"][0]["family"] == "evenly"
    made = run("synthesize", spec, "--data", data, "--public", "--family", "evenly", "--out", out, "--seed", 1)
    assert made.code == 0, made
    assert len(out.read_text().splitlines()) == 401
    rehearsed = run("release", spec, "--data", data, "--out", bundle, "--rehearse", "--seed", 1, "--json")
    assert rehearsed.code == 0, rehearsed
    assert rehearsed.json["family"] == "evenly"
    assert "evenly" in (bundle / "README.html").read_text()


def test_it_keeps_the_contract_of_families(install: Install) -> None:
    install("evenly_package", {"evenly": "Evenly"}, EVENLY)
    table = table_of((3, 4))
    run = fitted(registered("evenly").of({"part": "0.5"}), table, known_of(table), Fraction(1))
    assert run.spent == Fraction(1, 2)
    assert run.model.sample(70, np.random.default_rng(1)).n == 70
    assert family_of("evenly") == families.Family(("part", "sampling"))


def test_its_hyperparameters_are_held_like_ours(install: Install, tmp_path: Path, run: Program) -> None:
    install("evenly_package", {"evenly": "Evenly"}, EVENLY)
    path = written(tmp_path, "evenly", part=["1"])
    good = path.read_text()
    path.write_text(good.replace("part:", "prt:"))
    assert "E213" in run("check", path).err
    path.write_text(good.replace("evenly", "evenlly"))
    misspelled = run("check", path)
    assert (misspelled.code, "Did you mean evenly?" in misspelled.err) == (2, True)
    written(tmp_path, "evenly", part=["7"])
    assert "part lies between 0 and 1" in run("check", path).err


@pytest.mark.parametrize(
    ("target", "code", "reason"),
    [
        ("Evenly", BROKEN, "its import ends with RuntimeError"),
        ("Nobody", EVENLY, "its import ends with AttributeError"),
        ("function", EVENLY, "it is no dataclass"),
        ("Stranger", EVENLY, "it is no synthesizer"),
    ],
)
def test_one_that_cannot_be_used_is_refused_before_a_charge_and_only_where_it_is_named(
    install: Install, tmp_path: Path, run: Program, target: str, code: str, reason: str
) -> None:
    install("broken_package", {"broken": target}, code)
    ours, data = written(tmp_path, "mst"), write_data(tmp_path)
    assert run("check", ours).code == 0
    ledger = tmp_path / "people.ledger"
    theirs = tmp_path / "theirs.yaml"
    theirs.write_text(ours.read_text().replace("family: mst", "family: broken"))
    for refused in (
        run("check", theirs),
        run("release", theirs, "--data", data, "--ledger", ledger, "--out", tmp_path / "bundle"),
        run("synthesize", ours, "--data", data, "--public", "--family", "broken", "--out", tmp_path / "x.csv"),
    ):
        assert refused.code == 2
        assert f"The family broken of another package cannot be used: {reason}." in refused.err
        assert "secret" not in refused.out + refused.err
    assert not ledger.exists()
    assert (
        run("synthesize", ours, "--data", data, "--public", "--family", "mst", "--out", tmp_path / "y.csv").code
        == 0
    )


def test_none_replaces_one_of_ours(install: Install) -> None:
    install("evenly_package", {"mst": "Evenly", "evenly": "Evenly"}, EVENLY)
    assert list(others()) == ["evenly"]
    assert registered("mst") is MST
    assert family_of("mst") is FAMILIES["mst"]


def test_one_name_of_two_packages_is_nobodys(install: Install) -> None:
    install("evenly_package", {"evenly": "Evenly"}, EVENLY)
    install("other_package", {"evenly": "Evenly"}, EVENLY)
    with pytest.raises(FacsimileError, match="two packages provide it"):
        registered("evenly")


def test_one_that_needs_a_delta_is_never_run_without(install: Install, tmp_path: Path, run: Program) -> None:
    install("evenly_package", {"approximate": "Approximate"}, EVENLY)
    chosen = specification(families=[{"family": "approximate"}, {"family": "mst"}])
    assert [grid.family for grid in chosen.space.pure().grids] == ["mst"]
    write_data(tmp_path)
    report = running.rehearsal(request(tmp_path, specification=chosen), 1).report
    assert report is not None
    assert report.as_json()["family"] == "mst"
    refused = run("check", written(tmp_path, "approximate"))
    assert (refused.code, "E204" in refused.err, "needs a delta" in refused.err) == (2, True, True)


def test_an_unknown_name_is_refused_and_nothing_is_imported_for_it(
    install: Install, tmp_path: Path, run: Program
) -> None:
    install("broken_package", {"broken": "Evenly"}, BROKEN)
    path = written(tmp_path, "mst")
    path.write_text(path.read_text().replace("family: mst", "family: nobody"))
    refused = run("check", path)
    assert (refused.code, "There is no family nobody" in refused.err) == (2, True)
    assert "broken_package" not in sys.modules


def test_the_version_looks_at_no_entry_point() -> None:
    code = (
        "import sys, importlib.metadata as m; m.entry_points = None; sys.argv = ['facsimile', '--version']\n"
        "from facsimile.cli import main\n"
        "try: main()\n"
        "except SystemExit as stopped: print(stopped.code)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split()[-1] in ("0", "None")

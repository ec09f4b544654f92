"""Replicates: the scheme on the release, the same for everybody, and told where it accepted nothing."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2

from facsimile.errors import FacsimileError
from facsimile.privacy.reader import read_public
from facsimile.release import replicates as module
from facsimile.release.opened import open_bundle
from facsimile.release.recipe import Recipe
from facsimile.release.replicates import REPLICATES, Replication, replicate_files
from facsimile.release.run import rehearsal, rehearsed
from facsimile.release.scheme import Accepted, presentable
from facsimile.release.verify import verify
from facsimile.release.writing import labelled
from facsimile.sources.address import Address
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from releases import SURE, approximate, request, specification, write_data

pytestmark = pytest.mark.usefixtures("typeset_once")

IMPOSSIBLE = [{"criterion": "marginals-absolute", "threshold": "0.0001", "epsilon": "0.5"}]


def released(folder: Path, spec: Specification, seed: int = 3) -> Accepted:
    table = read_public(Address.of(write_data(folder)), spec)
    accepted, _ = rehearsed(spec, table, seed)
    assert accepted is not None
    return accepted


def replication(folder: Path, spec: Specification) -> tuple[Accepted, Replication]:
    accepted = released(folder, spec)
    return accepted, Replication.of(spec, accepted.configuration, accepted.table)


@pytest.mark.parametrize(
    "spec",
    [
        specification(),
        specification(scheme="train-once"),
        approximate("measured"),
        approximate("test-then-measure"),
        specification(scheme="paper", selection={"mode": "paper"}, budget={"total": "30", "generator": "3"}),
    ],
    ids=["plain", "train-once", "measured with delta", "with delta", "until success"],
)
def test_a_replicate_is_a_table_that_the_scheme_could_release(spec: Specification, tmp_path: Path) -> None:
    accepted, made = replication(tmp_path, spec)
    recipe = Recipe(spec, accepted.configuration)
    for one in made.replicates(2, seed=1):
        assert one.accepted and one.table.domain == accepted.table.domain == one.resampled.domain
        assert presentable(recipe, one.table) and one.resampled.n == spec.n


def test_the_release_is_itself_under_its_own_alternatives(tmp_path: Path) -> None:
    for seed in range(6):
        accepted = released(tmp_path, specification(), seed)
        made = Replication.of(specification(), accepted.configuration, accepted.table)
        found = recode(made.specification, made.release, accepted.configuration.alternatives)
        assert found == accepted.table
        assert made.specification.first == accepted.configuration.alternatives


def test_a_seed_gives_the_same_replicates_in_any_number_of_processes(tmp_path: Path) -> None:
    _, made = replication(tmp_path, specification())
    told: list[int] = []
    alone, apart = list(made.replicates(3, 1, watch=told.append)), list(made.replicates(3, 1, workers=2))
    assert told == [1, 2, 3] and len({one.seed for one in alone}) == 3
    for one, other in zip(alone, apart, strict=True):
        assert (one.table, one.resampled) == (other.table, other.resampled)
        assert (one.seed, one.tried) == (other.seed, other.tried)
    assert [one.table for one in made.replicates(3, 2)] != [one.table for one in alone]


def test_records_are_drawn_with_replacement(tmp_path: Path) -> None:
    """Pearson's statistic of every row, summed over draws: its law is known."""
    accepted, _ = replication(tmp_path, specification())
    table, draws, random = accepted.table, 200, np.random.default_rng(11)
    total = 0.0
    for _ in range(draws):
        drawn = module._resampled(table, random)
        assert drawn.n == table.n
        counts = {tuple(row): n for row, n in zip(drawn.codes.tolist(), drawn.counts.tolist(), strict=True)}
        observed = np.array([counts.pop(tuple(row), 0) for row in table.codes.tolist()])
        assert not counts
        total += float(((observed - table.counts) ** 2 / table.counts).sum())
    freedom = draws * (table.distinct - 1)
    assert chi2.ppf(5e-7, freedom) < total < chi2.ppf(1 - 5e-7, freedom)


def test_with_hardly_any_noise_a_replicate_says_what_it_was_made_from(tmp_path: Path) -> None:
    """So its error is the scheme's own and nothing that resampling brings."""
    families = [{"family": "workload", "grid": {"measurements": ["age*sex"]}}]
    budget = {"total": "100000", "generator": "30000", "test": "1000"}
    projection = {"algorithm": ["margins"], "min_count": ["1"]}
    spec = specification(families=families, budget=budget, projection=projection)
    accepted, made = replication(tmp_path, spec)
    one = made.replicate(1, 0)
    assert np.abs(one.table.marginal(("age", "sex")) - one.resampled.marginal(("age", "sex"))).max() <= 1
    assert (accepted.table.marginal(("age", "sex")) != one.resampled.marginal(("age", "sex"))).any()


@pytest.mark.parametrize("mode", ["single", "paper"])
def test_where_no_candidate_passes_one_is_taken_and_told(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CANDIDATES", 4)
    accepted = released(tmp_path, specification())
    spec = specification(criteria=IMPOSSIBLE, selection={"mode": mode})
    one = Replication.of(spec, accepted.configuration, accepted.table).replicate(1, 0)
    assert (one.accepted, one.tried) == (False, 4)
    assert presentable(Recipe(spec, accepted.configuration), one.table)


def test_files_hold_the_replicates_and_say_what_they_are(tmp_path: Path) -> None:
    factors: dict[str, Any] = {"data": "births.csv", "replicates": "20", "kappa": {"means": "2.5"}}
    spec = specification(calibration=factors)
    accepted, made = replication(tmp_path, spec)
    files = replicate_files(spec, accepted.configuration, accepted.table, number=2, seed=5)
    names = [f"{kind}-0{place}.parquet" for place in (1, 2) for kind in ("replicate", "resampled")]
    assert list(files) == [*names, "replicates.json"]
    second = list(made.replicates(2, 5))[1]
    assert pq.read_table(io.BytesIO(files["replicate-02.parquet"])) == labelled(second.table)
    assert pq.read_table(io.BytesIO(files["resampled-02.parquet"])) == labelled(second.resampled)
    said = json.loads(files["replicates.json"])
    assert (said["seed"], said["replicates"], said["guaranteed"]) == (5, 2, False)
    assert said["made"][1] == {"seed": str(second.seed), "tried": second.tried, "accepted": True}
    assert said["calibration"]["kappa"] == {"means": "2.5"}


def test_a_bundle_holds_replicates_where_its_specification_says_so(tmp_path: Path) -> None:
    """Their hashes are verified; made again from the bundle with the seed they tell, they are the same."""
    write_data(tmp_path)
    spec = specification(publish=["replicates"], criteria=SURE)
    rehearsal(request(tmp_path, specification=spec), 3)
    folder = tmp_path / "bundle"
    assert verify(folder, allow_rehearsal=True).rehearsal
    found = {path.name: path.read_bytes() for path in (folder / "replicates").iterdir()}
    assert len(found) == 2 * REPLICATES + 1
    release = open_bundle(folder).release
    assert replicate_files(spec, release.configuration, release.table) == found
    (folder / "replicates" / "replicate-01.parquet").write_bytes(b"other")
    with pytest.raises(FacsimileError, match="E502"):
        verify(folder, allow_rehearsal=True)

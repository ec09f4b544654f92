"""The prior's file: another one than the data under every name, and the one that the hash says."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from facsimile.errors import FacsimileError
from facsimile.release.check import check
from facsimile.release.prior import admitted, fingerprint, found_hash, refuse_same
from facsimile.sources.address import Address
from facsimile.spec.prior import Prior
from releases import specification

CONTENT = b"age\n20\n30\n"


def of(path: Path, sha256: str | None = None) -> Prior:
    return Prior(file=str(path), sha256=sha256 or hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prior.csv"
    path.write_bytes(CONTENT)
    return path


def refused(prior: Prior, data: Path | None = None) -> FacsimileError:
    with pytest.raises(FacsimileError) as found:
        admitted(prior, None if data is None else Address.of(data))
    return found.value


def test_the_file_of_the_hash_is_admitted_beside_other_data(file: Path, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(CONTENT)
    assert admitted(of(file), Address.of(tmp_path / "data.csv")).file == file


def test_another_file_is_told_with_its_hash(file: Path) -> None:
    found = refused(of(file, "0" * 64))
    assert found.code == "E217" and hashlib.sha256(CONTENT).hexdigest() in found.next_step
    file.write_bytes(CONTENT + b"40\n")
    assert refused(of(file)).code == "E217"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refused(of(tmp_path / "none.csv")).code == "E218"
    assert refused(of(tmp_path)).code == "E218"
    assert fingerprint(Address.of(tmp_path / "none.csv")) is None


def test_data_are_not_their_own_prior_under_any_name(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(file)
    (tmp_path / "other.csv").hardlink_to(file)
    for name in (file, tmp_path / "link.csv", tmp_path / "other.csv", tmp_path / "." / "prior.csv"):
        assert refused(of(name), file).code == "E219"
        assert refused(of(file), name).code == "E219"


def test_the_hash_of_the_data_is_not_told(file: Path) -> None:
    """Whoever reads it could test a guess of the whole file."""
    assert refused(of(file, "0" * 64), file).code == "E219"
    file.with_name("prior.csv.key").write_text("{}")
    assert refused(of(file, "0" * 64)).code == "E207"
    assert found_hash(of(file)) is None


def test_parts_of_one_source_are_one() -> None:
    for one, other in [
        ("spark://local/lake", "spark://local/lake/births"),
        ("births.sqlite#a", "births.sqlite#b"),
        ("postgres://me@host/d#births", "postgres://you@HOST:5432/d#public.births"),
    ]:
        with pytest.raises(FacsimileError, match="E219"):
            refuse_same(Address.of(one), Address.of(other))
        with pytest.raises(FacsimileError, match="E219"):
            refuse_same(Address.of(other), Address.of(one))
    refuse_same(Address.of("a.csv"), Address.of("b.csv"))
    refuse_same(Address.of("a.csv"), Address.of("postgres://me@host/d#births"))
    refuse_same(Address.of("a.csv"), None)


def test_a_prior_without_a_hash_or_a_family_makes_no_release(file: Path) -> None:
    with pytest.raises(FacsimileError, match="E217") as found:
        check(specification(prior={"file": str(file)}))
    assert hashlib.sha256(CONTENT).hexdigest() in found.value.next_step
    named = {"file": str(file), "sha256": "a" * 64}
    with pytest.raises(FacsimileError, match="E200"):
        check(specification(prior=named, families=[{"family": "mst"}]))
    notes = {line.family: line.note for line in check(specification(prior=named)).families}
    assert notes == {"mst": "does not use the prior", "workload": ""}

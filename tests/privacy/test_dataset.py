from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy.dataset import KEY_BYTES, dataset_key, dataset_tag


def test_a_key_is_made_once_and_kept_to_oneself(tmp_path: Path) -> None:
    path = tmp_path / "births.key"
    key = dataset_key(path)
    assert dataset_key(path) == key
    assert len(key) == KEY_BYTES
    assert path.stat().st_mode & 0o777 == 0o600
    assert dataset_key(tmp_path / "other.key") != key


def test_a_broken_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short.key").write_bytes(b"short")
    with pytest.raises(FacsimileError) as refused:
        dataset_key(tmp_path / "short.key")
    assert refused.value.code == "E314"


def test_the_tag_follows_the_data_and_needs_the_key(tmp_path: Path) -> None:
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("x\n1\n")
    other.write_text("x\n2\n")
    key = dataset_key(tmp_path / "key")
    tag = dataset_tag(one, key)
    assert tag == dataset_tag(str(one), key) != dataset_tag(other, key)
    assert dataset_tag(one, bytes(KEY_BYTES)) != tag
    assert tag != hashlib.sha256(one.read_bytes()).hexdigest()
    other.write_text("x\n1\n")
    assert dataset_tag(other, key) == tag


def test_a_table_in_a_database_is_tagged_by_its_address() -> None:
    key = bytes(KEY_BYTES)
    tags = {dataset_tag(f"postgres://host/registry#{name}", key) for name in ("births", "deaths")}
    assert len(tags) == 2

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy.anchor import NOTHING, Anchor, Mark
from facsimile.privacy.dataset import KEY_BYTES, dataset_key, dataset_tag, key_path, refuse_confidential
from facsimile.privacy.ledger import Ledger
from facsimile.sources.address import Address

at = Address.of


def test_a_key_is_made_once_and_kept_to_oneself(tmp_path: Path) -> None:
    path = tmp_path / "births.key"
    key = dataset_key(path)
    assert dataset_key(path) == key
    assert len(key) == KEY_BYTES == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert dataset_key(tmp_path / "other.key") != key


def test_a_broken_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short.key").write_bytes(b"short")
    with pytest.raises(FacsimileError) as refused:
        dataset_key(tmp_path / "short.key")
    assert refused.value.code == "E317"
    for size, sound in ((KEY_BYTES - 1, False), (KEY_BYTES, True), (KEY_BYTES + 1, False)):
        path = tmp_path / f"{size}.key"
        Anchor(path).write(Mark("", NOTHING, "", 0, key="ab" * size))
        if sound:
            assert dataset_key(path) == b"\xab" * size
        else:
            with pytest.raises(FacsimileError, match="E317"):
                dataset_key(path)
    Ledger.at(tmp_path / "ledger").create("tag", Fraction(1))
    with pytest.raises(FacsimileError, match="E317"):
        dataset_key(tmp_path / "ledger.anchor")


def test_the_tag_follows_the_data_and_needs_the_key(tmp_path: Path) -> None:
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("x\n1\n")
    other.write_text("x\n2\n")
    key = dataset_key(tmp_path / "key")
    tag = dataset_tag(at(one), key)
    assert tag == dataset_tag(at(str(one)), key) != dataset_tag(at(other), key)
    assert dataset_tag(at(one), bytes(KEY_BYTES)) != tag
    assert tag != hashlib.sha256(one.read_bytes()).hexdigest()
    other.write_text("x\n1\n")
    assert dataset_tag(at(other), key) == tag


def test_the_resolved_address_decides_whose_key_it_is(tmp_path: Path) -> None:
    data = tmp_path / "people.sqlite"
    data.write_bytes(b"x")
    (tmp_path / "link.sqlite").symlink_to(data)
    (tmp_path / "odd#name.csv").write_bytes(b"y")
    key = dataset_key(key_path(at(data)))
    for name in ("people.sqlite", "people.sqlite#people", "link.sqlite", "link.sqlite#people"):
        assert key_path(at(tmp_path / name)) == tmp_path / "people.sqlite.key"
        assert dataset_tag(at(tmp_path / name), key) == dataset_tag(at(data), key)
        with pytest.raises(FacsimileError, match="E207"):
            refuse_confidential(tmp_path / name)
    with pytest.raises(FacsimileError, match="E207"):
        refuse_confidential(f"spark://local{data}")
    (tmp_path / "odd#name.csv.key").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FacsimileError, match="E207"):
        refuse_confidential(tmp_path / "odd#name.csv")
    (tmp_path / "odd#name.csv.key").unlink()
    refuse_confidential(tmp_path / "odd#name.csv")
    assert key_path(at(tmp_path / "odd#name.csv")).name == "odd#name.csv.key"


def test_a_key_lies_beside_a_file_and_where_it_is_named_for_anything_else(tmp_path: Path) -> None:
    data, folder = tmp_path / "people.csv", tmp_path / "parts"
    data.write_bytes(b"x")
    folder.mkdir()
    beside = tmp_path / "people.csv.key"
    assert key_path(at(data), tmp_path / "parts" / ".." / "people.csv.key") == beside
    for source in ("postgres://host/registry#births", f"spark://local{folder}", "spark://local#births"):
        assert key_path(at(source), tmp_path / "k") == tmp_path / "k"
        assert refused(source) == "E115"
    assert refused(str(data), tmp_path / "elsewhere.key") == "E116"
    assert refused(f"spark://local{folder}", folder / "deep" / "births.key") == "E116"
    assert refused("postgres://host/registry#births", beside) == "E116", "it is the key of a file"
    assert refused(str(tmp_path / "none.csv")) == "E101"
    assert refused(str(tmp_path / "none.csv"), beside) == "E101"
    assert refused(str(folder), beside) == "E105"


def refused(source: str, named: Path | None = None) -> str:
    with pytest.raises(FacsimileError) as caught:
        key_path(at(source), named)
    return caught.value.code


def test_a_table_in_a_database_is_tagged_by_what_it_is_and_not_by_its_spelling() -> None:
    key = bytes(KEY_BYTES)
    same = ("postgres://host/registry#births", "postgresql://me:secret@HOST:5432/registry#public.births")
    tags = [dataset_tag(at(source), key) for source in (*same, "postgres://host/registry#deaths")]
    assert tags[0] == tags[1] != tags[2]

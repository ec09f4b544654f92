"""Sources without a folder of their own are known to be confidential all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from facsimile.errors import FacsimileError
from facsimile.sources import claims
from facsimile.sources.address import Address
from facsimile.sources.claims import claim, claimed, is_confidential, refuse_other_key

at = Address.of
BIRTHS = "postgres://me@host/registry#births"
ONE, TWO = b"1" * 32, b"2" * 32


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACSIMILE_STATE", str(tmp_path / "state" / "deep"))
    return tmp_path / "state" / "deep"


def code(call: object, *given: object) -> str:
    with pytest.raises(FacsimileError) as caught:
        call(*given)  # type: ignore[operator]
    return caught.value.code


def test_a_claimed_table_is_confidential_in_every_spelling_and_keeps_its_key(own: Path) -> None:
    assert not is_confidential(at(BIRTHS))
    assert not own.exists(), "a look makes nothing"
    claim(at(BIRTHS), ONE)
    claim(at("postgresql://you:secret@HOST:5432/registry#public.births"), ONE)
    assert len(list(own.glob("*.claim"))) == 1
    assert is_confidential(at("postgresql://HOST:5432/registry#public.births"))
    for other in ("#deaths", "#x.births"):
        assert not is_confidential(at("postgres://host/registry" + other))
    refuse_other_key(at(BIRTHS), ONE)
    assert code(refuse_other_key, at(BIRTHS), TWO) == "E316"
    assert code(refuse_other_key, at(BIRTHS), None) == "E316", "a key that is not there is not made"
    assert code(claim, at(BIRTHS), TWO) == "E316"
    assert own.stat().st_mode & 0o077 == 0
    content = b"".join(path.read_bytes() for path in own.iterdir())
    assert b"me@" not in content and b"secret" not in content and ONE not in content


def test_a_file_is_never_claimed(tmp_path: Path, own: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"x")
    claim(at(tmp_path / "people.csv"), ONE)
    claim(at(f"spark://local{tmp_path}/people.csv"), ONE)
    assert not own.exists()


def test_parts_of_a_folder_and_folders_around_it_are_the_same_data(tmp_path: Path) -> None:
    folder = tmp_path / "all" / "people.parquet"
    (folder / "year=1").mkdir(parents=True)
    part = folder / "year=1" / "part-0.parquet"
    part.write_bytes(b"x")
    public = tmp_path / "all" / "public.parquet"
    public.write_bytes(b"x")
    (tmp_path / "link.parquet").symlink_to(part)
    claim(at(f"spark://local{folder}"), ONE)
    same = (
        f"spark://local{folder}/",
        f"spark://host:1{folder}",
        f"spark://local{tmp_path}/all/x/../people.parquet",
    )
    for text in same:
        assert is_confidential(at(text))
        refuse_other_key(at(text), ONE)
    inside = (f"spark://local{folder}/year=1", str(part), f"{tmp_path}/link.parquet", f"spark://local{part}")
    for text in (*inside, f"spark://local{folder.parent}"):
        assert is_confidential(at(text)), text
        assert code(refuse_other_key, at(text), ONE) == "E316", text
    assert not is_confidential(at(public)), "a file beside the folder is public"
    assert not is_confidential(at(f"spark://local{public}"))


def test_a_key_is_of_one_source_unless_its_folder_moved(tmp_path: Path) -> None:
    claim(at(BIRTHS), ONE)
    assert code(refuse_other_key, at("postgres://host/registry#deaths"), ONE) == "E315"
    assert code(claim, at("postgres://host/registry#deaths"), ONE) == "E315"
    (tmp_path / "old").mkdir()
    claim(at(f"spark://local{tmp_path}/old"), TWO)
    assert code(refuse_other_key, at(f"spark://local{tmp_path}/new"), TWO) == "E315"
    (tmp_path / "old").rename(tmp_path / "new")
    refuse_other_key(at(f"spark://local{tmp_path}/new"), TWO)


def test_a_folder_that_holds_a_file_with_a_key_is_confidential(tmp_path: Path) -> None:
    for name in ("a/deep", "b", "c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a/deep/people.csv").write_bytes(b"x")
    (tmp_path / "a/deep/loop").symlink_to(tmp_path / "a")
    (tmp_path / "b/linked").symlink_to(tmp_path / "a/deep")
    (tmp_path / "c/people.csv").symlink_to(tmp_path / "a/deep/people.csv")
    texts = [f"spark://local{tmp_path}/{name}" for name in ("a", "a/deep", "b", "c")]
    assert not any(is_confidential(at(text)) for text in texts)
    (tmp_path / "a/deep/people.csv.key").write_bytes(b"k")
    assert all(is_confidential(at(text)) for text in texts)
    assert {code(refuse_other_key, at(text), ONE) for text in texts} == {"E316"}


@pytest.mark.parametrize("content", [b"", b"nonsense\n", b"00000002 ce4b56da {}\n"])
def test_what_may_be_a_claim_and_cannot_be_read_refuses(own: Path, content: bytes) -> None:
    own.mkdir(parents=True)
    (own / "a.claim").write_bytes(content)
    assert code(claimed, at(BIRTHS)) == "E117"


def test_a_state_that_cannot_be_written_refuses_claims_and_no_public_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_bytes(b"a file")
    monkeypatch.setenv("FACSIMILE_STATE", str(tmp_path / "home" / "state"))
    (tmp_path / "public.csv").write_bytes(b"x")
    assert not is_confidential(at(tmp_path / "public.csv"))
    assert not is_confidential(at(BIRTHS))
    assert code(claim, at(BIRTHS), ONE) == "E118"
    monkeypatch.delenv("FACSIMILE_STATE")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError))
    assert not is_confidential(at(BIRTHS))
    assert code(claim, at(BIRTHS), ONE) == "E118"


def test_the_state_folder_is_where_the_system_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FACSIMILE_STATE")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert claims._state() == tmp_path / "xdg" / "facsimile"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert claims._state() == tmp_path / ".local" / "state" / "facsimile"

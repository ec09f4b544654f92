"""What storage promises: a line is on the disk or not there, one process at a time, never through a link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from facsimile import storage
from facsimile.errors import FacsimileError, LedgerRefused


def code(action: Callable[[], object]) -> str:
    """The code of a refusal that must come without a chained exception."""
    with pytest.raises(LedgerRefused) as caught:
        action()
    assert caught.value.__cause__ is None and caught.value.__suppress_context__ is (
        caught.value.__context__ is not None
    )
    return caught.value.code


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    storage.append(path, b"one\n", create=True)
    return path


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(storage, "reached", found.append)
    return found


def test_lines_are_appended(file: Path, steps: list[str]) -> None:
    storage.append(file, b"two\n")
    assert storage.read(file) == b"one\ntwo\n"
    assert steps == ["append", "written", "synced"]


def test_creating_refuses_an_existing_file(file: Path) -> None:
    assert code(lambda: storage.append(file, b"two\n", create=True)) == "E330"
    assert storage.read(file) == b"one\n"


def test_appending_creates_nothing(tmp_path: Path) -> None:
    assert code(lambda: storage.append(tmp_path / "none", b"one\n")) == "E330"
    assert names(tmp_path) == []


def test_replacing_leaves_one_whole_file(file: Path, steps: list[str]) -> None:
    storage.replace(file, b"other\n")
    assert storage.read(file) == b"other\n"
    assert steps == ["append", "written", "synced", "replaced"]
    assert names(file.parent) == ["file"]


def test_what_a_crash_left_beside_it_is_overwritten(file: Path) -> None:
    file.with_name("file.new").write_bytes(b"half")
    storage.replace(file, b"other\n")
    assert storage.read(file) == b"other\n"


def test_files_are_for_their_owner_only(file: Path) -> None:
    before = os.umask(0)
    try:
        storage.append(file.with_name("open"), b"one\n", create=True)
        storage.replace(file, b"other\n")
        with storage.locked(file, 0):
            pass
    finally:
        os.umask(before)
    assert {name: mode(file.with_name(name)) for name in names(file.parent)} == {
        "file": 0o600, "file.lock": 0o600, "open": 0o600
    }  # fmt: skip


def test_a_link_is_never_followed(file: Path) -> None:
    link = file.with_name("link")
    link.symlink_to(file)
    assert code(lambda: storage.append(link, b"two\n")) == "E330"
    assert code(lambda: storage.append(link, b"two\n", create=True)) == "E330"
    with pytest.raises(OSError, match="symbolic links"):
        storage.read(link)
    file.with_name("file.lock").symlink_to(file)
    with pytest.raises(LedgerRefused, match="E314"), storage.locked(file, 0):
        pass
    assert storage.read(file) == b"one\n"


def test_a_dangling_link_is_not_created_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert code(lambda: storage.append(tmp_path / "link", b"one\n", create=True)) == "E330"
    assert names(tmp_path) == ["link"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_refused() -> None:
    assert code(lambda: storage.append(Path("/dev/full"), b"one\n")) == "E330"
    assert not Path("/dev/full.suspect").exists()


def half(descriptor: int, line: bytes) -> int:
    return WRITE(descriptor, line[: len(line) // 2])


def full(descriptor: int, line: bytes) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def half_then_full(descriptor: int, line: bytes) -> int:
    """What some network disks do: half is there and the call still fails."""
    half(descriptor, line)
    raise OSError(errno.ENOSPC, "No space left on device")


class Pieces:
    """A disk that takes so many bytes at each call, the last size for ever; None: it is full."""

    def __init__(self, *sizes: int | None) -> None:
        self.sizes = list(sizes)

    def __call__(self, descriptor: int, line: bytes) -> int:
        size = self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]
        return full(descriptor, line) if size is None else WRITE(descriptor, line[:size])


WRITE = os.write
LONG = bytes(range(256)) * 40
MOST = 0x7FFFF000
"""What Linux writes at one call, whatever it was given."""
writes = pytest.mark.parametrize("write", [half, full, half_then_full])


@writes
def test_a_short_write_leaves_nothing(file: Path, write: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        assert code(lambda: storage.append(file, b"twenty\n")) == "E330"
    assert storage.read(file) == b"one\n"
    storage.append(file, b"two\n")
    assert storage.read(file) == b"one\ntwo\n"
    assert names(file.parent) == ["file"]


@writes
def test_a_short_write_creates_nothing(tmp_path: Path, write: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        assert code(lambda: storage.append(tmp_path / "file", b"one\n", create=True)) == "E330"
    assert names(tmp_path) == []
    storage.append(tmp_path / "file", b"one\n", create=True)


@writes
def test_a_short_write_replaces_nothing(file: Path, write: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        assert code(lambda: storage.replace(file, b"other\n")) == "E332"
    assert storage.read(file) == b"one\n"
    storage.replace(file, b"other\n")
    assert storage.read(file) == b"other\n"


def test_pieces_that_the_disk_takes_make_one_whole_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", Pieces(1, 4096, 1000))
    storage.append(file, LONG)
    storage.append(file.with_name("new"), LONG, create=True)
    assert storage.read(file) == b"one\n" + LONG and storage.read(file.with_name("new")) == LONG


@pytest.mark.parametrize("create", [False, True])
def test_pieces_before_the_disk_is_full_are_taken_back(
    file: Path, create: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "write", Pieces(1, 4096, None))
    path = file.with_name("new") if create else file
    assert code(lambda: storage.append(path, LONG, create=create)) == "E330"
    assert names(file.parent) == ["file"] and storage.read(file) == b"one\n"


def test_a_line_may_be_longer_than_what_the_system_writes_at_once(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with a hole stands for gigabytes of zeros."""
    calls: list[int] = []

    def sparse(descriptor: int, line: bytes) -> int:
        calls.append(min(len(line), MOST))
        os.ftruncate(descriptor, os.fstat(descriptor).st_size + calls[-1])
        return calls[-1]

    monkeypatch.setattr(os, "write", sparse)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    storage.append(file, bytes(MOST + 5))
    assert calls == [MOST, 5] and file.stat().st_size == len(b"one\n") + MOST + 5


def broken(*_: object, **__: object) -> None:
    raise OSError(errno.EIO, "Input/output error")


def test_half_a_line_that_cannot_be_taken_back_is_suspect(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", half)
    monkeypatch.setattr(os, "ftruncate", broken)
    assert code(lambda: storage.append(file, b"twenty\n")) == "E331"
    assert storage.suspect(file).exists()


def test_an_unconfirmed_write_is_suspect(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", broken)
    assert code(lambda: storage.append(file, b"two\n")) == "E331"
    assert mode(storage.suspect(file)) == 0o600


def test_an_unconfirmed_name_is_suspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "sync_folder", broken)
    assert code(lambda: storage.append(tmp_path / "file", b"one\n", create=True)) == "E331"
    assert storage.suspect(tmp_path / "file").exists()


def test_a_mark_that_cannot_be_made_does_not_hide_the_error(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", broken)
    monkeypatch.setattr(Path, "touch", broken)
    assert code(lambda: storage.append(file, b"two\n")) == "E331"


def test_what_stands_in_the_way_of_replacing_is_refused(file: Path) -> None:
    file.with_name("file.new").mkdir()
    assert code(lambda: storage.replace(file, b"other\n")) == "E332"
    assert storage.read(file) == b"one\n"


def test_a_lock_excludes_and_ends(file: Path) -> None:
    with storage.locked(file, 0):
        with pytest.raises(LedgerRefused, match="E320"), storage.locked(file, 0):
            pass
        with storage.locked(file.with_name("other"), 0):
            pass
    with pytest.raises(KeyError), storage.locked(file, 0):
        raise KeyError
    with storage.locked(file, 0):
        pass


def test_a_lock_without_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FacsimileError, match="E314"), storage.locked(tmp_path / "none" / "file", 0):
        pass

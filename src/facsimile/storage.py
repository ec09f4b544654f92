"""Durable small files: locked, written once, synced; what a crash leaves behind is always recognised."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from facsimile.errors import FacsimileError, refusal

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

POLL_SECONDS = 0.02
_ITSELF = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)  # no link, no text
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # a pipe is not waited for


def reached(step: str) -> None:
    """A named step of a protocol; tests replace this to stop the program there."""


@contextlib.contextmanager
def locked(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock of a file across processes; refuse after `patience` seconds."""
    lock, end = path.with_name(path.name + ".lock"), time.monotonic() + patience
    while (hold := Hold.of(lock)) is None:
        if time.monotonic() >= end:
            raise refusal("E320")
        time.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        hold.let_go()


@dataclass(frozen=True)
class Hold:
    """A lock that this process has from now on until it lets go, or ends."""

    path: Path
    descriptor: int

    @classmethod
    def of(cls, path: Path) -> Hold | None:
        """Take the lock of this name; None where another process has it."""
        descriptor = _opened(path, os.O_RDWR | os.O_CREAT, "E314")
        if _try_lock(descriptor):
            return cls(path, descriptor)
        os.close(descriptor)
        return None

    def let_go(self, forget: bool = False) -> None:
        """End the hold; `forget` removes its file, where nobody will ask for it again."""
        os.close(self.descriptor)
        if forget:
            with contextlib.suppress(OSError):
                self.path.unlink()


def _opened(path: Path, flags: int, otherwise: str) -> int:
    try:
        return os.open(path, flags | _ITSELF, 0o600)
    except OSError:
        raise refusal(otherwise) from None


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def read(path: Path) -> bytes:
    """The content of a file that is no link, no pipe and no device."""
    with os.fdopen(os.open(path, os.O_RDONLY | _ITSELF | _AT_ONCE), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("no plain file")
        return file.read()


def append(path: Path, line: bytes, create: bool = False) -> None:
    """Append a line and sync it: afterwards it is on the disk, or nothing was appended and E330 says so.

    A sync that fails leaves the disk in an unknown state: the file is marked suspect and nothing goes on.
    """
    flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_EXCL if create else 0)
    descriptor = _opened(path, flags, "E330")
    try:
        before = os.fstat(descriptor).st_size
        reached("append")
        if not _written(descriptor, line):
            _take_back(path, descriptor, None if create else before)
            raise refusal("E330")
        reached("written")
        os.fsync(descriptor)
        if create:
            sync_folder(path.parent)
        reached("synced")
    except OSError:
        with contextlib.suppress(OSError):
            suspect(path).touch(mode=0o600)
        raise refusal("E331") from None
    finally:
        os.close(descriptor)


def _written(descriptor: int, line: bytes) -> bool:
    """Whether all of it was written; a system takes at most so much at one call, Linux 2,147,479,552 bytes."""
    left, taken = memoryview(line), 1
    try:
        while left and taken:
            taken = os.write(descriptor, left)
            left = left[taken:]
    except OSError:
        return False
    return not left


def _take_back(path: Path, descriptor: int, before: int | None) -> None:
    """Remove what a short write left: the new file, or whatever lies beyond the old end."""
    if before is None:
        path.unlink()
    elif os.fstat(descriptor).st_size > before:
        os.ftruncate(descriptor, before)


def replace(path: Path, content: bytes) -> None:
    """Put a small file in place of another in one step, synced."""
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.unlink(missing_ok=True)
        append(fresh, content, create=True)
        fresh.replace(path)
        reached("replaced")
        sync_folder(path.parent)
    except (OSError, FacsimileError):
        raise refusal("E332") from None


def sync_folder(folder: Path) -> None:
    """Make a new name durable; Windows has no such step."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def refuse_without_room(folder: Path, size: int, otherwise: str) -> None:
    """Refuse a folder that cannot be written, or a disk with less room than that: before anything is begun."""
    probe = folder / f".room-{os.getpid()}"
    try:
        probe.touch(mode=0o600)
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError:
        raise refusal(otherwise) from None
    if free < size:
        raise refusal(otherwise)


def suspect(path: Path) -> Path:
    """The mark beside a file whose state on the disk is unknown."""
    return path.with_name(path.name + ".suspect")

"""The transcript holds every draw, is for its owner only, and is sealed when it ends."""

from __future__ import annotations

import json
import os
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy.noise import Integers, Noise, RehearsalNoise, SystemNoise
from facsimile.privacy.transcript import RecordedNoise, Transcript, _padding

EPSILON = Fraction(1, 7)
HALF = Fraction(1, 2)


def frames(path: Path) -> list[tuple[str, Integers]]:
    """Read a transcript back."""
    found, rest = [], path.read_bytes()
    while rest:
        line, _, rest = rest.partition(b"\n")
        header = json.loads(line)
        raw, rest = rest[: header["bytes"]], rest[header["bytes"] :]
        assert rest[:1] == b"\n"
        found.append((header["call"], np.frombuffer(raw, np.int64).reshape(header["shape"])))
        rest = rest[1:]
    assert (found.pop()[0], path.stat().st_size.bit_count()) == ("padding", 1)
    return found


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("noise", [SystemNoise(), RehearsalNoise(3)])
def test_every_draw_is_held_as_what_was_added(tmp_path: Path, noise: Noise) -> None:
    values = np.array([[10, 0, 2**40], [-5, 10, 10]], np.int64)
    with Transcript(tmp_path / "noise") as transcript:
        recorded = RecordedNoise(noise, transcript)
        noisy = recorded.laplace(values, 2, EPSILON)
        place = recorded.argmax([3, 1, 2], 2, EPSILON)
        coins = [recorded.coin(HALF) for _ in range(8)]
        below = recorded.below(10)
        tops = [recorded.gumbel([3, 1, 2], 2, EPSILON) for _ in range(8)]
        again = recorded.gaussian(values[0], 2, EPSILON)
    held = frames(tmp_path / "noise")
    assert [call for call, _ in held] == [
        "laplace",
        "argmax",
        *["coin"] * 8,
        "below",
        *["gumbel"] * 8,
        "gaussian",
    ]
    assert (values + held[0][1] == noisy).all() and (values[0] + held[-1][1] == again).all()
    single = [place, *map(int, coins), below, *tops]
    assert [drawn.tolist() for _, drawn in held[1:-1]] == [[drawn] for drawn in single]
    assert (noisy != values).any()


@pytest.mark.parametrize("drawn", [0, 1, 2**62 - 1, 2**62, 2**62 + 5, 2**124 - 1, 2**124, 3 * 2**200 + 7])
def test_a_draw_of_any_size_is_held_in_words_of_62_bits(tmp_path: Path, drawn: int) -> None:
    class Drawn(RehearsalNoise):
        def below(self, n: int) -> int:
            return drawn

    with Transcript(tmp_path / "noise") as transcript:
        assert RecordedNoise(Drawn(1), transcript).below(drawn + 1) == drawn
    ((_, words),) = frames(tmp_path / "noise")
    assert sum(word << 62 * place for place, word in enumerate(words.tolist())) == drawn
    assert len(words) == max(1, -(-drawn.bit_length() // 62)) and words.min() >= 0 and words.max() < 2**62


def test_recording_changes_no_draw(tmp_path: Path) -> None:
    values = np.arange(50, dtype=np.int64)
    with Transcript(tmp_path / "noise") as transcript:
        recorded = RecordedNoise(RehearsalNoise(5), transcript)
        first = [recorded.laplace(values, 1, EPSILON).tolist(), recorded.argmax([1, 2], 1, EPSILON)]
    plain = RehearsalNoise(5)
    assert first == [plain.laplace(values, 1, EPSILON).tolist(), plain.argmax([1, 2], 1, EPSILON)]


def test_an_empty_draw_and_newlines_in_the_bytes_are_read_back(tmp_path: Path) -> None:
    newlines = np.full(3, int.from_bytes(b"\n" * 8, "little"), np.int64)
    with Transcript(tmp_path / "noise") as transcript:
        transcript.note("empty", np.zeros((0, 2), np.int64))
        transcript.note("newlines", newlines)
    (_, empty), (_, read) = frames(tmp_path / "noise")
    assert empty.shape == (0, 2) and (read == newlines).all()


def test_the_file_is_for_its_owner_then_sealed(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Transcript(tmp_path / "noise") as transcript:
            assert mode(tmp_path / "noise") == 0o600
            transcript.note("coin", np.array([1]))
        with Transcript(tmp_path / "nothing drawn"):
            pass
    finally:
        os.umask(before)
    assert mode(tmp_path / "noise") == 0o400
    assert not (tmp_path / "nothing drawn").exists()


def test_a_failed_run_is_sealed_with_what_it_drew(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Transcript(tmp_path / "noise") as transcript:
        RecordedNoise(SystemNoise(), transcript).below(3)
        assert transcript.keep() == (tmp_path / "noise").stat().st_size > 0, "it is on disk at once"
        raise KeyError
    assert mode(tmp_path / "noise") == 0o400 and len(frames(tmp_path / "noise")) == 1


@pytest.mark.parametrize("target", ["existing", "dangling", None])
def test_an_existing_file_or_link_is_refused(tmp_path: Path, target: str | None) -> None:
    (tmp_path / "existing").write_bytes(b"kept")
    path = tmp_path / "noise"
    if target:
        path.symlink_to(tmp_path / target)
    else:
        path.write_bytes(b"kept")
    with pytest.raises(FacsimileError, match="E401") as caught:
        Transcript(path)
    assert caught.value.exit_code == 2
    assert (tmp_path / "existing").read_bytes() == b"kept" and not (tmp_path / "dangling").exists()


def test_a_transcript_without_a_place_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(FacsimileError) as caught:
        Transcript(tmp_path / "no folder" / "noise")
    assert caught.value.code == "E330" and caught.value.__suppress_context__
    assert not list(tmp_path.iterdir())


def test_a_transcript_that_cannot_be_sealed_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: int) -> None:
        raise OSError

    with pytest.raises(FacsimileError, match="E333"), Transcript(tmp_path / "noise") as transcript:
        transcript.note("coin", np.array([1]))
        monkeypatch.setattr(os, "fsync", failing)


def test_a_draw_that_found_no_room_is_told_before_a_decision_and_not_over_another_failure(
    tmp_path: Path,
) -> None:
    class Full:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, _: bytes) -> int:
            raise OSError

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None:
            self.file.close()

    for fails in (False, True):
        with (
            pytest.raises(KeyError if fails else FacsimileError),
            Transcript(tmp_path / str(fails)) as transcript,
        ):
            transcript._file = cast(Any, Full(transcript._file))
            transcript.note("coin", np.array([1]))
            with pytest.raises(FacsimileError, match="E333"):
                transcript.keep()
            if fails:
                raise KeyError


@pytest.mark.parametrize("most", [1, 7, 20_000, 130_000, 140_000])
def test_the_size_of_a_sealed_transcript_is_a_step_and_tells_no_number_of_indices(
    tmp_path: Path, most: int
) -> None:
    sizes = set()
    for draws in (1, 1 + most):
        path = tmp_path / f"noise-{draws}"
        with Transcript(path) as transcript:
            transcript.note("laplace", np.arange(draws, dtype=np.int64))
        assert frames(path)[0][1].tolist() == list(range(draws))
        sizes.add(path.stat().st_size)
    assert sizes == ({1 << 20} if most < 140_000 else {1 << 20, 1 << 21})


def test_a_header_of_padding_always_has_room() -> None:
    assert len(_padding((1 << 20) - 129)) == 129
    assert len(_padding((1 << 20) - 128)) == (1 << 20) + 128


def test_a_disk_without_room_for_padding_keeps_every_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, line: bytes) -> int:
        raise OSError

    with Transcript(tmp_path / "noise") as transcript:
        transcript.note("laplace", np.arange(5, dtype=np.int64))
        transcript.keep()
        before = (tmp_path / "noise").read_bytes()
        monkeypatch.setattr(os, "write", full)
    assert (tmp_path / "noise").read_bytes() == before and mode(tmp_path / "noise") == 0o400

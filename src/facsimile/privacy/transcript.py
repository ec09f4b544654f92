"""The transcript: every noise, coin, configuration and seed drawn, kept beside the data, never released.

Whoever holds it can take the noise away, so it is as confidential as the data: mode 0600, in the data's
folder, never in a bundle. A frame is a JSON line with the index of the search that drew it (0 before and after
the search), the call, the shape and the size, then the raw bytes. The frames of an index are in the order of
its draws, however many indices ran at once: who draws the same again makes the same release again. A sealed
transcript ends with padding: its size is a power of two and tells of the number of indices no more than that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar
from fractions import Fraction
from pathlib import Path

import numpy as np

from facsimile.errors import LedgerRefused, refusal
from facsimile.privacy.noise import LARGEST, Integers, Noise
from facsimile.storage import append

INDEX = ContextVar("INDEX", default=0)
SMALLEST, HEADER = 1 << 20, 128
"""Bytes of the smallest sealed transcript, and more than any header of its padding takes."""


class Transcript:
    """An open transcript file; closing it seals it against writing, or removes it if nothing was drawn."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
        except FileExistsError:
            raise refusal("E401") from None
        except OSError:
            raise refusal("E330") from None
        self._path, self._lost = path, False

    def note(self, call: str, drawn: Integers) -> None:
        """Append one draw. Where the disk does not take it, `keep` says so: no search ends for its length."""
        header = {"index": INDEX.get(), "call": call, "shape": list(drawn.shape), "bytes": drawn.nbytes}
        try:
            self._file.write(json.dumps(header).encode() + b"\n" + drawn.tobytes() + b"\n")
        except OSError:
            self._lost = True

    def keep(self) -> int:
        """Put on disk what was drawn so far: before anything that depends on it is. How many bytes it has."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            if not self._lost:
                return self._file.tell()
        except OSError:
            pass
        raise refusal("E333")

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            with self._file:
                drawn = self.keep()
            if drawn:
                with suppress(LedgerRefused):  # without room for it, the draws are whole all the same
                    append(self._path, _padding(drawn))
            self._path.chmod(0o400) if drawn else self._path.unlink()
        except (OSError, LedgerRefused):
            if kind is None:
                raise refusal("E333") from None


def _padding(drawn: int) -> bytes:
    """A last frame that fills a transcript up to its size."""
    left = max(SMALLEST, 1 << (drawn + HEADER).bit_length()) - drawn
    size = (left - HEADER) // 8 * 8
    header = json.dumps({"index": 0, "call": "padding", "shape": [size // 8], "bytes": size}).encode()
    return header.ljust(left - size - 2) + b"\n" + bytes(size) + b"\n"


class RecordedNoise(Noise):
    """Noise that writes what it drew into a transcript."""

    def __init__(self, noise: Noise, transcript: Transcript) -> None:
        self._noise, self._transcript = noise, transcript

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        noisy = self._noise.laplace(values, sensitivity, epsilon)
        self._transcript.note("laplace", noisy - values)
        return noisy

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        noisy = self._noise.gaussian(values, square, rho)
        self._transcript.note("gaussian", noisy - values)
        return noisy

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        return self._noted("argmax", self._noise.argmax(scores, sensitivity, epsilon))

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        return self._noted("gumbel", self._noise.gumbel(scores, sensitivity, rho))

    def coin(self, probability: Fraction) -> bool:
        return bool(self._noted("coin", int(self._noise.coin(probability))))

    def below(self, n: int) -> int:
        return self._noted("below", self._noise.below(n))

    def _noted(self, call: str, drawn: int) -> int:
        words = [drawn // LARGEST**i % LARGEST for i in range((drawn.bit_length() + 61) // 62 or 1)]
        self._transcript.note(call, np.array(words, dtype=np.int64))
        return drawn

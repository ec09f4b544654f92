"""The transcript: every noise, coin and configuration drawn, kept beside the data, never released.

Whoever holds it can take the noise away, so it is as confidential as the data: mode 0600, in the data's
folder, never in a bundle. A frame is a JSON line with the call, the shape and the size, then the raw bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import numpy as np

from facsimile.errors import refusal
from facsimile.privacy.noise import Integers, Noise


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
        self._path = path

    def note(self, call: str, drawn: Integers) -> None:
        """Append one draw."""
        header = json.dumps({"call": call, "shape": list(drawn.shape), "bytes": drawn.nbytes})
        self._file.write(header.encode() + b"\n" + drawn.tobytes() + b"\n")

    def __enter__(self) -> Transcript:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self._file as file:
                file.flush()
                os.fsync(file.fileno())
                drawn = file.tell()
            self._path.chmod(0o400) if drawn else self._path.unlink()
        except OSError:
            raise refusal("E333") from None


class RecordedNoise:
    """Noise that writes what it drew into a transcript."""

    def __init__(self, noise: Noise, transcript: Transcript) -> None:
        self._noise, self._transcript = noise, transcript

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        """See Noise."""
        noisy = self._noise.laplace(values, sensitivity, epsilon)
        self._transcript.note("laplace", noisy - values)
        return noisy

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """See Noise."""
        return self._noted("argmax", self._noise.argmax(scores, sensitivity, epsilon))

    def coin(self, probability: Fraction) -> bool:
        """See Noise."""
        return bool(self._noted("coin", int(self._noise.coin(probability))))

    def below(self, n: int) -> int:
        """See Noise."""
        return self._noted("below", self._noise.below(n))

    def _noted(self, call: str, drawn: int) -> int:
        self._transcript.note(call, np.array([drawn], dtype=np.int64))
        return drawn

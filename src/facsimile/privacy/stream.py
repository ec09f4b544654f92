"""Stream: as many secret bits as a mechanism needs, from one key of the noise (ChaCha20, RFC 8439).

A key of 256 bits comes from `Noise.below`, so that it stands in the transcript and a release can be replayed.
What the stream draws is uniform, and independent of all else, as far as nobody tells ChaCha20 from chance
without its key: it is asked to choose records, never to hide one. Noise on numbers comes from `Noise`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from facsimile.privacy.noise import Integers, Noise

WORDS = 2**32


class Stream:
    """Uniform words of 32 bits, one after the other."""

    def __init__(self, key: int) -> None:
        cipher = Cipher(algorithms.ChaCha20(key.to_bytes(32, "little"), bytes(16)), mode=None)
        self._bytes = cipher.encryptor()

    @classmethod
    def of(cls, noise: Noise) -> Stream:
        """With a key drawn from the noise, 32 bits at a time."""
        return cls(sum(noise.below(WORDS) << (32 * place) for place in range(8)))

    def words(self, n: int) -> npt.NDArray[np.uint32]:
        """The next n words."""
        return np.frombuffer(self._bytes.update(bytes(4 * n)), "<u4")

    def chosen(self, counts: Integers, share: int) -> Integers:
        """Of so many records each, how many are chosen: every record by itself, with probability share/2^32."""
        hits = np.append(0, np.cumsum(self.words(int(counts.sum())) < share))
        ends = np.cumsum(counts)
        return np.asarray(hits[ends] - hits[ends - counts], np.int64)

    def below(self, most: int, n: int) -> Integers:
        """n uniform integers below `most`, which is at most 2^32: words beyond its last multiple are left
        out."""
        found = np.zeros(0, np.int64)
        while len(found) < n:
            drawn = self.words(n - len(found)).astype(np.int64)
            found = np.concatenate([found, drawn[drawn < WORDS - WORDS % most] % most])
        return found

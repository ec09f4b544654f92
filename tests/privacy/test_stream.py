"""The stream: uniform words from a key, records chosen one by one, integers without a bias."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.stream import WORDS, Stream
from facsimile.testing.laws import fits

KEY = 0x0123456789ABCDEF


def test_the_words_are_those_of_chacha20() -> None:
    """RFC 8439, the first block of the zero key and nonce."""
    assert Stream(0).words(2).tobytes().hex() == "76b8e0ada0f13d90"


def test_a_key_gives_one_stream_and_another_key_another() -> None:
    one, again, other = Stream(KEY), Stream(KEY), Stream(KEY + 1)
    first = one.words(1000)
    assert (again.words(1000) == first).all()
    assert (other.words(1000) != first).sum() > 990
    assert (one.words(1000) != first).sum() > 990, "a call goes on where the last one ended"


def test_a_key_has_256_bits_of_the_noise() -> None:
    class Noise(RehearsalNoise):
        def below(self, n: int) -> int:
            asked.append(n)
            return n - 1

    asked: list[int] = []
    assert (Stream.of(Noise(1)).words(9) == Stream(2**256 - 1).words(9)).all()
    assert asked == [2**32] * 8


def test_words_and_pairs_of_words_are_uniform() -> None:
    words = Stream(KEY).words(200_000)
    assert fits(np.bincount(words >> 24, minlength=256), np.full(256, 1 / 256))
    pairs = (words[::2] >> 28) * 16 + (words[1::2] >> 28)
    assert fits(np.bincount(pairs, minlength=256), np.full(256, 1 / 256))


@pytest.mark.parametrize("share", [1 << 30, WORDS - (1 << 29)])
def test_every_record_is_chosen_by_itself_and_empty_choices_occur(share: int) -> None:
    stream, counts = Stream(KEY), np.array([3, 0, 5])
    drawn = np.array([stream.chosen(counts, share) for _ in range(20_000)])
    assert (drawn[:, 1] == 0).all()
    for place in (0, 2):
        law = binom.pmf(np.arange(counts[place] + 1), counts[place], share / WORDS)
        assert fits(np.bincount(drawn[:, place], minlength=counts[place] + 1), law)
    both = drawn[:, 0] * 6 + drawn[:, 2]
    law = np.outer(*(binom.pmf(np.arange(n + 1), n, share / WORDS) for n in (3, 5))).ravel()
    assert fits(np.bincount(both, minlength=24), law), "rows are chosen from independently"


def test_a_share_of_all_chooses_all_and_the_smallest_nearly_none() -> None:
    assert Stream(KEY).chosen(np.array([4, 2]), WORDS).tolist() == [4, 2]
    assert Stream(KEY).chosen(np.full(1000, 5), 1).sum() == 0


@pytest.mark.parametrize("most", [2, 3, 7, 2**31 + 1])
def test_integers_below_a_number_are_uniform(most: int) -> None:
    drawn = Stream(KEY).below(most, 50_000)
    assert len(drawn) == 50_000 and drawn.min() >= 0 and drawn.max() < most
    parts = min(most, 4)
    edges = np.diff([-(-most * i // parts) for i in range(parts + 1)]) / most
    assert fits(np.bincount(drawn * parts // most, minlength=parts), edges)


def test_the_first_word_beyond_the_last_multiple_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    words = iter(([WORDS - 1, WORDS - 2], [5, 6]))
    monkeypatch.setattr(Stream, "words", lambda _, n: np.array(next(words)[:n], np.uint32))
    assert Stream(KEY).below(3, 2).tolist() == [(WORDS - 2) % 3, 5 % 3], "2^32 is a multiple of 3, and 1"


def test_a_record_is_chosen_by_a_word_below_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stream, "words", lambda _, n: np.array([6, 7, 8, 0], np.uint32)[:n])
    assert Stream(KEY).chosen(np.array([1, 3]), 7).tolist() == [1, 1]

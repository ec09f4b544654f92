"""What a candidate was fitted to: kept for the accepted index alone, whole, and enough to make it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from facsimile.analysis.basis import NoisyTable
from facsimile.errors import FacsimileError
from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.privacy.reader import read_public
from facsimile.release import heard as hearing
from facsimile.release.heard import Heard, Retelling, Said, made, packed, plain, unpacked
from facsimile.release.remade import made_again
from facsimile.release.reporting import Release
from facsimile.release.run import rehearsed, release
from facsimile.release.scheme import Accepted, Scheme
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Foreseen
from facsimile.table.domain import Domain
from facsimile.table.measurement import Measurement
from facsimile.testing.neighbours import small_domain
from releases import SURE, forged, request, specification, write_data
from replays import CASES, frames, people

pytestmark = pytest.mark.usefixtures("typeset_once")

WORDS = st.lists(st.integers(0, 2**32 - 1), max_size=8).map(tuple)
SHARES = st.fractions(Fraction(1, 10**6), 100).flatmap(lambda x: st.sampled_from([x, Rho(x)]))


@st.composite
def tables(draw: st.DrawFn) -> NoisyTable:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    codes = [draw(st.integers(size, 6)) for size in sizes]
    groups = tuple(np.minimum(np.arange(k), size - 1) for k, size in zip(codes, sizes, strict=True))
    counts = draw(arrays(np.int64, tuple(sizes), elements=st.integers(-(2**50), 2**50)))
    return NoisyTable(tuple(f"column {i}" for i in range(len(sizes))), groups, counts, draw(SHARES))


SAID = st.builds(
    Said,
    st.sampled_from(["NoisyMarginals", "NoisySelection", "NoisyAnswer", "NoisyScores"]),
    st.lists(tables(), max_size=2).map(tuple),
    st.lists(st.integers(-(2**62), 2**62), max_size=3).map(tuple),
)
HEARD = st.builds(Heard, st.lists(SAID, max_size=3).map(tuple), WORDS, st.none() | WORDS)


@given(HEARD, st.integers(0, 50))
def test_what_was_heard_is_the_same_after_it_was_stored(heard: Heard, room: int) -> None:
    content = packed(heard)
    found = unpacked(content.ljust(len(content) + room, b"\0"))
    assert found is not None and plain(found) == plain(heard)
    assert plain(made(json.loads(json.dumps(plain(heard))))) == plain(heard)
    for one, other in zip(found.said, heard.said, strict=True):
        assert [table.gaussian for table in one.tables] == [table.gaussian for table in other.tables]


def test_nothing_is_stored_as_nothing() -> None:
    assert packed(None) == b"" and unpacked(b"") is None and unpacked(b"\0" * 9) is None


def test_the_form_of_a_table_is_what_was_known_of_it_before() -> None:
    """One table of each kind, and a second of columns that were foreseen once."""
    domain = small_domain(2, 3)
    a, b = domain.names
    one = NoisyTable((a,), (np.arange(2),), np.array([1, 2]), Fraction(1))
    both = NoisyTable((a, b), (np.arange(2), np.zeros(3, np.int64)), np.array([[1], [2]]), Fraction(1))
    heard = Heard((Said("NoisyMarginals", (one, both)), Said("NoisyMarginals", (one, both))))
    found = list(heard.tables(Foreseen(((a,),), ((a, b),))))
    assert [table.form for table in found] == ["fixed", "planned", "chosen", "chosen"]
    assert [table.form for table in heard.tables(Foreseen())] == ["chosen"] * 4


def test_another_question_gets_no_answer() -> None:
    domain = small_domain(2, 3)
    a, b = domain.names
    asked = NoisyMarginals((((a,), Fraction(1)),))
    one = NoisyTable((a,), (np.arange(2),), np.array([1, 2]), Fraction(1))
    said = Said("NoisyMarginals", (one,))
    (answer,) = Retelling(domain, [said]).run(asked)
    assert answer.counts.tolist() == [1, 2] and answer.variance == NoisyMarginals.variance(Fraction(1))
    others = [
        NoisyMarginals((((b,), Fraction(1)),)),
        NoisyMarginals((((a,), Fraction(2)),)),
        NoisyMarginals((((a,), Rho(1)),)),
        NoisyMarginals((((a,), Fraction(1)),), ((a, (0, 0)),)),
        NoisyMarginals((((a,), Fraction(1)), ((b,), Fraction(1)))),
    ]
    for other in others:
        with pytest.raises(ValueError):
            Retelling(domain, [said]).run(other)
    with pytest.raises(ValueError):
        Retelling(domain, []).run(asked)
    with pytest.raises(ValueError):
        Retelling(domain, [replace(said, mechanism="NoisySelection")]).run(asked)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


def accepted_of(spec: Specification, data: Path) -> Accepted:
    """What the first rehearsal that ends in a table accepted."""
    found = (rehearsed(spec, read_public(data, spec), seed)[0] for seed in range(3))
    return next(accepted for accepted in found if accepted is not None)


def rounded_elsewhere(measured: Callable[..., Iterator[Measurement]]) -> Callable[..., Iterator[Measurement]]:
    """Noisy counts off by a relative 2^-40: a thousand times what another machine's rounding does."""
    random = np.random.default_rng(1)

    def changed(said: Said, mechanism: NoisyMarginals, domain: Domain) -> Iterator[Measurement]:
        for one in measured(said, mechanism, domain):
            signs = random.choice([-1, 1], one.counts.shape)
            yield replace(one, counts=one.counts * (1 + signs * 2.0**-40))

    return changed


NEURAL = ("dpctgan", "patectgan")


@pytest.mark.parametrize("case", CASES)
def test_every_family_scheme_and_mode_is_made_again_from_what_it_heard(
    case: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Record for record. The neural families publish no tables: they ask for none."""
    spec = people(**CASES[case] | {"criteria": SURE, "publish": ["tables"]})
    accepted = accepted_of(spec, data)
    release, heard = Release.of(accepted, spec), accepted.heard
    assert (heard is None) is (case in NEURAL)
    if heard is None:
        assert made_again(release) is None and release.basis.tables == ()
        return
    assert made_again(release) == "same"
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(Said, "_measured", rounded_elsewhere(Said._measured))
        assert made_again(release) in ("same", "near"), "another machine's rounding"
    for deviations in (5, -5, 12) if any(said.tables for said in heard.said) else ():
        with pytest.raises(FacsimileError, match="does not follow"):
            made_again(forged(release, deviations))
    assert len(release.basis.tables) == sum(len(one.tables) for one in heard.said)
    assert (heard.before is not None) is (spec.scheme == "train-once")


def test_only_the_accepted_index_is_heard(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two candidates fail first: what is published is the third's, and all of its allowance went through it."""
    spec = people(**CASES["aim"], publish=["tables"])
    tried: list[Accepted] = []
    real = Scheme.index

    def third(self: Scheme, *given: Any) -> Accepted | None:
        found = real(self, *given)
        if found is not None:
            tried.append(found)
        return found if len(tried) > 2 else None

    monkeypatch.setattr(Scheme, "index", third)
    accepted = accepted_of(spec, data)
    assert accepted.heard is not None and tried[-1].heard is not None
    assert plain(replace(accepted.heard, own=())) == plain(tried[-1].heard)
    spent = sum((table.share for one in accepted.heard.said for table in one.tables), Fraction(0))
    assert 0 < spent <= spec.budget.generator
    assert made_again(Release.of(accepted, spec)) == "same"


def test_what_does_not_fit_is_left_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "MOST_BYTES", 100)
    spec = people(**CASES["mst"], publish=["tables"])
    accepted = accepted_of(spec, data)
    assert accepted.heard is None


def test_published_seeds_are_no_draws_of_the_source_of_noise(tmp_path: Path) -> None:
    """A release in production: what NumPy is seeded with is a hash of draws that only the transcript holds."""
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    release(request(tmp_path, specification=specification(publish=["tables"])))
    index = json.loads((tmp_path / "bundle" / "tables" / "index.json").read_text("utf-8"))
    own = index["seeds"]["own"]
    transcript = next(path for path in tmp_path.iterdir() if "transcript" in path.name)
    drawn = {int(word) for _, call, words in frames(transcript) if call == "below" for word in words}
    assert len(own) == 8 and not drawn & set(own)

"""What each question of a synthesizer tells about one strange record, against its own share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from facsimile.audit.families import SMALL, shares
from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import Mechanism, NoisyMarginals, NoisySelection
from facsimile.privacy.noise import Noise
from facsimile.synthesizers.base import Answers, Known
from facsimile.synthesizers.mst import MST
from facsimile.synthesizers.registry import SYNTHESIZERS
from facsimile.table.table import Table
from facsimile.testing import Broken, check_canary
from facsimile.testing.apart import ALIVE, SHARE
from facsimile.testing.canaries import canary
from facsimile.testing.synthesizers import known_of

KNOWN = known_of(canary()[0])
CASES = [(family, share) for family in SYNTHESIZERS for share in shares(family)]
NEURAL = ("dpctgan", "patectgan")


@pytest.mark.parametrize(("family", "share"), [case for case in CASES if case[0] not in NEURAL])
def test_no_part_of_a_fit_tells_more_about_one_record_than_its_own_share(family: str, share: Fraction) -> None:
    parts = check_canary(SYNTHESIZERS[family].of(SMALL.get(family, {})), KNOWN, share, transcripts=12)
    assert max(part.apart for part in parts) >= ALIVE
    assert all(part.told is None for part in parts) is isinstance(share, Rho)


@pytest.mark.parametrize(("family", "share"), [case for case in CASES if case[0] in NEURAL])
def test_nor_does_a_step_of_what_learns(family: str, share: Fraction) -> None:
    parts = check_canary(SYNTHESIZERS[family].of(SMALL[family]), KNOWN, share, transcripts=1, least=0)
    assert {part.noise for part in parts} == {"gaussian"}


def test_the_strange_record_is_strange_in_all_columns_but_those_that_are_alike() -> None:
    one, other = canary(3, 4, alike=1)
    assert one.n == other.n == 4
    assert sorted(map(tuple, one.records().tolist())) == [(0, 0, 0)] * 3 + [(1, 1, 0)]
    assert set(map(tuple, other.records().tolist())) == {(0, 0, 0)}


class HalfNoise(NoisyMarginals):
    """Mutant: noise for one changed cell."""

    sensitivity: ClassVar[int] = 1
    square: ClassVar[int] = 1


class WithoutTheFactor(NoisySelection):
    """Mutant: a selection at twice its ε."""

    def _sample(self, table: Table, noise: Noise) -> int:
        units = [int(score) for score in self.scores.values(table)]
        return noise.argmax(units, self.units, 2 * self.epsilon)


class Loud(MST):
    """Mutant: its questions are asked with too little noise."""

    wrong: ClassVar[type[Mechanism[Any]]] = HalfNoise

    def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
        real = answers.run

        def run(mechanism: Mechanism[Any]) -> Any:
            for kind, mutant in ((NoisyMarginals, HalfNoise), (NoisySelection, WithoutTheFactor)):
                if type(mechanism) is kind and mutant is self.wrong:
                    return real(mutant(**{name: getattr(mechanism, name) for name in mechanism.__match_args__}))
            return real(mechanism)

        answers.run = run  # type: ignore[method-assign]
        return super().fit(answers, known, epsilon, random)


class Louder(Loud):
    wrong: ClassVar[type[Mechanism[Any]]] = WithoutTheFactor


@pytest.mark.parametrize("share", [SHARE, Rho(9, 8)], ids=["epsilon", "rho"])
def test_a_part_with_half_its_noise_is_found(share: Fraction) -> None:
    with pytest.raises(Broken, match="more about one record than its share"):
        check_canary(Loud(), KNOWN, share, transcripts=4)


def test_so_is_a_selection_without_the_factor_two() -> None:
    with pytest.raises(Broken, match="more than it is charged"):
        check_canary(Louder(), KNOWN, SHARE, transcripts=1)


def test_a_family_that_sees_nothing_is_noticed() -> None:
    class Deaf(MST):
        def fit(self, answers: Answers, known: Known, epsilon: Fraction, random: np.random.Generator) -> Any:
            return None

    with pytest.raises(Broken, match="asks nothing"):
        check_canary(Deaf(), KNOWN, SHARE, transcripts=1)

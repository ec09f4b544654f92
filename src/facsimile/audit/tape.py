"""The tape of a release: everything that was asked and everything random that was answered, in its order.

A recorded run asks the source of noise and keeps what it hears. A replayed run, on another table, hears the
same again: what samplers gave for the first table, coins, configurations and seeds. It draws nothing of its own
but the records of a mean (`below` inside a mechanism), which reach nobody. So whatever else comes out of it
must be what came out before; and where the second table is asked anything else, the tape finds it.

Each index of a search has a track of its own, in the order of its questions, however many ran at once; track 0
is what came before the search and after it.

    coin, below          asked: a probability, a bound             heard: what was drawn
    recoded              asked: new axes and the maps to them      nothing
    NoisyAnswer, …       asked: all parameters, cost and domain    nothing
    laplace, argmax, …   asked: shape, sensitivity and share       heard: what the sampler gave
    answered             asked: what the mechanism answered        nothing

A curator with a tape is for tables that were made up: no command makes one, no option and no variable of the
environment leads to it, and `Curator.production` knows nothing of tapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar, cast

import numpy as np

from facsimile.audit.fingerprint import fingerprint
from facsimile.privacy.curator import Curator, Maps
from facsimile.privacy.ledger import Ledger, MemoryLedger
from facsimile.privacy.mechanisms import Mechanism, NoisyAnswer
from facsimile.privacy.noise import Integers, Noise
from facsimile.privacy.private import Sealed
from facsimile.privacy.transcript import INDEX, RecordedNoise, Transcript
from facsimile.table.domain import Domain
from facsimile.testing.contract import Broken

T = TypeVar("T")
UNKNOWN = ""
"""What was asked at a place where anything may be: a coin of a candidate that moved to another index."""
FAR = 2**50
"""A measured error that no criterion accepts."""


@dataclass(frozen=True)
class Entry:
    """One place of a tape: what kind of thing was asked, what exactly, and what was heard."""

    kind: str
    asked: str
    heard: Any = None


Tracks = Mapping[int, Sequence[Entry]]


class Tape:
    """Records what a run asks and hears; or, given tracks, lets it hear them again."""

    def __init__(self, noise: Noise, tracks: Tracks | None = None) -> None:
        self.noise, self._held = noise, tracks
        self.tracks: dict[int, list[Entry]] = {}
        self.findings: list[str] = []

    def again(self, tracks: Tracks | None = None) -> Tape:
        """A tape that plays what this one recorded, or tracks that were made of it."""
        return Tape(self.noise, self.tracks if tracks is None else tracks)

    def at(self, kind: str, asked: str, fresh: Callable[[], T]) -> T:
        """What is heard at the next place of this index; another question than on the tape is a finding."""
        index = INDEX.get()
        track = self.tracks.setdefault(index, [])
        place = len(track)
        if self._held is None:
            track.append(Entry(kind, asked))
            heard = fresh()
            track[place] = replace(track[place], heard=_copied(heard))
            return heard
        on_tape = self._held.get(index, ())
        if place >= len(on_tape):
            raise self._found(f"index {index} asks more than on the tape: {kind}")
        held = on_tape[place]
        if held.kind != kind or held.asked not in (asked, UNKNOWN):
            raise self._found(f"index {index}, place {place}: {kind} is asked, on the tape another {held.kind}")
        track.append(held)
        return cast(T, _copied(held.heard))

    def note(self, kind: str, asked: object) -> None:
        """A question that nothing random answers."""
        self.at(kind, fingerprint(asked), lambda: None)

    def left(self) -> list[str]:
        """What a replay did not ask though it was asked before."""
        held = self._held or {}
        short = [i for i, track in held.items() if len(self.tracks.get(i, ())) < len(track)]
        return [f"index {index} asks less than on the tape" for index in sorted(short)]

    def calls(self) -> int:
        """How many mechanisms were answered."""
        return sum(entry.kind == "answered" for track in self.tracks.values() for entry in track)

    def _found(self, words: str) -> Broken:
        self.findings.append(words)
        return Broken(words)


class TapedCurator(Curator):
    """A curator whose questions go over a tape, for a table that was made up: see the top of this file."""

    def __init__(
        self, sealed: Sealed, charges: Ledger | MemoryLedger, tape: Tape, transcript: Transcript
    ) -> None:
        noise, chance = TapedNoise(tape, inside=True), TapedNoise(tape, inside=False)
        super().__init__(sealed, charges, RecordedNoise(noise, transcript), RecordedNoise(chance, transcript))
        self._tape, self._transcript = tape, transcript

    def recoded(self, domain: Domain, maps: Maps) -> Curator:
        self._tape.note("recoded", (domain, dict(maps)))
        private = super().recoded(domain, maps)._private
        other = TapedCurator(Sealed(private, domain, self.n), self._charges, self._tape, self._transcript)
        other._failed = self._failed
        return other

    def _sample(self, mechanism: Mechanism[T], failed: list[str]) -> T:
        """What the table answers, sampler for sampler as on the tape: so the answer is the one on the tape."""
        self._tape.note(type(mechanism).__name__, (mechanism, mechanism.cost(), self.domain))
        answer = super()._sample(mechanism, failed)
        self._tape.note("answered", answer)
        return answer


class TapedNoise(Noise):
    """Noise by way of a tape. `inside` a mechanism, records may be drawn, as many as the table asks for."""

    def __init__(self, tape: Tape, inside: bool) -> None:
        self._tape, self._inside = tape, inside

    def laplace(self, values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
        asked = f"{np.shape(values)} {sensitivity} {epsilon}"
        return self._tape.at("laplace", asked, lambda: self._tape.noise.laplace(values, sensitivity, epsilon))

    def gaussian(self, values: Integers, square: int, rho: Fraction) -> Integers:
        asked = f"{np.shape(values)} {square} {rho}"
        return self._tape.at("gaussian", asked, lambda: self._tape.noise.gaussian(values, square, rho))

    def argmax(self, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        asked = f"{len(scores)} {sensitivity} {epsilon}"
        return self._tape.at("argmax", asked, lambda: self._tape.noise.argmax(scores, sensitivity, epsilon))

    def gumbel(self, scores: Sequence[int], sensitivity: int, rho: Fraction) -> int:
        asked = f"{len(scores)} {sensitivity} {rho}"
        return self._tape.at("gumbel", asked, lambda: self._tape.noise.gumbel(scores, sensitivity, rho))

    def coin(self, probability: Fraction) -> bool:
        return self._tape.at("coin", str(probability), lambda: self._tape.noise.coin(probability))

    def below(self, n: int) -> int:
        if self._inside:
            return self._tape.noise.below(n)
        return self._tape.at("below", str(n), lambda: self._tape.noise.below(n))


def alone(tracks: Tracks) -> Tracks:
    """The deciding index as the first one: no candidate was rejected before it. For one worker."""
    return {0: tracks.get(0, ()), 1: _moved(tracks[max(tracks)])}


def longer(tracks: Tracks) -> Tracks | None:
    """One more candidate rejected before the deciding index; None where its last question is no test.

    The candidate is a copy of the deciding one whose last answer says that it is far off. For one worker.
    """
    last = max(tracks)
    copied = list(tracks[last])
    if len(copied) < 3 or copied[-3].kind != NoisyAnswer.__name__ or copied[-2].kind != "laplace":
        return None
    copied[0] = replace(copied[0], asked=UNKNOWN, heard=False)
    copied[-2] = replace(copied[-2], heard=np.full_like(copied[-2].heard, FAR))
    copied[-1] = replace(copied[-1], asked=UNKNOWN)
    return {**tracks, last: copied, last + 1: _moved(tracks[last])}


def _moved(track: Sequence[Entry]) -> Sequence[Entry]:
    """The track of an index, at another place: the chance of its coin may be another, the coin is not."""
    return [replace(track[0], asked=UNKNOWN), *track[1:]]


def _copied(heard: Any) -> Any:
    """What is heard belongs to who hears it: arrays may be written into."""
    return heard.copy() if isinstance(heard, np.ndarray) else heard

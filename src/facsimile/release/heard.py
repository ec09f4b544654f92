"""Heard: the noisy answers that a candidate was fitted to, kept to be published and to make the fit again.

Theorem.  An index of a search that accepts may publish, beside its candidate, every noisy answer of its fit and
  the seed of its public choices, at no further cost: in every scheme and selection mode the search costs what
  it does without them.
Needs.    The answers are those of the mechanisms of this index alone, each within its allowance [A]; the seed
  is drawn by a law that does not depend on records [B], and nothing that protects records is drawn from it:
  noise, coins and the records that a definition draws come from the curator's own [C]. An index that does not
  accept, and a search that halts, publish nothing of theirs, and leave no trace of their size [D].
Proof.    For each value of the seed the answers are the output of mechanisms that compose to the index's cost,
  and candidate and decision are made of them, of the seed and of further answers within the same allowance. So
  an index with the output (answers, seed, candidate), or none, has that cost given the seed, and by [B] with
  it. The theorems of the modes (privacy/modes.py) are about any output x of the index that accepts: take this
  one. What was fitted before the search is released once, by composition, and may stand beside it too.  QED

[A] `Hearing` is made for one fit (scheme.py). [B] `run.words`, which publishes a hash of what was drawn, never
the draws themselves. [C] privacy/curator.py; the seed reaches NumPy's generator only. [D] journal.py pads
release and halt to one size, with MOST_BYTES for the answers; what does not fit is left out, by its own length
alone.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar, cast

import numpy as np

from facsimile.analysis.basis import Form, NoisyTable
from facsimile.privacy.budget import Rho
from facsimile.privacy.mechanisms import (
    Answer,
    Mechanism,
    NoisyAnswer,
    NoisyMarginals,
    NoisyScores,
    NoisySelection,
)
from facsimile.synthesizers.base import Answers, Foreseen
from facsimile.table.domain import Domain
from facsimile.table.measurement import Measurement

T = TypeVar("T")
Words = tuple[int, ...]
MOST_BYTES = 1 << 24
SELECTION, ANSWER = NoisySelection.__name__, NoisyAnswer.__name__


@dataclass(frozen=True, eq=False)
class Said:
    """What one mechanism answered: tables, or whole numbers (a place, units and a grid, or sums)."""

    mechanism: str
    tables: tuple[NoisyTable, ...] = ()
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, mechanism: Mechanism[Any], answer: Any) -> Said | None:
        """An answer that can be published; None where it is none of tables, places, values and sums."""
        name = type(mechanism).__name__
        match mechanism, answer:
            case NoisyMarginals(), tuple():
                pairs = zip(answer, mechanism.marginals, strict=True)
                return cls(name, tuple(_table(found, share) for found, (_, share) in pairs))
            case NoisySelection(), int():
                return cls(name, numbers=(answer,))
            case NoisyAnswer(), Answer():
                return cls(name, numbers=(answer.units, answer.grid))
            case NoisyScores(), np.ndarray():
                return cls(name, numbers=tuple(int(number) for number in answer))
        return None

    def again(self, mechanism: Mechanism[T], domain: Domain) -> T:
        """The same answer to the same question; ValueError where the question is another."""
        name = type(mechanism).__name__
        if name != self.mechanism:
            raise ValueError("another kind of question")
        found: Any
        if isinstance(mechanism, NoisyMarginals):
            found = tuple(self._measured(mechanism, domain))
        elif name == SELECTION:
            (found,) = self.numbers
        elif name == ANSWER:
            found = Answer(*self.numbers)
        else:
            found = np.array(self.numbers, np.int64)
        return cast(T, found)

    def _measured(self, mechanism: NoisyMarginals, domain: Domain) -> Iterator[Measurement]:
        for table, (clique, share) in zip(self.tables, mechanism.marginals, strict=True):
            variance = mechanism.variance(share)
            made = Measurement.of(domain, clique, mechanism.versions, table.counts, variance)
            groups = zip(made.groups, table.groups, strict=True)
            if (table.columns, table.share) != (clique, share) or not all(np.array_equal(*g) for g in groups):
                raise ValueError("another table")
            yield made


@dataclass(frozen=True, eq=False)
class Heard:
    """All answers of a fit in their order, and the seeds of its public choices and of what came after it.

    `before` is there where the fit came before the search.
    """

    said: tuple[Said, ...]
    own: Words = ()
    before: Words | None = None

    def seeded(self, own: Words, before: Words | None) -> Heard | None:
        """With the seeds it was made by; None where it is too large to be published."""
        found = replace(self, own=own, before=before)
        return found if len(packed(found)) <= MOST_BYTES else None

    def tables(self, foreseen: Foreseen) -> Iterator[NoisyTable]:
        """The noisy tables in their order, each with what was known of it before any noise was drawn."""
        fixed, planned = Counter(foreseen.fixed), Counter(foreseen.planned)
        for table in (table for one in self.said for table in one.tables):
            form: Form = "chosen"
            for known, left in (("fixed", fixed), ("planned", planned)):
                if left[table.columns]:
                    left[table.columns] -= 1
                    form = cast(Form, known)
                    break
            yield replace(table, form=form)


class Hearing:
    """Answers, kept as they are given: for one fit."""

    def __init__(self, answers: Answers, kept: list[Said | None] | None = None) -> None:
        self.domain, self._answers = answers.domain, answers
        self._kept: list[Said | None] = [] if kept is None else kept

    def run(self, mechanism: Mechanism[T]) -> T:
        """The answer, which is kept."""
        found = self._answers.run(mechanism)
        self._kept.append(Said.of(mechanism, found))
        return found

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Answers:
        """The same for the same records under other axes."""
        return Hearing(self._answers.recoded(domain, maps), self._kept)

    def heard(self) -> Heard | None:
        """All that was answered; None where something cannot be published, or there is no table among it."""
        said = tuple(one for one in self._kept if one is not None)
        tables = any(one.tables for one in said)
        return Heard(said) if tables and len(said) == len(self._kept) else None


class Retelling:
    """Answers that were published, given again in their order to the same questions; it sees no record."""

    def __init__(self, domain: Domain, said: Iterable[Said]) -> None:
        self.domain, self._left = domain, iter(said)

    def run(self, mechanism: Mechanism[T]) -> T:
        """The published answer; ValueError where another question is asked."""
        said = next(self._left, None)
        if said is None:
            raise ValueError("more questions than answers")
        return said.again(mechanism, self.domain)

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Answers:
        """Published answers have one form."""
        raise ValueError("answers are not recoded")

    @property
    def done(self) -> bool:
        """Whether every answer was asked for."""
        return next(self._left, None) is None


def _table(found: Measurement, share: Fraction) -> NoisyTable:
    return NoisyTable(found.columns, found.groups, found.counts.astype(np.int64), share)


def packed(heard: Heard | None) -> bytes:
    """As few bytes, which say where they end; none for nothing."""
    return b"" if heard is None else zlib.compress(json.dumps(plain(heard), separators=(",", ":")).encode())


def unpacked(content: bytes) -> Heard | None:
    """What was packed, whatever fills the room behind it."""
    if not content.strip(b"\0"):
        return None
    return made(json.loads(zlib.decompressobj().decompress(content)))


def plain(heard: Heard) -> dict[str, Any]:
    """As plain data, exactly."""
    said = [
        {"mechanism": one.mechanism, "numbers": list(one.numbers), "tables": [_plain(t) for t in one.tables]}
        for one in heard.said
    ]
    return {
        "said": said,
        "own": list(heard.own),
        "before": None if heard.before is None else list(heard.before),
    }


def _plain(table: NoisyTable) -> dict[str, Any]:
    law = "rho" if table.gaussian else "epsilon"
    groups = [groups.tolist() for groups in table.groups]
    counts = {"shape": list(table.counts.shape), "counts": table.counts.ravel().tolist()}
    return {"columns": list(table.columns), "groups": groups, law: str(Fraction(table.share)), **counts}


def made(data: Mapping[str, Any]) -> Heard:
    """What plain data stand for; ValueError, KeyError or TypeError where they stand for nothing."""
    said = tuple(
        Said(one["mechanism"], tuple(_made(table) for table in one["tables"]), tuple(map(int, one["numbers"])))
        for one in data["said"]
    )
    before = data["before"]
    return Heard(said, tuple(map(int, data["own"])), None if before is None else tuple(map(int, before)))


def _made(data: Mapping[str, Any]) -> NoisyTable:
    share = Rho(data["rho"]) if "rho" in data else Fraction(data["epsilon"])
    groups = tuple(np.array(codes, np.int64) for codes in data["groups"])
    counts = np.array(data["counts"], np.int64).reshape(data["shape"])
    return NoisyTable(tuple(data["columns"]), groups, counts, share)

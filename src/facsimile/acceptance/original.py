"""The original, where it is public: exact answers about it, and noisy ones as a release has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar, cast

from facsimile.privacy.mechanisms import Mechanism, NoisyAnswer
from facsimile.privacy.noise import Noise, SystemNoise
from facsimile.privacy.queries import Query, WorstExcess
from facsimile.synthesizers.base import Answers
from facsimile.table.domain import Domain
from facsimile.table.table import Table

T = TypeVar("T")


@dataclass(eq=False)
class Original:
    """A PUBLIC table that candidates are compared with. Nothing of it runs in a release.

    It answers as a curator does, and computes the value of each query once: a matching that takes a third of a
    second is needed with and without noise. `others` answers what is no noisy number.
    """

    table: Table
    noise: Noise = field(default_factory=SystemNoise)
    others: Answers | None = None
    _values: dict[Query, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.domain = self.table.domain

    def value(self, query: Query) -> Fraction:
        """The query's exact value."""
        if query not in self._values:
            self._values[query] = Fraction(query.value(self.table, self.noise))
        return self._values[query]

    def excess(self, query: Query, limit: Fraction) -> Fraction:
        """What a joint test sees: groups and sums each in units of their own, others by their value."""
        if isinstance(query, WorstExcess):
            return max(self.excess(*part) for part in query.parts)
        if type(query).excess is not Query.excess:
            return query.excess(self.table, limit, self.noise)
        return (self.value(query) - limit) / query.sensitivity()

    def run(self, mechanism: Mechanism[T]) -> T:
        """A noisy answer."""
        if isinstance(mechanism, NoisyAnswer):
            query = mechanism.query
            value = self.excess(query, Fraction(0)) if isinstance(query, WorstExcess) else self.value(query)
            return cast(T, mechanism.around(value, self.noise))
        if self.others is None:
            raise TypeError("nobody answers this mechanism")
        return self.others.run(mechanism)

    def recoded(self, domain: Domain, maps: Mapping[str, Sequence[int]]) -> Answers:
        """The same records under other axes."""
        others = None if self.others is None else self.others.recoded(domain, maps)
        return Original(self.table.recode(domain, maps), self.noise, others)

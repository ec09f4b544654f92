"""Columns of categories: their labels, their order, and coarser alternatives that join what is rare."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from facsimile.draft.bins import Spread, joined, nested
from facsimile.draft.names import label
from facsimile.draft.numbers import ALTERNATIVES, UNKNOWN

MOST_VALUES = 30
"""A column with more different texts lists the frequent ones; the others are one category."""
OTHER = "other"
REST = re.compile(r"others?|sonstiges?|andere[rs]?|autres?|otros?|rest|אחר", re.IGNORECASE)
UNTOLD = re.compile(r"\?+|\.|-+|n/?a|nan|null|#n/a|unknown|not known|unbekannt|missing", re.IGNORECASE)
"""Texts that mean that there is no value."""
KEPT = {"coarse": (0.05, 5), "coarsest": (0.2, 2)}
"""What a coarser alternative keeps apart: categories with this share, and how many of them at most."""
SCALES = (
    "none low medium high",
    "low moderate high",
    "small medium large",
    "minor moderate major extreme",
    "never rarely sometimes often always",
    "none primary secondary tertiary",
    "very bad|bad|fair|good|very good|excellent",
    "poor|fair|good|very good|excellent",
    "strongly disagree|disagree|neutral|agree|strongly agree",
    "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april may june july august september october november december",
    "no yes",
)
"""Words that have an order of their own."""


@dataclass(frozen=True)
class Categories:
    """Labels of a column in their order, with the records of each; `texts` gives the label of a raw text.

    `ordered`: neighbours may be joined. `open_`: other texts than those listed are read as the label `other`.
    """

    counts: Mapping[str, int]
    texts: Mapping[str, str]
    ordered: bool
    open_: str | None

    @classmethod
    def of(
        cls, counts: Mapping[str, int], said: Mapping[str, str], missing: Sequence[str], sampled: bool
    ) -> Categories | None:
        """Of texts and how often each occurs; None where there are many and none is frequent.

        `said`: the labels of a description, in their order; `missing`: texts that mean that there is no value.
        """
        untold = {text for text in counts if text in missing or (text not in said and UNTOLD.fullmatch(text))}
        counts = dict.fromkeys((text for text in said if text not in missing), 0) | dict(counts)
        plain = [text for text in counts if text not in untold]
        words = [said.get(text, text) for text in plain]
        ordered = _ordered(words)
        every = {text: place for place, text in enumerate(said)}
        by_place = said and all(text in every for text in plain)
        places = [every[text] for text in plain] if by_place else ordered or _by_size(plain, counts)
        chosen = [plain[place] for place in np.argsort(places, kind="stable")]
        frequent = [text for text in chosen if counts[text] >= _fewest(counts)]
        closed = len(plain) <= MOST_VALUES and not sampled
        if not closed:
            most = sorted(frequent, key=lambda text: -counts[text])[: MOST_VALUES - 1]
            chosen = [text for text in frequent if text in most]
        if not chosen:
            return None
        texts: dict[str, str] = {}
        for place, text in enumerate(chosen):
            texts[text] = label(said.get(text, text), place, texts.values())
        texts |= dict.fromkeys(sorted(untold), UNKNOWN)
        rest = next((one for one in texts.values() if REST.fullmatch(one)), None if closed else OTHER)
        found: dict[str, int] = {}
        for text, one in texts.items():
            found[one] = found.get(one, 0) + counts[text]
        if rest is not None and not closed:
            found[rest] = found.get(rest, 0) + sum(counts.values()) - sum(found.values())
        return cls(found, texts, bool(ordered) and closed, rest)

    def keys(self) -> dict[str, Any]:
        """The keys of a specification that say all this."""
        found: dict[str, Any] = {}
        if any(text != one for text, one in self.texts.items()):
            found["map"] = dict(self.texts)
        found["values"] = list(self.counts)
        found["alternatives"] = self.alternatives()
        found["groups"] = list(found["alternatives"].values())[-1]
        if self.open_ is not None:
            found["outside"] = self.open_
        return found

    def alternatives(self) -> dict[str, Any]:
        """All categories that are not rare, then two coarser ways where they are coarser."""
        labels = [one for one in self.counts if one != UNKNOWN]
        if self.ordered and len(labels) > 1:
            spread = Spread(np.arange(len(labels)), np.array([self.counts[one] for one in labels]))
            cuts = [
                [0, *cut, len(labels)] for cut in nested(spread, joined(spread, range(1, len(labels))) or (1,))
            ]
            apart = {UNKNOWN: [UNKNOWN]} if UNKNOWN in self.counts else {}
            found = [{_spanned(labels[a:b]): labels[a:b] for a, b in pairwise(cut)} | apart for cut in cuts]
        else:
            found = [self._joined(_fewest(self.counts), len(self.counts))]
            for share, most in KEPT.values():
                coarse = self._joined(share * sum(self.counts.values()), most)
                if 2 <= len(coarse) < len(found[-1]):
                    found.append(coarse)
        return {name: _shown(one) for name, one in zip(ALTERNATIVES, found, strict=False)}

    def _joined(self, fewest: float, most: int) -> dict[str, list[str]]:
        """Categories with enough records, but for the largest at most so many; the others are one."""
        by_size = sorted((one for one in self.counts if one != self.open_), key=lambda one: -self.counts[one])
        kept = [one for one in by_size if self.counts[one] >= fewest][:most] or by_size[:1]
        rest = [one for one in self.counts if one not in kept]
        while len(kept) > 2 and rest and sum(self.counts[one] for one in rest) < _fewest(self.counts):
            rest.append(kept.pop())
        found = {one: [one] for one in self.counts if one in kept}
        if not rest:
            return found
        name = rest[0] if len(rest) == 1 else self.open_ or (OTHER if OTHER not in kept else "all others")
        return found | {name: [one for one in self.counts if one in rest]}


def _fewest(counts: Mapping[str, int]) -> float:
    every = np.array(list(counts.values()))
    return Spread(np.arange(len(every)), every).rare * float(every.sum())


def _by_size(texts: Sequence[str], counts: Mapping[str, int]) -> list[float]:
    """Places by the number of records; what means `other` comes last."""
    return [float(REST.fullmatch(text) is not None) * 1e18 - counts[text] for text in texts]


def _ordered(words: Sequence[str]) -> list[float]:
    """Places of words that have an order: known scales, or numbers at their beginning; else nothing."""
    plain = [word.casefold() for word in words]
    for scale in SCALES:
        known = scale.split("|") if "|" in scale else scale.split()
        if len(plain) > 1 and set(plain) <= set(known):
            return [float(known.index(word)) for word in plain]
    begun = [re.match(r"([^0-9]{0,3})([0-9]+(?:[.][0-9]+)?)", word) for word in plain]
    numbers = [float(match[2]) for match in begun if match]
    alike = len({match[1] for match in begun if match}) == 1
    return numbers if alike and len(set(numbers)) == len(plain) > 1 else []


def _spanned(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}"


def _shown(partition: Mapping[str, Sequence[str]]) -> Any:
    """A list where every category stands by itself; else a mapping."""
    if all(list(values) == [one] for one, values in partition.items()):
        return list(partition)
    return {one: values[0] if len(values) == 1 else list(values) for one, values in partition.items()}

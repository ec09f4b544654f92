"""What a raw column becomes: a number, a part of a date, a category, yes or no; or nothing, with the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from facsimile.draft.bins import FEW
from facsimile.draft.categories import UNTOLD, Categories
from facsimile.draft.description import Description, Field
from facsimile.draft.names import column_name, described
from facsimile.draft.numbers import ALTERNATIVES, UNKNOWN, Numbers
from facsimile.draft.part import DraftColumn, LeftOut
from facsimile.draft.profile import Profile, Seen
from facsimile.spec.columns import FALSE_TEXTS, TRUE_TEXTS

LONGEST_SOURCE = 128
MOST_COLUMNS = 500
NEARLY = 0.95
"""The share of texts that must be numbers or dates."""
DISTINCT, FEW_TEXTS = 0.5, 20
"""A column of texts with so large a share of different ones, and so many, is an identifier or free text."""
ENOUGH = 50
FINE, SOME = 8, 0.05
"""A mean is a first concern of a column with so many different numbers, and no more blanks than this share."""
_ID = re.compile(
    r"(^|[^a-z])(id|ids|uuid|key|nr|no|number|record|respondent|person|patient|case|serial)$", re.I
)
_CODE = re.compile("[0-9]{1,6}")
_OTHER_DATE = re.compile(r"[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{2}|[0-9]{4})|[0-9]{4}[/.][0-9]{2}[/.][0-9]{2}")
ONE_YEAR = timedelta(366)
QUARTERS = {"Q1": "1-3", "Q2": "4-6", "Q3": "7-9", "Q4": "10-12"}
HALVES = {"January to June": "1-6", "July to December": "7-12"}
STOPS = "a blank stops the release"
CUT = "round numbers near public quantiles"


def drafted(profile: Profile, description: Description) -> tuple[list[DraftColumn], list[LeftOut]]:
    """Every raw column, in the file's order."""
    columns: list[DraftColumn] = []
    left = [LeftOut(raw, why) for raw, why in profile.unread.items()]
    for place, seen in enumerate(profile.columns):
        taken = [column.name for column in columns]
        name = column_name(seen.name, place, taken)
        field = description.fields.get(seen.name, Field(seen.name))
        found = _Reading(seen, field, name, profile.every > 1).column()
        if isinstance(found, str) or len(columns) >= MOST_COLUMNS:
            left.append(LeftOut(seen.name, found if isinstance(found, str) else "is one column too many"))
        else:
            columns.append(found)
    return columns, left


class _Reading:
    """One raw column on its way to a column, or to the reason why it is left out."""

    def __init__(self, seen: Seen, field: Field, name: str, sampled: bool) -> None:
        self.seen, self.field, self.name, self.sampled = seen, field, name, sampled
        self.untold = [text for text in seen.counts if text in field.missing or UNTOLD.fullmatch(text)]
        self.told = {text: n for text, n in seen.counts.items() if text not in self.untold}
        self.notes: dict[str, str] = {}

    def column(self) -> DraftColumn | str:
        """What it becomes, or why it is left out."""
        if len(self.seen.name) > LONGEST_SOURCE:
            return f"has a name of more than {LONGEST_SOURCE} characters"
        if not self.told:
            return "holds no value"
        if len(self.told) == 1 and not self.seen.blank and not self.untold:
            return f"holds one value only: {described(next(iter(self.told)))[:60]}"
        if self._are(self.seen.dates) and self.field.kind in (None, "date"):
            return self._date()
        if self._is_boolean():
            return self._boolean()
        if self._is_number():
            return self._number()
        return self._category()

    def _are(self, texts: Any) -> bool:
        """Whether nearly all values are of a kind."""
        records = sum(self.told.values())
        return sum(n for text, n in self.told.items() if text in texts) >= NEARLY * records

    def _is_boolean(self) -> bool:
        texts = set(self.told)
        both = texts & set(TRUE_TEXTS) and texts & set(FALSE_TEXTS)
        return bool(both) and texts <= {*TRUE_TEXTS, *FALSE_TEXTS} and not self.field.labels

    def _is_number(self) -> bool:
        """Numbers, unless they are codes: labelled, called categories, padded with zeros, or two at most."""
        plain = all(_CODE.fullmatch(text) for text in self.told)
        if self.seen.real and not plain:
            return True
        if self.field.kind == "category" or not self._are(self.seen.numbers):
            return False
        labelled = sum(text in self.field.labels for text in self.told)
        padded = any(re.match("[+-]?0[0-9]", text) for text in self.told)
        return not (padded or 2 * labelled > len(self.told) or (plain and len(self.told) <= 2))

    def _whole(self, kind: str, keys: dict[str, Any], averaged: bool = False) -> DraftColumn:
        """The column with the keys that all have, in their order, and their notes."""
        given: dict[str, Any] = {
            "name": self.name,
            "description": self.field.title or described(self.seen.name),
        }
        if not self.field.title:
            self.notes["description"] = "in the words of its users?"
        if self.name != self.seen.name:
            given["source"] = self.seen.name
        missing = keys.pop("missing", None)
        ending = {key: keys.pop(key) for key in ("groups",) if key in keys}
        outside = keys.pop("outside", None)
        alternatives = keys.get("alternatives", {})
        if len(alternatives) > 1:
            ending = {"use": [ALTERNATIVES[0]], **ending}
        given |= keys | ending
        given["missing"] = missing or "refuse"
        if missing is None:
            self.notes.setdefault("missing", STOPS)
        if self.notes.get("malformed"):
            given["malformed"] = "missing"
        if outside is not None:
            given["outside"] = outside
        return DraftColumn(given, dict(self.notes), self.seen.name, kind, averaged)

    def _missing(self, malformed: Sequence[str]) -> dict[str, Any]:
        """What a number or a date says about blanks, and about texts in its place."""
        if malformed:
            words = ", ".join(described(text) for text in malformed[:3])
            self.notes["malformed"] = f"texts such as {words} are read as blank"
        if malformed or self.seen.blank:
            share = 1 - sum(self.seen.counts[t] for t in self.told if t not in malformed) / self.seen.records
            self.notes["missing"] = f"{share:.2%} of the public records have no value"
            return {"missing": {"code": UNKNOWN}}
        return {}

    def _date(self) -> DraftColumn:
        dates = self.seen.dates
        malformed = [text for text in self.seen.counts if text not in dates]
        years = {text: Decimal(day.year) for text, day in dates.items()}
        keys: dict[str, Any]
        if max(dates.values()) - min(dates.values()) < ONE_YEAR:
            keys = {"part": "month", "bounds": ["1", "12"]}
            keys["alternatives"] = dict(zip(ALTERNATIVES, (["1..12"], QUARTERS, HALVES), strict=True))
            keys["groups"] = HALVES
            self.notes["part"] = "all dates lie within a year; there are also year, quarter and day"
        else:
            counts: dict[Decimal, int] = {}
            for text, year in years.items():
                counts[year] = counts.get(year, 0) + self.seen.counts[text]
            found = Numbers.of(counts)
            assert found is not None, "years are whole numbers below 10,000"
            keys = {"part": "year"} | found.keys()
            self._said(keys)
            self.notes["part"] = "a second column of this source may keep month or quarter"
        return self._whole("date", keys | self._missing(malformed))

    def _boolean(self) -> DraftColumn:
        """`1` and `true` are yes, in every spelling."""
        self.notes["map"] = "what is true, and what is false?"
        words = ["no", "yes"]
        keys: dict[str, Any] = {"map": {True: "yes", False: "no"}, "values": words}
        keys |= {"alternatives": {"released": words}, "groups": words}
        return self._whole("yes or no", keys | self._blank(()))

    def _number(self) -> DraftColumn | str:
        numbers = {text: number for text, number in self.seen.numbers.items() if text not in self.untold}
        if self._is_serial(list(numbers.values())):
            return f"looks like an identifier: {len(self.told):,} different numbers"
        counts: dict[Decimal, int] = {}
        for text, number in self.seen.numbers.items():
            counts[number] = counts.get(number, 0) + self.seen.counts[text]
        said = [self.seen.numbers[text] for text in self.seen.numbers if text in self.field.missing]
        found = Numbers.of(counts, said)
        if found is None:
            return "holds numbers that a grid of six decimals cannot tell apart, or beyond 10^12"
        keys = found.keys()
        self._said(keys)
        if found.coded:
            self.notes["alternatives"] = "the code for no value has a bin of its own; blank it in the file?"
        malformed = [text for text in self.seen.counts if text not in self.seen.numbers]
        keys |= self._missing(malformed)
        blank = self.seen.records - sum(counts.values())
        fine = len(found.spread.values) >= FINE and len(found.cuts[0]) > 2
        averaged = fine and not found.coded and blank <= SOME * self.seen.records
        if averaged and "missing" in keys:
            keys["missing"] |= {"number": found.middle()}
            self.notes["missing"] += "; means count them as this number"
        return self._whole("number", keys, averaged)

    def _said(self, keys: dict[str, Any]) -> None:
        """Notes on what was guessed of numbers."""
        self.notes["bounds"] = "where open bins end"
        self.notes["alternatives"] = CUT if len(self.told) > FEW else "numbers, or codes?"
        if "numbers" in keys:
            self.notes["numbers"] = "means of the public values in these bins"
        if "round" in keys:
            self.notes["round"] = "further digits are cut off"
        if keys.get("outside"):
            self.notes["outside"] = "a value beyond the bins counts as the nearest"

    def _is_serial(self, numbers: Sequence[Decimal]) -> bool:
        """Whole numbers, nearly all different, that run on or are called a number."""
        filled = sum(self.told.values())
        whole = all(number == number.to_integral_value() for number in numbers)
        if not whole or filled < ENOUGH or len(numbers) < NEARLY * filled:
            return False
        dense = max(numbers) - min(numbers) <= Decimal("1.2") * len(numbers)
        return dense or _ID.search(self.seen.name) is not None or len(numbers) == filled >= 20 * ENOUGH

    def _category(self) -> DraftColumn | str:
        different, filled = len(self.told), sum(self.told.values())
        said = dict(self.field.labels)
        if self._are({text for text in self.told if _OTHER_DATE.fullmatch(text)}):
            return "holds dates that are not written like 2023-05-17"
        if different > FEW_TEXTS and different > DISTINCT * filled:
            return f"looks like an identifier or free text: {different:,} different texts"
        found = Categories.of(self.seen.counts, said, self.field.missing, self.sampled)
        if found is None:
            return f"has {different:,} different texts, and none is frequent"
        if len(found.counts) == 1 and not self.seen.blank:
            return f"holds one value only: {next(iter(found.counts))[:60]}"
        keys = found.keys()
        if "map" in keys and not said:
            self.notes["map"] = "texts that cannot be labels, or mean that there is no value"
        coded = not said and all(one.isdecimal() or one == UNKNOWN for one in found.counts)
        order = "in this order?" if found.ordered else "frequent ones first; is there an order?"
        self.notes["values"] = "codes? say with `map` what each means" if coded else order
        if isinstance(keys["alternatives"][ALTERNATIVES[0]], dict) or len(keys["alternatives"]) > 1:
            self.notes["alternatives"] = "neighbours are joined" if found.ordered else "rare ones are joined"
        if found.open_ is None:
            keys["outside"] = "refuse"
            self.notes["outside"] = "a text that is not listed stops the release"
        else:
            unlisted = sum(text not in found.texts for text in self.seen.counts)
            more = f"; so do {unlisted:,} public ones" if unlisted else ""
            self.notes["outside"] = f"texts that are not listed count as this{more}"
        return self._whole("category", keys | self._blank(found.counts))

    def _blank(self, labels: Any) -> dict[str, Any]:
        """Blanks join what is unknown already, or get a code."""
        if UNKNOWN in labels:
            if not self.seen.blank:
                self.notes["missing"] = "blanks would count as unknown"
            return {"missing": {"value": UNKNOWN}}
        if not self.seen.blank:
            return {}
        self.notes["missing"] = f"{self.seen.blank / self.seen.records:.2%} of the public records are blank"
        return {"missing": {"code": UNKNOWN}}

"""A whole draft, from a public source: look, guess, try, write; and hold the text against what was meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from facsimile.draft.columns import drafted
from facsimile.draft.description import Description
from facsimile.draft.generator import LADDER, Tried, Workload, climbed, workload
from facsimile.draft.part import DraftColumn, LeftOut, Part
from facsimile.draft.profile import Profile, profiled
from facsimile.draft.promises import (
    MOST,
    Thresholds,
    affordable,
    criteria,
    joint_test,
    priced,
    sizes,
    two_digits_up,
)
from facsimile.draft.rules import Rule, unbroken
from facsimile.draft.text import Draft
from facsimile.draft.ties import Ties
from facsimile.errors import FacsimileError, refusal
from facsimile.explore.setup import Remembered
from facsimile.privacy.reader import read_public
from facsimile.release.check import mistakes, thorough
from facsimile.release.plan import plan_of
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import loads, validated
from facsimile.spec.release import Specification
from facsimile.table.encoding import recode
from facsimile.table.table import Table

UNIQUE = 0.3
"""With a larger share of records that are the only one of their kind, rows that occur once are kept."""
WIDER = 1.4
"""What a threshold is loosened to, beside the worst error of a trial."""
LAST = Part({"criterion": "marginals-absolute", "ways": "1", "threshold": "0.9"})
"""What is promised where samples are so far apart that nothing else can be."""
SEED = 77_000
"""Trials of a draft have other seeds than those of a study."""


@dataclass(frozen=True)
class Found:
    """A draft, the specification that its text is, and what its trials showed."""

    draft: Draft
    text: str
    specification: Specification
    table: Table
    tried: Tried


def draft(
    description: Description,
    *,
    records: int | None = None,
    title: str | None = None,
    seed: int = 1,
    tell: Callable[[str], None] = lambda doing: None,
) -> Found:
    """A draft of the source that a description speaks of; everything follows from its records and the seed."""
    tell("reading the public file")
    profile = profiled(description.data)
    columns, left = drafted(profile, description)
    if not columns:
        raise refusal("E153")
    return _Drafting(description, profile, columns, left, records, title, seed, tell).whole()


class _Drafting:
    def __init__(
        self,
        description: Description,
        profile: Profile,
        columns: list[DraftColumn],
        left: list[LeftOut],
        records: int | None,
        title: str | None,
        seed: int,
        tell: Callable[[str], None],
    ) -> None:
        self.tell, self.seed, self.profile = tell, seed, profile
        file = description.data.name
        first = Part({"criterion": "marginals-absolute", "ways": "1", "threshold": "0.1", "epsilon": "0.1"})
        named = title or description.title
        self.draft = Draft(
            file,
            profile.records,
            profile.every,
            description.origin,
            _head(named or f"Draft from {file}", bool(named)),
            _records(records or profile.records, file, profile.records, records is not None),
            tuple(columns),
            tuple(left),
            (),
            ({"family": "workload"},),
            Part({"algorithm": ["margins"], "min_count": ["1"]}),
            (first,),
            _selection(),
            Part({"total": "1000", "generator": "1", "test": "0.2"}),
            None,
        )
        self.table = read_public(description.data, self.specification)

    @property
    def specification(self) -> Specification:
        return validated(self.draft.data())

    def change(self, **parts: Any) -> None:
        self.draft = replace(self.draft, **parts)

    def whole(self) -> Found:
        spec = self.specification
        made = recode(spec, self.table, spec.first)
        real = Remembered(made.domain, made.codes, made.counts)
        ties = Ties(real)
        self._promise(ties)
        self._project(real)
        chosen = workload(self.specification.sized(real.n), ties, self.tell)
        self.change(families=(_family(chosen),))
        tried = self._try()
        self._spend(tried.generator)
        self.tell("looking for rules that are never broken")
        self.change(rules=tuple(self._rules(unbroken(real))))
        return self._checked(tried)

    def _promise(self, ties: Ties) -> None:
        """Criteria with thresholds and epsilons that are affordable, and the sizes of groups they speak of.

        Noise is that of the public file or of the release, whichever has fewer records.
        """
        spec, real = self.specification, ties.table
        parts = criteria(self.draft.columns, spec, ties)
        while True:
            self.change(criteria=tuple(Part({**p.data, "threshold": "1", "epsilon": "0.1"}) for p in parts))
            self.tell("comparing samples of the public file")
            bounded = Thresholds.of(self._at(real.n), parts, real, self.seed).criteria or (LAST,)
            self.change(criteria=tuple(Part({**p.data, "epsilon": "0.1"}) for p in bounded))
            found = priced(self._at(min(spec.n, real.n)), bounded, real)
            parts = affordable(found)
            if parts == found or not parts:
                break
        found = parts or [Part({**found[0].data, "epsilon": show_decimal(MOST)}, found[0].notes)]
        self.change(criteria=tuple(found))
        self._spend(Fraction(1), joint_test(found))
        by = {name for part in found for name in part.data.get("by", ())}
        smallest = {name: min(sizes(spec, real, name)) * spec.n // real.n for name in sorted(by)}
        groups = {name: str(size) for name, size in smallest.items() if size}
        if groups:
            self.change(planning=Part({"groups": groups}, {"groups": "from the public file"}))

    def _at(self, n: int) -> Specification:
        return self.specification.sized(n)

    def _project(self, real: Table) -> None:
        """Rows that occur once are kept where too many records are the only one of their kind."""
        alone = float((real.counts == 1).sum()) / real.n
        least, why = (
            ("2", f"{alone:.0%} of public records are unique; 3 is safer")
            if alone <= UNIQUE
            else (
                "1",
                f"{alone:.0%} of public records are unique: a minimum of 2 would leave too little",
            )
        )
        self.change(projection=Part({"algorithm": ["margins"], "min_count": [least]}, {"min_count": why}))

    def _try(self) -> Tried:
        """Climb the ladder; if its last rung is not enough, loosen what was missed and try that rung again."""
        tried = climbed(self.specification, self.table, self.seed + SEED, self.tell)
        if tried.passed:
            return tried
        names = [criterion.name for criterion in self.specification.criteria]
        loose = Thresholds(self.draft.criteria).loosened(tried.errors, names, WIDER)
        self.change(criteria=loose.criteria)
        test = Fraction(self.draft.budget.data["test"])
        self._spend(LADDER[-1], 2 * test)
        tried = climbed(self.specification, self.table, self.seed + SEED, self.tell, len(LADDER) - 1)
        if not tried.passed:
            remark = (
                "check: no candidate of its trials met everything: coarser bins or wider thresholds are needed."
            )
            self.change(remarks=(*self.draft.remarks, remark))
        return tried

    def _spend(self, generator: Fraction, test: Fraction | None = None) -> None:
        """The budget: the total of all parts, rounded up to two digits."""
        chosen = show_decimal(test) if test is not None else self.draft.budget.data["test"]
        parts = {"total": "1000", "generator": show_decimal(generator), "test": chosen}
        self.change(budget=Part(parts))
        total = two_digits_up(plan_of(self.specification).total().epsilon)
        notes = {
            "total": "the sum of all parts, rounded up; who agrees to it?",
            "generator": f"the first of {', '.join(map(show_decimal, LADDER))} at which trials passed",
        }
        self.change(budget=Part({**parts, "total": show_decimal(total)}, notes))

    def _rules(self, found: list[Rule]) -> list[Rule]:
        """The rules that can be confirmed all together."""
        while found:
            try:
                whole = validated(replace(self.draft, rules=tuple(found)).data(confirmed=True))
                if not [*mistakes(whole), *thorough(whole)]:
                    break
            except FacsimileError:
                pass
            found = found[:-1]
        return found

    def _checked(self, tried: Tried) -> Found:
        """The text says what was meant, and a look at it finds no mistake."""
        self.tell("checking the draft")
        text = self.draft.text()
        found = loads(text, mistakes, thorough)
        assert found.canonical() == self.specification.canonical(), "the text says what was meant"
        return Found(self.draft, text, found, self.table, tried)


def _head(title: str, said: bool) -> Part:
    data = {"facsimile": "1", "title": title, "unit": "one record", "neighbours": "replace-one"}
    notes = {"unit": "whom does one record stand for? A person with two is protected half as well"}
    return Part(data, notes if said else {"title": "as it will be printed", **notes})


def _records(count: int, file: str, public: int, given: bool) -> Part:
    why = f"TO BE CONFIRMED: who publishes this number. The public file {file} has {public:,} records."
    note = "the number of confidential records, without those that rules leave out"
    notes = {"public_because": "a lawyer reads this"}
    return Part({"count": str(count), "public_because": why}, notes if given else {"count": note, **notes})


def _selection() -> Part:
    return Part(
        {"mode": "rising-coin", "a": "0.5"}, {"mode": "costs 1.5 times an iteration; `single` is cheaper"}
    )


def _family(chosen: Workload) -> dict[str, Any]:
    return {"family": "workload", "grid": {name: [text] for name, text in chosen.own.items()}}

"""Evidence: a theorem, how it was tried on this machine, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any, Literal, get_args

Kind = Literal[
    "sensitivity", "hostile", "law", "distinguished", "canary", "charges", "reader", "replay", "opened"
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
FORMAT = 1
ROUNDED = 1e-9
"""How far two floats may be apart that should be equal."""


@dataclass(frozen=True)
class Evidence:
    """One theorem, tried once.

    `theorem` is its place in the index of privacy/README.md, `case` what it was tried with, `test` one sentence
    for people. `declared` is what the theorem claims, `found` what was seen, in the unit of the test: an ε, a
    share of a sensitivity, a number of calls. `least` is what a test that is alive finds at least, where there
    is such a number.
    """

    theorem: str
    kind: Kind
    case: str
    test: str
    declared: float | None
    found: float | None
    passed: bool
    least: float | None = None

    @property
    def result(self) -> str:
        """In a word or two."""
        if not self.passed:
            return "FAILED"
        return "not tried" if self.found is None else "passed"

    @classmethod
    def bounded(
        cls,
        theorem: str,
        kind: Kind,
        case: str,
        test: str,
        declared: float,
        found: float,
        share: float | None = None,
    ) -> Evidence:
        """What was found may not exceed what is declared; a test that is alive finds this share of it."""
        least = None if share is None else share * declared
        passed = found <= declared * (1 + ROUNDED) and (least is None or found >= least * (1 - ROUNDED))
        return cls(theorem, kind, case, test, declared, found, passed, least)


@dataclass(frozen=True)
class Audit:
    """All evidence of one run: which program on which machine, the chance that honest code fails, the day."""

    version: str
    day: str
    machine: Mapping[str, str]
    alpha: float
    evidence: tuple[Evidence, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing was found against any theorem."""
        return bool(self.evidence) and all(found.passed for found in self.evidence)

    @property
    def whole(self) -> bool:
        """Whether every kind of evidence was looked for."""
        return {found.kind for found in self.evidence} == {*KINDS}

    def as_json(self) -> dict[str, Any]:
        """As plain data; `of_json` reads it."""
        evidence = [asdict(found) for found in self.evidence]
        told = {"version": self.version, "day": self.day, "machine": dict(self.machine), "alpha": self.alpha}
        return {"format": FORMAT, "passed": self.passed, **told, "evidence": evidence}

    @classmethod
    def of_json(cls, told: Any) -> Audit:
        """An audit as `as_json` wrote it; ValueError for anything else."""
        try:
            if told["format"] != FORMAT:
                raise ValueError("another format")
            evidence = tuple(_evidence(one) for one in told["evidence"])
            texts = (told["version"], told["day"], *told["machine"], *told["machine"].values())
            found = cls(told["version"], told["day"], dict(told["machine"]), float(told["alpha"]), evidence)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("not an audit") from error
        if not all(isinstance(text, str) for text in texts) or found.as_json() != told:
            raise ValueError("not an audit")
        date.fromisoformat(found.day)
        return found


def _evidence(told: Any) -> Evidence:
    if set(told) != {field.name for field in fields(Evidence)} or told["kind"] not in KINDS:
        raise ValueError("not an audit")
    numbers = (told["declared"], told["found"], told["least"])
    if not all(n is None or type(n) in (int, float) for n in numbers) or type(told["passed"]) is not bool:
        raise ValueError("not an audit")
    if not all(isinstance(told[name], str) for name in ("theorem", "case", "test")):
        raise ValueError("not an audit")
    return Evidence(**told)

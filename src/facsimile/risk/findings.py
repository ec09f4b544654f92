"""Findings: what the attacks found, as plain data that other documents read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any, Literal, get_args

Question = Literal["singling-out", "linkability", "inference", "membership"]
Published = Literal["no-privacy", "release", "independent"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
TABLES: tuple[Published, ...] = get_args(Published)
FORMAT = 1
_TEXTS = ("version", "title", "plan_hash", "epsilon", "day")


@dataclass(frozen=True)
class Part:
    """One form of an attack: a secret column, a kind of description, a group of people."""

    name: str
    risk: float
    low: float
    high: float
    success: float
    control: float
    attacks: int


@dataclass(frozen=True)
class Finding:
    """One question to one published table: the worst of its parts.

    `success` is the share of attacks that succeeded on people in the table, `control` that on people who were
    not, `risk` what is left of the one over the other, between `low` and `high`.
    """

    question: Question
    table: Published
    risk: float
    low: float
    high: float
    success: float
    control: float
    attacks: int
    detail: str
    parts: tuple[Part, ...]

    @classmethod
    def worst(cls, question: Question, table: Published, parts: Iterable[Part], detail: str) -> Finding:
        """Of its parts; `detail` has a place for the name of the worst."""
        every = tuple(parts)
        most = max(every, key=lambda part: part.risk)
        figures = {name: value for name, value in asdict(most).items() if name != "name"}
        return cls(question, table, **figures, detail=detail.format(worst=most.name), parts=every)

    @property
    def clear(self) -> bool:
        """Whether people in the table are at risk, beyond what chance explains."""
        return self.low > 0


@dataclass(frozen=True)
class Risk:
    """A risk report. All its intervals hold together with the probability `confidence`."""

    version: str
    title: str
    plan_hash: str
    epsilon: str
    delta: str | None
    records: int
    day: str
    confidence: float
    attacks: tuple[Finding, ...]
    says: tuple[str, ...]
    cannot: tuple[str, ...]
    parameters: Mapping[str, int | float | str]

    def finding(self, question: Question, table: Published) -> Finding:
        """What one question to one table found."""
        return next(f for f in self.attacks if (f.question, f.table) == (question, table))

    def as_json(self) -> dict[str, Any]:
        """As plain data; `of_json` reads it."""
        plain = asdict(self) | {"parameters": dict(self.parameters)}
        for name in ("attacks", "says", "cannot"):
            plain[name] = list(plain[name])
        for attack in plain["attacks"]:
            attack["parts"] = list(attack["parts"])
        return {"format": FORMAT} | plain

    @classmethod
    def of_json(cls, told: Any) -> Risk:
        """A report as `as_json` wrote it; ValueError for anything else."""
        try:
            if told["format"] != FORMAT:
                raise ValueError("another format")
            given = {name: told[name] for name in (field.name for field in fields(cls))}
            given["attacks"] = tuple(_finding(one) for one in told["attacks"])
            given |= {name: tuple(told[name]) for name in ("says", "cannot")}
            found = cls(**given | {"parameters": dict(told["parameters"])})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a risk report") from error
        texts = (*(getattr(found, name) for name in _TEXTS), *found.says, *found.cannot, *found.parameters)
        typed = all(isinstance(text, str) for text in texts) and type(found.records) is int
        typed = typed and (found.delta is None or isinstance(found.delta, str))
        typed = typed and all(type(value) in (int, float, str) for value in found.parameters.values())
        asked = [(f.question, f.table) for f in found.attacks]
        if not typed or type(found.confidence) is not float or not 0 < found.confidence < 1:
            raise ValueError("not a risk report")
        date.fromisoformat(found.day)
        if asked != [(q, t) for q in QUESTIONS for t in TABLES] or found.as_json() != told:
            raise ValueError("not a risk report")
        return found


def _finding(told: Any) -> Finding:
    parts = tuple(_part(one) for one in told["parts"])
    found = Finding(**told | {"parts": parts})
    if not parts or not isinstance(found.detail, str):
        raise ValueError("not a risk report")
    _figures(found)
    return found


def _part(told: Any) -> Part:
    found = Part(**told)
    if not isinstance(found.name, str):
        raise ValueError("not a risk report")
    _figures(found)
    return found


def _figures(found: Part | Finding) -> None:
    shares = (found.risk, found.low, found.high, found.success, found.control)
    if type(found.attacks) is not int or found.attacks < 0 or not all(type(x) is float for x in shares):
        raise ValueError("not a risk report")
    if not (-1 <= found.low <= found.risk <= found.high <= 1 and 0 <= min(shares[3:]) <= max(shares[3:]) <= 1):
        raise ValueError("not a risk report")

"""Contenders: the configurations whose released tables are laid side by side.

A configuration's released tables are its accepted trials, made again from their seeds: the fresh ones first,
then those of the race. Where the study has too few, further trials are run, under numbers that no study uses. A
configuration that no trial of the study accepted is shown by the trial that is least far off, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from facsimile.errors import refusal
from facsimile.explore.report.findings import Findings, Tried
from facsimile.explore.trials import Job, Trial, run
from facsimile.spec.decimals import parse_decimal

LETTERS = "ABCDEF"
SHOWN, TABLES = 3, 5
FURTHER = 1_000_000
"""Further trials have numbers from here on."""
TRIES = 4
"""How many further trials are run for each table that is missing, at most."""


@dataclass(frozen=True)
class Contender:
    """A configuration under a letter, with the trials whose tables are compared."""

    letter: str
    tried: Tried
    trials: tuple[Trial, ...]

    @property
    def accepted(self) -> bool:
        """Whether its tables would have been released."""
        return bool(self.trials) and all(trial.accepted for trial in self.trials)

    def as_json(self) -> dict[str, Any]:
        """Plain data: what it is, and the numbers of its tables."""
        return {
            "letter": self.letter,
            "identifier": self.tried.identifier,
            **self.tried.configuration.as_json(),
            "accepted": self.tried.estimate.accepted,
            "trials": self.tried.estimate.trials,
            "released": self.accepted,
            "tables": [trial.number for trial in self.trials],
        }


def contenders(findings: Findings, names: Sequence[str], tables: int) -> tuple[Contender, ...]:
    """The configurations whose identifiers begin with the names, in that order; without names the best of the
    finalists, which a plan draws from."""
    asked = [_named(findings, name) for name in names] if names else findings.finalists[:SHOWN]
    lines = {line.identifier: line for line in asked}.values()
    if len(lines) > len(LETTERS):
        problem = f"At most {len(LETTERS)} configurations are compared."
        raise refusal("E001", problem=problem, command="facsimile report")
    found = zip(LETTERS, lines, strict=False)
    return tuple(Contender(letter, line, _released(findings, line, tables)) for letter, line in found)


def _named(findings: Findings, name: str) -> Tried:
    found = [line for line in findings.lines if line.able and line.identifier.startswith(name)]
    exactly = [line for line in found if line.identifier == name]
    if len(exactly or found) != 1:
        problem = f"{len(found):,} begin so" if found else "none begins so"
        raise refusal("E421", name=name, problem=problem)
    return (exactly or found)[0]


def _released(findings: Findings, line: Tried, tables: int) -> tuple[Trial, ...]:
    """The accepted trials, or the one that is least far off."""
    made = findings.preferred(line)
    accepted = [trial for trial in made if trial.accepted][:tables]
    if not accepted:
        return tuple(made[:1])
    return (*accepted, *_further(findings, line, tables - len(accepted)))


def _further(findings: Findings, line: Tried, missing: int) -> Iterator[Trial]:
    """Accepted trials that the study does not have; their randomness follows from their numbers."""
    setup, level = findings.study.setup, parse_decimal(findings.first)
    for number in range(FURTHER, FURTHER + TRIES * missing):
        if not missing:
            return
        (trial,) = run(setup, Job((line.configuration,), level, number))
        if trial.accepted:
            missing -= 1
            yield trial

"""The run: split a public file, publish three tables, attack each, and say what was found.

    no-privacy    the members themselves
    release       rehearsals of the whole scheme on the members
    independent   the same table with strangers in the targets' place: a perfect generator that remembers nobody

Every table has the same number of records, and every attack is made on the same targets and the same controls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date

import numpy as np

from facsimile import __version__
from facsimile.errors import refusal
from facsimile.release.check import show_upper
from facsimile.release.feasible import refuse_infeasible
from facsimile.release.plan import plan_hash, plan_of
from facsimile.release.run import rehearsed
from facsimile.release.scheme import Accepted
from facsimile.risk.findings import QUESTIONS, TABLES, Finding, Part, Published, Question, Risk
from facsimile.risk.inferring import inferring
from facsimile.risk.linking import linking
from facsimile.risk.membership import Membership, Publish, Watched, bound, shadow_seeds, shadowed
from facsimile.risk.people import People
from facsimile.risk.rates import NONE, Excess, Guessed
from facsimile.risk.singling import singling
from facsimile.risk.words import CANNOT, DETAILS, TABLE_WORDS, few_alarms, says
from facsimile.spec.decimals import show_decimal
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.encoding import recode
from facsimile.table.table import Codes, Table

TRIES = 10
"""Rehearsals for each release that is wanted."""
Tell = Callable[[str], None]
Attacked = dict[Question, dict[str, Excess]]


@dataclass(frozen=True)
class Rule:
    """How much is tried. `attacks`: people of each group that are attacked; `releases`: rehearsals that are
    attacked; `shadows`: shadow runs; `watched`: people whose membership is guessed in each."""

    attacks: int = 20_000
    releases: int = 4
    shadows: int = 60
    watched: int = 200
    confidence: float = 0.95
    seed: int = 1

    @property
    def alpha(self) -> float:
        """The share of one finding in what may be missed: all intervals hold together."""
        return (1 - self.confidence) / (len(QUESTIONS) * len(TABLES))


@dataclass(frozen=True, eq=False)
class Attacker:
    """A specification, a split public file, and what is tried on it."""

    specification: Specification
    people: People
    rule: Rule
    prior: Table | None
    tell: Tell
    plan: str
    """The hash of the plan that would be released: the attacked table has fewer records than it declares."""

    def risk(self) -> Risk:
        """The whole report."""
        made = self._releases()
        first = made[0].configuration.alternatives
        people, watched = self._under(first), Watched.of(self.people, self.rule.watched, self._random(5))
        shown = people.targets[watched.places]
        attacked: dict[Published, Attacked] = {}
        plain: dict[Published, Table] = {"no-privacy": people.members, "independent": people.strangers}
        for table, published in plain.items():
            self.tell(f"Attacking {TABLE_WORDS[table]}")
            attacked[table] = self._attacked(people, published, self._groups(people, slice(None)))
        attacked["release"] = self._pooled(made)
        publishers: dict[Published, Publish] = {
            "no-privacy": lambda table, run: (recode(self.specification, table, first), shown),
            "release": lambda table, run: self._published(table, run, watched),
            "independent": lambda table, run: (people.strangers, shown),
        }
        shadows = {
            table: shadowed(self.people, watched, self.rule.shadows, publish, self._random(6), self.tell)
            for table, publish in publishers.items()
        }
        findings = [self._finding(q, t, attacked[t][q]) for q in QUESTIONS[:3] for t in TABLES]
        return self._told([*findings, *(self._guessed(t, shadows[t]) for t in TABLES)], shadows["release"])

    def _random(self, part: int, number: int = 0) -> np.random.Generator:
        return np.random.default_rng((self.rule.seed, part, number))

    def _releases(self) -> list[Accepted]:
        """Rehearsals that ended in a release: those that ended without one published nothing to attack."""
        found: list[Accepted] = []
        for number, seed in enumerate(shadow_seeds(self.rule.seed, 2, TRIES * self.rule.releases)):
            self.tell(f"Rehearsal {number + 1}: {len(found)} of {self.rule.releases} releases made")
            accepted, _ = rehearsed(self.specification, self.people.members, seed, self.prior)
            found += [] if accepted is None else [accepted]
            if len(found) == self.rule.releases:
                break
        if not found:
            raise refusal("E606")
        return found

    def _published(self, table: Table, run: int, watched: Watched) -> tuple[Table, Codes] | None:
        seed = shadow_seeds(self.rule.seed, 7, self.rule.shadows)[run]
        accepted, _ = rehearsed(self.specification, table, seed, self.prior)
        if accepted is None:
            return None
        return accepted.table, self._under(accepted.configuration.alternatives).targets[watched.places]

    def _pooled(self, made: Sequence[Accepted]) -> Attacked:
        """The attacks on the release, dealt out among its rehearsals, each on people of its own."""
        found: Attacked = {question: {} for question in QUESTIONS[:3]}
        for number, accepted in enumerate(made):
            self.tell(f"Attacking release {number + 1} of {len(made)}")
            people = self._under(accepted.configuration.alternatives)
            groups = self._groups(people, slice(number, None, len(made)))
            for question, parts in self._attacked(people, accepted.table, groups, number).items():
                known = found[question]
                found[question] = {
                    name: parts.get(name, NONE) + known.get(name, NONE) for name in {**known, **parts}
                }
        return found

    def _groups(self, people: People, some: slice) -> tuple[Codes, Codes]:
        """Targets and controls to attack: the first of each, in the order of the shuffle."""
        most = self.rule.attacks
        return people.targets[:most][some], people.controls[:most][some]

    def _attacked(
        self, people: People, published: Table, groups: tuple[Codes, Codes], number: int = 0
    ) -> Attacked:
        return {
            "singling-out": singling(published, people, len(groups[0]), self._random(3, number)),
            "linkability": linking(published, *groups),
            "inference": inferring(published, *groups),
        }

    def _under(self, alternatives: Mapping[str, str]) -> People:
        """The people under the alternatives of a release."""
        domain = Domain(self.specification.axes(alternatives))
        return self.people.recoded(domain, self.specification.recodings(alternatives))

    def _finding(self, question: Question, table: Published, parts: Mapping[str, Excess]) -> Finding:
        return Finding.worst(question, table, self._parts(parts), DETAILS[question])

    def _guessed(self, table: Published, found: Membership) -> Finding:
        detail = few_alarms(found, self.rule.alpha)
        return Finding.worst("membership", table, self._parts(found.parts), DETAILS["membership"] + detail)

    def _parts(self, parts: Mapping[str, Excess | Guessed]) -> Iterator[Part]:
        """Each with its share of α: the worst of several is known only if all of them are."""
        for name, part in parts.items():
            low, high = part.bounds(self.rule.alpha / len(parts))
            rates = part.members.share, part.controls.share
            yield Part(name, part.risk, min(low, part.risk), max(high, part.risk), *rates, part.members.attacks)

    def _told(self, findings: Sequence[Finding], shadows: Membership) -> Risk:
        spec, rule, total = self.specification, self.rule, plan_of(self.specification).total()
        most = bound(total.epsilon, total.delta)
        return Risk(
            version=__version__,
            title=spec.title,
            plan_hash=self.plan,
            epsilon=show_upper(total.epsilon),
            delta=show_decimal(total.delta) if total.delta else None,
            records=self.people.n,
            day=date.today().isoformat(),
            confidence=rule.confidence,
            attacks=tuple(findings),
            says=says(findings, most, show_upper(total.epsilon)),
            cannot=CANNOT,
            parameters=asdict(rule)
            | {"people": len(self.people.targets), "released": shadows.released, "bound": most},
        )


def risk_of(
    specification: Specification,
    table: Table,
    rule: Rule,
    prior: Table | None = None,
    tell: Tell = lambda doing: None,
) -> Risk:
    """Attack a public table, itself and as the specification would release it."""
    people = People.split(table, np.random.default_rng((rule.seed, 1)))
    sized = specification.sized(people.n)
    refuse_infeasible(sized)
    return Attacker(sized, people, rule, prior, tell, plan_hash(specification)).risk()

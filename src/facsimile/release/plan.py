"""The plan: what a release spends and promises, fixed by the specification alone and named by a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from fractions import Fraction

from facsimile.privacy.ledger import micro
from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import Mode, mode_of
from facsimile.spec.choices import SchemeName
from facsimile.spec.release import Specification

FORMAT = 1


def plan_of(specification: Specification) -> Plan:
    """The parts of the budget, as the scheme arranges them."""
    parts = specification.budget
    measured = [c.epsilon for c in specification.criteria if not specification.shares_once(c)]
    mode = mode_of(specification.selection)
    return arranged(specification.scheme, parts.generator, parts.test, parts.once, measured, mode)


def arranged(
    scheme: SchemeName,
    generator: Fraction,
    test: Fraction | None,
    once: Fraction | None,
    measured: Iterable[Fraction],
    mode: Mode,
) -> Plan:
    """What a scheme spends when.

    paper: every criterion is measured in each index. test-then-measure: an index fits and tests, measurements
    follow once. train-once: the fit comes before the search, an index only tests. measured: every criterion is
    measured in each index, some by one number that they share, and nothing follows.

    What compares with the regression paid once is not among the `measured`: that regression is released before
    the search and composes with it, and its distance from a candidate is a function of two public things.
    """
    nothing = Fraction(0)
    after = sum(measured, nothing)
    once, test = once or nothing, test or nothing
    if scheme == "paper":
        return Plan(once, generator + after, nothing, mode)
    if scheme == "test-then-measure":
        return Plan(once, generator + test, after, mode)
    if scheme == "measured":
        return Plan(once, generator + test + after, nothing, mode)
    return Plan(once + generator, test, after, mode)


def plan_hash(specification: Specification) -> str:
    """The SHA-256 of the whole promise: it can be published before a record is read."""
    promise = {
        "format": FORMAT,
        "specification": json.loads(specification.canonical()),
        "micro_epsilon": micro(plan_of(specification).total().epsilon),
    }
    text = json.dumps(promise, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()

"""The plan: what a release spends and promises, fixed by the specification alone and named by a hash."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

from facsimile.privacy.ledger import micro
from facsimile.privacy.mechanisms.search import Plan
from facsimile.spec.release import Specification

FORMAT = 1


def plan_of(specification: Specification) -> Plan:
    """The parts of the budget, as the scheme arranges them.

    paper: every criterion is measured in each index. test-then-measure: an index fits and tests, measurements
    follow once. train-once: the fit comes before the search, an index only tests.
    """
    parts = specification.budget
    measured = sum((c.epsilon for c in specification.criteria), Fraction(0))
    once, test = parts.once or Fraction(0), parts.test or Fraction(0)
    if specification.scheme == "paper":
        return Plan(once, parts.generator + measured, Fraction(0), specification.selection)
    if specification.scheme == "test-then-measure":
        return Plan(once, parts.generator + test, measured, specification.selection)
    return Plan(once + parts.generator, test, measured, specification.selection)


def plan_hash(specification: Specification) -> str:
    """The SHA-256 of the whole promise: it can be published before a record is read."""
    promise = {
        "format": FORMAT,
        "specification": json.loads(specification.canonical()),
        "micro_epsilon": micro(plan_of(specification).total().epsilon),
    }
    text = json.dumps(promise, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()

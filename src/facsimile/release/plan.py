"""The plan: what a release spends and promises, fixed by the specification alone and named by a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from fractions import Fraction

from facsimile.privacy.ledger import micro
from facsimile.privacy.mechanisms.search import Approximate, Plan
from facsimile.privacy.modes import Mode, mode_of
from facsimile.spec.choices import SchemeName
from facsimile.spec.families import family_of
from facsimile.spec.release import Specification

FORMAT = 1
NOTHING = Fraction(0)


def plan_of(specification: Specification) -> Plan:
    """The parts of the budget, as the scheme arranges them."""
    return planned(specification, specification.budget.generator)


def planned(specification: Specification, generator: Fraction) -> Plan:
    """The plan where a fit of the generator has this ε."""
    parts, mode = specification.budget, mode_of(specification.selection)
    measured = [c.epsilon for c in specification.criteria if not specification.shares_once(c)]
    declared = parts.delta, specification.owned
    return arranged(specification.scheme, generator, parts.test, parts.once, measured, mode, *declared)


def arranged(
    scheme: SchemeName,
    generator: Fraction,
    test: Fraction | None,
    once: Fraction | None,
    measured: Iterable[Fraction],
    mode: Mode,
    delta: Fraction = NOTHING,
    owned: bool = False,
) -> Plan:
    """What a scheme spends when.

    paper: every criterion is measured in each index. test-then-measure: an index fits and tests, measurements
    follow once. train-once: the fit comes before the search, an index only tests. measured: every criterion is
    measured in each index, some by one number that they share, and nothing follows.

    What compares with the regression paid once is not among the `measured`: that regression is released before
    the search and composes with it, and its distance from a candidate is a function of two public things.

    With δ the ε of the generator is that of its fit alone; criteria, tests and regressions stay pure. `owned`:
    some family has an (ε, δ) by its own accounting.
    """
    after = sum(measured, NOTHING)
    once, test = once or NOTHING, test or NOTHING
    first = scheme == "train-once"
    tried = {"paper": after, "measured": test + after}.get(scheme, test)
    after = NOTHING if scheme in ("paper", "measured") else after
    if delta:
        return Plan(once, tried, after, mode, _beside(generator, tried, mode, delta, owned, first))
    if first:
        return Plan(once + generator, tried, after, mode)
    return Plan(once, generator + tried, after, mode)


def _beside(
    generator: Fraction, tried: Fraction, mode: Mode, delta: Fraction, owned: bool, first: bool
) -> Approximate:
    """What a fit may spend: the ρ of its ε at the declared δ. Where a family has an (ε, δ) of its own, its δ is
    such that a search over it has the declared one; mode.delta is linear in it."""
    if not owned:
        return Approximate.of(generator, delta, once=first)
    searched = 1 if first else mode.delta(generator + tried, Fraction(1))
    return Approximate.of(generator, delta, delta / searched, first)


def share_of(specification: Specification, family: str, generator: Fraction) -> tuple[Fraction, Fraction]:
    """What a fit of a family may spend: an ε, or where δ is declared a ρ; and the δ of one that has its own."""
    law, beside = family_of(family).law, planned(specification, generator).approximate
    if beside is None:
        return generator, NOTHING
    if law == "delta":
        return generator, beside.delta if beside.own is None else beside.own.delta
    return beside.rho, NOTHING


def plan_hash(specification: Specification) -> str:
    """The SHA-256 of the whole promise: it can be published before a record is read."""
    total = plan_of(specification).total()
    promise = {
        "format": FORMAT,
        "specification": json.loads(specification.canonical()),
        "micro_epsilon": micro(total.epsilon),
    } | ({"delta": str(total.delta)} if total.delta else {})
    text = json.dumps(promise, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()

"""Small plans for tests of a curator."""

from __future__ import annotations

from fractions import Fraction

from facsimile.privacy.mechanisms.search import Plan
from facsimile.privacy.modes import mode_of
from facsimile.spec.release import Selection


def plan(
    index: Fraction, once: Fraction = Fraction(0), after: Fraction = Fraction(0), mode: str = "single"
) -> Plan:
    """What is spent once, in an index and afterwards."""
    return Plan(once, index, after, mode_of(Selection.model_validate({"mode": mode})))

"""Acceptance: how far a candidate table is from the original, criterion by criterion, exactly or in private."""

from facsimile.acceptance import kinds as kinds
from facsimile.acceptance.candidate import Verdict, exact_errors

__all__ = ["Verdict", "exact_errors"]

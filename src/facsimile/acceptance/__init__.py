"""Acceptance: how far a candidate table is from the original, criterion by criterion, exactly or in private."""

from facsimile.acceptance.exact import Verdict, exact_errors

__all__ = ["Verdict", "exact_errors"]

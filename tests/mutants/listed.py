"""Every listed mutant."""

from __future__ import annotations

from mutants.claims import CLAIMS
from mutants.evidence import EVIDENCE
from mutants.harness import HARNESS
from mutants.review import REVIEW

LISTED = (*CLAIMS, *REVIEW, *HARNESS, *EVIDENCE)

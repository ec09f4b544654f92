"""Every listed mutant."""

from __future__ import annotations

from mutants.claims import CLAIMS
from mutants.evidence import EVIDENCE
from mutants.harness import HARNESS
from mutants.review import REVIEW
from mutants.workbench import WORKBENCH

LISTED = (*CLAIMS, *REVIEW, *HARNESS, *EVIDENCE, *WORKBENCH)

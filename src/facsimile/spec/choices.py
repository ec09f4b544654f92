"""Words that a specification chooses from, light enough for the command line to know them."""

from __future__ import annotations

from typing import Literal

Statistic = Literal["paper", "sharp"]
Algorithm = Literal["paper", "implementation", "margins"]
SchemeName = Literal["paper", "test-then-measure", "train-once", "measured"]
Published = Literal["tables", "explorer", "labelled", "metadata", "replicates"]

"""Limits that proofs and formats rest on: a test of each, so that none is changed by a slip of the hand."""

from __future__ import annotations

from importlib import import_module

import pytest

from facsimile.privacy.mechanisms.marginals import NoisyMarginals

LIMITS = {
    "privacy.budget": {"_PLACES": 40, "_DIGITS": 42},
    "privacy.dataset": {"KEY_BYTES": 32, "PATIENCE_SECONDS": 30},
    "privacy.ledger": {"MICRO": 10**6, "PICO": 10**12, "MOST": 10**30},
    "privacy.mechanisms.steps": {"MOST_STEPS": 10**6, "MOST_CLIP": 2**30, "MOST_NOISE": 2**110},
    "privacy.mechanisms.votes": {"MOST_TEACHERS": 2**20, "MOST_ROUNDS": 10**5},
    "privacy.noise": {"LARGEST": 2**62},
    "privacy.queries.checks": {"MOST_CELLS": 2**28, "MOST_GROUPS": 2**20, "MOST_RECORDS": 2**53},
    "privacy.queries.regression": {"MOST_SIGNED": 2**30, "MOST_SIGNS": 2**12},
    "privacy.transcript": {"SMALLEST": 2**20, "HEADER": 128},
    "sources.address": {"POSTGRES_PORT": 5432, "SPARK_PORT": 7077, "LONGEST_NAME": 63},
    "sources.labelled": {"CELLS": 2**23, "BYTES": 2**28, "DIGITS": 15},
    "sources.textfile": {"LONGEST_FIELD": 2**16, "BOMB_BYTES": 2**28, "BOMB_RATIO": 100},
    "table.cleaning": {"DIGITS": 15},
    "table.critic": {"BITS": 10, "LARGEST": 2**15, "STEEP": 12, "UNIT": 2**22, "EXACT": 2**53},
    "table.cuts": {"MOST_EXTRA_CODES": 64},
    "table.domain": {"LARGEST_INDEX": 2**62},
    "table.exact": {"LARGEST": 2**62},
    "table.linear": {"BITS": 20, "COARSE": 10, "MOST_BITS": 61},
    "table.logistic": {"FAR": 16, "KNOTS": 7, "DIGITS": 40},
    "table.matching": {"MOST_FLOW": 2**31 - 1},
    "table.scores": {"BITS": 10, "MOST": 2**20, "MOST_FUNCTIONS": 512, "MOST_ENTRIES": 2**26},
    "table.teachers": {"MOST_SIGNS": 2**24},
}


@pytest.mark.parametrize("module", LIMITS)
def test_limits_are_those_that_proofs_speak_of(module: str) -> None:
    held = import_module(f"facsimile.{module}")
    assert {name: getattr(held, name) for name in LIMITS[module]} == LIMITS[module]


def test_counts_get_noise_for_one_cell_that_falls_and_one_that_rises() -> None:
    assert NoisyMarginals.sensitivity == 2

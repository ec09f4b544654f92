"""The honest build: the tests behind the privacy claims, repeated with fresh randomness.

Noise of the operating system differs from run to run by itself. Here hypothesis draws other examples as well,
and generators that a test seeds with an integer are seeded with another one. Nothing may fail: each of these
tests states that a correct build fails it once in a million.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from mutants.runner import Job, run
from mutants.scratch import Scratch

CLAIMS = (
    "tests/privacy/test_noise.py",
    "tests/privacy/test_stream.py",
    "tests/privacy/test_sampled.py",
    "tests/privacy/test_renyi.py",
    "tests/privacy/test_modes.py",
    "tests/privacy/test_transcript.py",
    "tests/privacy/test_budget.py",
    "tests/privacy/mechanisms/test_search.py",
    "tests/privacy/mechanisms/test_votes.py",
    "tests/privacy/queries/test_sensitivity.py",
    "tests/privacy/queries/test_marginals.py",
    "tests/contracts/test_mechanisms.py",
    "tests/contracts/test_queries.py",
    "tests/table/test_scores.py",
    "tests/table/test_critic.py",
    "tests/acceptance/test_decision.py",
)


class Reseeded:
    """A plugin of pytest: other examples, and other seeds for NumPy's generators."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """After conftest.py chose its profile, and before any test is imported."""
        import numpy as np
        from hypothesis import settings

        settings.register_profile(
            "honest", parent=settings.get_profile("facsimile"), derandomize=False, database=None
        )
        settings.load_profile("honest")
        made = np.random.default_rng

        def other(given: Any = None) -> np.random.Generator:
            return made([given, self.seed] if isinstance(given, int) else given)

        np.random.default_rng = other  # type: ignore[assignment]


def honest(seeds: int, scratches: list[Scratch]) -> int:
    """Run them all with so many seeds; how many failed."""
    began, count = time.monotonic(), Counter[str]()
    jobs = [
        Job(
            f"seed {seed}",
            CLAIMS,
            cpu=1200,
            options=("--hypothesis-seed", str(seed)),
            plugins=(Reseeded(seed),),
        )
        for seed in range(seeds)
    ]
    for outcome in run(jobs, scratches):
        count[outcome.verdict] += 1
        if outcome.verdict == "survived":
            print(f"{outcome.job.name} passed in {outcome.seconds:.0f} s", flush=True)
        else:
            print(f"{outcome.job.name} FAILED: {outcome.by}\n{outcome.said}", flush=True)
    failed = seeds - count["survived"]
    print(
        f"\nThe honest build: {count['survived']} of {seeds} seeds passed in {time.monotonic() - began:.0f} s"
    )
    return failed

"""The honest build: the tests behind the privacy claims, repeated with fresh randomness.

Noise of the operating system differs from run to run by itself. Here hypothesis draws other examples as well,
and generators that a test seeds with an integer are seeded with another one. Nothing may fail: each of these
tests states that a correct build fails it once in a million.

A process takes several seeds. With the first it runs every test and sees which ones draw; those that draw
nothing would do the same again, so only the others are repeated.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from mutants.runner import Job, run
from mutants.scratch import Scratch

CLAIMS = (
    "tests/privacy/test_noise.py",
    "tests/privacy/test_stream.py",
    "tests/privacy/test_transcript.py",
    "tests/privacy/mechanisms/test_search.py",
    "tests/privacy/mechanisms/test_votes.py",
    "tests/privacy/queries/test_sensitivity.py",
    "tests/privacy/queries/test_marginals.py",
    "tests/testing/test_laws.py",
    "tests/testing/test_neighbours.py",
    "tests/testing/test_apart.py",
    "tests/testing/test_drawn.py",
    "tests/testing/test_canaries.py",
    "tests/audit/test_tape.py",
    "tests/contracts/test_mechanisms.py",
    "tests/contracts/test_queries.py",
    "tests/acceptance/test_decision.py",
)
TOGETHER = 2
"""Seeds for one process."""
HONEST = "not caught and not mistake"
"""Tests that a known mistake is caught have a power, not a level: they are left out."""
DRAWS = ("laplace", "gaussian", "argmax", "gumbel", "coin", "below")


class Reseeded:
    """A plugin of pytest: other examples, and other seeds for NumPy's generators, seed after seed."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds, self.seed, self.drew = seeds, seeds[0], False

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """After conftest.py chose its profile, and before any test is imported."""
        import numpy as np
        from hypothesis import settings

        from facsimile.privacy.noise import SystemNoise

        settings.register_profile(
            "honest", parent=settings.get_profile("facsimile"), derandomize=False, database=None
        )
        settings.load_profile("honest")
        made = np.random.default_rng

        def other(given: Any = None) -> np.random.Generator:
            self.drew = True
            return made([given, self.seed] if isinstance(given, int) else given)

        np.random.default_rng = other  # type: ignore[assignment]
        for name in DRAWS:
            setattr(SystemNoise, name, self._seen(getattr(SystemNoise, name)))

    def _seen(self, draw: Any) -> Any:
        def seen(*given: Any) -> Any:
            self.drew = True
            return draw(*given)

        return seen

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Every test with the first seed, then those that draw with each of the others."""
        from hypothesis import core

        if session.testsfailed:
            raise session.Interrupted("a file could not be read")
        items = session.items
        for seed in self.seeds:
            self.seed = seed
            vars(core)["global_force_seed"] = seed
            items = list(self._drawing(items))
            if session.shouldfail:
                raise session.Failed(f"{session.shouldfail}, with seed {self.seed}")
        return True

    def _drawing(self, items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
        """Run them; those that drew something."""
        for place, item in enumerate(items):
            if item.session.shouldfail:
                return
            self.drew = bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))
            item._initrequest()  # type: ignore[attr-defined]  # each seed has fixtures of its own
            after = items[place + 1] if place + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.drew:
                yield item


def honest(seeds: int, scratches: list[Scratch], first: int = 0) -> int:
    """Run them all with so many seeds; how many did not pass."""
    began, passed = time.monotonic(), 0
    every = range(first, first + seeds)
    blocks = {f"seeds {block[0]} to {block[-1]}": block for block in _blocks(every)}
    jobs = [
        Job(name, CLAIMS, cpu=3000, options=("-k", HONEST), plugins=(Reseeded(block),))
        for name, block in blocks.items()
    ]
    for outcome in run(jobs, scratches):
        if outcome.verdict == "survived":
            passed += len(blocks[outcome.job.name])
            print(f"{outcome.job.name} passed in {outcome.seconds:.0f} s", flush=True)
        else:
            print(f"{outcome.job.name} FAILED: {outcome.by}\n{outcome.said}", flush=True)
    print(f"\nThe honest build: {passed} of {seeds} seeds passed in {time.monotonic() - began:.0f} s")
    return seeds - passed


def _blocks(seeds: Sequence[int]) -> list[Sequence[int]]:
    return [seeds[place : place + TOGETHER] for place in range(0, len(seeds), TOGETHER)]

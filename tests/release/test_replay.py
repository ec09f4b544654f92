"""The transcript is complete: a release is made again from it byte for byte, and nothing bypasses it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

import facsimile
from facsimile.privacy import curator
from facsimile.privacy.noise import SystemNoise
from facsimile.privacy.transcript import RecordedNoise, Transcript
from facsimile.release import bundle, run
from facsimile.release.run import release
from facsimile.spec.release import Specification
from releases import approximate, request, specification, write_data
from replays import CASES, Replay, drawn, frames

TESTS = Path(__file__).parents[1]
SOURCE = Path(facsimile.__file__).parent
RANDOM = {
    "privacy/noise.py": {"import secrets", "default_rng"},
    "privacy/ledger.py": {"import secrets"},
    "privacy/dataset.py": {"import secrets"},
    "workbench/door.py": {"import secrets", "import tempfile"},
    "release/run.py": {"import secrets", "default_rng"},
    "documents/facts.py": {"import uuid"},
    "documents/labelled.py": {"import tempfile"},
    "release/questions.py": {"Generator", "PCG64"},
    "acceptance/regression.py": {"PCG64", "random_raw"},
    "release/writing.py": {"Generator", "PCG64", "permutation"},
    "release/recipe.py": {"default_rng"},
    "release/remade.py": {"default_rng"},
    "release/replicates.py": {"default_rng"},
    "audit/replay.py": {"import tempfile"},
    "explore/run.py": {"import random"},
    "explore/judge.py": {"import random"},
    "explore/attainable.py": {"default_rng"},
    "explore/calibration.py": {"default_rng"},
    "explore/design/wide.py": {"default_rng", "permutation"},
    "explore/design/effects.py": {"default_rng", "permutation"},
    "explore/design/prediction.py": {"default_rng", "standard_normal"},
    "explore/simulate.py": {"default_rng"},
    "synthesizers/dpctgan.py": {"default_rng"},
    "synthesizers/patectgan.py": {"default_rng"},
    "audit/charges.py": {"import tempfile"},
    "audit/readers.py": {"import tempfile"},
    "testing/addresses.py": {"import tempfile"},
    "risk/membership.py": {"generate_state", "SeedSequence"},
    "risk/run.py": {"default_rng"},
    "testing/canaries.py": {"default_rng"},
    "testing/hostile.py": {"import random"},
    "testing/learners.py": {"default_rng"},
    "testing/neighbours.py": {"default_rng"},
    "testing/synthesizers.py": {"default_rng"},
}
"""Where randomness is made, and nowhere else.

noise.py is the recorded source; run.py seeds NumPy from it (a rehearsal: from its seed) and names transcripts.
recipe.py goes on with the generator that a release gives it, and makes one where public data come with a seed.
ledger.py and dataset.py make identifiers, nonces and keys, which no figure of a release depends on.
questions.py makes the same tables every time, writing.py orders rows by their own hash, regression.py simulates
noise for the documents with one seed; labelled.py and audit/replay.py name a folder for a moment, and facts.py
a release by its hash. remade.py and replicates.py work on a release, with seeds that it tells. dpctgan.py and
patectgan.py go on from a draw of that generator, so that a training can begin again. testing/ makes up its
tables. The others see public data only.
"""


def made_of(text: str) -> set[str]:
    """Modules of randomness that are imported, and generators that are made."""
    found = set[str]()
    for node in ast.walk(ast.parse(text)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        found |= {
            f"import {m}" for m in modules if m.split(".")[0] in ("secrets", "random", "uuid", "tempfile")
        }
        found |= {f"import {m}" for m in modules if m.startswith("numpy.random")}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of = ast.unparse(node.func)
            if of.startswith(("np.random.", "numpy.random.", "os.urandom", "os.getrandom")) or of.endswith(
                ".generate"
            ):
                found.add(node.func.attr)
    return found


def beside(folder: Path) -> Path:
    return next(path for path in folder.iterdir() if "transcript" in path.name)


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "bundle").iterdir())}


class Today(date):
    """A day that does not end while a test runs."""

    @classmethod
    def today(cls) -> Today:
        return cls(2026, 11, 17)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_release_is_made_again_from_its_transcript_byte_for_byte(
    tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the place in the ledger is given: its identifier and its nonce are no part of the transcript."""
    made_again(tmp_path, workers, monkeypatch, specification())


def test_so_is_one_with_delta(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_again(tmp_path, 1, monkeypatch, approximate())


def made_again(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch, spec: Specification) -> None:
    monkeypatch.setattr(run, "date", Today)
    first, again = tmp_path / "first", tmp_path / "again"
    for folder in (first, again):
        (folder / "budget").mkdir(parents=True)
        write_data(folder)
    said = release(request(first, workers=workers, specification=spec))
    monkeypatch.setattr(run, "_place", lambda *_: said.ledger)
    replay = Replay(beside(first))
    monkeypatch.setattr(curator, "SystemNoise", lambda: replay)
    assert release(request(again, specification=spec)).data_hash == said.data_hash
    assert written(again) == written(first) and replay.used()
    if workers == 1:
        assert beside(again).read_bytes() == beside(first).read_bytes()


def test_every_family_is_replayed_in_a_process_with_another_hash_seed(tmp_path: Path) -> None:
    """Searches of two indices at a time, replayed one at a time: every family, scheme, mode and projection."""
    write_data(tmp_path)
    found = {case: drawn(case, tmp_path, workers=2) for case in CASES}
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    said = subprocess.run(
        [sys.executable, str(TESTS / "replays.py"), str(tmp_path)],
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(said.stdout) == found
    calls = {call for case in CASES for _, call, _ in frames(tmp_path / f"{case}.first")}
    assert calls == {"laplace", "argmax", "gaussian", "gumbel", "coin", "below"}


def test_frames_say_which_index_drew_them(tmp_path: Path) -> None:
    """Each index of a search has its coin, its configuration and its seeds; 0 is what is around it."""
    write_data(tmp_path)
    drawn("mwem", tmp_path, workers=3)
    held = list(frames(tmp_path / "mwem.first"))
    indices = {index for index, _, _ in held}
    assert indices == set(range(max(indices) + 1)) and len(indices) >= 4
    for index in indices - {0}:
        calls = [call for i, call, _ in held if i == index]
        assert calls.count("coin") == 1
        assert calls[: run.SEED_WORDS + 2] == ["coin"] + ["below"] * (run.SEED_WORDS + 1)
    assert [call for index, call, _ in held if index == 0][: run.SEED_WORDS] == ["below"] * run.SEED_WORDS


def test_what_was_drawn_is_on_disk_before_the_decision_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash right after it loses no draw that the outcome depends on."""
    (tmp_path / "budget").mkdir()
    write_data(tmp_path)
    sizes: list[int] = []

    def reached(step: str) -> None:
        if step in ("decided", "bundle written"):
            sizes.append(beside(tmp_path).stat().st_size)
            copy = tmp_path / f"copy{len(sizes)}"
            shutil.copy(beside(tmp_path), copy)
            assert [call for _, call, _ in frames(copy)].count("charge") == 1

    monkeypatch.setattr(run, "reached", reached)
    monkeypatch.setattr(bundle, "reached", reached)
    release(request(tmp_path))
    sealed, drawn = beside(tmp_path).read_bytes(), (tmp_path / "copy2").read_bytes()
    assert len(sizes) == 2 and 0 < sizes[0] < sizes[1] == len(drawn)
    assert sealed.startswith(drawn) and not sealed[len(drawn) :].partition(b"\n")[2].strip(b"\0\n")


@pytest.mark.parametrize("n", [1, 2**62, 2**63, 2**64 + 1, 10**40])
def test_draws_of_any_size_are_held(tmp_path: Path, n: int) -> None:
    """A space of configurations has no largest size; once its draw did not fit the file, after the charge."""
    with Transcript(tmp_path / "noise") as transcript:
        found = [RecordedNoise(SystemNoise(), transcript).below(n) for _ in range(5)]
    replay = Replay(tmp_path / "noise")
    assert [replay.below(n) for _ in range(5)] == found


def test_a_replay_knows_whether_everything_was_used(tmp_path: Path) -> None:
    with Transcript(tmp_path / "noise") as transcript:
        for _ in range(2):
            RecordedNoise(SystemNoise(), transcript).below(5)
    replay = Replay(tmp_path / "noise")
    replay.below(5)
    assert not replay.used()
    replay.below(5)
    assert replay.used()


def test_randomness_is_made_where_it_is_recorded_and_nowhere_else() -> None:
    found = {str(path.relative_to(SOURCE)): made_of(path.read_text()) for path in SOURCE.rglob("*.py")}
    assert {path: made for path, made in found.items() if made} == RANDOM


@pytest.mark.parametrize(
    "text",
    ["import secrets", "from secrets import randbelow", "import random", "np.random.default_rng()",
     "import uuid",
     "np.random.seed(1)", "np.random.random(3)", "os.urandom(8)", "from numpy.random import default_rng",
     "Ed25519PrivateKey.generate()"],
)  # fmt: skip
def test_a_draw_outside_is_noticed(text: str) -> None:
    assert made_of(text)
    assert not made_of("random.permutation(3)\nnp.random.Generator\nx: np.random.Generator")

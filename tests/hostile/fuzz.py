"""Coverage-guided fuzzing: `python tests/hostile/fuzz.py [--seconds N] [TARGET ...]`, one process a target.

Needs atheris (pip install atheris; Linux and macOS); where there is none it says so and runs nothing. A finding
ends with the bytes that made it, in a file of the working folder.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
NAMES = ("specification", "declared", "ledger", "anchor", "reader", "labelled", "bundle")
LIMITS = ("-timeout=60", "-rss_limit_mb=2500", "-max_len=200000", "-print_final_stats=1")
WORDS = ("1e999999999", "1/0", "&a", "*a", "!!x", "0..9 by 1", "null", "true", "NaN", "4242", "Qzx")


def main() -> int:
    """Every target in turn; the worst exit code of them."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--seconds", type=int, default=180, help="how long each target runs")
    asked.add_argument("targets", nargs="*", choices=[*NAMES, []], help="which ones (default: all)")
    given = asked.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("Nothing was run: atheris is not installed (pip install atheris).")
        return 0
    ends = []
    for name in given.targets or NAMES:
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory() as kept:
            corpus = Path(kept) / "corpus"
            corpus.mkdir()
            words = [
                sys.executable,
                __file__,
                "--one",
                name,
                str(corpus),
                f"-max_total_time={given.seconds}",
                *LIMITS,
            ]
            ends.append(subprocess.run(words, check=False).returncode)
    return max(ends)


def one(name: str, *words: str) -> None:
    """One target, for ever or as long as libFuzzer is told."""
    import atheris

    sys.path.insert(0, str(TESTS))
    with atheris.instrument_imports(include=["facsimile"]):
        from hostile.targets import TARGETS, seeds

    for seed in seeds(name):
        TARGETS[name](seed)  # what is imported at the first use is not what takes long
    folders = [Path(word) for word in words if Path(word).is_dir()]
    for folder in folders[:1]:
        for number, seed in enumerate(seeds(name)):
            (folder / f"seed{number}").write_bytes(seed)
        dictionary = folder.with_suffix(".words")
        dictionary.write_text("".join(f'"{word}"\n' for word in WORDS), "utf-8")
        words = (*words, f"-dict={dictionary}")

    def asked(content: bytes) -> None:
        TARGETS[name](content)

    atheris.Setup([sys.argv[0], *words], asked)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    else:
        sys.exit(main())

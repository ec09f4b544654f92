"""The demonstration behind `make demo`: simulated births, one charged question, two rehearsed releases.

Nothing here is confidential: the births are drawn from published tables with a fixed seed. They are treated
as if they were: read by one query, boxed, and answered with noise that is charged to a ledger.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from facsimile.privacy.curator import Curator
from facsimile.privacy.mechanisms import NoisyMarginals
from facsimile.privacy.reader import read
from facsimile.privacy.transcript import Transcript
from facsimile.release.opening import Opening
from facsimile.sources.address import Address
from facsimile.spec.load import load
from facsimile.table.domain import Domain

EXAMPLE = Path("examples/births")
FOLDER = Path("demo")
BIRTHS = FOLDER / "births.csv"
LEDGER = FOLDER / "births.ledger"
EPSILON = Fraction(1, 10)


def facsimile(*arguments: str | Path) -> None:
    """Show a command and run it."""
    print(f"\n$ facsimile {' '.join(map(str, arguments))}", flush=True)
    command = [sys.executable, "-c", "from facsimile.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, check=True)


def ask() -> None:
    """One question to the boxed table: how many births of each parity?"""
    specification = load(EXAMPLE / "released.yaml")
    sealed, domain = read(BIRTHS, specification), Domain(specification.finest())
    ledger = Opening.of(Address.of(BIRTHS), LEDGER, None, None).ledger(cap=Fraction(2))
    with Transcript(FOLDER / "births.transcript") as transcript:
        curator = Curator.production(sealed, ledger, transcript)
        (answer,) = curator.run(NoisyMarginals(((("parity",), EPSILON),)))
    print(f"\nBirths by parity, with noise for epsilon {float(EPSILON):g}:")
    for label, count in zip(domain.axis("parity").labels, answer.counts, strict=True):
        print(f"  {label:>4}  {count:>8,.0f}")


def main() -> None:
    """From published facts to a charged answer."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    facsimile("simulate", EXAMPLE / "facts.yaml", "-n", "165915", "--seed", "1", "-o", BIRTHS)
    facsimile("check", EXAMPLE / "released.yaml", "--public", BIRTHS)
    ask()
    facsimile("ledger", "show", LEDGER)
    facsimile("demo", "--out", FOLDER / "releases")
    print(f"\nThe births are in {BIRTHS}, the ledger in {LEDGER}, two releases in {FOLDER / 'releases'}.")


if __name__ == "__main__":
    main()

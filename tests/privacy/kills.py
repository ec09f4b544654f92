"""Processes that charge a ledger and are killed, limited or held up; the fault tests run this file.

    kills.py once LEDGER K          one access; the process kills itself at its K-th step
    kills.py create LEDGER K        the same for the creation of a ledger
    kills.py storm FOLDER N SEED    two workers at a time until N were killed; prints what was charged
    kills.py race LEDGER            from the end of its input on, charges until refused; prints how often
    kills.py limited LEDGER ROOM    a charge when the file may grow by ROOM bytes, then one without a limit
    kills.py hold LEDGER            holds the lock until its input ends

An access is what a mechanism would do: charge, use the receipt, and only then look at the table. The look is
one byte appended to a log, so that what was charged can be compared with what was seen.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random

from facsimile import storage
from facsimile.errors import FacsimileError
from facsimile.privacy import ledger
from facsimile.privacy.budget import Cost
from facsimile.privacy.ledger import Ledger, micro

COST = Cost(Fraction(1, 3))
AMOUNT = micro(COST.epsilon)
PLENTY = Fraction(10**6)
LONGEST_LIFE = 40  # steps; an access has 17
LONGEST_SECONDS = 0.1


def hook(function: Callable[[str], None]) -> None:
    """Call a function at every named step."""
    for module in (storage, ledger):
        vars(module)["reached"] = function


def die_at(count: int) -> Callable[[str], None]:
    """A hook that kills the process at the step of this number."""
    left = iter(range(count - 1, -1, -1))

    def step(_: str) -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def log(path: Path) -> Path:
    """Where accesses under a ledger are counted."""
    return path.with_name("accesses")


def access(path: Path) -> None:
    """Charge, look at the table, note that it is done."""
    book = Ledger.at(path)
    receipt = book.charge(COST, "access")
    receipt.use()
    with os.fdopen(os.open(log(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "wb", 0) as seen:
        seen.write(b"x")
    book.close(receipt, "done")


def accesses(path: Path) -> int:
    """How often the table was seen."""
    return log(path).stat().st_size if log(path).exists() else 0


def charges(path: Path) -> int:
    """How many charges the ledger counts."""
    return Ledger.at(path).state().spent // AMOUNT


def once(path: Path, count: str) -> None:
    """See the table once; die at a step."""
    hook(die_at(int(count)))
    access(path)


def create(path: Path, count: str) -> None:
    """Create a ledger; die at a step."""
    hook(die_at(int(count)))
    Ledger.at(path).create("tag", PLENTY)


def worker(path: Path, life: int | None) -> int:
    """Fork a process that sees the table until it is killed, by itself after `life` steps or from outside."""
    child = os.fork()
    if child:
        return child
    try:
        hook(die_at(life) if life else lambda _: None)
        while True:
            access(path)
    finally:
        os._exit(1)


def survivors(path: Path, random: Random) -> int:
    """Start two workers, see both killed, one way or the other; how many ended in another way."""
    lives = [random.choice([None, random.randint(1, LONGEST_LIFE)]) for _ in range(2)]
    children = [worker(path, life) for life in lives]
    for child, life in zip(children, lives, strict=True):
        if life is None:
            time.sleep(random.random() * LONGEST_SECONDS)
            os.kill(child, signal.SIGKILL)
    ends = [os.waitpid(child, 0)[1] for child in children]
    return sum(os.waitstatus_to_exitcode(end) != -signal.SIGKILL for end in ends)


def storm(folder: Path, count: str, seed: str) -> None:
    """Kill workers; after each pair compare charges with accesses.

    A SIGKILL can in principle fall inside one write of the kernel. The ledger is then refused (E313), as it
    must be, and the storm goes on with another.
    """
    random = Random(int(seed))
    found = {"kills": 0, "charges": 0, "accesses": 0, "under": 0, "over": 0, "survivors": 0, "torn": 0}
    while found["kills"] < int(count):
        path = folder / str(found["torn"]) / "ledger"
        path.parent.mkdir()
        Ledger.at(path).create("tag", PLENTY)
        kills = charged = seen = 0
        torn = False
        while found["kills"] + kills < int(count) and not torn:
            found["survivors"] += survivors(path, random)
            kills += 2
            try:
                charged, seen = charges(path), accesses(path)
            except FacsimileError as error:
                if error.code != "E313":
                    raise
                torn = True
            found["under"] += charged < seen
            found["over"] += charged - seen > kills
        for name, value in {"kills": kills, "charges": charged, "accesses": seen, "torn": int(torn)}.items():
            found[name] += value
    print(json.dumps(found))


def race(path: Path) -> None:
    """Charge until refused."""
    won = 0
    print("ready", flush=True)
    sys.stdin.read()
    try:
        while True:
            Ledger.at(path).charge(COST, "race")
            won += 1
    except FacsimileError as error:
        print(json.dumps({"won": won, "code": error.code}))


def limited(path: Path, room: str) -> None:
    """Charge when the file can hardly grow, then when it can."""
    codes = []
    for size in (path.stat().st_size + int(room), resource.RLIM_INFINITY):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            access(path)
            codes.append("charged")
        except FacsimileError as error:
            codes.append(error.code)
        codes.append(f"{charges(path)} charges, {accesses(path)} accesses")
    print(json.dumps(codes))


def hold(path: Path) -> None:
    """Hold the lock until the input ends."""
    with storage.locked(path, 10):
        print("held", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {
        "once": once, "create": create, "storm": storm, "race": race, "limited": limited, "hold": hold
    }  # fmt: skip
    commands[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])

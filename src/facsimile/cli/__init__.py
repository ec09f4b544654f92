"""The command line: a command parses, calls one function, prints.

Exit codes: 0 done, 1 internal, 2 refused, 3 budget, 4 ledger, 5 verify, 6 no release, 130 stopped.
`program` holds the commands; it is imported when it is run, so that Ctrl-C stops quietly from the first moment.
"""

from __future__ import annotations

import sys

STOPPED = 130


def main() -> None:
    """Run the program; every error becomes one line and an exit code."""
    try:
        code = 0 if sys.argv[1:] == ["--version"] and _told_the_version() else _run()
    except KeyboardInterrupt:
        code = STOPPED
    if code == STOPPED:
        sys.stderr.write("Stopped.\n")
    sys.exit(code)


def _run() -> int:
    from facsimile.cli.program import run

    return run()


def _told_the_version() -> bool:
    """The version, without the imports of a command; a screen that fails is left to the program."""
    from facsimile import __version__

    try:
        sys.stdout.write(f"facsimile {__version__}\n")
        sys.stdout.flush()
    except OSError:
        return False
    return True

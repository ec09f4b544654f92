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
        from facsimile.cli.program import run

        code = run()
    except KeyboardInterrupt:
        code = STOPPED
    if code == STOPPED:
        sys.stderr.write("Stopped.\n")
    sys.exit(code)

"""`python -m facsimile`: the same as the command `facsimile`."""

from facsimile.cli import main

main()

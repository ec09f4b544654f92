"""Journeys: whole stories of a curator, with the installed program and real files, in and off a terminal.

A story types command lines as a person would, without `--json`, and asserts the exit code, the last line, the
ledger, and that nothing of the data is echoed.
"""

"""Risk: attacks on releases of public data, each held against people who were not in the table."""

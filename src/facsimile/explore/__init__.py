"""The same scheme on public data, and stand-in data where there is none."""

"""Synthesizers: models of the confidential table, made of noisy answers and public knowledge only."""

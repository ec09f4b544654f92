"""Post-processing of a synthetic table: sampling to counts, constraints, projection."""

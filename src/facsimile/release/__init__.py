"""The scheme, top to bottom: check, run, bundle, verify."""

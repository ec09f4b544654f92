"""Differentially private releases of microdata."""

__version__ = "0.1.0"

"""Differentially private releases of microdata."""

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "fit", "load"]


def __getattr__(name: str) -> Any:
    """`facsimile.fit` and `facsimile.load`, imported when they are asked for."""
    if name == "fit":
        from facsimile.release.synthesize import fit

        return fit
    if name == "load":
        from facsimile.spec.load import load

        return load
    raise AttributeError(name)

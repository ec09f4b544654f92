"""Differentially private releases of microdata.

What each command does, for Python and notebooks; docs/python.md explains every name.

>>> import facsimile
>>> facsimile.check("release.yaml")  # doctest: +SKIP
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from facsimile.analysis.combining import combine
    from facsimile.api.answers import answer, open  # noqa: A004
    from facsimile.api.audits import audit
    from facsimile.api.decisions import comment, decisions, note, set_item, sign
    from facsimile.api.dossiers import dossier
    from facsimile.api.drafts import init
    from facsimile.api.ledgers import ledger
    from facsimile.api.plans import plan
    from facsimile.api.public import design, evaluate, fit, simulate
    from facsimile.api.releases import release, verify
    from facsimile.api.replicates import replicate
    from facsimile.api.risks import risk
    from facsimile.api.specifications import check, load, plan_hash
    from facsimile.api.studies import explore, report
    from facsimile.errors import FacsimileError
    from facsimile.release.synthesize import Fitted

__version__ = "0.1.0"
_HOMES = {
    "analysis.combining": ("combine",),
    "api.answers": ("answer", "open"),
    "api.audits": ("audit",),
    "api.decisions": ("comment", "decisions", "note", "set_item", "sign"),
    "api.dossiers": ("dossier",),
    "api.drafts": ("init",),
    "api.ledgers": ("ledger",),
    "api.plans": ("plan",),
    "api.public": ("design", "evaluate", "fit", "simulate"),
    "api.releases": ("release", "verify"),
    "api.replicates": ("replicate",),
    "api.risks": ("risk",),
    "api.specifications": ("check", "load", "plan_hash"),
    "api.studies": ("explore", "report"),
    "errors": ("FacsimileError",),
    "release.synthesize": ("Fitted",),
}
__all__ = [
    "FacsimileError",
    "Fitted",
    "__version__",
    "answer",
    "audit",
    "check",
    "combine",
    "comment",
    "decisions",
    "design",
    "dossier",
    "evaluate",
    "explore",
    "fit",
    "init",
    "ledger",
    "load",
    "note",
    "open",
    "plan",
    "plan_hash",
    "release",
    "replicate",
    "report",
    "risk",
    "set_item",
    "sign",
    "simulate",
    "verify",
]


def __getattr__(name: str) -> Any:
    """A name, imported when it is asked for; some are folders too (_Command)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _Package.COMMANDS:
        return import_module(f"{__name__}.{name}")
    return _named(name)


def __dir__() -> list[str]:
    return sorted(__all__)


def _named(name: str) -> Any:
    (home,) = (home for home, names in _HOMES.items() if name in names)
    return getattr(import_module(f"{__name__}.{home}"), name)


class _Command(ModuleType):
    """A folder of this package whose name is a command's: called, it is the command."""

    @property
    def _called(self) -> Any:
        return _named(self.__name__.rpartition(".")[2])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._called(*args, **kwargs)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return str(self._called.__doc__)

    @property
    def __signature__(self) -> Any:
        from inspect import signature

        return signature(self._called)


class _Package(ModuleType):
    """This package: a folder that is imported becomes an attribute, and those of commands can be called."""

    COMMANDS = ("audit", "explore", "release", "risk")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.COMMANDS and isinstance(value, ModuleType):
            value.__class__ = _Command
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

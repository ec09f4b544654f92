"""The kinds of criteria, a file for each noun. Every file of this folder is imported: a kind needs no list."""

from importlib import import_module
from pkgutil import iter_modules

for _found in iter_modules(__path__):
    import_module(f"{__name__}.{_found.name}")

"""The boundary rules P1–P9 as checks over source text: each returns what breaks the rule."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

Sources = dict[str, str]
Check = Callable[[Sources], list[str]]
RANDOM = ("random", "numpy.random", "secrets")
FLOATS_ALLOWED = {
    "noise.py": "scales inside OpenDP, rounded up; the seeded twin",
    "ledger.py": "patience, and showing an amount",
}
CHANCES = {
    "privacy/modes.py": ("tried", "released"),
    "privacy/renyi.py": ("about", "_left", "_order"),
    "privacy/mechanisms/marginals.py": ("scale", "variance"),
    "privacy/mechanisms/scores.py": ("variance",),
    "privacy/sampled.py": ("within", "epsilon", "_about", "_log_moment", "_combinations"),
}
"""Functions that say to planners and generators how likely a release and how large the noise is, and those that
look for an order at which a bound is then evaluated exactly: they spend nothing."""


CONTRACTS = {f"testing/{name}.py" for name in ("mechanisms", "apart", "drawn", "canaries")}
"""Checks that put mechanisms to tables that were made up, and add up what they cost."""


def sources(root: Path) -> Sources:
    """Every module of the package, by its path below the root."""
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.py"))}


@cache
def _nodes(text: str) -> tuple[ast.AST, ...]:
    """All nodes of a source; one broken file is parsed anew, the others are known."""
    return tuple(ast.walk(ast.parse(text)))


def _calls(text: str, name: str) -> list[int]:
    """Lines on which something of this name is called."""
    found = []
    for node in _nodes(text):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Subscript):
                called = called.value
            if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == name:
                found.append(node.lineno)
    return found


def _only_in(files: Sources, name: str, allowed: set[str]) -> list[str]:
    return [f"{path}: {name}" for path, text in files.items() if _calls(text, name) and path not in allowed]


def p1(files: Sources) -> list[str]:
    """Private is made in the reader; one line of the curator opens it for a mechanism, one for another box."""
    broken = _only_in(files, "Private", {"privacy/reader.py", "privacy/private.py"})
    broken += _only_in(files, "_recoded", {"privacy/curator.py"})
    broken += ["recoded twice"] if len(_calls(files["privacy/curator.py"], "_recoded")) > 1 else []
    openings = [
        path for path, text in files.items() for _ in _calls(text, "_open") if path != "sources/source.py"
    ]
    broken += [] if openings == ["privacy/curator.py"] else [f"opened in {openings}"]
    return broken + [f"{path}: reaches into the box" for path, text in files.items() if "_Private__" in text]


def p2(files: Sources) -> list[str]:
    """Mechanisms are a closed, listed set, and only the curator asks them to sample, and what tests them on
    tables of its own; a curator with a tape passes it on."""
    listed = {n.id for n in _nodes(files["privacy/mechanisms/__init__.py"]) if isinstance(n, ast.Name)}
    broken = _only_in(files, "_sample", {"privacy/curator.py", "audit/tape.py"} | CONTRACTS)
    for path, text in files.items():
        for node in _nodes(text):
            if isinstance(node, ast.ClassDef) and any("Mechanism" in ast.unparse(base) for base in node.bases):
                if node.name not in listed:
                    broken.append(f"{path}: {node.name} is not listed")
                if not path.startswith("privacy/mechanisms/"):
                    broken.append(f"{path}: {node.name} lives outside the folder")
    return broken


def p3(files: Sources) -> list[str]:
    """In Curator.run and search, the charge stands before the sampling."""
    broken = []
    for node in _nodes(files["privacy/curator.py"]):
        if isinstance(node, ast.ClassDef) and node.name == "Curator":
            for method in node.body:
                text = ast.unparse(method)
                if isinstance(method, ast.FunctionDef) and method.name in ("run", "search"):
                    work = "_sample(" if method.name == "run" else "yield"
                    charge = "_charges.charge(" if method.name == "run" else "_charges.begin("
                    if charge not in text or text.index(charge) > text.index(work):
                        broken.append(f"{method.name}: samples before it charges")
                    if "receipt.use()" not in text:
                        broken.append(f"{method.name}: uses no receipt")
    return broken


def p4(files: Sources) -> list[str]:
    """`cost` and `_sample` stand in one frozen dataclass, and costs are made nowhere else; an audit charges a
    ledger of its own."""
    made = {path for path in files if path.startswith("privacy/mechanisms/")}
    adding = {
        "privacy/ledger.py",
        "testing/synthesizers.py",
        "audit/charges.py",
        "audit/searches.py",
    } | CONTRACTS
    broken = _only_in(files, "Cost", made | adding | {"privacy/budget.py", "privacy/curator.py"})
    for path, text in files.items():
        for node in _nodes(text):
            if (
                isinstance(node, ast.ClassDef)
                and path.startswith("privacy/mechanisms/")
                and node.name != "Mechanism"
            ):
                methods = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
                if len(methods & {"cost", "_sample"}) == 1:
                    broken.append(f"{path}: {node.name} has cost or _sample, not both")
                if "_sample" in methods and "frozen=True" not in "".join(map(ast.unparse, node.decorator_list)):
                    broken.append(f"{path}: {node.name} is not frozen")
    return broken


def p5(files: Sources) -> list[str]:
    """Every theorem names its neighbours, and the curator compares them."""
    broken = (
        [] if "neighbours != NEIGHBOURS" in files["privacy/curator.py"] else ["the curator compares nothing"]
    )
    for path, text in files.items():
        for node in _nodes(text):
            is_mechanism = isinstance(node, ast.ClassDef) and any(
                "Mechanism[" in ast.unparse(b) for b in node.bases
            )
            named = isinstance(node, ast.ClassDef) and "Neighbours.  Replace one record" in (
                ast.get_docstring(node) or ""
            )
            if is_mechanism and not named:
                broken.append(f"{path}: a theorem names no neighbours")
    return broken


def p6(files: Sources) -> list[str]:
    """Randomness enters privacy/ through noise.py, and a seed only through the rehearsal twin."""
    broken = []
    for path, text in files.items():
        if not path.startswith("privacy/"):
            continue
        for node in _nodes(text):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            known = {"privacy/noise.py", "privacy/ledger.py", "privacy/dataset.py"}
            if any(m in RANDOM for m in modules) and path not in known:
                broken.append(f"{path}: imports {modules}")
            if (
                isinstance(node, ast.Attribute)
                and ast.unparse(node).startswith("np.random")
                and path != "privacy/noise.py"
            ):
                broken.append(f"{path}: {ast.unparse(node)}")
            if (
                isinstance(node, ast.arg)
                and node.arg == "seed"
                and path not in {"privacy/noise.py", "privacy/curator.py"}
            ):
                broken.append(f"{path}: takes a seed")
    system = files["privacy/noise.py"].split("class SystemNoise")[1].split("\nclass ")[0]
    return broken + (
        ["SystemNoise is seeded or uses NumPy's generator"]
        if "seed:" in system or "np.random" in system
        else []
    )


def p7(files: Sources) -> list[str]:
    """Costs are Fractions and counts integers: no float in privacy/ but where it is explained."""
    broken = []
    for path, text in files.items():
        if not path.startswith("privacy/") or Path(path).name in FLOATS_ALLOWED:
            continue
        told = [f for f in _nodes(text) if isinstance(f, ast.FunctionDef) and f.name in CHANCES.get(path, ())]
        allowed = {line for f in told for line in range(f.lineno, (f.end_lineno or f.lineno) + 1)}
        for node in _nodes(text):
            literal = isinstance(node, ast.Constant) and isinstance(node.value, float)
            cast = isinstance(node, ast.Call) and ast.unparse(node.func) in ("float", "np.float64")
            line = getattr(node, "lineno", 0)
            if (literal or cast) and line not in allowed:
                broken.append(f"{path}:{line}: a float")
    return broken


def p8(files: Sources) -> list[str]:
    """No log, no print; what is raised while handling another error hides it."""
    broken = []
    for path, text in files.items():
        if not path.startswith(("privacy/", "sources/", "storage.py")):
            continue
        broken += [f"{path}: {call}" for call in ("print", "warn") for _ in _calls(text, call)]
        for node in _nodes(text):
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [a.name for a in node.names] + [getattr(node, "module", None) or ""]
                broken += [f"{path}: {m}" for m in modules if m == "logging"]
            if isinstance(node, ast.ExceptHandler):
                for inner in ast.walk(node):
                    hidden = isinstance(inner, ast.Raise) and isinstance(inner.cause, ast.Constant)
                    if isinstance(inner, ast.Raise) and inner.exc is not None and not hidden:
                        broken.append(f"{path}:{inner.lineno}: an error shows another")
    return broken


def p9(files: Sources) -> list[str]:
    """Private shows nothing: each way to look at a value is closed."""
    text = files["privacy/private.py"]
    looks = (
        "repr len iter bool eq ne hash lt contains getitem reduce getstate copy deepcopy array int float format"
    )
    return [f"__{look}__ is open" for look in looks.split() if f"__{look}__" not in text]


RULES: dict[str, Check] = {check.__name__: check for check in (p1, p2, p3, p4, p5, p6, p7, p8, p9)}

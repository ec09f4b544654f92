"""Operators: every small change of a syntax tree that could be a slip of the hand, each with its place.

Comparisons at their boundary, + and −, * and //, and/or, a lost `not`, constants off by one, 0 and 1 for each
other, min and max, floor and ceil, a statement or a keyword that was dropped. Docstrings, messages,
annotations, names and texts are left alone: what a refusal is called is tested elsewhere. So are assertions,
`zip(..., strict=True)` among them.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip
CALLED = {
    "min": "max", "max": "min", "floor": "ceil", "ceil": "floor", "all": "any", "any": "all",
    "minimum": "maximum", "maximum": "minimum", "argmin": "argmax", "argmax": "argmin",
}  # fmt: skip
SILENT = ("__repr__", "__str__", "_refuse", "__init_subclass__")
"""Functions of words alone."""
WORDS = (
    "refusal",
    "Mistake",
    "ValueError",
    "TypeError",
    "require",
    "reached",
    "ContextVar",
    "TypeVar",
    "Literal",
    "isinstance",
)
"""Calls whose texts are messages or names; the first argument of `require` is still changed."""
HOLDING = (ast.FunctionDef, ast.If, ast.For, ast.While, ast.With, ast.Try)
"""What holds statements that can be dropped."""


@dataclass(frozen=True)
class Change:
    """A change of one place: the function that holds it, the line where it begins, what stood there, and what
    stands there now. `nth` tells equal changes of equal lines apart."""

    function: str
    line: str
    old: str
    new: str
    nth: int
    start: int
    end: int

    @property
    def key(self) -> str:
        """What names it while lines move."""
        again = f" #{self.nth}" if self.nth else ""
        return f"{self.function or 'module'}: {self.line}: {_short(self.old)} -> {_short(self.new)}{again}"

    def applied(self, text: str) -> str:
        """The file with the change in it; only its part is written anew, comments stay where they are."""
        return text[: self.start] + self.new + text[self.end :]


def changes(text: str) -> list[Change]:
    """Every change of a file, in the order of its lines."""
    lines = text.splitlines(keepends=True)
    before = [0, *accumulate(map(len, lines))]
    seen: dict[tuple[str, ...], int] = {}
    found = []
    for function, node, make in _places(ast.parse(text), ""):
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = before[node.lineno - 1] + _inside(lines[node.lineno - 1], node.col_offset)
        end = before[node.end_lineno - 1] + _inside(lines[node.end_lineno - 1], node.end_col_offset)
        old, line = text[start:end], " ".join(lines[node.lineno - 1].split())
        for made in make(node):
            new = ast.unparse(made)
            if isinstance(node, ast.expr) and not isinstance(made, ast.Constant | ast.Name | ast.Call):
                new = f"({new})"
            name = (function, line, old, new)
            found.append(Change(*name, seen.get(name, 0), start, end))
            seen[name] = seen.get(name, 0) + 1
    return found


Make = Callable[[ast.AST], Iterator[ast.AST]]


def _places(node: ast.AST, function: str) -> Iterator[tuple[str, ast.expr | ast.stmt, Make]]:
    """Nodes that can be changed, with the name of what holds them."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment", "bases"):
            continue
        children = value if isinstance(value, list) else [value]
        for child in children:
            if not isinstance(child, ast.AST):
                continue
            inner = function
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{function}.{child.name}".lstrip(".")
                if child.name in SILENT or _protocol(child):
                    continue
            if isinstance(child, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert) or _docstring(child):
                continue
            if isinstance(child, ast.Call) and _called(child) in WORDS:
                if _called(child) in ("require", "isinstance"):
                    yield from _places(ast.Expr(child.args[0]), inner)
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue
            if isinstance(child, ast.stmt) and isinstance(node, HOLDING):
                yield inner, child, _dropped
            if isinstance(child, ast.expr):
                yield inner, child, _changed
            yield from _places(child, inner)


def _protocol(node: ast.AST) -> bool:
    bases = [ast.unparse(base) for base in getattr(node, "bases", ())]
    return any(base.startswith(("Protocol", "Generic")) for base in bases) and "Protocol" in " ".join(bases)


def _docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _dropped(node: ast.AST) -> Iterator[ast.AST]:
    """A statement that is not there. A value that later lines need cannot be dropped: that would be no slip."""
    act = isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue)
    case = isinstance(node, ast.If) and not node.orelse
    kept = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
    if act or case or kept:
        yield ast.Pass()


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """Other expressions in the place of one."""
    if isinstance(node, ast.Compare):
        for place, sign in enumerate(node.ops):
            if type(sign) in COMPARED:
                new = copy.deepcopy(node)
                new.ops[place] = COMPARED[type(sign)]()
                yield new
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED and not _texts(node):
        yield ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other, node.values)
        if len(node.values) == 2:
            yield from node.values
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield from (ast.Constant(value) for value in _near(node.value))
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Call):
        yield from _recalled(node)


def _recalled(node: ast.Call) -> Iterator[ast.AST]:
    name = _called(node)
    if name in CALLED:
        new = copy.deepcopy(node)
        if isinstance(new.func, ast.Attribute):
            new.func.attr = CALLED[name]
        else:
            new.func = ast.Name(CALLED[name])
        yield new
    for place, keyword in enumerate(node.keywords):
        kept = name in ("field", "replace", "dataclass", "lru_cache") or keyword.arg in (None, "strict")
        if not kept:
            yield ast.Call(node.func, node.args, [k for p, k in enumerate(node.keywords) if p != place])


def _near(value: int) -> list[int]:
    if value in (0, 1):
        return [1 - value, value + 1] if value else [1]
    return [value + 1, value - 1]


def _texts(node: ast.BinOp) -> bool:
    parts = list(ast.walk(node))
    held = [part.value for part in parts if isinstance(part, ast.Constant)]
    return any(isinstance(part, ast.JoinedStr) for part in parts) or any(isinstance(v, str) for v in held)


def _inside(line: str, column: int) -> int:
    """A column of a syntax tree counts bytes."""
    return len(line.encode()[:column].decode())


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 90 else f"{words[:60]} … {hashlib.sha256(words.encode()).hexdigest()[:6]}"

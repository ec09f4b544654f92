"""Whole specifications and files, drawn from a seed: small ones, with values around every edge."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from facsimile.errors import FacsimileError
from facsimile.spec.decimals import show_decimal
from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from specs import SMALL

Record = dict[str, str | None]
BLANK: tuple[str | None, ...] = (None, "", "  ")
NONSENSE = ("x", "1e3", "--1", "٣", "2020-02-30")
PARTS = {"year": (2019, 2024), "quarter": (1, 4), "month": (1, 12), "day": (1, 28)}
LABELS = ("red", "green", "blue", "7")
SIGNS = ("<", "<=", ">", ">=", "=", "!=")


@dataclass(frozen=True)
class Field:
    """One column: its text in a specification, values for rules and clamps, raw texts for files."""

    content: Mapping[str, Any]
    constants: tuple[str, ...]
    inside: tuple[str, ...]
    texts: tuple[str | None, ...]

    @property
    def name(self) -> str:
        return str(self.content["name"])

    @property
    def is_category(self) -> bool:
        return "values" in self.content


def drawn(random: Random) -> tuple[Specification, list[Record]] | None:
    """A specification and records for it; None where the loader refuses what was drawn."""
    clamping = random.random() < 0.45
    fields = [_field(random, name, clamping) for name in "abcd"[: random.choice((1, 2, 2, 2, 3, 3, 4))]]
    depth, most = (1, 2) if clamping else (2, 3)
    raw: list[dict[str, Any]] = [
        {"never": _condition(random, fields, depth=depth)} for _ in range(random.randint(1, most))
    ]
    if clamping:
        raw = [{**rule, "clamp": _clamp(random, fields)} for rule in raw]
    synthetic = [{"never": _condition(random, fields, pairs=True)} for _ in range(random.choice((0, 0, 1, 2)))]
    content = copy.deepcopy(SMALL)
    content["columns"] = [dict(field.content) for field in fields]
    content["constraints"] = {
        "policy": "clamp" if clamping else "declared",
        "raw": [{"source": "a test", **rule} for rule in raw],
        "synthetic": [{"source": "a test", **rule} for rule in synthetic],
    }
    try:
        specification = validated(content)
    except FacsimileError:
        return None
    size = random.choice((3, 60, 120))
    return specification, [{f.name: random.choice(f.texts) for f in fields} for _ in range(size)]


def _field(random: Random, name: str, clamping: bool) -> Field:
    drop = () if clamping else ("drop",)
    kind = random.choice(("number", "number", "number", "category", "date"))
    if kind == "category":
        return _category(random, name, drop)
    part = random.choice(list(PARTS)) if kind == "date" else None
    decimals = random.choice((0, 0, 1, 2)) if part is None else 0
    step = Fraction(1, 10**decimals)
    low, high = PARTS[part] if part else (random.randint(-6, 20), 0)
    starts = [low + place for place in sorted(random.sample(range(1, 9), random.randint(1, 4)))]
    low, high = (low, starts.pop() - 1 + random.randint(0, 1)) if not part else (low, min(high, low + 8))
    starts = [start for start in starts if low < start <= high]
    open_low, open_high = (bool(starts) and random.random() < 0.25 for _ in range(2))
    cuts = [starts] + [sorted(random.sample(starts, random.randint(0, len(starts)))) for _ in range(2)]
    if open_low and open_high:
        cuts = [cut or starts for cut in cuts]
    alternatives = {
        label: _bins(random, low, high, cut, step, open_low, open_high)
        for label, cut in zip(("fine", "some", "few")[: random.randint(1, 3)], cuts, strict=False)
    }
    inside = [_show(unit * step) for unit in range(low, high + 1)]
    edges = {low, high + 1, *starts}
    near = sorted({edge + shift for edge in edges for shift in (-1, 0, 1)})
    ends = [_show(unit * step) for unit in (low - 1, low, low, high, high, high + 1)]
    given = {"value": random.choice(inside)}
    missing = random.choice(("refuse", *drop, {"code": "none"}, {"code": "none"}, given, given))
    content: dict[str, Any] = {
        "name": name, "description": "A number", "bounds": ["-99", "9999"], "alternatives": alternatives,
        "missing": missing, "malformed": random.choice(("refuse", *drop, "missing", "missing", "missing")),
        "outside": random.choice(("refuse", *drop, *["clip"] * 6)),
    }  # fmt: skip
    if part:
        content["part"] = part
        texts = [t for unit in (*near, 99) if (t := _date(part, unit)) is not None]
    else:
        content |= {"decimals": str(decimals)} | ({"round": "down"} if random.random() < 0.3 else {})
        half = [_show((unit + Fraction(1, 2)) * step) for unit in near[:: random.randint(2, 5)]]
        texts = [*(_show(unit * step) for unit in near), *half, f" {_show(low * step)} "]
        texts += 2 * [_show((low - 2) * step), _show((high + 2) * step)] + ["-500", "9" * 30]
    constants = [*ends, *(_show(unit * step) for unit in near), _show((low + Fraction(1, 2)) * step), "-500"]
    rare = random.sample((*BLANK, *NONSENSE), 2)
    return Field(content, tuple(constants), tuple(inside), (*texts, *rare))


def _bins(
    random: Random, low: int, high: int, starts: list[int], step: Fraction, open_low: bool, open_high: bool
) -> Any:
    """Bins between the starts, in one of the notations."""
    texts = []
    for start, end in zip([low, *starts], [*(s - 1 for s in starts), high], strict=True):
        first, last = start * step, end * step
        if open_low and start == low:
            texts.append(random.choice((f"<{_show(last + step)}", f"≤{_show(last)}")))
        elif open_high and end == high:
            texts.append(random.choice((f"{_show(first - step)}<", f"{_show(first)}≤")))
        else:
            texts.append(_show(first) if start == end else f"{_show(first)}-{_show(last)}")
    labelled = random.random() < 0.2
    return {f"bin {place}": text for place, text in enumerate(texts)} if labelled else texts


def _date(part: str, unit: int) -> str | None:
    """A date whose part is this, if there is one."""
    low, high = {"year": (1, 9999)}.get(part, PARTS[part])
    if not low <= unit <= high:
        return None
    month = {"month": unit, "quarter": 3 * unit}.get(part, 5)
    return f"{unit if part == 'year' else 2020:04}-{month:02}-{unit if part == 'day' else 28:02}"


def _category(random: Random, name: str, drop: tuple[str, ...]) -> Field:
    values = LABELS[: random.randint(1, 4)]
    alternatives: dict[str, Any] = {"fine": list(values)}
    for label in ("some", "few")[: random.randint(0, 2)]:
        groups: dict[str, list[str]] = {}
        for value in values:
            groups.setdefault(f"group {random.randint(1, 2)}", []).append(value)
        alternatives[label] = groups
    if random.random() < 0.3 and len(alternatives) > 1:
        del alternatives["fine"]
    content: dict[str, Any] = {
        "name": name, "description": "A category", "values": list(values), "alternatives": alternatives,
        "missing": random.choice(("refuse", *drop, {"code": "none"}, {"value": random.choice(values)})),
        "outside": random.choice(("refuse", *drop, random.choice(values))),
    }  # fmt: skip
    texts: tuple[str | None, ...] = (*values, f" {values[0]} ", "grey", random.choice(BLANK))
    if random.random() < 0.3:
        content["map"] = {**{value.upper(): value for value in values}, True: values[0]}
        texts = (*texts, *(value.upper() for value in values), "true", "T")
    return Field(content, values, values, texts)


def _condition(random: Random, fields: list[Field], pairs: bool = False, depth: int = 2) -> str:
    """A condition of the language; most join several columns, so that they do not rule out everything."""
    if depth and random.random() < (0.9 if depth == 2 else 0.5):
        parts = [_condition(random, fields, pairs, depth - 1) for _ in range(random.choice((2, 2, 3)))]
        joined = random.choice((*[" and "] * 4, " or ")).join(f"({part})" for part in parts)
        return f"not ({joined})" if random.random() < 0.1 else joined
    field = random.choice(fields)
    if random.random() < 0.12:
        return random.choice(
            (f"{field.name} is missing", f"{field.name} is not missing", "any column is missing")
        )
    others = [f for f in fields if pairs and not (f.is_category or field.is_category)]
    same = [f for f in others if f.content.get("decimals") == field.content.get("decimals")]
    if same and random.random() < 0.4:
        return f"{field.name} {random.choice(SIGNS)} {random.choice(same).name}"
    if random.random() < 0.25:
        listed = ", ".join(_quoted(field, random.choice(field.constants)) for _ in range(random.randint(1, 3)))
        return f"{field.name} {random.choice(('in', 'not in'))} [{listed}]"
    sign = random.choice(SIGNS[4:] if field.is_category else SIGNS)
    return f"{field.name} {sign} {_quoted(field, random.choice(field.constants))}"


def _quoted(field: Field, constant: str) -> str:
    return f'"{constant}"' if field.is_category else constant


def _clamp(random: Random, fields: list[Field]) -> dict[str, str]:
    chosen = random.sample(fields, random.randint(1, len(fields)))
    return {field.name: random.choice(field.inside) for field in chosen}


def _show(value: Fraction) -> str:
    return show_decimal(value)

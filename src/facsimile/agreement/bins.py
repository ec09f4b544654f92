"""Bins that people move: a column's plain data with other edges, written as people write them.

>>> column = {"name": "age", "bounds": ["0", "90"], "alternatives": {"fine": ["<18", "18..64 by 47", "64<"]}}
>>> moved(column | {"groups": ["<18", "18≤"]}, "fine", ["20", "65"])["groups"]
['<20', '20≤']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from facsimile.spec.bins import NumberBin, labelled_bins, parse_bins
from facsimile.spec.decimals import parse_decimal, show_decimal

Plain = Mapping[str, Any]
Ends = tuple[Fraction | None, Fraction | None]
Wide = tuple[bool, bool]
"""Whether the lowest and the highest bin are written with the sign that includes their edge."""
SINGLES, REGULAR = 3, 4
"""How many bins of one value, or of one width, are written as a shorthand."""


def step_of(column: Plain) -> Fraction:
    """The distance between two values of a column of numbers."""
    return Fraction(1, 10 ** int(column.get("decimals", 0)))


def bins_of(column: Plain, partition: Any) -> tuple[NumberBin, ...]:
    """The bins of a partition of numbers; ValueError where it is none."""
    read = labelled_bins if isinstance(partition, Mapping) else parse_bins
    return read(partition, step_of(column))


def starts(bins: Sequence[NumberBin]) -> tuple[Fraction, ...]:
    """Where the bins begin, but for the first: the edges between them."""
    return tuple(b.low for b in bins[1:] if b.low is not None)


def moved(column: Plain, alternative: str, edges: Sequence[str]) -> dict[str, Any]:
    """The column with other edges of an alternative.

    As many edges as before are the same ones, moved: they move wherever else the column uses them, in
    other alternatives, in groups and in its hierarchy. Fewer or more are this alternative's alone: bins joined
    or split. Numbers of bins that are gone go too. ValueError where the edges make no bins.
    """
    wanted = tuple(parse_decimal(edge) for edge in edges)
    old = starts(bins_of(column, column["alternatives"][alternative]))
    found = {**column, "alternatives": dict(column["alternatives"])}
    found["alternatives"][alternative] = cut(column, column["alternatives"][alternative], wanted)
    if len(wanted) == len(old):
        shift = {a: b for a, b in zip(old, wanted, strict=True) if a != b}
        for name, partition in column["alternatives"].items():
            if name != alternative:
                found["alternatives"][name] = _shifted(column, partition, shift)
        if "groups" in column:
            found["groups"] = _shifted(column, column["groups"], shift)
        if "hierarchy" in column:
            found["hierarchy"] = {k: _shifted(column, p, shift) for k, p in column["hierarchy"].items()}
    return _numbered(found)


def cut(column: Plain, partition: Any, edges: Sequence[Fraction]) -> Any:
    """A partition of the same values at other edges; its own words where it has as many bins as before."""
    bins, step = bins_of(column, partition), step_of(column)
    if any((edge / step).denominator != 1 for edge in edges):
        raise ValueError("an edge has more decimals than its column")
    lows, highs = [bins[0].low, *edges], [*(edge - step for edge in edges), bins[-1].high]
    if any(low is not None and high is not None and high < low for low, high in zip(lows, highs, strict=True)):
        raise ValueError("an edge has passed its neighbour")
    spans = list(zip(lows, highs, strict=True))
    texts = list(partition.values() if isinstance(partition, Mapping) else partition)
    wide = texts[0].startswith(("≤", "<=")), texts[-1].endswith(("≤", "<="))
    if not isinstance(partition, Mapping):
        return listed(spans, step, wide)
    labels = list(partition)
    return dict(zip(_labels(labels, bins, spans, step), _texts(spans, step, wide), strict=True))


def listed(spans: Sequence[Ends], step: Fraction, wide: Wide) -> list[str]:
    """Bins as a list of texts, regular runs as shorthands.

    >>> one = [(Fraction(i), Fraction(i)) for i in (1, 2, 3, 4)]
    >>> listed([(None, Fraction(0)), *one, (Fraction(5), None)], Fraction(1), (False, False))
    ['<1', '1..4', '4<']
    """
    texts, found, place = _texts(spans, step, wide), list[str](), 0
    while place < len(spans):
        end = _run(spans, place, step)
        (low, high), last = spans[place], spans[end - 1][1]
        single = low == high
        if (
            low is not None
            and last is not None
            and high is not None
            and end - place >= (SINGLES, REGULAR)[not single]
        ):
            by = "" if single and step == 1 else f" by {show_decimal(high - low + step)}"
            found.append(f"{show_decimal(low)}..{show_decimal(last)}{by}")
        else:
            end = place + 1
            found.append(texts[place])
        place = end
    return found


def _run(spans: Sequence[Ends], place: int, step: Fraction) -> int:
    """Where bins of the same width end."""

    def width(index: int) -> Fraction | None:
        low, high = spans[index]
        return None if low is None or high is None else high - low

    end = place + 1
    while end < len(spans) and width(place) is not None and width(end) == width(place):
        end += 1
    return end


def _texts(spans: Sequence[Ends], step: Fraction, wide: Wide) -> list[str]:
    """Each bin as people write it; open ends with the sign that the others have."""
    found = []
    for low, high in spans:
        if low is None:
            assert high is not None
            found.append(f"≤{show_decimal(high)}" if wide[0] else f"<{show_decimal(high + step)}")
        elif high is None:
            found.append(f"{show_decimal(low)}≤" if wide[1] else f"{show_decimal(low - step)}<")
        else:
            found.append(show_decimal(low) if low == high else f"{show_decimal(low)}-{show_decimal(high)}")
    return found


def _labels(
    labels: Sequence[str],
    bins: Sequence[NumberBin],
    spans: Sequence[Ends],
    step: Fraction,
) -> list[str]:
    """Labels of bins: those there were, joined where bins were, and a bin's own text where one was split."""
    if len(labels) == len(spans):
        return list(labels)
    texts, found = _texts(spans, step, (False, False)), list[str]()
    for span, text in zip(spans, texts, strict=True):
        whole = NumberBin("", *span)
        inside = [label for label, b in zip(labels, bins, strict=True) if b.within(whole)]
        found.append(" and ".join(inside)[:120] if inside else text)
    return found


def _shifted(column: Plain, partition: Any, shift: Mapping[Fraction, Fraction]) -> Any:
    """A partition whose edges moved along with those of another."""
    old = starts(bins_of(column, partition))
    new = tuple(sorted(shift.get(edge, edge) for edge in old))
    return partition if new == old or len({*new}) < len(new) else cut(column, partition, new)


def _numbered(column: dict[str, Any]) -> dict[str, Any]:
    """Without numbers of bins that are gone."""
    if "numbers" not in column:
        return column
    labels = {b.label for partition in column["alternatives"].values() for b in bins_of(column, partition)}
    kept = {label: number for label, number in column["numbers"].items() if label in labels}
    return {k: v for k, v in column.items() if k != "numbers"} | ({"numbers": kept} if kept else {})


def placed(values: Sequence[str], labels: Mapping[str, str]) -> Any:
    """A partition of categories from the label that each value gets; a plain list where each keeps its own.

    >>> placed(["a", "b", "c"], {"a": "a", "b": "rest", "c": "rest"})
    {'a': 'a', 'rest': ['b', 'c']}
    """
    together: dict[str, list[str]] = {}
    for value in values:
        together.setdefault(labels.get(value, value).strip() or value, []).append(value)
    if all(inside == [label] for label, inside in together.items()):
        return list(values)
    return {label: inside[0] if len(inside) == 1 else inside for label, inside in together.items()}

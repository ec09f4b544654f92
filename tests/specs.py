"""A small specification for tests, and ways to change it."""

from __future__ import annotations

import copy
from typing import Any

from facsimile.spec.load import validated
from facsimile.spec.release import Specification

SMALL: dict[str, Any] = {
    "facsimile": "1",
    "title": "Small",
    "unit": "one person",
    "neighbours": "replace-one",
    "records": {"count": "6", "public_because": "it is printed on the door"},
    "columns": [
        {
            "name": "age",
            "description": "Age in years",
            "bounds": ["0", "90"],
            "alternatives": {"coarse": ["<18", "18-64", "64<"], "fine": ["<18", "18..64 by 47", "64<"]},
            "groups": ["<18", "17<"],
            "outside": "clip",
        },
        {
            "name": "sex",
            "description": "Sex",
            "source": "is_female",
            "map": {True: "F", False: "M"},
            "values": ["M", "F"],
            "numbers": {"M": "0", "F": "1"},
            "alternatives": {"coarse": ["M", "F"]},
            "missing": {"code": "unknown", "number": "0.5"},
        },
    ],
    "constraints": {"policy": "declared", "raw": [{"never": "age > 120", "source": "biology"}]},
    "families": [{"family": "mst"}],
    "projection": {"min_count": ["2"]},
    "criteria": [{"criterion": "marginals-absolute", "threshold": "0.1", "epsilon": "0.1"}],
    "selection": {"mode": "coin", "gamma": "0.05"},
    "budget": {"total": "5", "generator": "1", "test": "0.1"},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The small specification's data with one value replaced; `...` removes the key."""
    data = copy.deepcopy(SMALL)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    here: Any = data
    for part in parents:
        here = here[part]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return data


def small(path: str | None = None, value: Any = None) -> Specification:
    """The small specification, one value replaced if asked."""
    return validated(changed(path, value) if path else copy.deepcopy(SMALL))

"""Workers: a made-up table whose income depends on age and occupation together, for criteria of groups."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from facsimile.spec.load import validated
from facsimile.spec.release import Specification
from facsimile.table.domain import Domain
from facsimile.table.table import Table

JOBS = ["clerk", "manager", "soldier", "teacher"]
SEX = ["F", "M"]
RICH = '">50K"'
WORKERS: dict[str, Any] = {
    "facsimile": "1",
    "title": "Workers",
    "unit": "one worker",
    "neighbours": "replace-one",
    "records": {"count": "4000", "public_because": "it is in the yearbook"},
    "columns": [
        {
            "name": "age",
            "description": "Age in years",
            "bounds": ["20", "79"],
            "alternatives": {"fine": ["20..79 by 10"]},
            "groups": ["<40", "39<"],
        },
        {"name": "sex", "description": "Sex", "values": SEX, "alternatives": {"all": SEX}, "groups": SEX},
        {"name": "job", "description": "Job", "values": JOBS, "alternatives": {"all": JOBS}, "groups": JOBS},
        {
            "name": "hours",
            "description": "Hours a week",
            "bounds": ["0", "59"],
            "alternatives": {"fine": ["0..59 by 20"]},
        },
        {
            "name": "income",
            "description": "Income",
            "values": ["<=50K", ">50K"],
            "alternatives": {"all": ["<=50K", ">50K"]},
        },
    ],
    "constraints": {"policy": "declared"},
    "families": [{"family": "mst"}],
    "projection": {"algorithm": ["margins"], "min_count": ["1"]},
    "criteria": [{"criterion": "marginals-absolute", "threshold": "0.1", "epsilon": "1"}],
    "selection": {"mode": "single"},
    "budget": {"total": "90", "generator": "1", "test": "1"},
}  # fmt: skip


def workers(*criteria: dict[str, Any], **changes: Any) -> Specification:
    """The specification with these criteria."""
    data = copy.deepcopy(WORKERS) | changes
    common = {"threshold": "0.5", "epsilon": "1"}
    data["criteria"] = [common | criterion for criterion in criteria] or data["criteria"]
    return validated(data)


def records(n: int = 4000, seed: int = 1, alike: bool = False) -> Table:
    """Workers; where all are alike, income depends on nothing and is as frequent as it would be."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(0, 6, n), random.integers(0, 2, n)
    job = random.choice(4, n, p=[0.4, 0.25, 0.05, 0.3])
    hours = np.minimum(2, (random.integers(0, 6, n) + 2 * (job == 1)) // 3)
    chance = np.where((job == 1) & (age > 1), 0.7, 0.05 + 0.02 * age + 0.05 * sex)
    rich = random.random(n) < chance
    if alike:
        rich = random.permutation(rich)
    domain = Domain(workers().axes(workers().first))
    return Table.from_rows(domain, np.column_stack([age, sex, job, hours, rich.astype(int)]))

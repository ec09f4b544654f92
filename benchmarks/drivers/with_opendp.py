"""OpenDP's MST and AIM with their own settings, pure or under zCDP.

Pure: a replaced record is one removed and one added, so each person has two contributions. Under ρ a person has
one; what a replaced record costs then is worked out in `benchmarks.rivals`.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
import polars as pl
from task import Task, drive  # type: ignore[import-not-found]

dp.enable_features("contrib")


def run(task: Task) -> Any:
    """Draws are independent: those that mbi 1 rounds are in lockstep, far from their own model."""
    if task.rho:
        spent, contributions = {"rho": task.rho}, 1
    else:
        spent, contributions = {"epsilon": task.epsilon}, 2
    context = dp.Context.compositor(
        data=pl.scan_csv(task.source),
        privacy_unit=dp.unit_of(contributions=contributions),
        privacy_loss=dp.loss_of(**spent),
    )
    keys = {name: list(range(size)) for name, size in task.sizes.items()}
    algorithm = getattr(dp.mbi, task.algorithm)()
    found = context.query(**spent).contingency_table(keys=keys, algorithm=algorithm).release()
    drawn = found.synthesize(rows=task.rows, method="sample")
    return drawn.select(list(task.sizes)).drop_nulls().to_numpy()


if __name__ == "__main__":
    drive(run)

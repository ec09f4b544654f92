"""SmartNoise's generators with their own settings, on codes of the public domain.

Their transformers learn categories from the table they are fitted on: here a made-up one that has every code.
"""

from __future__ import annotations

from functools import partialmethod
from typing import Any

import numpy as np
from mbi import MarkovRandomField  # type: ignore[import-not-found]
from snsynth import Synthesizer  # type: ignore[import-not-found]
from snsynth.transform import (  # type: ignore[import-not-found]
    ChainTransformer,
    LabelTransformer,
    OneHotEncoder,
    TableTransformer,
)
from task import Task, drive  # type: ignore[import-not-found]

NEURAL = ("DPCTGAN", "PATECTGAN")


def run(task: Task) -> Any:
    """Draws of graphical models are independent: those that mbi 1 rounds are in lockstep."""
    np.random.seed(task.seed)
    MarkovRandomField.synthetic_data = partialmethod(MarkovRandomField.synthetic_data, method="sample")
    settings = {"cuda": False} if task.algorithm in NEURAL else {}
    generator = Synthesizer.create(
        task.algorithm.lower(), epsilon=task.epsilon, delta=task.delta, verbose=True, **settings
    )
    generator.fit(task.codes(), transformer=_transformer(task))
    drawn = generator.sample(task.rows)
    spent = getattr(generator, "epsilon_list", None)
    if spent:
        print("epochs", len(spent) - 1, "its own epsilon", spent[-1])
    return np.asarray(drawn, np.int64)


def _transformer(task: Task) -> Any:
    def column() -> Any:
        label = LabelTransformer(nullable=False)
        return ChainTransformer([label, OneHotEncoder()]) if task.algorithm in NEURAL else label

    transformer = TableTransformer([column() for _ in task.sizes])
    sizes = list(task.sizes.values())
    transformer.fit(np.minimum(np.arange(max(sizes))[:, None], np.array(sizes)[None, :] - 1))
    return transformer


if __name__ == "__main__":
    drive(run)

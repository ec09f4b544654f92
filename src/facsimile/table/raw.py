"""Raw sums: what the numbers that a PUBLIC file writes add up to, for the records that are kept.

They tell how far a mean of bins' numbers is from the mean of the values behind them. None is ever made of a
confidential file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from facsimile.table.conditions import Mask
from facsimile.table.encoding import SUM, VALUES, Encoding
from facsimile.table.table import Codes


@dataclass(frozen=True, eq=False)
class RawSums:
    """For each distinct row of pieces that is kept: its codes, and each column's sum and number of values."""

    codes: Codes
    sums: Mapping[str, npt.NDArray[np.float64]]
    values: Mapping[str, npt.NDArray[np.int64]]

    @classmethod
    def of(cls, encoding: Encoding, answer: Mapping[str, npt.ArrayLike], names: Sequence[str]) -> RawSums:
        """The sums of some columns, from the answer to the query that asks for them."""
        codes = encoding.codes(np.stack([np.asarray(answer[name], np.int64) for name in encoding.columns]).T)
        kept = (codes >= 0).all(axis=1)
        units = {name: float(encoding.columns[name].exact.step) for name in names}
        sums = {name: np.asarray(answer[f"{SUM} {name}"], np.float64)[kept] * units[name] for name in names}
        values = {name: np.asarray(answer[f"{VALUES} {name}"], np.int64)[kept] for name in names}
        return cls(codes[kept], sums, values)

    def mean(self, name: str, rows: Mask) -> float | None:
        """The mean of a column's values among some rows; None where they have none."""
        there = rows & (self.values[name] > 0)
        size = int(self.values[name][there].sum())
        return float(self.sums[name][there].sum()) / size if size else None

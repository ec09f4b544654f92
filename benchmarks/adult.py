"""Adult-like: 48,842 people in 14 columns of up to 100 values, drawn from published shapes. No record is real.

The shares of each column are those that the census extract is known for; the main dependences are those of the
literature: education and its number one to one, relationship from marital status, sex and age, marital status
from age, occupation from education and sex, income from education, age, hours and marriage. A column is drawn
by a logit: the chance of a code is ∝ exp(its level + effects of columns before it), levels such that the
expected shares are the published ones. `drift` moves shares and effects, so that another seed with a drift is
another population: the public stand-in that designs are made on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats, Ints
from facsimile.table.table import Table

RECORDS = 48_842
DRIFT = 0.15
TEXTURE, TEXTURE_SEED, TEXTURE_GROUPS = 0.45, 1994, 8
AGES = [595, 862, 1053, 1113, 1096, 1178, 1329, 1206, 1195, 1153, 1232, 1280, 1223, 1278, 1325, 1253]
AGES += [1335, 1303, 1337, 1348, 1280, 1264, 1206, 1187, 1235, 1165, 1156, 1071, 1096, 1097, 1081, 846]
AGES += [847, 866, 877, 724, 705, 623, 622, 563, 556, 552, 498, 450, 450, 371, 347, 315, 284, 222, 236]
AGES += [178, 180, 137, 133, 113, 103, 86, 96, 66, 68, 46, 49, 35, 28, 27, 30, 18, 14, 11, 8, 5, 4, 55]
WORK = [33906, 3862, 3136, 2799, 1981, 1695, 1432, 21, 10]
EDUCATION = [83, 247, 509, 955, 756, 1389, 1812, 657, 15784, 10878, 2061, 1601, 8025, 2657, 834, 594]
MARITAL = [22379, 16117, 6633, 1530, 1518, 628, 37]
OCCUPATION = [6172, 6112, 6086, 5611, 5504, 4923, 3022, 2809, 2355, 2072, 1490, 1446, 983, 242, 15]
RELATION = [19716, 12583, 7581, 5125, 2331, 1506]
RACE = [41762, 4685, 1519, 470, 406]
SEX = [32650, 16192]
COUNTRY = [43832, 951, 857, 295, 206, 184, 182, 155, 151, 138, 127, 122, 115, 106, 105, 103, 92, 88, 87, 86, 85]
COUNTRY += [75, 67, 65, 59, 49, 49, 46, 45, 38, 37, 30, 30, 28, 27, 23, 23, 23, 21, 20, 19, 1]
INCOME = [37155, 11687]
HOURS = {40: 22803, 50: 4246, 45: 2717, 60: 2177, 35: 1937, 20: 1862, 30: 1700, 55: 1051, 25: 958, 48: 770}
HOURS |= {38: 714, 15: 623, 70: 437, 10: 425, 32: 423, 24: 392, 65: 382, 42: 338, 36: 336, 44: 326, 16: 303}
HOURS |= {12: 247, 37: 242, 43: 231, 8: 218, 80: 210, 99: 137, 52: 130, 56: 130, 28: 126, 18: 131, 75: 105}
GAINS = {0: 44807, 15: 890, 7: 1060, 5: 640, 3: 560, 4: 380, 2: 170, 8: 150, 99: 244, 13: 60, 10: 90, 14: 90}
LOSSES = {0: 46560, 43: 520, 45: 460, 41: 310, 36: 180, 39: 140, 38: 120, 34: 110, 47: 90, 55: 70, 32: 60}
WORKLESS = 7


SIZES = {
    "age": 74, "workclass": 9, "education": 16, "education_num": 16, "marital": 7, "occupation": 15,
    "relationship": 6, "race": 5, "sex": 2, "capital_gain": 100, "capital_loss": 100, "hours": 99,
    "country": 42, "income": 2,
}  # fmt: skip


@dataclass(eq=False)
class _Draw:
    """Columns so far, drawn with effects and shares that drift."""

    rows: int
    random: np.random.Generator
    drift: float
    columns: dict[str, Ints] = field(default_factory=dict)
    society: np.random.Generator = field(default_factory=lambda: np.random.default_rng(TEXTURE_SEED))

    def add(self, name: str, published: npt.ArrayLike, *effects: npt.ArrayLike) -> None:
        """A column: the expected shares are the published ones whatever the effects are."""
        shares = self.shares(np.asarray(published, np.float64))
        score = self.texture(len(shares))
        for effect in effects:
            score = score + np.exp(self.drift * self.random.normal()) * np.asarray(effect, np.float64)
        odds = np.exp(score - score.max(axis=1, keepdims=True))
        level = shares.copy()
        for _ in range(30):
            chance = odds * level
            chance /= chance.sum(axis=1, keepdims=True)
            level *= shares / chance.mean(axis=0)
        edges = np.cumsum(chance, axis=1)
        edges /= edges[:, -1:]
        codes = (self.random.random((self.rows, 1)) > edges[:, :-1]).sum(axis=1)
        self.columns[name] = np.asarray(codes, np.int64)

    def shares(self, published: Floats) -> Floats:
        """The published shares, moved."""
        shares = published + 0.5
        moved = shares * np.exp(self.drift * self.random.normal(size=len(shares)))
        return np.asarray(moved / moved.sum())

    def texture(self, size: int) -> Floats:
        """Small effects of pairs of earlier columns without a pattern, as real tables have them."""
        score, before = np.zeros((self.rows, size)), list(self.columns.values())
        for _ in range(min(2, len(before))):
            one, other = (before[place] for place in self.society.integers(len(before), size=2))
            table = self.society.normal(size=(TEXTURE_GROUPS, TEXTURE_GROUPS, size))
            table += 2 * self.drift * self.random.normal(size=table.shape)
            score += TEXTURE * table[one % TEXTURE_GROUPS, other // 2 % TEXTURE_GROUPS]
        return score

    def among(self, name: str, *codes: int) -> Floats:
        """1 where a column has one of some codes, else 0, as a column of effects."""
        return np.isin(self.columns[name], codes).astype(np.float64)[:, None]

    def standard(self, name: str, mean: float, deviation: float) -> Floats:
        """A column's codes, standardised, as a column of effects."""
        return np.asarray((self.columns[name][:, None] - mean) / deviation)

    @property
    def old(self) -> Floats:
        """Age, standardised."""
        return self.standard("age", 38.6 - 17, 13.7)

    @property
    def young(self) -> Floats:
        """1 at the age of 18, soon less."""
        return np.asarray(np.exp(-(self.columns["age"][:, None] - 1.0) / 6.0))


def adult(rows: int = RECORDS, seed: int = 1, drift: float = 0.0) -> Table:
    """The table; with a drift, one of another population of the same kind."""
    draw = _Draw(rows, np.random.default_rng(seed), drift)
    for add in (_person, _household, _work, _hours, _money):
        add(draw)
    draw.columns["education_num"] = draw.columns["education"]
    axes = tuple(Axis(name, parse_bins([f"0..{size - 1}"], Fraction(1))) for name, size in SIZES.items())
    return Table.from_rows(Domain(axes), np.column_stack([draw.columns[name] for name in SIZES]))


def _person(draw: _Draw) -> None:
    """Age, sex, race, country, education."""
    draw.add("age", AGES)
    old = draw.old
    draw.add("sex", SEX, -0.12 * old * [0, 1])
    female = draw.among("sex", 1)
    draw.add("race", RACE, 0.5 * female * _at(5, {1: 1}))
    draw.add("country", COUNTRY, _foreign(draw), 0.1 * old * _at(42, {0: 1}))
    origin = 1 - draw.among("country", 0)
    latin = draw.columns["country"][:, None] % 3 == 1
    schooling, age = np.arange(16.0) - 9, draw.columns["age"][:, None]
    draw.add(
        "education",
        EDUCATION,
        -0.1 * old**2 * (schooling > 1) - 0.09 * np.maximum(old, -1.6) * schooling * (old > 0.8),
        (1.6 - 0.6 * old) * (old < -0.9) * np.exp(-((schooling - 0.2) ** 2) / 6),
        2.2 * (age < 2) * np.exp(-((schooling + 2.5) ** 2) / 4),
        -2.0 * (age < 5) * (schooling > 3.5),
        origin * (-0.25 * schooling * latin + 0.1 * np.abs(schooling)),
        -0.08 * draw.among("race", 1) * schooling + 0.12 * draw.among("race", 2) * schooling,
    )


def _household(draw: _Draw) -> None:
    """Marital status and relationship."""
    old, young, female, black = draw.old, draw.young, draw.among("sex", 1), draw.among("race", 1)
    origin = 1 - draw.among("country", 0)
    ages = np.array([0.5, -1.6, 0.55, 0.3, 1.9, 0.2, -0.3])
    bends = np.array([0.6, -0.3, 0.5, 0.3, 0, 0.1, 0])
    draw.add(
        "marital",
        MARITAL,
        old * ages - 0.35 * old**2 * bends,
        6.0 * young * [-0.6, 1, -0.5, -0.2, -0.2, 0, 0],
        1.6 * female * [-0.9, 0.1, 0.7, 0.9, 1.5, 0.4, 0.3],
        0.7 * black * [-0.8, 0.3, 0.1, 1.1, 0.2, 0.2, 0] + 0.8 * origin * [0.2, 0, -0.3, 0, 0, 1.5, 0],
    )
    married = draw.among("marital", 0)
    alone = 1 - married
    draw.add(
        "relationship",
        RELATION,
        14.0 * married * (1 - female) * [1, 0, 0, 0, -1, 0.05],
        14.0 * married * female * [-1, 0, 0, 0, 1, 0.05],
        16.0 * alone * [-1, 0, 0, 0, -1, 0],
        -6.0 * married * [0, 1, 0.7, 1, 0, 0.4],
        alone * (-1.5 * old * [0, -0.1, 1, -0.1, 0, 0.3] + 3.0 * young * [0, -0.8, 1, -1.2, 0, 0.3]),
        alone * female * [0, 0, -0.1, 1.4, 0, 0],
        1.6 * alone * (1 - draw.among("marital", 1)) * [0, 0.3, -0.7, 1, 0, 0.2],
        0.8 * origin * [0, -0.2, 0, 0, 0, 1.2] + 0.7 * black * [0, -0.3, 0.1, 0.6, 0, 0.3],
    )


def _work(draw: _Draw) -> None:
    """Class of work and occupation."""
    old, young, female, black = draw.old, draw.young, draw.among("sex", 1), draw.among("race", 1)
    origin, level = 1 - draw.among("country", 0), draw.standard("education", 9.1, 2.6)
    draw.add(
        "workclass",
        WORK,
        old * [-0.1, 0.55, 0.25, 0.1, 0.1, 0.5, 0.2, 0, -1.5] + 0.4 * old**2 * _at(9, {3: 1, 1: 0.3}),
        level * [-0.15, 0.05, 0.5, -0.3, 0.5, 0.35, 0.35, 0, -0.5],
        0.5 * female * [0.1, -0.9, 0.4, 0.5, 0.2, -1.1, -0.1, 0, 0],
        2.5 * young * _at(9, {3: 1, 8: 1}) + 0.4 * draw.among("marital", 0) * _at(9, {1: 1, 5: 1.3}),
    )
    workless = draw.among("workclass", 3, 8)
    starting, foreign = _at(15, {5: 1, 9: 1, 4: 0.8, 2: -0.8}), _at(15, {5: 1, 6: 1, 13: 1.5, 10: 0.5})
    draw.add(
        "occupation",
        OCCUPATION,
        1.15 * level * LEVELS + 0.35 * (level > 1) * level * _at(15, {0: 1.2}),
        female * WOMEN,
        30.0 * workless * _at(15, {WORKLESS: 1}),
        -30.0 * (1 - workless) * _at(15, {WORKLESS: 1}),
        draw.among("workclass", 2, 4, 6)
        * _at(15, {0: 1, 3: 0.6, 12: 2.6, 1: -0.6, 4: -3, 6: -1.6, 13: -8, 14: 3}),
        draw.among("workclass", 1, 5)
        * _at(15, {2: 0.6, 4: 0.5, 1: 0.4, 10: 2.2, 3: -1.2, 6: -1, 11: -0.8, 12: -3, 13: -4}),
        old * _at(15, {2: 0.25, 9: -0.5, 5: -0.3, 4: -0.1}) + 1.5 * young * starting,
        0.6 * origin * foreign + 0.4 * black * _at(15, {5: 1, 6: 0.8, 2: -0.5}),
    )


def _hours(draw: _Draw) -> None:
    """Hours a week."""
    old, female, married = draw.old, draw.among("sex", 1), draw.among("marital", 0)
    busy = (np.arange(1.0, 100) - 40) / 12
    full = (np.arange(1.0, 100) == 40) * 1.0
    employer, self_employed = draw.among("workclass", 2, 4, 6), draw.among("workclass", 1, 5)
    long, short = draw.among("occupation", 2, 10, 8), draw.among("occupation", 5, 13)
    draw.add(
        "hours",
        _spread(HOURS, 99, 31),
        -1.1 * draw.young * busy - 0.35 * (old > 1.6) * (old - 1.6) * busy * 2 - 0.12 * old**2 * np.abs(busy),
        -0.4 * female * busy + 0.25 * married * busy * (1 - 0.8 * female),
        0.45 * long * busy - 0.5 * short * busy,
        0.3 * self_employed * busy - 0.9 * self_employed * full + 0.6 * employer * full,
        -0.8 * draw.among("workclass", 3) * busy + 0.5 * draw.among("occupation", 1, 3, 6) * full,
        0.15 * draw.standard("education", 9.1, 2.6) * busy - 0.7 * draw.among("relationship", 2) * busy * 0.8,
    )


def _money(draw: _Draw) -> None:
    """Income, and capital gains and losses, which exclude each other."""
    old, level = draw.old, draw.standard("education", 9.1, 2.6)
    more = np.array([0.0, 1.0])
    draw.add(
        "income",
        INCOME,
        more * (0.95 * level + 0.15 * level**2 * np.sign(level)),
        more * (2.3 * draw.among("relationship", 0, 4) + 0.1 * (1 - draw.among("sex", 1))),
        more * (0.55 * np.minimum(old, 1.2) - 0.35 * np.maximum(old - 1.2, 0) - 2.5 * draw.young),
        more * (0.4 * np.clip(draw.standard("hours", 40.4 - 1, 12.4), -2, 1.5)),
        more * PAY[draw.columns["occupation"]][:, None],
        more
        * (
            0.5 * draw.among("workclass", 5)
            + 0.4 * draw.among("workclass", 6)
            - 0.4 * draw.among("workclass", 1)
        ),
    )
    rich, some = draw.among("income", 1), (np.arange(100) > 0) * 1.0
    of_rich, of_poor = _at(100, {7: 3, 15: 5, 99: 6, 13: 4}), _at(100, {2: -2, 3: -2, 4: -1, 5: -0.3})
    draw.add(
        "capital_gain",
        _spread(GAINS, 100, 1),
        rich * (some + of_rich + of_poor),
        0.3 * old * some + 0.2 * level * (np.arange(100) > 6),
    )
    draw.add(
        "capital_loss",
        _spread(LOSSES, 100, 1),
        -9.0 * (1 - draw.among("capital_gain", 0)) * some,
        rich * (0.9 * some + _at(100, {43: 2, 45: 3, 55: 2, 36: -2, 38: -2, 39: -1})),
        0.2 * old * some,
    )


def stand_in(rows: int = RECORDS, seed: int = 2) -> Table:
    """Another draw from another population of the same kind: designs are made on it."""
    return adult(rows, seed, DRIFT)


def _at(size: int, values: dict[int, float]) -> Floats:
    """Effects of some codes, 0 for the others."""
    found = np.zeros(size)
    found[list(values)] = list(values.values())
    return found


def _spread(peaks: dict[int, int], size: int, low: int) -> Floats:
    """Known peaks, and a little at every other code; the codes of a column of 99 begin at 1."""
    found = np.full(size, float(low))
    for code, count in peaks.items():
        found[code - (size == 99)] = count
    return found


def _foreign(draw: _Draw) -> Floats:
    """Countries by race."""
    places = np.arange(42)
    asian = np.isin(places, [3, 8, 11, 12, 16, 19, 23, 31, 32, 33, 36, 24]) * 1.0
    caribbean = np.isin(places, [13, 15, 21, 34]) * 1.0
    latin = np.isin(places, [1, 5, 7, 17, 20, 25, 27, 28]) * 1.0
    return np.asarray(
        draw.among("race", 2) * 6.0 * asian
        + draw.among("race", 1) * 4.5 * caribbean
        + draw.among("race", 4) * 3.0 * latin
        - draw.among("race", 0) * 1.5 * asian
        + draw.among("race", 3) * 0.3
    )


LEVELS = np.array([1.35, -0.45, 0.65, 0.0, 0.1, -0.6, -0.75, -0.3, -0.7, -0.75, -0.7, 0.35, 0.0, -1.1, 0.0])
"""Of schooling, by occupation."""
WOMEN = np.array([0.0, -2.6, -0.4, 1.5, 0, 0.9, -0.3, 0.4, -2.4, -1.4, -1.8, 0.2, -1.6, 2.8, -1])
PAY = _at(15, {0: 0.4, 2: 0.75, 4: 0.3, 5: -0.9, 9: -0.7, 10: -1, 11: 0.5, 12: 0.5, 13: -2, 7: -0.5})

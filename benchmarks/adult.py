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

from facsimile.spec.bins import parse_bins
from facsimile.spec.columns import Axis
from facsimile.table.domain import Domain
from facsimile.table.exact import Floats, Ints
from facsimile.table.table import Table

RECORDS = 48_842
DRIFT = 0.15
TEXTURE, TEXTURE_SEED, TEXTURE_GROUPS = 0.45, 1994, 8
AGES = [595, 862, 1053, 1113, 1096, 1178, 1329, 1206, 1195, 1153, 1232, 1280, 1223, 1278, 1325, 1253, 1335, 1303]
AGES += [1337, 1348, 1280, 1264, 1206, 1187, 1235, 1165, 1156, 1071, 1096, 1097, 1081, 846, 847, 866, 877, 724]
AGES += [705, 623, 622, 563, 556, 552, 498, 450, 450, 371, 347, 315, 284, 222, 236, 178, 180, 137, 133, 113, 103]
AGES += [86, 96, 66, 68, 46, 49, 35, 28, 27, 30, 18, 14, 11, 8, 5, 4, 55]
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
WHITE_COLLAR, MANUAL, WORKLESS = [0, 2, 3, 4, 11], [1, 6, 8, 9, 10], 7


@dataclass(eq=False)
class _Draw:
    """Columns so far, drawn with effects and shares that drift."""

    rows: int
    random: np.random.Generator
    drift: float
    before: list[Ints] = field(default_factory=list)
    society: np.random.Generator = field(default_factory=lambda: np.random.default_rng(TEXTURE_SEED))

    def shares(self, published: list[int] | Floats) -> Floats:
        """The published shares, moved."""
        shares = np.asarray(published, np.float64) + 0.5
        moved = shares * np.exp(self.drift * self.random.normal(size=len(shares)))
        return moved / moved.sum()

    def strength(self) -> float:
        """What an effect is multiplied with."""
        return float(np.exp(self.drift * self.random.normal()))

    def code(self, published: list[int] | Floats, *effects: Floats) -> Ints:
        """A code for each row, the expected shares being the published ones whatever the effects are."""
        shares = self.shares(published)
        score = self.texture(len(shares))
        for effect in effects:
            score = score + self.strength() * effect
        odds = np.exp(score - score.max(axis=1, keepdims=True))
        level = shares.copy()
        for _ in range(30):
            chance = odds * level
            chance /= chance.sum(axis=1, keepdims=True)
            level *= shares / chance.mean(axis=0)
        edges = np.cumsum(chance, axis=1)
        edges /= edges[:, -1:]
        found = np.asarray((self.random.random((self.rows, 1)) > edges[:, :-1]).sum(axis=1), np.int64)
        self.before.append(found)
        return found

    def texture(self, size: int) -> Floats:
        """Small effects of pairs of earlier columns without a pattern, as tables have them; they hardly drift."""
        score = np.zeros((self.rows, size))
        for _ in range(min(2, len(self.before))):
            one, other = (self.before[place] for place in self.society.integers(len(self.before), size=2))
            table = self.society.normal(size=(TEXTURE_GROUPS, TEXTURE_GROUPS, size))
            table += 2 * self.drift * self.random.normal(size=table.shape)
            score += TEXTURE * table[one % TEXTURE_GROUPS, other // 2 % TEXTURE_GROUPS]
        return score


def adult(rows: int = RECORDS, seed: int = 1, drift: float = 0.0) -> Table:
    """The table; with a drift, one of another population of the same kind."""
    draw = _Draw(rows, np.random.default_rng(seed), drift)
    age = draw.code(AGES)
    old = (age[:, None] + 17 - 38.6) / 13.7
    sex = draw.code(SEX, -0.12 * old * [0, 1])
    race = draw.code(RACE, 0.5 * _is(sex, 1) * _at(5, {1: 1}))
    country = draw.code(_padded(COUNTRY), _foreign(race), 0.1 * old * _at(42, {0: 1}))
    origin = (country[:, None] > 0) * 1.0
    schooling = np.arange(16.0) - 9
    education = draw.code(
        EDUCATION,
        -0.1 * old**2 * (schooling > 1) - 0.09 * np.maximum(old, -1.6) * schooling * (old > 0.8),
        (1.6 - 0.6 * old) * (old < -0.9) * np.exp(-((schooling - 0.2) ** 2) / 6),
        2.2 * (age[:, None] < 2) * np.exp(-((schooling + 2.5) ** 2) / 4),
        -2.0 * (age[:, None] < 5) * (schooling > 3.5),
        origin * (-0.25 * schooling * (country[:, None] % 3 == 1) + 0.1 * np.abs(schooling)),
        -0.08 * _is(race, 1) * schooling + 0.12 * _is(race, 2) * schooling,
    )
    level = (education[:, None] - 9.1) / 2.6
    young = np.exp(-(age[:, None] - 1.0) / 6.0)
    marital = draw.code(
        MARITAL,
        old * [0.5, -1.6, 0.55, 0.3, 1.9, 0.2, -0.3] - 0.35 * old**2 * [0.6, -0.3, 0.5, 0.3, 0, 0.1, 0],
        6.0 * young * [-0.6, 1, -0.5, -0.2, -0.2, 0, 0],
        1.6 * _is(sex, 1) * [-0.9, 0.1, 0.7, 0.9, 1.5, 0.4, 0.3],
        0.7 * _is(race, 1) * [-0.8, 0.3, 0.1, 1.1, 0.2, 0.2, 0] + 0.8 * origin * [0.2, 0, -0.3, 0, 0, 1.5, 0],
    )
    married = _is(marital, 0)
    relation = draw.code(
        RELATION,
        14.0 * married * (1 - _is(sex, 1)) * [1, 0, 0, 0, -1, 0.05],
        14.0 * married * _is(sex, 1) * [-1, 0, 0, 0, 1, 0.05],
        16.0 * (1 - married) * [-1, 0, 0, 0, -1, 0],
        -6.0 * married * [0, 1, 0.7, 1, 0, 0.4],
        (1 - married) * (-1.5 * old * [0, -0.1, 1, -0.1, 0, 0.3] + 3.0 * young * [0, -0.8, 1, -1.2, 0, 0.3]),
        (1 - married) * _is(sex, 1) * [0, 0, -0.1, 1.4, 0, 0],
        1.6 * (1 - married) * (1 - _is(marital, 1)) * [0, 0.3, -0.7, 1, 0, 0.2],
        0.8 * origin * [0, -0.2, 0, 0, 0, 1.2] + 0.7 * _is(race, 1) * [0, -0.3, 0.1, 0.6, 0, 0.3],
    )
    work = draw.code(
        WORK,
        old * [-0.1, 0.55, 0.25, 0.1, 0.1, 0.5, 0.2, 0, -1.5] + 0.4 * old**2 * _at(9, {3: 1, 1: 0.3}),
        level * [-0.15, 0.05, 0.5, -0.3, 0.5, 0.35, 0.35, 0, -0.5],
        0.5 * _is(sex, 1) * [0.1, -0.9, 0.4, 0.5, 0.2, -1.1, -0.1, 0, 0],
        2.5 * young * _at(9, {3: 1, 8: 1}) + 0.4 * married * _at(9, {1: 1, 5: 1.3}),
    )
    job = np.array([1.35, -0.45, 0.65, 0.0, 0.1, -0.6, -0.75, -0.3, -0.7, -0.75, -0.7, 0.35, 0.0, -1.1, 0.0])
    ladies = np.array([0.0, -2.6, -0.4, 1.5, 0, 0.9, -0.3, 0.4, -2.4, -1.4, -1.8, 0.2, -1.6, 2.8, -1])
    government, self_employed = np.isin(work, [2, 4, 6])[:, None], np.isin(work, [1, 5])[:, None]
    occupation = draw.code(
        OCCUPATION,
        1.15 * level * job + 0.35 * (level > 1) * level * _at(15, {0: 1.2}),
        _is(sex, 1) * ladies,
        30.0 * np.isin(work, [3, 8])[:, None] * _at(15, {WORKLESS: 1}),
        -30.0 * (1 - np.isin(work, [3, 8])[:, None]) * _at(15, {WORKLESS: 1}),
        government * _at(15, {0: 1, 3: 0.6, 12: 2.6, 1: -0.6, 4: -3, 6: -1.6, 13: -8, 14: 3}),
        self_employed * _at(15, {2: 0.6, 4: 0.5, 1: 0.4, 10: 2.2, 3: -1.2, 6: -1, 11: -0.8, 12: -3, 13: -4}),
        old * _at(15, {2: 0.25, 9: -0.5, 5: -0.3, 4: -0.1}) + 1.5 * young * _at(15, {5: 1, 9: 1, 4: 0.8, 2: -0.8}),
        0.6 * origin * _at(15, {5: 1, 6: 1, 13: 1.5, 10: 0.5}) + 0.4 * _is(race, 1) * _at(15, {5: 1, 6: 0.8, 2: -0.5}),
    )
    times = np.arange(1.0, 100)
    usual = _spread(HOURS, 99, 31)
    busy = (times - 40) / 12
    full = (times == 40) * 1.0
    hours = draw.code(
        usual,
        -1.1 * young * busy - 0.35 * (old > 1.6) * (old - 1.6) * busy * 2 - 0.12 * old**2 * np.abs(busy),
        -0.4 * _is(sex, 1) * busy + 0.25 * married * busy * (1 - 0.8 * _is(sex, 1)),
        0.45 * np.isin(occupation, [2, 10, 8])[:, None] * busy - 0.5 * np.isin(occupation, [5, 13])[:, None] * busy,
        0.3 * self_employed * busy - 0.9 * self_employed * full + 0.6 * government * full,
        -0.8 * np.isin(work, [3])[:, None] * busy + 0.5 * np.isin(occupation, [1, 3, 6])[:, None] * full,
        0.15 * level * busy - 0.7 * _is(relation, 2) * busy * 0.8,
    )
    busy_now = (hours[:, None] + 1 - 40.4) / 12.4
    income = draw.code(
        INCOME,
        [0, 1] * (0.95 * level + 0.15 * level**2 * np.sign(level)),
        [0, 1] * (2.3 * np.isin(relation, [0, 4])[:, None] + 0.1 * (1 - _is(sex, 1))),
        [0, 1] * (0.55 * np.minimum(old, 1.2) - 0.35 * np.maximum(old - 1.2, 0) - 2.5 * young),
        [0, 1] * (0.4 * np.clip(busy_now, -2, 1.5)),
        [0, 1] * _at(15, {0: 0.4, 2: 0.75, 4: 0.3, 5: -0.9, 9: -0.7, 10: -1.0, 11: 0.5, 12: 0.5, 13: -2, 7: -0.5})[
            occupation
        ][:, None],
        [0, 1] * (0.5 * _is(work, 5) + 0.4 * _is(work, 6) - 0.4 * _is(work, 1)),
    )
    rich = income[:, None] * 1.0
    gain_of_rich, gain_of_poor = _at(100, {7: 3, 15: 5, 99: 6, 13: 4}), _at(100, {2: -2, 3: -2, 4: -1, 5: -0.3})
    gain = draw.code(
        _spread(GAINS, 100, 1),
        rich * (1.0 * (np.arange(100) > 0) + gain_of_rich + gain_of_poor),
        0.3 * old * (np.arange(100) > 0) + 0.2 * level * (np.arange(100) > 6),
    )
    loss = draw.code(
        _spread(LOSSES, 100, 1),
        -9.0 * (gain[:, None] > 0) * (np.arange(100) > 0),
        rich * (0.9 * (np.arange(100) > 0) + _at(100, {43: 2, 45: 3, 55: 2, 36: -2, 38: -2, 39: -1})),
        0.2 * old * (np.arange(100) > 0),
    )
    columns = {
        "age": (age, 74), "workclass": (work, 9), "education": (education, 16), "education_num": (education, 16),
        "marital": (marital, 7), "occupation": (occupation, 15), "relationship": (relation, 6), "race": (race, 5),
        "sex": (sex, 2), "capital_gain": (gain, 100), "capital_loss": (loss, 100), "hours": (hours, 99),
        "country": (country, 42), "income": (income, 2),
    }  # fmt: skip
    axes = tuple(Axis(name, parse_bins([f"0..{size - 1}"], Fraction(1))) for name, (_, size) in columns.items())
    return Table.from_rows(Domain(axes), np.column_stack([codes for codes, _ in columns.values()]))


def stand_in(rows: int = RECORDS, seed: int = 2) -> Table:
    """Another draw from another population of the same kind: designs are made on it."""
    return adult(rows, seed, DRIFT)


def _is(codes: Ints, code: int) -> Floats:
    """1 where a column has a code, as a column of effects."""
    return (codes == code).astype(np.float64)[:, None]


def _at(size: int, values: dict[int, float]) -> Floats:
    """Effects of some codes, 0 for the others."""
    found = np.zeros(size)
    found[list(values)] = list(values.values())
    return found


def _spread(peaks: dict[int, int], size: int, low: int) -> Floats:
    """Known peaks, and a little at every other code; codes of a column with `size` 99 begin at 1."""
    found = np.full(size, float(low))
    for code, count in peaks.items():
        found[code - (size == 99)] = count
    return found


def _padded(shares: list[int]) -> list[int]:
    return [*shares, 1][:42]


def _foreign(race: Ints) -> Floats:
    """Countries by race: a third of them Asian, some Caribbean."""
    places = np.arange(42)
    asian = np.isin(places, [3, 8, 11, 12, 16, 19, 23, 31, 32, 33, 36, 24])
    caribbean = np.isin(places, [13, 15, 21, 34])
    latin = np.isin(places, [1, 5, 7, 17, 20, 25, 27, 28])
    return np.asarray(
        _is(race, 2) * 6.0 * asian + _is(race, 1) * 4.5 * caribbean + _is(race, 4) * 3.0 * latin
        - _is(race, 0) * 1.5 * asian + _is(race, 3) * 0.3
    )  # fmt: skip

"""Raw tables that drafts are made of: people in odd columns, drawn from shapes that such tables have.

All of them were looked at while drafts were being written, so none is held out. No record is real.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.adult import RECORDS, adult

Column = Sequence[object] | npt.NDArray[np.generic]
WORK = [
    "Private",
    "Self-emp-not-inc",
    "Local-gov",
    "?",
    "State-gov",
    "Self-emp-inc",
    "Federal-gov",
    "Without-pay",
    "Never-worked",
]
SCHOOL = [
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
]
SCHOOL += ["Bachelors", "Masters", "Prof-school", "Doctorate"]
MARRIED = "Married-civ-spouse Never-married Divorced Separated Widowed Married-spouse-absent Married-AF-spouse"
JOBS = "Prof-specialty Craft-repair Exec-managerial Adm-clerical Sales Other-service Machine-op-inspct ?"
JOBS += " Transport-moving Handlers-cleaners Farming-fishing Tech-support Protective-serv Priv-house-serv"
JOBS += " Armed-Forces"
KIN = ["Husband", "Not-in-family", "Own-child", "Unmarried", "Wife", "Other-relative"]
RACES = ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]
STATES = [
    "United-States",
    "Mexico",
    "?",
    "Philippines",
    "Germany",
    "Puerto-Rico",
    "Canada",
    "El-Salvador",
    "India",
    "Cuba",
    "England",
    "China",
]


def adult_like(rows: int = RECORDS, seed: int = 1) -> pa.Table:
    """The census extract's shape: skewed gains, `?` for unknown, rare categories, a weight for each person."""
    table, random = adult(rows, seed), np.random.default_rng(seed)
    codes = np.repeat(table.codes, table.counts, axis=0)[random.permutation(table.n)]
    of = {name: codes[:, place] for place, name in enumerate(table.domain.names)}
    countries = STATES + [f"Country-{place}" for place in range(len(STATES), 42)]

    def money(code: npt.NDArray[np.int64], scale: int) -> npt.NDArray[np.int64]:
        spread = code * scale + random.integers(0, scale, len(code))
        return np.where(code == 0, 0, np.where(code == 99, 99_999, spread))

    return pa.table(
        {
            "age": of["age"] + 17,
            "workclass": _named(of["workclass"], WORK),
            "fnlwgt": np.round(np.exp(random.normal(12.05, 0.55, rows))).astype(np.int64),
            "education": _named(of["education"], SCHOOL),
            "education-num": of["education"] + 1,
            "marital-status": _named(of["marital"], MARRIED.split()),
            "occupation": _named(of["occupation"], JOBS.split()),
            "relationship": _named(of["relationship"], KIN),
            "race": _named(of["race"], RACES),
            "sex": _named(of["sex"], ["Male", "Female"]),
            "capital-gain": money(of["capital_gain"], 500),
            "capital-loss": money(of["capital_loss"], 44),
            "hours-per-week": of["hours"] + 1,
            "native-country": _named(of["country"], countries),
            "income": _named(of["income"], ["<=50K", ">50K"]),
        }
    )


def survey(rows: int = 20_000, seed: int = 1) -> pa.Table:
    """Forty columns of a health survey: an identifier, a date, body measures, scales, skips and codes."""
    random = np.random.default_rng(seed)
    age = np.clip(random.gamma(9, 5.4, rows), 16, 97).astype(np.int64)
    sex = random.integers(1, 3, rows)
    health = random.normal(size=rows) - 0.02 * (age - 48)
    wealth = random.normal(size=rows) + 0.2 * health
    days = [date(2022, 3, 1) + timedelta(int(day)) for day in random.integers(0, 330, rows)]
    height = np.round(random.normal(177 - 13 * (sex == 2), 7.2), 1)
    weight = np.round(np.exp(random.normal(np.log(0.0024 * height**2), 0.19 - 0.01 * health)), 1)
    smoker = random.random(rows) < 1 / (1 + np.exp(1.1 + 0.5 * health))
    income = np.round(np.exp(10 + 0.55 * wealth + random.normal(0, 0.35, rows)), -1).astype(np.int64)
    columns: dict[str, Column] = {
        "respondent": [f"R{place:06}" for place in random.permutation(rows)],
        "Interview date": days,
        "age": age,
        "sex": sex,
        "region": random.choice(
            ["north", "east", "south", "west", "centre"], rows, p=[0.3, 0.2, 0.25, 0.2, 0.05]
        ),
        "urban": random.random(rows) < 0.4 + 0.1 * np.tanh(wealth),
        "height (cm)": height,
        "weight (kg)": _blank(weight, random, 0.03),
        "income": _blank(income, random, 0.12),
        "household size": 1 + random.poisson(1.4 * (age < 60) + 0.5),
        "children": np.where(age < 20, 0, random.poisson(0.9, rows)),
        "education": _scale(wealth + random.normal(size=rows), ["none", "primary", "secondary", "tertiary"]),
        "employment": _scale(
            random.normal(size=rows) - 0.05 * np.maximum(age - 55, 0),
            ["retired", "unemployed", "part time", "full time"],
        ),
        "smoker": np.where(smoker, "Y", "N"),
        "cigarettes": np.where(smoker, 1 + random.poisson(11, rows), 0),
        "general health": _scale(
            health + random.normal(0, 0.6, rows), ["very bad", "bad", "fair", "good", "very good"]
        ),
        "systolic": np.round(random.normal(112 + 0.35 * (age - 20) - 2 * health, 13)).astype(np.int64),
        "cholesterol": _blank(np.round(random.normal(5.2 - 0.1 * health, 1), 2), random, 0.4),
        "visits": np.minimum(random.negative_binomial(0.8, 0.25, rows), 60),
        "hospital nights": np.where(random.random(rows) < 0.9, 0, np.ceil(random.exponential(5, rows))).astype(
            np.int64
        ),
        "life satisfaction": _withheld(np.clip(np.round(7 + 1.4 * health), 0, 10), random, 99, 0.02),
        "free text": [f"answer {place % 7}{'x' * (place % 5)} no. {place}" for place in range(rows)],
        "wave": np.full(rows, 12),
        "postcode": random.integers(10_000, 12_500, rows),
    }
    for place in range(16):
        traits = [health, wealth, random.normal(size=rows)]
        answer = traits[place % 3] * (0.8 - 0.04 * place) + random.normal(size=rows)
        columns[f"q{place + 1}"] = _withheld(1 + np.digitize(answer, [-1.2, -0.3, 0.5, 1.4]), random, 9, 0.01)
    return pa.table(columns)


def schools(rows: int = 12_000, seed: int = 1) -> pa.Table:
    """Pupils: twelve columns with headers in other scripts, grades, marks to a half, distances, absences."""
    random = np.random.default_rng(seed)
    grade = random.integers(1, 13, rows)
    talent = random.normal(size=rows)
    marks = np.clip(np.round(2 * (6.8 + 1.4 * talent - 0.05 * grade + random.normal(0, 0.8, rows))) / 2, 1, 10)
    born = 2023 - 6 - grade - (random.random(rows) < 0.06)
    language = random.choice(["עברית", "العربية", "русский", "English"], rows, p=[0.62, 0.25, 0.1, 0.03])
    return pa.table(
        {
            "מזהה": random.permutation(rows) + 500_000,
            "כיתה": grade,
            "Geburtsjahr": born,
            "Größe (m)": np.round(1.1 + 0.055 * grade + random.normal(0, 0.07, rows), 2),
            "Langue à la maison": language,
            "étude": _scale(talent + random.normal(size=rows), ["low", "medium", "high"]),
            "note moyenne": marks,
            "absences": random.negative_binomial(1, 0.12, rows),
            "distance to school": np.round(random.lognormal(0.6, 0.9, rows), 3),
            "allowance": np.where(random.random(rows) < 0.7, 0, 50 * random.integers(1, 13, rows)),
            "boarding": np.where(random.random(rows) < 0.02, "yes", "no"),
            "balance": np.round(random.normal(-20, 60, rows)).astype(np.int64),
        }
    )


def clinic(rows: int = 300, seed: int = 1) -> pa.Table:
    """A small study: 300 patients, two arms, a score with NA, a date of entry over three years."""
    random = np.random.default_rng(seed)
    arm = random.choice(["placebo", "verum"], rows)
    score = random.normal(50 + 6 * (arm == "verum"), 11).round().astype(int)
    days = [date(2019, 1, 7) + timedelta(int(day)) for day in random.integers(0, 1050, rows)]
    return pa.table(
        {
            "patient": [f"{place:04}" for place in range(rows)],
            "entry": [day.isoformat() for day in days],
            "arm": arm,
            "age": random.integers(18, 85, rows),
            "score": [str(s) if random.random() > 0.08 else "NA" for s in score],
            "responder": (score > 55).astype(np.int64),
        }
    )


def parcels(rows: int = 30_000, seed: int = 1) -> pa.Table:
    """Land: areas over six orders of magnitude, prices with a code for unknown, many small municipalities."""
    random = np.random.default_rng(seed)
    area = np.round(random.lognormal(6.5, 2.2, rows), 1)
    price = np.where(random.random(rows) < 0.2, -9, np.round(area * random.lognormal(2.5, 0.8, rows)))
    return pa.table(
        {
            "municipality": [f"M-{int(place):03}" for place in np.minimum(random.zipf(1.4, rows), 600)],
            "use": random.choice(["arable", "forest", "housing", "=other", "@road"], rows),
            "area": area,
            "price": price.astype(np.int64),
            "slope %": np.round(100 * random.beta(1.2, 6, rows), 1),
            "longitude": np.round(random.normal(-3.7, 0.4, rows), 5),
            "year": random.integers(1950, 2024, rows),
            "flood zone": random.choice(["0", "1"], rows, p=[0.97, 0.03]),
        }
    )


def members(rows: int = 5_000, seed: int = 1) -> pa.Table:
    """One column."""
    return pa.table({"fee": np.random.default_rng(seed).choice([0, 12, 24, 60], rows, p=[0.1, 0.5, 0.3, 0.1])})


def _named(codes: npt.NDArray[np.int64], names: Sequence[str]) -> npt.NDArray[np.object_]:
    return np.array(names, object)[codes]


def _scale(trait: npt.NDArray[np.float64], words: Sequence[str]) -> npt.NDArray[np.object_]:
    """An ordered answer, each word about as often."""
    return _named(np.digitize(trait, np.quantile(trait, np.arange(1, len(words)) / len(words))), words)


def _blank(values: Column, random: np.random.Generator, share: float) -> pa.Array:
    return pa.array(values, mask=random.random(len(values)) < share)


def _withheld(values: Column, random: np.random.Generator, code: int, share: float) -> Column:
    """Some answers are a code for none."""
    return np.where(random.random(len(values)) < share, code, np.asarray(values)).astype(np.int64)


TABLES: dict[str, Callable[[], pa.Table]] = {
    "adult": adult_like,
    "survey": survey,
    "schools": schools,
    "clinic": clinic,
    "parcels": parcels,
    "members": members,
}

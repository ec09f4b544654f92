"""Made-up births, by SQL: the same rows on every run, and no one's data."""

from __future__ import annotations

from pathlib import Path

import duckdb

RAW = "mother_age, parity, gestation_week, is_female, birth_weight, date_of_birth"

# u(i, k) is the k-th uniform number of row i, z(i, k) a normal one; one value in a thousand is NULL.
_MACROS = """
CREATE MACRO u(i, k) AS (hash(i * 32 + k) >> 11)::DOUBLE * 1.11e-16 + 1e-17;
CREATE MACRO z(i, k) AS sqrt(-2 * ln(u(i, k))) * cos(2 * pi() * u(i, k + 1));
CREATE MACRO holed(value, i, k) AS CASE WHEN u(i, k) >= 0.001 THEN value END;
"""

_RAW = """
SELECT holed(age, i, 20) AS mother_age,
       holed(CASE WHEN u(i, 2) < 0.0005 THEN 1 + floor(u(i, 3) * 15)::BIGINT
                  WHEN age < 20 THEN least(born, 3)
                  WHEN age < 23 THEN least(born, 6)
                  ELSE born END, i, 21) AS parity,
       holed(week, i, 22) AS gestation_week,
       holed(u(i, 4) < 0.487, i, 23) AS is_female,
       holed(greatest(400, least(5600, 3350 + (week - 39) * 130 + z(i, 5) * 420))::BIGINT, i, 24)
           AS birth_weight,
       holed(DATE '2014-01-01' + floor(u(i, 7) * 365)::INTEGER, i, 25) AS date_of_birth
FROM (SELECT i,
             greatest(13, least(55, 30.5 + 5.5 * z(i, 8)))::BIGINT AS age,
             least(15, 1 + floor(-2 * ln(u(i, 10))))::BIGINT AS born,
             greatest(20, least(45, 39.8 + 1.3 * ln(u(i, 11)) + z(i, 12)))::BIGINT AS week
      FROM numbers)
"""

BINNED = """
month(date_of_birth)::TINYINT AS birth_month,
greatest(17, least(45, mother_age))::TINYINT AS mother_age,
greatest(1, least(11, parity))::TINYINT AS parity,
greatest(28, least(42, gestation_week))::TINYINT AS gestation_week,
is_female::TINYINT AS birth_sex,
greatest(14, least(45, birth_weight // 100))::TINYINT AS birth_weight
"""

# The ten raw rules of examples/births/nvss.yaml, written a second time.
PLAUSIBLE = """
mother_age IS NOT NULL AND parity IS NOT NULL AND gestation_week IS NOT NULL AND is_female IS NOT NULL
AND birth_weight IS NOT NULL AND date_of_birth IS NOT NULL
AND birth_weight >= 500 AND birth_weight <= 5500 AND gestation_week >= 22 AND gestation_week <= 44
AND NOT (mother_age < 23 AND parity > 6) AND NOT (mother_age < 20 AND parity > 3)
AND NOT (gestation_week < 26 AND birth_weight > 1499) AND NOT (gestation_week < 29 AND birth_weight > 2999)
AND NOT (gestation_week < 34 AND birth_weight > 3999) AND NOT (birth_weight < 600 AND gestation_week > 29)
AND NOT (birth_weight < 700 AND gestation_week > 32)
"""


def raw(rows: int, folder: Path, ending: str) -> Path:
    return _made(folder / f"births-{rows}.{ending}", _RAW, rows)


def binned(raw: Path) -> Path:
    return _made(raw.with_suffix(".binned.parquet"), f"SELECT {BINNED} FROM '{raw}'")


def plausible(raw: Path) -> int:
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT count(*) FROM '{raw}' WHERE {PLAUSIBLE}").fetchone()
    return int(found[0])


def _made(path: Path, query: str, rows: int = 0) -> Path:
    """The file, made unless a run before left it."""
    if not path.exists():
        part = path.with_name(f"part-{path.name}")
        with duckdb.connect() as connection:
            connection.execute(_MACROS)
            # A stored table of numbers, because range() itself uses one core only.
            connection.execute(f"CREATE TABLE numbers AS SELECT i FROM range({rows}) AS r(i)")
            connection.execute(f"COPY ({query}) TO '{part}'")
        part.rename(path)
    return path

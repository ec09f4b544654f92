"""The story of a table on a PostgreSQL server: its key lies where the curator says, and it is not public."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from journeys import wards
from journeys.terminal import Terminal
from journeys.test_releases import charges, refused, succeeded

RELEASE = (
    "facsimile release wards.yaml --data {table} --dataset-key safe/wards.key --ledger wards.ledger -o {out}"
)


@pytest.fixture
def table(postgres: str, interactive: bool) -> str:
    """A table of its own for each way of typing."""
    name = f"stays_{'terminal' if interactive else 'pipe'}"
    import psycopg  # Spark's environment has none, and collects this file

    with psycopg.connect(postgres) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
        connection.execute(f"CREATE TABLE {name} ({', '.join(f'{column} text' for column in wards.HEADER)})")
        with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
            for row in wards.rows():
                copy.write_row(row)
    return f"{postgres}#{name}"


def test_a_table_on_a_server(tmp_path: Path, typing: Terminal, table: str) -> None:
    desk = typing
    (tmp_path / "wards.yaml").write_text(wards.specification(), encoding="utf-8")
    (tmp_path / "safe").mkdir()
    succeeded(desk, f"facsimile check wards.yaml --public {table}", r".")
    line = RELEASE.replace("{table}", table)
    refused(desk, line.replace("--dataset-key safe/wards.key ", "").format(out="none"), "E115", 2)
    refused(desk, line.replace("stays_", "stay_").format(out="none"), "E108", 2)
    new = "facsimile ledger new wards.ledger --data {} --dataset-key safe/wards.key --cap 12"
    succeeded(desk, new.format(table), r"anchor")
    told = succeeded(desk, line.format(out="bundle"), r"bundle/README\.html")
    assert "4,000 synthetic records released, epsilon 5.9" in told.screen
    login = urlsplit(table)
    shown = succeeded(desk, "facsimile ledger show wards.ledger", r".")
    assert login.fragment in shown.screen and str(login.port) not in shown.screen
    refused(desk, f"facsimile check wards.yaml --public {table}", "E207", 2)
    other = table.replace("postgres://", "postgresql://").replace("#", "#public.")
    refused(desk, f"facsimile check wards.yaml --public {other}", "E207", 2)
    succeeded(desk, line.replace(table, other).format(out="bundle2"), r"bundle2/README\.html")
    refused(desk, line.format(out="bundle3"), "E301", 3)
    assert charges(desk) == 2
    elsewhere = line.replace("safe/wards.key", "safe/other.key").format(out="bundle4")
    refused(desk, elsewhere.replace("wards.ledger", "other.ledger"), "E316", 4)
    assert {path.name for path in (tmp_path / "safe").iterdir()} >= {"wards.key"}

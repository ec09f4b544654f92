"""An address has one identity, whatever its spelling, and tells nobody a login."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.sources.address import Address

at = Address.of
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=4, max_size=12)


def malformed(text: str) -> str:
    with pytest.raises(FacsimileError, match="E114") as caught:
        at(text)
    return str(caught.value)


@given(NAMES, NAMES, NAMES, SECRETS, st.sampled_from(["", ":5432"]), st.sampled_from(["", "public."]))
def test_every_spelling_of_a_servers_table_is_one_source(
    host: str, database: str, table: str, secret: str, port: str, schema: str
) -> None:
    plain = at(f"postgres://{host}/{database}#{table}")
    login = f"{quote(secret, safe='')}:{quote(secret, safe='')}@"
    encoded = "".join(f"%{byte:02x}" for byte in database.encode())
    for scheme in ("postgres", "postgresql", "PostgreSQL"):
        other = at(f"{scheme}://{login}{host.upper()}{port}/{encoded}#{schema}{table}")
        assert other == at(f"postgres://{host}:5432/{database}#public.{table}")
        assert other.identity == plain.identity == f"postgres://{host}:5432/{database}#public.{table}"
        assert (other.user, other.password) == (secret, secret)
        assert other.name == f"{database}#public.{table}"
        assert repr(other) == repr(plain)
    assert at(f"postgres://{host}:5433/{database}#{table}").identity != plain.identity
    assert at(f"postgres://{host}/{database}#x.{table}").identity != plain.identity
    assert plain.place is plain.file is plain.beside is None


def test_this_machine_has_one_name() -> None:
    hosts = ["localhost", "LocalHost.", "127.0.0.1", "127.0.0.2", "[::1]", "[0:0:0:0:0:0:0:1]"]
    hosts += [
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::]",
        "[::ffff:0:0]",
    ]  # unspecified ones reach this machine too
    assert len({at(f"postgres://{host}/registry#births").identity for host in hosts}) == 1
    assert at("postgres://[2001:DB8::0:1]/r#t").identity == at("postgres://[2001:db8::1]:5432/r#t").identity


@pytest.mark.parametrize(
    "text",
    [
        "postgres://host/registry",
        "postgres://host/registry#",
        "postgres://host/registry#.births",
        "postgres://host/registry#public.",
        "postgres:///registry#births",
        "postgres://host#births",
        "postgres://host/#births",
        "postgres://host/registry/anything#births",
        "postgres://host/registry/#births",
        "postgres://host/registry%2Fanything#births",
        "postgres://host/registry?host=other#births",
        "postgres://host/host=other#births",
        "postgres://host/host%3Dother#births",
        "postgres://host/" + "r" * 64 + "#births",
        "postgres://one,two/registry#births",
        "postgres://%2Fvar%2Frun/registry#births",
        "postgres://host:port/registry#births",
        "postgres://host:0/registry#births",
        "postgres://host:65536/registry#births",
        "postgres://127.1/registry#births",
        "postgres://2130706433/registry#births",
        "postgres://0x7f000001/registry#births",
        "postgres://127.000.0.1/registry#births",
        "postgres://[host]/registry#births",
        "postgres://host\n/registry#births",
        "spark://local",
        "spark://local/",
        "spark://local#",
        "spark:///data",
        "spark://local:7077/data",
        "spark://local[4]/data",
        "spark://local/nowhere/people.csv#people",
        "mysql://host/registry#births",
        "file:///data/births.csv",
        "",
        "births\0.csv",
    ],
)
def test_what_does_not_say_one_table_is_malformed(text: str) -> None:
    malformed(text)


@pytest.mark.parametrize(
    ("text", "identity", "name"),
    [
        ("postgres://host:65535/" + "r" * 63 + "#t", f"postgres://host:65535/{'r' * 63}#public.t", None),
        ("postgres://host:1/r#t", "postgres://host:1/r#public.t", "r#public.t"),
        ("spark://local#t", "spark://local#t", "t"),
        ("spark://host:1#t", "spark://host:1#t", "t"),
        ("spark://host//nowhere/people.csv/", "/nowhere/people.csv", "people.csv"),
        ("spark://host/C:/people.csv", str(Path("C:/people.csv").absolute()), "people.csv"),
        ("/nowhere/people.sqlite#", "/nowhere/people.sqlite", "people.sqlite"),
        ("#people", str(Path("#people").absolute()), "#people"),
    ],
)
def test_what_just_says_one_table_is_read(text: str, identity: str, name: str | None) -> None:
    found = at(text)
    assert found.identity == identity and name in (None, found.name)
    assert {found.user, found.password, found.file, found.beside} == {None}
    assert found.table == ("t" if "spark" in text else "public.t") if text.endswith("#t") else not found.table


def test_a_refusal_tells_no_login() -> None:
    said = malformed("postgres://Zaphodine:8675309@host/registry/x#births")
    assert "Zaphodine" not in said and "8675309" not in said


def test_files_tables_of_files_and_names_with_number_signs(tmp_path: Path) -> None:
    (tmp_path / "odd#name.csv").write_bytes(b"x")
    (tmp_path / "people.sqlite").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path)
    assert at(tmp_path / "odd#name.csv").table is None
    assert at(tmp_path / "people.sqlite#one").table == "one"
    for text in ("people.sqlite", "link/people.sqlite", "x/../people.sqlite", "people.sqlite/"):
        for tail in ("", "#one"):
            found = at(f"{tmp_path}/{text}{tail}")
            assert found.identity == str(tmp_path / "people.sqlite")
            assert found.file == tmp_path / "people.sqlite"
            assert found.beside == tmp_path / "people.sqlite.key"
            assert found.name == "people.sqlite"
    spark = [f"spark://local{tmp_path}/people.sqlite", f"spark://LOCAL//{tmp_path}//people.sqlite/"]
    spark += [f"spark://host{tmp_path}/people.sqlite", f"spark://host:1{tmp_path}/link/people.sqlite"]
    assert {at(text).identity for text in spark} == {str(tmp_path / "people.sqlite")}
    assert at(f"spark://local{tmp_path}/odd#name.csv").file == tmp_path / "odd#name.csv"
    assert (
        at("spark://host#births").identity
        == at("spark://HOST:7077#births").identity
        == "spark://host:7077#births"
    )


@pytest.mark.parametrize(
    "text", [r"C:\data\births.csv", "C:/data/births.csv", r"\\server\share\births.csv", "c://x.csv"]
)
def test_a_drive_is_no_scheme(text: str) -> None:
    assert at(text).scheme == "file"
    assert at(f"{text}#births").table == "births"


def test_reading_an_address_imports_no_engine() -> None:
    code = "import sys, facsimile.sources.address; print(*{'ibis', 'pyarrow', 'numpy'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "\n"

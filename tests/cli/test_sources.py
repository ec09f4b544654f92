"""Every command takes every form of address, and no form brings confidential data into a public command."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints

import pyarrow.csv
import pytest
import typer
import yaml

import engines
import facsimile
from facsimile.cli import ledger, program
from facsimile.cli.options import refuse_passwords
from facsimile.release import run as running
from facsimile.sources.address import Address
from facsimile.workbench import trying
from facsimile.workbench.bench import Bench
from programs import Program, Ran
from releases import specification, write_data

SOURCE = Path(facsimile.__file__).parent
LINES = {
    ("check", "public"): "check {spec} --public {source}",
    ("evaluate", "real"): "evaluate {spec} --real {source} --synthetic {public} --public",
    ("evaluate", "synthetic"): "evaluate {spec} --real {public} --synthetic {source} --public",
    ("synthesize", "data"): "synthesize {spec} --data {source} --public -o {new}",
    ("synthesize", "prior"): "synthesize {spec} --data {public} --prior {source} --public -o {new}",
    ("explore", "data"): "explore {spec} --data {source} --public -o {new}",
    ("design", "data"): "design {spec} --data {source} --public",
    ("init", "public"): "init --public {source} -o {new}",
    ("workbench", "public"): "workbench {spec} --public {source}",
    ("risk", "public"): "risk {spec} --public {source} -o {new}",
    ("release", "data"): "release {spec} --data {source} --rehearse --seed 1 -o {new}",
}
"""Every option that takes a source, in a command for public data."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A confidential file, a public one of the same form, a specification, and a state folder of its own."""
    folder = tmp_path / "home"
    folder.mkdir()
    write_data(folder)
    (folder / "public.csv").write_bytes((folder / "people.csv").read_bytes())
    content = specification().model_dump(mode="json", exclude_none=True)
    (folder / "people.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.setenv("FACSIMILE_STATE", str(folder / "state"))
    monkeypatch.chdir(folder)
    return folder


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def line(run: Program, which: tuple[str, str], source: str) -> Ran:
    words = {"spec": "people.yaml", "public": "public.csv", "new": "../new", "source": source}
    return run(*(word.format(**words) for word in LINES[which].split(" ")))


def release(run: Program, source: object, *more: object, ledger: str = "l", out: str = "bundle") -> Ran:
    return run("release", "people.yaml", "--data", source, "--ledger", ledger, "-o", out, *more)


def last(found: Ran) -> str:
    """The code of the last line that was said on standard error."""
    return found.err.splitlines()[-1][:4]


def test_every_option_that_takes_a_source_is_known_here() -> None:
    commands: dict[str, Any] = {
        name: command for group in program.GROUPS for name, command in group.COMMANDS.items()
    }
    commands |= {f"ledger {one.name}": one.callback for one in ledger.app.registered_commands}
    found = {
        (name, option)
        for name, command in commands.items()
        for option, kind in get_type_hints(command).items()
        if kind in (Address, Address | None)
    }
    assert found == {*LINES, ("ledger new", "data")}


def sources() -> dict[str, str]:
    """Every file of the package."""
    return {path.relative_to(SOURCE).as_posix(): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}


def test_only_the_reader_opens_a_source() -> None:
    """And so only the guard of the reader has to be right."""
    texts = sources()
    opening = [name for name, text in texts.items() if re.search(r"\bopened\(", text)]
    assert sorted(opening) == ["privacy/reader.py", "sources/source.py"]
    labels = [name for name, text in texts.items() if re.search(r"source import .*\blabels\b", text)]
    assert labels == ["privacy/reader.py"]
    apart = [
        name for name, text in texts.items() if re.search(r"labelled(\.| import .*\b)(header|records)\b", text)
    ]
    assert apart == ["sources/source.py"]
    confidential = [name for name, text in texts.items() if re.search(r"reader import .*\bread\b", text)]
    assert confidential == ["release/run.py"]


@pytest.mark.parametrize("which", LINES)
def test_no_command_for_public_data_takes_a_confidential_file(
    home: Path, run: Program, which: tuple[str, str]
) -> None:
    (home / "sub").mkdir()
    (home / "link.csv").symlink_to("people.csv")
    (home / "sub" / "deep").symlink_to(home)
    engines.write_sqlite(pyarrow.csv.read_csv("people.csv"), home / "people.sqlite")
    for data in ("people.csv", "people.sqlite#people"):
        assert run("ledger", "new", f"{data[:10]}.ledger", "--data", data, "--cap", "30").code == 0
    before = names(home)
    spellings = ["people.csv", "./sub/../people.csv", "link.csv", "sub/deep/people.csv", "people.csv/"]
    spellings += [f"{home}/people.csv", f"/{home}/people.csv", "/proc/self/cwd/people.csv"]
    spellings += [
        "people.sqlite",
        "people.sqlite#people",
        "link.csv#x",
        f"{home}/sub/deep/people.sqlite#people",
    ]
    spellings += [
        f"spark://local{path}" for path in (f"{home}/people.csv", f"/{home}/people.csv/", f"{home}/link.csv")
    ]
    spellings += [f"spark://local{home}", f"spark://local{home}/sub", f"spark://other:1{home}/people.csv"]
    for source in spellings:
        found = line(run, which, source)
        assert (found.code, found.out) == (2, ""), source
        assert found.err.startswith("E207 "), (source, found.err)
    assert names(home) == before
    assert "E207 people.csv has a dataset key" in line(run, which, "link.csv").err


@pytest.mark.parametrize("which", LINES)
def test_no_command_for_public_data_takes_a_claimed_table(
    home: Path, run: Program, postgres: str, which: tuple[str, str]
) -> None:
    """The server is never asked: the refusal comes before it."""
    from facsimile.sources.claims import claim

    source = f"{postgres}#claimed"
    claim(Address.of(source), b"1" * 32)
    where = postgres.partition("@")[2]
    port = where.partition(":")[2]
    before = names(home)
    for text in (
        source,
        f"{postgres}#public.claimed",
        f"postgresql://{where}#claimed",
        f"POSTGRES://somebody@{where}#claimed",
        f"postgres://localhost:{port}#claimed",
        f"postgres://[::1]:{port}#claimed",
        f"postgres://{where.replace('postgres', 'postgre%73')}#claimed",
    ):
        found = line(run, which, text)
        assert (found.code, found.out) == (2, ""), text
        assert found.err.startswith("E207 postgres#public.claimed "), (text, found.err)
    for text in (f"{postgres}/x#claimed", f"{postgres}/#claimed", postgres, f"{postgres}?user=x#claimed"):
        assert line(run, which, text).err.startswith("E114 "), text
    assert names(home) == before


@pytest.fixture
def people(home: Path, postgres: str, request: pytest.FixtureRequest) -> str:
    """The confidential table in PostgreSQL, one for each test."""
    return engines.write_postgres(pyarrow.csv.read_csv(home / "people.csv"), postgres, request.node.name)


def test_a_table_of_postgresql_is_released(home: Path, run: Program, people: str) -> None:
    """From the check to the second release, as a curator would."""
    assert "400 records" in run("check", "people.yaml", "--public", people).out
    (home / "safe").mkdir()
    before = names(home)
    assert last(release(run, people)) == "E115"
    key = ("--dataset-key", "safe/people.key")
    assert last(release(run, people + "x", *key)) == "E108"
    assert last(release(run, people.replace("postgres#", "postgrez#"), *key)) == "E106"
    assert names(home) == before, "nothing is made for a mistyped address"
    first = release(run, people, *key)
    assert first.code == 0, first.err
    assert "A ledger was begun: l. 30 may be spent on postgres#public." in first.out
    assert {path.suffix[:12] for path in (home / "safe").iterdir()} == {".key", ".lock", ".transcript-"}
    second = release(run, people, *key, out="b")
    assert second.code == 0 and "A ledger was begun" not in second.out
    shown = run("ledger", "show", "l").out
    assert shown.count(" released ") == 2 and f"Opened for postgres#public.{people.partition('#')[2]}." in shown
    assert "127.0.0.1" not in shown and "tester" not in shown
    assert run("check", "people.yaml", "--public", people).err.startswith("E207 ")
    for other in (("--dataset-key", "safe/other.key"), ("--dataset-key", "other.key")):
        found = release(run, people, *other, ledger="other.ledger", out="c")
        assert (found.code, found.err.splitlines()[-1][:4]) == (4, "E316")
    assert last(release(run, people, *key, ledger="typo.ledger", out="c")) == "E316"
    left = names(home) - before
    assert not [name for name in left if "other" in name or "typo" in name or name == "c"]
    assert release(run, people, *key, out="c").code == 0
    assert last(release(run, people, *key, out="d")) == "E301"
    assert run("verify", "bundle").code == 0
    for name in ("bundle", "b"):
        for path in (home / name).iterdir():
            content = path.read_bytes()
            assert b"127.0.0.1" not in content and b"tester@" not in content


def test_a_ledger_is_opened_for_a_table(home: Path, run: Program, people: str) -> None:
    opened = run("ledger", "new", "l", "--data", people, "--cap", "10", "--dataset-key", "k")
    assert opened.code == 0, opened.err
    assert "is confidential: commands for public data refuse it" in " ".join(opened.out.split())
    assert run("check", "people.yaml", "--public", people).err.startswith("E207 ")
    assert run("ledger", "new", "m", "--data", people, "--cap", "1", "--dataset-key", "n").err.startswith(
        "E316 "
    )
    assert run("ledger", "new", "m", "--data", people, "--cap", "1", "--dataset-key", "k").err.startswith(
        "E316 "
    )
    assert release(run, people, "--dataset-key", "k", ledger="l").code == 0
    again = run("ledger", "new", "m", "--data", people, "--cap", "10", "--dataset-key", "k", "--again")
    assert again.code == 0 and "Earlier ledgers of this data had spent 9.369649" in again.out
    assert last(release(run, people, "--dataset-key", "k", ledger="l", out="b")) == "E316"


def test_the_environment_does_not_say_where_a_table_is(
    home: Path, run: Program, people: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGHOST": "192.0.2.1", "PGHOSTADDR": "192.0.2.1", "PGPORT": "1", "PGDATABASE": "template1",
        "PGUSER": "x",
        "PGSERVICE": "x", "PGSERVICEFILE": "/nowhere", "PGOPTIONS": "-c search_path=x", "PGPASSWORD": "secret",
        "PGTARGETSESSIONATTRS": "standby", "PGTZ": "x", "PGCLIENTENCODING": "LATIN1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    found = run("check", "people.yaml", "--public", people)
    assert found.code == 0, found.err
    assert os.environ["PGHOSTADDR"] == "192.0.2.1", "what others set stays"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: text.replace("age", "agee", 1), "E110"),
        (lambda text: text + "30,true\n", "E104"),
        (lambda text: text.replace("7,true", "7,true,3", 1), "E130"),
        (lambda text: "age,is_female\n", "E103"),
    ],
)
@pytest.mark.parametrize("spent", [False, True])
def test_a_bad_source_leaves_nothing_behind(
    home: Path, run: Program, change: Any, code: str, spent: bool
) -> None:
    """Neither key nor ledger nor claim, so a public file that was named by mistake stays public."""
    if spent:
        assert release(run, "people.csv").code == 0
    data = home / ("people.csv" if spent else "public.csv")
    content = data.read_text()
    data.write_text(change(content))
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    found = release(run, data.name, out="second")
    assert found.err.splitlines()[-1].startswith(code), found.err
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    data.write_text(content)
    assert run("check", "people.yaml", "--public", "public.csv").code == 0


def test_the_ledger_of_other_data_is_refused_before_anything_is_read_or_made(
    home: Path, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert release(run, "people.csv").code == 0
    before = names(home)
    monkeypatch.setattr(running, "read", lambda *_: pytest.fail("read"))
    assert last(release(run, "public.csv", out="b")) == "E315"
    assert last(release(run, "people.csv", ledger="typo.ledger", out="b")) == "E316"
    assert last(release(run, "public.csv", ledger="none/x.ledger", out="b")) == "E314"
    assert last(release(run, "people.csv", "--dataset-key", "k", out="b")) == "E116"
    (home / "l").rename(home / "away")
    assert last(release(run, "people.csv", out="b")) == "E314"
    (home / "away").rename(home / "l")
    assert names(home) == before


def test_the_key_and_ledger_of_another_table_claim_nothing(
    home: Path, run: Program, people: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = engines.write_postgres(
        pyarrow.csv.read_csv(home / "public.csv"), people.partition("#")[0], "other_people"
    )
    given = ("--dataset-key", "k")
    assert release(run, people, *given).code == 0
    assert last(release(run, other, *given, out="b")) == "E315"
    assert last(run("ledger", "new", "m", "--data", other, "--cap", "1", *given, "--again")) == "E315"
    monkeypatch.setattr("facsimile.release.opening.refuse_other_key", lambda *_: None)
    assert last(release(run, other, *given, out="b")) == "E315", "and the tag says so too"
    assert run("check", "people.yaml", "--public", other).code == 0, "it is still public"
    assert len(list((home / "state").glob("*.claim"))) == 1


def test_a_view_of_a_public_database_reads_no_other_file(home: Path, run: Program) -> None:
    import duckdb

    with duckdb.connect(str(home / "public.duckdb")) as made:
        made.execute(f"CREATE VIEW people AS SELECT * FROM read_csv('{home}/people.csv')").fetchall()
    assert run("ledger", "new", "l", "--data", "people.csv", "--cap", "1").code == 0
    assert last(run("check", "people.yaml", "--public", "public.duckdb#people")) == "E106"


def test_without_budget_nothing_is_read(home: Path, run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("ledger", "new", "l", "--data", "people.csv", "--cap", "1").code == 0
    monkeypatch.setattr(running, "read", lambda *_: pytest.fail("read"))
    monkeypatch.setattr("facsimile.release.opening.dataset_tag", lambda *_: pytest.fail("hashed"))
    found = release(run, "people.csv")
    assert (found.code, found.err.splitlines()[-1][:4]) == (3, "E301")


def test_what_a_folder_is_refused_for_before_spark_is_asked(home: Path, run: Program) -> None:
    folder = home / "parts"
    folder.mkdir()
    (folder / "part-0.parquet").write_bytes(b"x")
    before = names(home)
    source = f"spark://local{folder}"
    assert last(release(run, source)) == "E115"
    assert last(release(run, source, "--dataset-key", folder / "k")) == "E116"
    assert last(release(run, source, "--dataset-key", "k", out="parts/bundle")) == "E402"
    assert names(home) == before


@engines.on_spark
def test_a_folder_that_spark_reads_is_released(home: Path, run: Program) -> None:
    table = pyarrow.csv.read_csv(home / "people.csv")
    folder = home / "parts"
    folder.mkdir()
    for place in range(2):
        engines.write_parquet(table.slice(200 * place, 200), folder / f"part-{place}.parquet")
    source = f"spark://local{folder}"
    assert "400 records" in run("check", "people.yaml", "--public", source).out
    key = ("--dataset-key", "people.key")
    assert release(run, source, *key).code == 0
    assert release(run, source + "/", *key, out="second").code == 0
    for public in (source + "/", str(folder / "part-0.parquet"), f"spark://local{folder}/part-1.parquet"):
        assert run("check", "people.yaml", "--public", public).err.startswith("E207 "), public
    part = release(run, folder / "part-0.parquet", ledger="other.ledger", out="c")
    assert part.err.splitlines()[-1].startswith("E316 ")
    file = f"spark://local{home}/people.csv"
    assert release(run, file, ledger="file.ledger", out="d").code == 0
    assert (home / "people.csv.key").exists(), "a file that Spark reads is a file"


def taken(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every way to give a value to every command, the value left out."""
    for name, other in getattr(command, "commands", {}).items():
        yield from taken(other, (*words, name))
    for parameter in command.params:
        if not getattr(parameter, "is_flag", False):
            yield (*words, "") if parameter.param_type_name == "argument" else (*words, parameter.opts[0], "")


LOGINS = (
    "postgres://me:5esame@host/registry#births",
    "PostgreSQL://:5esame@host/registry",
    "postgres://me:a/5esame#@host/registry#births",
    "postgres://me@host/registry?password=5esame#births",
    "spark://me:5esame@host:7077/data",
    "tcp://me:5esame@host:8786",
    "--data=postgres://me:5esame@host/registry#births",
)


def test_no_option_of_any_command_takes_a_password(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every user of a machine can read its command lines: refused before it is parsed, and not repeated."""
    ways = list(taken(typer.main.get_command(program.app)))
    assert {*LINES} <= {(words[0], words[-2].lstrip("-")) for words in ways if len(words) > 2}
    monkeypatch.setattr(program, "_whole", lambda: pytest.fail("it was parsed"))
    for words, login in product(ways, LOGINS):
        found = run(*words[:-1], login)
        assert found.code == 2 and "E004" in found.err and "5esame" not in found.out + found.err


@pytest.mark.parametrize(
    "address",
    [
        "postgres://me@host:5432/registry#births",
        "postgres://me:@host/registry#births",
        "spark://host:7077/data/a@b:c",
        "C:/data/births.csv",
        "tcp://host:8786",
        "a:b@c.csv",
    ],
)
def test_an_address_without_a_password_is_none(address: str) -> None:
    refuse_passwords(["check", "release.yaml", "--public", address, f"--data={address}"])


def test_jobs_of_the_workbench_are_started_without_a_login(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "release.yaml", Address.of("postgres://me:5esame@host/registry#births"))
    seen: Any = SimpleNamespace(digest="0" * 64)
    started = (
        trying.explore_words(bench, seen, {}),
        trying.draft_words(bench, {}),
        trying.rehearse_words(bench, "1", "out"),
    )
    for words in started:
        refuse_passwords(words)
        assert "5esame" not in " ".join(words) and "postgres://host:5432/registry#public.births" in words


STARTS = re.compile(
    r"\b(subprocess|webbrowser)\.(?!list2)\w+\(|\b(os|pty|asyncio)\.(exec|spawn|posix_spawn|system|popen|create_sub|startf)"
)


def test_every_place_that_starts_a_program_is_known() -> None:
    """Each was read for what it puts into a command line: one more is to be read, too."""
    found = [(path, match[0]) for path, text in sources().items() for match in STARTS.finditer(text)]
    assert found == [("cli/workbench.py", "webbrowser.open("), ("workbench/jobs.py", "subprocess.Popen(")]

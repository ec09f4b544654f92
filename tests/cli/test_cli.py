"""The command line: what people see, what machines read, and how it fails."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import typer
import yaml

from conftest import ROOT
from facsimile import __version__, cli
from facsimile.cli import program
from facsimile.spec.load import dump, schema, validated
from programs import Program, Ran
from releases import specification, write_data
from specs import changed, small

FAMILIES = {"privbayes": 1440, "mwem": 432, "pep": 1296, "dpctgan": 2304, "patectgan": 768}
RAW = "age,is_female\n3,true\n17,false\n18,\n40,true\n64,false\n65,true\n90,true\n90,false\n"


@pytest.fixture
def small_spec(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(dump(small()), encoding="utf-8")
    return path


def test_version(run: Program) -> None:
    assert run("--version") == Ran(0, f"facsimile {__version__}\n", "")


def test_without_a_command_it_explains_itself(run: Program) -> None:
    found = run()
    assert found.code == 0
    assert "check" in found.out
    assert "schema" in found.out


def commands() -> list[str]:
    return sorted(typer.main.get_command(program.app).commands)  # type: ignore[attr-defined]


def test_ledger_without_a_command_explains_itself_too(run: Program) -> None:
    found = run("ledger")
    assert found.code == 0
    assert "Commands:" in found.out and "\n  new " in found.out
    assert found.err == ""


@pytest.mark.parametrize("command", [(), *((name,) for name in commands())])
def test_help_has_an_example(run: Program, command: tuple[str, ...]) -> None:
    found = run(*command, "--help")
    assert found.code == 0
    assert f"Example: facsimile {' '.join(command)}".rstrip() in found.out


def test_check_for_people(run: Program, births: Path) -> None:
    found = run("check", births / "release.yaml")
    assert (found.code, found.err) == (0, "")
    rows = {tuple(line.split()[:2]) for line in found.out.splitlines() if line.strip()}
    for family, count in FAMILIES.items():
        assert (family, f"{count:,}") in rows
    assert ("total", "9.98") in rows
    assert "1.421" in found.out
    assert "smallest one-way count 50" in found.out


@pytest.mark.parametrize("name", ["release.yaml", "released.yaml", "nvss.yaml"])
def test_no_line_of_a_check_is_wide_or_ragged(run: Program, births: Path, name: str) -> None:
    for line in run("check", births / name).out.splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


@pytest.mark.parametrize("width", [80, 120])
def test_notes_do_not_wrap_on_a_terminal(
    births: Path, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys, "argv", ["facsimile", "check", str(births / "release.yaml")])
    with pytest.raises(SystemExit):
        cli.main()
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(len(line) for line in out.splitlines()) <= width
    for whole in ("needs budget.delta: left out", "smallest one-way count 50", "2(U − L)/n"):
        assert whole in out


def test_check_for_machines(run: Program, births: Path) -> None:
    found = run("check", births / "release.yaml", "--json")
    assert (found.code, found.err) == (0, "")
    data = found.json
    by_family = {f["family"]: f["configurations"] for f in data["configurations"]["by_family"]}
    assert by_family == FAMILIES
    assert data["configurations"]["total"] == sum(FAMILIES.values())
    assert data["configurations"]["pure"] == 1440 + 432 + 1296
    assert (data["budget"]["total"], data["budget"]["declared"]) == ("9.98", "9.98")
    tested = {c["name"]: c["tested_at"] for c in data["criteria"]}
    assert tested["marginals-relative"] == pytest.approx(1.42, abs=0.005)
    assert data["public"] is None
    assert all(c["source"] and c["threshold_source"].startswith(("Stake", "Primary")) for c in data["criteria"])


def test_check_with_a_public_file(run: Program, small_spec: Path, tmp_path: Path) -> None:
    public = tmp_path / "people.csv"
    public.write_text(RAW, encoding="utf-8")
    people, machines = (run("check", small_spec, "--public", public, *more) for more in ((), ("--json",)))
    assert (people.code, machines.code) == (0, 0)
    assert machines.json["public"] == {
        "n": 8, "distinct_rows": 7, "smallest_one_way": {"age": 2, "sex": 1}, "smallest_group": {"age": 2},
        "means": [],
    }  # fmt: skip
    assert "8 records, 7 distinct rows." in people.out
    assert "scaled to the declared number of records" in people.out
    assert "bins' numbers" not in people.out


@pytest.mark.parametrize(("threshold", "far"), [("20", False), ("2", True)])
def test_check_tells_how_far_means_of_numbers_are_from_those_of_values(
    run: Program, tmp_path: Path, threshold: str, far: bool
) -> None:
    spec, public = tmp_path / "means.yaml", tmp_path / "people.csv"
    data = changed("criteria", [{"criterion": "mean", "of": "age", "threshold": threshold, "epsilon": "1"}])
    spec.write_text(dump(validated(data)), encoding="utf-8")
    public.write_text("age,is_female\n3,0\n17,1\n40,1\n90,1\n", encoding="utf-8")
    people, machines = (run("check", spec, "--public", public, *more) for more in ((), ("--json",)))
    assert machines.json["public"]["means"] == [
        {
            "criterion": "mean-age", "group": "all records", "raw": 37.5, "numbers": 33.875,
            "difference": 3.625,
            "alternative": "coarse", "far": far,
        }
    ]  # fmt: skip
    assert re.search(r"mean-age +all records +37.5 +33.875 +3.62" + far * " +far", people.out)
    assert ("more than a third of the threshold" in people.out) is far


@pytest.mark.parametrize("as_json", [False, True])
def test_a_refusal_is_one_line_with_a_code_and_a_next_step(run: Program, tmp_path: Path, as_json: bool) -> None:
    found = run("check", tmp_path / "none.yaml", *["--json"] * as_json)
    assert found.code == 2
    if as_json:
        assert found.err == ""
        assert found.json == {
            "error": {
                "code": "E212",
                "message": "The file none.yaml does not exist or cannot be read.",
                "next": "Check its path and your permissions.",
            }
        }
    else:
        assert found == Ran(
            2,
            "",
            "E212 The file none.yaml does not exist or cannot be read. Check its path and your permissions.\n",
        )


def test_a_refused_specification_names_its_line(run: Program, births: Path, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    text = (births / "release.yaml").read_text(encoding="utf-8").replace("epsilon: 0.43", "epsilon: -1")
    path.write_text(text, encoding="utf-8")
    line = 1 + next(i for i, words in enumerate(text.splitlines()) if "epsilon: -1" in words)
    assert run("check", path).err.startswith(f"E201 line {line}: ")
    assert run("check", path, "--json").json["error"]["line"] == line


def test_a_refused_public_file_shows_no_value(run: Program, small_spec: Path, tmp_path: Path) -> None:
    public = tmp_path / "people.csv"
    public.write_text(RAW.replace("40", "sentinel-value"), encoding="utf-8")
    found = run("check", small_spec, "--public", public)
    assert found.code == 2
    assert found.err.startswith("E140 Column age ")
    assert "sentinel" not in found.err + found.out
    assert str(tmp_path) not in found.err + found.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chek",), "No such command"),
        (("check",), "Missing argument"),
        (("check", "x.yaml", "--nothing"), "No such option"),
        (("--nothing",), "No such option"),
        (("check", "x.yaml", "--public"), "requires an argument"),
        (("check", "x.yaml", "y.yaml"), "unexpected extra argument"),
    ],
)
def test_a_wrong_command_is_refused_like_anything_else(
    run: Program, arguments: tuple[str, ...], words: str
) -> None:
    found = run(*arguments)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("E001 ")
    assert words in found.err
    assert found.err.count("\n") == 1
    assert "--help`." in found.err
    assert run(*arguments, "--json").code == 2


@pytest.mark.parametrize("as_json", [False, True])
def test_an_internal_error_says_nothing(
    run: Program, births: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("sentinel-value")

    monkeypatch.setattr("facsimile.release.check.check", fail)
    found = run("check", births / "release.yaml", *["--json"] * as_json)
    assert found.code == 1
    assert "E700" in (found.out if as_json else found.err)
    assert "sentinel" not in found.out + found.err
    assert "Traceback" not in found.out + found.err


def test_an_interruption_ends_with_130(run: Program, births: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("facsimile.release.check.load", interrupt)
    assert run("check", births / "release.yaml") == Ran(130, "", "Stopped.\n")


def test_words_of_a_specification_are_not_markup(run: Program, tmp_path: Path) -> None:
    path = tmp_path / "markup.yaml"
    title = "Stays [/bold] of [red]2023[/red] :smile:"
    data = changed("title", title)
    data["columns"][1]["map"] = {"true": "F", "false": "M"}
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    found = run("check", path)
    assert found.code == 0
    assert found.out.splitlines()[0] == title


def test_the_schema_is_a_json_schema(run: Program, births: Path) -> None:
    found = run("schema")
    assert found.code == 0
    assert found.json == schema()
    jsonschema.Draft202012Validator.check_schema(found.json)


def test_output_is_utf8_wherever_it_goes(births: Path, tmp_path: Path) -> None:
    """A console of another encoding (Windows, a bare container) must not stop a check."""
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-c", "from facsimile.cli import main; main()", "check"]
    command.append(str(births / "release.yaml"))
    found = subprocess.run(command, env=environment, capture_output=True, check=False, cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, b"")
    assert "2(U − L)/n" in found.stdout.decode("utf-8")


def test_a_closed_pipe_is_no_internal_error(births: Path) -> None:
    command = [sys.executable, "-c", "from facsimile.cli import main; main()", "schema"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert isinstance(process.stdout, io.BufferedReader)
        assert process.stderr is not None
        process.stdout.close()
        assert b"E700" not in process.stderr.read()


def test_help_and_version_import_nothing_heavy() -> None:
    """What takes seconds to import is imported by the command that needs it."""
    heavy = "('numpy', 'scipy', 'pydantic', 'ibis', 'duckdb', 'pyarrow', 'opendp', 'rich', 'yaml', 'jinja2')"
    text = f"import sys, facsimile.cli.program; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def written_nowhere(*arguments: object, out: str) -> subprocess.CompletedProcess[str]:
    """A command whose standard output goes to a full disk, or to a reader that has left."""
    command = [sys.executable, "-c", "from facsimile.cli import main; main()", *map(str, arguments)]
    if out == "full":
        with Path("/dev/full").open("w") as full:
            return subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("as_json", [False, True])
def test_a_release_stands_whether_it_can_be_told_or_not(tmp_path: Path, as_json: bool) -> None:
    """Once it ended in E700, and a curator who tried again paid again."""
    data, spec = write_data(tmp_path), tmp_path / "people.yaml"
    spec.write_text(yaml.safe_dump(specification().model_dump(mode="json", exclude_none=True)))
    files = ("--data", data, "--ledger", tmp_path / "l", "--out", tmp_path / "bundle", *["--json"] * as_json)
    found = written_nowhere("release", spec, *files, out="full")
    assert found.returncode == 0, found.stderr
    assert found.stderr.splitlines()[-1].startswith("The release is made and stands in ")
    assert (tmp_path / "bundle" / "README.html").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_words_that_cannot_be_printed_are_no_internal_error(births: Path) -> None:
    full = written_nowhere("check", births / "release.yaml", out="full")
    assert (full.returncode, full.stderr[:5]) == (2, "E406 ")
    assert "Traceback" not in full.stderr and full.stderr.count("\n") == 1
    left = written_nowhere("check", births / "release.yaml", out="closed")
    assert (left.returncode, left.stderr) == (0, "")


def test_ctrl_c_while_the_program_is_imported_stops_quietly(
    run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "facsimile.cli.program":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "facsimile.cli.program")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    assert run("schema") == Ran(130, "", "Stopped.\n")


def test_the_program_is_put_together_once(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("--version").code == 0
    monkeypatch.setattr(typer.main, "get_command", None)
    assert run("--version").code == run("schema").code == 0

"""The documents are true: every key, command, option and error is explained, and every example runs."""

import importlib
import json
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import typer
import yaml

import facsimile
import facsimile.spec
from conftest import EXAMPLES, ROOT
from facsimile import __version__, cli, errors
from facsimile.cli import program as commands
from facsimile.errors import CATALOGUE, FacsimileError
from facsimile.explore import design
from facsimile.release.check import check
from facsimile.spec.families import FAMILIES
from facsimile.spec.load import loads, parse, schema, validated
from facsimile.spec.model import Model
from programs import Program, Ran, environment

DOCS = ROOT / "docs"
FRONT = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "src/facsimile/privacy/README.md")
PAGES = [*(ROOT / name for name in FRONT), *sorted(DOCS.rglob("*.md"))]
SPECIFICATIONS = [
    path for path in sorted(EXAMPLES.rglob("*.yaml")) if "\nfacsimile: 1\n" in f"\n{path.read_text('utf-8')}"
]
LOCKS = sorted(ROOT.glob("requirements*.lock"))
SKIPPED = "…"


@cache
def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, kind: str) -> list[str]:
    """The fenced blocks of a kind: the whole line after the fence counts."""
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def rows(text: str) -> Iterator[list[str]]:
    """The rows of every table, cell by cell."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("| ").split(" | ")]


# --- the specification language


def models() -> list[type[Model]]:
    for module in pkgutil.iter_modules(facsimile.spec.__path__, "facsimile.spec."):
        importlib.import_module(module.name)
    found, fresh = set[type[Model]](), {Model}
    while fresh:
        fresh = {child for model in fresh for child in model.__subclasses__()} - found
        found |= fresh
    return sorted(
        (model for model in found if model.__module__.startswith("facsimile.spec")), key=lambda m: m.__name__
    )


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_key_of_a_specification_is_explained(model: type[Model]) -> None:
    text = page("docs/specification.md")
    for name in model.model_fields:
        assert f"`{name}`" in text, f"{model.__name__}.{name} is not in the page"


def choices(node: Any) -> Iterator[str]:
    """Every word that the schema lists as a possible value."""
    if isinstance(node, Mapping):
        yield from (
            str(value) for value in [*node.get("enum", []), *([node["const"]] if "const" in node else [])]
        )
        for child in node.values():
            yield from choices(child)
    elif isinstance(node, list):
        for child in node:
            yield from choices(child)


def test_every_choice_and_hyperparameter_is_explained() -> None:
    text = page("docs/specification.md")
    hyperparameters = {name for family in FAMILIES.values() for name in family.hyperparameters}
    for word in {*choices(schema()), *FAMILIES, *hyperparameters} - {"1"}:
        assert f"`{word}`" in text, word


def test_the_page_of_the_specification_is_a_specification() -> None:
    text = page("docs/specification.md")
    whole = "".join(blocks(text, "yaml"))
    found = check(loads(whole))
    assert all(line.scale is not None for line in found.noise), "the example plans everything it needs"
    variants = blocks(text, "yaml variant")
    assert variants
    data, _ = parse(whole)
    for variant in variants:
        changed, _ = parse(variant)
        check(validated(data | changed))


def test_excerpts_of_the_births_specification_are_its_words() -> None:
    births = (EXAMPLES / "births" / "paper.yaml").read_text(encoding="utf-8")
    excerpts = [block for path in PAGES for block in blocks(path.read_text("utf-8"), "yaml births")]
    assert len(excerpts) > 2
    for excerpt in excerpts:
        assert excerpt in births


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda path: path.name)
def test_the_schema_describes_the_examples(path: Path) -> None:
    """As an editor reads them: with YAML's own numbers and truth values."""
    plain = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))
    jsonschema.Draft202012Validator(schema()).validate(plain)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(plain | {"colour": "red"})


def test_the_schema_describes_the_page_with_its_short_forms() -> None:
    whole = "".join(blocks(page("docs/specification.md"), "yaml"))
    assert "labels:" in whole and ": each\n" in whole
    plain = json.loads(json.dumps(yaml.safe_load(whole), default=str))
    jsonschema.Draft202012Validator(schema()).validate(plain)
    assert any("labels:" in path.read_text("utf-8") for path in SPECIFICATIONS), "an example has them too"


# --- commands


def test_every_command_and_option_is_explained() -> None:
    text = page("docs/commands.md")
    program: Any = typer.main.get_command(commands.app)
    for option in ("--help", *(name for parameter in program.params for name in parameter.opts)):
        assert f"`{option}`" in text
    for name, command in program.commands.items():
        section = re.search(rf"^## facsimile {name}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
        assert section, f"docs/commands.md has no section on {name}"
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    assert re.search(rf"`{option}( [A-Z]+)?`", section[1]), f"{name} {option}"
        assert "Exit code" in section[1]
        assert f"facsimile {name}" in "".join([*blocks(section[1], "sh"), *blocks(section[1], "console")])
    headed = set(re.findall(r"^## facsimile (\S+)", text, re.MULTILINE))
    assert headed == set(program.commands)


def test_every_name_of_the_package_and_parameter_is_explained() -> None:
    sections = dict(
        re.findall(r"^### facsimile\.(\w+)\n(.*?)(?=^##|\Z)", page("docs/python.md"), re.DOTALL | re.MULTILINE)
    )
    assert {*sections} == {*dir(facsimile)} - {"FacsimileError", "__version__"}
    assert "`facsimile.FacsimileError`" in page("docs/python.md")
    for name, section in sections.items():
        parameters = () if name == "Fitted" else signature(getattr(facsimile, name)).parameters
        for parameter in parameters:
            told = re.search(rf"`{parameter}(?:=\w+)?`|\({parameter}[,)=]|, {parameter}[,)=]", section)
            assert told, f"{name}: {parameter}"


@dataclass(frozen=True)
class Playground:
    """A copy of the examples, after the demonstration ran in it, and what each of its commands printed."""

    folder: Path
    shown: dict[str, str]


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Playground:
    folder = tmp_path_factory.mktemp("playground")
    shutil.copytree(EXAMPLES, folder / "examples")
    demo = [sys.executable, "examples/births/demo.py"]
    found = subprocess.run(demo, cwd=folder, capture_output=True, text=True, check=False, env=environment())
    assert found.returncode == 0, found.stderr
    assert (folder / "demo").is_dir()
    shown = (part.partition("\n") for part in re.split(r"^\$ ", found.stdout, flags=re.MULTILINE)[1:])
    return Playground(folder, {command: printed for command, _, printed in shown})


def examples() -> list[tuple[str, str, str]]:
    """Every `facsimile …` line of a document, with the output shown under it, and every piece of Python."""
    found = []
    for path in PAGES:
        if path.name.startswith("tutorial-"):  # test_tutorials.py walks those
            continue
        text = path.read_text(encoding="utf-8")
        for block in (
            [] if path.name == "README.md" else blocks(text, "sh")
        ):  # journeys/test_readme.py walks those
            found += [(path.name, line, "") for line in block.splitlines() if line.startswith("facsimile ")]
        for block in blocks(text, "console"):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                found.append((path.name, command, shown))
        found += [(path.name, f"python -c {shlex.quote(block)}", "") for block in blocks(text, "python")]
    return found


@pytest.mark.parametrize(("source", "command", "shown"), examples())
def test_every_example_runs(
    playground: Playground,
    source: str,
    command: str,
    shown: str,
    run: Program,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process, which saves the start of a program, unless a shell or the demonstration ran it.

    A design meets fewer candidates than elsewhere: 32 tables as large as that of the births take long.
    """
    monkeypatch.setattr(design, "CHOOSING", 2)
    monkeypatch.setattr(design, "FRESH", 2)
    name, *arguments = shlex.split(command)
    if command in playground.shown:
        found = Ran(0, playground.shown[command], "")
    elif name == "facsimile" and not set(command) & set("|>&;"):
        monkeypatch.chdir(playground.folder)
        found = run(*arguments)
    elif name == "python":
        monkeypatch.chdir(playground.folder)
        exec(compile(arguments[1], source, "exec"), {"__name__": "__main__"})
        found = Ran(0, *capsys.readouterr())
    else:
        found = started(command, playground.folder)
    assert found.code == 0, f"{source}: {found.err}"
    assert found.complaints == ""
    pieces = [piece.strip("\n") for piece in re.split(rf"^{SKIPPED}$", shown, flags=re.MULTILINE)]
    place = 0
    for piece in pieces:
        assert piece in found.out[place:], f"{source} shows something else than `{command}` prints"
        place = found.out.index(piece, place) + len(piece)


def started(command: str, folder: Path) -> Ran:
    """What a shell does with a command."""
    found = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
        encoding="utf-8",
    )
    return Ran(found.returncode, found.stdout, found.stderr)


def test_the_demonstration_is_the_documented_one(playground: Playground) -> None:
    assert "facsimile demo --out demo/releases" in playground.shown
    for name in ("paper", "ours"):
        assert (playground.folder / "demo" / "releases" / name / "README.html").exists()


def test_there_are_examples() -> None:
    assert len(examples()) >= 6
    assert {source for source, _, _ in examples()} >= {"README.md", "commands.md", "specification.md"}


# --- errors


def test_the_table_of_errors_is_the_catalogue() -> None:
    written = {
        cells[0]: cells[1:] for cells in rows(page("docs/errors.md")) if re.fullmatch(r"E\d{3}", cells[0])
    }
    for code, entry in CATALOGUE.items():
        row = f"| {code} | {entry.sentence} | {entry.next_step} |"
        assert written.get(code) == [entry.sentence, entry.next_step], f"docs/errors.md needs the row\n{row}"
    assert set(written) == set(CATALOGUE)
    assert list(written) == sorted(written)


def test_the_exit_codes_are_those_of_the_tree() -> None:
    written = {int(cells[0]) for cells in rows(page("docs/errors.md")) if cells[0].isdigit()}
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, FacsimileError)
    ]
    assert written == {0, cli.STOPPED, *(kind.exit_code for kind in kinds)}


# --- design


def folders() -> list[tuple[str, bool]]:
    """The folders of docs/design.md in their order, and whether they are there today."""
    section = page("docs/design.md").split("## Folders")[1].split("\n## ")[0]
    return [(cells[0].strip("`"), cells[2] == "yes") for cells in rows(section) if cells[0].startswith("`")]


def test_the_order_of_folders_is_the_import_contract() -> None:
    contracts = tomllib.loads(page("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert [name for name, today in folders() if today] == layers[::-1]


def test_every_folder_has_a_place_in_the_design() -> None:
    source = ROOT / "src" / "facsimile"
    parts = {path.stem for path in source.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__", "__main__"} <= {name for name, _ in folders()}
    for name, today in folders():
        assert not today or name in parts


def test_the_nine_rules_are_there() -> None:
    assert [cells[0] for cells in rows(page("docs/design.md")) if re.fullmatch(r"P\d", cells[0])] == [
        f"P{i}" for i in range(1, 10)
    ]


# --- the repository


def test_every_target_of_the_makefile_is_explained() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", page("Makefile"), re.MULTILINE)
    assert phony
    explained = set(re.findall(r"`make ([a-z-]+)`", page("CONTRIBUTING.md")))
    assert explained == set(phony[1].split())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), target


def test_the_version_is_one() -> None:
    assert tomllib.loads(page("pyproject.toml"))["project"]["version"] == __version__
    assert __version__ in page("CHANGELOG.md")


def test_the_picture_is_a_picture() -> None:
    picture = ElementTree.parse(DOCS / "flow.svg").getroot()
    assert picture.tag.endswith("svg")
    assert picture.get("viewBox")


def tracked() -> list[Path]:
    """Every file that is in the repository, or would be with the next commit."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        found = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is not a checkout")
    return [ROOT / name for name in found.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_package_index_or_a_path_of_a_machine() -> None:
    hosts = [r"\.".join(["pypi", "org"]), "python" + "hosted"]
    machine = r"(?<![\w.-])/(?:{})/".format("|".join(["work", "root", "home", "opt"]))
    pattern = re.compile("|".join([*hosts, machine]))
    for path in tracked():
        found = pattern.search(path.read_text(encoding="utf-8", errors="ignore"))
        assert found is None, f"{path.relative_to(ROOT)} holds {found[0] if found else ''}"


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_a_lock_pins_every_package_by_hash_and_names_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pinned = text.replace("\\\n", " ").splitlines()
    assert len(pinned) > 10
    for line in pinned:
        assert re.fullmatch(
            r"[a-z0-9._-]+(\[[a-z0-9,_-]+\])?==[\w.+!-]+( ; [^#@]+?)?( +--hash=sha256:[0-9a-f]{64})+", line
        ), line.split(" ")[0]
    assert "://" not in text
    assert "--index" not in text


def test_the_locks_agree() -> None:
    """What runs in production is what is tested: every pin of requirements.lock is in the others.

    The site reads the program and does not install it: its lock has the same versions of what both need.
    """
    pins = {
        path.name: set(re.findall(r"^([a-z0-9._-]+)==(\S+)", path.read_text("utf-8"), re.MULTILINE))
        for path in LOCKS
    }
    needed = pins["requirements.lock"]
    shared = {name for name, _ in pins.pop("requirements-docs.lock") - needed} & {name for name, _ in needed}
    assert shared == set()
    for name, lock in pins.items():
        assert needed <= lock, name

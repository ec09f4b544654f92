"""What is handed out: a wheel and an sdist, the same bytes each time, that work by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from conftest import EXAMPLES, ROOT
from facsimile import __version__

BUILD = "from flit_core.buildapi import build_sdist, build_wheel; build_sdist('{0}'); build_wheel('{0}')"
NAME = f"facsimile-{__version__}"
WHEEL, SDIST = f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz"


def built(source: Path, out: Path) -> Path:
    """What `make dist` runs, from this folder into that one."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([sys.executable, "-c", BUILD.format(out)], cwd=source, env=environment, check=True)
    return out


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("dist"))


def packed(dist: Path) -> dict[str, set[str]]:
    with zipfile.ZipFile(dist / WHEEL) as wheel, tarfile.open(dist / SDIST) as sdist:
        inside = {name.removeprefix(f"{NAME}/src/") for name in sdist.getnames()}
        return {WHEEL: set(wheel.namelist()), SDIST: inside}


@pytest.mark.parametrize("name", [WHEEL, SDIST])
def test_all_that_the_program_needs_is_inside_and_nothing_else(dist: Path, name: str) -> None:
    inside = packed(dist)[name]
    source = ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in (source / "facsimile").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= inside
    assert "facsimile/privacy/README.md" in inside
    assert any(path.startswith("facsimile/documents/templates/") for path in inside)
    beside = {path.removeprefix(f"{NAME}/") for path in inside - wanted if "dist-info" not in path}
    assert beside <= {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO"}


def test_a_build_from_the_sdist_has_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    """So the wheel does not depend on the checkout, the day or the order of a folder."""
    with tarfile.open(dist / SDIST) as sdist:
        sdist.extractall(tmp_path, filter="data")
    again = built(tmp_path / NAME, tmp_path)
    for name in (WHEEL, SDIST):
        assert (again / name).read_bytes() == (dist / name).read_bytes()


def test_make_dist_builds_the_same_way() -> None:
    recipe = (ROOT / "Makefile").read_text().split("\ndist:")[1].split("\n\n")[0]
    assert "from flit_core.buildapi import build_sdist, build_wheel" in recipe
    assert "SOURCE_DATE_EPOCH" in recipe


def test_it_works_in_an_environment_of_its_own(dist: Path, tmp_path: Path) -> None:
    """The libraries of this environment, facsimile from the wheel, no network, another folder."""
    home = tmp_path / "clean"
    venv.create(home, symlinks=os.name != "nt")
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    python = programs / Path(sys.executable).name
    install = ["-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([sys.executable, *install, str(dist / WHEEL)], check=True)
    packages = next(home.rglob("site-packages"))
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def said(*command: str | Path) -> str:
        ran = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    where = said(python, "-c", "import facsimile; print(facsimile.__file__)")
    assert Path(where).is_relative_to(packages)
    assert said(programs / "facsimile", "--version") == f"facsimile {__version__}"
    assert "declared 9.98" in said(programs / "facsimile", "check", EXAMPLES / "births" / "paper.yaml")

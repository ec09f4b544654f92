import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from facsimile.errors import FacsimileError, SpecRefused
from facsimile.spec.load import dump, load, loads, parse, schema
from specs import small


def refused(work: Callable[[], Any]) -> FacsimileError:
    with pytest.raises(FacsimileError) as caught:
        work()
    return caught.value


@pytest.mark.parametrize("name", ["release", "nvss", "released"])
def test_what_is_written_is_read_back(births: Path, name: str) -> None:
    specification = load(births / f"{name}.yaml")
    assert loads(dump(specification)) == specification
    assert loads(dump(specification)).digest() == specification.digest()


def test_scalars_stay_text() -> None:
    assert parse("a: 0.30\nb: 010\nc: no\nd: true\ne: null\nf: 2014-01-01\ng: 'true'")[0] == {
        "a": "0.30", "b": "010", "c": "no", "d": True, "e": None, "f": "2014-01-01", "g": "true",
    }  # fmt: skip


def test_decimals_are_exact(births: Path) -> None:
    criteria = load(births / "release.yaml").criteria
    assert sum((c.epsilon for c in criteria), Fraction(0)) == Fraction(99, 100)


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("budget.total", "0", "E201"),
        ("budget.total", "-1", "E201"),
        ("budget.total", "nan", "E201"),
        ("budget.total", "inf", "E201"),
        ("budget.total", ".inf", "E201"),
        ("budget.total", True, "E201"),
        ("budget.total", "1e-400", "E201"),
        ("budget.total", None, "E201"),
        ("criteria.0.epsilon", "0", "E201"),
        ("selection", {"mode": "paper", "cap": "10"}, "E204"),
        ("selection", {"mode": "capped-coin", "cap": "10", "epsilon_0": "0.1"}, "E204"),
        ("selection", {"mode": "coin"}, "E204"),
        ("selection", {"mode": "coin", "gamma": "0.1", "a": "0.5"}, "E200"),
        ("selection", {"mode": "rising-coin", "a": "0.001"}, "E204"),
        ("budget", {"total": "5", "generator": "1", "test": "0.1", "delta": "1"}, "E200"),
        ("budget", {"total": "5", "generator": "1", "test": "0.1", "delta": "-0.1"}, "E200"),
        ("budget", {"total": "5", "generator": "1", "test": "0.1", "delta": "nan"}, "E200"),
        ("seed", "7", "E206"),
        ("colour", "red", "E205"),
        ("budget.totl", "3", "E205"),
        ("criteria.0.treshold", "3", "E205"),
        ("columns.0.bound", "3", "E205"),
        ("columns.0.bounds", "auto", "E211"),
        ("neighbours", "add-remove", "E200"),
        ("records.count", "1", "E151"),
        ("title", ..., "E214"),
        ("criteria.0.criterion", "magic", "E213"),
        ("families.0.family", "magic", "E213"),
        ("families.0.grid", {"x": ["1"]}, "E213"),
        ("families.0.grid", {"seed": ["1"]}, "E206"),
        ("budget.seed", "7", "E206"),
        ("families", [], "E200"),
        ("budget.test", ..., "E200"),
        ("scheme", "paper", "E200"),
        ("scheme", "magic", "E213"),
    ],
)
def test_each_refusal_has_its_code(path: str, value: Any, code: str | None) -> None:
    if code is None:
        small(path, value)
    else:
        assert refused(lambda: small(path, value)).code == code


@pytest.mark.parametrize(
    ("key", "near"),
    [("budget.totl", "total"), ("criteria.0.treshold", "threshold"), ("columns.0.alternativ", "alternatives"),
     ("selection.gama", "gamma"), ("colums", "columns"), ("records.cuont", "count"),
     ("columns.1.missing.cod", "code"), ("families.0.exclud", "exclude"),
     ("constraints.raw.0.sorce", "source"), ("projection.mincount", "min_count")],
)  # fmt: skip
def test_an_unknown_key_is_answered_with_the_nearest_known_one(key: str, near: str) -> None:
    error = refused(lambda: small(key, "3"))
    assert (error.code, error.next_step) == ("E205", f"Did you mean {near}?")


def test_errors_name_the_line(births: Path) -> None:
    text = (births / "release.yaml").read_text()
    line = next(i for i, t in enumerate(text.splitlines(), 1) if "threshold: 100" in t)
    error = refused(lambda: loads(text.replace("threshold: 100", "threshold: many")))
    assert (error.code, error.line) == ("E200", line)
    line = next(i for i, t in enumerate(text.splitlines(), 1) if "total: 9.98" in t)
    assert refused(lambda: loads(text.replace("total: 9.98", "total: 0"))).line == line
    assert str(error).startswith("E200 line ")


def test_a_key_given_twice_is_refused() -> None:
    error = refused(lambda: parse("budget:\n  total: 1\n  total: 2\n"))
    assert (error.code, error.line) == ("E202", 3)


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB, "x" * 50_000_000, "a: !!python/object/apply:os.system [ls]", "a: !x 1", "[" * 10_000, "a: [1",
        b"\xff\xfe\x00", "a: 1\n---\nb: 2", "? [a]\n: 1", "a: \x00", "\t- a",
    ],
    ids=range(11),
)  # fmt: skip
def test_what_is_not_plain_yaml_is_refused_at_once(text: str | bytes) -> None:
    content = text.encode() if isinstance(text, str) else text
    start = time.process_time()
    assert refused(lambda: loads(content)).code == "E210"
    assert time.process_time() - start < 0.1


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refused(lambda: load(tmp_path / "none.yaml")).code == "E212"


@pytest.mark.parametrize("text", ["", "a", "[1, 2]", "null", "3"])
def test_a_file_that_is_no_mapping_is_refused(text: str) -> None:
    assert isinstance(refused(lambda: loads(text)), SpecRefused)


@pytest.mark.parametrize("name", ["release", "nvss", "released"])
def test_the_schema_accepts_the_examples(births: Path, name: str) -> None:
    data = yaml.safe_load((births / f"{name}.yaml").read_text())
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(data, schema(), cls=jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data | {"colour": "red"}, schema())

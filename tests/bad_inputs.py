"""Bad inputs: what is given, and the code, the exit code and the line that answer it.

Each is run by tests/test_bad_inputs.py; `python tests/bad_inputs.py` writes the table of docs/errors.md.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

from risk.samples import sample

ROOT = Path(__file__).resolve().parent.parent
LOANS = ROOT / "tests" / "loans" / "release.yaml"
TWELVE = ROOT / "tests" / "loans" / "twelve.yaml"
DISCHARGES = ROOT / "examples" / "discharges" / "release.yaml"
PAGE = ROOT / "docs" / "errors.md"
BEGIN, END = "<!-- bad inputs: begin -->", "<!-- bad inputs: end -->"
SPEC = "The specification"
SENTINEL = "Zaphodine"
NUMBER = "8675309"
HEADER = "age,branch_code,days,note\n"
ROWS = [f"{20 + i},{'NS'[i % 2]},{i % 28},{SENTINEL}\n" for i in range(40)]
GOOD = HEADER + "".join(ROWS)
Arguments = list[object]
Make = Callable[[Path], Arguments]


@dataclass(frozen=True)
class Case:
    """One bad input: how it is made in a folder, the command line, and the answer."""

    group: str
    what: str
    code: str
    exit: int
    make: Make
    line: int | None = None
    several: int = 1
    during: Callable[[Path], AbstractContextManager[Any]] | None = None


def write(path: Path, content: bytes | str) -> Path:
    """A file with this content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- specifications


def text() -> str:
    """The specification that everything here begins with."""
    return LOANS.read_text(encoding="utf-8")


def changed(old: str, new: str) -> tuple[str, int]:
    """The specification with one place changed, and the line of that place."""
    whole = text()
    assert whole.count(old) == 1, old
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return whole.replace(old, new), whole[: whole.index(old) + same].count("\n") + 1


def part(name: str) -> str:
    """The lines of a key at the top of the specification."""
    found = re.search(rf"^{name}:\n(?:[ -].*\n)*", text(), re.MULTILINE)
    assert found
    return found[0]


def item(kind: str) -> str:
    """The lines of a criterion."""
    found = re.search(rf"^  - criterion: {kind}\n(?:    .*\n)*", text(), re.MULTILINE)
    assert found
    return found[0]


def of_text(content: bytes | str) -> Make:
    """`facsimile check` of a text."""
    return lambda folder: ["check", write(folder / "release.yaml", content)]


def wrong(what: str, code: str, old: str, new: str, line: int | None = None) -> Case:
    """A specification with one mistake, in the line that was changed unless another is given."""
    content, place = changed(old, new)
    return Case(SPEC, what, code, 2, of_text(content), line or place)


def broken(what: str, content: bytes | str, code: str = "E210", line: int | None = None) -> Case:
    """A file that is no specification at all."""
    return Case(SPEC, what, code, 2, of_text(content), line)


def listing(what: str, code: str, items: str, at: str) -> Case:
    """A list of configurations with one mistake, in the line that holds these words."""
    content, _ = changed("min_count: [2]\n", f"min_count: [2]\nconfigurations:\n{items}")
    return Case(SPEC, what, code, 2, of_text(content), content[: content.index(at)].count("\n") + 1)


def pick(more: str = "", family: str = "workload", age: str = "fine", chosen: str = "iid") -> str:
    """A good item of such a list, or one with something else in it."""
    settings = f"{{{'sampling' if family == 'workload' else 'theta'}: {chosen}{more}}}"
    return f"  - alternatives: {{age: {age}}}\n    family: {family}\n    hyperparameters: {settings}\n"


def share(where: str) -> str:
    """The criterion of a share."""
    return f"  - criterion: proportion\n    where: {where}\n    threshold: 0.2\n    epsilon: 0.1\n"


def logistic(on: str) -> str:
    """The criterion of a logistic regression, its predictors on the third line."""
    keys = f"on: {on}".replace(", indicators", "\n    indicators")
    head = "  - criterion: logistic-coefficients\n    event: days > 27\n"
    return f"{head}    {keys}\n    threshold: 2\n    epsilon: 0.1\n"


def ratio(*lines: str) -> str:
    """The criterion of a ratio in the paper's form, with more lines."""
    keys = ("statistic: paper", "threshold: 2", "epsilon: 0.01", *lines)
    return "  - criterion: marginals-relative\n" + "".join(f"    {key}\n" for key in keys)


def alone(content: str) -> str:
    """The same specification in the paper's scheme."""
    return content.replace("  test: 0.2\n", "").replace("unit: one loan\n", "unit: one loan\nscheme: paper\n")


def forever() -> str:
    """The same specification with δ and a search that ends with a success only."""
    content = text().replace("  test: 0.2\n", "  test: 0.2\n  delta: 0.000001\n")
    return content.replace("  mode: coin\n  gamma: 0.05\n", "  mode: paper\n")


TOO_WIDE = DISCHARGES.read_text(encoding="utf-8").replace("family: mwem-tables", "family: mwem")
TOO_WIDE_LINE = TOO_WIDE[: TOO_WIDE.index("family: mwem\n")].count("\n") + 1
ANCHORS = "a: &a [x, x]\nb: [*a, *a]\n"
SPECIFICATIONS = [
    broken("an empty file", "", "E200"),
    broken("a list instead of keys", "- a\n- b\n", "E200", 1),
    broken("a file of more than 1 MB", "x" * 1_000_001),
    broken("a text that is not UTF-8", b"title: \xff\xfe"),
    broken("a NUL character", "title: \x00"),
    broken("a bracket that is not closed", "title: [a\n", line=1),
    broken("a tab as indent", "records:\n\tcount: 3\n", line=2),
    broken("an anchor and an alias", ANCHORS, line=1),
    broken("a tag (`!!python/object`)", "title: !!python/object/apply:os.system [ls]\n", line=1),
    broken("two documents in one file", "a: 1\n---\nb: 2\n", line=2),
    broken("brackets 10,000 deep", "a: " + "[" * 10_000),
    broken("more than 20,000 values", "a: [" + "1," * 20_001 + "]", line=1),
    broken("a shorthand for 100,000 bins", "a: [0..99999]", line=1),
    Case(SPEC, "a file that does not exist", "E212", 2, lambda folder: ["check", folder / "none.yaml"]),
    Case(SPEC, "a folder instead of a file", "E212", 2, lambda folder: ["check", folder]),
    Case(SPEC, "twelve mistakes at once", "E200", 2, lambda _: ["check", TWELVE], 7, 12),
    wrong("a key misspelled (`treshold`)", "E205", "threshold: 4\n", "treshold: 4\n"),
    wrong("a key that does not exist (`colour`)", "E205", "unit: one loan\n", "unit: one loan\ncolour: red\n"),
    wrong("a key given twice", "E202", "unit: one loan\n", "unit: one loan\nunit: one loan\n"),
    wrong("a required key left out (`title`)", "E214", "title: Loans of a town library\n", "", 2),
    wrong("a required key left out of a criterion", "E214", "    threshold: 4\n", "", 59),
    wrong("a key without a value", "E200", "title: Loans of a town library\n", "title:\n"),
    wrong("a list as a text", "E200", "algorithm: [paper]", "algorithm: {paper: 1}"),
    wrong("keys as a text", "E200", part("records"), "records: forty\n"),
    wrong("keys as a list", "E200", part("budget"), "budget: [3, 0.8]\n"),
    wrong("a version that does not exist", "E213", "facsimile: 1\n", "facsimile: 2\n"),
    wrong("other neighbours than `replace-one`", "E200", "neighbours: replace-one", "neighbours: add-remove"),
    wrong("a number that is a word", "E200", "count: 40", "count: forty"),
    wrong("one record only", "E151", "count: 40", "count: 1"),
    wrong("ε = 0", "E201", "total: 3", "total: 0"),
    wrong("ε = −1", "E201", "total: 3", "total: -1"),
    wrong("ε = NaN", "E201", "total: 3", "total: nan"),
    wrong("ε = inf", "E201", "total: 3", "total: .inf"),
    wrong("ε = true", "E201", "total: 3", "total: true"),
    wrong("ε = 1e-400", "E201", "total: 3", "total: 1e-400"),
    wrong("ε given twice", "E202", "  total: 3\n", "  total: 3\n  total: 2\n"),
    wrong("parts of the budget above the total", "E203", "total: 3", "total: 2"),
    wrong("δ = 1", "E200", "  test: 0.2\n", "  test: 0.2\n  delta: 1\n"),
    wrong("δ = −1", "E200", "  test: 0.2\n", "  test: 0.2\n  delta: -1\n"),
    Case(SPEC, "δ and a search until it succeeds", "E204", 2, of_text(forever()), 70),
    wrong("a seed under `budget`", "E206", "  test: 0.2\n", "  test: 0.2\n  seed: 7\n"),
    wrong("a seed at the top", "E206", "unit: one loan\n", "unit: one loan\nseed: 7\n"),
    wrong("a cap without a coin", "E204", "  mode: coin\n  gamma: 0.05\n", "  mode: paper\n  cap: 10\n", 71),
    wrong("a coin that never falls (γ = 0)", "E204", "gamma: 0.05", "gamma: 0"),
    wrong(
        "a cap that is too small for its coin", "E204", "  mode: coin\n  gamma: 0.05\n",
        "  mode: capped-coin\n  gamma: 0.05\n  epsilon_0: 0.1\n  cap: 5\n", 73,
    ),
    wrong("a parameter of another mode", "E200", "  gamma: 0.05\n", "  gamma: 0.05\n  a: 0.5\n"),
    wrong("a mode that does not exist", "E213", "mode: coin", "mode: coins"),
    wrong("no `test` where the scheme needs one", "E200", "  test: 0.2\n", "", 72),
    wrong("`bounds: auto`", "E211", "bounds: [0, 60]", "bounds: auto"),
    wrong("bounds of one number", "E200", "bounds: [0, 60]", "bounds: [0]"),
    wrong("a number column without bounds", "E200", "    bounds: [0, 60]\n", "", 28),
    wrong("a bin outside its bounds", "E200", "bounds: [0, 60]", "bounds: [0, 20]"),
    wrong("bins with a gap", "E200", "coarse: [0-13, 14-27, 28-60]", "coarse: [0-13, 15-27, 28-60]"),
    wrong("a bin that cannot be read", "E200", "coarse: [0-13, 14-27, 28-60]", "coarse: [0-13, many, 28-60]"),
    wrong("groups that cut a bin", "E200", "groups: [<18, 18-99]", "groups: [<20, 20-99]"),
    wrong("a column name in capitals", "E200", "name: days", "name: Days"),
    wrong("two columns of one name", "E200", "name: days", "name: age"),
    wrong("a label that begins with =", "E161", "values: [north, south]", "values: [=north, south]"),
    wrong("a category in no bin", "E200", "coarse: [north, south]", "coarse: [north]"),
    wrong("a category that is not listed", "E213", "map: {N: north, S: south}", "map: {N: north, S: suoth}"),
    wrong("an alternative that does not exist", "E213", "    groups: [<", "    use: [corse]\n    groups: [<"),
    wrong("`outside` with a word that is no category", "E213", "outside: clip", "outside: clipp"),
    wrong("a rule about no column", "E213", "never: age > 120", "never: aeg > 120"),
    wrong("a rule that cannot be read", "E200", "never: age > 120", "never: age >"),
    wrong("a rule that orders categories", "E200", "never: age > 120", "never: branch > north"),
    wrong("a rule about a category that does not exist", "E213", "never: age > 120", "never: branch = nort"),
    wrong("a raw rule with `bins: any`", "E200", "so old\n", "so old\n      bins: any\n"),
    wrong("a `clamp` without the policy for it", "E200", "so old\n", "so old\n      clamp: {age: 99}\n"),
    wrong("a family that does not exist", "E213", "family: workload", "family: workloads"),
    Case(SPEC, "a family that cannot hold the domain", "E200", 2, of_text(TOO_WIDE), TOO_WIDE_LINE),
    wrong("a hyperparameter that does not exist", "E213", "theta: [4, 8]", "thta: [4, 8]\n      theta: [4, 8]"),
    wrong("an exclusion about no hyperparameter", "E213", "exclude: [\"theta > 4", "exclude: [\"beta > 4"),
    wrong("an exclusion that leaves nothing", "E200", "theta > 4 and degree > 1", "theta > 0"),
    wrong("families that need δ, without it", "E204", part("families"), "families:\n  - family: dpctgan\n", 43),
    listing("a list of no configurations", "E200", "  []\n", "configurations:"),
    listing("a configuration that is a word", "E200", "  - mst\n", "- mst"),
    listing("a configuration without a family", "E214", "  - alternatives: {age: fine}\n", "- alternatives"),
    listing("a configuration of another family", "E213", pick(family="mst"), "family: mst"),
    listing("a configuration of no column", "E213", pick(age="fine, aeg: fine"), "aeg"),
    listing("a configuration with another alternative", "E213", pick(age="fin"), "age: fin}"),
    listing("a configuration without an alternative", "E200", pick().replace("age: fine", ""), "- alter"),
    listing("a configuration with a value outside the grid", "E213", pick(chosen="idd"), "idd"),
    listing("a configuration with another hyperparameter", "E213", pick(", theta: 4"), "theta: 4}"),
    listing("a configuration without a hyperparameter", "E200", pick("", "privbayes", chosen="4"), "theta: 4}"),
    listing(
        "a configuration that `exclude` rules out", "E200",
        pick(", degree: 2", "privbayes", chosen="8"), "degree: 2}",
    ),
    listing(
        "a configuration with another projection", "E213",
        pick() + "    projection: {algorithm: margins}\n", "algorithm: margins",
    ),
    listing(
        "a configuration with another minimal count", "E213",
        pick() + "    projection: {min_count: 3}\n", "min_count: 3",
    ),
    listing("a key of a configuration misspelled", "E205", pick().replace("hyperp", "hyerp"), "hyerp"),
    listing("a configuration listed twice", "E200", pick() + pick().replace("{age", "{ age"), "{ age"),
    wrong("a minimal count of 0", "E200", "min_count: [2]", "min_count: [0]"),
    wrong("a criterion that is only its name", "E200", item("mean"), "  - mean\n"),
    wrong("a criterion that does not exist", "E213", "criterion: mean", "criterion: median"),
    wrong("a criterion about no column", "E213", "of: days", "of: dayz"),
    wrong("a mean by a column without groups", "E200", "by: [branch]", "by: [days]"),
    wrong("crossed groups of no column", "E213", "by: [branch]", "by: [[branch, aeg]]"),
    wrong("crossed groups of one column", "E200", "by: [branch]", "by: [[branch]]"),
    wrong("a group to fill up to nothing", "E200", "by: [branch]", "by: [branch]\n    fill_to: 0", 62),
    wrong("a share with a condition about no column", "E213", item("query"), share("dayz > 27"), 65),
    wrong("a share with a condition that cannot be read", "E200", item("query"), share("days >"), 65),
    wrong("a regression on no column", "E213", item("query"), logistic("[aeg]"), 66),
    wrong("a regression on a product of three", "E200", item("query"), logistic("[age*age*branch]"), 66),
    wrong("a regression on what it predicts", "E200", item("query"), logistic("[age, days]"), 66),
    wrong("a square of indicators", "E200", item("query"), logistic("[branch*branch]"), 66),
    wrong(
        "an indicator that is no predictor", "E200", item("query"),
        logistic("[age], indicators: [branch]"), 67,
    ),
    wrong("a mean of a column without numbers", "E200", "of: days", "of: branch"),
    wrong("a threshold of 0", "E200", "threshold: 4", "threshold: 0"),
    wrong("a ratio tested above its threshold", "E200", item("query"), ratio("tested_at: 2.5"), 68),
    broken("a ratio that only luck can pass", alone(changed(item("query"), ratio())[0]), "E200", 68),
    wrong(
        "planning with numbers of no column", "E213", "  groups: {branch: 15}",
        "  numbers: {dayz: {mean: 9, deviation: 4}}",
    ),
    wrong("planning with no such column", "E213", "groups: {branch: 15}", "groups: {brunch: 15}"),
    wrong("a source without `by`", "E214", "source: nobody is so old", "source: {why: nobody is so old}"),
    wrong("a source as a list", "E200", "source: nobody is so old", "source: [nobody is so old]"),
    wrong("an empty source", "E200", "    threshold: 4\n", "    threshold: 4\n    source: \" \"\n"),
    wrong(
        "a day that does not exist", "E200", "    threshold: 4\n",
        "    threshold: 4\n    threshold_source: {by: Board, when: 2023-02-29}\n",
    ),
    wrong(
        "a partner who is nobody", "E200", "unit: one loan\n",
        "unit: one loan\ngovernance: {partners: [{}]}\n",
    ),
    wrong(
        "an approval of nothing", "E214", "unit: one loan\n",
        "unit: one loan\ngovernance: {approvals: [{by: Board}]}\n",
    ),
    wrong(
        "a contact that is no address", "E200", "unit: one loan\n",
        "unit: one loan\ngovernance: {contact: me}\n",
    ),
    wrong(
        "a link that is a script", "E200", "unit: one loan\n",
        "unit: one loan\ngovernance: {feedback: \"javascript:alert(1)\"}\n",
    ),
    wrong(
        "two contacts", "E200", "unit: one loan\n",
        "contact: the library\nunit: one loan\ngovernance: {contact: a@library.example}\n", 4,
    ),
    wrong(
        "a DOI with an address before it", "E200", "unit: one loan\n",
        "unit: one loan\npublisher: {name: Library, doi: \"https://doi.org/10.1234/a\"}\n",
    ),
    wrong(
        "a link to a provenance that is not told", "E200", "unit: one loan\n",
        "unit: one loan\npublisher: {name: Library, provenance_link: \"https://library.example/\"}\n",
    ),
]  # fmt: skip


# --- data files


def rows(*extra: str, drop: int = 0) -> str:
    """The data with some rows replaced."""
    return HEADER + "".join(ROWS[: len(ROWS) - len(extra) - drop]) + "".join(extra)


def zipped(content: str) -> bytes:
    """A zip archive with the data in it."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("data.csv", content)
    return memory.getvalue()


def release(folder: Path, *more: object) -> Arguments:
    """A production release of the data in a folder."""
    given = ["release", LOANS, "--data", folder / "data.csv", "--ledger", folder / "budget.ledger"]
    return [*given, "--out", folder / "bundle", *more]


def data(what: str, code: str, content: bytes | str | None, name: str = "data.csv") -> Case:
    """A release of a bad file."""

    def make(folder: Path) -> Arguments:
        if content is not None:
            write(folder / name, content)
        return [folder / name if str(part).endswith("data.csv") else part for part in release(folder)]

    return Case("The data file", what, code, 2, make)


def database(folder: Path) -> Arguments:
    """A database with two tables, and none of them named."""
    path = folder / "data.sqlite"
    with sqlite3.connect(path) as file:
        file.execute("create table a (age int)")
        file.execute("create table b (age int)")
    file.close()
    return ["check", LOANS, "--public", path]


def no_such_table(folder: Path) -> Arguments:
    """A table that the database does not have."""
    *most, path = database(folder)
    return [*most, f"{path}#c"]


def two_files(folder: Path) -> Arguments:
    """Two public files of different sizes."""
    real, synthetic = write(folder / "a.csv", GOOD), folder / "b.csv"
    write(synthetic, "age,branch,days\n" + "18-64,north,0-13\n" * 3)
    return ["evaluate", LOANS, "--real", real, "--synthetic", synthetic, "--public"]


def bomb(folder: Path) -> Arguments:
    """A small file that expands to 300 MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = f"30,N,2,{SENTINEL}\n".encode() * 60_000
    parts = [packer.compress(HEADER.encode()), *(packer.compress(piece) for _ in range(300))]
    return ["check", LOANS, "--public", write(folder / "data.csv.gz", b"".join([*parts, packer.flush()]))]


DATA = [
    data("a file that does not exist", "E101", None),
    data("an empty file", "E102", ""),
    data("a header and no records", "E103", HEADER),
    data("another number of records than declared", "E104", rows(drop=3)),
    data("a spreadsheet (`.xlsx`)", "E105", GOOD, "data.xlsx"),
    data("a Parquet file that is none", "E106", GOOD, "data.parquet"),
    data("an SPSS file that is none", "E106", GOOD, "data.sav"),
    data("a Stata file that is none", "E106", GOOD, "data.dta"),
    data("a compressed file that ends early", "E106", gzip.compress(GOOD.encode())[:-12], "data.csv.gz"),
    Case("The data file", "a database with two tables, none named", "E107", 2, database),
    Case("The data file", "a table that the database lacks", "E108", 2, no_such_table),
    data("a column missing", "E110", GOOD.replace("days", SENTINEL)),
    data("a column with another spelling", "E110", GOOD.replace("age,", "AGE,")),
    data("a column twice", "E111", GOOD.replace("note", "age", 1)),
    Case("The data file", "two public files of different sizes", "E113", 2, two_files),
    data("Latin-1 instead of UTF-8", "E120", rows().encode() + f"30,N,2,{SENTINEL}é\n".encode("latin-1")),
    data("a NUL character", "E121", rows(f"30,N,2,{SENTINEL}\x00\n")),
    data("a text-direction character", "E121", rows(f"30,N,2,{SENTINEL}\u202e\n")),
    data("a zip archive", "E122", zipped(GOOD)),
    data("a gzip file in a gzip file", "E122", gzip.compress(gzip.compress(GOOD.encode())), "data.csv.gz"),
    Case("The data file", "a gzip bomb", "E122", 2, bomb),
    data("a row with a field too many", "E130", rows(f"30,N,2,{SENTINEL},{NUMBER}\n")),
    data("a quote that is not closed", "E130", rows(f'30,N,2,"{SENTINEL}\n')),
    data("a field of 64 kB", "E131", rows(f"30,N,2,{SENTINEL * 8000}\n")),
    data("a word where a number belongs", "E140", rows(f"{SENTINEL},N,2,x\n")),
    data("`inf` where a number belongs", "E140", rows("inf,N,2,x\n")),
    data("`nan` where a number belongs", "E140", rows("nan,N,2,x\n")),
    data("`1_000` where a number belongs", "E140", rows("1_000,N,2,x\n")),
    data("`٣` where a number belongs", "E140", rows("٣,N,2,x\n")),
    data("a blank without a rule for it", "E141", rows(",N,2,x\n")),
    data("a category that is not declared", "E142", rows(f"30,{SENTINEL},2,x\n")),
]  # fmt: skip


# --- commands, ledgers, outputs, bundles, studies


def case(group: str, what: str, code: str, status: int, **more: Any) -> Callable[[Make], Make]:
    """Add the function below as a case."""

    def add(make: Make) -> Make:
        OTHERS.append(Case(group, what, code, status, make, **more))
        return make

    return add


OTHERS: list[Case] = []
COMMANDS: dict[str, Arguments] = {
    "a command that does not exist": ["relaese"],
    "an option that does not exist": ["check", LOANS, "--fast"],
    "an argument left out": ["check"],
    "a number that is a word": ["simulate", LOANS, "-n", "many", "-o", "x.csv"],
    "a number out of its range": ["simulate", LOANS, "-n", "0", "-o", "x.csv"],
    "a release without `--ledger`": ["release", LOANS, "--data", "x.csv", "--out", "x"],
    "a rehearsal without `--seed`": ["release", LOANS, "--data", "x.csv", "--out", "x", "--rehearse"],
    "a hash of a plan that is none": ["verify", "x", "--plan-hash", "123"],
}


def said(given: Arguments) -> Make:
    """A command line as it stands."""
    return lambda _: given


for _what, _given in COMMANDS.items():
    OTHERS.append(Case("The command", _what, "E001", 2, said(_given)))


@case("The command", "an address with a password", "E004", 2)
def _(folder: Path) -> Arguments:
    return ["check", LOANS, "--public", "postgres://me:secret@host/registry#births"]


@case("The command", "a seed in a production run", "E206", 2)
def _(folder: Path) -> Arguments:
    return release(folder, "--seed", 1)


@case("The command", "exact figures without saying `--public`", "E208", 2)
def _(folder: Path) -> Arguments:
    return two_files(folder)[:-1]


@case("The command", "a confidential file given as a public one", "E207", 2)
def _(folder: Path) -> Arguments:
    opened(folder)
    return ["check", LOANS, "--public", folder / "data.csv"]


@case("The command", "a hyperparameter without a value", "E200", 2)
def _(folder: Path) -> Arguments:
    path = write(folder / "data.csv", GOOD)
    return ["synthesize", LOANS, "--data", path, "--public", "-o", folder / "x.csv", "--set", "sampling"]


@case("The command", "a generator that does not exist", "E200", 2)
def _(folder: Path) -> Arguments:
    path = write(folder / "data.csv", GOOD)
    return ["synthesize", LOANS, "--data", path, "--public", "-o", folder / "x.csv", "--family", "oracle"]


def opened(folder: Path, name: str = "budget", cap: str = "10") -> Path:
    """A ledger for the data of a folder."""
    from facsimile.release.opening import Opening, cap_of
    from facsimile.sources.address import Address

    data, path = Address.of(write(folder / "data.csv", GOOD)), folder / f"{name}.ledger"
    Opening.of(data, path, None, None).anew(cap_of(cap), False)
    return path


def spent(folder: Path) -> Path:
    """A ledger with a charge."""
    from facsimile.privacy.budget import Cost
    from facsimile.privacy.ledger import Ledger

    path = opened(folder)
    Ledger.at(path, None, folder / "data.csv.key").charge(Cost(Fraction(1)), "before")
    return path


@case("Budget and ledger", "a budget that is exhausted", "E301", 3)
def _(folder: Path) -> Arguments:
    opened(folder, cap="1")
    return release(folder)


@case("Budget and ledger", "a release with δ on a ledger without one", "E307", 3)
def _(folder: Path) -> Arguments:
    opened(folder)
    content = text().replace("  test: 0.2\n", "  test: 0.2\n  delta: 0.000001\n")
    _, _, *rest = release(folder)
    return ["release", write(folder / "approximate.yaml", content), *rest]


@case("Budget and ledger", "a ledger whose cap does not pay for its ρ", "E308", 3)
def _(folder: Path) -> Arguments:
    path = write(folder / "data.csv", GOOD)
    words = ["ledger", "new", folder / "budget.ledger", "--data", path, "--cap", "1"]
    return [*words, "--delta", "0.000001", "--rho", "3"]


@case("Budget and ledger", "a cap that is no number", "E201", 2)
def _(folder: Path) -> Arguments:
    path = write(folder / "data.csv", GOOD)
    return ["ledger", "new", folder / "budget.ledger", "--data", path, "--cap", "much"]


@case("Budget and ledger", "a ledger with one byte changed", "E310", 4)
def _(folder: Path) -> Arguments:
    path = spent(folder)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return ["ledger", "verify", path]


@case("Budget and ledger", "a ledger with the anchor of another", "E311", 4)
def _(folder: Path) -> Arguments:
    path = opened(folder)
    (folder / "other").mkdir()
    other = opened(folder / "other")
    return ["ledger", "verify", path, "--anchor", f"{other}.anchor"]


@case("Budget and ledger", "a ledger restored from an older copy", "E312", 4)
def _(folder: Path) -> Arguments:
    path = spent(folder)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    return release(folder)


@case("Budget and ledger", "a ledger that ends in the middle of an entry", "E313", 4)
def _(folder: Path) -> Arguments:
    path = spent(folder)
    path.write_bytes(path.read_bytes()[:-7])
    return ["ledger", "show", path]


@case("Budget and ledger", "a ledger that does not exist", "E314", 4)
def _(folder: Path) -> Arguments:
    return ["ledger", "show", folder / "none.ledger"]


@case("Budget and ledger", "the data file given as its ledger", "E314", 4)
def _(folder: Path) -> Arguments:
    path = write(folder / "data.csv", GOOD)
    return ["ledger", "new", path, "--data", path, "--cap", "1"]


@case("Budget and ledger", "another ledger than the one of the data", "E316", 4)
def _(folder: Path) -> Arguments:
    opened(folder, "first")
    return release(folder)


@case("Budget and ledger", "a dataset key that is damaged", "E317", 4)
def _(folder: Path) -> Arguments:
    opened(folder)
    write(folder / "data.csv.key", b"nothing")
    return release(folder)


@case("Budget and ledger", "a ledger without its anchor", "E318", 4)
def _(folder: Path) -> Arguments:
    path = spent(folder)
    Path(f"{path}.anchor").unlink()
    return release(folder)


def held(folder: Path) -> AbstractContextManager[Any]:
    """Another process holds the ledger."""
    from facsimile.storage import locked

    return locked(folder / "budget.ledger", 0)


@case("Budget and ledger", "a ledger that another process holds", "E320", 4, during=held)
def _(folder: Path) -> Arguments:
    opened(folder)
    return release(folder)


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """The disk of this folder has no room."""
    real = shutil.disk_usage

    def usage(place: Any) -> Any:
        found = real(place)
        return found._replace(free=0) if Path(place) == folder else found

    with patch.object(shutil, "disk_usage", usage):
        yield


@case("The output", "a disk without room", "E403", 2, during=full)
def _(folder: Path) -> Arguments:
    opened(folder)
    return release(folder)


@case("Budget and ledger", "a disk of the data without room", "E330", 4, during=full)
def _(folder: Path) -> Arguments:
    opened(folder)
    (folder / "out").mkdir()
    return [*release(folder)[:-1], folder / "out" / "bundle"]


@case("The command", "Ctrl-C before anything was charged", "Stopped.", 130, during=lambda _: interrupted())
def _(folder: Path) -> Arguments:
    opened(folder)
    return release(folder)


def interrupted() -> AbstractContextManager[Any]:
    """The user stops the program while it reads."""
    return patch("facsimile.release.run.read", side_effect=KeyboardInterrupt)


@case("The output", "a folder that exists", "E401", 2)
def _(folder: Path) -> Arguments:
    opened(folder)
    (folder / "bundle").mkdir()
    return release(folder)


@case("The output", "a link", "E402", 2)
def _(folder: Path) -> Arguments:
    opened(folder)
    (folder / "elsewhere").mkdir()
    (folder / "bundle").symlink_to(folder / "elsewhere")
    return release(folder)


@case("The output", "a folder inside one that does not exist", "E403", 2)
def _(folder: Path) -> Arguments:
    opened(folder)
    return [*release(folder)[:-1], folder / "none" / "bundle"]


@case("The output", "a signing key that is none", "E404", 2)
def _(folder: Path) -> Arguments:
    opened(folder)
    return release(folder, "--key", write(folder / "key.pem", "not a key"))


@case("A bundle", "a folder that does not exist", "E507", 5)
def _(folder: Path) -> Arguments:
    return ["verify", folder / "none"]


@case("A bundle", "a file instead of a folder", "E508", 5)
def _(folder: Path) -> Arguments:
    return ["verify", write(folder / "data.csv", GOOD)]


@case("A bundle", "an empty folder", "E509", 5)
def _(folder: Path) -> Arguments:
    (folder / "bundle").mkdir()
    return ["verify", folder / "bundle"]


@case("A bundle", "a folder without a manifest", "E501", 5)
def _(folder: Path) -> Arguments:
    (folder / "bundle").mkdir()
    write(folder / "bundle" / "data.csv", "age\n1\n")
    return ["verify", folder / "bundle"]


@case("A bundle", "one byte of its data changed", "E502", 5)
def _(folder: Path) -> Arguments:
    found = rehearsed(folder)
    content = bytearray((found / "data.csv").read_bytes())
    content[-2] ^= 1
    (found / "data.csv").write_bytes(content)
    return ["verify", found, "--allow-rehearsal"]


@case("A bundle", "a file that the manifest does not name", "E503", 5)
def _(folder: Path) -> Arguments:
    found = rehearsed(folder)
    write(found / "note.txt", "hello")
    return ["verify", found, "--allow-rehearsal"]


@case("A bundle", "a rehearsal", "E504", 5)
def _(folder: Path) -> Arguments:
    return ["verify", rehearsed(folder)]


@case("A bundle", "a bundle of another plan", "E506", 5)
def _(folder: Path) -> Arguments:
    return ["verify", rehearsed(folder), "--allow-rehearsal", "--plan-hash", "0" * 64]


@case("A bundle", "an audit that is none, for a dossier", "E440", 2)
def _(folder: Path) -> Arguments:
    audit = write(folder / "audit.json", '{"format": 1, "evidence": []}')
    return ["dossier", rehearsed(folder), "--allow-rehearsal", "-o", folder / "d.pdf", "--audit", audit]


@case("A bundle", "a report of risks of another plan, for a dossier", "E510", 5)
def _(folder: Path) -> Arguments:
    risk = write(folder / "risk.json", json.dumps(sample().as_json()))
    return ["dossier", rehearsed(folder), "--allow-rehearsal", "-o", folder / "d.pdf", "--risk", risk]


# --- the prior

OTHER = HEADER + "".join(ROWS[1:])


def leaning(folder: Path, prior: str, *more: object, sha256: str | None = None) -> Arguments:
    """A production release of the data in a folder, by a specification that names a prior there."""
    place, data = folder / prior, folder / "data.csv"
    if not data.exists():
        write(data, GOOD)
    found = hashlib.sha256(place.read_bytes()).hexdigest() if place.is_file() else "0" * 64
    named = f"prior:\n  {'facts' if prior.endswith('.yaml') else 'file'}: {prior}\n"
    path = write(folder / "leaning.yaml", f"{text()}{named}  sha256: {sha256 or found}\n")
    return ["release", path, *release(folder, *more)[2:]]


def prior(what: str, code: str, content: str | None, name: str = "prior.csv", sha256: str = "") -> Case:
    """A release that leans on a bad file."""

    def make(folder: Path) -> Arguments:
        if content is not None:
            write(folder / name, content)
        return leaning(folder, name, sha256=sha256)

    return Case("The prior", what, code, 2, make)


OTHERS += [
    prior("a file that does not exist", "E218", None),
    prior("a file with another hash", "E217", OTHER, sha256="1" * 64),
    prior("a header without records", "E218", HEADER),
    prior("a file that lacks a column", "E218", "age,days\n20,3\n30,4\n"),
    prior("a value outside the domain of a column", "E218", OTHER.replace(",N,", f",{SENTINEL},", 1)),
    prior("facts that are no facts", "E218", "facts: 1\ntitle: x\n", "facts.yaml"),
    prior("facts of more than 1 MB", "E218", "#" * (1 << 20), "facts.yaml"),
    prior("the data itself", "E219", GOOD, "data.csv"),
]


@case("The prior", "a link to the data", "E219", 2)
def _(folder: Path) -> Arguments:
    write(folder / "data.csv", GOOD)
    (folder / "prior.csv").symlink_to(folder / "data.csv")
    return leaning(folder, "prior.csv")


@case("The prior", "another name of the data's file", "E219", 2)
def _(folder: Path) -> Arguments:
    (folder / "prior.csv").hardlink_to(write(folder / "data.csv", GOOD))
    return leaning(folder, "prior.csv")


@case("The prior", "a confidential file", "E207", 2)
def _(folder: Path) -> Arguments:
    opened(folder)
    return leaning(folder, "data.csv")


@case("The prior", "no hash", "E217", 2, line=text().count("\n") + 1)
def _(folder: Path) -> Arguments:
    write(folder / "prior.csv", OTHER)
    return ["check", write(folder / "leaning.yaml", text() + "prior:\n  file: prior.csv\n")]


@case("The prior", "a file and facts", "E200", 2, line=text().count("\n") + 1)
def _(folder: Path) -> Arguments:
    return [
        "check",
        write(
            folder / "leaning.yaml", text() + f"prior:\n  file: a.csv\n  facts: b.yaml\n  sha256: {'0' * 64}\n"
        ),
    ]


@case("The prior", "no family that leans on one", "E200", 2, line=text().count("\n") + 1)
def _(folder: Path) -> Arguments:
    without = (
        text().replace("family: workload", "family: mst") + f"prior:\n  file: a.csv\n  sha256: {'0' * 64}\n"
    )
    return ["check", write(folder / "leaning.yaml", without)]


@case("A bundle", "a bundle that names no prior, beside one", "E506", 5)
def _(folder: Path) -> Arguments:
    path = write(folder / "prior.csv", OTHER)
    return ["verify", rehearsed(folder), "--allow-rehearsal", "--prior", path]


_REHEARSED: list[Path] = []


def rehearsed(folder: Path) -> Path:
    """A bundle of a rehearsal, made once and copied."""
    from facsimile.release.run import rehearsal
    from releases import request, write_data

    if not _REHEARSED or not _REHEARSED[0].exists():
        place = folder.parent / "rehearsed"
        place.mkdir()
        write_data(place)
        assert rehearsal(request(place), 1).report is not None
        _REHEARSED[:] = [place / "bundle"]
    shutil.copytree(_REHEARSED[0], folder / "bundle")
    return folder / "bundle"


@case("A study", "a file that is no study", "E410", 2)
def _(folder: Path) -> Arguments:
    return ["plan", write(folder / "loans.study", GOOD)]


@case("A study", "a study that does not exist", "E410", 2)
def _(folder: Path) -> Arguments:
    return ["report", folder / "none.study", "-o", folder / "page.html"]


@case("A study", "a configuration to compare that the study has not", "E421", 2)
def _(folder: Path) -> Arguments:
    from studies import new_study

    study = new_study(folder / "people.study")
    return ["report", study.path, "-o", folder / "page.html", "--compare", "mst-0"]


@case("A study", "facts whose percentages do not add up", "E200", 2, line=8)
def _(folder: Path) -> Arguments:
    head = "facts: 1\ntitle: x\nsource: x\ncolumns:\n  - name: a\n    values: [u, v]\ntables:\n"
    facts = f"{head}  - {{of: [a], percent: [6, 4]}}\n"
    return ["simulate", write(folder / "facts.yaml", facts), "-n", 5, "-o", folder / "x.csv"]


CASES = [*SPECIFICATIONS, *DATA, *OTHERS]


def table() -> Iterator[str]:
    """The table of docs/errors.md, line by line."""
    yield "| input | code | exit | line |"
    yield "|---|---|---|---|"
    for group in dict.fromkeys(case.group for case in CASES):
        yield f"| **{group}** | | | |"
        for case in (case for case in CASES if case.group == group):
            yield f"| {case.what} | {case.code} | {case.exit} | {case.line or ''} |"


def page(content: str) -> str:
    """The page with the table written anew between its marks."""
    before, _, rest = content.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}", *table(), f"{END}{after}"])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

"""Golden rehearsals: what seeded commands write and print, as hashes. A change of structure changes none.

python tests/golden/rehearsals.py            prints them
python tests/golden/rehearsals.py --record   writes them to recorded.json, where results are meant to change

Every command runs as a user types it, on a day that stands still. Processor features that alter the last digit
of a float are switched off before NumPy is imported.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("recorded.json")
EXAMPLES = Path(__file__).parents[2] / "examples"
SAME_FLOATS = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore",
}
N = 1200
PEOPLE: dict[str, Any] = {
    "facsimile": "1",
    "title": "People",
    "unit": "one person",
    "neighbours": "replace-one",
    "records": {"count": str(N), "public_because": "it is printed on the door"},
    "columns": [
        {
            "name": "age",
            "description": "Age in years",
            "bounds": ["0", "89"],
            "alternatives": {"coarse": ["0..89 by 30"], "fine": ["0..89 by 15"]},
            "groups": ["<30", "29<"],
            "outside": "clip",
        },
        {
            "name": "sex",
            "description": "Sex",
            "values": ["M", "F"],
            "numbers": {"M": "0", "F": "1"},
            "alternatives": {"coarse": ["M", "F"]},
            "groups": ["M", "F"],
        },
        {
            "name": "height",
            "description": "Height in centimetres",
            "bounds": ["100", "199"],
            "alternatives": {"coarse": ["100..199 by 20"]},
            "outside": "clip",
        },
    ],
    "constraints": {
        "policy": "declared",
        "synthetic": [{"never": "age < 15 and height > 180", "source": "us"}],
    },
    "families": [{"family": "mst"}],
    "projection": {"algorithm": ["margins"], "min_count": ["2"]},
    "criteria": [{"criterion": "marginals-absolute", "threshold": "0.1", "epsilon": "0.5"}],
    "planning": {
        "groups": {"age": "300", "sex": "500"},
        "numbers": {
            "age": {"mean": "44", "deviation": "26"},
            "sex": {"mean": "0.5", "deviation": "0.5"},
            "height": {"mean": "150", "deviation": "25"},
        },
    },
    "selection": {"mode": "coin", "gamma": "0.05"},
    "budget": {"total": "90", "generator": "4", "test": "4"},
}
EVERY: list[dict[str, str | list[str] | list[list[str]]]] = [
    {"criterion": "marginals-absolute", "threshold": "0.2"},
    {"criterion": "marginals-relative", "threshold": "1.9", "tested_at": "1.8"},
    {"criterion": "mean", "of": "height", "by": ["age", "sex"], "threshold": "30"},
    {"criterion": "regression-coefficients", "target": "height", "threshold": "900"},
    {"criterion": "regression-mae", "target": "height", "threshold": "20"},
    {"criterion": "faithfulness", "match": ["sex"], "reference": "coarse", "threshold": "0.5"},
    {"criterion": "ranges-absolute", "of": ["age", "height"], "by": ["sex"], "threshold": "0.2"},
    {"criterion": "total-variation", "ways": "2", "threshold": "0.6"},
    {"criterion": "total-variation", "of": [["age"], ["sex", "height"]], "over": "average", "threshold": "0.6"},
    {"criterion": "marginals-tail", "ways": "2", "beyond": "0.1", "threshold": "0.2"},
    {"criterion": "quantile", "of": "height", "by": ["age"], "threshold": "0.4"},
    {"criterion": "correlation", "of": ["age", "height"], "threshold": "0.9"},
    {"criterion": "query", "query": "old", "where": "age > 59", "threshold": "0.3"},
    {"criterion": "query", "query": "tall", "where": "age > 29", "of": "height", "threshold": "60"},
]


def paid(epsilon: str = "1", once: str | None = None) -> list[dict[str, Any]]:
    """Every criterion with its epsilon; the coefficients in the paper's form have that of the fit paid once."""
    given = [criterion | {"epsilon": epsilon} for criterion in EVERY]
    return [c | {"epsilon": once} if once and c["criterion"] == "regression-coefficients" else c for c in given]


def family(name: str, **grid: str) -> list[dict[str, Any]]:
    return [{"family": name, "grid": {key: [value] for key, value in grid.items()}}]


QUERIES = {"num_query": "40", "num_iterations": "20", "num_inner_updates": "5"}
PAPER: dict[str, Any] = {
    "scheme": "paper",
    "statistic": "paper",
    "selection": {"mode": "paper"},
    "budget": {"total": "200", "generator": "4"},
}
RELEASES: dict[str, dict[str, Any]] = {
    "every criterion": {
        "criteria": paid(),
        "budget": {"total": "90", "generator": "4", "test": "20", "once": "20"},
    },
    "every criterion, paper": {
        **PAPER,
        "criteria": paid("4"),
        "families": family("privbayes", flavour="theta", theta="4", sampling="iid"),
    },
    "every criterion, paper's form, tested jointly": {
        "statistic": "paper",
        "criteria": paid("2", "40"),
        "budget": {"total": "200", "generator": "4", "test": "30", "once": "40"},
    },
    "train once": {"scheme": "train-once", "families": family("mst", sampling="systematic")},
    "single": {"selection": {"mode": "single"}, "families": family("workload", sampling="iid")},
    "capped coin": {
        "selection": {"mode": "capped-coin", "gamma": "0.05", "epsilon_0": "0.1", "cap": "60"},
        "families": [*family("workload"), *family("privbayes")],
    },
    "rising coin": {"selection": {"mode": "rising-coin", "a": "0.2"}, "families": family("aim")},
    "mwem": {
        "families": family("mwem", **QUERIES),
        "projection": {"algorithm": ["implementation"], "min_count": ["4"]},
    },
    "pep": {"families": family("pep", marginal="2", **QUERIES)},
    "mwem of tables": {"families": family("mwem-tables", **QUERIES)},
    "pep of tables": {"families": family("pep-tables", marginal="2", **QUERIES)},
}
FAMILIES = ("privbayes", "mst", "aim", "workload", "mwem", "pep", "mwem-tables", "pep-tables")
SPECIFICATIONS = ("births/ours", "births/paper", "births/release", "births/released", "discharges/first")


def declared(changes: dict[str, Any]) -> str:
    """A specification in JSON, which is YAML."""
    return json.dumps(copy.deepcopy(PEOPLE) | changes)


def people() -> str:
    """N people; height follows age and sex."""
    rows = []
    for i in range(N):
        age, tall = (37 * i) % 90, (i * i * 7919) % 41
        rows.append(f"{age},{'F' if i % 2 else 'M'},{110 + min(age, 40) + tall + 8 * (i % 2 == 0)}")
    return "\n".join(["age,sex,height", *rows]) + "\n"


def typed(*words: str | Path) -> tuple[int, str]:
    """A command's exit code and what it printed."""
    from facsimile.cli import main

    out, before = io.StringIO(), sys.argv
    sys.argv = ["facsimile", *map(str, words)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            main()
    except SystemExit as stopped:
        if stopped.code:
            sys.stderr.write(f"{words}: {out.getvalue()}\n")
        return int(stopped.code or 0), out.getvalue()
    finally:
        sys.argv = before
    return 0, out.getvalue()


def hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def said(folder: Path, code: int, printed: str) -> str:
    return f"{code} {hashed(printed.replace(str(folder), 'FOLDER').encode())}"


def releases(folder: Path) -> Iterator[tuple[str, str]]:
    """The bundle of every case, file by file, and what check says."""
    for number, (name, changes) in enumerate(RELEASES.items(), 1):
        spec, out = folder / f"{number}.yaml", folder / f"{number}.bundle"
        spec.write_text(declared(changes))
        yield f"check: {name}", said(folder, *typed("check", spec, "--json"))
        rehearse = (
            "--data",
            folder / "people.csv",
            "--out",
            out,
            "--rehearse",
            "--seed",
            str(number),
            "--json",
        )
        yield f"release: {name}", said(folder, *typed("release", spec, *rehearse))
        for path in sorted(out.iterdir()):
            yield f"release: {name}: {path.name}", hashed(path.read_bytes())


def studies(folder: Path) -> Iterator[tuple[str, str]]:
    """Trials, without the seconds that they took, and plans."""
    paper = {"statistic": "paper", "criteria": paid("1", "20")}
    for name, changes in (("sharp", {}), ("paper", paper)):
        spec, out = folder / f"{name}.yaml", folder / f"{name}.study"
        grid: dict[str, Any] = {
            "families": [*family("mst"), *family("privbayes"), *family("workload")],
            "criteria": paid("1"),
        }
        grid["budget"] = {"total": "90", "generator": "4", "test": "20", "once": "20"}
        spec.write_text(declared(grid | changes))
        typed("explore", spec, "--data", folder / "people.csv", "--public", "--out", out, "--workers", "1",
              "--trials", "4", "--fresh", "4", "--steps", "1", "--finalists", "2")  # fmt: skip
        with contextlib.closing(sqlite3.connect(out)) as study:
            columns = "configuration, generator, number, accepted, refused, readings, rooms"
            rows = study.execute(f"SELECT {columns} FROM trials ORDER BY 1, 2, 3").fetchall()
        yield f"study: {name}", f"{len(rows)} {hashed(repr(rows).encode())}"
        for scheme in ("paper", "test-then-measure", "train-once"):
            code, printed = typed("plan", out, "--accept", "0.2", "--scheme", scheme, "--json")
            kept = json.loads(printed)
            yield f"plan: {name}: {scheme}", said(folder, code, json.dumps(without_seconds(kept)))


def without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_seconds(item) for key, item in value.items() if "second" not in key}
    return [without_seconds(item) for item in value] if isinstance(value, list) else value


def files(folder: Path) -> Iterator[tuple[str, str]]:
    """What the other commands write."""
    plain = folder / "plain.yaml"
    plain.write_text(declared({"criteria": paid()}))
    for name in FAMILIES:
        out = folder / f"{name}.csv"
        public = ("--data", folder / "people.csv", "--public", "--out", out, "--family", name, "--seed", "3")
        yield f"synthesize: {name}", said(folder, *typed("synthesize", plain, *public, "--json"))
        yield f"synthesize: {name}: its file", hashed(out.read_bytes())
    for name in SPECIFICATIONS:
        yield f"check: {name}", said(EXAMPLES, *typed("check", EXAMPLES / f"{name}.yaml", "--json"))
        yield f"plan-hash: {name}", said(EXAMPLES, *typed("plan-hash", EXAMPLES / f"{name}.yaml"))
    yield "schema", said(folder, *typed("schema"))
    facts, out = EXAMPLES / "discharges" / "facts.yaml", folder / "discharges.csv"
    first = EXAMPLES / "discharges" / "first.yaml"
    yield (
        "simulate: discharges",
        said(folder, *typed("simulate", facts, "-n", "3000", "--out", out, "--seed", "5", "--json")),
    )
    yield "simulate: discharges: its file", hashed(out.read_bytes())
    made = folder / "made.csv"
    fitted = typed("synthesize", first, "--data", out, "--public", "--out", made, "--seed", "3", "--json")
    yield "synthesize: discharges", said(folder, *fitted)
    yield "synthesize: discharges: its file", hashed(made.read_bytes())


def still() -> None:
    """Let the day stand still for everything that is imported from now on."""
    import datetime

    class Known(type(datetime.date)):  # type: ignore[misc]
        def __instancecheck__(cls, other: object) -> bool:
            return isinstance(other, real)

    class Day(datetime.date, metaclass=Known):
        @classmethod
        def today(cls) -> Any:
            return real(2026, 11, 17)

    real, datetime.date = datetime.date, Day  # type: ignore[misc]


def found(folder: Path) -> dict[str, str]:
    (folder / "people.csv").write_text(people())
    return {name: value for part in (releases, studies, files) for name, value in part(folder)}


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in SAME_FLOATS.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | SAME_FLOATS)
    still()
    with tempfile.TemporaryDirectory() as place:
        os.environ["FACSIMILE_STATE"] = f"{place}/state"
        hashes = json.dumps(found(Path(place)), indent=1, ensure_ascii=False) + "\n"
    if "--record" in sys.argv:
        RECORDED.write_text(hashes, encoding="utf-8")
    else:
        sys.stdout.write(hashes)

"""Hostile files through the commands: an answer with a code, in a second and 200 MB, and no traceback.

What reading costs is the child's own: imports were paid before.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from children import MEGABYTES, SECONDS, Children, Told
from facsimile.errors import FacsimileError
from facsimile.line import hashed, written
from facsimile.release.synthesize import Fitted
from hostile.bundles import BUNDLES, good, rehashed
from spec.test_text import HOSTILE, LOANS


def answered(run: Callable[[], Told], codes: set[int]) -> Told:
    """The answer, within the limits; a busy machine is asked three times."""
    for _ in range(3):
        told = run()
        if told.seconds <= SECONDS:
            break
    assert told.code in codes, (told.code, told.err)
    assert "Traceback" not in told.said
    assert told.seconds <= SECONDS and told.megabytes <= MEGABYTES, (told.seconds, told.megabytes)
    return told


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return good(tmp_path_factory.mktemp("good"))


QUICK = {
    "an endless answer", "a report a million deep", "a pipe", "a document with a hole", "Parquet of lists",
    "Parquet with many rows", "a deviation of nothing", "a signature without a name",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in BUNDLES]
)
def test_a_hostile_bundle_is_refused(children: Children, bundle: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(bundle, tmp_path / "copy"))
    BUNDLES[name](folder)
    rehashed(folder)
    answered(lambda: children("verify", folder, "--allow-rehearsal"), {5})
    if "answer" not in name:
        answered(lambda: children("answer", folder, "count"), {5})


MORE = {
    "an exponent": LOANS.replace("total: 3", "total: 1e999999999"),
    "bounds with an exponent": LOANS.replace("[0, 60]", "[0, 1e999999999]"),
    "a range": LOANS.replace("coarse: [0-13, 14-27, 28-60]", "coarse: [0..1000000000000 by 1]"),
    "blocks": "".join("  " * i + f"a{i}:\n" for i in range(700)),
    "dashes": "- " * 5000 + "a",
    "parentheses": LOANS.replace("never: age > 120", f"never: '{'(' * 900}age > 120{')' * 900}'"),
    "text direction": LOANS.replace("Loans of a town library\nunit", "Loans \u202e\nunit"),
    "no width": LOANS.replace("name: days", "name: da\u200bys"),
}


@pytest.mark.parametrize("name", MORE)
def test_a_hostile_specification_is_refused_by_the_command(
    children: Children, tmp_path: Path, name: str
) -> None:
    """Beside those of tests/spec/test_text.py."""
    path = tmp_path / "release.yaml"
    path.write_text(MORE[name], "utf-8")
    answered(lambda: children("check", path), {2})


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_so_are_those_that_the_loader_knows(children: Children, tmp_path: Path, name: str) -> None:
    path = tmp_path / "release.yaml"
    path.write_text(HOSTILE[name], "utf-8")
    answered(lambda: children("check", path), {2})


def test_a_device_is_no_specification(children: Children) -> None:
    answered(lambda: children("check", "/dev/zero"), {2})


# --- ledgers

FIRST = {"seq": 0, "prev": "", "kind": "open", "id": "a", "tag": "t", "cap": 10, "before": 0, "data": "x"}
LEDGERS: dict[str, bytes] = {
    "a body a million deep": b"",
    "a delta with an exponent": written(FIRST | {"most_delta": "1e999999999"}),
    "a negative delta": written(FIRST | {"most_delta": "-1"}),
    "a cap that is a text": written(FIRST | {"cap": "10"}),
    "a cap of 4000 digits": written(FIRST | {"cap": 10**4000}),
    "a number that is true": written(FIRST | {"seq": False}),
    "a name that is a list": written(FIRST | {"data": [1]}),
    "no first entry": b"\n",
    "a charge without a purpose": written(FIRST)
    + written({"seq": 1, "prev": hashed(written(FIRST)), "kind": "charge", "micro": 1, "day": "x"}),
    "an end of nothing": written(FIRST) + written({"seq": 1, "prev": hashed(written(FIRST)), "kind": "done"}),
}


@pytest.mark.parametrize("name", LEDGERS)
def test_a_hostile_ledger_is_refused(children: Children, tmp_path: Path, name: str) -> None:
    import zlib

    content = LEDGERS[name]
    if not content:
        body = b"[" * 10**6
        content = b"%08x %08x %s\n" % (len(body), zlib.crc32(body), body)
    last = content.splitlines(keepends=True)
    (tmp_path / "ledger").write_bytes(content)
    mark = {"ledger": "a", "sequence": len(last) - 1, "head": hashed(last[-1]), "spent": 0}
    (tmp_path / "ledger.anchor").write_bytes(written(mark))
    assert answered(lambda: children("ledger", "show", tmp_path / "ledger"), {4}).error == "E310"


@pytest.mark.parametrize("field", ["delta", "before_delta"])
def test_an_anchor_with_an_exponent_is_refused(children: Children, tmp_path: Path, field: str) -> None:
    (tmp_path / "ledger").write_bytes(written(FIRST))
    mark = {"ledger": "a", "sequence": 0, "head": hashed(written(FIRST)), "spent": 0, field: "1e999999999"}
    (tmp_path / "ledger.anchor").write_bytes(written(mark))
    assert answered(lambda: children("ledger", "show", tmp_path / "ledger"), {4}).error == "E310"


def test_a_pipe_is_no_ledger(children: Children, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ledger")
    assert answered(lambda: children("ledger", "show", tmp_path / "ledger"), {4}).error == "E314"


# --- studies

STUDIES = {
    "a view": "ALTER TABLE about RENAME TO a; CREATE VIEW about AS WITH RECURSIVE c(x) AS "
    "(SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 'format' AS key, x AS value FROM c WHERE x < 0",
    "a long text": "UPDATE about SET value = zeroblob(100000000) WHERE key = 'source'",
    "a deep rule": f"UPDATE about SET value = '{'[' * 100_000}' WHERE key = 'rule'",
    "a number that is a text": "INSERT INTO trials VALUES ('a', '1', 'x', 1, 0, 0, NULL, '[]', '[]')",
    "no setup": "UPDATE about SET value = x'ff' WHERE key = 'ground'",
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_hostile_study_is_refused(children: Children, tmp_path: Path, name: str) -> None:
    from studies import new_study

    path = new_study(tmp_path / "people.study").path
    with sqlite3.connect(path) as file:
        file.executescript(STUDIES[name])
    file.close()
    for words in (["plan", path], ["report", path, "-o", tmp_path / "page.html"]):
        assert answered(lambda words=words: children(*words), {2}).error == "E410"  # type: ignore[misc]


def bomb(path: Path) -> Path:
    """An archive of 128 MB of noughts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("text.npy", "w") as part:
        for _ in range(128):
            part.write(bytes(1 << 20))
    return path


def test_an_archive_that_expands_is_neither_a_study_nor_a_model(children: Children, tmp_path: Path) -> None:
    from studies import new_study

    packed = bomb(tmp_path / "bomb.model")
    assert answered(lambda: children("plan", packed), {2}).error == "E410"
    path = new_study(tmp_path / "people.study").path
    with sqlite3.connect(path) as file:
        file.execute("UPDATE about SET value = ? WHERE key = 'ground'", (packed.read_bytes(),))
    file.close()
    assert answered(lambda: children("plan", path), {2}).error == "E410"
    with pytest.raises(FacsimileError, match="E422"):
        Fitted.load(packed)


def test_deltas_whose_sum_cannot_be_written_are_refused(children: Children, tmp_path: Path) -> None:
    lines = [written(FIRST | {"most_delta": "1/2"})]
    for place in range(1, 4):
        charge = {
            "kind": "charge",
            "micro": 1,
            "purpose": "p",
            "day": "d",
            "delta": f"1/{10**3990 + 2 * place - 1}",
        }
        lines.append(written({"seq": place, "prev": hashed(lines[-1]), **charge}))
    (tmp_path / "ledger").write_bytes(b"".join(lines))
    mark = {"ledger": "a", "sequence": 3, "head": hashed(lines[-1]), "spent": 3}
    (tmp_path / "ledger.anchor").write_bytes(written(mark))
    assert answered(lambda: children("ledger", "show", tmp_path / "ledger"), {4}).error == "E310"


def test_the_limits_are_measured(children: Children, bundle: Path) -> None:
    """A good bundle is not free, and not refused."""
    found = children("verify", bundle, "--allow-rehearsal", "--json")
    assert found.code == 0 and json.loads(found.out)["verified"]
    assert found.seconds > 0.05 and found.megabytes > 5

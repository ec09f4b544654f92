"""A fitted model on disk: the same samples again, and no code is run by reading a file."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import facsimile
from facsimile.errors import FacsimileError
from facsimile.release import stored
from facsimile.release.stored import FORMAT
from facsimile.release.synthesize import Fitted
from facsimile.spec.families import FAMILIES
from facsimile.synthesizers.base import RowModel
from facsimile.synthesizers.dense import Dense
from facsimile.synthesizers.tilt import Tilted
from facsimile.table.scores import Factor, RowScores
from facsimile.table.table import Table
from facsimile.testing import small_domain
from releases import specification, write_data

RAN: list[str] = []
LENIENT = {"criterion": "marginals-absolute", "threshold": "0.1", "epsilon": "0.5"}


def fitted(folder: Path, family: str = "mst", **more: Any) -> Fitted:
    data = folder / "people.csv"
    return facsimile.fit(
        specification(), data if data.exists() else write_data(folder), public=True, family=family, **more
    )


@pytest.mark.parametrize("family", [name for name, family in FAMILIES.items() if family.pure])
def test_a_model_comes_back(tmp_path: Path, family: str) -> None:
    made = fitted(tmp_path, family, epsilon="2.5", seed=3, alternatives="fine")
    made.save(tmp_path / "model")
    back = Fitted.load(tmp_path / "model")
    assert back.table() == made.table()
    assert back.sample(50, seed=9) == made.sample(50, seed=9)
    assert back.as_json() == made.as_json() and repr(back) == repr(made)
    with pytest.raises(FacsimileError, match=r"^E401 "):
        made.save(tmp_path / "model")


def test_a_tilted_model_comes_back(tmp_path: Path) -> None:
    domain = small_domain(2, 3)
    scores = RowScores(domain, ((Factor(1, ((("b",), np.array([-5, 0, 7])),)),),))
    factors = (np.array([0.5, 1.5]), np.ones(3))
    tilted = Tilted(domain, Dense(domain, np.ones((2, 3))), ((scores, 4, np.array([0.1])),), factors, 3.0)
    stored.write(tmp_path / "model", {}, tilted)
    back = stored.read(tmp_path / "model")[1]
    drawn = [model.sample(500, np.random.default_rng(1)) for model in (tilted, back)]
    assert drawn[0] == drawn[1]


def test_a_sample_has_the_size_and_the_seed_that_were_asked_for(tmp_path: Path) -> None:
    made = fitted(tmp_path)
    assert made.sample() == made.sample(seed=1) == made.sample(made.n)
    assert made.table(seed=2) != made.table(), "another seed draws another table"
    for n in (1, 7, 399, 5000):
        assert len(made.sample(n)) == n
    for wrong in ({"n": 0}, {"n": -1}, {"n": 2.5}, {"n": True}, {"seed": -1}, {"seed": "1"}):
        with pytest.raises(FacsimileError, match=r"^E003 "):
            made.sample(**wrong)


def note(word: str) -> None:
    """Found by its name when a pickle is read; a list's own method would be another list's."""
    RAN.append(word)


class Code:
    """A pickle that runs code when it is read."""

    def __reduce__(self) -> Any:
        return note, ("ran",)


def archive(text: object, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, text=np.frombuffer(json.dumps(text).encode(), np.uint8), **arrays)
    return buffer.getvalue()


def array(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


def ours(model: object) -> dict[str, object]:
    return {"format": FORMAT, "about": {}, "model": model}


def squeezed(text: bytes, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, text=np.frombuffer(text, np.uint8), **arrays)
    return buffer.getvalue()


def endless() -> bytes:
    """The head of an array that no memory holds."""
    head, buffer = io.BytesIO(), io.BytesIO()
    said = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(head, said)
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("text.npy", head.getvalue())
    return buffer.getvalue()


def hostile() -> dict[str, bytes]:
    objects = np.array([Code()], dtype=object)
    return {
        "nothing": b"",
        "a text": b"age,sex\n",
        "a pickle": pickle.dumps(Code()),
        "an array": array(np.zeros(3)),
        "an archive of nothing of ours": archive({"format": "other", "about": {}, "model": None}),
        "a format to come": archive({"format": "facsimile model 99", "about": {}, "model": None}),
        "another class": archive({"format": FORMAT, "about": {}, "model": {"kind": "Path", "fields": {}}}),
        "no model": archive(
            {"format": FORMAT, "about": {}, "model": {"kind": "Domain", "fields": {"axes": 1}}}
        ),
        "an array that is not there": archive({"format": FORMAT, "about": {}, "model": {"array": 7}}),
        "a fraction that is none": archive(ours({"fraction": "1/0"})),
        "a text without an end": squeezed(b'{"model":' + b'{"tuple":[' * 9999 + b"]}" * 9999 + b"}"),
        "an array of terabytes": endless(),
        "objects": archive({"format": FORMAT, "about": {}, "model": {"array": 0}}, **{"array 0": objects}),
    }


@pytest.mark.parametrize("content", hostile().values(), ids=hostile())
def test_any_other_file_is_refused_and_none_is_run(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(FacsimileError, match=r"^E422 "):
        Fitted.load(tmp_path / "model")
    assert RAN == []


def test_a_file_that_a_disk_or_a_letter_spoiled_is_read_or_refused(tmp_path: Path) -> None:
    """One byte at a time, anywhere in it."""
    whole = squeezed(json.dumps(ours({"kind": "Dense", "fields": {}})).encode(), **{"array 0": np.arange(99.0)})
    for place in range(0, len(whole), 3):
        spoiled = bytearray(whole)
        spoiled[place] ^= 0xFF
        (tmp_path / "model").write_bytes(spoiled)
        with pytest.raises(FacsimileError, match=r"^E422 "):
            stored.read(tmp_path / "model")


def test_a_file_of_a_format_to_come_is_refused(tmp_path: Path) -> None:
    fitted(tmp_path).save(tmp_path / "model")
    with np.load(tmp_path / "model") as parts:
        arrays = {name: parts[name] for name in parts.files}
    said = json.loads(arrays.pop("text").tobytes())
    for known in (FORMAT, "facsimile model 99"):
        (tmp_path / "other").write_bytes(archive(said | {"format": known}, **arrays))
        if known == FORMAT:
            assert Fitted.load(tmp_path / "other").n
    with pytest.raises(FacsimileError, match=r"^E422 "):
        Fitted.load(tmp_path / "other")


@pytest.mark.parametrize("name", ["Path", "Fitted", "Fraction", "object"])
def test_nothing_is_made_but_parts_of_models(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        stored._made({"tuple": [{"kind": name, "fields": {}}]}, [])


def test_a_part_of_a_file_and_no_file_are_refused(tmp_path: Path) -> None:
    fitted(tmp_path).save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    for size in range(0, len(content), max(1, len(content) // 7)):
        (tmp_path / "part").write_bytes(content[:size])
        with pytest.raises(FacsimileError, match=r"^E422 "):
            Fitted.load(tmp_path / "part")
    with pytest.raises(FacsimileError, match=r"^E422 "):
        Fitted.load(tmp_path / "nowhere")


def test_a_model_of_another_specification_is_refused(tmp_path: Path) -> None:
    made, columns = fitted(tmp_path), specification().model_dump(mode="json", exclude_none=True)["columns"]
    columns[0]["alternatives"]["coarse"] = ["<18", "17<"]
    columns[0].pop("groups")
    other = replace(made.recipe, specification=specification(columns=columns, criteria=[LENIENT]))
    replace(made, recipe=other).save(tmp_path / "model")
    with pytest.raises(FacsimileError, match=r"^E422 "):
        Fitted.load(tmp_path / "model")


@dataclass(frozen=True)
class Strange(RowModel):
    inner: RowModel

    def sample(self, n: int, random: Any, sampling: Any = "systematic") -> Table:
        return self.inner.sample(n, random, sampling)


def test_a_model_of_a_kind_that_is_not_known_is_not_stored(tmp_path: Path) -> None:
    made = fitted(tmp_path)
    with pytest.raises(FacsimileError, match=r"^E423 "):
        replace(made, model=Strange(made.model)).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()

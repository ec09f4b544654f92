"""Random damage: what is read is read or refused, never anything else, and the reader tells no value.

A few examples each; marked `long`, many more. `make fuzz` lets atheris look for what these miss.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from facsimile.privacy.dataset import dataset_key
from facsimile.release.signature import pinned, private_key
from facsimile.release.verify import verify
from hostile import marked
from hostile.fuzz import NAMES
from hostile.targets import (
    TARGETS,
    bundle,
    labelled,
    place,
    publisher,
    read_table,
    reader,
    refused,
    seeds,
    specification,
)
from spec.test_text import LOANS

SOME, MANY = 20, 1500
CHOICES = st.binary(min_size=1, max_size=12)
PIECES = st.text(max_size=12).map(lambda text: text.encode(errors="surrogatepass")) | st.sampled_from(
    [b"1e999999999", b"{", b"[", b"- ", b"~", b"!!x", b"&a", b"0..9", b'"', b"\0", b"\r", b"\xff", b",", b"\n"]
)
CELLS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9).map(lambda text: marked.WORD + text),
    st.binary(max_size=9),
)


def examples(count: int) -> Callable[[Any], Any]:
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


def cut(content: bytes, start: int, size: int, piece: bytes) -> bytes:
    start %= len(content) + 1
    return content[:start] + piece + content[start + size :]


def check_choices(name: str, count: int) -> None:
    """Parts replaced by odd ones."""
    target = TARGETS[name]

    @examples(count)
    @given(CHOICES)
    def check(choices: bytes) -> None:
        target(choices)

    check()


def check_damage(name: str, count: int) -> None:
    """Bytes of a good one replaced."""
    target, good = TARGETS[name], seeds(name)

    @examples(count)
    @given(st.sampled_from(good), st.integers(0, 10**5), st.integers(0, 30), PIECES)
    def check(content: bytes, start: int, size: int, piece: bytes) -> None:
        target(cut(content, start, size, piece))

    check()


@pytest.mark.parametrize("name", NAMES)
def test_odd_parts_are_read_or_refused(name: str) -> None:
    check_choices(name, SOME)


@pytest.mark.parametrize("name", ["specification", "reader", "labelled", "bundle"])
def test_damaged_bytes_are_read_or_refused(name: str) -> None:
    check_damage(name, SOME)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_so_are_many_more(name: str) -> None:
    check_choices(name, MANY)
    check_damage(name, MANY)


def test_the_targets_see_what_is_good_and_what_is_not() -> None:
    """Otherwise everything is refused at its door."""
    assert specification(LOANS.encode()) is None and specification(b"x") is not None
    assert reader(seeds("reader")[0]) is None and reader(b"x") is not None
    assert [labelled(seed) for seed in seeds("labelled")] == [None] * 3 and labelled(b"x") == "E106"
    assert (
        bundle(b"") is not None
        and [TARGETS[name](seeds(name)[0]) for name in ("ledger", "anchor")] == [None] * 2
    )


# --- tables whose types are not ours


def check_tables(count: int) -> None:
    @examples(count)
    @given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6))
    def sqlite_(rows: list[tuple[Any, ...]]) -> None:
        path = place() / "odd.sqlite"
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as file:
            file.execute("pragma synchronous = off")
            file.execute("create table t (income, place, pay)")
            file.executemany("insert into t values (?, ?, ?)", rows)
        file.close()
        read_table(path)

    @examples(count)
    @given(st.sampled_from(KINDS), st.sampled_from(KINDS), st.integers(1, 4))
    def parquet(one: Any, other: Any, n: int) -> None:
        columns = {"income": one, "place": other, "pay": one}
        path = place() / "odd.parquet"
        pq.write_table(
            pa.table({name: pa.array([value] * n, kind) for name, (kind, value) in columns.items()}), path
        )
        read_table(path)

    sqlite_()
    parquet()


KINDS: list[tuple[pa.DataType, Any]] = [
    (pa.string(), marked.WORD),
    (pa.int64(), 42420000977),
    (pa.uint64(), 2**64 - 1),
    (pa.float64(), float("nan")),
    (pa.float64(), 1e308),
    (pa.bool_(), True),
    (pa.binary(), b"\xff\0" + marked.WORD.encode()),
    (pa.list_(pa.string()), [marked.WORD]),
    (pa.struct([("a", pa.string())]), {"a": marked.WORD}),
    (pa.map_(pa.string(), pa.string()), [(marked.WORD, "x")]),
    (pa.timestamp("ns"), 42420000977),
    (pa.date32(), 4242),
    (pa.decimal128(38, 10), None),
    (pa.null(), None),
    (pa.dictionary(pa.int32(), pa.string()), marked.WORD),
]


def test_tables_of_odd_types_are_read_or_refused() -> None:
    check_tables(8)


@pytest.mark.long
def test_so_are_many_tables() -> None:
    check_tables(400)


# --- keys


@examples(SOME)
@given(st.binary(max_size=40) | PIECES, st.integers(0, 200))
def test_damaged_keys_are_read_or_refused(piece: bytes, start: int) -> None:
    """The dataset's, the publisher's, and the one that a reader knows."""
    path = place() / "data.key"
    path.write_bytes(cut(seeds("anchor")[0][1:], start, len(piece), piece))
    assert refused(lambda: dataset_key(path)) in (None, "E317")
    path.write_bytes(cut(publisher(), start, len(piece), piece))
    assert refused(lambda: private_key(path)) in (None, "E404")
    assert refused(lambda: pinned(str(path))) in (None, "E001")


# --- whole commands on a damaged bundle


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["README.html", "datapackage.json", "report.json", "release.yaml", "tables/index.json"]
)
def test_a_damaged_bundle_never_verifies_by_mistake(tmp_path: Path, name: str) -> None:
    """Hashes fit again, so it is the content that is looked at."""
    from hostile.bundles import good, rehashed

    folder = good(tmp_path)
    content = (folder / name).read_bytes()

    @examples(40)
    @given(st.integers(0, len(content) - 1), st.integers(1, 9))
    def check(start: int, size: int) -> None:
        (folder / name).write_bytes(cut(content, start, size, b"#"))
        rehashed(folder)
        code = refused(lambda: verify(folder, allow_rehearsal=True))
        assert code in ("E502", "E503") or name == "release.yaml", (start, size)
        assert code is None or code.startswith("E5")

    check()

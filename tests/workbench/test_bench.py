from __future__ import annotations

from pathlib import Path

import pytest

from facsimile.errors import FacsimileError
from facsimile.sources.address import Address
from facsimile.workbench.bench import Bench, Seen
from facsimile.workbench.server import bench_of, listening
from workbench.desk import SPECIFICATION, written


def refused(code: str, deed: object, *given: object) -> None:
    with pytest.raises(FacsimileError) as caught:
        deed(*given)  # type: ignore[operator]
    assert caught.value.code == code


def test_a_file_that_became_confidential_is_not_looked_at_again(tmp_path: Path) -> None:
    bench = bench_of(tmp_path / "wards.yaml", Address.of(written(tmp_path)))
    bench.read(bench.seen())
    (tmp_path / "wards.csv.key").touch()
    for deed in (bench.read, bench.outlook):
        refused("E207", deed, bench.seen())
    refused("E207", bench_of, tmp_path / "wards.yaml", Address.of(tmp_path / "wards.csv"))


def test_what_cannot_be_opened_is_refused_before_anything_listens(tmp_path: Path) -> None:
    refused("E212", bench_of, tmp_path / "x.yaml", None)
    refused("E101", bench_of, tmp_path / "x.yaml", Address.of(tmp_path / "none.csv"))
    refused("E403", bench_of, tmp_path / "none" / "x.yaml", None)


def test_it_listens_on_this_machine_alone_and_a_taken_port_is_refused() -> None:
    first = listening(0)
    try:
        host, port = first.getsockname()
        assert host == "127.0.0.1"
        refused("E446", listening, port)
    finally:
        first.close()


def test_guesses_of_a_draft_are_found_by_their_line() -> None:
    text = SPECIFICATION.replace("unit: one stay", "unit: one stay  # check: is it?")
    assert [(text.splitlines()[n - 1].startswith("unit"), w) for n, w in Seen(text, Path()).open_questions] == [
        (True, "is it?")
    ]


def test_thresholds_and_words_do_not_ask_for_another_look(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "wards.yaml", Address.of(written(tmp_path)))
    seen = bench.seen()
    assert bench.read(seen) is None or True
    bench.values.begun(next(iter(bench.values.known)), lambda: None).result()  # type: ignore[arg-type,return-value]
    bench.outlook(seen)
    for old, new, looks in (
        ("threshold: 2", "threshold: 3", 1),
        ("title: Stays", "title: X", 1),
        ("ways: 2", "ways: 1", 2),
    ):
        bench.outlook(Seen(SPECIFICATION.replace(old, new), tmp_path))
        assert len(bench.outlooks.known) == looks

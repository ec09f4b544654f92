from __future__ import annotations

from pathlib import Path

import pytest

from facsimile.errors import FacsimileError
from facsimile.privacy.reader import read_public, read_public_values
from facsimile.sources.address import Address
from facsimile.table.encoding import recode
from facsimile.workbench.bench import Bench, Seen
from facsimile.workbench.columns import Rows, changed, relabelled, tried, views
from workbench.desk import SPECIFICATION, written


def test_bins_hold_what_a_reading_of_the_file_holds(tmp_path: Path) -> None:
    public, seen = written(tmp_path), Seen(SPECIFICATION, tmp_path)
    spec, values = seen.specification, read_public_values(public, seen.specification)
    table = read_public(public, spec)
    for shown in views(seen, values, table):
        for alternative in shown.alternatives:
            choice = spec.first | {shown.column.name: alternative.name}
            wanted = recode(spec, table, choice).marginal((shown.column.name,)).tolist()
            assert [b.records for b in alternative.bins] == wanted
            assert (shown.histogram is None) == shown.column.is_category
    rows = Rows.of(spec, table)
    coded = recode(spec, table, spec.first)
    assert rows is not None and (rows.records, rows.distinct) == (table.n, coded.distinct)
    assert rows.rarest == coded.counts.min() and rows.unique == (coded.counts == 1).sum()


def test_what_is_tried_is_what_is_saved(tmp_path: Path) -> None:
    written(tmp_path)
    bench = Bench(tmp_path / "wards.yaml", Address.of(tmp_path / "wards.csv"))
    seen = bench.seen()
    changes = changed(seen, "age", "published", ["20", "40", "65", "80"])
    assert {one.item for one in changes} == {"columns.age.alternatives.published", "columns.age.groups"}
    spec = tried(bench, seen, changes)
    assert bench.seen().text == seen.text, "nothing is written"
    from facsimile.agreement.agreed import Author

    bench.agreed.change(changes, Author("Ada"), "x")
    assert bench.seen().specification.canonical() == spec.canonical()
    joined = relabelled(bench.seen(), "night", "published", {"no": "any", "yes": "any"})
    assert tried(bench, bench.seen(), joined).column("night").axis("published").labels == ("any",)
    with pytest.raises(FacsimileError):
        tried(bench, bench.seen(), changed(bench.seen(), "age", "published", ["40", "65", "80"]))

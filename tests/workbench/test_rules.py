from __future__ import annotations

from pathlib import Path

import pytest

from facsimile.privacy.reader import read_public_values
from facsimile.spec.constraints import parse_condition
from facsimile.spec.load import loads
from facsimile.workbench.rules import MOST_SHOWN, lines, sentence
from workbench.desk import SPECIFICATION, written

RULE = "    - never: ward = surgery and age < 1\n"
MORE = "    - never: age > 97 or days > 29\n      source: x\n"


@pytest.mark.parametrize(
    ("never", "words"),
    [
        ("a < 3 and (b = x or b = y)", "No record has a below 3 and (b equal to x or b equal to y)."),
        ("not (a >= 1.50)", "No record has a below 1.5."),
        ("a in [x, y]", "No record has a one of x, y."),
        ("a not in [x]", "No record has a none of x."),
        ("a_b is missing", "No record has a blank in a b."),
        ("a is not missing", "No record has a value in a."),
        ("any column is missing", "No record has a blank in any column."),
        ("a != 3", "No record has a other than 3."),
    ],
)
def test_a_rule_reads_as_a_sentence(never: str, words: str) -> None:
    assert sentence(parse_condition(never)) == words


def test_the_records_that_break_a_rule_are_counted_and_shown(tmp_path: Path) -> None:
    public = written(tmp_path)
    spec = loads(
        SPECIFICATION.replace(RULE, MORE + RULE).replace("families:", "  synthetic:\n" + MORE + "families:")
    )
    found = list(lines(spec, read_public_values(public, spec)))
    records = [line.split(",") for line in public.read_text(encoding="utf-8").splitlines()[1:]]
    broken = [r for r in records if int(r[1]) > 97 or int(r[2]) > 29]
    assert found[0].records == len(broken) > 0
    assert 0 < len(found[0].examples) <= MOST_SHOWN
    assert {e.values for e in found[0].examples} <= {(r[0], str(int(r[1])), r[2], r[3]) for r in broken}
    assert (found[1].kind, found[1].records, found[2].kind, found[2].records) == ("raw", 0, "synthetic", 0)
    assert [line.records for line in lines(spec, None)] == [None] * 3

from __future__ import annotations

import itertools
import random
from collections import Counter
from functools import cache
from typing import Any

import ibis
import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facsimile.privacy.reader import read_public
from facsimile.sources.source import run
from facsimile.spec.constraints import Constraint
from facsimile.spec.release import Specification
from facsimile.table.cleaning import BAD, FAR, clean_value
from facsimile.table.domain import Domain
from facsimile.table.encoding import COUNT, LEFT_OUT, REFUSALS, ColumnEncoding, Encoding, _among, _value, recode
from facsimile.table.encoding import MALFORMED as MALFORMED_CODE
from facsimile.table.table import Table
from table import oracle
from table.nasty import NATIVE, TEXTS
from table.oracle import Outcome, outcome, specified

ROUNDS = (None, "down")
MALFORMED = ("refuse", "drop", "missing")
MISSING: tuple[Any, ...] = ("refuse", "drop", {"code": "unknown"}, {"value": "4"})
OUTSIDE = ("refuse", "drop", "clip")
NUMBER_RULES = [
    {"decimals": str(digits), "round": rounding, "malformed": malformed, "missing": missing, "outside": outside}
    for digits, rounding, malformed, missing, outside in itertools.product(
        range(4), ROUNDS, MALFORMED, MISSING, OUTSIDE
    )
]
CATEGORY_RULES = [
    {"missing": missing, "outside": outside, "map": texts}
    for missing, outside, texts in itertools.product(
        ("refuse", "drop", {"code": "unknown"}, {"value": "abc"}),
        ("refuse", "drop", "5"),
        (None, {"ABC": "abc", "5": "5", "a\\b": "a'b", True: "été"}),
    )
]
PARTS = [("year", ["1900-1999", "2000-2019", "2020", "2021-9999"], ["1940", "6010"])] + [
    (part, ["1", "2", f"3..{last - 1}"], ["1", str(last)])
    for part, last in (("quarter", 4), ("month", 12), ("day", 31))
]


def number(rules: dict[str, Any]) -> dict[str, Any]:
    bins = {"fine": ["-4..9"], "coarse": ["-4-4", "5-9"]}
    if rules["decimals"] != "0":
        edge = "0." + "0" * (int(rules["decimals"]) - 1) + "1"
        bins = {"fine": [f"-4-{5 - float(edge):.{rules['decimals']}f}", "5", f"{5 + float(edge)}-9"]}
    return {"name": "x", "bounds": ["-9", "9"], "alternatives": bins, **rules}


def category(rules: dict[str, Any]) -> dict[str, Any]:
    values = ["5", "abc", "a'b", 'a"b', "a%b", "été"]
    kept = {key: rule for key, rule in rules.items() if rule is not None}
    return {"name": "x", "values": values, "alternatives": {"fine": values}, **kept}


def date_part(part: str, bins: list[str], bounds: list[str], malformed: str, missing: Any) -> dict[str, Any]:
    return {
        "name": "x", "part": part, "bounds": bounds, "alternatives": {"fine": bins},
        "malformed": malformed, "missing": missing, "outside": "drop",
    }  # fmt: skip


def with_identity(column: dict[str, Any], size: int) -> Specification:
    """One more column tells the records apart."""
    identity = {"name": "id", "bounds": ["0", str(size)], "alternatives": {"each": [f"0..{size}"]}}
    rules = (
        []
        if column.get("values")
        else ["x > 6.5 and x < 8.5 or x in [1, 2.5]", "x <= -7.5 and x >= -8.5", "not (x != 3)"]
    )
    return specified([identity, column], raw=rules)


@cache
def engine() -> Any:
    return ibis.duckdb.connect()


def queried(encoding: Encoding, data: pyarrow.Table) -> Any:
    """The result of the query in DuckDB."""
    engine().con.register("data", data)
    return run(encoding.query(engine().table("data")))


def read(specification: Specification, data: pyarrow.Table) -> dict[int, tuple[int, ...]]:
    """The codes that the query of DuckDB gives to each record that it keeps."""
    encoding = Encoding(specification)
    found = queried(encoding, data)
    pieces = np.column_stack([found.column(name).to_numpy() for name in encoding.columns])
    assert set(found.column(COUNT).to_pylist()) <= {1}
    codes = [tuple(map(int, row)) for row in encoding.codes(pieces)]
    return {int(piece) - 2: row for piece, row in zip(found.column("id").to_pylist(), codes, strict=True)}


def told(codes: tuple[int, ...], names: tuple[str, ...]) -> Outcome:
    """Codes in the words of the oracle."""
    refusals = frozenset((REFUSALS[c], name) for c, name in zip(codes, names, strict=True) if c in REFUSALS)
    malformed = frozenset(pair for pair in refusals if pair[0] == "E140")
    if malformed or (refusals and LEFT_OUT not in codes):
        return malformed or refusals
    return oracle.LEFT_OUT if LEFT_OUT in codes else codes


def encoded(encoding: Encoding, records: list[dict[str, Any]]) -> list[tuple[int, ...]]:
    """What `encode` gives to each record, all at once."""
    pieces = [
        [e.piece(clean_value(e.column, record[e.column.raw_name])) for e in encoding.columns.values()]
        for record in records
    ]
    codes = [tuple(map(int, row)) for row in encoding.codes(np.array(pieces))]
    place = len(records) // 2
    assert codes[place] == encoding.encode(records[place])
    return codes


def compare(column: dict[str, Any], values: Any) -> None:
    """The engine, the reference and the oracle agree on each record."""
    data = pyarrow.table({"id": pyarrow.array(range(len(values)), pyarrow.int32()), "x": values})
    specification = with_identity(column, len(values))
    found = read(specification, data)
    encoding = Encoding(specification)
    for record, codes in zip(data.to_pylist(), encoded(encoding, data.to_pylist()), strict=True):
        assert told(codes, specification.names) == outcome(specification, record), (column, record)
        assert found.get(record["id"], (LEFT_OUT, LEFT_OUT)) == codes, (column, record)


@pytest.mark.parametrize("rules", NUMBER_RULES[::17], ids=str)
def test_numbers_in_text(rules: dict[str, Any]) -> None:
    compare(number(rules), NATIVE["text"])


@pytest.mark.parametrize("digits", range(4))
def test_every_rule_of_a_number_in_the_reference(digits: int) -> None:
    for rules in (rules for rules in NUMBER_RULES if rules["decimals"] == str(digits)):
        specification = specified(
            [number(rules)],
            raw=["x > 6.5 and x < 8.5 or x in [1, 2.5]", "x <= -7.5 and x >= -8.5", "not (x != 3)"],
        )
        records = [{"x": text} for text in TEXTS]
        for record, codes in zip(records, encoded(Encoding(specification), records), strict=True):
            assert told(codes, ("x",)) == outcome(specification, record), (rules, record)


@pytest.mark.parametrize("kind", NATIVE)
def test_numbers_of_every_type(kind: str) -> None:
    for digits, rounding in ((0, None), (3, "down")):
        rules = {"decimals": str(digits), "round": rounding, "malformed": "missing", "outside": "clip"}
        compare(number({**rules, "missing": {"code": "unknown"}}), NATIVE[kind])


@pytest.mark.parametrize("rules", CATEGORY_RULES[::2] + CATEGORY_RULES[1::6], ids=str)
def test_categories_in_text(rules: dict[str, Any]) -> None:
    compare(category(rules), NATIVE["text"])


@pytest.mark.parametrize("kind", NATIVE)
def test_categories_of_every_type(kind: str) -> None:
    texts = {True: "abc", False: "été", "5": "5", "1": "a'b", "2020-01-31": "a%b"}
    compare(category({"missing": {"code": "unknown"}, "outside": "refuse", "map": texts}), NATIVE[kind])


@pytest.mark.parametrize("kind", ["text", "date", "timestamp", "int8"])
@pytest.mark.parametrize("part", PARTS, ids=[part[0] for part in PARTS])
def test_parts_of_dates(kind: str, part: tuple[str, list[str], list[str]]) -> None:
    for malformed in MALFORMED if kind == "text" else ("missing",):
        compare(date_part(*part, malformed, {"code": "unknown"}), NATIVE[kind])


fields = st.one_of(
    st.none(),
    st.sampled_from(TEXTS),
    st.text("0123456789+-. \t\n٣e_", max_size=8),
    st.integers(-12, 12).map(str),
    st.decimals(-10, 10, places=2).map(str),
    st.dates().map(str),
)


@settings(max_examples=15)
@given(st.sampled_from(NUMBER_RULES), st.lists(fields, min_size=1, max_size=60))
def test_numbers_in_any_text(rules: dict[str, Any], values: list[str | None]) -> None:
    compare(number(rules), pyarrow.array(values, pyarrow.string()))


@settings(max_examples=15)
@given(st.sampled_from(NUMBER_RULES), st.lists(st.none() | st.floats(), min_size=1, max_size=60))
def test_any_binary_number(rules: dict[str, Any], values: list[float | None]) -> None:
    compare(number(rules), pyarrow.array(values, pyarrow.float64()))


@settings(max_examples=10)
@given(st.sampled_from(PARTS), st.lists(fields | st.text(max_size=4), min_size=1, max_size=60))
def test_dates_in_any_text(part: tuple[str, list[str], list[str]], values: list[str | None]) -> None:
    encodable = [v if v is None else v.encode(errors="ignore").decode() for v in values]
    compare(date_part(*part, "drop", {"code": "unknown"}), pyarrow.array(encodable, pyarrow.string()))


CLAMPS: list[dict[str, Any]] = [
    {"never": "age < 15 and births > 2", "clamp": {"births": "2"}},
    {"never": "age is missing and births > 2", "clamp": {"age": "30"}},
    {"never": "kind = B and age < 12", "clamp": {"kind": "A", "age": "12"}},
]


Rules = tuple[str, Any, str, str, Any, str, Any]


def several(policy: str, rules: Rules, raw: list[Any], only: dict[str, str] | None = None) -> Specification:
    """Three columns under these rules, with all alternatives or the chosen ones only."""
    malformed, missing, outside, malformed_2, missing_2, unknown, missing_3 = rules
    columns: list[dict[str, Any]] = [
            {
                "name": "age", "bounds": ["10", "50"], "malformed": malformed, "missing": missing,
                "outside": outside, "alternatives": {"fine": ["10..50"], "coarse": ["10-14", "15-50"]},
            },
            {
                "name": "births", "bounds": ["0", "9"], "decimals": "1", "malformed": malformed_2,
                "missing": missing_2, "outside": "clip", "alternatives": {"fine": ["0-2", "2.1-9.0"]},
            },
            {
                "name": "kind", "values": ["A", "B", "C"], "outside": unknown, "missing": missing_3,
                "alternatives": {"fine": ["A", "B", "C"], "coarse": {"A": "A", "other": ["B", "C"]}},
            },
    ]  # fmt: skip
    for column in columns if only else ():
        column["alternatives"] = {"only": column["alternatives"][(only or {})[column["name"]]]}
    return specified(columns, policy, raw)


DECLARED: list[Any] = [
    "age < 15 and births > 2",
    "kind = B and (age < 12 or births >= 8.5)",
    "births is missing and kind is missing",
    "kind not in [A, C] and age in [20, 21, 99]",
]
AGES = [None, "x", "9", "11", "12", "14", "15", "20", "51", "99"]
BIRTHS = [None, "?", "2.0", "2.1", "2.15", "8.5", "-1"]
KINDS = [None, "A", "B", " D "]
RECORDS = [
    dict(zip(("age", "births", "kind"), values, strict=True))
    for values in itertools.product(AGES, BIRTHS, KINDS)
]
RULES = list(
    itertools.product(
        MALFORMED,
        ("refuse", "drop", {"code": "?"}, {"value": "20"}),
        OUTSIDE,
        MALFORMED,
        ("refuse", "drop", {"code": "?"}, {"value": "2.1"}),
        ("refuse", "drop", "C"),
        ("refuse", "drop", {"code": "?"}, {"value": "B"}),
    )
)
KEEPING = [rules for rules in RULES if "drop" not in rules]


def check_records(specification: Specification) -> None:
    encoding = Encoding(specification)
    expected: Counter[Outcome] = Counter()
    for record, codes in zip(RECORDS, encoded(encoding, RECORDS), strict=True):
        found = outcome(specification, record)
        assert told(codes, specification.names) == found, record
        expected[found] += 1
    result = queried(encoding, pyarrow.Table.from_pylist(RECORDS))
    pieces = {name: result.column(name).to_numpy() for name in encoding.columns}
    table, refusals = encoding.table(pieces, result.column(COUNT).to_numpy())
    rows = {o: n for o, n in expected.items() if isinstance(o, tuple)}
    assert table == Table.from_rows(encoding.domain, list(rows), list(rows.values()))
    wanted = {pair for o in expected if isinstance(o, frozenset) for pair in o}
    assert bool(refusals) is bool(wanted)
    assert not wanted or min(refusals) == min(wanted)


@pytest.mark.parametrize("rules", random.Random(1).sample(RULES, 16), ids=str)
def test_policy_declared(rules: Rules) -> None:
    check_records(several("declared", rules, DECLARED))


@pytest.mark.parametrize("rules", random.Random(2).sample(KEEPING, 12), ids=str)
def test_policy_clamp(rules: Rules) -> None:
    check_records(several("clamp", rules, CLAMPS))


def test_a_clamp_does_not_hide_a_malformed_value() -> None:
    rules = ("refuse", {"code": "?"}, "clip", "missing", "refuse", "C", "refuse")
    specification = several("clamp", rules, CLAMPS)
    record = {"age": "x", "births": "5", "kind": "A"}
    assert told(Encoding(specification).encode(record), specification.names) == frozenset({("E140", "age")})


CLIPPED: list[dict[str, Any]] = [
    {"name": "age", "bounds": ["18", "21"], "outside": "clip", "alternatives": {"fine": ["18..21"]}},
    {"name": "kids", "bounds": ["0", "9"], "outside": "clip", "alternatives": {"fine": ["0..9"]}},
]


@pytest.mark.parametrize(
    ("age", "kids", "codes"),
    [
        ("22", "9", (-1, -1)),
        ("22", "1", (3, 1)),
        ("20", "9", (-1, -1)),
        ("-1", "2", (-1, -1)),
        ("99", "-5", (3, 0)),
    ],
)
def test_a_plausible_record_is_not_clipped_into_an_impossible_cell(
    age: str, kids: str, codes: tuple[int, ...]
) -> None:
    specification = specified(CLIPPED, raw=["age <= 21 and kids > 1"])
    record = {"age": age, "kids": kids}
    assert Encoding(specification).encode(record) == codes
    assert outcome(specification, record) == (oracle.LEFT_OUT if codes[0] < 0 else codes)
    pair = pyarrow.Table.from_pylist([record, {"age": "18", "kids": "0"}, {"age": "18", "kids": "0"}])
    assert read_public(pair, specification).n == 2 + (codes[0] >= 0)


def test_a_refused_value_is_refused_wherever_the_others_are_clipped() -> None:
    kind = {"name": "kind", "values": ["A"], "alternatives": {"fine": ["A"]}}
    specification = specified([*CLIPPED, kind], raw=["age <= 21 and kids > 1"])
    for values, expected in {
        ("22", "9", "B"): frozenset({("E142", "kind")}),
        ("22", "9", None): frozenset({("E141", "kind")}),
        ("20", "9", "B"): oracle.LEFT_OUT,
        ("22", "?", "A"): frozenset({("E140", "kids")}),
    }.items():
        record = dict(zip(("age", "kids", "kind"), values, strict=True))
        assert told(Encoding(specification).encode(record), specification.names) == expected
        assert outcome(specification, record) == expected


def test_under_clamp_too_no_record_is_coded_into_an_impossible_cell() -> None:
    """The last clamp leads into the first rule, which the loader should have refused."""
    clamps = {"age = 21 and kids = 1": {"kids": "0"}, "age is missing": {"age": "21"}}
    rules = tuple(Constraint(never=never, source="a test", clamp=clamp) for never, clamp in clamps.items())
    specification = specified(CLIPPED)
    constraints = specification.constraints.model_copy(update={"policy": "clamp", "raw": rules})
    clamping = specification.model_copy(update={"constraints": constraints})
    assert Encoding(clamping).encode({"age": "22", "kids": "1"}) == (3, 0)
    assert Encoding(clamping).encode({"age": None, "kids": "2"}) == (3, 2)
    assert Encoding(clamping).encode({"age": None, "kids": "1"}) == (LEFT_OUT, LEFT_OUT)


@pytest.mark.parametrize("seed", range(5))
def test_recoding_equals_encoding_under_the_alternative(seed: int) -> None:
    rules = random.Random(seed).choice([r for r in RULES if "refuse" not in r])
    specification = several("declared", rules, DECLARED)
    finest = [codes for r in RECORDS if isinstance(codes := outcome(specification, r), tuple)]
    table = Table.from_rows(Encoding(specification).domain, finest)
    for chosen in ({"age": "coarse", "kind": "coarse"}, {"age": "fine", "kind": "coarse"}):
        alternatives = {"births": "fine", **chosen}
        direct = several("declared", rules, DECLARED, alternatives)
        coarse = [codes for r in RECORDS if isinstance(codes := outcome(direct, r), tuple)]
        recoded = recode(specification, table, alternatives)
        assert recoded.domain == Domain(specification.axes(alternatives))
        expected = Table.from_rows(Domain(direct.finest()), coarse)
        assert np.array_equal(recoded.codes, expected.codes)
        assert np.array_equal(recoded.counts, expected.counts)


@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=20))
@settings(max_examples=20)
def test_a_piece_is_among_those_wanted_in_sql_too(masks: list[list[bool]]) -> None:
    table = ibis.memtable(pyarrow.table({"place": range(9)}))
    tests = [_among(table.place, np.array(mask)) for mask in masks]
    assert [len(test) for test in tests] == [int(any(mask)) for mask in masks]
    wanted = {f"m{i}": test[0] for i, test in enumerate(tests) if test}
    found = engine().to_pyarrow(table.select("place", **wanted).order_by("place")).to_pydict()
    assert all(found[name] == masks[int(name[1:])] for name in wanted)


def test_the_query_takes_out_all_that_rules_and_raw_constraints_leave_out() -> None:
    """But for what is implausible only as it is coded."""
    for malformed in ("drop", "refuse"):
        rules: Rules = (malformed, "drop", "drop", "drop", "drop", "drop", "drop")
        encoding = Encoding(several("declared", rules, DECLARED))
        result = queried(encoding, pyarrow.Table.from_pylist(RECORDS))
        codes = encoding.codes(np.column_stack([result.column(name).to_numpy() for name in encoding.columns]))
        refused = (codes == MALFORMED_CODE).any(axis=1)
        assert (codes[~refused] != LEFT_OUT).all() and len(codes) > 10
        assert refused.any() == (malformed == "refuse")


def test_what_is_malformed_is_refused_though_another_column_leaves_its_record_out() -> None:
    encoding = Encoding(
        several("declared", ("refuse", "drop", "drop", "drop", "drop", "drop", "drop"), DECLARED)
    )
    record = {"age": "x", "births": "5", "kind": "unknown"}
    result = queried(encoding, pyarrow.Table.from_pylist([record]))
    assert result.num_rows == 1


@pytest.mark.parametrize("decimals", range(7))
def test_sums_of_public_values_have_three_more_digits_and_at_most_six(decimals: int) -> None:
    column = number({"decimals": str(decimals), "round": "down"}) | {"alternatives": {"all": ["-4-4", "4<"]}}
    encoding = Encoding(specified([column])).columns["x"]
    assert encoding.exact.decimals == min(6, decimals + 3)
    assert Encoding(specified([column | {"round": None}])).columns["x"].exact.decimals == decimals


def test_pieces_that_16_bits_cannot_number_have_32() -> None:
    column = specified([number({"decimals": "0"})]).columns[0]
    encoding = ColumnEncoding(column, frozenset(range(33_000)), clamping=False)
    table = ibis.memtable(pyarrow.table({"x": [0, 32_765, 32_766, 32_767, 33_000]}))
    found = engine().to_pyarrow(table.select(piece=encoding.sql(table.x, loose=True)))
    assert sorted(found.column("piece").to_pylist()) == [
        encoding.piece(x) for x in table.to_pyarrow()["x"].to_pylist()
    ]


def test_the_query_does_not_depend_on_the_order_of_records() -> None:
    specification = several("declared", ("drop", "drop", "drop", "drop", "drop", "drop", "drop"), DECLARED)
    tables = []
    for seed in range(2):
        records = random.Random(seed).sample(RECORDS, len(RECORDS))
        encoding = Encoding(specification)
        result = queried(encoding, pyarrow.Table.from_pylist(records))
        pieces = {name: result.column(name).to_numpy() for name in encoding.columns}
        tables.append(encoding.table(pieces, result.column(COUNT).to_numpy())[0])
    assert tables[0] == tables[1]


def test_a_number_of_any_size_has_a_value_and_what_is_malformed_has_none() -> None:
    numbers = {-FAR: True, FAR: True, 0: True, BAD: False}
    shown = ibis.duckdb.connect()
    for number, has_value in numbers.items():
        value = shown.execute(_value(ibis.literal(number, "int64")))
        assert value == number if has_value else value is None or value != value

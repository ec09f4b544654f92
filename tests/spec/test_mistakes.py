"""All mistakes of a specification at once: each found, at its line, and none besides."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import EXAMPLES, ROOT
from facsimile.errors import FacsimileError, SpecRefused
from facsimile.release.check import mistakes, thorough
from facsimile.spec.load import NAMELESS, loads
from facsimile.spec.mistakes import Mistake, line_of, nearest
from facsimile.spec.release import Specification
from mutations import mutants, mutated

LOANS = (ROOT / "tests" / "loans" / "release.yaml").read_text(encoding="utf-8")
TWELVE = (ROOT / "tests" / "loans" / "twelve.yaml").read_text(encoding="utf-8")
TEXTS = {
    "loans": LOANS,
    **{
        f"{path.parent.name}-{path.stem}": path.read_text(encoding="utf-8")
        for path in sorted(EXAMPLES.rglob("*.yaml"))
        if "\nfacsimile: 1\n" in f"\n{path.read_text(encoding='utf-8')}"
    },
}
MUTANTS = {name: list(mutants(text)) for name, text in TEXTS.items()}


def told(text: str) -> list[FacsimileError]:
    with pytest.raises(SpecRefused) as caught:
        loads(text, mistakes, thorough)
    assert not caught.value.more
    return [caught.value, *caught.value.others]


def marked(text: str) -> list[tuple[int, str]]:
    """The lines whose comment names a code."""
    found = [re.search(r"# (E\d{3})$", line) for line in text.splitlines()]
    return [(number, code[1]) for number, code in enumerate(found, 1) if code]


def agree(found: list[FacsimileError], wanted: list[tuple[int, str]]) -> bool:
    return len(found) == len(wanted) and all(
        error.line == line and re.fullmatch(code, error.code)
        for error, (line, code) in zip(found, wanted, strict=True)
    )


def test_twelve_mistakes_are_told_in_one_go() -> None:
    loads(LOANS, mistakes, thorough)
    assert len(marked(TWELVE)) == 12
    assert agree(told(TWELVE), marked(TWELVE))


@pytest.mark.parametrize("name", TEXTS)
def test_each_mistake_alone_is_told_once(name: str) -> None:
    text, every = TEXTS[name], MUTANTS[name]
    assert len({kind for _, kind, _ in every}) > 9
    for place, kind, lines in every if name == "loans" else every[::7]:
        changed, wanted = mutated(text, {place: lines})
        found = told(changed)
        assert agree(found, wanted), (kind, wanted, [str(error) for error in found])


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=40)
@given(data=st.data())
def test_every_one_of_several_mistakes_is_told(name: str, data: st.DataObject) -> None:
    picked = data.draw(st.lists(st.integers(0, len(MUTANTS[name]) - 1), min_size=2, max_size=12))
    chosen = {MUTANTS[name][i][0]: MUTANTS[name][i][2] for i in picked}
    changed, wanted = mutated(TEXTS[name], chosen)
    found = told(changed)
    assert agree(found, wanted), (wanted, [str(error) for error in found])


@settings(max_examples=300)
@given(text=st.text(max_size=300) | st.binary(max_size=300))
def test_any_text_is_a_specification_or_refused(text: str | bytes) -> None:
    only_refused(text)


WORDS = [
    "",
    "null",
    "true",
    "[]",
    "{}",
    "7",
    "-1",
    "age",
    "days",
    "{a: [1, 2]}",
    "[[a], b]",
    "x: y",
    "0..9",
    "<3",
    "1e99",
    "-",
]


@settings(max_examples=600)
@given(data=st.data())
def test_any_change_of_a_specification_is_one_or_refused(data: st.DataObject) -> None:
    """A key, a value, a line or a character replaced by what does not belong there."""
    lines = LOANS.splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        line = lines[place]
        change = data.draw(st.sampled_from(["value", "key", "drop", "character", "indent"]))
        if change == "value" and ":" in line:
            lines[place] = f"{line.partition(':')[0]}: {data.draw(st.sampled_from(WORDS))}"
        elif change == "key":
            lines[place] = re.sub(
                r"\w+:", data.draw(st.sampled_from([*WORDS, "of", "by", "name"])) + ":", line, count=1
            )
        elif change == "character" and line:
            at = data.draw(st.integers(0, len(line) - 1))
            lines[place] = line[:at] + data.draw(st.sampled_from("[]{}:-,#'\"x0 \t<&*!é\x1b")) + line[at + 1 :]
        elif change == "indent":
            lines[place] = f"  {line}"
        else:
            lines[place] = ""
    only_refused("\n".join(lines))


def only_refused(text: str | bytes) -> None:
    """The text is a specification, or it is refused: with lines in order, one to a mistake, all printable."""
    try:
        assert isinstance(loads(text, mistakes, thorough), Specification)
    except SpecRefused as error:
        said = str(error).splitlines()
        assert len(said) == 1 + len(error.others) + bool(error.more)
        assert all(line.isprintable() and len(line) < 1000 for line in said)
        assert NAMELESS not in str(error).lower()
        assert "Input should" not in str(error)
        lines = [each.line or 0 for each in (error, *error.others)]
        assert lines == sorted(lines)


def test_a_word_that_is_wrong_twice_in_a_rule_is_told_once() -> None:
    found = told(LOANS.replace("never: age > 120", "never: aeg > 120 or aeg < 0 or dayz < 0"))
    assert [error.next_step for error in found] == ["Did you mean age?", "Did you mean days?"]


def test_checks_of_a_whole_specification_wait_until_it_has_no_other_mistakes() -> None:
    def never(_: Specification) -> Iterator[Mistake]:
        raise AssertionError("it is not whole")
        yield

    with pytest.raises(SpecRefused):
        loads(TWELVE, mistakes, never)
    with pytest.raises(SpecRefused):
        loads(LOANS + "title: again\n", mistakes, never)


@pytest.mark.parametrize("name", ["Days", "days ago", "age", ""])
def test_what_speaks_of_a_badly_named_column_is_not_wrong_too(name: str) -> None:
    """Neither told nor looked at: rules and clamps speak of a column that is not known by its name."""
    text = LOANS.replace("policy: declared", "policy: clamp").replace("drop", "refuse")
    rule = "    - {never: days > 99, source: x, clamp: {days: 60}}\n"
    text = text.replace(
        "      source: nobody is so old\n", f"      source: old\n      clamp: {{age: 99}}\n{rule}"
    )
    loads(text, mistakes)
    found = told(text.replace("name: days", f"name: {name}"))
    assert [error.line for error in found] == [28]


def test_a_list_or_a_mapping_of_bins_is_told_in_the_form_it_has() -> None:
    wrong = LOANS.replace("coarse: [0-13, 14-27, 28-60]", "coarse: {short: 0-13, long: [14-60]}")
    assert [str(error.line) for error in told(wrong)] == ["32"]
    assert "bins are texts" in str(told(wrong)[0])
    assert len(told(LOANS.replace("coarse: [0-13, 14-27, 28-60]", "coarse: 7"))) == 1
    assert (
        len(told(LOANS.replace("missing: drop\n    outside", "missing: {cod: x, number: 1}\n    outside"))) == 1
    )
    assert len(told(LOANS.replace("missing: drop\n    outside", "missing: [drop]\n    outside"))) == 1


def test_the_nearest_name_is_told_whatever_its_capitals() -> None:
    assert nearest("DAYS", ["age", "days"]) == "days"
    assert nearest("branch_code", ["age", "days"]) is None


def test_all_mistakes_are_in_the_json() -> None:
    with pytest.raises(SpecRefused) as caught:
        loads(TWELVE)
    said: dict[str, Any] = caught.value.as_json()
    assert len(said["errors"]) == 12 and "more" not in said
    assert said["error"] == said["errors"][0]
    assert [(each["line"], each["code"]) for each in said["errors"]] == marked(TWELVE)


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    found = told(LOANS.replace("of: days", 'of: "\\e[2J\\u202eday"'))
    assert str(found[0]).isprintable()


def test_mistakes_of_a_misspelled_family_are_told_too() -> None:
    found = told(LOANS.replace("family: privbayes", "family: privbays").replace("theta: [4", "thta: [4"))
    assert [(error.line, error.code) for error in found] == [(47, "E213"), (49, "E213")]


def test_a_bin_is_told_where_it_stands() -> None:
    """Each that cannot be read; the one after a gap; the list where nothing is nearer."""
    bins = "coarse:\n        - 0-13\n        - 14-27\n        - 28-60\n"
    text = LOANS.replace("coarse: [0-13, 14-27, 28-60]\n", bins)
    assert [error.line for error in told(text.replace("14-27", "15-27"))] == [34]
    assert [error.line for error in told(text.replace("14-27", "x").replace("28-60", "y"))] == [34, 35]
    assert [error.line for error in told(text.replace("14-27", "0-13"))] == [34]
    assert [error.line for error in told(LOANS.replace("coarse: [0-13, 14-27, 28-60]", "coarse: []"))] == [32]


def test_a_truth_value_in_a_map_is_told_once_at_its_line() -> None:
    text = LOANS.replace("map: {N: north, S: south}", "map:\n      true: nort\n      false: south")
    assert [error.line for error in told(text)] == [22]


def test_a_place_that_is_not_in_the_file_has_the_line_of_what_is_around_it() -> None:
    lines = {(): 1, ("a",): 2, ("a", 0): 3, ("a", 0, "b"): 4}
    assert line_of(("a", 0, "b"), lines) == 4
    assert line_of(("a", 0, "c", "d"), lines) == 3
    assert line_of(("x", "y"), lines) == 1
    assert line_of(("x",), {}) is None

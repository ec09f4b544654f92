import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from facsimile.errors import SpecRefused
from facsimile.spec.constraints import Possible, holds
from facsimile.spec.load import load, validated
from facsimile.spec.release import Specification
from specs import changed, small


def test_the_examples_differ_only_in_people_title_and_number(births: Path) -> None:
    release, nvss = (load(births / f"{name}.yaml").model_dump() for name in ("release", "nvss"))
    for key in ("title", "records", "publisher", "governance"):
        assert release.pop(key) != nvss.pop(key)
    assert release == nvss
    assert load(births / "release.yaml").n == 165_915
    assert load(births / "nvss.yaml").n == 158_500


def test_the_released_example_keeps_one_alternative(births: Path) -> None:
    released, release = load(births / "released.yaml"), load(births / "release.yaml")
    assert [axis.size for axis in released.finest()] == [12, 10, 5, 6, 2, 32]
    for column in released.columns:
        assert release.column(column.name).axis("released") == column.axis("released")


def test_the_paper_alternatives_are_all_there(births: Path) -> None:
    release = load(births / "release.yaml")
    sizes = {c.name: [c.axis(a).size for a in c.alternatives] for c in release.columns}
    assert sizes == {
        "birth_month": [12], "mother_age": [10, 9, 29], "parity": [5, 11], "gestation_week": [6, 15],
        "birth_sex": [2], "birth_weight": [32],
    }  # fmt: skip
    assert [a.size for a in release.finest()] == [12, 29, 11, 15, 2, 32]
    assert len(release.constraints.raw) == 10
    assert len(release.constraints.synthetic) == 4


def test_the_digest_depends_on_the_promise_alone(births: Path) -> None:
    text = (births / "release.yaml").read_text()
    from facsimile.spec.load import loads

    assert loads("# a comment\n" + text).digest() == loads(text).digest()
    assert loads(text.replace("0.30", "0.3")).digest() == loads(text).digest()
    assert loads(text.replace("0.30", "0.31")).digest() != loads(text).digest()


@pytest.mark.parametrize(
    ("never", "words"),
    [
        ("height > 3", "unknown column height"),
        ("age = young", "with the text young"),
        ("sex < F", "orders the categories"),
        ("sex = X", "not a value"),
        ("age = sex", "number with a category"),
        ("age <", "ends where"),
    ],
)
def test_a_constraint_about_nothing_is_refused(never: str, words: str) -> None:
    with pytest.raises(SpecRefused, match=words):
        small("constraints.raw", [{"never": never, "source": "x"}])


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        ({"criterion": "mean", "of": "height", "by": []}, "unknown column"),
        ({"criterion": "mean", "of": "age", "by": ["sex"]}, "declares no groups"),
        ({"criterion": "faithfulness", "match": ["sex"], "reference": "none"}, "no alternative none"),
    ],
)
def test_a_criterion_about_nothing_is_refused(criterion: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecRefused, match=words):
        small("criteria", [criterion | {"threshold": "1", "epsilon": "1"}])


OWN = {"criterion": "marginals-absolute", "threshold": "0.1", "epsilon": "0.1"}
SHARED = {"criterion": "total-variation", "ways": "1", "threshold": "0.1"}
STEP = {"criterion": "regression-coefficients", "target": "age", "threshold": "1", "epsilon": "0.1"}
SINGLE = {"mode": "single"}


def measured(*criteria: dict[str, Any], test: str | None = None, **changes: Any) -> Specification:
    """Scheme measured with some criteria."""
    budget = {"total": "5", "generator": "1"} | ({"test": test} if test else {})
    data = changed("criteria", list(criteria)) | {"scheme": "measured", "budget": budget, "selection": SINGLE}
    return validated(data | changes)


def test_in_scheme_measured_a_criterion_has_an_epsilon_or_shares_one() -> None:
    assert [c.epsilon for c in measured(OWN, SHARED, test="0.2").criteria] == [Fraction(1, 10), 0]
    mixed = measured(OWN, SHARED, test="0.2")
    assert [mixed.tested_together(c) for c in mixed.criteria] == [False, True]
    assert [mixed.epsilon_of(c) for c in mixed.criteria] == [Fraction(1, 10), Fraction(1, 5)]
    again = validated(json.loads(mixed.canonical()))
    assert again == mixed and "epsilon" not in json.loads(mixed.canonical())["criteria"][1]


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: measured(OWN, SHARED), "E200", "no budget.test to share"),
        (lambda: measured(OWN, test="0.2"), "E200", "very criterion has an epsilon of its own"),
        (lambda: measured(OWN, SHARED | {"epsilon": "0"}, test="0.2"), "E201", "greater than zero"),
        (lambda: measured(STEP, statistic="paper"), "E200", "use statistic sharp"),
        (lambda: measured(STEP | {"statistic": "paper"}), "E200", "use statistic sharp"),
        (lambda: measured(OWN, selection={"mode": "paper"}), "E204", "in a search until success"),
        (lambda: small("criteria", [SHARED]), "E214", "`epsilon` is missing in criterion total-variation"),
    ],
)
def test_what_scheme_measured_cannot_test_is_refused(
    make: Callable[[], Specification], code: str, words: str
) -> None:
    with pytest.raises(SpecRefused, match=words) as caught:
        make()
    assert caught.value.code == code


def test_numbers_are_needed_where_a_criterion_computes_with_them() -> None:
    data = changed(
        "criteria", [{"criterion": "regression-mae", "target": "age", "threshold": "1", "epsilon": "1"}]
    )
    validated(data)
    data["columns"][1]["missing"] = {"code": "unknown"}
    with pytest.raises(SpecRefused, match="needs a number"):
        validated(data)


CLAMPS = [
    {"never": "age > 120", "source": "x", "clamp": {"age": "120"}},
    {"never": "age < 12 and sex = F", "source": "x", "clamp": {"age": "12"}},
]


def clamping(rules: list[dict[str, Any]]) -> dict[str, Any]:
    return changed("constraints", {"policy": "clamp", "raw": rules})


def test_clamped_records_are_plausible() -> None:
    specification = validated(clamping(CLAMPS))
    conditions = specification.raw_conditions
    for age in range(-5, 140):
        for sex in ("M", "F", None):
            after = specification.clamped({"age": Fraction(age), "sex": sex})
            assert not any(holds(c, after) for c in conditions)
            plausible = not any(holds(c, {"age": Fraction(age), "sex": sex}) for c in conditions)
            assert (after == {"age": age, "sex": sex}) == plausible


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ([{"never": "age > 120", "source": "x"}], "needs a `clamp` rule"),
        ([{"never": "age > 120", "source": "x", "clamp": {"age": "125"}}], "can still satisfy"),
        ([{"never": "age > 120", "source": "x", "clamp": {"height": "125"}}], "unknown column height"),
        ([{"never": "age > 120", "source": "x", "clamp": {"sex": "X"}}], "outside the domain"),
        ([*CLAMPS, {"never": "age = 12", "source": "x", "clamp": {"age": "11"}}], "can still satisfy"),
    ],
)
def test_a_clamp_that_does_not_help_is_refused(rules: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(SpecRefused, match=words):
        validated(clamping(rules))


@pytest.mark.parametrize(
    "rules",
    [
        ({"age = 21 and sex = 'M'": {"sex": "F"}, "age is missing": {"age": "21"}}),
        ({"sex = 'M' and age = 21": {"age": "20"}, "sex != 'F' and sex != 'M'": {"sex": "M"}}),
    ],
    ids=["a blank", "an unknown category"],
)
def test_a_clamp_is_proved_for_values_that_would_be_refused(rules: dict[str, Any]) -> None:
    """The second clamp turns a blank or an unknown category into what the first rule forbids."""
    data = clamping([{"never": never, "source": "x", "clamp": clamp} for never, clamp in rules.items()])
    for each in data["columns"]:
        each["missing"] = "refuse"
        if "values" in each:
            each["outside"] = "refuse"
    with pytest.raises(SpecRefused, match="can still satisfy"):
        validated(data)


def test_a_part_of_a_date_has_no_decimals() -> None:
    data = changed("columns.0.decimals", "1")
    data["columns"][0]["part"] = "month"
    with pytest.raises(SpecRefused, match="no decimals"):
        validated(data)


def test_a_clamping_policy_drops_nobody() -> None:
    data = clamping(CLAMPS)
    data["columns"][0]["outside"] = "drop"
    with pytest.raises(SpecRefused, match="keeps every record"):
        validated(data)


def test_clamps_of_the_births_rules_are_checked_in_seconds(births: Path) -> None:
    from facsimile.spec.load import parse

    data, _ = parse((births / "released.yaml").read_bytes())
    rules = {
        "birth_weight < 500 or birth_weight > 5500": {"birth_weight": "1000"},
        "mother_age < 23 and parity > 6": {"parity": "6"},
        "mother_age < 20 and parity > 3": {"parity": "3"},
        "gestation_week < 29 and birth_weight > 2999": {"birth_weight": "2999"},
    }
    raw = [{"never": never, "source": "x", "clamp": clamp} for never, clamp in rules.items()]
    data["constraints"] = {"policy": "clamp", "raw": raw}
    for column in data["columns"]:
        column["missing"] = {"value": {"birth_sex": "M"}.get(column["name"], "10")}
        if column.get("outside") == "drop":
            column["outside"] = "M" if column["name"] == "birth_sex" else "clip"
    start = time.process_time()
    validated(data)
    assert time.process_time() - start < 5


def test_a_threshold_above_the_clip_is_refused_in_the_form_that_clips() -> None:
    ratio = {"criterion": "marginals-relative", "threshold": "3", "epsilon": "0.1"}
    data = changed("criteria", [ratio | {"statistic": "paper"}])
    with pytest.raises(SpecRefused, match="always passes"):
        validated(data)
    for fine in (ratio | {"statistic": "sharp"}, ratio | {"statistic": "paper", "clip": "3"}):
        validated(changed("criteria", [fine]))


def reading(rule: dict[str, Any], kind: str = "synthetic") -> dict[str, Any]:
    return changed(f"constraints.{kind}", [{"never": "age > 120", "source": "biology"} | rule])


def test_a_rule_says_how_it_reads_bins() -> None:
    silent, said, other = (validated(reading(rule)) for rule in ({}, {"bins": "all"}, {"bins": "any"}))
    assert [s.constraints.synthetic[0].bins for s in (silent, said, other)] == ["all", "all", "any"]
    assert silent.digest() == said.digest() != other.digest()
    assert "bins" not in silent.canonical() and '"bins":"any"' in other.canonical()
    assert isinstance(other.synthetic_conditions[0], Possible)
    assert not isinstance(silent.synthetic_conditions[0], Possible)
    again = validated(other.model_dump(mode="json", exclude_none=True))
    assert again.constraints.synthetic[0].bins == "any"


def test_a_raw_rule_is_always_read_by_all() -> None:
    with pytest.raises(SpecRefused, match="raw rule may not have `bins: any`"):
        validated(reading({"bins": "any"}, "raw"))
    assert validated(reading({"bins": "all"}, "raw")).digest() == validated(reading({}, "raw")).digest()


def test_another_reading_is_refused() -> None:
    with pytest.raises(SpecRefused, match="bins"):
        validated(reading({"bins": "some"}))


def test_a_rule_that_cannot_be_decided_is_refused() -> None:
    """Three columns of 200 bins, each compared with the others; the same in the reading `all` is fine."""
    data = changed("constraints.synthetic", [])
    age = {"name": "a", "description": "A", "bounds": ["0", "200"], "alternatives": {"years": ["0..199"]}}
    data["columns"] += [age | {"name": name} for name in ("a", "b", "c")]
    rule = {"never": "a < b and b < c", "source": "x"}
    data["constraints"]["synthetic"] = [rule]
    assert validated(data).constraints.synthetic[0].never == rule["never"]
    data["constraints"]["synthetic"] = [rule | {"bins": "any"}]
    with pytest.raises(SpecRefused, match="ties too many bins together"):
        validated(data)
    data["constraints"]["synthetic"] = [{"never": "a < 3 and b < 3 and c < 3", "source": "x", "bins": "any"}]
    assert validated(data).synthetic_conditions


def test_languages_are_named_once_by_their_short_names() -> None:
    assert '"languages"' not in small().canonical(), "a plan of before has the hash that it had"
    assert small("languages", ["he", "en"]).languages == ("he", "en")
    for wrong, words in (
        (["en", "en"], "Two languages are the same"),
        (["English"], "small letters"),
        ([], "languages"),
    ):
        with pytest.raises(SpecRefused, match=words):
            small("languages", wrong)

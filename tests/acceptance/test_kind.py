"""Criteria in words: every kind has its case, and the words are those of the criterion."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest

from documents.drawn import KINDS as SAMPLES
from documents.drawn import criteria
from facsimile.acceptance.candidate import Candidate
from facsimile.acceptance.groups import groupings, means, members
from facsimile.acceptance.kind import KINDS, Kind, Stand, Told, cheapest_first, kind_of, titles
from facsimile.acceptance.original import Original
from facsimile.acceptance.planned import declared as declared_in
from facsimile.acceptance.regression import Fit
from facsimile.privacy.curator import Curator
from facsimile.privacy.ledger import MemoryLedger
from facsimile.privacy.mechanisms import NoisyMarginals, NoisyScores
from facsimile.privacy.noise import RehearsalNoise
from facsimile.privacy.reader import rehearse
from facsimile.release.questions import choices, made_up
from facsimile.spec.choices import Statistic
from facsimile.spec.criteria import Criterion, MarginalsAbsolute
from facsimile.spec.load import loads, validated
from facsimile.table.numbers import deviation
from facsimile.table.regression import Scaling, design, least_squares
from facsimile.table.scores import ONE
from facsimile.table.table import Table
from golden.rehearsals import declared, paid
from specs import SMALL


def criterion(kind: str, **changes: Any) -> Criterion:
    data = SMALL | {"criteria": [criteria([kind])[0] | changes], "budget": SMALL["budget"] | {"once": "1"}}
    return validated(data).criteria[0]


def told(criterion: Criterion) -> Told:
    return kind_of(criterion).told


@pytest.mark.parametrize("kind", sorted(SAMPLES))
@pytest.mark.parametrize("form", ["paper", "sharp"])
def test_every_kind_has_words_a_title_and_a_topic(kind: str, form: Statistic) -> None:
    said = told(criterion(kind))
    assert said.words.endswith(".")
    assert said.title[0].isupper()
    assert said.title not in SAMPLES
    assert said.topic in ("counts", "means", "quantiles", "correlations", "regression", "rows")
    assert kind_of(criterion(kind), form).stands in ("itself", "floored", "resized", "step", "fit")
    for name in said.columns:
        assert name in said.words


def test_every_criterion_of_the_specification_has_exactly_one_kind() -> None:
    union = [get_args(member)[0] for member in get_args(get_args(Criterion)[0])]
    assert set(KINDS) == set(union)
    assert len(union) == len(set(KINDS.values())) == len({kind.__name__ for kind in KINDS.values()})
    with pytest.raises(TypeError, match="has a kind already"):

        class Second(Kind[MarginalsAbsolute]):
            """Another kind of the same criterion."""

    assert set(KINDS) == set(union)


def every(form: Statistic) -> list[Kind[Any]]:
    return [kind_of(criterion, form) for criterion in SPECIFICATION.criteria]


SPECIFICATION = loads(
    declared({"criteria": paid(), "budget": {"total": "90", "generator": "4", "test": "4", "once": "1"}})
)
FIRST, *_, LAST = choices(SPECIFICATION)
TABLE = made_up(SPECIFICATION, FIRST)
MOVED = Table.from_rows(
    TABLE.domain, np.column_stack([np.roll(c, 7 * i) for i, c in enumerate(TABLE.records().T)])
)
FORMS: list[Statistic] = ["sharp", "paper"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", range(len(SPECIFICATION.criteria)))
def test_every_kind_answers_everything_in_both_forms(form: Statistic, place: int) -> None:
    kind, spec = every(form)[place], SPECIFICATION
    candidate = Candidate(spec, TABLE, Fit.of(MOVED, "height"))
    original = Original(MOVED, RehearsalNoise(1), Curator.rehearsal(rehearse(MOVED), 1))
    asked = kind.asked(candidate)
    assert asked is not None and asked.sensitivity > 0
    assert candidate.ask(kind) is candidate.asked(kind.criterion, form)
    assert 0 < kind.tested_at(spec) <= kind.limit
    asked.question().check(TABLE.domain, TABLE.n)
    measured, after = kind.measure(candidate, original)
    assert measured is not None and (measured.criterion, measured.form) == (kind.criterion, form)
    assert kind.again(after, measured.units) == measured
    assert (measured.sensitivity is None) == (kind.leaves is not None) == (kind.spread(candidate) is not None)
    assert kind.leaves is None or after.refit is not None
    assert kind.needs is None or Candidate(spec, TABLE).ask(kind) is None
    assert kind.alone or form == "paper"
    exact, tested = kind.exact(candidate, original), kind.tested(candidate, original)
    assert exact is not None and exact >= 0 and tested is not None and tested.scale > 0
    error = kind.error(kind.limit)
    assert error is not None and float(error) == pytest.approx(float(kind.criterion.threshold))
    bound = kind.bound(float(kind.limit))
    assert bound is None or bound == pytest.approx(float(kind.criterion.threshold))
    assert kind.from_zero(kind.exact(Candidate(spec, MOVED), original) or 0.0) == pytest.approx(0)
    smallest = kind.smallest(asked.query)
    assert smallest is None or smallest == measured.smallest_group
    assert 0 <= kind.terms(spec, TABLE.domain) < 10**6
    assert not kind.slow(TABLE.domain) and kind.unmeetable(spec) is None and kind.luck(spec, measured) is None
    line = kind.noise(spec, declared_in(spec))
    assert (line.criterion, line.statistic) == (kind.criterion.name, form) and line.note
    assert line.scale is None or line.scale > 0
    assert kind.stands in get_args(Stand)
    assert isinstance(kind.told, Told)


def test_cheap_criteria_come_first_and_what_others_need_before_them() -> None:
    kinds = cheapest_first(SPECIFICATION)
    assert sorted(kinds, key=lambda kind: kind.expense) == kinds
    for giving, taking in product(kinds, repeat=2):
        if giving.refits and taking.needs_fit:
            assert kinds.index(giving) < kinds.index(taking)


def test_titles_tell_the_criteria_of_a_specification_apart() -> None:
    every = [criterion(kind) for kind in sorted(SAMPLES)]
    every += [criterion("query", query=name) for name in ("young_and_old", "youngandold")]
    found = titles(every)
    assert len(set(found.values())) == len(found) == len({c.name for c in every})
    assert all(found[c.name] == told(c).title for c in every)


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("marginals-absolute", {"ways": "1"}, "any table of one column,"),
        ("marginals-absolute", {"ways": "2"}, "any table of up to 2 columns,"),
        ("marginals-absolute", {}, "any table of any number of columns,"),
        ("total-variation", {"over": "average"}, "average of the tables of 2 columns."),
        ("total-variation", {"ways": "1"}, "worst of the tables of one column."),
        ("marginals-tail", {"beyond": "0.025"}, "all but 2.5 % of the cells"),
        ("quantile", {"at": "0.25"}, "the release's 0.25 quantile of age"),
        ("quantile", {}, "the release's median of age"),
        ("mean", {"by": []}, "The largest difference of the mean of age, overall."),
        ("mean", {"by": ["age"]}, "overall and within the groups of age."),
        ("faithfulness", {"within": "2"}, "at most 2 bins off in one other column."),
        ("faithfulness", {"match": []}, "in the original: at most 1 bin off"),
        ("query-of", {}, "the mean of age among records where age > 17."),
    ],
)
def test_the_words_say_what_is_measured(kind: str, changes: dict[str, Any], said: str) -> None:
    assert said in told(criterion(kind, **changes)).words


def test_groups_of_several_columns_are_said_to_be_taken_one_by_one() -> None:
    """`by: [a, b]` compares the groups of a and those of b, not those of both together."""
    columns = [SMALL["columns"][0], SMALL["columns"][1] | {"groups": ["M", "F"]}]
    data = SMALL | {"columns": columns, "criteria": [criteria(["mean"])[0] | {"by": ["age", "sex"]}]}
    assert "within the groups of each of age and sex" in told(validated(data).criteria[0]).words


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", range(len(SPECIFICATION.criteria)))
def test_a_public_original_answers_what_a_curator_answers(form: Statistic, place: int) -> None:
    """The same number to the last unit, alone and in the joint test; and a value is computed once."""
    only = SPECIFICATION.model_copy(
        update={"criteria": (SPECIFICATION.criteria[place],), "statistic": form, "scheme": "train-once"}
    )
    candidate = Candidate(only, TABLE, Fit.of(MOVED, "height"))
    test, asked = candidate.joint_test(), candidate.asked(only.criteria[0])
    assert test is not None and asked is not None
    for question in (asked.question(), test.question()):
        curator = Curator(rehearse(MOVED), MemoryLedger(), RehearsalNoise(3))
        assert Original(MOVED, RehearsalNoise(3)).run(question) == curator.run(question)
    original = Original(MOVED, RehearsalNoise(3))
    assert original.value(asked.query) is original.value(asked.query)
    with pytest.raises(TypeError):
        original.run(NoisyMarginals(((("age",), Fraction(1)),)))


@pytest.mark.parametrize("kind", every("sharp"), ids=lambda kind: kind.criterion.name)
def test_a_kind_has_scores_where_it_says_so_and_its_own_table_has_none_of_them(kind: Kind[Any]) -> None:
    """Sums over the table that scores are made at are 0 up to rounding; a share counts halves."""
    assert kind.scored is (type(kind).scores is not Kind.scores)
    found = kind.scores(SPECIFICATION, TABLE)
    assert (found is not None) is kind.scored
    if found is not None:
        NoisyScores(found, 1000, Fraction(1)).check(TABLE.domain, TABLE.n)
        values = found.of(TABLE.codes)
        if kind.criterion.kind == "query" and kind.criterion.of is None:
            assert set(values.ravel().tolist()) == {-ONE // 2, ONE // 2}
        else:
            assert np.abs(TABLE.counts @ values / TABLE.n / ONE).max() < 0.01


def test_scores_of_coefficients_are_feature_times_residual() -> None:
    kind = next(kind for kind in every("sharp") if kind.criterion.kind == "regression-coefficients")
    target, found = kind.criterion.target, kind.scores(SPECIFICATION, TABLE)
    assert found is not None
    scaling = Scaling.by(TABLE, target)
    w, (x, y) = least_squares(TABLE, scaling), design(MOVED, scaling)
    assert w is not None
    residual = y - x @ w
    own, goal = design(TABLE, scaling)
    spread = np.sqrt(((goal - own @ w) ** 2 @ TABLE.counts) / TABLE.n)
    wanted = x[:, 1:] * residual[:, None] / spread
    assert found.of(MOVED.codes) / ONE == pytest.approx(wanted, abs=0.05)


def test_scores_of_means_are_deviations_inside_a_group() -> None:
    kind = next(kind for kind in every("sharp") if kind.criterion.kind == "mean" and kind.criterion.by)
    found, of = kind.scores(SPECIFICATION, TABLE), kind.criterion.of
    assert found is not None
    groups = [g for g in groupings(SPECIFICATION, kind.criterion.by, TABLE.domain) if g[0] != of]
    centres = list(means(TABLE, of, groups))[1:]
    numbers = np.array([float(x) for x in MOVED.domain.axis(of).numbers or ()])[MOVED.column(of)]
    inside = [mask[MOVED.column(name)] for name, places in groups for mask in members((name, places))]
    wanted = [
        (numbers - float(c or 0)) / float(deviation(TABLE, of)) * i
        for c, i in zip(centres, inside, strict=True)
    ]
    assert found.of(MOVED.codes) / ONE == pytest.approx(np.array(wanted).T, abs=0.01)

"""Survivors: the paper's rule on made-up trials, its intervals, and that a study accepts as a release does."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from budgets import SOURCE
from facsimile.errors import FacsimileError
from facsimile.explore.chances import interval
from facsimile.explore.narrowed import restricted
from facsimile.explore.race import RaceRule
from facsimile.explore.run import racing
from facsimile.explore.setup import Setup
from facsimile.explore.study import Study
from facsimile.explore.survivors import survivors
from facsimile.explore.trials import FRESH, Job, Trial, run
from facsimile.release.run import rehearsed
from facsimile.spec.load import loads
from facsimile.spec.release import Selection
from facsimile.table.domain import Domain
from facsimile.table.table import Table
from facsimile.testing.laws import ALPHA
from studies import paper, setup

RULE = RaceRule(trials=20, steps=0, finalists=100, fresh=10)


def made(
    path: Path, race: list[tuple[int, int]], fresh: list[tuple[int, int]] | None = None, source: str = SOURCE
) -> Study:
    """A study whose configurations were accepted so often: the failures of a race come last."""
    spec = loads(source)
    domain = Domain(spec.finest())
    table = Table.from_rows(domain, [[0] * len(domain.axes)], [spec.n])
    study = Study.create(path, source, Setup(spec, table, 1), RULE, "public.csv")
    stated = fresh or [(0, 0)] * len(race)
    for configuration, counts in zip(racing(study), zip(race, stated, strict=True), strict=False):
        for (accepted, trials), start in zip(counts, (0, FRESH), strict=True):
            study.add(
                [configuration],
                [
                    Trial(configuration.identifier, "2", start + i, i < accepted, (), (), 0.0, 0.0)
                    for i in range(trials)
                ],
            )
    return study


RACE = [(20, 20), (2, 20), (1, 20), (0, 20), (2, 19), (3, 8), (1, 5)]


def test_those_are_kept_that_were_accepted_in_a_tenth_of_their_trials(tmp_path: Path) -> None:
    """Exactly a tenth is enough; who has not ended its race is not looked at."""
    study = made(tmp_path / "s", RACE)
    names = [c.identifier for c in racing(study)]
    found = survivors(study)
    assert {s.configuration.identifier: (s.accepted, s.trials) for s in found.kept} == {
        names[0]: (20, 20), names[1]: (2, 20), names[4]: (2, 19), names[5]: (3, 8),
    }  # fmt: skip
    assert found.raced == len(names)
    assert found.running == len(names) - len(RACE) + 1
    assert not found.fresh
    assert found.acceptance == pytest.approx(np.mean([1, 2 / 20, 2 / 19, 3 / 8]))
    shares = [s.share for s in found.kept]
    assert shares == sorted(shares, reverse=True)
    more = survivors(study, keep=0.3)
    assert [s.configuration.identifier for s in more.kept] == [names[0], names[5]]


def test_fresh_trials_state_and_do_not_choose(tmp_path: Path) -> None:
    """A survivor whose fresh trials all fail stays, and lowers what is stated."""
    race = [(20, 20), (4, 20), (0, 20)]
    found = survivors(made(tmp_path / "s", race, [(9, 10), (0, 10), (10, 10)]))
    assert found.fresh and [s.stating for s in found.kept] == [(9, 10), (0, 10)]
    assert found.acceptance == pytest.approx(0.45)
    assert found.expected == pytest.approx(1 / (1 - 0.55 * 0.95))
    some = survivors(made(tmp_path / "t", race, [(9, 10), (0, 0), (0, 0)]))
    assert not some.fresh
    assert [s.stating for s in some.kept] == [(29, 30), (4, 20)], "all trials, where not all have fresh ones"


def test_a_survivor_has_the_interval_of_clopper_and_pearson(tmp_path: Path) -> None:
    for survivor in survivors(made(tmp_path / "s", RACE)).kept:
        exact = binomtest(*survivor.stating).proportion_ci(0.95, "exact")
        assert survivor.span == pytest.approx((exact.low, exact.high))


def test_trials_that_share_a_fit_widen_the_interval(tmp_path: Path) -> None:
    """Two projections of one fit are as good as one configuration; the fewest trials count for all."""
    spec = loads(SOURCE)
    study = made(tmp_path / "s", [(10, 20)] * 24)
    found = survivors(study)
    assert len(found.kept) == spec.space.size == 24
    assert found.span == pytest.approx(interval(0.5, 12 * 20, 0.95))
    fewer = [s if i else replace(s, stating=(5, 10)) for i, s in enumerate(found.kept)]
    assert replace(found, kept=tuple(fewer)).span == pytest.approx(interval(0.5, 24 * 20 / 3, 0.95))


def test_the_interval_holds_where_trials_share_a_fit() -> None:
    """Two configurations that succeed and fail together, 10 trials, p = 0.3: an interval that takes the 20 as
    independent misses in more than 5 % of 400 studies, this one does not (both by 4.9 deviations, α = 1e-6)."""
    random = np.random.default_rng(5)
    means = random.binomial(10, 0.3, 4000) / 10
    missed = {
        n: np.mean([not low <= 0.3 <= high for low, high in (interval(m, n, 0.95) for m in means)])
        for n in (10, 20)
    }
    assert missed[10] < 0.05 < missed[20] - 4.9 * np.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize(
    ("race", "words"),
    [([(1, 20), (0, 20)], "was accepted in 1 of 20"), ([(1, 5)], "none has ended its race")],
)
def test_none_that_survives_is_refused_with_what_is_known(
    tmp_path: Path, race: list[tuple[int, int]], words: str
) -> None:
    with pytest.raises(FacsimileError, match="E419") as refused:
        survivors(made(tmp_path / "s", race))
    assert words in refused.value.sentence


def test_less_than_the_study_raced_for_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(FacsimileError, match=r"raced for an acceptance of 0\.1:"):
        survivors(made(tmp_path / "s", RACE), keep=0.05)


def test_what_is_written_draws_the_survivors_and_changes_nothing_else(tmp_path: Path) -> None:
    study = made(tmp_path / "s", RACE)
    kept = [s.configuration for s in survivors(study).kept]
    written = loads(restricted(study.source, kept, ["Kept."]))
    assert written.space.listed == tuple(kept)
    assert written.model_copy(update={"configurations": None}) == study.declared
    again = made(
        tmp_path / "t", [(20, 20), (0, 20), (0, 20), (5, 20)], source=restricted(study.source, kept, [])
    )
    assert [c.identifier for c in racing(again)] == [c.identifier for c in kept], "only these race"
    fewer = [s.configuration for s in survivors(again).kept]
    assert loads(restricted(again.source, fewer, [])).space.listed == tuple(fewer)
    assert set(map(str, fewer)) == {str(kept[0]), str(kept[3])}


def test_more_than_a_specification_can_list_is_refused(births: Path) -> None:
    source = (births / "nvss.yaml").read_text(encoding="utf-8")
    space = loads(source).space
    for size in (1001, 1000):
        with pytest.raises(FacsimileError, match=f"E420.*{size:,}"):
            restricted(source, [space.configuration(i) for i in range(size)], [])


NOISY = [
    {"criterion": "marginals-absolute", "threshold": "0.06", "epsilon": "0.02"},
    {"criterion": "marginals-relative", "threshold": "2.5", "clip": "2.5", "epsilon": "0.4"},
    {"criterion": "mean", "of": "height", "by": ["sex"], "threshold": "6", "epsilon": "0.05"},
    {"criterion": "regression-coefficients", "target": "height", "threshold": "20", "epsilon": "2"},
    {"criterion": "regression-mae", "target": "height", "threshold": "8", "epsilon": "0.05"},
]
ONE = {
    "alternatives": {"age": "coarse"},
    "family": "mst",
    "hyperparameters": {"sampling": "iid"},
    "projection": {"min_count": "2"},
}


def test_a_study_accepts_a_configuration_as_often_as_a_release_does() -> None:
    """In the paper's scheme, in its forms: every candidate meets all criteria exactly, and noise decides.

    Fisher's exact test of both frequencies, α = 1e-6.
    """
    spec = paper(criteria=NOISY, configurations=[ONE], budget={"total": "60", "generator": "0.5"})
    found, repeats = setup(spec), 150
    trials = [
        run(found, Job((spec.space.configuration(0),), Fraction(1, 2), FRESH + number))[0]
        for number in range(repeats)
    ]
    once = spec.model_copy(update={"selection": Selection(mode="single")})
    released = sum(rehearsed(once, found.table, seed)[0] is not None for seed in range(repeats))
    accepted = sum(trial.accepted for trial in trials)
    assert 0.2 < accepted / repeats < 0.8
    assert trials[0].readings and all(r.error is not None and r.error < r.threshold for r in trials[0].readings)
    table = [[accepted, repeats - accepted], [released, repeats - released]]
    assert fisher_exact(table).pvalue > ALPHA

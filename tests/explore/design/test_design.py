"""Design: what is taken is never worse than what was there, and its chance comes from fresh seeds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from facsimile.errors import FacsimileError
from facsimile.explore import design as package
from facsimile.explore.design import Designed, chosen, design, listed, roomy, worth
from facsimile.explore.design.draft import Own
from facsimile.explore.design.rehearsals import Rehearsals
from facsimile.explore.narrowed import designed
from facsimile.spec.load import dump, loads, validated
from facsimile.spec.release import Specification
from facsimile.spec.space import Configuration
from facsimile.synthesizers.workload import Workload
from workloads import EPSILON, SMALL, plain, small, watched


@pytest.fixture(scope="module")
def found() -> Designed:
    return design(*small(), EPSILON, margin=0, trials=40)


def test_what_is_designed_is_part_of_a_specification(found: Designed) -> None:
    whole = copy.deepcopy(SMALL)
    whole["families"] = [{"family": "workload", "grid": {name: [text] for name, text in found.own.items()}}]
    specification = validated(whole)
    assert specification.families[0].combination(0) == found.own
    Workload.of(found.own).check(small()[1].domain, 3000, EPSILON)


def test_a_planted_dependence_is_found_and_better_than_auto(found: Designed) -> None:
    assert found.taken == "design" and "a" in found.own["measurements"]
    assert found.confirmed.share >= found.before.share
    assert found.predicted is not None and 0 <= found.predicted <= 1
    low, high = found.confirmed.bounds
    assert low <= found.confirmed.share <= high


def test_the_same_seed_designs_the_same(found: Designed) -> None:
    again = design(*small(), EPSILON, margin=0, trials=40)
    assert (again.own, again.confirmed, again.predicted) == (
        found.own,
        found.confirmed,
        found.predicted,
    )


def test_the_chance_comes_from_seeds_that_chose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(monkeypatch) as made:
        found = design(*small(), EPSILON, margin=0, trials=5, seed=3)
    first = 3 * package.SEEDS + package.CHOOSING
    fresh = [(own, seed) for own, seed in made if seed is not None and seed >= first]
    assert [seed for _, seed in fresh] == list(range(first, first + package.FRESH))
    assert all(own == found.own for own, _ in fresh)
    assert len([1 for _, seed in made if seed is not None]) == found.candidates


def test_the_best_on_real_candidates_is_taken_whatever_was_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Rehearsals.ratios

    def ratios(self: Rehearsals, own: Own, seed: int | None) -> tuple[float, ...]:
        return (0.1, 0.1) if own == package.UNDESIGNED else (9.0, 9.0)

    monkeypatch.setattr(Rehearsals, "ratios", ratios)
    found = design(*small(), EPSILON, trials=3)
    assert found.taken == "auto" and found.own == package.UNDESIGNED
    assert found.predicted is None and found.confirmed.share == found.before.share == 1
    assert real is not ratios


def test_what_the_specification_has_meets_the_design() -> None:
    whole = copy.deepcopy(SMALL)
    lists = ["each; a*b", "auto", "each; a*c"]
    whole["families"] = [{"family": "workload", "grid": {"measurements": lists}}, {"family": "mst"}]
    assert [own["measurements"] for own in listed(validated(whole))] == ["each; a*b", "each; a*c"]


def test_criteria_without_a_linear_view_are_left_to_candidates() -> None:
    criteria = [
        {"criterion": "faithfulness", "match": ["a"], "threshold": "0.9", "within": "1", "reference": "all"}
    ]
    specification = validated(plain({"a": 4, "b": 5, "c": 3}, criteria))
    found = design(specification, small()[1], EPSILON, trials=3)
    assert (found.taken, found.predicted, found.tried) == ("auto", None, 0)


def single(whole: dict[str, Any]) -> Specification:
    """With one candidate: its test asks for ln(1/(2·0.05)) = 2.303 scales by itself."""
    return validated(copy.deepcopy(whole) | {"selection": {"mode": "single"}})


def test_a_margin_leaves_room_for_the_noise_of_the_test() -> None:
    """Counts have sensitivity 1/n: two scales of 1/(3000·0.1), and what luck asks for; never more than half."""
    specification = single(SMALL)
    absolute = specification.criteria[1]
    (_, lower), (_, half) = (roomy(specification, margin).criteria for margin in (2.0, 1000.0))
    assert float(absolute.threshold - lower.threshold) == pytest.approx((2 + 2.302585) / 300)
    assert half.threshold == absolute.threshold / 2
    assert roomy(specification, 0).criteria == specification.criteria


def test_a_relative_threshold_gives_way_in_the_form_it_is_tested_in() -> None:
    criteria = [{"criterion": "marginals-relative", "threshold": "2", "planning_s_min": "999", "epsilon": "3"}]
    (lower,) = roomy(single(plain({"a": 4, "b": 5}, criteria)), 1.0).criteria
    assert float(1 / lower.threshold) == pytest.approx(0.5 + 3.302585 / 100)


def test_room_is_left_for_the_number_that_tests() -> None:
    """A joint test has its own epsilon; in scheme `measured` a criterion may have one, or none."""
    for own, epsilon in (("0.4", 0.4), (None, 0.1)):
        measured = copy.deepcopy(SMALL) | {"scheme": "measured"}
        del measured["criteria"][0]["epsilon"], measured["criteria"][1]["epsilon"]
        measured["criteria"][1] |= {} if own is None else {"epsilon": own}
        specification = single(measured)
        (_, lower) = roomy(specification, 2.0).criteria
        moved = float(specification.criteria[1].threshold - lower.threshold)
        assert moved == pytest.approx((2 + 2.302585) / 3000 / epsilon)
    paper = copy.deepcopy(SMALL) | {"scheme": "paper"}
    del paper["budget"]["test"]
    (_, lower) = roomy(validated(paper), 2.0).criteria
    assert float(specification.criteria[1].threshold - lower.threshold) == pytest.approx(2 / 300)


def test_nothing_that_can_be_held_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rehearsals, "candidate", lambda self, own, seed: None)
    with pytest.raises(FacsimileError, match=r"^E160 "):
        design(*small(), EPSILON, trials=3)


def test_a_design_is_written_where_the_families_stood_and_comments_stay() -> None:
    source = "# Ours.\n" + dump(validated(copy.deepcopy(SMALL))) + "# The end.\n"
    specification = loads(source)
    own = {"measurements": "each; a*b", "weights": "1,1,1; 2"}
    one = Configuration(specification.first, "workload", own, {"algorithm": "paper", "min_count": "1"})
    text = designed(source, one, ["Designed."])
    assert text.startswith("# Designed.\n# Ours.\n") and text.endswith("# The end.\n")
    again = loads(text)
    assert again.families[0].combination(0) == own and len(again.families) == 1
    assert again.model_copy(update={"families": specification.families}) == specification


def test_worth_follows_the_worst() -> None:
    assert worth(np.array([[0.5, 0.1], [2.0, 0.1], [np.inf, 0.1]])) == pytest.approx([1, 0, 0], abs=1e-3)


def test_what_no_candidate_meets_chooses_nothing() -> None:
    met = {"one": np.array([[3.0, 0.9]] * 2), "other": np.array([[4.0, 0.5]] * 2)}
    assert chosen(met) == "other"
    assert chosen({name: ratios[:, :1] for name, ratios in met.items()}) == "one"


def test_no_more_candidates_are_made_of_what_cannot_win(monkeypatch: pytest.MonkeyPatch) -> None:
    def ratios(self: Rehearsals, own: Own, seed: int | None) -> tuple[float, ...]:
        return (9.0, 9.0) if own == package.UNDESIGNED else (0.1, 0.1)

    monkeypatch.setattr(Rehearsals, "ratios", ratios)
    found = design(*small(), EPSILON, trials=3)
    assert (found.taken, found.before.of) == ("design", package.LEAST_SEEDS)
    assert found.candidates == package.CHOOSING + package.LEAST_SEEDS + package.FRESH


def test_wide_tables_without_a_linear_criterion_are_designed_by_distance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The domain counts as wide from a few cells on; the planted dependence is among the tables."""
    whole = plain(
        {"a": 4, "b": 5, "c": 3},
        [{"criterion": "faithfulness", "match": ["c"], "threshold": "0.9", "within": "1", "reference": "all"}],
    )
    specification, table = validated(whole), small()[1]
    monkeypatch.setattr(package, "DENSE_CELLS", 10)
    rehearsals = Rehearsals(specification.sized(table.n), table, specification.alternatives_named(""), EPSILON)
    draft = package.by_distance(rehearsals)
    assert any({"a", "b"} <= {*clique} for clique in draft.tables)
    Workload.of(draft.own).check(table.domain, table.n, EPSILON)
    asked: list[str] = []
    found = design(specification, table, EPSILON, margin=0, trials=10, progress=asked.append)
    assert any(text.startswith("no criterion is linear") for text in asked)
    assert found.taken in ("design", "auto")

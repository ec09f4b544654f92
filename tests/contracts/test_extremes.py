"""Every number that the loader takes goes through `check`: a release, or a refusal that says why.

The places are those of the specification's own models: each field that holds numbers, in every model, is given
the extremes that its type reads. A model of which no base has an instance fails a test.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from documents.drawn import KINDS, criteria
from facsimile.api.specifications import Checked
from facsimile.errors import FacsimileError
from facsimile.release.check import check
from facsimile.release.plan import plan_hash
from facsimile.spec.families import FAMILIES, SAMPLING
from facsimile.spec.load import validated
from facsimile.spec.model import Model
from facsimile.spec.release import Budget, Selection, Specification
from specs import SMALL

Place = tuple[str | int, ...]
COUNTS = ("0", "1", "2", "17", "999999999", "999999999999999999")
EXACT = (
    "0", "1", "-1", "0.5", "23.5", "24", "999", "1001", "1e9", "9e99", "-9e99", "1e-99", "0.9999999999",
    "999999999999999999999999999999", "1/999999999999999999999999999999", "0.000000000000000000000000000001",
)  # fmt: skip


def numeric(annotation: Any) -> type | None:
    """Fraction or int, where a field holds some."""
    if annotation in (Fraction, int):
        return annotation  # type: ignore[no-any-return]
    return next((found for part in get_args(annotation) if (found := numeric(part))), None)


def models(annotation: Any, found: set[type[Model]]) -> set[type[Model]]:
    """Every model that a specification is made of."""
    if isinstance(annotation, type) and issubclass(annotation, Model) and annotation not in found:
        found.add(annotation)
        for field in annotation.model_fields.values():
            models(field.annotation, found)
    for part in get_args(annotation):
        models(part, found)
    return found


NUMERIC = {
    model: {name: kind for name, field in model.model_fields.items() if (kind := numeric(field.annotation))}
    for model in models(Specification, set())
}


def instances(value: Any, place: Place = ()) -> Iterator[tuple[Place, Model]]:
    """Every model of a specification, with its place."""
    if isinstance(value, Model):
        yield place, value
        value = {name: getattr(value, name) for name in type(value).model_fields}
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
    for key, part in parts:
        yield from instances(part, (*place, key))


def places(specification: Specification) -> Iterator[tuple[type[Model], str, Place]]:
    """Where a number stands or may stand: the model, its field, and each of several that are there."""
    for place, model in instances(specification):
        for name in NUMERIC[type(model)]:
            value = getattr(model, name)
            keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, tuple) else ()
            several = isinstance(value, dict | tuple)
            yield from ((type(model), name, (*place, name, key)) for key in keys)
            yield from () if several else ((type(model), name, (*place, name)),)


def tried() -> Iterator[tuple[str, Place, type]]:
    """Each field in the first base that has it; those of a mode and a budget in each that has others."""
    seen = set[object]()
    for base, specification in LOADED.items():
        small = BASES[base].get("criteria") == SMALL["criteria"]
        for model, name, place in places(specification):
            if (small and model in (Budget, Selection)) or (model, name, specification.statistic) not in seen:
                yield base, place, NUMERIC[model][name]
        seen |= {(model, name, specification.statistic) for model, name, _ in places(specification)}


def put(data: Any, place: Place, value: Any) -> Any:
    """The same data with a number at a place, as it would be written."""
    changed = here = copy.deepcopy(data)
    for key in place[:-1]:
        here = here.setdefault(key, {}) if isinstance(here, dict) else here[key]
    here[place[-1]] = value
    return changed


def criterion(kind: str, form: str) -> dict[str, Any]:
    """One criterion; in the paper's form coefficients compare with the regression that is paid once."""
    said = criteria([kind])[0]
    if (kind, form) == ("regression-coefficients", "paper"):
        del said["epsilon"]
    return {"criteria": [said], "statistic": form}


FORMS = ("sharp", "paper")
SELECTIONS: tuple[dict[str, str], ...] = (
    {"mode": "coin", "gamma": "0.05"},
    {"mode": "capped-coin", "gamma": "0.05", "cap": "200", "epsilon_0": "0.1"},
    {"mode": "rising-coin", "a": "0.5"},
    {"mode": "paper"},
    {"mode": "single"},
)
DELTA = {"total": "100", "generator": "1", "test": "0.1", "delta": "0.000001"}
ONCE = {"budget": SMALL["budget"] | {"once": "1", "total": "100"}}
BASES: dict[str, dict[str, Any]] = {
    **{f"mode {one['mode']}": SMALL | {"selection": one} for one in SELECTIONS},
    "delta": SMALL | {"budget": DELTA},
    "delta of its own": SMALL | {"budget": DELTA, "families": [{"family": "dpctgan"}]},
    "train-once": SMALL | {"scheme": "train-once", "budget": DELTA},
    **{f"{kind}, {form}": SMALL | ONCE | criterion(kind, form) for form in FORMS for kind in sorted(KINDS)},
    "prior": SMALL
    | {"families": [{"family": "workload"}]}
    | {"prior": {"file": "public.csv", "sha256": "0" * 64, "records": "100"}},
    "planned": SMALL
    | ONCE
    | criterion("mean", "sharp")
    | {"planning": {"groups": {"age": "2"}, "numbers": {"age": {"mean": "40", "deviation": "20"}}}}
    | {"calibration": {"data": "A town", "replicates": "20", "kappa": {"one-way": "2"}}}
    | {
        "configurations": [{"alternatives": {"age": "fine"}, "family": "mst", "projection": {"min_count": "2"}}]
    },
}
LOADED = {name: validated(copy.deepcopy(data)) for name, data in BASES.items()}
TRIED = list(tried())
HYPERPARAMETERS = [
    (family, name) for family, known in FAMILIES.items() for name in known.hyperparameters if name != SAMPLING
]


def went_through(data: Any) -> bool:
    """Whether it is a specification that `check` takes; anything but a refusal is an internal error."""
    try:
        specification = validated(data)
        said = Checked(check(specification), leaned=1)
        json.dumps(said.as_json(), allow_nan=False)
        assert said.page() and plan_hash(specification)
    except FacsimileError as error:
        assert not error.code.startswith("E7"), error
        return False
    return True


def extremes(kind: type) -> tuple[str, ...]:
    return EXACT if kind is Fraction else COUNTS


def test_every_model_with_numbers_is_among_the_bases() -> None:
    """A label's own number is read by the model `Labelled` and stands in a column's `numbers` afterwards."""
    seen = {type(model) for specification in LOADED.values() for _, model in instances(specification)}
    assert {model.__name__ for model, names in NUMERIC.items() if names and model not in seen} == {"Labelled"}
    assert all(went_through(copy.deepcopy(data)) for data in BASES.values())


@pytest.mark.parametrize("base", BASES)
def test_an_extreme_number_at_any_place_is_checked_or_refused(base: str) -> None:
    for _, place, kind in (one for one in TRIED if one[0] == base):
        for value in extremes(kind):
            went_through(put(BASES[base], place, value))


@pytest.mark.parametrize(("family", "name"), HYPERPARAMETERS)
def test_so_is_one_of_a_family(family: str, name: str) -> None:
    for value in (*EXACT, *COUNTS):
        went_through(put(BASES["delta"], ("families",), [{"family": family, "grid": {name: [value]}}]))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_so_are_several_at_once(data: st.DataObject) -> None:
    base = data.draw(st.sampled_from(list(BASES)))
    changed = BASES[base]
    for model, name, place in data.draw(
        st.lists(st.sampled_from(list(places(LOADED[base]))), min_size=2, max_size=5, unique=True)
    ):
        changed = put(changed, place, data.draw(st.sampled_from(extremes(NUMERIC[model][name]))))
    went_through(changed)

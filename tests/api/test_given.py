"""What a call is given: exact epsilons, public data, and nothing read before it is refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import facsimile
from facsimile.api.given import exact
from facsimile.errors import FacsimileError
from facsimile.release.check import show_upper


class Untouched:
    """Data that nobody may look at."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"{name} was looked at")


NOWHERE = Path("nowhere.yaml")
CALLS: dict[str, Callable[..., object]] = {
    "fit": lambda data, **more: facsimile.fit(NOWHERE, data, **more),
    "fit with a prior": lambda data, **more: facsimile.fit(NOWHERE, "a.csv", prior=data, **more),
    "evaluate": lambda data, **more: facsimile.evaluate(NOWHERE, data, data, **more),
    "design": lambda data, **more: facsimile.design(NOWHERE, data, **more),
    "explore": lambda data, **more: facsimile.explore(NOWHERE, data, "study", **more),
}


@pytest.mark.parametrize("frame", [True, False], ids=["a frame", "a file"])
@pytest.mark.parametrize("said", [{}, {"public": False}, {"public": "yes"}, {"public": 1}], ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_data_are_public_only_if_the_caller_says_so(call: str, said: dict[str, Any], frame: bool) -> None:
    """Neither the data nor the specification is looked at before."""
    with pytest.raises(FacsimileError, match=r"^E209 facsimile\.\w+ protects nothing.* Say public=True"):
        CALLS[call](Untouched() if frame else "confidential.csv", **said)


def test_public_cannot_be_said_in_passing() -> None:
    for call in (facsimile.fit, facsimile.design):
        with pytest.raises(TypeError, match="positional"):
            call("spec.yaml", Untouched(), True)  # type: ignore[call-arg]
    for three in (facsimile.evaluate, facsimile.explore):
        with pytest.raises(TypeError, match="positional"):
            three("spec.yaml", Untouched(), "c", True)  # type: ignore[call-arg]


@given(st.fractions(Fraction(1, 1000), 1000, max_denominator=1000))
def test_an_epsilon_is_the_number_that_was_written(epsilon: Fraction) -> None:
    decimal = Fraction(round(epsilon * 1000), 1000) or Fraction(1, 1000)
    text = show_upper(decimal)
    assert exact(text) == exact(Decimal(text)) == exact(decimal) == decimal
    assert exact(epsilon) == epsilon
    whole = max(1, int(epsilon))
    assert exact(whole) == exact(np.int64(whole)) == whole  # type: ignore[arg-type]


@given(st.floats())
def test_a_float_is_refused_with_the_text_to_write(epsilon: float) -> None:
    for value in (epsilon, np.float64(epsilon)):
        with pytest.raises(FacsimileError) as refused:
            exact(value)  # type: ignore[arg-type]
        assert refused.value.code == "E215"
        assert f'epsilon="{epsilon!r}"' in str(refused.value)


@pytest.mark.parametrize(
    "wrong", [0, -1, "0", "much", True, None, "nan", Decimal("nan"), Fraction(0), np.float32(1)]
)
def test_what_is_no_epsilon_is_refused(wrong: Any) -> None:
    with pytest.raises(FacsimileError, match=r"^E201 "):
        exact(wrong)


def test_a_float_is_refused_by_every_call_that_takes_an_epsilon() -> None:
    with pytest.raises(FacsimileError, match=r"^E215 "):
        facsimile.fit(NOWHERE, "a.csv", public=True, epsilon=0.1)  # type: ignore[arg-type]
    with pytest.raises(FacsimileError, match=r"^E215 "):
        facsimile.design(NOWHERE, "a.csv", public=True, epsilon=0.1)  # type: ignore[arg-type]


BIRTHS = "examples/births/released.yaml"


@pytest.mark.parametrize(
    "data", [None, True, 3, [1, 2], {"a": [1]}, object()], ids=lambda given: type(given).__name__
)
def test_what_is_no_table_is_called_so(data: object) -> None:
    with pytest.raises(FacsimileError, match=r"^E003 Data are a path, an address, or a pandas"):
        facsimile.fit(BIRTHS, data, public=True)
    with pytest.raises(FacsimileError, match=r"^E003 Data are a path"):
        facsimile.check(BIRTHS, public=data if data is not None else 1)


@pytest.mark.parametrize("call", [*CALLS, "check", "release"])
def test_a_specification_is_a_path_or_a_loaded_one(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data and specification the wrong way round are told, before either is read."""
    monkeypatch.setitem(globals(), "NOWHERE", {"title": "no path"})
    calls = CALLS | {
        "check": lambda data, public: facsimile.check(NOWHERE),
        "release": lambda data, public: facsimile.release(NOWHERE, data, "out", rehearse=True, seed=1),
    }
    with pytest.raises(FacsimileError, match=r"^E003 A specification is a path"):
        calls[call](pa.table({"a": [1]}) if call != "release" else "a.csv", public=True)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, None], ids=repr)
@pytest.mark.parametrize("call", ["fit", "design", "explore"])
def test_a_seed_is_a_whole_number(call: str, seed: Any) -> None:
    with pytest.raises(FacsimileError, match=r"^E003 seed is a whole number, 0 or more"):
        CALLS[call]("a.csv", public=True, seed=seed)
    with pytest.raises(FacsimileError, match=r"^E003 seed is a whole number"):
        facsimile.simulate("facts.yaml", 10, seed=seed)


@pytest.mark.parametrize("n", [0, -1, 1.5, "10", True], ids=repr)
def test_a_number_of_records_is_whole(n: Any) -> None:
    with pytest.raises(FacsimileError, match=r"^E003 n is a whole number, 1 or more"):
        facsimile.simulate("facts.yaml", n)


@pytest.mark.parametrize("name", ["relased", {"parity": "births"}, ["births"]], ids=str)
def test_a_misspelled_alternative_is_no_default(name: Any) -> None:
    for call in (facsimile.fit, facsimile.design):
        with pytest.raises(FacsimileError, match=r"^E200 No column has the alternative"):
            call(BIRTHS, "a.csv", public=True, alternatives=name)


def test_a_statistic_is_one_of_two() -> None:
    with pytest.raises(FacsimileError, match=r"^E003 statistic is None or one of paper, sharp"):
        facsimile.evaluate(BIRTHS, "a.csv", "b.csv", public=True, statistic="shrap")  # type: ignore[arg-type]


def test_a_rehearsal_on_a_frame_does_not_send_people_back_to_itself() -> None:
    with pytest.raises(FacsimileError, match=r"^E209 A rehearsal protects nothing"):
        facsimile.release(BIRTHS, pa.table({"a": [1]}), "out", rehearse=True, seed=1)


def test_a_specification_is_short_in_a_notebook() -> None:
    spec = facsimile.load(BIRTHS)
    assert repr(spec) == f"<Specification: {spec.title}; 165,915 records, 6 columns>"

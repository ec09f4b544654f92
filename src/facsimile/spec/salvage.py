"""What is known of a specification with mistakes: every mistake with its place, and all that is still good.

Each key is read by itself. A part without its bad values is made all the same, so that its other values and the
parts that speak of it can be checked; whoever looks at a bad value gets `Unknown`. A key or a kind that is
almost spelled right is told, and then read as what it should be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from facsimile.spec import mistakes
from facsimile.spec.mistakes import Mistake, Place, Unknown, cut, every, named, nearest, unknown_name
from facsimile.spec.model import Model

MOST_REPAIRS = 100
KEY = "[key]"
M = TypeVar("M", bound=Model)
_PROBLEMS = {
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must hold keys with their values",
    "model_type": "must hold keys with their values",
    "string_type": "must be a text",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must list at least {min_length}",
    "too_long": "has at most {max_length} items",
    "string_too_long": "has at most {max_length} characters",
    "missing": "has too few items",
    "value_error": "is wrong: {error}",
}


class Enough(Exception):
    """So many mistakes that nobody would read more."""


class Salvage:
    """One reading of plain data, its mistakes collected."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []
        self.told = set[tuple[Place, str, str]]()
        self.moved: dict[Place, Place] = {}
        self.repairs = 0

    def part(self, kind: type[M], data: Any, place: Place = ()) -> M:
        """A part of this kind with its good values."""
        made = cast(M, kind.model_construct())
        made.__dict__.clear()
        if not isinstance(data, Mapping):
            self._tell(Mistake(place, f"{_subject(place)} {_PROBLEMS['dict_type'] if data else 'is empty'}"))
            return made
        keys = self._keys(kind, data, place)
        known = {name: data[key] for name, key in keys.items()}
        for filled, (key, *rest) in kind.written_at(known).items():
            self.moved[(*place, *filled)] = (*place, str(keys[str(key)]), *rest)
        known = kind.filled(known)
        for name, field in kind.model_fields.items():
            if name in known:
                here = (*place, str(keys.get(name, name)))
                with suppress(Unknown):
                    made.__dict__[name] = self._value(_typed(kind, name), known[name], here)
            elif field.is_required():
                where = f" in {_subject(place)}" if place else ""
                self._tell(Mistake(place, f"The key `{name}` is missing{where}", "E214"))
            else:
                made.__dict__[name] = field.get_default(call_default_factory=True)
        self.check(made, made.mistakes(), place)
        return made

    def check(self, part: Model, check: Iterator[Mistake], place: Place = ()) -> None:
        """Collect the mistakes of a check; each hides the value that it is about."""
        for mistake in every(check):
            if mistake.code != mistakes.UNCLEAR:
                self._tell(mistake.within(place))
            if mistake.hides:
                _hide(part, mistake.place)

    def found(self) -> Iterator[Mistake]:
        """Every mistake at its place in the file, where keys stand as they are written."""
        for mistake in self.mistakes:
            real: Place = ()
            for i, part in enumerate(mistake.place):
                moved = self.moved.get(mistake.place[: i + 1])
                real = moved or self.moved.get((*real, part), (*real, part))
            yield replace(mistake, place=real)

    def _tell(self, mistake: Mistake) -> None:
        key = mistake.place, mistake.code, mistake.problem
        if key in self.told:
            return
        self.told.add(key)
        self.mistakes.append(mistake)
        if len(self.mistakes) >= mistakes.MOST_TOLD:
            raise Enough

    def _keys(self, kind: type[Model], data: Mapping[Any, Any], place: Place) -> dict[str, Any]:
        """The key that gives each field; keys of no field are told, and read as the field they almost name."""
        known = kind.model_fields
        keys = {key: key for key in data if key in known}
        absent = [name for name in known if name not in keys]
        for key in data:
            if key in known:
                continue
            here = (*place, str(key))
            if key == mistakes.SEED:
                self._tell(Mistake(here, "", "E206"))
                continue
            meant = nearest(str(key), known) if self.repairs < MOST_REPAIRS else None
            self._tell(Mistake(here, "", "E205", word=str(key), known=[meant] if meant else sorted(known)))
            if meant in absent:
                keys[meant] = key
                absent.remove(meant)
                self.moved[(*place, meant)] = here
                self.repairs += 1
        return keys

    def _value(self, kind: Any, data: Any, place: Place) -> Any:
        """A value of a type, or `Unknown`; parts inside are read as far as they are good."""
        bare = _bare(kind)
        models = _models(bare)
        if models == [bare] or (models and isinstance(data, Mapping)):
            return self.part(self._chosen(models, data, place), data, place)
        if models and _tags(models):
            self._tell(Mistake(place, f"{_subject(place)} {_PROBLEMS['dict_type']}"))
            raise Unknown
        inner = get_args(bare)[-1 if get_origin(bare) is dict else 0] if get_args(bare) else None
        if _models(_bare(inner)) and get_origin(bare) is dict and isinstance(data, Mapping):
            return {str(key): self._item(inner, item, (*place, str(key))) for key, item in data.items()}
        if _models(_bare(inner)) and get_origin(bare) is tuple and isinstance(data, list):
            self._leaf(_lengths(kind), data, place)
            return tuple(self._item(inner, item, (*place, i)) for i, item in enumerate(data))
        return self._leaf(kind, data, place)

    def _item(self, kind: Any, data: Any, place: Place) -> Any:
        try:
            return self._value(kind, data, place)
        except Unknown:
            return _Hidden()

    def _chosen(self, models: list[type[Model]], data: Any, place: Place) -> type[Model]:
        """The model that data of a union is meant to be: by its tag, or by its keys."""
        if len(models) == 1:
            return models[0]
        tags = _tags(models)
        if tags:
            name, kinds = tags
            key = name if name in data else nearest(name, [str(key) for key in data])
            told = str(data.get(key, ""))
            close = told if told in kinds else nearest(told, kinds)
            if key is not None and close is not None:
                return kinds[close]
            if key is None:
                self._tell(Mistake(place, f"The key `{name}` is missing in {_subject(place)}", "E214"))
            else:
                here = (*place, str(key))
                self._tell(unknown_name(here, f"there is no {name} {cut(told)}", told, tuple(kinds)))
            raise Unknown(name)
        return max(models, key=lambda m: sum(nearest(str(k), m.model_fields) is not None for k in data))

    def _leaf(self, kind: Any, data: Any, place: Place) -> Any:
        """A value without parts of its own, as pydantic reads it."""
        try:
            return _adapter(kind).validate_python(data)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
        found = _meant([told for told in (_told(detail, data, place) for detail in details) if told])
        if not found:
            found = [Mistake(place, f"{_subject(place)} has a value of a form that does not fit")]
        for mistake in {m.place: m for m in reversed(found)}.values():
            self._tell(mistake)
        raise Unknown


def salvaged(kind: Any, data: Any) -> Any:
    """What is good of data of a type; `Unknown` where nothing is, and for whoever looks at a bad value."""
    return Salvage()._value(kind, data, ())


def keys_at(kind: Any, data: Any, place: Place) -> tuple[str, ...]:
    """The keys that data of a type may have at a place, in the order of its model; none where keys are free."""
    for part in place:
        bare = _bare(kind)
        model = _model(bare, data)
        if model is not None and part in model.model_fields:
            kind = _typed(model, str(part))
        elif model is None and get_args(bare):
            kind = get_args(bare)[-1 if get_origin(bare) is dict else 0]
        else:
            return ()
        data = named(data)[part]
    model = _model(_bare(kind), data)
    return tuple(model.model_fields) if model is not None else ()


def _model(bare: Any, data: Any) -> type[Model] | None:
    """The model that data of a type are meant to be."""
    models = _models(bare)
    with suppress(Unknown):
        return Salvage()._chosen(models, data, ()) if models and isinstance(data, Mapping) else None
    return None


class _Hidden:
    """A part of which nothing is known."""

    def __getattr__(self, name: str) -> Any:
        raise Unknown(name)


def _hide(part: Any, place: Place) -> None:
    """Forget the innermost value of a part that a place names."""
    holder: tuple[Model, str] | None = None
    here = part
    for step in place:
        if isinstance(here, Model) and isinstance(step, str) and step in here.__dict__:
            holder, here = (here, step), here.__dict__[step]
        elif isinstance(here, tuple) and isinstance(step, int) and step < len(here):
            here = here[step]
        else:
            break
    if holder is not None:
        holder[0].__dict__.pop(holder[1])


@cache
def _typed(kind: type[Model], name: str) -> Any:
    """The type of a field, its rules included."""
    field = kind.model_fields[name]
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config={"arbitrary_types_allowed": True})


def _bare(kind: Any) -> Any:
    """A type without its rules, and without None where it is optional."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType):
        members = [member for member in get_args(kind) if member is not type(None)]
        return _bare(members[0]) if len(members) == 1 else kind
    return kind


def _lengths(kind: Any) -> Any:
    """A list of anything, as long as a type wants it."""
    return Annotated[(list, *get_args(kind)[1:])] if get_origin(kind) is Annotated else list


def _models(bare: Any) -> list[type[Model]]:
    """The models that a type may be."""
    members = get_args(bare) if get_origin(bare) in (Union, UnionType) else (bare,)
    return [m for m in (_bare(member) for member in members) if isinstance(m, type) and issubclass(m, Model)]


def _tags(models: list[type[Model]]) -> tuple[str, dict[str, type[Model]]] | None:
    """The key that tells models apart, and the model of each of its values."""
    for name, field in models[0].model_fields.items():
        if get_origin(field.annotation) is Literal and all(name in m.model_fields for m in models):
            return name, {str(get_args(m.model_fields[name].annotation)[0]): m for m in models}
    return None


def _subject(place: Place) -> str:
    """What people call a place: its key, or an item of the list under it.

    >>> _subject(("criteria", 0, "by", 1)), _subject(())
    ('an item of `by`', 'the file')
    """
    keys = [part for part in place if isinstance(part, str)]
    if not keys:
        return "the file"
    return f"`{cut(keys[-1])}`" if isinstance(place[-1], str) else f"an item of `{cut(keys[-1])}`"


@dataclass(frozen=True)
class _Told:
    """A mistake, and which of the forms that a place may have it is about."""

    mistake: Mistake
    place: Place = ()
    form: str = ""


def _meant(told: list[_Told]) -> list[Mistake]:
    """The mistakes of the form with the fewest, at each place that may have several."""
    counts = Counter((t.place, t.form) for t in told)
    fewest: dict[Place, str] = {}
    for (place, form), count in counts.items():
        if place not in fewest or count < counts[(place, fewest[place])]:
            fewest[place] = form
    return [t.mistake for t in told if fewest[t.place] == t.form]


def _told(detail: ErrorDetails, data: Any, place: Place) -> _Told | None:
    """An error of pydantic in our words; None where it is about another form than the one that was written."""
    forms: list[tuple[Place, str]] = []
    for part in detail["loc"]:
        if isinstance(data, list) and isinstance(part, int) and part < len(data):
            data, place = data[part], (*place, part)
        elif isinstance(data, Mapping) and part in data:
            data, place = data[part], (*place, str(part))
        elif isinstance(part, str) and not _fits(part, data):
            return None
        elif isinstance(part, str) and part != KEY:
            forms.append((place, part))
    return _Told(_worded(detail, data, place), *(forms[0] if forms else ()))


def _worded(detail: ErrorDetails, data: Any, place: Place) -> Mistake:
    subject, kind, context = _subject(place), detail["type"], detail.get("ctx", {})
    if re.fullmatch(r"E\d{3}", kind):
        return Mistake(place, f"{subject} is wrong: {detail['msg']}", kind)
    if data is None:
        return Mistake(place, f"{subject} has no value")
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", str(context["expected"]))
        word = data if isinstance(data, str) else str(data).lower()
        return unknown_name(place, f"{subject} may not be {cut(word)}", word, choices)
    problem = _PROBLEMS.get(kind, "has a value that does not fit").format(**context)
    return Mistake(place, f"{subject} {problem}")


def _fits(form: str, data: Any) -> bool:
    """Whether one form of several (as pydantic names it) is the one that data has."""
    if form.startswith(("list[", "tuple[")):
        return isinstance(data, list)
    if form.startswith("dict[") or form[:1].isupper():
        return isinstance(data, Mapping)
    return form == KEY or not isinstance(data, list | Mapping)

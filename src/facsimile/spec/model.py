"""The base of every part of a specification: frozen, closed to unknown keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from facsimile.spec.mistakes import Mistake, Place, Unknown

NAME_RULE = "a name is written in small letters, digits and _, and starts with a letter"


class Model(BaseModel):
    """A frozen part of a specification; a key it does not know is refused, and so is any of its mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def mistakes(self) -> Iterator[Mistake]:
        """What is wrong although each value by itself is fine."""
        yield from ()

    @classmethod
    def filled(cls, data: Any) -> Any:
        """The data with what may be left out because another part of it says the same."""
        return data

    @classmethod
    def written_at(cls, data: Any) -> Mapping[Place, Place]:
        """For each place of filled data that is written elsewhere, where that is."""
        return {}

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, data: Any) -> Any:
        return cls.filled(data)

    @model_validator(mode="after")
    def _without_mistakes(self) -> Self:
        for mistake in self.mistakes():
            raise ValueError(mistake.problem)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in type(self).model_fields:
                raise Unknown(name)
            return super().__getattr__(name)


def optional(description: str, default: Any = None, **rules: Any) -> Any:
    """A key that may be left out: what it says, what holds without it, and the rules of its values."""
    return Field(default=default, description=description, **rules)


def written(fits: Callable[[str], object], problem: str) -> AfterValidator:
    """A rule for a text: the problem is told where it does not fit."""

    def check(text: str) -> str:
        if not fits(text):
            raise ValueError(problem)
        return text

    return AfterValidator(check)


def text_of_number(value: Any) -> Any:
    """A whole number as its text: a label or a year may be written as one."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _steers(text: str) -> bool:
    """Whether a text holds characters that steer a screen or the direction of writing."""
    return re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text) is not None


def _safe_label(label: str) -> str:
    """A label that stays a label in a spreadsheet, a CSV file and a web page."""
    if not label or len(label) > 120 or label != label.strip():
        raise ValueError("a label has 1 to 120 characters and no blanks at its ends")
    if _steers(label):
        raise PydanticCustomError("E161", "A label holds control or text-direction characters.")
    if label[0] in "=+-@" and not re.fullmatch(r"[+-]?[0-9.]+( ?[-–] ?[+-]?[0-9.]+)?|-[0-9.]+[<≤]", label):
        raise PydanticCustomError("E161", "A label starts like a formula.")
    return label


def _setting(text: str) -> str:
    if not text.strip() or len(text) > 1000 or any(ord(c) < 32 for c in text):
        raise ValueError("a hyperparameter has 1 to 1,000 characters on one line")
    return text.strip()


def is_name(name: str) -> bool:
    """Whether a name can be that of a column."""
    return re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name) is not None


def _prose(text: str) -> str:
    if not text.strip() or len(text) > 4000:
        raise ValueError("a text of 1 to 4,000 characters is expected")
    prose = " ".join(text.split())
    if _steers(prose):
        raise ValueError("a text holds control or text-direction characters")
    return prose


TEXT = WithJsonSchema({"type": "string"})
_scalar = WithJsonSchema({"type": ["string", "number", "boolean"]})
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
_KEY_RULE = "a name is written in letters, digits, - and _, and starts with a letter"
Label = Annotated[str, BeforeValidator(text_of_number), AfterValidator(_safe_label), _scalar]
Setting = Annotated[str, BeforeValidator(text_of_number), AfterValidator(_setting), _scalar]
Name = Annotated[str, written(is_name, NAME_RULE), TEXT]
Reference = Annotated[str, TEXT]
Key = Annotated[str, written(_KEY.fullmatch, _KEY_RULE), TEXT]
Prose = Annotated[str, AfterValidator(_prose), TEXT]

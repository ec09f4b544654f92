"""People: who set what, and why; who takes part in a release, who approved it, and who answers questions.

All of it is printed. A source is a sentence, or says by itself who, why and when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from facsimile.spec.mistakes import Mistake
from facsimile.spec.model import TEXT, Label, Model, Prose, optional, text_of_number, written
from facsimile.spec.publisher import HOST, is_link

MOST_PEOPLE = 100
_MAIL = re.compile(rf"[A-Za-z0-9](?:[A-Za-z0-9._+-]{{0,62}}[A-Za-z0-9])?@{HOST}\.[A-Za-z]{{2,}}")
_DAY = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")


def is_mail(text: str) -> bool:
    """Whether a text is an e-mail address.

    >>> is_mail("births@health.example"), is_mail("births@health")
    (True, False)
    """
    return len(text) <= 254 and _MAIL.fullmatch(text) is not None


def _day(text: str) -> str:
    """A day, or the month or year that is known of it."""
    try:
        if _DAY.fullmatch(text):
            date.fromisoformat((text + "-01-01")[:10])
            return text
    except ValueError:
        pass
    raise ValueError("a day is written like 2024-02-29; where only the month or year is known, 2024-02 or 2024")


_CONTACT_RULE = "an address is an e-mail address such as data@office.example, or a link with https://"
Contact = Annotated[str, written(lambda text: is_mail(text) or is_link(text), _CONTACT_RULE), TEXT]
Day = Annotated[
    str,
    BeforeValidator(text_of_number),
    AfterValidator(_day),
    WithJsonSchema({"type": ["string", "integer"]}),
]


class Source(Model):
    """Who set something, why, and when."""

    by: Label = Field(description="Who set it: a person, a role or an office.")
    why: Prose | None = optional("For which reason.")
    when: Day | None = optional("On which day, or in which month or year.")


Sourced = Prose | Source


class Partner(Model):
    """Somebody who took part: a person, a role or an office."""

    name: Label | None = optional("The name; a role alone will do.")
    role: Label | None = optional("What the partner does there.")
    organisation: Label | None = optional("Where the partner works.")

    def mistakes(self) -> Iterator[Mistake]:
        """A partner is somebody."""
        if (self.name, self.role, self.organisation) == (None, None, None):
            yield Mistake((), "a partner needs a `name`, a `role` or an `organisation`")


class Approval(Model):
    """What was approved, by whom and when."""

    by: Label = Field(description="Who approved it.")
    of: Prose = Field(description="What was approved.")
    when: Day | None = optional("On which day, or in which month or year.")


class Governance(Model):
    """Who is behind a release, who approved it, and where people write to."""

    partners: tuple[Partner, ...] = optional("Who took part.", (), max_length=MOST_PEOPLE)
    requirements: dict[Label, Prose] = Field(
        default_factory=dict,
        max_length=MOST_PEOPLE,
        description="What the partners asked for, by a short name.",
    )
    approvals: tuple[Approval, ...] = optional("Who approved what.", (), max_length=MOST_PEOPLE)
    legal_basis: Prose | None = optional("The laws that govern the release.")
    ethics_review: Prose | None = optional("Which review of ethics it passed.")
    contact: Contact | None = optional("Where questions about the release go.")
    feedback: Contact | None = optional("Where users tell what they found; else `contact`.")

"""Descriptions: what a public file says about its own columns, beside its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from facsimile.sources.address import Address


@dataclass(frozen=True)
class Field:
    """What is said of one raw column; everything but the name may be left open.

    `labels` gives the label of a raw text, in the order in which they are listed; `missing` are raw texts that
    mean that there is no value.
    """

    name: str
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    kind: Literal["number", "category", "date"] | None = None
    bounds: tuple[str | None, str | None] = (None, None)


@dataclass(frozen=True)
class Description:
    """Where the records are, and what is said about them; `origin` names what said it, for people."""

    data: Address
    title: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)
    origin: str = ""


def described(public: Address) -> Description:
    """The description of a public source: its own labels, or those of the file that describes it."""
    return Description(public)

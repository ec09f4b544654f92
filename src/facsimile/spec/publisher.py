"""The publisher: who answers for a release and under which terms it may be used. All of it is printed.

A logo stands in the specification itself, so that its hash covers it, and is a PNG: pixels and nothing else.
Every chunk and every row is checked here, before a release begins: no document fails on it later.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from facsimile.spec.mistakes import Mistake, every
from facsimile.spec.model import TEXT, Label, Model, Prose, optional, written

PNG = "data:image/png;base64,"
MOST_LOGO, MOST_SIDE = 48 * 1024, 600
HOST = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
_LINK = re.compile(rf"https?://{HOST}(?::[0-9]{{1,5}})?(?:/[A-Za-z0-9._~!$&()*+,;=:@%/?#-]*)?")
_DOI = re.compile(r"10\.[0-9]{4,9}/[A-Za-z0-9][A-Za-z0-9._;()/:-]{0,150}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,31}")
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,63}")
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""Channels of each kind of colour; a picture with a palette is not taken."""


def is_link(text: str) -> bool:
    """Whether a text is a link that a page may hold."""
    return len(text) <= 300 and _LINK.fullmatch(text) is not None


def _logo(text: str) -> str:
    written = "".join(text.split())
    try:
        content = base64.b64decode(written.removeprefix(PNG), validate=True)
    except binascii.Error:
        content = b""
    if not written.startswith(PNG) or len(content) > MOST_LOGO or not drawn(content):
        raise ValueError(
            f"a logo is {PNG} and a plain PNG picture: at most {MOST_LOGO // 1024} KB, {MOST_SIDE} pixels wide "
            "and high, 8 bits a channel, without palette, interlacing, texts or other chunks"
        )
    return PNG + base64.b64encode(content).decode()


def drawn(content: bytes) -> bool:
    """Whether the bytes are a PNG that any reader can draw: every chunk whole, every row of pixels there."""
    if not content.startswith(b"\x89PNG\r\n\x1a\n"):
        return False
    place, chunks = 8, []
    while place + 12 <= len(content):
        (size,), kind = struct.unpack(">I", content[place : place + 4]), content[place + 4 : place + 8]
        data, check = content[place + 8 : place + 8 + size], content[place + 8 + size : place + 12 + size]
        if check != struct.pack(">I", zlib.crc32(kind + data)):
            return False
        chunks.append((kind, data))
        place += 12 + size
    order = b",".join(kind for kind, _ in chunks)
    if place != len(content) or not re.fullmatch(rb"IHDR,(IDAT,)+IEND", order):
        return False
    if len(chunks[0][1]) != 13 or chunks[-1][1]:
        return False
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE and depth == 8 and rest == [0, 0, 0]):
        return False
    if colour not in _CHANNELS:
        return False
    row = 1 + width * _CHANNELS[colour]
    pixels = _inflated(b"".join(data for kind, data in chunks if kind == b"IDAT"), row * height)
    return pixels is not None and max(pixels[::row]) <= 4


def _inflated(packed: bytes, size: int) -> bytes | None:
    """Exactly this many bytes, and no more work than that."""
    try:
        reader = zlib.decompressobj()
        found = reader.decompress(packed, size + 1)
    except zlib.error:
        return None
    return found if len(found) == size and reader.eof and not reader.unused_data else None


_LINK_RULE = "a link begins with https:// or http:// and a host, and has no blanks or quotes"
_DOI_RULE = "a DOI is written like 10.5281/zenodo.1234567, without an address before it"
_VERSION_RULE = "a version has up to 32 letters, digits, points and dashes, such as 1.0"
_LICENCE_RULE = "a licence is a short name such as CC-BY-4.0"
Link = Annotated[str, written(is_link, _LINK_RULE), TEXT]
Doi = Annotated[str, written(_DOI.fullmatch, _DOI_RULE), TEXT]
Licence = Annotated[str, written(_LICENCE.fullmatch, _LICENCE_RULE), TEXT]
Logo = Annotated[str, AfterValidator(_logo), TEXT]
VersionText = Annotated[
    str, written(_VERSION.fullmatch, _VERSION_RULE), WithJsonSchema({"type": ["string", "number"]})
]


class Publisher(Model):
    """Who publishes the release, and its terms: printed in its documents."""

    name: Label = Field(description="Who publishes the release.")
    homepage: Link | None = optional("The publisher's page: http or https.")
    licence: Licence | None = optional("The short name of the licence, such as CC-BY-4.0.")
    licence_link: Link | None = optional("Where the licence can be read.")
    doi: Doi | None = optional("The release's DOI, such as 10.5281/zenodo.1234567.")
    version: VersionText | None = optional("The version of this release.")
    provenance: Prose | None = optional("The file or register that it was made from.")
    provenance_link: Link | None = optional("Where that file or register is described.")
    logo: Logo | None = optional("A small PNG as a data URI.")

    def mistakes(self) -> Iterator[Mistake]:
        """A link belongs to what it describes."""
        yield from every(self._linked("licence"), self._linked("provenance"))

    def _linked(self, name: str) -> Iterator[Mistake]:
        if getattr(self, f"{name}_link") is not None and getattr(self, name) is None:
            yield Mistake((f"{name}_link",), f"a `{name}_link` needs a `{name}`")

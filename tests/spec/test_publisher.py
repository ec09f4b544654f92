"""The publisher: what is printed in a document is harmless before a release begins."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facsimile.errors import FacsimileError
from facsimile.spec.load import validated
from facsimile.spec.publisher import MOST_LOGO, MOST_SIDE, PNG, drawn
from specs import SMALL, small

WHOLE = {
    "name": "Ministry of Health",
    "homepage": "https://health.example/data?year=2014#births",
    "licence": "CC-BY-4.0",
    "licence_link": "https://creativecommons.org/licenses/by/4.0/",
    "doi": "10.5281/zenodo.1234567",
    "version": "1.0",
    "provenance": "The national register of births",
    "provenance_link": "https://health.example/register",
}


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 3, height: int = 2, colour: int = 2, rows: bytes | None = None, **parts: Any) -> bytes:
    """A picture; what is given in `parts` takes the place of its own."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}.get(colour, 3)
    plain = b"".join(b"\0" + bytes(width * channels) for _ in range(height))
    head = struct.pack(
        ">IIBBBBB", width, height, parts.get("depth", 8), colour, 0, 0, parts.get("interlace", 0)
    )
    body = chunk(b"IDAT", zlib.compress(plain if rows is None else rows))
    extra: bytes = parts.get("extra", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + body + chunk(b"IEND", b"")


def uri(content: bytes) -> str:
    return PNG + base64.b64encode(content).decode()


def refused(**changes: Any) -> str:
    with pytest.raises(FacsimileError) as caught:
        validated(SMALL | {"publisher": WHOLE | changes})
    return caught.value.code


def test_a_whole_publisher_is_read() -> None:
    found = validated(SMALL | {"publisher": WHOLE | {"logo": uri(png())}}).publisher
    assert found
    assert found.model_dump(exclude={"logo"}) == WHOLE
    assert found.logo == uri(png())


def test_a_specification_without_one_keeps_its_hash() -> None:
    assert "publisher" not in small().canonical()
    assert validated(SMALL | {"publisher": WHOLE}).digest() != small().digest()


def test_a_logo_may_stand_on_several_lines() -> None:
    broken = "\n      ".join([uri(png())[i : i + 40] for i in range(0, len(uri(png())), 40)])
    found = validated(SMALL | {"publisher": {"name": "An office", "logo": broken}}).publisher
    assert found
    assert found.logo == uri(png())


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "=HYPERLINK(1)"},
        {"name": "a\u202eb"},
        {"name": ""},
        {"name": "x" * 121},
        {"homepage": "javascript:alert(1)"},
        {"homepage": "data:text/html,x"},
        {"homepage": "ftp://health.example/"},
        {"homepage": "//health.example/"},
        {"homepage": "https://user:secret@health.example/"},
        {"homepage": 'https://health.example/"onclick="x'},
        {"homepage": "https://health.example/<script>"},
        {"homepage": "https://health.example/ x"},
        {"homepage": "https://"},
        {"homepage": "HTTPS://health.example\n"},
        {"homepage": "https://health.example/" + "x" * 300},
        {"licence_link": "javascript:alert(1)"},
        {"licence": "CC BY 4.0 <b>"},
        {"licence": "=1+1"},
        {"licence": None},
        {"provenance": None},
        {"provenance": " "},
        {"provenance_link": "register"},
        {"doi": "https://doi.org/10.5281/zenodo.1"},
        {"doi": "10.5281/"},
        {"doi": "10.5281/a\nb"},
        {"doi": "10.5281/<b>"},
        {"version": "1.0 beta"},
        {"version": "=1"},
        {"version": ""},
        {"email": "x@example.org"},
        {"logo": "https://health.example/logo.png"},
        {"logo": "data:image/svg+xml;base64,PHN2Zy8+"},
        {"logo": uri(png())[:-8]},
        {"logo": uri(png()) + "!"},
        {"logo": uri(b"")},
    ],
    ids=str,
)
def test_anything_else_is_refused(changes: dict[str, Any]) -> None:
    assert refused(**changes) in ("E161", "E200", "E205")


@pytest.mark.parametrize("colour", [0, 2, 4, 6])
def test_every_plain_picture_is_taken(colour: int) -> None:
    assert drawn(png(colour=colour))
    assert drawn(png(MOST_SIDE, 5, colour))


@pytest.mark.parametrize(
    "content",
    [
        png(colour=3),
        png(colour=7),
        png(width=0),
        png(height=0),
        png(width=MOST_SIDE + 1),
        png(height=MOST_SIDE + 1),
        png(depth=16),
        png(interlace=1),
        png(rows=b"\0" * 3),
        png(rows=b"\0" * 10_000_000),
        png(rows=b"\x05" + b"\0" * 19),
        png(extra=chunk(b"tEXt", b"Comment\0<script>")),
        png(extra=chunk(b"IHDR", b"\0" * 13)),
        png()[:-1],
        png() + b"x",
        png()[:40] + b"\xff" + png()[41:],
        png()[:-1] + b"\0",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"",
    ],
    ids=range(20),
)
def test_any_other_content_is_no_picture(content: bytes) -> None:
    assert not drawn(content)


def test_a_large_picture_is_refused() -> None:
    noise = b"".join(b"\0" + bytes((i * j * 7919) % 256 for i in range(300 * 3)) for j in range(300))
    content = png(300, 300, rows=noise)
    assert drawn(content)
    assert len(content) > MOST_LOGO
    assert refused(logo=uri(content)) == "E200"


@given(st.binary(max_size=60), st.integers(0, 60))
def test_no_change_of_bytes_makes_it_fail_otherwise(more: bytes, place: int) -> None:
    good = png()
    assert drawn(good[:place] + more + good[place + len(more) :]) in (True, False)

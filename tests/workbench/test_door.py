"""Who is let in: every way that another page, machine or person could try is refused."""

from __future__ import annotations

import asyncio
import stat
import tempfile
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message

from facsimile.errors import FacsimileError
from facsimile.workbench.door import ENTER, HOST, MOST_BYTES, OURS, Door, Guarded, local

PORT = 4711
HEADERS = {"host": f"{HOST}:{PORT}"}
SAME = HEADERS | {"origin": f"http://{HOST}:{PORT}"}


async def plain(request: Request) -> Response:
    await request.body()
    return PlainTextResponse("inside")


def desk() -> tuple[Door, Guarded]:
    door = Door(PORT)
    return door, Guarded(Starlette(routes=[Route("/", plain, methods=["GET", "POST"])]), door)


def asked(
    app: Guarded, method: str, path: str, headers: dict[str, Any], body: bytes = b""
) -> tuple[int, Any, str]:
    """The status, the headers and the text of an answer."""
    parts, sent = urlsplit(path), list[Message]()
    pairs = [
        (k.encode(), one.encode()) for k, v in headers.items() for one in ([v] if isinstance(v, str) else v)
    ]
    scope = {
        "type": "http", "method": method, "path": parts.path, "raw_path": parts.path.encode(), "headers": pairs,
        "query_string": parts.query.encode(), "scheme": "http", "server": (HOST, PORT), "root_path": "",
    }  # fmt: skip

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    told = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
    return sent[0]["status"], told, b"".join(m.get("body", b"") for m in sent[1:]).decode()


def inside(door: Door, app: Guarded) -> dict[str, str]:
    """The cookie of somebody who came by a link."""
    path = door.link().removeprefix(door.origin)
    status, told, _ = asked(app, "GET", path, HEADERS)
    assert status == 200
    assert "HttpOnly" in told["set-cookie"] and "samesite=strict" in told["set-cookie"].lower()
    return {"cookie": told["set-cookie"].partition(";")[0]}


def test_a_link_lets_one_person_in_once() -> None:
    door, app = desk()
    path = door.link().removeprefix(door.origin)
    assert asked(app, "GET", path, HEADERS)[0] == 200
    assert asked(app, "GET", path, HEADERS)[0] == 403
    assert len(door.people) == 1


def test_who_came_by_a_link_is_inside() -> None:
    door, app = desk()
    cookie = inside(door, app)
    assert asked(app, "GET", "/", HEADERS | cookie)[::2] == (200, "inside")
    assert asked(app, "POST", "/", SAME | cookie)[::2] == (200, "inside")


@pytest.mark.parametrize("token", ["", "x", "é", "a" * 5000])
def test_a_wrong_token_is_refused(token: str) -> None:
    door, app = desk()
    door.link()
    status, told, _ = asked(app, "GET", f"{ENTER}?token={token}", HEADERS)
    assert status == 403 and "set-cookie" not in told and len(door.links) == 1


def test_a_link_is_not_spent_by_a_look_ahead() -> None:
    door, app = desk()
    path = door.link().removeprefix(door.origin)
    assert asked(app, "GET", path, HEADERS | {"sec-purpose": "prefetch;prerender"})[0] == 403
    assert asked(app, "HEAD", path, HEADERS)[0] == 403
    assert asked(app, "GET", path, HEADERS)[0] == 200


@pytest.mark.parametrize(
    "cookie",
    [{}, {"cookie": "facsimile-4711=x"}, {"cookie": "facsimile-4712=x"}, {"cookie": "facsimile-4711="}],
)
def test_nobody_is_inside_without_the_cookie(cookie: dict[str, str]) -> None:
    door, app = desk()
    inside(door, app)
    for path in ("/", "/static/workbench.js", "/ask/news", "/files/x"):
        assert asked(app, "GET", path, HEADERS | cookie)[0] == 403


HOSTS = [
    "evil.example",
    f"evil.example:{PORT}",
    "127.0.0.1",
    "127.0.0.1:1",
    f"localhost:{PORT}",
    f"[::1]:{PORT}",
]


@pytest.mark.parametrize(
    "host",
    [*HOSTS, f"127.0.0.1.evil:{PORT}", f"0.0.0.0:{PORT}", [], [f"127.0.0.1:{PORT}", "evil.example"]],
    ids=str,
)
def test_a_name_that_was_rebound_is_refused(host: Any) -> None:
    door, app = desk()
    cookie = inside(door, app)
    assert asked(app, "GET", "/", cookie | {"host": host})[0] == 403
    assert asked(app, "GET", door.link().removeprefix(door.origin), {"host": host})[0] == 403
    assert len(door.links) == 1


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://{HOST}:{PORT}", f"http://{HOST}:1", ""]
)
def test_another_origin_is_refused(method: str, origin: str) -> None:
    door, app = desk()
    cookie = inside(door, app)
    status, told, _ = asked(app, method, "/", HEADERS | cookie | {"origin": origin})
    assert status == 403
    assert not any(name.startswith("access-control") for name in told)


def test_what_changes_something_says_where_it_comes_from() -> None:
    door, app = desk()
    assert asked(app, "POST", "/", HEADERS | inside(door, app))[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_may_not_even_look(site: str) -> None:
    door, app = desk()
    cookie = inside(door, app)
    assert asked(app, "GET", "/", HEADERS | cookie | {"sec-fetch-site": site})[0] == 403
    assert asked(app, "GET", "/", HEADERS | cookie | {"sec-fetch-site": "same-origin"})[0] == 200


def test_too_much_at_once_is_refused_whatever_it_says_of_itself() -> None:
    door, app = desk()
    cookie = inside(door, app)
    big = {"content-length": str(MOST_BYTES + 1)}
    assert asked(app, "POST", "/", SAME | cookie | big)[0] == 403
    with pytest.raises(Exception):  # noqa: B017 - the request ends before the page is asked
        asked(app, "POST", "/", SAME | cookie, b"x" * (MOST_BYTES + 1))


def test_every_answer_may_load_nothing_from_elsewhere() -> None:
    door, app = desk()
    for headers in (HEADERS, HEADERS | inside(door, app), {"host": "evil.example"}):
        told = asked(app, "GET", "/", headers)[1]
        assert told["content-security-policy"] == OURS
        assert told["x-content-type-options"] == "nosniff" and told["cache-control"] == "no-store"
    assert "unsafe" not in OURS and "frame-ancestors 'none'" in OURS and "http" not in OURS


def test_a_web_socket_has_no_door() -> None:
    _, app = desk()
    with pytest.raises(RuntimeError):
        asyncio.run(app({"type": "websocket"}, None, None))  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["", "x", "//evil", "/\\evil", "http://evil/", "/a\nb", "javascript:x"])
def test_a_form_leads_back_to_us_only(address: str) -> None:
    assert local(address) == "/"


def test_a_page_leads_to_its_link_for_its_owner_alone_and_goes_with_it() -> None:
    door, app = desk()
    link, other = door.link(), door.link()
    page, unused = door.page(link), door.page(other)
    assert link in page.read_text(encoding="utf-8") and other not in page.read_text(encoding="utf-8")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (page, page.parent)] == [0o600, 0o700]
    assert (
        asked(app, "GET", link.removeprefix(door.origin), HEADERS | {"sec-fetch-site": "cross-site"})[0] == 200
    )
    assert not page.parent.exists() and unused.exists()
    door.close()
    assert not unused.parent.exists()
    assert asked(app, "GET", other.removeprefix(door.origin), HEADERS)[0] == 403


def test_a_page_that_cannot_be_written_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    door, _ = desk()
    with pytest.raises(FacsimileError, match="E330"):
        door.page(door.link())

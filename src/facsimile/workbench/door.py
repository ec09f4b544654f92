"""The door: who may ask the workbench anything, and what a browser may do with its answers.

The page changes files of whoever started it, so nobody else may use it: no other machine (it listens on
127.0.0.1 alone), no other user of this one and no other page in the same browser. A request is let in if

    host     it names this address and port, so that a name that was rebound to 127.0.0.1 is of no use
    origin   it comes from our own page: every request that changes something says so by itself
    person   it has the cookie of somebody who came by a link with a token, each of which works once

Every user of a machine can read the words that a program was started with. So a browser is not started with a
link but with a file that leads there, which nobody but its owner can read (`Door.page`).

What is answered may load nothing from elsewhere, run no script but ours, and be shown in no other page's frame.
Pages that a release or a study brought along are walled off: a page of their own origin, without the cookie.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from facsimile import storage
from facsimile.errors import refusal

HOST = "127.0.0.1"
ENTER = "/enter"
MOST_BYTES = 2 << 20
OURS = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
THEIRS = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; frame-ancestors 'self'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

LEADS = """<!doctype html><meta charset="utf-8"><title>facsimile</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={0}">
<a href="{0}">Open the workbench</a>
"""
"""A page that leads on: a cookie for our own pages alone goes along where one of them leads, and a redirection
that began elsewhere would not take it."""


@dataclass
class Person:
    """Somebody at the workbench: the words they go by, and what they are told on their next page."""

    name: str = ""
    role: str = ""
    told: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Door:
    """Links that were not used yet, each with the folder of its page where it has one; and everybody inside."""

    port: int
    links: dict[str, Path | None] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Our own pages' origin."""
        return f"http://{HOST}:{self.port}"

    @property
    def cookie(self) -> str:
        """Cookies know no ports: each workbench has a name of its own."""
        return f"facsimile-{self.port}"

    def link(self) -> str:
        """A new address that lets one person in, once."""
        token = secrets.token_urlsafe(32)
        self.links[token] = None
        return f"{self.origin}{ENTER}?token={token}"

    def page(self, link: str) -> Path:
        """A new file, for its owner alone, that leads to a link; it goes when that is used, or with `close`."""
        try:
            folder = self.links[link.rpartition("=")[2]] = Path(tempfile.mkdtemp(prefix="facsimile-"))
        except OSError:
            raise refusal("E330") from None
        storage.append(folder / "workbench.html", LEADS.format(link).encode(), create=True)
        return folder / "workbench.html"

    def close(self) -> None:
        """No link works any more, and nothing is left of their pages."""
        for token in [*self.links]:
            self._use(token)

    def _use(self, token: str) -> None:
        folder = self.links.pop(token)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def person(self, request: Request) -> Person:
        """Who asks; the door has let them in."""
        return self.people[request.cookies[self.cookie]]

    def refusal(self, method: str, path: str, headers: Headers) -> str | None:
        """Why a request is not let in, in a sentence; None where it is."""
        if headers.getlist("host") != [f"{HOST}:{self.port}"]:
            return "This address is not the workbench's."
        origins, safe = headers.getlist("origin"), method in ("GET", "HEAD")
        if (origins and origins != [self.origin]) or not (safe or origins):
            return "Another page may not use the workbench."
        if path != ENTER and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "Another page may not use the workbench."
        if int(headers.get("content-length") or 0) > MOST_BYTES:
            return "That is too much at once."
        return None

    def enter(self, request: Request) -> Response:
        """A token becomes a cookie and is worth nothing from then on."""
        if request.headers.get("sec-purpose") or request.method != "GET":
            return _closed("The link is not followed ahead of time.")
        token = request.query_params.get("token", "")
        if not any(secrets.compare_digest(token.encode(), known.encode()) for known in self.links):
            return _closed("This link was used, or is none. Ask for another one where the workbench runs.")
        self._use(token)
        secret = secrets.token_urlsafe(32)
        self.people[secret] = Person()
        answer = HTMLResponse(LEADS.format("/"))
        answer.set_cookie(self.cookie, secret, path="/", httponly=True, samesite="strict")
        return answer


@dataclass
class Guarded:
    """The application behind the door."""

    app: ASGIApp
    door: Door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("the workbench has no other doors")

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                ours = {**HEADERS, "Content-Security-Policy": OURS}
                added = [(name.lower().encode(), value.encode()) for name, value in ours.items()]
                message = {
                    **message,
                    "headers": [*message["headers"], *(h for h in added if h[0] not in given)],
                }
            await send(message)

        await self._answer(scope)(scope, _limited(receive), sealed)

    def _answer(self, scope: Scope) -> ASGIApp:
        request = Request(scope)
        refused = self.door.refusal(request.method, request.url.path, request.headers)
        if refused is not None:
            return _closed(refused)
        if request.url.path == ENTER:
            return self.door.enter(request)
        if request.cookies.get(self.door.cookie, "") not in self.door.people:
            return _closed("Open the link that the workbench showed where it was started.")
        return self.app


def _closed(why: str) -> Response:
    return PlainTextResponse(why + "\n", 403)


def _limited(receive: Receive) -> Receive:
    """What is sent, up to a limit; a body that says less of itself than it is ends the request."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if seen > MOST_BYTES else message

    return limited


def local(address: str) -> str:
    """The path of an address of ours that a form may lead back to; / for any other.

    >>> local("/columns?x=1"), local("//evil.example/"), local("https://evil.example/")
    ('/columns?x=1', '/', '/')
    """
    parts = urlsplit(address)
    plain = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith("//")
    return address if plain and "\\" not in address and address.isprintable() else "/"

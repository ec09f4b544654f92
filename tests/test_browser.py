"""The browser of the tests, at a page of a server on this machine."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from browser import HEIGHT, Browser, Chromium

PAGE = """<!DOCTYPE html><html lang="en"><title>Desk</title><meta name="viewport" content="width=device-width">
<style>html { scroll-behavior: smooth } #far { margin: 3000px 0 1000px } #knob { width: 40px; height: 40px }
#veil { position: fixed; inset: auto 0 0 0; height: 60px } #under { position: fixed; bottom: 0 }</style>
<button id="first" onclick="note('first')">First</button> <a id="next" href="/next">Next</a>
<label for="name">Name</label> <input id="name"> <label><input type="checkbox" id="tick" hidden> Tick</label>
<div id="knob" style="background: teal"></div> <select id="choice"><option>one<option>two</select>
<button id="under">Under</button><div id="veil"></div>
<button id="far" onclick="note('far')">Far</button>
<script>
  const seen = [], note = (word) => seen.push(word);
  addEventListener("keydown", (e) => note(`${e.shiftKey ? "Shift+" : ""}${e.key}`));
  const knob = document.querySelector("#knob");
  for (const kind of ["pointerdown", "pointermove", "pointerup"])
    knob.addEventListener(kind, (e) => {
      knob.setPointerCapture(e.pointerId);
      note(`${kind} ${e.buttons} ${e.clientX - knob.offsetLeft}`);
    });
</script></html>"""
NEXT = """<!DOCTYPE html><html lang="en"><title>Next</title><body>
<script>setTimeout(() => document.body.append("late"), 50)</script></html>"""


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404 if self.path == "/favicon.ico" else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if self.path == "/":
            self.send_header("Set-Cookie", "person=one; HttpOnly; SameSite=Strict")
        self.end_headers()
        said = self.headers.get("Cookie", "none").encode() if self.path == "/cookies" else b""
        self.wfile.write(said or (NEXT if self.path == "/next" else PAGE).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def page(browser: Browser, address: str) -> Browser:
    browser.open(address)
    return browser


def seen(page: Browser) -> list[str]:
    found: list[str] = page.value("seen.splice(0)")
    return found


def test_this_machine_is_reached_and_no_other(page: Browser, address: str) -> None:
    assert page.value("document.title") == "Desk" and page.asked()[0] == address
    for other in (
        "http://localhost:8009/",
        "http://example.org/",
        "http://[::1]:8009/",
        "http://127.0.0.2:8009/",
    ):
        with pytest.raises(AssertionError, match="ERR_NAME_NOT_RESOLVED"):
            page.open(other)


def test_a_click_is_that_of_a_mouse(page: Browser) -> None:
    page.click("#first")
    page.click("#far")
    assert seen(page) == ["first", "far"] and page.value("scrollY") > 2000
    page.click("label:has(#tick)")
    assert page.value("document.querySelector('#tick').checked")
    with pytest.raises(AssertionError, match='#under is behind <div id="veil">'):
        page.click("#under")


def test_a_link_leads_to_a_page_that_is_waited_for(page: Browser, address: str) -> None:
    page.click("#next")
    assert page.until("document.body.textContent.includes('late') && location.pathname") == "/next"
    assert f"{address}next" in page.asked()
    with pytest.raises(AssertionError, match="absent does not hold"):
        page.until("window.absent", seconds=0.05)


def test_a_drag_is_pressed_moved_and_let_go(page: Browser) -> None:
    page.drag("#knob", 50, 0, moves=2)
    hovered, *dragged = seen(page)
    assert hovered == "pointermove 0 20"
    assert dragged == ["pointerdown 1 20", "pointermove 1 45", "pointermove 1 70", "pointerup 0 70"]


def test_keys_are_those_of_a_keyboard(page: Browser) -> None:
    page.press("Tab")
    assert page.focused() == 'button#first "First"'
    for key in ("Enter", "Space", "Tab", "Tab"):
        page.press(key)
    assert seen(page) == ["Tab", "Enter", "first", " ", "first", "Tab", "Tab"]
    assert page.focused() == 'textbox#name "Name"'
    page.type("Añ b+1 שלום")
    page.press("Home")
    page.press("Shift+End")
    assert page.value("document.getSelection().toString()") == "Añ b+1 שלום"
    page.press("Shift+x")
    page.press("ArrowLeft")
    page.press("1")
    page.press("End")
    page.press("Backspace")
    assert page.value("document.querySelector('#name').value") == "1"
    page.type("23")
    page.press("Control+a")
    page.press("Delete")
    assert page.value("document.querySelector('#name').value") == ""
    seen(page)
    page.press("Shift+Tab")
    assert seen(page) == ["Shift+Shift", "Shift+Tab"] and page.focused() == 'link#next "Next"'
    page.do("document.querySelector('#choice').focus()")
    page.press("ArrowDown")
    page.press("Escape")
    assert page.value("document.querySelector('#choice').value") == "two" and "Escape" in seen(page)
    with pytest.raises(AssertionError, match="no key is called Tabb"):
        page.press("Tabb")


def test_two_people_have_cookies_of_their_own(page: Browser, chromium: Chromium, address: str) -> None:
    (cookie,) = page.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("person", True, "Strict")
    with chromium.browser() as other:
        other.set_cookie(address, "person", "two")
        for person, name in ((page, "one"), (other, "two"), (page, "one")):
            person.open(f"{address}cookies")
            assert person.value("document.body.textContent") == f"person={name}"
        page.clear_cookies()
        page.open(f"{address}cookies")
        assert page.value("document.body.textContent") == "none" and len(other.cookies()) == 1
        assert page.asked() == [f"{address}cookies"] and all(
            one.value("document.hasFocus()") for one in (page, other)
        )


def test_a_screenshot_shows_the_whole_page(page: Browser, address: str, tmp_path: Path) -> None:
    page.open(address, 500)
    page.screenshot(tmp_path / "page.png")
    width, height = struct.unpack(">II", (tmp_path / "page.png").read_bytes()[16:24])
    assert width == 500 and height == page.value("document.documentElement.scrollHeight") > 3 * HEIGHT


def test_what_went_wrong_is_told(page: Browser) -> None:
    page.do("document.body.append(Object.assign(new Image(), { src: 'http://example.org/x.png' }))")
    page.do("console.log('a word')")
    page.do("setTimeout(() => { throw new Error('thrown') })")
    page.until("new Promise((done) => setTimeout(() => done(1), 1))")
    told = str(page.troubles())
    assert "a word" in told and "thrown" in told and page.asked()[-1] == "http://example.org/x.png"
    with pytest.raises(AssertionError, match="is undefined"):
        page.value("undefined")
    with pytest.raises(AssertionError, match="not defined"):
        page.value("absent")
    with pytest.raises(AssertionError, match="not defined"):
        page.do("absent()")

"""Chromium, driven over a pair of pipes by its debugging protocol, so that no driver has to be installed.

    with Chromium(program, profile) as chromium, chromium.browser() as one, chromium.browser() as other:
        one.open("http://127.0.0.1:8000/", width=1280)
        one.click("#save")
        one.until("document.querySelector('#saved')")

No name is resolved: a page finds files and 127.0.0.1, and nothing else.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from time import monotonic
from typing import Any, Self

SECONDS, LOOK_SECONDS, HEIGHT = 30.0, 0.01, 844
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
]
# The protocol wants the pipes as files 3 and 4.
EXECUTE = """
import os, sys
asks, answers = (os.dup(int(number)) for number in sys.argv[1:3])
os.dup2(asks, 3)
os.dup2(answers, 4)
os.set_inheritable(3, True)
os.set_inheritable(4, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
TROUBLES = ("Network.loadingFailed", "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
MODIFIERS = {"Alt": (1, 18), "Control": (2, 17), "Meta": (4, 91), "Shift": (8, 16)}
"""Its bit, and its number on a keyboard."""
NUMBERS = {
    "Backspace": 8,
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "Space": 32,
    "PageUp": 33,
    "PageDown": 34,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Delete": 46,
}
TEXTS = {"Enter": "\r", "Space": " "}
CENTRE = """(() => {
  const found = document.querySelector(%s);
  if (!found || !found.getClientRects().length) return null;
  found.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const { left, top, width, height } = found.getClientRects()[0];
  const [x, y] = [left + width / 2, top + height / 2];
  const hit = document.elementFromPoint(x, y);
  const free = hit && (found.contains(hit) || hit.closest("label")?.control === found);
  return { x, y, behind: free ? "" : hit ? hit.outerHTML.slice(0, 200) : "the edge of the page" };
})()"""


class Chromium:
    """The program. Browsers of several people share it, and nothing else."""

    def __init__(self, program: str, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        command = [sys.executable, "-c", EXECUTE, str(theirs_in), str(theirs_out), program, *FLAGS]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.said, self.asks = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb", buffering=0)
        self.buffer, self.count = b"", 0
        self.answers: dict[int, dict[str, Any]] = {}
        self.events: dict[str, list[dict[str, Any]]] = {}

    def listen(self, seconds: float) -> bool:
        """Read the next message, and put it where it belongs; False if none came in time."""
        while b"\0" not in self.buffer:
            if not select.select([self.said], [], [], seconds)[0]:
                return False
            piece = os.read(self.said.fileno(), 1 << 20)
            assert piece, "the browser ended"
            self.buffer += piece
        first, _, self.buffer = self.buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        if "id" in message:
            self.answers[message["id"]] = message
        else:
            self.events.setdefault(message.get("sessionId", ""), []).append(message)
        return True

    def ask(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """The answer of the program, or of one of its pages, to a command of the protocol."""
        self.count += 1
        wanted = {"id": self.count, "method": method, "params": parameters}
        self.asks.write(json.dumps(wanted | ({"sessionId": session} if session else {})).encode() + b"\0")
        while self.count not in self.answers:
            assert self.listen(SECONDS), f"{method} was not answered"
        found = self.answers.pop(self.count)
        assert "error" not in found, (method, found["error"])
        result: dict[str, Any] = found["result"]
        return result

    def browser(self) -> Browser:
        """The browser of one more person: an empty page, and no cookie."""
        return Browser(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)
        self.said.close()
        self.asks.close()


class Browser:
    """One person's browser: one page, with storage and cookies of its own."""

    def __init__(self, chromium: Chromium) -> None:
        self.chromium = chromium
        self.context = chromium.ask("Target.createBrowserContext")["browserContextId"]
        target = chromium.ask("Target.createTarget", url="about:blank", browserContextId=self.context)
        attached = chromium.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session: str = attached["sessionId"]
        self.events: list[dict[str, Any]] = chromium.events.setdefault(self.session, [])
        for part in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{part}.enable")
        self.ask("Page.setLifecycleEventsEnabled", enabled=True)
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The page's answer to a command of the protocol."""
        return self.chromium.ask(method, self.session, **parameters)

    def close(self) -> None:
        self.chromium.ask("Target.disposeBrowserContext", browserContextId=self.context)
        self.chromium.events.pop(self.session, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- pages

    def open(self, page: str | Path, width: int = 1280) -> None:
        """Load a file or an address anew, on a screen this wide; what was seen of pages before is forgotten."""
        self.resize(width)
        self._load("about:blank")
        self.events.clear()
        self._load(page.as_uri() if isinstance(page, Path) else page)

    def _load(self, address: str) -> None:
        begun = self.ask("Page.navigate", url=address)
        assert "errorText" not in begun, (address, begun["errorText"])
        deadline = monotonic() + SECONDS
        while not any(
            event["name"] == "load" and event["loaderId"] == begun["loaderId"]
            for event in self.named("Page.lifecycleEvent")
        ):
            assert self.chromium.listen(deadline - monotonic()), f"{address} was not loaded"

    def resize(self, width: int) -> None:
        """A screen this wide; below 700 it is that of a phone."""
        screen = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": width < 700}
        self.ask("Emulation.setDeviceMetricsOverride", **screen)

    def screenshot(self, path: Path) -> None:
        """The whole page, as a PNG."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        taken = self.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=size | {"scale": 1})
        path.write_bytes(b64decode(taken["data"]))

    # --- what a page holds

    def _evaluate(self, expression: str) -> dict[str, Any]:
        asked = {"returnByValue": True, "awaitPromise": True, "userGesture": True}
        return self.ask("Runtime.evaluate", expression=expression, **asked)

    def value(self, expression: str) -> Any:
        """What an expression, or its promise, comes to; it must come to something."""
        found = self._evaluate(expression)
        assert "exceptionDetails" not in found, (expression, found["exceptionDetails"])
        assert found["result"]["type"] != "undefined", f"{expression} is undefined"
        return found["result"].get("value")

    def do(self, statement: str) -> None:
        """Run something that has no value."""
        found = self._evaluate(statement)
        assert "exceptionDetails" not in found, (statement, found["exceptionDetails"])

    def until(self, expression: str, seconds: float = SECONDS) -> Any:
        """Wait until an expression holds, whatever page is there by then; what it comes to."""
        deadline = monotonic() + seconds
        while True:
            try:
                found = self._evaluate(expression)
            except AssertionError:  # the page went while it was asked
                found = {}
            if "exceptionDetails" not in found and (value := found.get("result", {}).get("value")):
                return value
            assert monotonic() < deadline, f"{expression} does not hold; the last answer was {found}"
            self.chromium.listen(LOOK_SECONDS)

    def focused(self) -> str:
        """What has the focus, as a screen reader says it, with its identifier: `button#save "Save"`."""
        reference = self.ask("Runtime.evaluate", expression="document.activeElement ?? document.body")["result"]
        heard = self.ask("Accessibility.getPartialAXTree", objectId=reference["objectId"], fetchRelatives=False)
        role, name = (str(heard["nodes"][0].get(part, {}).get("value", "")) for part in ("role", "name"))
        identifier = self.value("document.activeElement?.id ?? ''")
        return role + (f"#{identifier}" if identifier else "") + (f' "{name}"' if name else "")

    # --- mouse and keyboard

    def _centre(self, selector: str) -> tuple[float, float]:
        found = self.until(CENTRE % json.dumps(selector))
        assert not found["behind"], f"{selector} is behind {found['behind']}"
        return found["x"], found["y"]

    def _mouse(self, kind: str, x: float, y: float, held: bool) -> None:
        button = {"button": "left", "buttons": int(held and kind != "mouseReleased"), "clickCount": 1}
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **(button if held else {}))

    def click(self, selector: str) -> None:
        """Press and release the mouse in the middle of an element, once it is there and in sight."""
        self.drag(selector, 0, 0, moves=0)

    def drag(self, selector: str, dx: float, dy: float, moves: int = 5) -> None:
        """Press the mouse in the middle of an element, move it so far in some steps, and let go."""
        x, y = self._centre(selector)
        self._mouse("mouseMoved", x, y, held=False)
        self._mouse("mousePressed", x, y, held=True)
        for move in range(1, moves + 1):
            self._mouse("mouseMoved", x + dx * move / moves, y + dy * move / moves, held=True)
        self._mouse("mouseReleased", x + dx, y + dy, held=True)

    def press(self, keys: str) -> None:
        """Press a key, and let go: `Tab`, `Shift+Tab`, `Enter`, `Space`, `ArrowLeft`, `a`, `Control+s`."""
        *held, key = keys.split("+") if len(keys) > 1 else [keys]
        bits = 0
        for modifier in held:
            bits |= MODIFIERS[modifier][0]
            self._modifier("rawKeyDown", modifier, bits)
        self._stroke(key, bits)
        for modifier in reversed(held):
            bits &= ~MODIFIERS[modifier][0]
            self._modifier("keyUp", modifier, bits)

    def _modifier(self, kind: str, name: str, bits: int) -> None:
        about = {"key": name, "code": f"{name}Left", "windowsVirtualKeyCode": MODIFIERS[name][1]}
        self.ask("Input.dispatchKeyEvent", type=kind, modifiers=bits, **about)

    def _stroke(self, key: str, bits: int = 0) -> None:
        assert len(key) == 1 or key in NUMBERS, f"no key is called {key}"
        text = TEXTS.get(key, key if len(key) == 1 else "")
        upper = text.upper() if bits & MODIFIERS["Shift"][0] else text
        plain = len(key) == 1 and key.isascii() and key.isalnum()
        about = {
            "modifiers": bits,
            "key": " " if key == "Space" else upper if len(key) == 1 else key,
            "code": (f"Digit{key}" if key.isdigit() else f"Key{key.upper()}") if plain else key,
            "windowsVirtualKeyCode": NUMBERS.get(key, ord(key.upper()) if plain else 0),
        }
        writes = upper and not bits & ~MODIFIERS["Shift"][0]
        down = {"type": "keyDown", "text": upper} if writes else {"type": "rawKeyDown"}
        command = {"commands": ["selectAll"]} if (key, bits) == ("a", MODIFIERS["Control"][0]) else {}
        self.ask("Input.dispatchKeyEvent", **about, **down, **command)
        self.ask("Input.dispatchKeyEvent", **about, type="keyUp")

    def type(self, text: str) -> None:
        """Press the key of each character, where the focus is."""
        for character in text:
            self._stroke({"\n": "Enter", " ": "Space"}.get(character, character))

    # --- what went to and fro

    def named(self, method: str) -> list[dict[str, Any]]:
        """What the page reported under this name since it was opened."""
        while self.chromium.listen(0):
            pass
        return [event["params"] for event in self.events if event["method"] == method]

    def asked(self) -> list[str]:
        """The addresses that were asked for since the page was opened; data in the page is not asked for."""
        every = [event["request"]["url"] for event in self.named("Network.requestWillBeSent")]
        return [address for address in every if not address.startswith(("data:", "blob:"))]

    def troubles(self) -> list[dict[str, Any]]:
        """What failed to load, what was written to the console, and errors that nothing caught."""
        return [found for name in TROUBLES for found in self.named(name)]

    def cookies(self) -> list[dict[str, Any]]:
        """The cookies of the address that is open, those included that no script sees."""
        found: list[dict[str, Any]] = self.ask("Network.getCookies")["cookies"]
        return found

    def set_cookie(self, address: str, name: str, value: str) -> None:
        """A cookie that is sent to this address."""
        assert self.ask("Network.setCookie", url=address, name=name, value=value)["success"]

    def clear_cookies(self) -> None:
        """Forget every cookie of this person."""
        self.ask("Network.clearBrowserCookies")

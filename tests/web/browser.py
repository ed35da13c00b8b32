"""A real Chromium without a window, driven over its own debugging protocol: enough to open pages, press keys and look."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

CHROMIUM = shutil.which("chromium")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
_PATIENCE_S = 60.0


class Browser:
    """One tab. ``errors`` holds what scripts and the page's security policy complained about."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=_PATIENCE_S))
            if message.get("id") == number:
                assert "error" not in message, message["error"]
                return message["result"]
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        said = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(said["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        if message.get("method") == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.errors.append(said["entry"]["text"])
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        """The window, and which colours its user likes."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def scripts(self, allowed: bool) -> None:
        """Allow scripts, or not."""
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def open(self, url: str) -> None:
        """Go there and wait until it has loaded."""
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _PATIENCE_S
        while not self.run(script):
            assert time.monotonic() < end, f"never true: {script}\n{self.run('document.body.innerText')}\n{self.errors}"
            time.sleep(0.03)

    def press(self, key: str, *, code: str = "", shift: bool = False) -> None:
        """A key, down and up."""
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, modifiers=8 * shift, **({"text": text} if text and kind == "keyDown" else {}))

    def click(self, x: float, y: float) -> None:
        """The left button at a point of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, until the block ends."""
    assert CHROMIUM is not None
    process = subprocess.Popen([CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = _port(profile / "DevToolsActivePort", process)
        with connect(_page(port), max_size=64 * 2**20) as socket:
            yield Browser(socket)
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        # The path below the port says that the port is there as a whole.
        if file.is_file() and len(lines := file.read_text().split()) > 1:
            return int(lines[0])
        time.sleep(0.05)
    raise AssertionError("Chromium did not start")


def _page(port: int) -> str:
    """Where the first tab listens; a browser that has just begun answers before it has one."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=_PATIENCE_S) as answer:
            pages = [target for target in json.load(answer) if target["type"] == "page"]
        if pages:
            return pages[0]["webSocketDebuggerUrl"]
        time.sleep(0.05)
    raise AssertionError("Chromium opened no page")

"""Chromium without a window, spoken to over its DevTools protocol: one page, its errors and its requests."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Path of the browser; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """A page of the browser.

    Attributes
    ----------
    requests : list of str
        Every address that it asked for.
    errors : list of str
        Exceptions of its script, and errors on its console.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._rest, self._number, self._session = b"", 0, ""
        self._loaded = False
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer}"
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self, timeout_s: float = 60.0) -> dict[str, Any]:
        """The next message; events are noted."""
        while b"\0" not in self._rest:
            assert select.select([self._answers], [], [], timeout_s)[0], "the browser does not answer"
            piece = os.read(self._answers, 2**20)
            assert piece, "the browser has ended"
            self._rest += piece
        first, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(first)
        method, params = message.get("method", ""), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"].get("exception", params)))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        return message

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self._loaded = False
        self.call("Page.navigate", url=path.absolute().as_uri())
        while not self._loaded:
            self._next()

    def run(self, script: str) -> Any:
        """The value of an expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def key(self, name: str, code: int) -> None:
        """Press a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def show(self, width: int, *, is_dark: bool = False) -> None:
        """Give the page a width and a colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def printed(self, path: Path) -> None:
        """The page as PDF."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))


@contextlib.contextmanager
def open_page(folder: Path) -> Iterator[Page]:
    """A page of a new browser, whose profile is in a folder."""
    browser = find_chromium()
    assert browser is not None
    from_us, to_browser = os.pipe()
    from_browser, to_us = os.pipe()
    # The browser reads from 3 and writes to 4.
    command = f'exec "$0" "$@" 3<&{from_us} 4>&{to_us}'
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
    process = subprocess.Popen(
        ["bash", "-c", command, browser, *options, f"--user-data-dir={folder}", "--remote-debugging-pipe"],
        pass_fds=(from_us, to_us),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(from_us)
    os.close(to_us)
    try:
        page = Page(to_browser, from_browser)
        yield page
        with contextlib.suppress(OSError):
            os.write(to_browser, b'{"id":0,"method":"Browser.close"}\0')
        end = time.monotonic() + 10
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(to_browser)
        os.close(from_browser)

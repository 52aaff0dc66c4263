"""A real browser, driven over its DevTools protocol: pages, keys, pictures and complaints.

The survey's server and its tests share an event loop, which Playwright's blocking interface, used
for the reports, cannot. The browser is found, and missed, in the same way: `tests.browser.finding`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.browser.finding import ARGUMENTS, find_browser, none_here

SECONDS = 30.0
_KEYS = {  # key -> code, virtual key code, text
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    " ": ("Space", 32, " "),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
}


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._sent = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.complaints: list[str] = []  # errors that the browser logged
        self.requested: list[str] = []  # addresses
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._socket:
            event = json.loads(message.data)
            if "id" in event:
                self._waiting.pop(event["id"]).set_result(event)
            elif event["method"] == "Log.entryAdded":
                self.complaints.append(event["params"]["entry"]["text"])
            elif event["method"] == "Runtime.exceptionThrown":
                self.complaints.append(str(event["params"]["exceptionDetails"]))
            elif event["method"] == "Network.requestWillBeSent":
                self.requested.append(event["params"]["request"]["url"])

    async def close(self) -> None:
        await self._socket.close()
        await self._reader

    async def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """One command of the protocol."""
        self._sent += 1
        answer = asyncio.get_running_loop().create_future()
        self._waiting[self._sent] = answer
        await self._socket.send_json({"id": self._sent, "method": method, "params": parameters})
        event = await asyncio.wait_for(answer, SECONDS)
        if "error" in event:
            raise RuntimeError(f"{method}: {event['error']}")
        return dict(event["result"])

    async def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        result = await self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def go(self, address: str) -> None:
        """Open an address."""
        await self._then_loaded(lambda: self.send("Page.navigate", url=address))

    async def press(self, key: str, *, loads: bool = False) -> None:
        """Press and release a key; `loads`: wait for the page that it brings."""
        if loads:
            await self._then_loaded(lambda: self._press(key))
        else:
            await self._press(key)

    async def _press(self, key: str) -> None:
        code, number, text = _KEYS.get(key, (f"Digit{key}", ord(key[0]), key))
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        await self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    async def type(self, text: str) -> None:
        """Type a text where the focus is."""
        await self.send("Input.insertText", text=text)

    async def click(self, selector: str, *, loads: bool = False) -> None:
        """Click the element that a selector finds."""
        script = f"document.querySelector({json.dumps(selector)}).click()"
        if loads:
            await self._then_loaded(lambda: self.evaluate(script))
        else:
            await self.evaluate(script)

    async def _then_loaded(self, act: Callable[[], Any]) -> None:
        await self.evaluate("window.isOld = true")
        await act()
        await self.until("window.isOld !== true && document.readyState === 'complete'")

    async def until(self, script: str) -> None:
        """Wait for an expression to come true."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                if await self.evaluate(script):
                    return
            except RuntimeError:
                pass  # the page is being replaced
            await asyncio.sleep(0.02)
        raise TimeoutError(script)

    async def heading(self) -> str:
        """The page's main heading."""
        return str(await self.evaluate("document.querySelector('h1').innerText"))

    async def source(self) -> str:
        """The page's markup."""
        return str(await self.evaluate("document.documentElement.outerHTML"))

    async def size(self, width: int, height: int = 900) -> None:
        """The size of the window in CSS pixels."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    async def prefers(self, scheme: str) -> None:
        """A light or a dark page."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await self.send("Emulation.setEmulatedMedia", features=features)

    async def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        shot = await self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


@asynccontextmanager
async def opened(folder: Path, *, script: bool = True) -> AsyncIterator[Page]:
    """A tab of a browser of its own.

    Args:
        folder: for the browser's profile; made new.
        script: whether pages may run scripts.
    """
    folder.mkdir(parents=True)
    process = await asyncio.create_subprocess_exec(
        find_browser(),
        "--headless",
        *ARGUMENTS,
        "--disable-dev-shm-usage",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        port = await _port(folder / "DevToolsActivePort", process)
        async with aiohttp.ClientSession() as session:
            async with session.put(f"http://127.0.0.1:{port}/json/new?about:blank") as answer:
                target = await answer.json()
            socket = await session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0)
            page = Page(socket)
            try:
                for domain in ("Page", "Runtime", "Log", "Network"):
                    await page.send(f"{domain}.enable")
                if not script:
                    await page.send("Emulation.setScriptExecutionDisabled", value=True)
                await page.size(1280)
                yield page
            finally:
                await page.close()
    finally:
        process.kill()
        await process.wait()


async def _port(file: Path, process: asyncio.subprocess.Process) -> int:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if file.is_file() and file.read_text().count("\n") >= 1:
            return int(file.read_text().splitlines()[0])
        if process.returncode is not None:
            none_here(f"the browser ended with {process.returncode} before it could be driven")
        await asyncio.sleep(0.05)
    raise TimeoutError("the browser opened no port")

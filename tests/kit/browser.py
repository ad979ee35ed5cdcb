"""A browser for tests: one Chromium a worker, one connection to it a file, contexts for each test.

A file asks for the fixture `chromium` (tests/pages/conftest.py) and opens its pages in `browsing`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import playwright
import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.kit.needs import HIDDEN, needs

WANTED = os.environ.get("TAPEWAY_TEST_BROWSER")
"""`required` in CI; where it is `hidden`, the tests do without the browser that is there."""

CHROMIUM = (
    shutil.which("chromium-headless-shell", path="/usr/lib/chromium")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
    if WANTED != HIDDEN
    else None
)
"""Debian's headless shell where it is: it needs four fifths of the CPU.

Not what lies in `/usr/bin` under its name: the end of that script does not end the browser.
"""

ARGUMENTS = [
    "--headless",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--password-store=basic",
]

WHILE_READ = '"$@" & read -r _; kill -KILL "$!"; wait "$!"'
"""A shell's command: run something until standard input closes, however its other end ended.

A browser that is asked to end may wait for a page; its profile is thrown away.
"""


def missing_library(program: str) -> str:
    """Return the shared library without which a program does not start, or "" if it starts."""
    tried = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"loading shared libraries: (\S+?):", tried.stderr)
    return found[1] if found is not None else ""


def _missing() -> str:
    """Return why the tests can have no browser, or "": the browser, or what its driver needs."""
    if CHROMIUM is None:
        return needs("a browser", "sudo apt install chromium-headless-shell")
    library = missing_library(str(Path(playwright.__file__).with_name("driver") / "node"))
    # Debian names the package of `libatomic.so.1` libatomic1.
    package = re.sub(r"\.so\.?", "", library)
    return needs(f"{library}, for the browser", f"sudo apt install {package}") if library else ""


MISSING = _missing()

marks = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(MISSING) and WANTED != "required", reason=MISSING),
]
"""What each file of browser tests has as its `pytestmark`."""

expect.set_options(timeout=30_000)


@contextmanager
def running_chromium() -> Iterator[str]:
    """Run a Chromium without a window; yields the address of its debugger."""
    assert CHROMIUM, "there is no chromium; what needs one has the marks of tests.kit.browser"
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        arguments = [CHROMIUM, *ARGUMENTS, f"--user-data-dir={profile}", "about:blank"]
        with subprocess.Popen(
            ["sh", "-c", WHILE_READ, "sh", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"DevTools listening on (\S+)", line):
                    break
            else:
                raise AssertionError("Chromium did not start:\n" + "".join(said))
            # Chromium writes on: a full pipe would stop it.
            rest = threading.Thread(target=process.stderr.read)
            rest.start()
            try:
                yield found[1]
            finally:  # or Popen would wait for the pipe that the thread reads, and that for Popen
                process.stdin.close()
                rest.join()


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Browser]:
    """Have a connection to a Chromium that runs."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(address)
        yield browser
        await browser.close()


class Browsing:
    """The contexts of one test: each is a person's browser, with cookies of its own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []
        """Uncaught errors of the pages, and what their Content-Security-Policy forbade."""

    async def new_context(self, **options: object) -> BrowserContext:
        """Open a context; `options` are Playwright's. Nothing moves, which takes time to paint."""
        options.setdefault("reduced_motion", "reduce")
        context = await self._browser.new_context(**options)  # type: ignore[arg-type]
        self._contexts.append(context)
        context.on("weberror", lambda error: self.faults.append(str(error.error)))
        context.on("console", lambda message: self._hear(message.text))
        return context

    def _hear(self, text: str) -> None:
        if "Content Security Policy" in text:
            self.faults.append(text)

    async def end(self) -> None:
        """Close the contexts."""
        for context in self._contexts:
            await context.close()


@asynccontextmanager
async def browsing(browser: Browser) -> AsyncIterator[Browsing]:
    """Have contexts; they are closed at the end, and a fault on a page of theirs fails the test."""
    opened = Browsing(browser)
    try:
        yield opened
    finally:
        await opened.end()
    assert opened.faults == []


async def enter(context: BrowserContext, url: str, name: str) -> Page:
    """Open the room as somebody."""
    page = await context.new_page()
    await page.goto(f"{url}?as={name}")
    await expect(page.get_by_text("connected", exact=True)).to_be_visible()
    return page


async def somebody(opened: Browsing, url: str, name: str) -> Page:
    """Open the room as a person with a session of their own."""
    context = await opened.new_context()
    await context.request.post(f"{url}login", form={"token": ""})
    return await enter(context, url, name)


MUTE = "BroadcastChannel.prototype.postMessage = () => {}"
"""What makes a tab say nothing to the others, as if the browser had suspended it."""


def happens(name: str) -> str:
    """Return a script after which the document heard an event of this name."""
    return f"void document.dispatchEvent(new Event('{name}'))"


async def say(page: Page, text: str) -> None:
    """Write into the room and press Enter."""
    await page.locator("#composer-text, textarea").first.fill(text)
    await page.keyboard.press("Enter")

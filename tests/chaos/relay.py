"""A relay between the people of a page and whichever gateway runs: it cuts, delays and kills.

What goes through it is the page's own HTTP; only the moments are read, nothing is changed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from gateway.home import find_running
from tests.fakes.base.server import BACKLOG

POST: Final = b"POST "
EVENTS: Final = b"GET "

Passing = Callable[[bytes, bytes], Awaitable[bool]]
"""Is given the first bytes of a request, and bytes of its answer (none as it is asked).

Tells whether to pass them on; where not, the connection is cut.
"""


class Relay:
    """Passes bytes on to the gateway of a home while the context is open."""

    def __init__(self, home: Path, passing: Passing) -> None:
        self._home = home
        self._passing = passing
        self._tasks: dict[asyncio.Task[None], bytes] = {}
        self._server: asyncio.Server | None = None
        self.troubles: Counter[str] = Counter()
        self.base_url = ""

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=BACKLOG)
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cut every connection."""
        if self._server is not None:
            self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self, kind: bytes = b"") -> None:
        """Cut the connections whose last request is of a kind."""
        for task, asked in list(self._tasks.items()):
            if asked.startswith(kind):
                task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks[task] = b""
        ways: list[asyncio.StreamWriter] = [writer]
        with suppress(OSError, asyncio.CancelledError):
            running = find_running(self._home)
            if running is not None:
                port = urlsplit(running.url).port
                there, back = await asyncio.open_connection("127.0.0.1", port)
                ways.append(back)
                await self._pass(task, (reader, writer), (there, back))
        for way in ways:
            way.transport.abort()
        del self._tasks[task]

    async def _pass(
        self,
        task: asyncio.Task[None],
        here: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        there: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Pass bytes both ways until either side is gone, or they are not to be passed on."""

        async def ask() -> None:
            while found := await here[0].read(65536):
                if found.startswith((POST, EVENTS)):
                    self._tasks[task] = found
                    if not await self._passing(found, b""):
                        return
                there[1].write(found)

        async def answer() -> None:
            while found := await there[0].read(65536):
                if not await self._passing(self._tasks[task], found):
                    return
                here[1].write(found)
                await here[1].drain()

        both = [asyncio.ensure_future(ask()), asyncio.ensure_future(answer())]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()
            await asyncio.gather(*both, return_exceptions=True)

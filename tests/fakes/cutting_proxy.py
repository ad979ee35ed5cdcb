"""A proxy before a PostgreSQL server that cuts connections at a commit."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self

Cut = Literal["before", "after"]
"""Cut before the server hears of the commit, or after it has committed."""

_COMMIT = b"COMMIT"
_COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"


class CuttingProxy:
    """Forwards connections to a server; `cut` names what is done to the next commit."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cut: Cut | None = None
        self.cuts = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._forward(reader, writer)
        except asyncio.CancelledError:
            pass  # the proxy ends
        finally:
            self._tasks.discard(task)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection("127.0.0.1", self._server_port)
        line = _Line(self)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(line.requests(reader, here))
                group.create_task(line.answers(there, writer))
        except* (ConnectionError, _Cut):
            pass
        finally:
            for end in (here, writer):
                end.close()
                with suppress(ConnectionError):
                    await end.wait_closed()


class _Cut(Exception):
    """The connection is cut here."""


class _Line:
    """One connection through the proxy."""

    def __init__(self, proxy: CuttingProxy) -> None:
        self._proxy = proxy
        self._cutting: Cut | None = None

    async def requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self._proxy.cut is not None and _COMMIT in data:
                self._cutting, self._proxy.cut = self._proxy.cut, None
                self._proxy.cuts += 1
                if self._cutting == "before":
                    raise _Cut
            writer.write(data)
            await writer.drain()
        raise _Cut

    async def answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = b""
        while data := await reader.read(65536):
            if self._cutting is None:
                writer.write(data)
                await writer.drain()
                continue
            heard += data
            if _COMMITTED in heard:
                raise _Cut
        raise _Cut

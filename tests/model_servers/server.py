"""A model server that plays a scenario's answers over HTTP, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson

from tests.kit.clock import rest
from tests.model_servers.wire import Answer, Demand, refuse

Step = Answer | Demand
"""An answer, or a function of the request that returns it."""

PHRASE = {200: "OK"}
LISTING = (
    b'{"object":"list","data":[{"id":"model","object":"model"},{"id":"other","object":"model"}]}'
)
TURNS = 3
"""Turns of the loop between two pieces, in which a client in the same loop reads the first."""


@dataclass(slots=True)
class ScriptedServer:
    """Answers requests in order; `demands` are heard first, and a refusal uses up no answer.

    requests  the bodies of the accepted and refused chat requests
    unmet     what was refused by a demand
    unplanned the number of requests for which nothing was left
    """

    answers: Sequence[Step]
    demands: Sequence[Demand] = ()
    paths: Sequence[str] = ("/v1/chat/completions", "/other/v1/chat/completions")
    requests: list[bytes] = field(default_factory=list)
    unmet: list[str] = field(default_factory=list)
    unplanned: int = 0
    url: str = ""
    _left: deque[Step] = field(default_factory=deque)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[ScriptedServer]:
        """Serve on a port of its own while the block runs."""
        self._left = deque(self.answers)
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(_length(head))
                await self._send(self._answer(head, body), writer)
        finally:
            writer.transport.abort() if writer.transport.is_closing() else writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def _answer(self, head: bytes, body: bytes) -> Answer:
        method, path = head.split(b" ", 2)[:2]
        if method == b"GET" and path.endswith(b"/models"):
            return Answer((LISTING,), headers=("content-type: application/json",))
        if path.decode() not in self.paths:
            return refuse(404, {"detail": "Not Found"})
        request = orjson.loads(body)
        self.requests.append(body)
        for demand in self.demands:
            refusal = demand(request)
            if refusal is not None:
                self.unmet.append(b"".join(refusal.pieces).decode())
                return refusal
        if not self._left:
            self.unplanned += 1
            return refuse(500, {"error": {"message": "nothing is left of the script"}})
        step = self._left.popleft()
        if isinstance(step, Answer):
            return step
        made = step(request)
        assert made is not None
        return made

    async def _send(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        fields = ["transfer-encoding: chunked", "connection: close", *answer.headers]
        line = f"HTTP/1.1 {answer.status} {PHRASE.get(answer.status, 'Refused')}"
        if answer.pieces or answer.ending == "whole":
            writer.write("\r\n".join([line, *fields, "", ""]).encode())
        for piece in answer.pieces:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            for _ in range(TURNS):
                await asyncio.sleep(0)
        if answer.ending == "hang":
            await asyncio.Event().wait()
        elif answer.ending == "cut":
            await rest()  # what was written must arrive before the end does
            writer.transport.abort()
        else:
            writer.write(b"0\r\n\r\n")
            await writer.drain()


def _length(head: bytes) -> int:
    for line in head.lower().splitlines():
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0

"""How an answer of the fake server is written to its socket."""

from __future__ import annotations

import asyncio
import http
from collections.abc import Mapping

import orjson

from tests.fakes.openai.script import Failure, JsonObject

_END_OF_CHUNKS = b"0\r\n\r\n"
# Announces 256 bytes and brings fewer, so the client is cut off within the chunk.
_HALF_A_CHUNK = b'100\r\ndata: {"object":"chat.completion.chunk","choices":[{"delta":{"con'


class Answer:
    """Write one HTTP answer; every method returns when its bytes have left the process."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.request_id = "req_0"
        self.commented = False
        self._writer = writer

    async def failure(self, failure: Failure) -> None:
        await self.json(failure.status, failure.as_json(), failure.headers)

    async def json(self, status: int, body: JsonObject, headers: Mapping[str, str] = {}) -> None:
        payload = orjson.dumps(body)
        fixed = {"content-type": "application/json", "content-length": str(len(payload))}
        await self._put(self._head(status, fixed | dict(headers)) + payload)

    async def start_events(self) -> None:
        fixed = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        await self._put(self._head(200, fixed))

    async def event(self, data: JsonObject) -> None:
        if self.commented:
            await self._put(_chunked(b": OPENROUTER PROCESSING\n\n"))
        await self._put(_chunked(b"data: %b\n\n" % orjson.dumps(data)))

    async def end_events(self, done: bool) -> None:
        # In one write: a client may leave on [DONE], and has then got all of its answer.
        await self._put(_chunked(b"data: [DONE]\n\n") * done + _END_OF_CHUNKS)

    async def cut(self) -> None:
        await self._put(_HALF_A_CHUNK)
        self._writer.transport.abort()

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        # An unassigned status, such as the 529 of an overloaded provider, has no phrase.
        known = {entry.value: entry.phrase for entry in http.HTTPStatus}
        lines = [f"HTTP/1.1 {status} {known.get(status, 'Unknown')}"]
        named = {"x-request-id": self.request_id} | dict(headers)
        lines += [f"{name}: {value}" for name, value in named.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    async def _put(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


def _chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)

"""A chat completions server that speaks HTTP/1.1 on a real socket and answers from a script.

It stands in for the API in tests and in drills by hand. It checks requests as strictly as the
real one does, and since it owns the socket it can also break off in the middle of a chunk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import functools
import signal
import time
from collections import deque
from collections.abc import Callable, Collection
from typing import Self, assert_never

import orjson

from tests.fakes.base.server import BACKLOG, report
from tests.fakes.base.traffic import WITNESSES, Asked, dumped, think
from tests.fakes.openai.answers import Answer
from tests.fakes.openai.rules import body_refusal, key_refusal
from tests.fakes.openai.script import (
    CutStream,
    EmptyStream,
    Envelope,
    Failure,
    Hang,
    JsonObject,
    RateLimited,
    Refused,
    Reply,
    Request,
    Spoken,
    StreamError,
    Text,
    ToolCalls,
    deltas,
    echo,
    opening,
    usage_of,
)

_COMPLETIONS = "/v1/chat/completions"
_MODELS = "/v1/models"
_METHODS = {_COMPLETIONS: "POST", _MODELS: "GET"}
_DEFAULT_MODEL = "fake-model"


class FakeOpenAI:
    """Serve `/v1/chat/completions` and `/v1/models` on 127.0.0.1 while the context is open.

    Replies given to `enqueue` are used in the order of accepted requests, then `default`.
    `requests` has every parsed request, `refused` also those turned down by the API's rules
    (a refused request uses up no reply), `disconnects` counts clients that left before their
    answer was complete; one that only shuts its sending side counts as gone. With `api_key`
    or `models` left None, any key or model will do. An exception raised by `default` breaks
    the connection and is raised again when the context ends.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        models: Collection[str] | None = None,
        default: Callable[[Request], Reply] = echo,
        port: int = 0,
    ) -> None:
        self.api_key = api_key
        self.models = models
        self.default = default
        self.base_url = ""
        self.queued: deque[Reply] = deque()
        self.requests: list[Request] = []
        self.refused: list[Refused] = []
        self.disconnects = 0
        self.marks_thoughts = False
        self._port = port
        self._changed = asyncio.Condition()
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._crashes: list[BaseException] = []
        self._server: asyncio.Server | None = None
        self._closing = False
        WITNESSES.append(self)

    def heard(self) -> bytes:
        """Return what was asked, but for the words: `asked` has those."""
        return dumped([request.path for request in self.requests])

    def asked(self) -> list[Asked]:
        """Return the bodies of the requests."""
        return [
            Asked(self.base_url, str(one.body.get("model")), dumped(one.body))
            for one in self.requests
        ]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self._port, backlog=BACKLOG
        )
        self._port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self._port}/v1"
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self._close()
        report(self._crashes, error, "The fake server")

    def enqueue(self, *replies: Reply) -> None:
        """Add replies for the next accepted requests, in their order."""
        self.queued.extend(replies)

    async def wait_for_requests(self, count: int) -> list[Request]:
        """Wait until `count` requests have come in all, refused ones too, and return them."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.requests) >= count)
        return self.requests

    async def wait_for_disconnects(self, count: int) -> None:
        """Wait until `count` clients in all have left before their answer was complete."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.disconnects >= count)

    async def _close(self) -> None:
        self._closing = True
        if self._server is not None:
            self._server.close()
        open_now = dict(self._connections)
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)
        writers = open_now.values()
        await asyncio.gather(*(w.wait_closed() for w in writers), return_exceptions=True)
        # Connections that ended by themselves just now still need one turn to be closed.
        await asyncio.sleep(0)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Flushing must mean that the bytes left, or a cut would also lose those before it.
        writer.transport.set_write_buffer_limits(high=0)
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections[task] = writer
        task.add_done_callback(self._ended)
        if self._closing:
            # Accepted just before the server closed.
            task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        # Not in the task itself, which may have been cancelled before its first step.
        # Kept by name: a writer let go before its transport is closed warns of a leak.
        writer = self._connections.pop(task)
        writer.transport.abort()
        crash = None if task.cancelled() else task.exception()
        if crash is not None:
            self._crashes.append(crash)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await _read_head(reader)
        while head is not None:
            try:
                request, body = await _read_request(head, reader)
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            except ValueError as error:
                with contextlib.suppress(ConnectionError):
                    await Answer(writer).failure(Failure(400, f"Bad request: {error}"))
                return
            head = await self._exchange(request, body, reader, writer)

    async def _exchange(
        self,
        request: Request,
        body: JsonObject | None,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bytes | None:
        """Answer while listening, and return the next head; None when the connection is over."""
        answering = asyncio.create_task(self._answer(request, body, Answer(writer)))
        listening = asyncio.create_task(_read_head(reader))
        try:
            await asyncio.wait({answering, listening}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done() and listening.result() is None:
                await self._note_disconnect()
                return None
            await answering
            keep = request.headers.get("connection", "").lower() != "close"
            return await listening if keep else None
        except ConnectionError:
            await self._note_disconnect()
            return None
        finally:
            answering.cancel()
            listening.cancel()
            await asyncio.gather(answering, listening, return_exceptions=True)

    async def _note_disconnect(self) -> None:
        async with self._changed:
            self.disconnects += 1
            self._changed.notify_all()

    async def _answer(self, request: Request, body: JsonObject | None, answer: Answer) -> None:
        refusal = self._refusal(request, body)
        async with self._changed:
            self.requests.append(request)
            number = len(self.requests)
            if refusal is not None:
                refused = Refused(request, refusal.status, refusal.code, refusal.message)
                self.refused.append(refused)
            self._changed.notify_all()
        answer.request_id = f"req_{number}"
        if refusal is not None:
            await answer.failure(refusal)
        elif _route(request) == _MODELS:
            await answer.json(200, self._listing())
        else:
            reply = self.queued.popleft() if self.queued else self.default(request)
            if self.marks_thoughts and isinstance(reply, Text | ToolCalls) and reply.reasoning:
                canary = think(self.base_url, request.body["model"])
                reply = dataclasses.replace(reply, reasoning=(canary, *reply.reasoning))
            await _send(reply, request, number, answer)

    def _refusal(self, request: Request, body: JsonObject | None) -> Failure | None:
        refusal = key_refusal(request.headers.get("authorization"), self.api_key)
        if refusal is not None:
            return refusal
        route = _route(request)
        if route not in _METHODS:
            return Failure(404, f"Invalid URL ({request.method} {route})")
        if _METHODS[route] != request.method:
            return Failure(405, f"Not allowed to {request.method} on {route}.")
        return body_refusal(body, self.models) if route == _COMPLETIONS else None

    def _listing(self) -> JsonObject:
        names = [_DEFAULT_MODEL] if self.models is None else sorted(self.models)
        rest = {"object": "model", "created": int(time.time()), "owned_by": "fake"}
        return {"object": "list", "data": [{"id": name} | rest for name in names]}


async def _send(reply: Reply, request: Request, number: int, answer: Answer) -> None:
    """Act out one scripted reply."""
    options = request.body.get("stream_options") or {}
    with_usage = bool(options.get("include_usage"))
    identity = f"chatcmpl-{number}"
    envelope = Envelope(identity, int(time.time()), request.body["model"], with_usage)
    match reply:
        case Failure():
            await answer.failure(reply)
        case RateLimited():
            await answer.failure(reply.as_failure())
        case Hang():
            await asyncio.Event().wait()
        case EmptyStream():
            await answer.start_events()
            await answer.end_events(reply.done)
        case CutStream():
            await _send_deltas(reply, envelope, answer)
            await answer.cut()
        case StreamError() if request.streamed:
            await _send_deltas(reply, envelope, answer)
            await answer.event(reply.as_json())
            await answer.end_events(done=False)
        case StreamError():
            # Without a stream some routers do the same: an error under a status of 200.
            await answer.json(200, reply.as_json())
        case Text() | ToolCalls() if request.streamed:
            await _send_stream(reply, request, envelope, answer)
        case Text() | ToolCalls():
            if reply.gate is not None:
                await reply.gate.wait()
            await answer.json(200, envelope.whole(reply, usage_of(reply, request)))
        case _:
            assert_never(reply)


async def _send_stream(reply: Spoken, request: Request, envelope: Envelope, answer: Answer) -> None:
    await _send_deltas(reply, envelope, answer)
    await answer.event(envelope.chunk({}, reply.finish_reason))
    if envelope.include_usage:
        await answer.event(envelope.usage_chunk(usage_of(reply, request)))
    await answer.end_events(done=True)


async def _send_deltas(
    reply: Spoken | CutStream | StreamError, envelope: Envelope, answer: Answer
) -> None:
    """Begin the stream and send all that is said, at the pace of the script."""
    spoken = reply if isinstance(reply, Text | ToolCalls) else Text(())
    answer.commented = spoken.comments
    await answer.start_events()
    await answer.event(envelope.chunk(opening(reply)))
    parts = deltas(reply)
    held = next((index for index, part in enumerate(parts) if "content" in part), 0)
    for index, part in enumerate(parts):
        if index and spoken.delay:
            await spoken.sleep(spoken.delay)
        await answer.event(envelope.chunk(part))
        if index == held and spoken.gate is not None:
            await spoken.gate.wait()


def _route(request: Request) -> str:
    return request.path.partition("?")[0]


async def _read_head(reader: asyncio.StreamReader) -> bytes | None:
    """Return a request's head, None when the client has left or sends no HTTP."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None


async def _read_request(
    head: bytes, reader: asyncio.StreamReader
) -> tuple[Request, JsonObject | None]:
    """Return the request and its body, None for a body that is no JSON object.

    Raises ValueError for a malformed head and IncompleteReadError for a client that left.
    """
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _version = first.split(" ")
    fields = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    if "transfer-encoding" in headers:
        raise ValueError("a content-length is needed")
    payload = await reader.readexactly(int(headers.get("content-length", "0")))
    try:
        body = orjson.loads(payload)
    except orjson.JSONDecodeError:
        body = None
    known = body if isinstance(body, dict) else None
    return Request(known or {}, headers, path, len(payload), time.monotonic(), method), known


async def _main() -> None:
    """Serve echoes until interrupted, for drills by hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between two pieces")
    parser.add_argument("--pieces", type=int, default=4, help="pieces per answer")
    options = parser.parse_args()
    default = functools.partial(echo, pieces=options.pieces, delay=options.delay)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with FakeOpenAI(default=default, port=options.port) as server:
        print(server.base_url, flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(_main())

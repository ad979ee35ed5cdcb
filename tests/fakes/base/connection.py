"""A fake's end of a connection: HTTP/1.1, streamed bodies, and WebSockets (RFC 6455)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from tests.fakes.base.http import Answer, Request, take_request

_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT: Final = 1
_BINARY: Final = 2
_CLOSE: Final = 8
_PING: Final = 9
_PONG: Final = 10


@dataclass(frozen=True, slots=True)
class Stream:
    """Hold an answer whose body comes in pieces; `length` is what its head promises."""

    pieces: AsyncIterator[bytes]
    length: int | None
    kind: str = "application/octet-stream"
    headers: str = ""

    def head(self) -> bytes:
        """Return the status line and the headers."""
        length = "" if self.length is None else f"content-length: {self.length}\r\n"
        return (
            f"HTTP/1.1 200 OK\r\ncontent-type: {self.kind}\r\n{self.headers}{length}"
            "connection: close\r\n\r\n"
        ).encode("latin-1")


class Listener(Protocol):
    """Takes what comes in over a WebSocket."""

    def opened(self, socket: WebSocket) -> None:
        """Take the socket that was opened."""
        ...

    def received(self, data: bytes) -> None:
        """Take one message, text or binary."""
        ...

    def gone(self, code: int | None) -> None:
        """Take the client's closing code, None when it left without a goodbye."""
        ...


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Answer with a WebSocket, and have someone listen to it."""

    listener: Listener


# None hangs up without an answer.
Outcome: TypeAlias = Answer | Stream | Upgrade | None
Handler: TypeAlias = Callable[[Request], Outcome | Coroutine[Any, Any, Outcome]]


class WebSocket:
    """Speak to one client over a WebSocket."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.closing = False

    @property
    def mute(self) -> bool:
        """Return whether nothing comes through, although the connection is open."""
        return self._connection.mute

    @property
    def open(self) -> bool:
        """Return whether the connection stands and no goodbye was said."""
        return not self.closing and not self._connection.closed.is_set()

    def send(self, data: bytes, *, binary: bool = False) -> None:
        """Send one message."""
        if self.open:
            self._connection.write(frame(_BINARY if binary else _TEXT, data))

    def ping(self, data: bytes) -> None:
        """Ask for a pong."""
        if self.open:
            self._connection.write(frame(_PING, data))

    def close(self, code: int, reason: str = "", *, at_once: bool = False) -> None:
        """Say goodbye; the connection ends when the client has answered, or `at_once`."""
        if self.open:
            self.closing = True
            self._connection.write(frame(_CLOSE, code.to_bytes(2, "big") + reason.encode()))
            if at_once:
                self._connection.finish()

    def hang_up(self) -> None:
        """Break the connection without a goodbye."""
        self._connection.hang_up()

    def fall_silent(self, *, stop_reading: bool = False) -> None:
        """Pass nothing on any more, either way, without closing."""
        self._connection.fall_silent(stop_reading=stop_reading)


class Connection(asyncio.Protocol):
    """Serve one client, one request after the other, until one of them opens a WebSocket.

    A handler that answers at once costs no task. One that must wait returns a coroutine, which is
    cancelled when the client leaves. An exception of a handler goes to `crashed`.
    """

    def __init__(
        self, handler: Handler, open_now: set[Connection], crashed: Callable[[BaseException], None]
    ) -> None:
        self._handler = handler
        self._open_now = open_now
        self._crashed = crashed
        self._buffer = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._socket: WebSocket | None = None
        self._listener: Listener | None = None
        self._parts = bytearray()
        self._goodbye: int | None = None
        self.frames = 0
        self.mute = False
        self.closed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._open_now.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open_now.discard(self)
        self.closed.set()
        if self._task is not None:
            self._task.cancel()
        if self._listener is not None:
            self._guarded(lambda listener: listener.gone(self._goodbye))

    def data_received(self, data: bytes) -> None:
        if self.mute:
            return
        self._buffer += data
        if self._socket is not None:
            self._take_frames()
        elif self._task is None:
            self._advance()

    def fall_silent(self, *, stop_reading: bool = False) -> None:
        """Answer nothing more, without closing: a half-open connection.

        What still comes is thrown away, so that a client that leaves is noticed; with
        `stop_reading` it is not even read, and the client's own buffers fill up.
        """
        self.mute = True
        if stop_reading and self._transport is not None:
            self._transport.pause_reading()

    def hang_up(self) -> None:
        """Break the connection at once."""
        self.mute = True
        if self._socket is not None:
            self._socket.closing = True
        if self._transport is not None:
            self._transport.abort()

    def finish(self) -> None:
        """Close the connection after what was written."""
        if self._transport is not None and not self.mute:
            self._transport.close()

    def write(self, data: bytes) -> None:
        """Send bytes, unless nothing comes through any more."""
        if self._transport is not None and not self.mute and not self._transport.is_closing():
            self._transport.write(data)

    def _advance(self) -> None:
        while self._task is None and self._socket is None:
            try:
                request = take_request(self._buffer)
                if request is None:
                    return
                outcome = self._handler(request)
                if outcome is None or isinstance(outcome, (Answer, Upgrade)):
                    self._put(outcome, request)
                    continue
            except Exception as error:
                self._crashed(error)
                self.hang_up()
                return
            self._task = asyncio.create_task(self._later(outcome, request))

    async def _later(
        self, outcome: Stream | Coroutine[Any, Any, Outcome], request: Request
    ) -> None:
        try:
            found = outcome if isinstance(outcome, Stream) else await outcome
            if isinstance(found, Stream):
                await self._stream(found)
            else:
                self._put(found, request)
        except Exception as error:
            self._crashed(error)
            self.hang_up()
        finally:
            self._task = None
        self._advance()

    async def _stream(self, stream: Stream) -> None:
        self.write(stream.head())
        async for piece in stream.pieces:
            self.write(piece)
        if self._transport is not None:
            self._transport.close()

    def _put(self, outcome: Answer | Upgrade | None, request: Request) -> None:
        if self.mute:
            return
        if outcome is None:
            self._buffer.clear()
            self.hang_up()
        elif isinstance(outcome, Answer):
            self.write(outcome.as_bytes())
        else:
            self._upgrade(outcome.listener, request)

    def _upgrade(self, listener: Listener, request: Request) -> None:
        key = request.headers.get("sec-websocket-key", "").encode()
        if not key or request.headers.get("upgrade", "").lower() != "websocket":
            self.write(Answer(b"Expected a WebSocket", 426, "text/plain").as_bytes())
            return
        proof = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
        self.write(
            (
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
                f"sec-websocket-accept: {proof}\r\n\r\n"
            ).encode()
        )
        self._socket, self._listener = WebSocket(self), listener
        listener.opened(self._socket)

    def _take_frames(self) -> None:
        while (found := take_frame(self._buffer)) is not None:
            self.frames += 1
            self._take(*found)

    def _take(self, final: bool, code: int, data: bytes) -> None:
        assert self._socket is not None
        if code == _PING:
            self.write(frame(_PONG, data))
        elif code == _CLOSE:
            self._goodbye = int.from_bytes(data[:2], "big") if len(data) > 1 else 1005
            if not self._socket.closing:
                self.write(frame(_CLOSE, data[:2]))
            self._socket.closing = True
            if self._transport is not None:
                self._transport.close()
        elif code != _PONG:
            self._parts += data
            if final:
                whole, self._parts = bytes(self._parts), bytearray()
                self._guarded(lambda listener: listener.received(whole))

    def _guarded(self, do: Callable[[Listener], None]) -> None:
        assert self._listener is not None
        try:
            do(self._listener)
        except Exception as error:
            self._crashed(error)
            self.hang_up()


def frame(code: int, data: bytes) -> bytes:
    """Return one whole frame of a server."""
    size = len(data)
    if size < 126:
        return bytes((0x80 | code, size)) + data
    if size < 65536:
        return bytes((0x80 | code, 126)) + size.to_bytes(2, "big") + data
    return bytes((0x80 | code, 127)) + size.to_bytes(8, "big") + data


def take_frame(buffer: bytearray) -> tuple[bool, int, bytes] | None:
    """Take a client's first whole frame out of a buffer: whether it is final, its code, its data.

    None as long as a part of it is missing. Raises ValueError for one that is not masked.
    """
    if len(buffer) < 6:
        return None
    if not buffer[1] & 0x80:
        raise ValueError("a client masks its frames")
    size, start = buffer[1] & 0x7F, 2
    if size > 125:
        start = 4 if size == 126 else 10
        if len(buffer) < start:
            return None
        size = int.from_bytes(buffer[2:start], "big")
    end = start + 4 + size
    if len(buffer) < end:
        return None
    mask = bytes(buffer[start : start + 4]) * (size // 4 + 1)
    masked = int.from_bytes(buffer[start + 4 : end], "big")
    data = (masked ^ int.from_bytes(mask[:size], "big")).to_bytes(size, "big")
    final, code = bool(buffer[0] & 0x80), buffer[0] & 0x0F
    del buffer[:end]
    return final, code, data

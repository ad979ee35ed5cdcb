"""HTTP/1.1 and WebSocket on one raw connection, for a fake Slack that can break either."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import parse_qsl

import orjson

from tests.fakes.telegram.http import (
    Answer,
    Connection,
    Handler,
    JsonObject,
    Outcome,
    Request,
    UnreadableRequest,
)

TEXT: Final = 1
CLOSE: Final = 8
PING: Final = 9
PONG: Final = 10
_MAGIC: Final = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Receiver(Protocol):
    """Take what comes through a WebSocket."""

    def received(self, opcode: int, data: bytes) -> None:
        """Take one frame."""
        ...

    def gone(self) -> None:
        """Be told that the connection is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Upgrade(Answer):
    """Turn the connection into a WebSocket; `opened` is given it afterwards."""

    key: str = ""
    opened: Callable[[Wire], Receiver] | None = field(default=None, repr=False)

    def as_bytes(self) -> bytes:
        """Return the answer as it goes on the wire."""
        digest = hashlib.sha1(f"{self.key}{_MAGIC}".encode()).digest()
        accepted = base64.b64encode(digest).decode()
        return (
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
            f"sec-websocket-accept: {accepted}\r\n\r\n"
        ).encode()


class Wire(Connection):
    """Serve one client: requests, and after an `Upgrade` frames in both directions."""

    def __init__(
        self,
        handler: Handler,
        open_now: set[Connection],
        crashed: Callable[[BaseException], None],
    ) -> None:
        super().__init__(handler, open_now, crashed)
        self._receiver: Receiver | None = None
        self._frames = bytearray()

    @property
    def mute_now(self) -> bool:
        """Tell whether nothing comes through any more."""
        return self._mute

    def data_received(self, data: bytes) -> None:
        if self._receiver is None:
            super().data_received(data)
        elif not self._mute:
            self._frames += data
            self._read_frames()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._receiver is not None:
            self._receiver.gone()

    def send_frame(self, opcode: int, data: bytes = b"") -> None:
        """Send one frame, unless nothing comes through any more."""
        assert self._transport is not None
        if not self._mute and not self._transport.is_closing():
            self._transport.write(frame(opcode, data))

    def finish(self) -> None:
        """Close the connection after what was sent."""
        if self._transport is not None and not self._mute:
            self._transport.close()

    def _put(self, outcome: Outcome) -> None:
        super()._put(outcome)
        if isinstance(outcome, Upgrade) and not self._mute:
            assert outcome.opened is not None
            self._receiver = outcome.opened(self)

    def _read_frames(self) -> None:
        assert self._receiver is not None
        while (found := take_frame(self._frames)) is not None:
            try:
                self._receiver.received(*found)
            except Exception as error:
                self._crashed(error)
                self.hang_up()


def upgrade(request: Request, opened: Callable[[Wire], Receiver]) -> Answer:
    """Return the answer to a WebSocket handshake."""
    key = request.headers.get("sec-websocket-key", "")
    if request.headers.get("upgrade", "").lower() != "websocket" or not key:
        return Answer(b"Expected a WebSocket", 426, "text/plain")
    return Upgrade(b"", 101, key=key, opened=opened)


def frame(opcode: int, data: bytes) -> bytes:
    """Return one whole frame as a server sends it."""
    length = len(data)
    if length < 126:
        size = bytes([length])
    elif length < 65536:
        size = b"\x7e" + length.to_bytes(2, "big")
    else:
        size = b"\x7f" + length.to_bytes(8, "big")
    return bytes([0x80 | opcode]) + size + data


def take_frame(buffer: bytearray) -> tuple[int, bytes] | None:
    """Take the first whole frame of a client out of a buffer; None while a part is missing.

    Raises ValueError for what the clients spoken to never send: fragments, or no mask.
    """
    if len(buffer) < 2:
        return None
    first, second = buffer[0], buffer[1]
    if not first & 0x80 or not second & 0x80:
        raise ValueError("a fragment, or a frame without a mask")
    wide = {126: 2, 127: 8}.get(second & 0x7F, 0)
    start = 2 + wide + 4
    if len(buffer) < start:
        return None
    length = int.from_bytes(buffer[2 : 2 + wide], "big") if wide else second & 0x7F
    if len(buffer) < start + length:
        return None
    key = bytes(buffer[start - 4 : start])
    data = _unmasked(bytes(buffer[start : start + length]), key)
    del buffer[: start + length]
    return first & 0x0F, data


def _unmasked(data: bytes, key: bytes) -> bytes:
    repeated = (key * (len(data) // 4 + 1))[: len(data)]
    whole = int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")
    return whole.to_bytes(len(data), "big")


def params_of(request: Request) -> JsonObject:
    """Return the parameters of query and body; those of a form are all strings.

    Raises UnreadableRequest.
    """
    found: JsonObject = dict(parse_qsl(request.target.partition("?")[2], keep_blank_values=True))
    if not request.body:
        return found
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind == "application/json":
        return found | _json(request.body)
    if kind == "application/x-www-form-urlencoded":
        return found | dict(parse_qsl(request.body.decode(), keep_blank_values=True))
    raise UnreadableRequest("invalid_post_type")


def _json(body: bytes) -> JsonObject:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise UnreadableRequest("invalid_json") from error
    if not isinstance(found, dict):
        raise UnreadableRequest("json_not_object")
    return found

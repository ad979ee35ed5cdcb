"""Just enough HTTP/1.1 for a fake Bot API: cheap a request, and able to hang up on a client."""

from __future__ import annotations

import asyncio
import http
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

import orjson

JsonObject: TypeAlias = dict[str, Any]

_PHRASES = {entry.value: entry.phrase for entry in http.HTTPStatus}
# Parameters that are text whatever they look like; the others are JSON where they can be read so.
_TEXTS = frozenset(
    {
        "text",
        "caption",
        "url",
        "secret_token",
        "file_id",
        "parse_mode",
        "name",
        "description",
        "title",
        "action",
        "first_name",
        "language_code",
        "short_description",
        "callback_query_id",
        "quote",
        "ip_address",
    }
)


@dataclass(frozen=True, slots=True)
class Request:
    """Hold one request; header names are lower-case, `target` is the path with its query."""

    verb: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold one answer; `headers` are whole lines, each with its line end."""

    body: bytes
    status: int = 200
    kind: str = "application/json"
    headers: str = ""

    def as_bytes(self) -> bytes:
        """Return the answer as it goes on the wire."""
        head = (
            f"HTTP/1.1 {self.status} {_PHRASES.get(self.status, 'Unknown')}\r\n"
            f"content-type: {self.kind}\r\n{self.headers}content-length: {len(self.body)}\r\n\r\n"
        )
        return head.encode("latin-1") + self.body


@dataclass(frozen=True, slots=True)
class Upload:
    """Hold one file of a multipart request."""

    filename: str
    data: bytes = field(repr=False)


class UnreadableRequest(ValueError):
    """Say that parameters are no JSON object or no UTF-8."""


# None hangs up without an answer.
Outcome: TypeAlias = Answer | None
Handler: TypeAlias = Callable[[Request], Outcome | Coroutine[Any, Any, Outcome]]


class Connection(asyncio.Protocol):
    """Serve one client, one request after the other.

    A handler that answers at once costs no task. One that must wait returns a coroutine, which is
    cancelled when the client leaves. An exception of a handler goes to `crashed`.
    """

    def __init__(
        self,
        handler: Handler,
        open_now: set[Connection],
        crashed: Callable[[BaseException], None],
    ) -> None:
        self._handler = handler
        self._open_now = open_now
        self._crashed = crashed
        self._buffer = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._mute = False
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

    def data_received(self, data: bytes) -> None:
        if self._mute:
            return
        self._buffer += data
        if self._task is None:
            self._advance()

    def mute(self) -> None:
        """Take in nothing more and answer nothing more, without closing: a half-open socket."""
        self._mute = True

    def hang_up(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def _advance(self) -> None:
        while self._task is None:
            try:
                request = take_request(self._buffer)
                if request is None:
                    return
                outcome = self._handler(request)
            except Exception as error:
                self._crashed(error)
                self.hang_up()
                return
            if outcome is None or isinstance(outcome, Answer):
                self._put(outcome)
            else:
                self._task = asyncio.create_task(self._later(outcome))

    async def _later(self, outcome: Coroutine[Any, Any, Outcome]) -> None:
        try:
            self._put(await outcome)
        except Exception as error:
            self._crashed(error)
            self.hang_up()
        finally:
            self._task = None
        self._advance()

    def _put(self, outcome: Outcome) -> None:
        assert self._transport is not None
        if self._mute:
            return
        if outcome is None:
            self._buffer.clear()
            self._transport.abort()
        elif not self._transport.is_closing():
            self._transport.write(outcome.as_bytes())


def take_request(buffer: bytearray) -> Request | None:
    """Take the first whole request out of a buffer; None as long as a part of it is missing.

    Raises ValueError for what is no HTTP.
    """
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    verb, target, _version = first.split(" ")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    start = end + 4
    if "transfer-encoding" in headers:
        found = _chunked_body(buffer, start)
    else:
        found = _plain_body(buffer, start, int(headers.get("content-length", "0")))
    if found is None:
        return None
    body, end = found
    del buffer[:end]
    return Request(verb, target, headers, body)


def _plain_body(buffer: bytearray, start: int, length: int) -> tuple[bytes, int] | None:
    end = start + length
    return (bytes(buffer[start:end]), end) if len(buffer) >= end else None


def _chunked_body(buffer: bytearray, start: int) -> tuple[bytes, int] | None:
    """Return the joined chunks and where they end; None when the last one is not there yet."""
    parts: list[bytes] = []
    while (line_end := buffer.find(b"\r\n", start)) >= 0:
        size = int(bytes(buffer[start:line_end]).partition(b";")[0], 16)
        start = line_end + 2 + size + 2
        if len(buffer) < start:
            return None
        if size == 0:
            return b"".join(parts), start
        parts.append(bytes(buffer[line_end + 2 : start - 2]))
    return None


def params_of(request: Request) -> JsonObject:
    """Return the parameters of query and body, what is JSON in a string parsed.

    Raises UnreadableRequest.
    """
    query = request.target.partition("?")[2]
    found = _decoded(_pairs(query.encode())) if query else {}
    if not request.body:
        return found
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        return found | _json_body(request.body)
    if kind.startswith("multipart/form-data"):
        return found | _multipart(request.body, kind)
    return found | _decoded(_pairs(request.body))


def _pairs(encoded: bytes) -> list[tuple[str, str]]:
    try:
        text = encoded.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:
        raise UnreadableRequest("strings must be encoded in UTF-8") from error


def _decoded(pairs: list[tuple[str, str]]) -> JsonObject:
    return {name: _value(name, text) for name, text in pairs}


def _value(name: str, text: str) -> Any:
    # Digits with a sign or a zero in front are numbers here, as they are to the real server.
    if name in _TEXTS or not text:
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"True": True, "False": False}.get(text, text)


def _json_body(body: bytes) -> JsonObject:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise UnreadableRequest("can't parse JSON object") from error
    if not isinstance(found, dict):
        raise UnreadableRequest("can't parse JSON object")
    # A client may also leave the nested values encoded, as it would in a form.
    return {
        name: _value(name, value) if isinstance(value, str) else value
        for name, value in found.items()
    }


def _multipart(body: bytes, kind: str) -> JsonObject:
    boundary = kind.partition("boundary=")[2].partition(";")[0].strip('"').encode()
    found: JsonObject = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, data = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        data = data.removesuffix(b"\r\n")
        labels = _disposition(head.decode("utf-8", "replace"))
        name = labels.get("name", "")
        if "filename" in labels:
            found[name] = Upload(labels["filename"], data)
        else:
            found[name] = _value(name, _utf8(data))
    return found


def _disposition(head: str) -> dict[str, str]:
    for line in head.split("\r\n"):
        label, _, value = line.partition(":")
        if label.lower() == "content-disposition":
            parts = (piece.strip().partition("=") for piece in value.split(";"))
            return {name: text.strip('"') for name, _, text in parts}
    return {}


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableRequest("strings must be encoded in UTF-8") from error

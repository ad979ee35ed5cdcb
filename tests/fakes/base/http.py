"""Requests and answers of HTTP/1.1, as much of them as the fakes need: cheap to read and write."""

from __future__ import annotations

import http
from dataclasses import dataclass
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]

_PHRASES = {entry.value: entry.phrase for entry in http.HTTPStatus}


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

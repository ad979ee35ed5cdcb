"""A server of bytes: it gives each request the next answer of a script, and keeps the requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, sent as it is."""

    body: bytes
    status: int = 200
    content_type: str = STREAM


def events(*chunks: str) -> Answer:
    """Return a stream of the given JSON texts, with its end."""
    lines = "".join(f"data: {chunk}\n\n" for chunk in (*chunks, "[DONE]"))
    return Answer(lines.encode())


def refusal(body: str, status: int = 400) -> Answer:
    """Return an error with the given JSON text."""
    return Answer(body.encode(), status, "application/json")


@dataclass(slots=True)
class Played:
    """The server's address, the script's rest, and the bodies of all requests."""

    base_url: str
    script: deque[Answer]
    bodies: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def played_http(*answers: Answer) -> AsyncIterator[Played]:
    """Answer POSTs in the order of the script; a request after its end gets status 500."""
    played = Played("", deque(answers))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        fields = [line.lower().partition(b":") for line in head.splitlines()]
        length = next(int(value) for name, _, value in fields if name == b"content-length")
        played.bodies.append(await reader.readexactly(length))
        spare = refusal('{"error": {"message": "the script is over"}}', 500)
        answer = played.script.popleft() if played.script else spare
        writer.write(
            f"HTTP/1.1 {answer.status} Played\r\ncontent-type: {answer.content_type}\r\n"
            f"content-length: {len(answer.body)}\r\nconnection: close\r\n\r\n".encode()
        )
        writer.write(answer.body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        played.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield played

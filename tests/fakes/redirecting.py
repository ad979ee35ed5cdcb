"""A server that redirects every request, and the host that it names, which counts what it gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Redirecting:
    """The addresses of both.

    seen       the first lines of what the redirecting server was asked
    elsewhere  how often somebody connected to the other host, which nobody may
    """

    url: str = ""
    other: str = ""
    seen: list[str] = field(default_factory=list)
    elsewhere: int = 0


@asynccontextmanager
async def redirecting(
    status: int = 307, target: str = "{other}{path}", other_host: str = "localhost"
) -> AsyncIterator[Redirecting]:
    """Redirect to `target`, in which `other` and `path` are filled in; "" sends no Location."""
    both = Redirecting()

    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readuntil(b"\r\n")).decode().split()
            both.seen.append(" ".join(line))
            where = target.format(other=both.other, path=line[1])
            fields = [f"location: {where}"] if where else []
            head = [f"HTTP/1.1 {status} Moved", *fields, "content-length: 0", "connection: close"]
            writer.write("\r\n".join([*head, "", ""]).encode())
            await writer.drain()
            await reader.read()  # the client's body, which is thrown away, up to its end
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def listen(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        both.elsewhere += 1
        writer.close()

    first = await asyncio.start_server(redirect, "127.0.0.1", 0)
    second = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with first, second:
        both.url = f"http://127.0.0.1:{first.sockets[0].getsockname()[1]}"
        both.other = f"http://{other_host}:{second.sockets[0].getsockname()[1]}"
        yield both

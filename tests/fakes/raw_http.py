"""An HTTP server that sends the bytes it is given, chunk by chunk, to whoever asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager


@asynccontextmanager
async def raw_http(
    *chunks: bytes, content_type: str = "text/event-stream", more: Sequence[str] = ()
) -> AsyncIterator[str]:
    """Answer every request with status 200 and these chunks; gives the server's address."""
    fields = [f"content-type: {content_type}", "transfer-encoding: chunked", "connection: close"]
    head = "\r\n".join(["HTTP/1.1 200 OK", *fields, *more, "", ""]).encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        lengths = (
            int(line.partition(b":")[2])
            for line in request.splitlines()
            if line.lower().startswith(b"content-length:")
        )
        length = next(lengths, 0)
        await reader.readexactly(length)
        writer.write(head)
        for chunk in filter(None, chunks):  # an empty chunk would be the end
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"

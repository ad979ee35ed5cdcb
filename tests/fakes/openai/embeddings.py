"""A server of embeddings on a real socket, whose model is a hash: equal words, equal directions.

A few words are given as synonyms, so that a test can see that meaning was asked and not letters.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import blake2b

import orjson

DIMENSIONS = 256
SYNONYMS: Mapping[str, str] = {"car": "automobile", "salary": "wage", "broken": "defect"}


def hashed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return the sum of a direction for each word."""
    total = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        digest = blake2b(SYNONYMS.get(word, word).encode(), digest_size=32).digest()
        bits = int.from_bytes(digest, "little")
        for place in range(dimensions):
            total[place] += 1.0 if bits >> place & 1 else -1.0
    return total


@dataclass(slots=True)
class Embeddings:
    """What the server is asked, and how it is to answer."""

    base_url: str = ""
    key: str = "sk-embed"
    status: int = 200
    spare: int = 0
    requests: list[dict[str, object]] = field(default_factory=list)

    def answer(self, head: bytes, body: bytes) -> tuple[int, bytes]:
        """Answer one request by the API's rules."""
        if b" /v1/embeddings " not in head.split(b"\r\n", 1)[0]:
            return 404, b'{"error": {"message": "no such place"}}'
        if f"bearer {self.key}".encode() not in head.lower():
            return 401, b'{"error": {"message": "wrong key: what you sent"}}'
        asked = orjson.loads(body)
        self.requests.append(asked)
        texts = asked["input"]
        unfit = not texts or len(texts) > 2048 or any(not text for text in texts)
        if unfit or not isinstance(asked.get("model"), str):
            return 400, b'{"error": {"message": "unfit input"}}'
        if self.status != 200:
            return self.status, b'{"error": {"message": "as told"}}'
        size = asked.get("dimensions", DIMENSIONS)
        data = [
            {"object": "embedding", "index": place, "embedding": hashed(text, size)}
            for place, text in enumerate(texts)
        ]
        told = {"object": "list", "model": asked["model"], "data": data[::-1][self.spare :]}
        return 200, orjson.dumps({**told, "usage": {"prompt_tokens": 1, "total_tokens": 1}})


@asynccontextmanager
async def embeddings_server() -> AsyncIterator[Embeddings]:
    """Serve `/v1/embeddings` on 127.0.0.1 while the context is open."""
    told = Embeddings()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"(?i)content-length: (\d+)", head)
            status, body = told.answer(
                head, await reader.readexactly(int(found[1] if found else 0))
            )
            lines = [f"HTTP/1.1 {status} Told", "content-type: application/json"]
            lines += [f"content-length: {len(body)}", "connection: close", "", ""]
            writer.write("\r\n".join(lines).encode() + body)
            await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        told.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield told

"""Fetches a page from public addresses only, with caps on time, bytes and redirects.

Every address of a host is checked, and the connection goes to a checked address: a second look-up,
which could answer differently, never happens. The socket checks its address once more.
"""

from __future__ import annotations

import socket
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import anyio
import anyio.to_thread
from aiohttp.abc import AbstractResolver, ResolveResult
from anyio.lowlevel import RunVar
from yarl import URL

from agent.web.addresses import is_public
from agent.web.urls import PageRefused, checked, parsed

MAX_REDIRECTS: Final = 3
TOTAL_SECONDS: Final = 20.0  # maximum seconds for a page, with all of its redirects
MAX_BYTES: Final = 2_000_000  # maximum bytes of a page, as sent
MAX_UNPACKED: Final = 4_000_000  # maximum bytes of a page, after decompression
MAX_LOOKUPS: Final = 4  # maximum threads that wait for DNS, which cannot be interrupted

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_WINDOWS: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": 15}
_HEADERS: Final = {
    "User-Agent": "Tapeway (a chat agent that reads a page for a person)",
    "Accept": "text/html, text/*;q=0.9, application/json;q=0.8, application/xml;q=0.8",
    "Accept-Encoding": "gzip, deflate",
}
_lookups: Final = RunVar[anyio.CapacityLimiter]("tapeway_lookups")


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server sent: the last URL, the media type, the named charset, and the bytes."""

    url: str
    mime: str
    charset: str
    body: bytes


async def fetch(url: str) -> Fetched:
    """Return what is at a URL; raises PageRefused."""
    try:
        with anyio.fail_after(TOTAL_SECONDS):
            async with _session() as session:
                return await _follow(session, checked(url))
    except TimeoutError:
        raise PageRefused(f"the page did not arrive within {TOTAL_SECONDS:g} seconds") from None
    except (aiohttp.ClientError, OSError, ValueError) as cause:
        raise PageRefused(f"the page can't be fetched ({type(cause).__name__})") from None


def _session() -> aiohttp.ClientSession:
    # Without `trust_env`, no proxy and no password is taken from the environment or from netrc.
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            resolver=PublicResolver(),
            use_dns_cache=False,
            socket_factory=_public_socket,
            force_close=True,
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=_HEADERS,
        auto_decompress=False,
        trust_env=False,
    )


async def _follow(session: aiohttp.ClientSession, url: URL) -> Fetched:
    for _ in range(MAX_REDIRECTS + 1):
        async with session.get(url, allow_redirects=False) as response:
            target = response.headers.get("Location")
            if response.status not in _REDIRECTS or not target:
                return await _read(response)
        url = checked(str(url.join(parsed(target))))
    raise PageRefused(f"the page redirects more than {MAX_REDIRECTS} times")


async def _read(response: aiohttp.ClientResponse) -> Fetched:
    if response.status != 200:
        raise PageRefused(f"the server answered {response.status}")
    mime = response.content_type
    if not (mime.startswith("text/") or mime.endswith(("json", "xml"))):
        raise PageRefused(f"it is {mime[:80]}, which has no text")
    body = bytearray()
    async for piece in _unpacked(response):
        body += piece
        if len(body) > MAX_UNPACKED:
            raise PageRefused(f"the page is larger than {MAX_UNPACKED // 1_000_000} MB")
    charset = response.charset or ""
    return Fetched(str(response.url), mime, charset, bytes(body))


async def _unpacked(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Yield the body, decompressed piece by piece, so that a small body can't fill the memory."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity", *_WINDOWS):
        raise PageRefused("the page is compressed in a way that was not asked for")
    unpacker = zlib.decompressobj(_WINDOWS[coding]) if coding in _WINDOWS else None
    received = 0
    async for piece in response.content.iter_chunked(65_536):
        received += len(piece)
        if received > MAX_BYTES:
            raise PageRefused(f"the page is larger than {MAX_BYTES // 1_000_000} MB")
        try:
            yield piece if unpacker is None else unpacker.decompress(piece, MAX_UNPACKED + 1)
        except zlib.error:
            raise PageRefused("the page is compressed in a way that can't be read") from None


class PublicResolver(AbstractResolver):
    """Looks a host up, and refuses it if any of its addresses is not public."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found: list[Any] = await anyio.to_thread.run_sync(
            lambda: socket.getaddrinfo(host, port, family, socket.SOCK_STREAM),
            abandon_on_cancel=True,
            limiter=_limiter(),
        )
        if not found or not all(is_public(str(address[0])) for *_, address in found):
            raise PageRefused(f"{host} is not on the public internet")
        return [
            ResolveResult(
                hostname=host,
                host=address[0],
                port=port,
                family=kind,
                proto=proto,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, proto, _, address in found
        ]

    async def close(self) -> None: ...


def _public_socket(info: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, proto, _, address = info
    if not is_public(str(address[0])) or any(address[3:]):
        raise PageRefused(f"{address[0]} is not on the public internet")
    return socket.socket(family, kind, proto)


def _limiter() -> anyio.CapacityLimiter:
    try:
        return _lookups.get()
    except LookupError:
        _lookups.set(anyio.CapacityLimiter(MAX_LOOKUPS))
        return _lookups.get()

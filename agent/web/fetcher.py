"""Fetches a page or an image from public addresses only, with caps on time, bytes and redirects.

Every address of a host is checked, and the connection goes to a checked address: a second look-up,
which could answer differently, never happens. The socket checks its address once more.
"""

from __future__ import annotations

import socket
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import anyio
import anyio.to_thread
from aiohttp.abc import AbstractResolver, ResolveResult
from anyio.lowlevel import RunVar
from yarl import URL

from agent.web.addresses import is_public
from agent.web.urls import NotReached, PageRefused, checked, parsed

MAX_REDIRECTS: Final = 3
TOTAL_SECONDS: Final = 20.0  # maximum seconds for a page or an image, with all redirects
MAX_BYTES: Final = 2_000_000  # maximum bytes of a page, as sent
MAX_UNPACKED: Final = 4_000_000  # maximum bytes of a page, after decompression
MAX_IMAGE_BYTES: Final = 4_000_000  # maximum bytes of an image, as sent and after decompression
MAX_LOOKUPS: Final = 4
"""Maximum threads that wait for DNS, which can't be interrupted: for pages, and for images."""

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_WINDOWS: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": 15}
_HEADERS: Final = {
    "User-Agent": "Tapeway (a chat agent that reads a page for a person)",
    "Accept-Encoding": "gzip, deflate",
}
_Lookups = RunVar[anyio.CapacityLimiter]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server sent: the last URL, the media type, the named charset, and the bytes."""

    url: str
    mime: str
    charset: str
    body: bytes


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What may be at a URL: how a sentence calls it, which media types fit, and how large it is.

    Slow names of one kind do not delay the look-ups of another one.
    """

    noun: str
    accept: str
    fits: Callable[[str], bool]
    lacks: str
    most: int
    most_unpacked: int
    lookups: _Lookups


def _is_text(mime: str) -> bool:
    return mime.startswith("text/") or mime.endswith(("json", "xml"))


def _may_be_image(mime: str) -> bool:
    # Its bytes decide; some servers do not say what they send.
    return mime.startswith("image/") or mime == "application/octet-stream"


_PAGE: Final = _Wanted(
    "page",
    "text/html, text/*;q=0.9, application/json;q=0.8, application/xml;q=0.8",
    _is_text,
    "which has no text",
    MAX_BYTES,
    MAX_UNPACKED,
    _Lookups("tapeway_page_lookups"),
)
_IMAGE: Final = _Wanted(
    "image",
    "image/png, image/jpeg, image/webp, image/gif",
    _may_be_image,
    "which is no image",
    MAX_IMAGE_BYTES,
    MAX_IMAGE_BYTES,
    _Lookups("tapeway_image_lookups"),
)


async def fetch(url: str) -> Fetched:
    """Return the page at a URL; raises PageRefused."""
    return await _fetch(url, _PAGE)


async def fetch_image(url: str) -> bytes:
    """Return what a server sends as an image, which may be none; raises PageRefused."""
    return (await _fetch(url, _IMAGE)).body


async def _fetch(url: str, wanted: _Wanted) -> Fetched:
    noun = wanted.noun
    try:
        with anyio.fail_after(TOTAL_SECONDS):
            async with _session(wanted) as session:
                return await _follow(session, checked(url), wanted)
    except TimeoutError:
        raise NotReached(f"the {noun} did not arrive within {TOTAL_SECONDS:g} seconds") from None
    except (aiohttp.ClientError, OSError, ValueError) as cause:
        raise NotReached(f"the {noun} can't be fetched ({type(cause).__name__})") from None


def _session(wanted: _Wanted) -> aiohttp.ClientSession:
    # Without `trust_env`, no proxy and no password is taken from the environment or from netrc.
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            resolver=PublicResolver(wanted.lookups),
            use_dns_cache=False,
            socket_factory=_public_socket,
            force_close=True,
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={**_HEADERS, "Accept": wanted.accept},
        auto_decompress=False,
        trust_env=False,
    )


async def _follow(session: aiohttp.ClientSession, url: URL, wanted: _Wanted) -> Fetched:
    for _ in range(MAX_REDIRECTS + 1):
        async with session.get(url, allow_redirects=False) as response:
            target = response.headers.get("Location")
            if response.status not in _REDIRECTS or not target:
                return await _read(response, wanted)
        url = checked(str(url.join(parsed(target))))
    raise PageRefused(f"the {wanted.noun} redirects more than {MAX_REDIRECTS} times")


async def _read(response: aiohttp.ClientResponse, wanted: _Wanted) -> Fetched:
    if response.status != 200:
        raise PageRefused(f"the server answered {response.status}")
    mime = response.content_type
    if not wanted.fits(mime):
        raise PageRefused(f"it is {mime[:80]}, {wanted.lacks}")
    body = bytearray()
    async for piece in _unpacked(response, wanted):
        body += piece
        if len(body) > wanted.most_unpacked:
            most = wanted.most_unpacked // 1_000_000
            raise PageRefused(f"the {wanted.noun} is larger than {most} MB")
    charset = response.charset or ""
    return Fetched(str(response.url), mime, charset, bytes(body))


async def _unpacked(response: aiohttp.ClientResponse, wanted: _Wanted) -> AsyncIterator[bytes]:
    """Yield the body, decompressed piece by piece, so that a small body can't fill the memory."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity", *_WINDOWS):
        raise PageRefused(f"the {wanted.noun} is compressed in a way that was not asked for")
    unpacker = zlib.decompressobj(_WINDOWS[coding]) if coding in _WINDOWS else None
    received = 0
    async for piece in response.content.iter_chunked(65_536):
        received += len(piece)
        if received > wanted.most:
            most = wanted.most // 1_000_000
            raise PageRefused(f"the {wanted.noun} is larger than {most} MB")
        try:
            room = wanted.most_unpacked + 1
            yield piece if unpacker is None else unpacker.decompress(piece, room)
        except zlib.error:
            raise PageRefused(
                f"the {wanted.noun} is compressed in a way that can't be read"
            ) from None


class PublicResolver(AbstractResolver):
    """Looks a host up, and refuses it if any of its addresses is not public."""

    def __init__(self, lookups: _Lookups) -> None:
        self._lookups = lookups

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found: list[Any] = await anyio.to_thread.run_sync(
            lambda: socket.getaddrinfo(host, port, family, socket.SOCK_STREAM),
            abandon_on_cancel=True,
            limiter=_limiter(self._lookups),
        )
        if not found or not all(is_public(str(address[0])) for *_, address in found):
            raise NotReached(f"{host} is not on the public internet")
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
        raise NotReached(f"{address[0]} is not on the public internet")
    return socket.socket(family, kind, proto)


def _limiter(lookups: _Lookups) -> anyio.CapacityLimiter:
    try:
        return lookups.get()
    except LookupError:
        lookups.set(anyio.CapacityLimiter(MAX_LOOKUPS))
        return lookups.get()

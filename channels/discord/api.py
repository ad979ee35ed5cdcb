"""Requests to Discord's API, and what its errors mean to us.

The SDK's own requests are not used: they sleep out a 429 inside the call, hold back the answer of
one that used up its bucket, and send again after a 500, a post too. Here a request goes out once;
the outbox tries again, and knows what may be tried. No error of ours holds the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import aiohttp
import anyio
import orjson
import yarl

from channels.discord.settings import DiscordSettings
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    MediaRefused,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
)
from channels.pacing import Clock

CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 15.0
GOODBYE_SECONDS: Final = 1.0
IDLE_SECONDS: Final = 15.0
"""Shorter than a server's own: a request into a closing connection is one of unknown outcome."""

USER_AGENT: Final = "DiscordBot (tapeway, 0.1)"
"""In the form that Discord asks for: others are turned away before they reach it."""

UNKNOWN_BOT: Final = (
    "Discord does not know this token. Open discord.com/developers/applications, choose the"
    " application, Bot, Reset Token, set TAPEWAY_DISCORD__TOKEN to it and start again."
)
NO_ANSWER: Final = "Discord cannot be reached now: no answer came"

UNKNOWN_CHANNEL: Final = 10003
UNKNOWN_MESSAGE: Final = 10008
MISSING_ACCESS: Final = 50001
MISSING_PERMISSION: Final = 50013
INVALID_FORM: Final = 50035
NO_HISTORY: Final = 160002
ARCHIVED: Final = 50083

MOST_SPENT: Final = 1_000

Json = Mapping[str, Any]


class ApiRefused(SendRefused):
    """Discord refuses a request; `code` is its own number of the reason, 0 where it gives none."""

    def __init__(self, status: int, code: int, told: str, detail: str = "") -> None:
        self.status = status
        self.code = code
        self.detail = detail
        super().__init__(f"Discord refuses it: {told} ({code or status})")


class DiscordApi:
    """One bot's requests; `call` makes one and raises errors of ours only."""

    def __init__(self, settings: DiscordSettings) -> None:
        self._token = settings.key()
        self._base = settings.base_url
        self._proxy = settings.proxy or None
        self._hosts = {
            yarl.URL(url).origin() for url in (*settings.cdn_url.split(","), self._base) if url
        }
        self._session: aiohttp.ClientSession | None = None
        self._sockets: aiohttp.ClientSession | None = None
        self._clock: Clock | None = None
        self._closed_until = float("-inf")
        self._spent: dict[str, float] = {}
        self.refused = anyio.Event()
        """Set when Discord says that it does not know the token."""

    async def open(self, clock: Clock) -> None:
        """Open the session; times are the clock's."""
        self._clock = clock
        self.refused = anyio.Event()
        if self._session is None or self._sockets is None:
            kept = aiohttp.TCPConnector(limit=256, keepalive_timeout=IDLE_SECONDS)
            self._session = _session(kept)
            # A socket is opened where others may have just died: over a connection of its own.
            self._sockets = _session(aiohttp.TCPConnector(limit=0, force_close=True))

    async def close(self) -> None:
        """Close it."""
        sessions = (self._session, self._sockets)
        self._session = self._sockets = None
        for session in sessions:
            if session is not None:
                await session.close()

    async def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        seconds: float = ANSWER_SECONDS,
        as_bot: bool = True,
    ) -> Any:
        """Make a request once and return what it answers; None for an empty answer."""
        route = f"{method} {'/'.join(path.split('/')[:4])}"
        self._check_open(route)
        headers = {"Authorization": f"Bot {self._token}"} if as_bot else {}
        body = None
        if json is not None:
            body, headers["Content-Type"] = orjson.dumps(json), "application/json"
        timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, total=seconds)
        try:
            async with self._opened().request(
                method,
                f"{self._base}{path}",
                data=body,
                params=query,
                headers=headers,
                timeout=timeout,
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                status, told = response.status, await response.read()
                waits = response.headers.get("Retry-After", "")
                self._count(route, response.headers)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as cause:
            raise ChannelDown(f"Discord cannot be reached now ({type(cause).__name__})") from None
        except (aiohttp.ClientError, TimeoutError):
            raise SendAmbiguous("the request went out and no answer came") from None
        if status == 401 and as_bot:
            raise await self._unknown_bot()
        return self._read(status, told, waits)

    async def _unknown_bot(self) -> ChannelError:
        """Ask whether the token is refused for good; one refusal may be a server's mishap."""
        timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, total=ANSWER_SECONDS)
        try:
            async with self._opened().get(
                f"{self._base}/users/@me",
                headers={"Authorization": f"Bot {self._token}"},
                timeout=timeout,
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                known = response.status != 401
        except (aiohttp.ClientError, TimeoutError):
            known = True
        if known:
            return ChannelDown("Discord did not know the token for a moment (401)")
        self.refused.set()
        return ChannelUnfit(UNKNOWN_BOT)

    async def ask(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Ask for something, which changes nothing: without an answer Discord is away."""
        try:
            return await self.call("GET", path, query=query)
        except SendAmbiguous as lost:
            raise ChannelDown(NO_ANSWER) from lost

    async def socket(self, url: str) -> aiohttp.ClientWebSocketResponse:
        """Open a socket."""
        if self._sockets is None:
            raise ChannelDown("not connected")
        return await self._sockets.ws_connect(
            url,
            max_msg_size=0,
            autoclose=False,
            timeout=aiohttp.ClientWSTimeout(ws_close=GOODBYE_SECONDS),
            proxy=self._proxy,
        )

    async def download(self, url: str, most: int) -> bytes:
        """Fetch an attachment from where Discord keeps them; at most so many bytes.

        Raises ChannelDown; MediaRefused for any other address, and for what is larger.
        """
        if not self._keeps(url):
            raise MediaRefused("it is not where Discord keeps its files")
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        found = bytearray()
        try:
            async with self._opened().get(
                yarl.URL(url, encoded=True),
                timeout=timeout,
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                if response.status != 200:
                    raise ApiRefused(response.status, 0, "the file is not there")
                async for piece in response.content.iter_chunked(65_536):
                    found += piece
                    if len(found) > most:
                        raise MediaRefused("it is larger than was said")
        except (aiohttp.ClientError, TimeoutError) as cause:
            raise ChannelDown(f"the file could not be fetched ({type(cause).__name__})") from None
        return bytes(found)

    def _keeps(self, url: str) -> bool:
        """Tell whether an address is one where Discord keeps files: no other is ever fetched."""
        try:
            return yarl.URL(url).origin() in self._hosts
        except ValueError:
            return False

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise ChannelDown("not connected")
        return self._session

    def _now(self) -> float:
        return self._clock.monotonic() if self._clock is not None else 0.0

    def _check_open(self, route: str) -> None:
        """Wait where Discord told the whole bot to, or says that it will take no more yet."""
        left = max(self._closed_until, self._spent.get(route, 0.0)) - self._now()
        if left > 0:
            raise SendDelayed(left)

    def _count(self, route: str, headers: Mapping[str, str]) -> None:
        """Remember that a route takes no more for now; a refusal would count against the bot."""
        if headers.get("X-RateLimit-Remaining") != "0":
            return
        now = self._now()
        self._spent[route] = now + _seconds(headers.get("X-RateLimit-Reset-After"))
        if len(self._spent) > MOST_SPENT:
            self._spent = {name: until for name, until in self._spent.items() if until > now}

    def _read(self, status: int, body: bytes, waits: str) -> Any:
        if 200 <= status < 300:
            return _answer(body)
        told = _told(body)
        if status == 429:
            seconds = _seconds(told.get("retry_after", waits))
            if told.get("global") is True:
                self._closed_until = self._now() + seconds
            raise SendDelayed(seconds)
        if status == 503:
            raise ChannelDown("Discord cannot answer now (503)")
        if status >= 500:  # whoever answers so may not know what became of the request
            raise SendAmbiguous(f"the server answered with {status}")
        code = told.get("code")
        words = str(told.get("message") or "no reason given")[:200]
        detail = str(told.get("errors") or "")
        raise ApiRefused(status, code if isinstance(code, int) else 0, words, detail)


def _session(connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": USER_AGENT},
    )


def _answer(body: bytes) -> Any:
    if not body:
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise SendAmbiguous("the server's answer cannot be read") from None


def _told(body: bytes) -> Json:
    """Return the body of a refusal; one that is no JSON object is none."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(told: Any) -> float:
    try:
        seconds = float(told)
    except (TypeError, ValueError):
        return 1.0
    return max(0.05, seconds) if isfinite(seconds) else 1.0

"""Sends requests to Discord's API, and turns Discord's error answers into our errors.

The SDK's requests are not used: they sleep through a 429, hold back the answer that used up a rate
limit, and repeat even a post after a 500. Here each request is sent once; the outbox repeats those
that are safe to repeat. Our errors never contain the token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from enum import IntEnum
from math import isfinite
from typing import Any, Final

import aiohttp
import anyio
import orjson
import yarl

from channels.clock import Clock
from channels.connection_troubles import NOT_SENT, Way
from channels.discord.guild_cache import Raw
from channels.discord.refusals import TABLE, codes_of, is_discords
from channels.discord.settings import DiscordSettings
from channels.discord.troubles import ANSWER_REFUSED, CONNECTION, TOKEN_REFUSED, WRONG_TOKEN
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    MediaRefused,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
    TooLarge,
)
from channels.pacing import UNLIMITED, Gates, OwnGate, OwnGates, SharedGate
from channels.redirects import Redirected, refuse_redirects
from channels.refusals import Row
from channels.tally import Tally
from channels.token_kinds import DISCORD, misplaced

CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 15.0
CLOSE_SECONDS: Final = 1.0
IDLE_SECONDS: Final = 15.0
"""Less than servers' idle timeouts: a request into a closing connection has no known outcome."""

USER_AGENT: Final = "DiscordBot (tapeway, 0.1)"
"""The form that Discord requires: its proxy rejects other user agents."""

MAX_LIMITED_ROUTES: Final = 1_000
OWN_PATH: Final = "/users/@me"
OWN_ROUTE: Final = f"GET {OWN_PATH}"
"""Finds out whether the token is still refused."""


class Code(IntEnum):
    """Discord's error codes; `NO_HISTORY`: a reply needs the permission to read the history."""

    UNKNOWN_CHANNEL = 10003
    UNKNOWN_MEMBER = 10007
    UNKNOWN_MESSAGE = 10008
    UNKNOWN_USER = 10013
    MISSING_ACCESS = 50001
    NOT_AUTHOR = 50005
    MISSING_PERMISSION = 50013
    INVALID_FORM = 50035
    ARCHIVED = 50083
    NO_HISTORY = 160002


class ApiRefused(SendRefused):
    """Discord refused a request.

    code    Discord's error code, or 0 if it gave none
    row     what its codes mean for a message
    detail  the form errors of each field, as Discord nests them
    """

    def __init__(
        self, status: int, code: int, reason: str, detail: str = "", row: Row = TABLE.unknown
    ) -> None:
        self.status = status
        self.code = code
        self.row = row
        sentence = f"Discord refused the request: {reason} ({code or status})"
        super().__init__(sentence, detail=detail, explanation=row.trouble, closed=row.closed)


class DiscordApi:
    """Sends the requests of one bot; `call` raises only ChannelError."""

    def __init__(
        self,
        settings: DiscordSettings,
        tally: Tally | None = None,
        blocked: Callable[[str], None] | None = None,
    ) -> None:
        self._tally = tally or Tally()
        self._way = Way(CONNECTION, settings.base_url, blocked)
        self.token = settings.key()
        self._base = settings.base_url
        self._proxy = settings.proxy or None
        self._hosts = {
            yarl.URL(url).origin() for url in (*settings.cdn_url.split(","), self._base) if url
        }
        self._session: aiohttp.ClientSession | None = None
        self._sockets: aiohttp.ClientSession | None = None
        self.date = ""  # the `Date` header of the last answer
        self._clock: Clock | None = None
        self._gates: Gates | None = None
        self._bot: SharedGate | None = None
        self._limited: dict[str, float] = {}
        self.rejected = anyio.Event()
        """Set once Discord has rejected the token for good."""

    def check_token(self) -> None:
        """Raise ChannelUnfit if the token is another platform's, which must not get it, or none."""
        if what := misplaced(self.token, DISCORD) or ("" if self.token else "it is empty"):
            raise ChannelUnfit(trouble=WRONG_TOKEN, detail=what)

    async def open(
        self, clock: Clock, gates: Gates | None = None, bot: SharedGate | None = None
    ) -> None:
        """Open the connections; `bot` is the limit of the bot everywhere, one of `gates`."""
        self._clock = clock
        self._gates = gates or OwnGates(clock)
        self._bot = bot or OwnGate(UNLIMITED, clock)
        self.rejected = anyio.Event()
        if self._session is None or self._sockets is None:
            kept = aiohttp.TCPConnector(limit=256, keepalive_timeout=IDLE_SECONDS)
            self._session = _session(kept)
            # A new connection for each websocket: others may have just died.
            self._sockets = _session(aiohttp.TCPConnector(limit=0, force_close=True))

    async def close(self) -> None:
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
        """Send a request once; return the parsed answer, or None if the answer is empty."""
        route = f"{method} {'/'.join(path.split('/')[:4])}"
        self._check_open(route, as_bot=as_bot)
        headers = {"Authorization": f"Bot {self.token}"} if as_bot else {}
        body = None
        if json is not None:
            body, headers["Content-Type"] = orjson.dumps(json), "application/json"
        url = f"{self._base}{path}"
        try:
            async with self._request(method, url, headers, seconds, body, query) as response:
                status, content = response.status, await response.read()
                retry_after = response.headers.get("Retry-After", "")
                self.date = response.headers.get("Date", "")
                self._count(route, response.headers)
        except NOT_SENT as cause:
            raise CONNECTION.error(cause) from None
        except (aiohttp.ClientError, TimeoutError):
            raise SendAmbiguous("the request was sent, but no answer came") from None
        if status == 401 and as_bot and is_discords(_reason(content)):
            raise await self._unauthorized()
        if route == OWN_ROUTE and status == 200 and self._gates is not None:
            self._gates.refuse(self.token, refused=False)
        return self._read(route, status, content, retry_after)

    async def _unauthorized(self) -> ChannelError:
        """Check the token once more after a 401, which may be an accident; return the error."""
        url, headers = f"{self._base}{OWN_PATH}", {"Authorization": f"Bot {self.token}"}
        try:
            async with self._request("GET", url, headers) as response:
                known = response.status != 401 or not is_discords(_reason(await response.read()))
        except (aiohttp.ClientError, TimeoutError):
            known = True
        if known:
            return ChannelDown("Discord rejected the token once (401)")
        self.rejected.set()
        if self._gates is not None:
            self._gates.refuse(self.token)
        return ChannelUnfit(trouble=TOKEN_REFUSED)

    async def ask(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Send a GET; if its answer is lost, raise ChannelDown, since a GET changes nothing."""
        try:
            return await self.call("GET", path, query=query)
        except SendAmbiguous as lost:
            raise ChannelDown(trouble=CONNECTION.unreachable, detail="no answer") from lost

    async def ws_connect(self, url: str) -> aiohttp.ClientWebSocketResponse:
        """Open a websocket; the SDK's socket class calls this."""
        if self._sockets is None:
            raise ChannelDown("not connected")
        return await self._sockets.ws_connect(
            url,
            max_msg_size=0,  # READY lists all guilds
            autoclose=False,
            timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
            proxy=self._proxy,
        )

    async def download(self, url: str, most: int) -> bytes:
        """Return a file; raises ChannelDown, or MediaRefused if its host or size is not allowed."""
        found = await self.start_of(url, most + 1)
        if len(found) > most:
            raise MediaRefused("it is larger than announced")
        return found

    async def start_of(self, url: str, most: int) -> bytes:
        """Return the first bytes of a file; raises ChannelDown or MediaRefused as `download`."""
        if not self._is_file_host(url):
            raise MediaRefused("it is not on one of Discord's file hosts")
        found = bytearray()
        try:
            async with self._request("GET", yarl.URL(url, encoded=True)) as response:
                if response.status != 200:
                    raise ApiRefused(response.status, 0, "the file does not exist")
                async for piece in response.content.iter_chunked(65_536):
                    found += piece
                    if len(found) >= most:
                        break
        except Redirected as cause:
            raise ApiRefused(cause.status, 0, "the file is on another host") from None
        except (aiohttp.ClientError, TimeoutError) as cause:
            raise ChannelDown(f"the download failed ({type(cause).__name__})") from None
        return bytes(found[:most])

    def _is_file_host(self, url: str) -> bool:
        try:
            return yarl.URL(url).origin() in self._hosts
        except (ValueError, IndexError):  # an IndexError of "http://[::1]@"
            return False

    def _request(
        self,
        method: str,
        url: str | yarl.URL,
        headers: Mapping[str, str] | None = None,
        seconds: float = ANSWER_SECONDS,
        body: bytes | None = None,
        query: Mapping[str, str] | None = None,
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        if self._session is None:
            raise ChannelDown("not connected")
        return self._session.request(
            method,
            url,
            data=body,
            params=query,
            headers=headers,
            timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, total=seconds),
            proxy=self._proxy,
        )

    def _now(self) -> float:
        return self._clock.monotonic() if self._clock is not None else 0.0

    def _check_open(self, route: str, *, as_bot: bool) -> None:
        now = self._now()
        left = self._limited.get(route, 0.0) - now
        if self._gates is not None and self._bot is not None:
            left = max(left, self._bot.closed_for(now))
            if as_bot and route != OWN_ROUTE and self._gates.is_refused(self.token):
                self.rejected.set()
                raise ChannelUnfit(trouble=TOKEN_REFUSED)
        if left > 0:
            raise SendDelayed(left)

    def _count(self, route: str, headers: Mapping[str, str]) -> None:
        if headers.get("X-RateLimit-Remaining") != "0":
            return
        # A request over the limit would be refused, and would count against the bot.
        now = self._now()
        self._limited[route] = now + _seconds(headers.get("X-RateLimit-Reset-After"))
        if len(self._limited) > MAX_LIMITED_ROUTES:
            self._limited = {name: until for name, until in self._limited.items() if until > now}

    def _read(self, route: str, status: int, body: bytes, retry_after: str) -> Any:
        if 200 <= status < 300:
            found = _answer(body)
            self._way.clear(route)
            return found
        reason = _reason(body)
        if status == 429:  # a 429 from Cloudflare has no JSON, only this header
            self._tally.rate_limits += 1
            seconds = _seconds(reason.get("retry_after", retry_after))
            if reason.get("global") is True and self._bot is not None:
                self._bot.close(self._now() + seconds)
            raise SendDelayed(seconds)
        if status == 503:
            raise ChannelDown(trouble=CONNECTION.unreachable, detail="it answered with 503")
        if status >= 500:  # the request may have been carried out nevertheless
            raise SendAmbiguous(f"the server answered with {status}")
        if status == 413:  # its page may be that of a proxy, whose limit is smaller
            raise TooLarge("the request is too large (413)", explanation=ANSWER_REFUSED)
        if not is_discords(reason):
            raise self._way.blocked(status, route)
        self._way.clear(route)
        words = str(reason.get("message") or "no reason given")[:200]
        detail = str(reason.get("errors") or "")
        row = TABLE.of(*codes_of(reason))
        raise ApiRefused(status, reason["code"], words, detail, row)


def _session(connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": USER_AGENT},
        middlewares=(refuse_redirects,),
    )


def _answer(body: bytes) -> Any:
    if not body:
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise SendAmbiguous("the server's answer is unreadable") from None


def _reason(body: bytes) -> Raw:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return 1.0
    # Never zero, or the caller would retry without a pause.
    return max(0.05, seconds) if isfinite(seconds) else 1.0

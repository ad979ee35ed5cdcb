"""Requests to the Bot API: the SDK's request layer over aiohttp, with our own errors.

The SDK does not retry, since the outbox does and knows which sends are safe to repeat. No error
contains a request's address, since the token is part of the address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, cast
from urllib.parse import urlencode

import aiohttp
import orjson
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)
from telegram.request import BaseRequest, RequestData

from channels.connection_troubles import NOT_SENT, Way
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
    TooLarge,
)
from channels.redirects import Redirected, refuse_redirects
from channels.tally import Tally
from channels.telegram.refusals import TABLE
from channels.telegram.settings import TelegramSettings
from channels.telegram.troubles import (
    ANSWER_REFUSED,
    CONNECTION,
    SECOND_POLLER,
    TOKEN_REFUSED,
    WEBHOOK_ELSEWHERE,
    WRONG_TOKEN,
)
from channels.token_kinds import TELEGRAM, misplaced

CONNECT_SECONDS: Final = 10.0
_TOKEN: Final = re.compile(r"\d+:[\w-]+")
ANSWER_SECONDS: Final = 20.0
EVERYWHERE: Final = ("sendMessage", "editMessageText", "getUpdates")
"""Methods that every server has; a server that does not know them is still starting up."""

IDLE_SECONDS: Final = 15.0
"""Seconds until we close an idle connection. If the server closes a connection while a request is
sent, the request's outcome is unknown."""


class AnswerLost(NetworkError):
    """The request was sent, but no answer came."""


class Unreadable(TelegramError):
    """The server's answer is not a JSON object."""


class Unavailable(NetworkError):
    """The request was not carried out: no connection, or the server cannot handle it now."""

    def __init__(self, error: ChannelDown) -> None:
        super().__init__(str(error))
        self.error = error


class TooMany(NetworkError):
    """Status 429; the SDK's RetryAfter would log a warning whenever it is created."""

    def __init__(self, seconds: float) -> None:
        super().__init__("too many requests")
        self.seconds = seconds


class OtherReader(ChannelDown):
    """Telegram ended a poll, since another one with the same token began."""


class Migrated(ChannelError):
    """The group became a supergroup, which has another id."""

    def __init__(self, chat_id: str) -> None:
        self.chat_id = chat_id
        super().__init__(f"the group is now {chat_id}")


class BotApiRefused(SendRefused):
    """Telegram refuses a request; `row` is what its description means for a message."""

    def __init__(self, description: str) -> None:
        self.row = row = TABLE.described(description)
        super().__init__(description, explanation=row.trouble, closed=row.closed)


class NotAsSent(BotApiRefused):
    """Telegram refuses the message in this form, but may accept another form."""


class RequestTooLarge(NetworkError):
    """Status 413."""


@dataclass(frozen=True, slots=True)
class _Form:
    """The part of the SDK's RequestData that we use; only the SDK's Bot can create a real one."""

    json_parameters: dict[str, str]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


class MethodUnknown(NotAsSent):
    """The server is too old to know this method."""


class AiohttpRequest(BaseRequest):
    """The request layer of the SDK, on one aiohttp session."""

    def __init__(self, connections: int, proxy: str, way: Way) -> None:
        self._connections = connections
        self._way = way
        self._proxy = proxy or None
        self._session: aiohttp.ClientSession | None = None
        self.date = ""

    @property
    def read_timeout(self) -> float:
        return ANSWER_SECONDS

    async def initialize(self) -> None:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=self._connections, keepalive_timeout=IDLE_SECONDS
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                proxy=self._proxy,
                middlewares=(refuse_redirects,),
            )

    async def shutdown(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = None,
        write_timeout: Any = None,  # noqa: ARG002 - aiohttp has a single timeout for both
        connect_timeout: Any = None,  # noqa: ARG002 - ours is fixed
        pool_timeout: Any = None,  # noqa: ARG002 - the pool is large enough
    ) -> tuple[int, bytes]:
        """Send a request; raises Unavailable, AnswerLost, TooMany or one of the SDK's errors."""
        if self._session is None:
            raise Unavailable(ChannelDown("not connected"))
        seconds = float(read_timeout) if isinstance(read_timeout, (int, float)) else ANSWER_SECONDS
        timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, total=seconds)
        values = request_data.json_parameters if request_data else {}
        form = urlencode(values, errors="replace").encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            async with self._session.request(
                method, url, data=form, headers=headers, timeout=timeout, allow_redirects=False
            ) as response:
                self.date = response.headers.get("Date", "")
                body = await response.read()
        except NOT_SENT as cause:
            raise Unavailable(CONNECTION.error(cause)) from None
        except (aiohttp.ClientError, TimeoutError) as cause:
            raise AnswerLost(type(cause).__name__) from None
        route = f"{url.rpartition('/')[2]} {values.get('chat_id', '')}"
        status = response.status
        is_refusal = 300 <= status < 500 and status not in (413, 429)
        if is_refusal and not _is_telegrams(body):
            raise Unavailable(self._way.blocked(status, route))
        if status < 500:
            self._way.clear(route)
        _check(status, body)
        return status, body

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        return read_json(payload)


def read_json(payload: bytes) -> dict[str, Any]:
    """Parse a JSON object; raises Unreadable for anything else."""
    try:
        found = orjson.loads(payload)
    except orjson.JSONDecodeError:
        try:  # orjson refuses lone surrogates
            found = json.loads(payload.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as cause:
            raise Unreadable("not JSON") from cause
    if not isinstance(found, dict):
        raise Unreadable("not a JSON object")
    return found


def _is_telegrams(body: bytes) -> bool:
    """Return whether an answer has the form of a refusal of Telegram's."""
    try:
        return read_json(body).get("ok") is False
    except Unreadable:
        return False


def _check(status: int, body: bytes) -> None:
    # The SDK does not distinguish these.
    if status == 401:
        raise InvalidToken("Unauthorized")
    if status == 404:
        raise EndPointNotFound("Not Found")
    if status in (500, 502, 504):  # A proxy answered, so the request may have been carried out.
        raise AnswerLost(f"the server answered with {status}")
    if status > 500:
        detail = f"the server answered with {status}"
        raise Unavailable(ChannelDown(trouble=CONNECTION.unreachable, detail=detail))
    if status == 413:
        raise RequestTooLarge("the request is too large (413)")
    if 400 < status < 500 and status not in (403, 409, 429):
        raise BadRequest(f"the server answered with {status}: the request is invalid")
    if status == 429:
        try:
            seconds = float(read_json(body)["parameters"]["retry_after"])
        except (TelegramError, KeyError, TypeError, ValueError):
            seconds = 1.0
        raise TooMany(max(1.0, seconds) if isfinite(seconds) else 1.0)


class BotApi:
    """Sends the requests of one bot; its methods raise only ChannelError."""

    def __init__(
        self,
        settings: TelegramSettings,
        tally: Tally | None = None,
        blocked: Callable[[str], None] | None = None,
    ) -> None:
        self._tally = tally or Tally()
        way = Way(CONNECTION, settings.base_url, blocked)
        self._token = settings.key()
        self._requests = AiohttpRequest(256, settings.proxy, way)
        self._polling = AiohttpRequest(1, settings.proxy, way)
        self._methods = f"{settings.base_url}{self._token}"
        self._files = f"{_file_url(settings.base_url)}{self._token}"

    @property
    def date(self) -> str:
        """The `Date` header of the last answer."""
        return self._requests.date

    def check_token(self) -> None:
        """Raise ChannelUnfit if this is no token of Telegram's, which must not get another's."""
        what = misplaced(self._token, TELEGRAM)
        if not what and not _TOKEN.fullmatch(self._token):
            what = "a token is digits, a colon, then letters, digits, - and _"
        if what:
            raise ChannelUnfit(trouble=WRONG_TOKEN, detail=what)

    async def open(self) -> None:
        await self._requests.initialize()
        await self._polling.initialize()

    async def close(self) -> None:
        await self._requests.shutdown()
        await self._polling.shutdown()

    async def call(self, method: str, *, seconds: float = ANSWER_SECONDS, **params: Any) -> Any:
        """Call a method and return its raw result; parameters that are None are not sent."""
        given = {name: _as_text(value) for name, value in params.items() if value is not None}
        data = cast(RequestData, _Form(given))
        request = self._polling if method == "getUpdates" else self._requests
        try:
            return await request.post(
                f"{self._methods}/{method}", request_data=data, read_timeout=seconds
            )
        except EndPointNotFound:
            if method in EVERYWHERE:
                raise ChannelDown("the server is not ready yet") from None
            raise MethodUnknown("the server does not know this method") from None
        except TelegramError as cause:
            self._tally.rate_limits += isinstance(cause, TooMany)
            error = as_channel_error(cause)
            if self._token:
                error.args = tuple(str(arg).replace(self._token, "***") for arg in error.args)
            raise error from None
        except KeyError:
            raise SendAmbiguous("the server's answer has no result") from None

    async def download(self, path: str, most: int) -> bytes:
        """Return a file; raises ChannelDown, or SendRefused if it exceeds `most` bytes."""
        if "://" in path or path.startswith("/") or ".." in path.split("/"):
            raise SendRefused("its path leads out of the bot's files")
        session = self._requests._session
        if session is None:
            raise ChannelDown("not connected")
        timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        found = bytearray()
        try:
            async with session.get(f"{self._files}/{path}", timeout=timeout) as response:
                if response.status != 200:
                    raise SendRefused(f"the file server answered with {response.status}")
                async for piece in response.content.iter_chunked(65_536):
                    found += piece
                    if len(found) > most:
                        raise SendRefused("it is larger than announced")
        except Redirected as cause:
            raise SendRefused(f"the file server answered with {cause.status}") from None
        except (aiohttp.ClientError, TimeoutError) as cause:
            raise ChannelDown(f"the file could not be fetched ({type(cause).__name__})") from None
        return bytes(found)


def _file_url(base: str) -> str:
    return f"{base.removesuffix('/bot')}/file/bot" if base.endswith("/bot") else f"{base}/file"


def as_channel_error(cause: TelegramError) -> ChannelError:
    if isinstance(cause, TooMany):
        return SendDelayed(cause.seconds)
    if isinstance(cause, ChatMigrated):
        return Migrated(str(cause.new_chat_id))
    if isinstance(cause, InvalidToken):
        return ChannelUnfit(trouble=TOKEN_REFUSED)
    if isinstance(cause, Conflict):
        is_webhook = "webhook is active" in cause.message
        return (
            ChannelDown(trouble=WEBHOOK_ELSEWHERE)
            if is_webhook
            else OtherReader(trouble=SECOND_POLLER)
        )
    if isinstance(cause, RequestTooLarge):
        return TooLarge(cause.message, explanation=ANSWER_REFUSED)
    if isinstance(cause, Forbidden):
        return BotApiRefused(cause.message)
    if isinstance(cause, BadRequest):
        return NotAsSent(cause.message)
    if isinstance(cause, AnswerLost):
        return SendAmbiguous("the request was sent but no answer came")
    if isinstance(cause, Unreadable):
        return SendAmbiguous("the server's answer cannot be parsed")
    if isinstance(cause, Unavailable):
        return cause.error
    return ChannelDown(f"Telegram's answer cannot be parsed ({cause.message})")

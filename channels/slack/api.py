"""Calls the Web API over one aiohttp session, and turns the SDK's errors into ours.

The SDK's own retries are off, since the outbox retries and knows which requests are safe to repeat.
A request that got no answer may have been carried out. No error contains a token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from channels.connection_troubles import NOT_SENT, Way
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
from channels.pacing import Priority
from channels.redirects import Redirected, refuse_redirects
from channels.slack.api_methods import APP_METHODS, METHODS, Method, RateLimits, scopes
from channels.slack.refusals import TABLE
from channels.slack.settings import SlackSettings
from channels.slack.troubles import ANSWER_REFUSED, APP_REFUSED, BOT_REFUSED, CONNECTION, NO_SCOPE
from channels.tally import Tally

CONNECT_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 20.0
MAX_OLD_SESSIONS: Final = 3
"""Maximum number of replaced sessions that stay open for their requests in progress."""

IDLE_SECONDS: Final = 15.0
"""Less than the server's: a request into a closing connection has an unknown outcome."""

QUIET: Final = logging.getLogger("channels.slack.sdk")
"""A logger that hides the SDK's messages, which would contain the bodies of requests."""
QUIET.setLevel(logging.CRITICAL)

NO_TOKEN: Final = frozenset(("invalid_auth", "not_authed", "token_expired", "token_revoked"))
WRONG_KIND: Final = "not_allowed_token_type"
"""Means a wrong token only for methods of the app itself: they need an app-level token."""

SERVER_TROUBLE: Final = frozenset(
    {"fatal_error", "internal_error", "request_timeout", "service_unavailable", "team_added_to_org"}
)
SENTENCES: Final = {
    "account_inactive": "the app is no longer installed in this workspace",
    "cannot_reply_to_message": "Slack allows no replies to this message",
    "channel_not_found": "the conversation does not exist, or the app is not in it: /invite it",
    "is_archived": "the channel is archived",
    "not_in_channel": "the app is not in the channel: /invite it",
    "restricted_action": "the workspace allows only some people to write here",
    "restricted_action_read_only_channel": "only some people may write in this channel",
    "team_access_not_granted": "the app is not installed for this workspace",
    "user_is_bot": "this conversation is with another bot",
}
LOGIN_PAGE: Final = "Slack sent a login page instead: the app lacks the scope files:read"
WHO_AM_I: Final = "auth.test"


class Refused(SendRefused):
    """Slack refused a request; `code` is Slack's error code, `row` what it means for a message."""

    def __init__(self, code: str, sentence: str = "") -> None:
        self.code = code
        self.row = row = TABLE.of(code)
        words = f"{sentence} ({code})" if sentence else f"Slack refused it: {code}"
        super().__init__(words, explanation=row.trouble, closed=row.closed)


class TokenRefused(ChannelUnfit):
    """Slack rejected a token as invalid."""


class ApiSessions:
    def __init__(self, settings: SlackSettings, tally: Tally | None = None) -> None:
        self.tally = tally or Tally()
        self.proxy = settings.proxy or None
        self._session: aiohttp.ClientSession | None = None
        self._old: list[aiohttp.ClientSession] = []

    @property
    def session(self) -> aiohttp.ClientSession:
        """The current session; raises ChannelDown if none is open."""
        if self._session is None:
            raise ChannelDown("not connected")
        return self._session

    async def open(self) -> None:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=256, keepalive_timeout=IDLE_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS, sock_connect=CONNECT_SECONDS),
                middlewares=(refuse_redirects,),
            )

    async def renew(self) -> None:
        """Use new connections from now on; requests in progress stay on the old ones."""
        await self._replace(MAX_OLD_SESSIONS)
        await self.open()

    async def close(self) -> None:
        await self._replace(0)

    async def _replace(self, max_old: int) -> None:
        if self._session is not None:
            self._old.append(self._session)
            self._session = None
        while len(self._old) > max_old:
            await self._old.pop(0).close()


class _Client(AsyncWebClient):
    """The SDK's client, which follows no redirect, and keeps the status of any answer."""

    async def _request(
        self, *, http_verb: str, api_url: str, req_args: dict[str, Any]
    ) -> dict[str, Any]:
        here = {**req_args, "allow_redirects": False}  # what is sent is for Slack's host only
        found = await super()._request(http_verb=http_verb, api_url=api_url, req_args=here)
        return found if isinstance(found["data"], dict) else {**found, "data": {}}


class SlackApi:
    """The Web API with one token; `call` raises only our own errors.

    granted  the scopes of the token, as the last answer named them
    date     the `Date` header of the last answer
    way      whether something else answers in Slack's place

    `warn` is called with sentences for the operator; `unfit` is called if the token is invalid.
    """

    def __init__(
        self,
        token: str,
        settings: SlackSettings,
        sessions: ApiSessions,
        limits: RateLimits,
        warn: Callable[[str], None],
        unfit: Callable[[], None] = lambda: None,
    ) -> None:
        self._token = token
        self.way = Way(CONNECTION, settings.base_url)
        self._sessions = sessions
        self._warn = warn
        self._unfit = unfit
        self._files = settings.files_origin
        self.limits = limits
        self.granted: frozenset[str] = frozenset()
        self.date = ""
        self.client = _Client(token, base_url=settings.base_url, logger=QUIET, retry_handlers=[])
        self.client.proxy = sessions.proxy  # else the SDK takes one from the environment

    async def call(
        self, method: str, *, priority: Priority = Priority.FINAL, **params: Any
    ) -> Mapping[str, Any]:
        """Call a method once its rate limit allows; parameters that are None are not sent."""
        if method != WHO_AM_I and self.limits.made_by.is_refused(self._token):
            self._unfit()
            raise TokenRefused(trouble=BOT_REFUSED)
        await self.limits.take(method, priority)
        given = {name: value for name, value in params.items() if value is not None}
        known = METHODS.get(method) or APP_METHODS[method]
        self.client.session = self._sessions.session
        route = f"{method} {given.get('channel', '')}"
        try:
            if known.reads:
                found = await self.client.api_call(method, http_verb="GET", params=given)
            else:
                found = await self.client.api_call(method, json=given)
        except SlackApiError as cause:
            refused = self._refused(route, method, cause, known)
            if isinstance(refused, TokenRefused):
                refused = await self._confirmed(method, refused)
            raise refused from None
        except (aiohttp.ClientError, TimeoutError, OSError) as cause:
            raise _lost(cause, reads=known.reads) from None
        self.way.clear(route)
        if method == WHO_AM_I:
            self.limits.made_by.refuse(self._token, refused=False)
        self.granted = _granted(found.headers) or self.granted
        self.date = found.headers.get("Date", "")
        return found.data if isinstance(found.data, dict) else {}

    def warn_of_missing_scopes(self) -> None:
        """Warn if the token lacks scopes; a server that does not name them is not asked."""
        if self.granted and (missing := sorted(scopes() - self.granted)):
            self._warn(NO_SCOPE.sentence(", ".join(missing)))

    async def download(self, url: str, most: int, mime: str) -> bytes:
        """Return a file of at most `most` bytes, fetched only from the workspace's file host."""
        if not url.startswith(f"{self._files}/"):
            raise MediaRefused("it is stored outside Slack, where I don't fetch files")
        found = bytearray()
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            async with self._sessions.session.get(
                url, headers=headers, proxy=self._sessions.proxy
            ) as response:
                is_page = response.content_type == "text/html" != mime
                if is_page:
                    raise MediaRefused(LOGIN_PAGE)
                if response.status != 200:
                    raise MediaRefused(f"Slack's file server answered with {response.status}")
                async for piece in response.content.iter_chunked(65_536):
                    found += piece
                    if len(found) > most:
                        raise MediaRefused(f"it is larger than my limit of {_megabytes(most)}")
        except Redirected:
            raise MediaRefused(LOGIN_PAGE) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as cause:
            raise ChannelDown(f"the file could not be fetched ({type(cause).__name__})") from None
        return bytes(found)

    def _refused(
        self, route: str, method: str, cause: SlackApiError, known: Method
    ) -> ChannelError:
        response = cause.response
        status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)
        data = getattr(response, "data", None)
        data = data if isinstance(data, Mapping) else {}
        code = str(data.get("error") or "") if data.get("ok") is False else ""
        if status == 429 or code in ("ratelimited", "rate_limited"):
            seconds = _seconds(getattr(response, "headers", None) or {})
            self._sessions.tally.rate_limits += 1
            if known.tier:  # otherwise the limit is for the channel, not the method
                self.limits.close(method, seconds)
            return SendDelayed(seconds)
        if status == 413:
            return TooLarge("the request is too large (413)", explanation=ANSWER_REFUSED)
        if 300 <= status < 500 and not code:  # Slack has a code for everything that it refuses
            return self.way.blocked(status, route)
        if status >= 500 or not code or code in SERVER_TROUBLE:
            return _unread(reads=known.reads)
        self.way.clear(route)
        if code in NO_TOKEN or (code == WRONG_KIND and method in APP_METHODS):
            return TokenRefused(trouble=BOT_REFUSED if method in METHODS else APP_REFUSED)
        if code == "missing_scope":
            return self._scope_missing(data)
        return Refused(code, SENTENCES.get(code, ""))

    async def _confirmed(self, method: str, refused: TokenRefused) -> ChannelError:
        # Slack may reject a valid token by mistake, so `auth.test` decides.
        if method in (WHO_AM_I, *APP_METHODS):
            if method == WHO_AM_I:
                self.limits.made_by.refuse(self._token)
            self._unfit()
            return refused
        try:
            await self.call(WHO_AM_I)
        except TokenRefused as found:
            return found
        except ChannelError:
            pass  # still unknown: the request will be tried again
        return ChannelDown("Slack rejected a valid token. Retrying.")

    def _scope_missing(self, data: Mapping[str, Any]) -> ChannelError:
        needed = str(data.get("needed") or "another scope")[:200]
        if "connections:write" in needed:
            return TokenRefused(trouble=APP_REFUSED)
        self._warn(NO_SCOPE.sentence(needed))
        return Refused("missing_scope", f"the app lacks the scope {needed}: add it and reinstall")


def _granted(headers: Any) -> frozenset[str]:
    given = {str(name).lower(): value for name, value in dict(headers or {}).items()}
    listed = str(given.get("x-oauth-scopes") or "").split(",")
    return frozenset(scope.strip() for scope in listed if scope.strip())


def _megabytes(most: int) -> str:
    return f"{most // 1_000_000} MB" if most >= 1_000_000 else f"{most // 1_000} kB"


def _seconds(headers: Any) -> float:
    try:
        found = float(headers.get("Retry-After") or headers.get("retry-after") or 1)
    except (AttributeError, TypeError, ValueError):
        return 1.0
    return max(1.0, found) if isfinite(found) else 1.0


def _lost(cause: Exception, *, reads: bool) -> ChannelError:
    # A request that was sent may have been carried out.
    if reads or isinstance(cause, NOT_SENT):
        return CONNECTION.error(cause)
    return SendAmbiguous("the request went out and no answer came")


def _unread(*, reads: bool) -> ChannelError:
    if reads:
        detail = "its answer is unreadable"
        return ChannelDown(trouble=CONNECTION.unreachable, detail=detail)
    return SendAmbiguous("Slack's answer does not say whether the request succeeded")

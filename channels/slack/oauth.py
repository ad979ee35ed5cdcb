"""Installs the app in another workspace: /slack/install leads to Slack, then back to /slack/oauth.

https://docs.slack.dev/authentication/installing-with-oauth/
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Final
from urllib.parse import urlencode, urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from channels.slack.api import QUIET, ApiSessions
from channels.slack.api_methods import scopes
from channels.slack.installations import Installed
from channels.slack.settings import SlackSettings

COOKIE: Final = "tapeway_slack_install"
STATE_SECONDS: Final = 600


class Install:
    """The two HTTP routes for installing the app; `installed` is called for each new workspace."""

    def __init__(
        self,
        settings: SlackSettings,
        sessions: ApiSessions,
        installed: Callable[[Installed], Awaitable[None]],
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._installed = installed
        # Not a random one: another process may answer the second request.
        secret = settings.client_secret.get_secret_value()
        self._key = sha256(b"tapeway install" + secret.encode()).digest()

    @property
    def is_possible(self) -> bool:
        given = self._settings
        secret = given.client_secret.get_secret_value()
        return bool(given.client_id and secret and given.installations)

    def routes(self) -> list[Route]:
        if not self.is_possible:
            return []
        return [
            Route("/slack/install", self._begin, methods=["GET"]),
            Route("/slack/oauth", self._end, methods=["GET"]),
        ]

    async def _begin(self, _request: Request) -> Response:
        state = self._state(int(time.time()) + STATE_SECONDS, secrets.token_urlsafe(16))
        parts = urlsplit(self._settings.base_url)
        query = {
            "client_id": self._settings.client_id,
            "scope": ",".join(sorted(scopes())),
            "state": state,
        }
        url = f"{parts.scheme}://{parts.netloc}/oauth/v2/authorize?{urlencode(query)}"
        response = RedirectResponse(url, status_code=302)
        response.set_cookie(
            COOKIE, state, max_age=STATE_SECONDS, httponly=True, samesite="lax", secure=True
        )
        return response

    async def _end(self, request: Request) -> Response:
        state, code = request.query_params.get("state", ""), request.query_params.get("code", "")
        own = hmac.compare_digest(state.encode(), request.cookies.get(COOKIE, "").encode())
        if not (code and own and self._is_ours(state)):
            return PlainTextResponse("Start again at /slack/install.\n", status_code=400)
        try:
            one = await self._exchange(code)
        except (SlackApiError, aiohttp.ClientError, TimeoutError, KeyError, TypeError):
            return PlainTextResponse(
                "Slack did not return the token. Start again at /slack/install.\n", status_code=502
            )
        await self._installed(one)
        return PlainTextResponse(f"The app is now in {one.title}.\n")

    async def _exchange(self, code: str) -> Installed:
        client = AsyncWebClient(base_url=self._settings.base_url, logger=QUIET, retry_handlers=[])
        client.proxy = self._sessions.proxy
        client.session = self._sessions.session
        given = {
            "client_id": self._settings.client_id,
            "client_secret": self._settings.client_secret.get_secret_value(),
            "code": code,
        }
        found = await client.api_call("oauth.v2.access", data=given)
        # For a whole organization, Slack names no workspace.
        team = found["enterprise"] if found.get("is_enterprise_install") else found["team"]
        return Installed(str(team["id"]), str(found["access_token"]), str(team.get("name") or ""))

    def _state(self, until: int, nonce: str) -> str:
        text = f"{until}.{nonce}"
        return f"{text}.{hmac.new(self._key, text.encode(), sha256).hexdigest()}"

    def _is_ours(self, state: str) -> bool:
        until, _, rest = state.partition(".")
        nonce, _, _mac = rest.rpartition(".")
        if not (until.isascii() and until.isdigit() and len(until) < 16):
            return False
        expected = self._state(int(until), nonce)
        return hmac.compare_digest(expected.encode(), state.encode()) and int(until) > time.time()

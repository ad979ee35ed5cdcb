"""The real slack-bolt app against the fake Slack, as a bot of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Self

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel, User


class Web(AsyncWebClient):
    """A client that tries once."""

    def __init__(self, slack: FakeSlack, token: str | None = None) -> None:
        super().__init__(token or slack.bot_token, base_url=slack.base_url, retry_handlers=[])
        self.slack = slack


class Bot:
    """Connect an app over Socket Mode while the context is open; `heard` has what it was told."""

    def __init__(self, slack: FakeSlack, ping_interval: float = 5.0) -> None:
        self.slack = slack
        self.client = Web(slack)
        self.app = AsyncApp(
            client=self.client,
            signing_secret=slack.signing_secret,
            ignoring_self_events_enabled=False,
        )
        self.heard: list[JsonObject] = []
        self.bodies: list[JsonObject] = []
        self.handler = AsyncSocketModeHandler(
            self.app, slack.app_token, ping_interval=ping_interval, web_client=self.client
        )
        self._more = asyncio.Event()

        @self.app.event({"type": "message"})
        @self.app.event("app_mention")
        async def _event(body: JsonObject, event: JsonObject) -> None:
            self._hear(body, event)

    def _hear(self, body: JsonObject, event: JsonObject) -> None:
        self.bodies.append(body)
        self.heard.append(event)
        self._more.set()
        self._more = asyncio.Event()
        self.slack.changed()

    async def hears(self, count: int) -> list[JsonObject]:
        """Wait until it was told so much in all."""
        while len(self.heard) < count:
            await self._more.wait()
        return self.heard

    @property
    def socket(self) -> Any:
        """Return the SDK's Socket Mode client."""
        return self.handler.client

    async def __aenter__(self) -> Self:
        await self.handler.connect_async()  # type: ignore[no-untyped-call]
        await self.slack.connected()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self.handler.close_async()  # type: ignore[no-untyped-call]
        await self.socket.aiohttp_client_session.close()


async def refusal(call: Awaitable[Any]) -> Any:
    """Return the answer to a call that is refused."""
    with pytest.raises(SlackApiError) as caught:
        await call
    return caught.value.response


async def error_of(call: Awaitable[Any]) -> str:
    return str((await refusal(call))["error"])


def room_of(slack: FakeSlack) -> tuple[User, Channel]:
    """Make somebody, and a channel with them and the app in it."""
    ada = slack.user("Ada")
    return ada, slack.channel("room", members=[ada])

"""A bot that talks to the fake Telegram without an SDK, and so can also talk nonsense."""

from __future__ import annotations

from typing import Any

from tests.fakes.base.client import HttpClient
from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.server import FakeTelegram


class Api(HttpClient):
    """Call methods over the socket, parameters going as JSON."""

    def __init__(self, telegram: FakeTelegram) -> None:
        super().__init__()
        self.telegram = telegram

    def url(self, method: str) -> str:
        """Return the address of a method."""
        return f"{self.telegram.base_url}{self.telegram.token}/{method}"

    async def call(self, method: str, **params: object) -> tuple[int, JsonObject]:
        """Return the status and the body of an answer."""
        async with self.session.post(self.url(method), json=params) as answer:
            body: JsonObject = await answer.json()
            return answer.status, body

    async def __call__(self, method: str, **params: object) -> Any:
        """Return the result of a call that must go well."""
        status, body = await self.call(method, **params)
        assert (status, body["ok"]) == (200, True), body
        return body["result"]

    async def refusal(self, method: str, **params: object) -> str:
        """Return the description of a call that must be refused, `CODE description`."""
        status, body = await self.call(method, **params)
        assert body["ok"] is False
        assert status == body["error_code"]
        return f"{status} {body['description']}"

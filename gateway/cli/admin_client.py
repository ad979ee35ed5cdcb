"""How an operator's command reaches the gateway: the running one over HTTP, else one of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from gateway.app import running_gateway
from gateway.cli.chat_client import client_of
from gateway.errors import AdminError, GatewayError
from gateway.home import find_running
from gateway.services import Services
from gateway.settings import Settings


class Remote:
    """The operator's side of the running gateway."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        """Return what the gateway answers, read from JSON; raises DeskRefused, GatewayError."""
        try:
            response = await self.client.request(method, path, **more)
        except httpx2.HTTPError as cause:
            raise GatewayError(
                f"the gateway of this home does not answer ({type(cause).__name__})"
            ) from cause
        if response.status_code == 422:
            raise AdminError(response.json()["error"])
        if response.status_code != 200:
            raise GatewayError(
                f"the gateway answered with {response.status_code}: is it a newer one?"
            )
        return response.json()


@asynccontextmanager
async def open_core(settings: Settings) -> AsyncIterator[Remote | Services]:
    """Give the running gateway of this home; where none runs, the parts of one of our own."""
    found = find_running(settings.home_path)
    if found is not None:
        async with client_of(found) as client:
            yield Remote(client)
        return
    async with running_gateway(settings, only=[], http=False) as gateway:
        yield gateway.services

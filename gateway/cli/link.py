"""How a terminal reaches the agent: in its own process, or over HTTP beside a running gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol
from uuid import uuid4

import httpx2
import orjson

from channels.cli.adapter import CliChannel
from channels.hub import Json
from channels.rooms_http import Person, Post
from gateway.app import running_gateway
from gateway.errors import GatewayError, HomeInUse
from gateway.home import Running, find_running
from gateway.settings import Settings


class Link(Protocol):
    """A terminal's connection to one of its chats."""

    def events(self) -> AsyncIterator[Json]:
        """Give the chat's events: first its opening, then what happens."""
        ...

    async def say(self, text: str) -> str:
        """Say something; returns the id of the message."""
        ...


class LocalLink:
    """The agent runs in this process."""

    def __init__(self, channel: CliChannel, chat: str, person: Person) -> None:
        self._channel = channel
        self._chat = chat
        self._person = person

    async def events(self) -> AsyncIterator[Json]:
        """Give the chat's events."""
        async with self._channel.hub.listen(self._chat) as events:
            for past in await self._channel.opening(self._chat):
                yield past
            async for event in events:
                yield event

    async def say(self, text: str) -> str:
        """Say something."""
        post = Post(id=uuid4(), person=self._person, text=text)
        await self._channel.post(self._chat, post)
        return str(post.id)


class RemoteLink:
    """The agent runs in the gateway of this home."""

    def __init__(self, client: httpx2.AsyncClient, chat: str, person: Person) -> None:
        self._client = client
        self._path = f"/api/terminal/{chat}"
        self._person = person

    async def events(self) -> AsyncIterator[Json]:
        """Give the chat's events."""
        async with self._client.stream("GET", f"{self._path}/events") as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                if line.startswith("data:"):
                    event: Json = orjson.loads(line[5:])
                    yield event

    async def say(self, text: str) -> str:
        """Say something; raises GatewayError with the gateway's own sentence."""
        message_id = str(uuid4())
        body: dict[str, Any] = {
            "id": message_id,
            "person": {"id": self._person.id, "name": self._person.name},
            "text": text,
        }
        response = await self._client.post(f"{self._path}/messages", json=body)
        if response.status_code == 422:
            raise GatewayError(response.json()["error"])
        response.raise_for_status()
        return message_id


@asynccontextmanager
async def open_link(settings: Settings, chat: str, person: Person) -> AsyncIterator[Link]:
    """Connect to the gateway of this home, or run the agent in this process where there is none."""
    found = find_running(settings.home_path)
    if found is not None:
        async with _client(found) as client:
            yield RemoteLink(client, chat, person)
        return
    try:
        async with running_gateway(settings, only=["cli"], http=False) as gateway:
            channel = gateway.channels.get("cli")
            if not isinstance(channel, CliChannel):
                raise GatewayError(
                    "the terminal's channel is switched off: set TAPEWAY_CLI__ENABLED=true"
                )
            yield LocalLink(channel, chat, person)
            await gateway.finish()
    except HomeInUse as busy:
        raise GatewayError(
            f"{busy} (or wait: it may be starting, and can be talked to once it is ready)"
        ) from busy


def _client(found: Running) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=found.url,
        headers={"Authorization": f"Bearer {found.token}"},
        timeout=httpx2.Timeout(10, read=60),
        trust_env=False,
    )

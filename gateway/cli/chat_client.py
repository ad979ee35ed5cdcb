"""How a terminal reaches the agent: in its own process, or over HTTP beside a running gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol
from urllib.parse import quote
from uuid import UUID

import httpx2
import orjson
from pydantic import ValidationError

from channels.cli.adapter import CliChannel
from channels.room.hub import Json
from channels.room.routes import Post, RoomPerson
from gateway.app import running_gateway
from gateway.errors import GatewayError, HomeInUse
from gateway.home import Running, find_running
from gateway.settings import Settings


class ChatClient(Protocol):
    """A terminal's connection to one of its chats."""

    def events(self) -> AsyncIterator[Json]:
        """Give the chat's events: first its opening, then what happens."""
        ...

    async def say(self, text: str, message_id: UUID) -> None:
        """Say something; raises GatewayError with a sentence where it is not taken."""
        ...


class LocalLink:
    """The agent runs in this process."""

    def __init__(self, channel: CliChannel, chat: str, person: RoomPerson) -> None:
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

    async def say(self, text: str, message_id: UUID) -> None:
        """Say something."""
        try:
            post = Post(id=message_id, person=self._person, text=text)
        except ValidationError as cause:
            first = cause.errors(include_url=False, include_context=False)[0]
            raise GatewayError(f"the message was not taken: {first['msg']}") from cause
        await self._channel.post(self._chat, post)


class RemoteLink:
    """The agent runs in the gateway of this home."""

    def __init__(self, client: httpx2.AsyncClient, chat: str, person: RoomPerson) -> None:
        self._client = client
        self._path = f"/api/terminal/{quote(chat, safe='')}"
        self._person = person

    async def events(self) -> AsyncIterator[Json]:
        """Give the chat's events."""
        with _told_plainly():
            async with self._client.stream("GET", f"{self._path}/events") as response:
                response.raise_for_status()
                async for line in response.aiter_lines():
                    if line.startswith("data:"):
                        event: Json = orjson.loads(line[5:])
                        yield event

    async def say(self, text: str, message_id: UUID) -> None:
        """Say something; a refusal is the gateway's own sentence."""
        body: dict[str, Any] = {
            "id": str(message_id),
            "person": {"id": self._person.id, "name": self._person.name},
            "text": text,
        }
        with _told_plainly():
            response = await self._client.post(f"{self._path}/messages", json=body)
            if response.status_code == 422:
                raise GatewayError(response.json()["error"])
            response.raise_for_status()


@contextmanager
def _told_plainly() -> Iterator[None]:
    """Turn an error of the connection into a sentence."""
    try:
        yield
    except httpx2.HTTPError as cause:
        raise GatewayError(
            f"the gateway of this home does not answer ({type(cause).__name__}): look whether it"
            " still runs; what it has accepted, it answers at its next start"
        ) from cause


@asynccontextmanager
async def open_link(settings: Settings, chat: str, person: RoomPerson) -> AsyncIterator[ChatClient]:
    """Connect to the gateway of this home, or run the agent in this process where there is none."""
    found = find_running(settings.home_path)
    if found is not None:
        async with client_of(found) as client:
            yield RemoteLink(client, chat, person)
        return
    if not settings.cli.enabled:
        raise GatewayError("the terminal's channel is switched off: set TAPEWAY_CLI__ENABLED=true")
    try:
        async with running_gateway(settings, only=["cli"], http=False) as gateway:
            channel = gateway.channels.get("cli")
            if not isinstance(channel, CliChannel):
                raise GatewayError("a plugin has put another channel in the terminal's place")
            yield LocalLink(channel, chat, person)
            await gateway.finish()
    except HomeInUse as busy:
        raise GatewayError(
            f"{busy} (or wait: it may be starting, and can be talked to once it is ready)"
        ) from busy


def client_of(found: Running) -> httpx2.AsyncClient:
    """Make a client of a running gateway, with its token."""
    return httpx2.AsyncClient(
        base_url=found.url,
        headers={"Authorization": f"Bearer {found.token}"},
        timeout=httpx2.Timeout(10, read=60),
        trust_env=False,
    )

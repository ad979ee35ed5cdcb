"""Connect a terminal to the agent, in this process or over HTTP to a running gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote
from uuid import UUID

import anyio
import httpx2
import orjson
from pydantic import ValidationError

from channels.cli.adapter import CliChannel
from channels.room.hub import Json
from channels.room.routes import Post, RoomPerson, unstored_post
from channels.room.session import OWNER
from gateway.app import running_gateway
from gateway.errors import GatewayError, HomeInUse
from gateway.home import Running, find_running
from gateway.settings import Settings

RECONNECT_SECONDS: Final = 0.5  # seconds between two looks for a gateway that has stopped


class ChatClient(Protocol):
    """A terminal's connection to one chat."""

    def events(self) -> AsyncGenerator[Json, None]:
        """Yield the chat's current state, then each event as it happens.

        After an event `lost`, the gateway has stopped; once it is back, its state comes again.
        """
        ...

    async def say(self, text: str, message_id: UUID) -> None:
        """Send a message; raises GatewayError if the message is refused."""
        ...

    async def stop(self) -> None:
        """Stop the person's newest answer."""
        ...


class LocalChat:
    """Chats with an agent in this process."""

    def __init__(self, channel: CliChannel, chat: str, person: RoomPerson) -> None:
        self._channel = channel
        self._chat = chat
        self._person = person

    async def events(self) -> AsyncGenerator[Json, None]:
        async with self._channel.hub.listen(self._chat, OWNER) as events:
            for past in await self._channel.opening(self._chat, OWNER):
                yield past
            async for event in events:
                yield event

    async def say(self, text: str, message_id: UUID) -> None:
        try:
            post = Post(id=message_id, person=self._person, text=text)
        except ValidationError as cause:
            first = cause.errors(include_url=False, include_context=False)[0]
            raise GatewayError(f"the message was refused: {first['msg']}") from cause
        await self._channel.submit(await self._channel.read(self._chat, post, OWNER))

    async def stop(self) -> None:
        request = await self._channel.read(self._chat, unstored_post(self._person), OWNER)
        await self._channel.host.stop_answer(request, None)


class RemoteChat:
    """Chats with the gateway in a home; one that has stopped is waited for."""

    def __init__(
        self, client: httpx2.AsyncClient, home: Path, chat: str, person: RoomPerson
    ) -> None:
        self._client = client
        self._home = home
        self._path = f"/api/terminal/{quote(chat, safe='')}"
        self._person = person

    async def events(self) -> AsyncGenerator[Json, None]:
        known = False
        while True:
            here = False
            try:
                async for event in self._stream():
                    known = here = True
                    yield event
            except GatewayError:
                if not known:
                    raise
            if here:
                yield {"type": "lost"}
            await anyio.sleep(RECONNECT_SECONDS)
            if (found := find_running(self._home)) is not None:
                self._client.base_url = httpx2.URL(found.url)
                self._client.headers["Authorization"] = f"Bearer {found.token}"

    async def _stream(self) -> AsyncIterator[Json]:
        with _plain_errors():
            async with self._client.stream("GET", f"{self._path}/events") as response:
                response.raise_for_status()
                async for line in response.aiter_lines():
                    if line.startswith("data:"):
                        event: Json = orjson.loads(line[5:])
                        yield event

    async def say(self, text: str, message_id: UUID) -> None:
        body = {"id": str(message_id), "person": {"name": self._person.name}, "text": text}
        with _plain_errors():
            response = await self._client.post(f"{self._path}/messages", json=body)
            if response.status_code == 422:
                raise GatewayError(response.json()["error"])
            response.raise_for_status()

    async def stop(self) -> None:
        body = {"person": {"name": self._person.name}}
        with _plain_errors():
            response = await self._client.post(f"{self._path}/stop", json=body)
            response.raise_for_status()


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except httpx2.HTTPStatusError as cause:
        status = cause.response.status_code
        raise GatewayError(
            "the gateway's database is away, so this was not taken: try again soon, or see"
            " `tapeway doctor`"
            if status == httpx2.codes.SERVICE_UNAVAILABLE
            else f"the gateway refused this with HTTP {status}: its log says why"
        ) from cause
    except httpx2.HTTPError as cause:
        raise GatewayError(
            f"the gateway of this home does not answer ({type(cause).__name__}): check that it is"
            " still running; it answers accepted questions at its next start"
        ) from cause


@asynccontextmanager
async def open_chat(settings: Settings, chat: str, person: RoomPerson) -> AsyncIterator[ChatClient]:
    """Connect to the running gateway in this home, or run the agent in this process."""
    found = find_running(settings.home_path)
    if found is not None:
        async with client_of(found) as client:
            yield RemoteChat(client, settings.home_path, chat, person)
        return
    if not settings.cli.enabled:
        raise GatewayError("the terminal channel is disabled: set TAPEWAY_CLI__ENABLED=true")
    try:
        async with running_gateway(settings, only=["cli"], http=False) as gateway:
            channel = gateway.channels.get("cli")
            if not isinstance(channel, CliChannel):
                raise GatewayError("a plugin has replaced the terminal channel: remove that plugin")
            yield LocalChat(channel, chat, person)
            await gateway.finish()
    except HomeInUse as busy:
        raise GatewayError(f"{busy} (or wait: it may still be starting)") from busy


def client_of(found: Running) -> httpx2.AsyncClient:
    """Return an HTTP client that sends a running gateway's access token with each request."""
    return httpx2.AsyncClient(
        base_url=found.url,
        headers={"Authorization": f"Bearer {found.token}"},
        timeout=httpx2.Timeout(10, read=60),
        trust_env=False,
    )

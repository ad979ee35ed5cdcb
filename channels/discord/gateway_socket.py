"""The SDK's gateway socket without the SDK's client: what it asks of one, and our heartbeat."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, cast

import aiohttp
from discord.gateway import DiscordWebSocket, KeepAliveHandler

from channels.discord.api import DiscordApi


class SocketOwner(Protocol):
    """Who has a socket made."""

    def attach(self, socket: GatewaySocket) -> None:
        """Keep the socket; it has not said hello yet."""
        ...

    def event(self, name: str, data: Any) -> None:
        """Take an event."""
        ...

    async def frame(self) -> None:
        """Hear that anything at all came in, after it was taken."""
        ...

    def ask_back(self) -> dict[str, Any]:
        """Return the heartbeat that Discord asked for."""
        ...


class GatewaySocket(DiscordWebSocket):
    """The SDK's socket, with a heartbeat that is ours."""

    async def received_message(self, msg: Any, /) -> None:
        owner: SocketOwner = cast(Any, self._connection).owner
        await super().received_message(msg)
        own = self._keep_alive
        if isinstance(own, KeepAliveHandler):  # begun by the hello: a thread with its own timer
            own.stop()
            self._keep_alive = cast(Any, _Pulse(owner))
        await owner.frame()


class _Pulse:
    """What the SDK's socket asks of its heartbeat."""

    def __init__(self, owner: SocketOwner) -> None:
        self._owner = owner

    def beat(self) -> dict[str, Any]:
        """Return the heartbeat that Discord asked for."""
        return self._owner.ask_back()

    def tick(self) -> None:
        """Hear that something came in."""

    def ack(self) -> None:
        """Hear that a heartbeat was answered."""

    def stop(self) -> None:
        """Hear that the socket is closed."""


class SocketHttp:
    """What the SDK's socket asks of its client's HTTP."""

    def __init__(self, token: str, api: DiscordApi) -> None:
        self.token = token
        self._api = api

    async def ws_connect(self, url: str) -> aiohttp.ClientWebSocketResponse:
        """Open a socket."""
        return await self._api.socket(url)


class SocketState:
    """What the SDK's socket asks of its client's state."""

    def __init__(self, owner: SocketOwner, intents: int, count: int | None, seconds: float) -> None:
        self.owner = owner
        self.parsers = _Parsers(owner)
        self.shard_count = count
        self.heartbeat_timeout = seconds
        self._intents = _Intents(intents)
        self._activity = None
        self._status = None

    def _update_references(self, socket: GatewaySocket) -> None:
        self.owner.attach(socket)

    async def call_hooks(self, *_: Any, **__: Any) -> None:
        """Wait before a new session; that was done before connecting."""


class _Intents:
    def __init__(self, value: int) -> None:
        self.value = value


class _Parsers(dict[str, Callable[[Any], None]]):
    """For each event, by any name, who takes it."""

    def __init__(self, owner: SocketOwner) -> None:
        super().__init__()
        self._owner = owner

    def __missing__(self, name: str) -> Callable[[Any], None]:
        return partial(self._owner.event, name)

"""The SDK's gateway socket, with stand-ins for the SDK's client and for its heartbeat."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, Protocol, cast

from discord.gateway import DiscordWebSocket, KeepAliveHandler


class SocketOwner(Protocol):  # the part of `Shard` that is used here
    def attach(self, socket: GatewaySocket) -> None: ...
    def dispatched(self, name: str, data: Any) -> None: ...
    async def frame_received(self) -> None: ...
    def requested_heartbeat(self) -> dict[str, Any]: ...


class GatewaySocket(DiscordWebSocket):
    async def received_message(self, msg: Any, /) -> None:
        owner: SocketOwner = cast(Any, self._connection).owner
        await super().received_message(msg)
        own = self._keep_alive
        if isinstance(own, KeepAliveHandler):  # a thread with its own timer
            own.stop()
            self._keep_alive = cast(Any, _Heartbeat(owner))
        await owner.frame_received()


class _Heartbeat:
    """Implements the methods of a KeepAliveHandler that the SDK's socket calls."""

    def __init__(self, owner: SocketOwner) -> None:
        self._owner = owner

    def beat(self) -> dict[str, Any]:
        return self._owner.requested_heartbeat()

    def tick(self) -> None: ...

    def ack(self) -> None: ...

    def stop(self) -> None: ...


class SocketState:
    """Implements the part of the client's state that the SDK's socket uses."""

    def __init__(self, owner: SocketOwner, intents: int, count: int | None, seconds: float) -> None:
        self.owner = owner
        self.parsers = _Parsers(owner)
        self.shard_count = count
        self.heartbeat_timeout = seconds
        self._intents = SimpleNamespace(value=intents)
        self._activity = None
        self._status = None

    def _update_references(self, socket: GatewaySocket) -> None:
        self.owner.attach(socket)

    async def call_hooks(self, *_: Any, **__: Any) -> None:
        """Do nothing: the wait before a new session takes place before the connection is opened."""


class _Parsers(dict[str, Callable[[Any], None]]):
    def __init__(self, owner: SocketOwner) -> None:
        super().__init__()
        self._owner = owner

    def __missing__(self, name: str) -> Callable[[Any], None]:
        return partial(self._owner.dispatched, name)

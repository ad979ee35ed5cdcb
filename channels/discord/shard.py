"""One connection to Discord's gateway: the SDK's socket, with our clock and our liveness probe.

The SDK's DiscordWebSocket handles the protocol: hello, identify, resume, compression, sequence. The
SDK's Client is not used: it starts a task for each event, which loses the events' order, keeps all
members in memory, and sleeps without our clock. Nor is its
heartbeat used: it is a thread with its own timer.

An answered heartbeat does not prove that events arrive: some connections have answered heartbeats
for hours and delivered no events. So we also send a probe, which Discord answers with an event (our
own entry in a guild's member list). If a connection that has answered a probe stops answering
probes, it has stalled.
"""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

import aiohttp
import anyio
import yarl
from discord.errors import ConnectionClosed
from discord.flags import Intents
from discord.gateway import DiscordWebSocket, ReconnectWebSocket

from channels.backoff import Backoff
from channels.clock import Clock
from channels.connection_state import ConnectionState
from channels.discord.api import DiscordApi
from channels.discord.gateway_socket import GatewaySocket, SocketState
from channels.discord.identify_limit import IdentifyLimit
from channels.discord.settings import DiscordSettings
from channels.discord.troubles import NO_CONTENT, OUTDATED, TOKEN_REFUSED, TOO_MANY_SERVERS
from channels.errors import ChannelDown, ChannelUnfit

INTENTS: Final = Intents(
    guilds=True, integrations=True, guild_messages=True, dm_messages=True, message_content=True
).value
PROBE_SECONDS: Final = 31.0
"""Seconds between two probes: less than Discord's heartbeat interval (41 s), but more than 30 s,
since Discord ignores member requests that come faster."""

PROBE_TIMEOUT_SECONDS: Final = 15.0
FIRST_WAIT_SECONDS: Final = 1.0
MAX_WAIT_SECONDS: Final = 90.0
"""Maximum wait between two connection attempts: Discord allows 1000 new sessions a day."""

SDK_SECONDS: Final = 180.0
"""The SDK's own timeout in seconds; it is longer than our timeouts, so that ours end first."""

UNKNOWN_OPCODE: Final = 4001
"""The close code of a gateway that does not know the opcode of our probe."""

UNFIT: Final = {
    4004: TOKEN_REFUSED,
    4010: TOO_MANY_SERVERS,
    4011: TOO_MANY_SERVERS,
    4012: OUTDATED,
    4013: OUTDATED,
    4014: NO_CONTENT,
}
BROKEN: Final = (
    aiohttp.ClientError,
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
    TypeError,
    TimeoutError,
    zlib.error,
    ChannelDown,
)
"""Errors that end a connection; an unreadable frame counts, too."""

Position = tuple[int, int]
"""The position of an event: the number of its session, and its sequence number there."""


@dataclass(frozen=True, slots=True)
class GatewayEvent:
    """An event; `shard` is None for our own events, which no connection acknowledges."""

    shard: Shard | None
    position: Position
    name: str
    data: dict[str, Any]


class ShardListener(Protocol):
    def received(self, event: GatewayEvent) -> None: ...
    def probe_target(self, shard: Shard) -> tuple[str, str] | None: ...


def shard_of(guild: str, count: int) -> int:
    """Return the number of the connection, out of `count`, that gets a guild's events."""
    return (int(guild) >> 22) % count  # the formula that Discord uses


class Shard:
    """A connection that reconnects whenever it is lost; `run` ends only with ChannelUnfit."""

    def __init__(
        self,
        number: int,
        settings: DiscordSettings,
        api: DiscordApi,
        clock: Clock,
        limit: IdentifyLimit,
        state: ConnectionState,
        listener: ShardListener,
    ) -> None:
        self.number = number
        self.count = settings.shards or 1
        self.shard_id = number if settings.shards else None
        self._gateway = yarl.URL(settings.gateway_url)
        self._resumes_at = self._gateway
        self._clock = clock
        self._limit = limit
        self._state = state
        self._listener = listener
        self._socket: GatewaySocket | None = None
        self._session: str | None = None
        self._received: int | None = None
        self._recorded: int | None = None
        self._age = 0
        self._owes_heartbeat = False
        self._probed = False
        self._answers_probes = False
        self._may_probe = True
        self._frames = 0
        self._events = 0
        # The SDK's socket reads these attributes.
        self.loop = asyncio.get_running_loop()
        self.http = api
        self._connection = SocketState(self, INTENTS, settings.shards or None, SDK_SECONDS)
        self._enable_debug_events = False

    @property
    def live(self) -> bool:
        return self._state.is_up(self.number)

    def has_guild(self, guild: str) -> bool:
        return shard_of(guild, self.count) == self.number

    def dispatch(self, *_: Any) -> None:
        """Ignore the events that the SDK announces to its client."""

    async def run(self) -> None:
        """Listen and reconnect, at once if the last connection worked for a while."""
        backoff, at_once = Backoff(FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS), True
        try:
            while True:
                started = self._clock.monotonic()
                why = await self._listen_until_lost()
                if self.live:
                    backoff.reset()
                    at_once = self._clock.monotonic() - started > FIRST_WAIT_SECONDS
                self._state.lost(why, self.number)
                await self._clock.sleep(0.0 if at_once else backoff.next())
                at_once = False
        finally:
            self._forget_session()
            await self._close(1000)

    async def recorded(self, position: Position) -> None:
        """Acknowledge all events up to a position; the next heartbeat contains it."""
        age, sequence = position
        if age != self._age:  # the event belongs to an earlier session
            return
        self._recorded = sequence
        if self._owes_heartbeat and sequence == self._received:
            self._owes_heartbeat = False
            await self._send(self._heartbeat())

    def restart(self) -> None:
        """Drop the connection and its session, since it has missed a message."""
        self._forget_session()
        if self._socket is not None:
            self._socket.socket._response.close()

    def requested_heartbeat(self) -> dict[str, Any]:
        """Return the heartbeat that Discord asked for; another follows once all is on disk."""
        self._owes_heartbeat = self._recorded != self._received
        return self._heartbeat()

    def attach(self, socket: GatewaySocket) -> None:
        self._socket = socket

    def dispatched(self, name: str, data: Any) -> None:
        socket = self._socket
        if socket is None or not isinstance(data, dict):
            return
        self._events += 1
        self._received = socket.sequence
        self._state.heard()
        if name == "READY":
            self._session = socket.session_id
            # A custom gateway is kept, since the address that Discord suggests would bypass it.
            official = self._gateway.host == DiscordWebSocket.DEFAULT_GATEWAY.host
            self._resumes_at = socket.gateway if official else self._gateway
        if name in ("READY", "RESUMED"):
            self._state.connected(self.number)
        elif name == "GUILD_MEMBERS_CHUNK":
            self._answers_probes = True
        self._listener.received(GatewayEvent(self, (self._age, socket.sequence or 0), name, data))

    async def frame_received(self) -> None:
        """Note that a frame came; the first one of a live session triggers the first probe."""
        self._frames += 1
        if not self.live:
            return
        if not self._answers_probes:
            self._state.heard()
        if not self._probed:
            self._probed = await self._probe()

    async def _listen_until_lost(self) -> str:
        """Listen and return why the connection ended; raise ChannelUnfit if retrying is useless."""
        if self._session is None:
            await self._limit.wait(self._clock, self.count)
        ended: list[str] = []
        unfit: ChannelUnfit | None = None
        self._frames = self._events = 0
        self._probed = self._answers_probes = False
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, ended, group.cancel_scope)
            try:
                ended.append(await self._listen())
            except ChannelUnfit as cause:
                unfit = cause
            group.cancel_scope.cancel()
        await self._close(4000)
        if unfit is not None:
            raise unfit
        return ended[0]

    async def _listen(self) -> str:
        resumes = self._session is not None
        try:
            socket = await GatewaySocket.from_client(
                cast(Any, self),
                initial=True,
                gateway=self._resumes_at if resumes else self._gateway,
                shard_id=self.shard_id,
                session=self._session,
                sequence=self._received,
                resume=resumes,
            )
            while True:
                await socket.poll_event()
        except ReconnectWebSocket as reconnect:
            if not reconnect.resume:
                self._forget_session()
            code = self._socket.socket.close_code if self._socket is not None else None
            if code == UNKNOWN_OPCODE:
                self._may_probe = self._answers_probes = False
            shown = f" ({code})" if code else ""
            return f"Discord closed the connection{shown}; reconnecting"
        except ConnectionClosed as closed:
            self._forget_session()
            if closed.code in UNFIT:
                raise ChannelUnfit(trouble=UNFIT[closed.code]) from None
            return f"Discord closed the connection ({closed.code}); reconnecting"
        except BROKEN as cause:
            self._resumes_at = self._gateway
            return f"the connection to Discord was lost ({type(cause).__name__}); reconnecting"

    async def _watch(self, ended: list[str], scope: anyio.CancelScope) -> None:
        """Send heartbeats and probes, and end the connection if they stay unanswered."""
        frames = events = 0
        probed, was_live = False, True
        while True:
            await self._clock.sleep(PROBE_TIMEOUT_SECONDS)
            if self._frames == frames:
                ended.append("nothing arrives from Discord; reconnecting")
                break
            stalled = probed and self._answers_probes and self._events == events
            if stalled or not (self.live or was_live):
                self._forget_session()
                ended.append("Discord responds but sends no events; reconnecting")
                break
            was_live = self.live
            await self._clock.sleep(PROBE_SECONDS - PROBE_TIMEOUT_SECONDS)
            frames, events = self._frames, self._events
            await self._send(self._heartbeat())
            probed = self.live and await self._probe()
        scope.cancel()

    def _heartbeat(self) -> dict[str, Any]:
        # It contains the last event that is on disk, so that a resume replays all later events.
        return {"op": DiscordWebSocket.HEARTBEAT, "d": self._recorded}

    async def _probe(self) -> bool:
        """Send a probe, or return False if there is no guild to ask about."""
        target = self._listener.probe_target(self)
        if target is None or not self._may_probe:
            return False
        guild, bot_id = target
        wanted = {"guild_id": guild, "user_ids": [bot_id], "limit": 1}
        await self._send({"op": DiscordWebSocket.REQUEST_MEMBERS, "d": wanted})
        return True

    async def _send(self, payload: dict[str, Any]) -> None:
        if self._socket is None:
            return
        try:
            # Not `send`, whose rate limit sleeps without our clock; we send few frames anyway.
            await self._socket.send_heartbeat(payload)
        except (ConnectionError, ConnectionClosed, aiohttp.ClientError):
            """The listener will notice the closed socket, too."""

    async def _close(self, code: int) -> None:
        """Close the socket; unless the code is 1000, the session can be resumed."""
        socket, self._socket = self._socket, None
        if socket is None:
            return
        with anyio.CancelScope(shield=True):
            try:
                await socket.close(code)
            except BROKEN:
                """The socket was closed already."""

    def _forget_session(self) -> None:
        """Make the next connection start a new session; the history then has what was missed."""
        self._session = self._received = self._recorded = None
        self._age += 1
        self._resumes_at = self._gateway

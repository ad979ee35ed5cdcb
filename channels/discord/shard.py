"""One connection to Discord's gateway: the SDK's socket, on our clock and with our proof of life.

The SDK's DiscordWebSocket speaks the protocol: hello, identify, resume, compression, sequence. Its
Client is not used: that makes a task of each event, which loses their order, keeps every member in
memory, and waits in seconds of its own. Nor is its heartbeat, a thread of its own timer.

An answered heartbeat does not prove that events come: sockets have been seen that answer for hours
and deliver nothing. So beside it the gateway is asked for something that it answers with an event
(our own entry in a server's list of members); on a connection that has done so once, silence is
deafness.
"""

from __future__ import annotations

import asyncio
import zlib
from typing import Any, Final, Protocol, cast

import aiohttp
import anyio
import yarl
from discord.errors import ConnectionClosed
from discord.gateway import DiscordWebSocket, ReconnectWebSocket

from channels.discord.api import UNKNOWN_BOT, DiscordApi
from channels.discord.gateway_socket import GatewaySocket, SocketHttp, SocketState
from channels.errors import ChannelDown, ChannelUnfit
from channels.pacing import Clock

ASK_EVERY: Final = 31.0
"""So often a connection is asked for a sign of life: before Discord wants one (41 s), and not more
often than it answers (30 s)."""

ANSWER_WITHIN: Final = 15.0
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 90.0
"""Discord takes 1000 new sessions a day: no more than one in so many seconds."""

SDK_SECONDS: Final = 180.0
"""The SDK's own time limit: ours come first."""

UNKNOWN_QUESTION: Final = 4001
"""The code with which a gateway closes that does not know what it was asked for."""

NO_CONTENT: Final = (
    "Discord does not let this bot read messages: its Message Content Intent is off. Open"
    " discord.com/developers/applications, choose the application, Bot, then under Privileged"
    " Gateway Intents switch on Message Content Intent, save, and start again."
)
TOO_MANY_SERVERS: Final = (
    "this bot is in too many servers for that many connections: set TAPEWAY_DISCORD__SHARDS to a"
    " higher number (one for each 1000 servers) and start again."
)
UNFIT: Final = {
    4004: UNKNOWN_BOT,
    4010: TOO_MANY_SERVERS,
    4011: TOO_MANY_SERVERS,
    4012: "Discord does not speak this version of its protocol any more: Tapeway must be updated.",
    4013: "Discord does not know what this version asks for: Tapeway must be updated.",
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
"""What ends a connection, a frame that cannot be read among it."""


Place = tuple[int, int]
"""Where an event stands: in which session of a connection, and its number there."""


class Listener(Protocol):
    """Who hears what comes in."""

    def heard(self, shard: Shard, at: Place, name: str, data: dict[str, Any]) -> None:
        """Take an event; called in their order."""
        ...

    def answered(self) -> None:
        """Learn that a connection answers, where it cannot be asked for an event."""
        ...

    def lost(self, shard: Shard, why: str) -> None:
        """Learn that a connection is lost; it is tried again."""
        ...

    def server_of(self, shard: Shard) -> tuple[str, str] | None:
        """Return a server whose events come over this connection, and who the bot is."""
        ...

    async def may_identify(self) -> None:
        """Wait until a new session may be begun."""
        ...


class Shard:
    """One connection, made again whenever it is lost; `run` ends with ChannelUnfit only.

    What stands last in the constructor is what the SDK's socket asks of its client.
    """

    def __init__(
        self,
        number: int,
        count: int,
        token: str,
        intents: int,
        gateway: str,
        api: DiscordApi,
        clock: Clock,
        listener: Listener,
    ) -> None:
        self.shard_id = number if count else None
        self._gateway = yarl.URL(gateway)
        self._resumes_at = self._gateway
        self._clock = clock
        self._listener = listener
        self._socket: GatewaySocket | None = None
        self._session: str | None = None
        self._received: int | None = None
        self._taken: int | None = None
        self._age = 0
        self._asked_back = False
        self._asked = False
        self._tells = False
        self._may_ask = True
        self._frames = 0
        self._events = 0
        self.live = False
        self.loop = asyncio.get_running_loop()
        self.http = SocketHttp(token, api)
        self._connection = SocketState(self, intents, count or None, SDK_SECONDS)
        self._enable_debug_events = False

    def dispatch(self, *_: Any) -> None:
        """Hear that the SDK would tell somebody of an event."""

    async def run(self) -> None:
        """Listen; what is lost is tried again, at once if it had worked for a while."""
        wait = 0.0
        try:
            while True:
                begun = self._clock.monotonic()
                why = await self._connection_to_its_end()
                if self.live:
                    lasted = self._clock.monotonic() - begun > FIRST_WAIT
                    wait = 0.0 if lasted else FIRST_WAIT
                self.live = False
                self._listener.lost(self, why)
                await self._clock.sleep(wait)
                wait = min(max(FIRST_WAIT, 2 * wait), LONGEST_WAIT)
        finally:
            self.live = False
            self._forget()
            await self._leave(1000)

    async def took(self, at: Place) -> None:
        """Learn that everything up to an event is on the disk: the next heartbeat says so."""
        age, seq = at
        if age != self._age:
            return
        self._taken = seq
        if self._asked_back and seq == self._received:
            self._asked_back = False
            await self._send(self.beat())

    def end(self) -> None:
        """Give this connection up, and its session too: it has missed something."""
        self._forget()
        if self._socket is not None:
            self._socket.socket._response.close()

    def beat(self) -> dict[str, Any]:
        """Return a heartbeat: it names the last event that is on the disk."""
        return {"op": DiscordWebSocket.HEARTBEAT, "d": self._taken}

    def ask_back(self) -> dict[str, Any]:
        """Return the heartbeat that Discord asked for; another follows when all is on the disk."""
        self._asked_back = self._taken != self._received
        return self.beat()

    def attach(self, socket: GatewaySocket) -> None:
        """Keep the socket that the SDK has made."""
        self._socket = socket

    def event(self, name: str, data: Any) -> None:
        """Take an event from the SDK's socket."""
        socket = self._socket
        if socket is None or not isinstance(data, dict):
            return
        self._events += 1
        self._received = socket.sequence
        if name == "READY":
            self._session = socket.session_id
            # A gateway of one's own is not left for the address that Discord gives.
            official = self._gateway.host == DiscordWebSocket.DEFAULT_GATEWAY.host
            self._resumes_at = socket.gateway if official else self._gateway
        if name in ("READY", "RESUMED"):
            self.live = True
        elif name == "GUILD_MEMBERS_CHUNK":
            self._tells = True
        self._listener.heard(self, (self._age, socket.sequence or 0), name, data)

    async def frame(self) -> None:
        """Hear that anything at all came in; the first server is asked for an event at once."""
        self._frames += 1
        if self.live and not self._tells:
            self._listener.answered()
        if self.live and not self._asked:
            self._asked = await self._ask_for_event()

    async def _connection_to_its_end(self) -> str:
        """Return why it ended; ChannelUnfit where it is no use to try again."""
        if self._session is None:
            await self._listener.may_identify()
        ended: list[str] = []
        unfit: ChannelUnfit | None = None
        self._frames = self._events = 0
        self._asked = self._tells = False
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, ended, group.cancel_scope)
            try:
                ended.append(await self._hear())
            except ChannelUnfit as cause:
                unfit = cause
            group.cancel_scope.cancel()
        await self._leave(4000)
        if unfit is not None:
            raise unfit
        return ended[0]

    async def _hear(self) -> str:
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
        except ReconnectWebSocket as again:
            if not again.resume:
                self._forget()
            code = self._socket.socket.close_code if self._socket is not None else None
            if code == UNKNOWN_QUESTION:
                self._may_ask = self._tells = False
            told = f" ({code})" if code else ""
            return f"Discord closed the connection{told}: connecting again"
        except ConnectionClosed as closed:
            self._forget()
            if closed.code in UNFIT:
                raise ChannelUnfit(UNFIT[closed.code]) from None
            return f"Discord closed the connection ({closed.code}): connecting again"
        except BROKEN as cause:
            self._resumes_at = self._gateway
            return f"the connection to Discord is lost ({type(cause).__name__}): connecting again"

    async def _watch(self, ended: list[str], scope: anyio.CancelScope) -> None:
        """Ask for signs of life; without them the connection is given up."""
        frames = events = 0
        asked, was_live = False, True
        while True:
            await self._clock.sleep(ANSWER_WITHIN)
            if self._frames == frames:
                ended.append("nothing comes from Discord any more: connecting again")
                break
            deaf = asked and self._tells and self._events == events
            if deaf or not (self.live or was_live):
                self._forget()
                ended.append("Discord answers, but no events come: connecting again")
                break
            was_live = self.live
            await self._clock.sleep(ASK_EVERY - ANSWER_WITHIN)
            frames, events = self._frames, self._events
            await self._send(self.beat())
            asked = self.live and await self._ask_for_event()
        scope.cancel()

    async def _ask_for_event(self) -> bool:
        """Ask for what is answered with an event; False where there is no server to ask about."""
        asked = self._listener.server_of(self)
        if asked is None or not self._may_ask:
            return False
        server, me = asked
        wanted = {"guild_id": server, "user_ids": [me], "limit": 1}
        await self._send({"op": DiscordWebSocket.REQUEST_MEMBERS, "d": wanted})
        return True

    async def _send(self, payload: dict[str, Any]) -> None:
        if self._socket is None:
            return
        try:
            # Not by `send`: that waits in seconds of its own. Few go out, at our own pace.
            await self._socket.send_heartbeat(payload)
        except (ConnectionError, ConnectionClosed, aiohttp.ClientError):
            """Whoever listens finds it closed, too."""

    async def _leave(self, code: int) -> None:
        """Say goodbye, shortly; the session stays unless the code is 1000."""
        socket, self._socket = self._socket, None
        if socket is None:
            return
        with anyio.CancelScope(shield=True):
            try:
                await socket.close(code)
            except BROKEN:
                """It was closed."""

    def _forget(self) -> None:
        """Begin a new session next time: then what was missed is asked for."""
        self._session = self._received = self._taken = None
        self._age += 1
        self._resumes_at = self._gateway
